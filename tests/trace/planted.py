"""Programs with a planted cause: the line that ends in `# <- kind` is the one to be named.

`benchmarks/planted.py` tells how often it is; with ``--fixed`` a program is cured, and nothing may be named.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from d9mlint.model import Culprit
from d9mlint.trace.explain import UNSEEN
from d9mlint.trace.ranks import culprits
from d9mlint.trace.recording import Recording
from d9mlint.trace.run import OPS, VALUES, Conditions, Program, Settings, run
from d9mlint.trace.values import first_difference

FRAMEWORKS = ("torch", "tensorflow", "jax")


def programs(framework: str) -> list[Path]:
    """The programs of a framework."""
    return sorted((Path(__file__).parent / "programs" / framework).glob("*.py"))


PROGRAMS = programs("torch")
_VARIABLES = {"torch": "D9MLINT_TORCH_PYTHON", "tensorflow": "D9MLINT_TF_PYTHON", "jax": "D9MLINT_JAX_PYTHON"}
"""Environment variables that name interpreters which have a framework."""
_MARK = re.compile(r"# <- (\w+)$")


def planted(path: Path) -> tuple[int, str]:
    """The line of the cause, and its kind."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = _MARK.search(line)
        if found:
            return number, found[1]
    raise ValueError(f"{path.name} has no mark")


def located(python: str, path: Path, *arguments: str) -> tuple[Culprit, ...]:
    """What two recorded runs of the program are seen to part at, in a folder of their own."""
    program = Program(python, (str(path),), arguments, (str(path.parent),))
    before = Path.cwd()
    memory = Path("/dev/shm")  # a file system that lists files as they were made, where there is one
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        os.chdir(folder)
        try:
            one, other = recorded(program, OPS)
            found = culprits(one, other)
            if found and UNSEEN in found[0].note:
                found = (first_difference(*recorded(program, VALUES), found[0]) or found[0], *found[1:])
        finally:
            os.chdir(before)
    return found


def interpreter(framework: str) -> str:
    """An interpreter that has a framework: the one that its variable names, or this one; else the test is skipped."""
    named = os.environ.get(_VARIABLES[framework])
    if named is None and importlib.util.find_spec(framework) is None:
        pytest.skip(f"no {framework} here; name an interpreter that has it in {_VARIABLES[framework]}")
    return named or sys.executable


def assert_named(python: str, path: Path) -> None:
    """The planted cause of a program is what its runs are seen to part at; races are no certainties."""
    line, kind = planted(path)
    found: tuple[Culprit, ...] = ()
    for _ in range(3):
        found = located(python, path)
        if found:
            break
    assert found, "the runs did not part"
    assert (found[0].path, found[0].line, found[0].kind) == (str(path), line, kind), found[0]


def recorded(program: Program, stage: str) -> list[Recording]:
    """The recordings of two runs."""
    runs = [run(program, Settings(0), Conditions(stage), number, 300) for number in range(2)]
    for each in runs:
        assert each.whole, f"{program.words}: {each.ended}"
    return [each.recording for each in runs]
