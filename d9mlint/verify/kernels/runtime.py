"""Kernels on a GPU by CuPy or PyTorch, in the interpreter that has them: their nvrtc compiles the source, not nvcc."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from d9mlint.model.kernel_launch import KernelLaunch
from d9mlint.verify.kernels.mirror import Reader, mirrored, place
from d9mlint.verify.process import Child, ChildFailed

SCRIPT = Path(__file__).with_name("runtime_child.py")


class Limits(Protocol):
    """What a run may take."""

    @property
    def runs(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def timeout(self) -> float: ...
    @property
    def memory(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Way:
    """An interpreter in which a package sees a device."""

    command: tuple[str, ...]


def available(python: str, package: str, seconds: float) -> Way | None:
    """The way by ``cupy`` or ``torch``; None where the interpreter lacks it, or it sees no device or has no nvrtc."""
    way = Way((python, str(SCRIPT), package))
    try:
        with Child(way.command, os.environ, 8 * 2**30) as child:
            return way if "device" in child.ask({"do": "start"}, seconds) else None
    except ChildFailed:
        return None


def observed(way: Way, launch: KernelLaunch, reader: Reader, settings: Limits) -> dict[str, Any]:
    """What the process answers about the launch; ``raised`` where it could not run it.

    An argument that is a C++ expression cannot be made in Python: such launches need nvcc.
    """
    if any(one.code for one in launch.arguments):
        return {"raised": "an argument is a C++ expression (`code`): that needs nvcc"}
    with tempfile.TemporaryDirectory(prefix="d9mlint-") as name:
        folder = Path(name)
        try:
            copy = mirrored(launch.source, launch.include, folder, reader, emulated=False)
            folders = [str(copy.parent), *(str(place(folder, one)) for one in launch.include), *launch.include]
            request = {
                "do": "observe", "code": copy.read_text(encoding="utf-8", errors="replace"),
                "options": ["--std=c++17", *(f"-I{one}" for one in folders), *(f"-D{one}" for one in launch.define)],
                "name": launch.signature, "grid": launch.grid, "block": launch.block,
                "shared": launch.shared, "runs": settings.runs, "seconds": settings.seconds,
                "arguments": [one._asdict() for one in launch.arguments],
            }  # fmt: skip
            with Child(way.command, os.environ, settings.memory) as child:
                return child.ask(request, settings.timeout)
        except OSError as error:
            return {"raised": f"{error.filename}: {error.strerror}"}
        except ChildFailed as error:
            return {"raised": str(error)}
