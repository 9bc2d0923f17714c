"""``d9mlint``, and ``python -m d9mlint``: the command as a process of its own."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109
    del sys.path[0]  # `python -m` puts it there: linting imports nothing of what it lints, not even a `json.py`

import gc
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NoReturn

FAILED = 3


def entry() -> NoReturn:
    """Runs the command line, and ends at once: to free what a run has built would only take time.

    The folder that ``d9mlint kernels`` is about is looked through by another process while this one begins to run.
    """
    words = sys.argv[1:]
    folder = next((word for word in words[1:] if os.path.isdir(word)), "") if words[:1] == ["kernels"] else ""  # noqa: PTH112
    with ExitStack() as stack:
        try:
            begun = None
            if folder:
                gc.disable()  # as the scan does: what is made is needed until the process ends
                from d9mlint.kernels.listing import listing_ahead

                begun = stack.enter_context(listing_ahead(Path(folder)))
            from d9mlint.cli import main

            main(begun=begun)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else FAILED
    with suppress(OSError, ValueError):  # a closed pipe, a stream closed for it
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    entry()
