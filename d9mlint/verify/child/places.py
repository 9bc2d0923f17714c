"""On which cores the threads of this process run."""

from __future__ import annotations

import os
import random
import sys

DRAW = random.Random(0)
"""Its own: cases reset the others."""


def scattered() -> None:
    """On Linux: moves each thread to a core that is drawn, of those that it may run on; it may leave it again.

    On a busy machine two threads of a pool may share a core for as long as a process lives, so that all of its runs
    take twice as long; where they are put anew each time, the shortest run does not depend on that.
    """
    if not sys.platform.startswith("linux"):
        return
    for name in os.listdir("/proc/self/task"):  # noqa: PTH208
        try:
            cores = os.sched_getaffinity(int(name))
            os.sched_setaffinity(int(name), {DRAW.choice(sorted(cores))})
            os.sched_setaffinity(int(name), cores)
        except OSError:
            continue  # it has ended meanwhile, or the system does not allow it
