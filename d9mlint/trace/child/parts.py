"""Which process of the program this is: its first one, a rank that a launcher has started, or a helper of another."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .recorder import MAIN, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .importing import Importing
    from .recorder import Recorder

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "HOROVOD_RANK")
"""What launchers tell a process about its number."""
GPUS = "several GPUs"
"""What a process tells that computes on more than one, and is no rank."""
_OF = "D9MLINT_TRACE_OF"
"""For processes that are started anew: which part of the program they belong to."""
_HELPERS = ("multiprocessing.", "from multiprocessing.", "joblib.externals.loky", "torch._inductor")
_POOLS = ("multiprocessing.", "concurrent.futures.", "torch.utils.data.", "joblib.", "keras.", "tensorflow.")
"""Modules whose processes are handed small pieces of work."""


def part(folder: str, outer: Mapping[str, str]) -> tuple[str, bool]:
    """The name of this process's part, and whether it only helps; ``outer``: the ranks that d9mlint has itself."""
    command = _command()
    rank = next((os.environ[one] for one in RANKS if os.environ.get(one, "") != outer.get(one, "")), "")
    if not _helps(command):
        names = ["rank-" + rank] if rank.isdigit() else [MAIN]
        if not rank:
            text = digest(command[1:])[:6]  # the same in each run, whichever process is first
            names += ["command-%s-%d" % (text, number) for number in range(1, 100)]  # noqa: UP031
        for name in names:
            if _claimed(folder, name):
                os.environ[_OF] = name
                return name, False
    return os.environ.get(_OF, MAIN), True


def is_rank() -> bool:
    """Whether a launcher has started this process, beside others of its kind."""
    return os.environ.get(_OF, "").startswith("rank-")


def _command() -> list[str]:
    found = getattr(sys, "orig_argv", None)
    if found is None:
        try:
            with open("/proc/self/cmdline", "rb") as stream:  # noqa: PTH123
                found = os.fsdecode(stream.read()).split("\0")
        except OSError:
            found = []
    return list(found)


def _helps(command: list[str]) -> bool:
    """Whether a library has started this process, to work for another."""
    for option, value in zip(command, command[1:]):  # noqa: B905, RUF007 (Python 3.8)
        if option in ("-c", "-m"):
            return value.startswith(_HELPERS)
    return "--multiprocessing-fork" in command


def _claimed(folder: str, name: str) -> bool:
    """Whether this is the first process of the name."""
    try:
        os.close(os.open(os.path.join(folder, name + ".claimed"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # noqa: PTH118
    except OSError:
        return False
    return True


def install(importing: Importing, recorder: Recorder, begin: Callable[[], None]) -> None:
    """Processes that run a function of the user's are parts of the program, too; ``begin`` is called in these."""

    def hooked(module: Any) -> None:
        real = module.BaseProcess._bootstrap

        def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.worker or not _is_part(recorder, self):
                return real(self, *args, **kwargs)
            name = "process-" + "-".join(map(str, self._identity))
            recorder.program = name if recorder.program == MAIN else recorder.program + "-" + name
            recorder.worker = False
            os.environ[_OF] = recorder.program
            begin()
            try:
                return real(self, *args, **kwargs)
            finally:
                recorder.ended()  # such processes end without `atexit`

        module.BaseProcess._bootstrap = _bootstrap

    importing.after("multiprocessing.process", hooked)


def _is_part(recorder: Recorder, process: Any) -> bool:
    target, run = process._target, type(process).run
    if str(getattr(target, "__module__", "")).startswith(_POOLS):
        return False
    called = [run, target, *process._args]  # a library's launcher is handed the user's function
    return any(recorder.places.file(one.__code__) for one in called if hasattr(one, "__code__"))
