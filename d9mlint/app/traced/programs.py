"""What `trace` and `study` are to run: a script, a module, or what a launcher starts."""

from __future__ import annotations

import os
import shutil
import sys

from d9mlint.app.traced.state import TraceOptions, entry
from d9mlint.model import UsageError
from d9mlint.trace.run import Program


def planned(options: TraceOptions) -> Program:
    """The program to run.

    Raises:
        UsageError: nothing or too much is named, or it is not there.
    """
    if sum(map(bool, (options.script, options.module, options.launcher))) != 1:
        raise UsageError("name a script, a module with -m, or a launcher and its words behind --")
    python = options.python or sys.executable
    if shutil.which(python) is None:
        raise UsageError(f"interpreter not found: {python}")
    cwd, script = os.getcwd(), entry(options)  # noqa: PTH109
    folders = [] if script is None or options.module else [os.path.dirname(os.path.realpath(script))]  # noqa: PTH120
    roots = tuple(dict.fromkeys((cwd, *folders)))
    if options.launcher:
        name, *words = options.launcher
        return Program(_launcher(name, python), tuple(words), options.arguments, roots, launcher=name)
    if options.script is None:
        return Program(python, ("-m", str(options.module)), options.arguments, roots)
    if not options.script.is_file():
        raise UsageError(f"{'not a file' if options.script.exists() else 'path not found'}: {options.script}")
    return Program(python, (str(options.script),), options.arguments, roots)


def _launcher(name: str, python: str) -> str:
    """The launcher's file: beside the interpreter, if it is there; else as a shell finds it."""
    beside = os.path.dirname(shutil.which(python) or "")  # noqa: PTH120
    found = shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        raise UsageError(f"launcher not found: {name}")
    return found
