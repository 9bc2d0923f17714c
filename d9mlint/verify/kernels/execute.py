"""Runs launches of kernels, on a GPU where there is one and else on the emulator, and judges what is seen."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from d9mlint.model import Case, Evidence
from d9mlint.model.evidence import CONFIRMED, EMULATED, HARNESS, NOT_REPRODUCED, UNTESTED
from d9mlint.model.kernel_launch import KernelLaunch
from d9mlint.verify.judge import share_bound
from d9mlint.verify.kernels import runtime
from d9mlint.verify.kernels.build import BuildFailed, Built, Toolchain, built, host_compiler, why_not_emulated
from d9mlint.verify.kernels.mirror import Reader
from d9mlint.verify.process import Child, ChildFailed

_NOT_SEEN = "not emulated: warps in lockstep, weak memory order, caches"
_EMULATED = "emulated on the CPU, each run another schedule of the threads"
_NOT_OP = "a kernel, not an op: no framework launched it"


@dataclass(frozen=True, slots=True)
class Settings:
    """How kernels are run."""

    device: str = "auto"
    python: str = ""
    """An interpreter that may have CuPy or PyTorch."""
    runs: int = 50
    seconds: float = 1.0
    """After these a kernel is not run again, once it has been a few times."""
    timeout: float = 60.0
    memory: int = 8 * 2**30


def has_gpu() -> bool:
    """Whether there seems to be an NVIDIA GPU: its device files (Linux), or that of the Windows subsystem."""
    devices = Path("/dev")
    return any(devices.glob("nvidia[0-9]*")) or (devices / "dxg").exists()


def executed(launches: Sequence[KernelLaunch], reader: Reader, settings: Settings) -> Iterator[Evidence]:
    """The evidence on each launch: on a GPU by the first way that can run it, else emulated."""
    wanted = settings.device.startswith("gpu")
    if wanted and not has_gpu():
        yield from (_untested(launch, "no CUDA device is here") for launch in launches)
        return
    left, reason = list(launches), ""
    if wanted or (settings.device == "auto" and has_gpu()):
        left, reason = [], "a GPU is here, but neither CuPy nor nvcc nor PyTorch's nvrtc can use it"
        ways = _ways(reader, settings)
        for several in _alike(launches):
            for found in _by_ways(several, ways):
                if isinstance(found, Evidence):
                    yield found
                else:
                    left.append(found)
    without = f"{reason} (--device cpu emulates)" if wanted else why_not_emulated()
    if without:
        yield from (_untested(launch, without) for launch in left)
        return
    for several in _alike(left):
        for found in _built(several, reader, settings, gpu=False):
            yield found._replace(note=f"{reason}; {found.note}") if reason else found


_Run = Callable[[Sequence[KernelLaunch]], Iterator[Evidence]]
"""A way of running launches of one source: the evidence on each, in order."""


def _ways(reader: Reader, settings: Settings) -> list[tuple[str, _Run]]:
    """The ways to a GPU, in the order in which they are tried; none is looked for before it is its turn.

    CuPy reaches farthest; nvcc takes C++ expressions as arguments, too; PyTorch's nvrtc comes with its wheel.
    """
    by = {
        name: cache(partial(runtime.available, settings.python, name, settings.timeout)) for name in ("cupy", "torch")
    }
    return [
        ("CuPy", partial(_by_runtime, by["cupy"], reader, settings)),
        ("nvcc", partial(_built, reader=reader, settings=settings, gpu=True)),
        ("PyTorch's nvrtc", partial(_by_runtime, by["torch"], reader, settings)),
    ]


def _by_ways(several: Sequence[KernelLaunch], ways: Sequence[tuple[str, _Run]]) -> Iterator[Evidence | KernelLaunch]:
    """The evidence on each launch; what no way brought to the GPU comes back as it is."""
    left, failed = list(several), dict[str, Evidence]()
    for name, way in ways:
        refused = []
        for launch, found in zip(left, way(left), strict=True) if left else ():
            if found.verdict not in (HARNESS, UNTESTED):
                yield found._replace(note=f"by {name}, {found.note}")
                continue
            refused.append(launch)  # what nvrtc does not take, nvcc may
            if found.verdict == HARNESS:
                known = failed.get(launch.name)
                note = f"{name}: {found.note}"
                failed[launch.name] = found._replace(note=f"{known.note}; {note}" if known else note)
        left = refused
    yield from (failed.get(launch.name, launch) for launch in left)


def _by_runtime(
    find: Callable[[], runtime.Way | None], reader: Reader, settings: Settings, launches: Sequence[KernelLaunch]
) -> Iterator[Evidence]:
    way = find()
    for launch in launches:
        if way is None:
            yield _untested(launch, "no device is seen by it")
        else:
            yield _judged(launch, runtime.observed(way, launch, reader, settings), True)


def _built(launches: Sequence[KernelLaunch], reader: Reader, settings: Settings, *, gpu: bool) -> Iterator[Evidence]:
    with tempfile.TemporaryDirectory(prefix="d9mlint-") as folder:
        yield from _programs(launches, Path(folder), reader, settings, gpu)


def _alike(launches: Sequence[KernelLaunch]) -> list[list[KernelLaunch]]:
    """Those that one program can run: of the same source, folders and definitions."""
    groups: dict[tuple[object, ...], list[KernelLaunch]] = {}
    for one in launches:
        groups.setdefault((one.source, one.include, one.define), []).append(one)
    return list(groups.values())


def _programs(
    launches: Sequence[KernelLaunch], folder: Path, reader: Reader, settings: Settings, gpu: bool
) -> Iterator[Evidence]:
    """One program for all; where that does not compile, one for each, so that it costs only the one at fault."""
    compiler = shutil.which("nvcc") if gpu else host_compiler()
    if compiler is None:
        yield from (_untested(launch, "no compiler is here") for launch in launches)
        return
    tools = Toolchain(compiler, gpu, max(settings.timeout, 60.0))
    try:
        made = built(launches, folder, reader, tools)
    except BuildFailed as error:
        if len(launches) == 1:
            yield _failed(launches[0], gpu)._replace(note=f"does not compile: {error}")
            return
        for number, launch in enumerate(launches):
            alone = folder / str(number)
            alone.mkdir()
            yield from _programs([launch], alone, reader, settings, gpu)
        return
    for number, launch in enumerate(launches):
        yield _judged(launch, _run(made, number, settings), gpu, made.left_out)


def _run(made: Built, number: int, settings: Settings) -> dict[str, Any]:
    """What the program answers; ``raised`` where it could not."""
    words = (str(made.path), *map(str, (number, settings.runs, settings.seconds, settings.memory)))
    try:
        with Child(words, os.environ, settings.memory) as child:
            return child.receive(settings.timeout)
    except ChildFailed as error:
        return {"raised": str(error)}


def _judged(launch: KernelLaunch, answer: dict[str, Any], gpu: bool, left_out: Sequence[str] = ()) -> Evidence:
    """The verdict; an answer that makes no sense is none."""
    raised = str(answer.get("raised", ""))
    if raised.startswith("NoDevice:"):
        return _untested(launch, "no CUDA device is here")
    if raised:
        return _failed(launch, gpu)._replace(note=raised)
    try:
        results = [int(one) for one in answer["results"]]
        distinct, elements = int(answer["distinct"]), int(answer["elements"])
        ulp, relative = answer["max_ulp"], answer["max_relative"]
        far = (None if ulp is None else int(ulp), None if relative is None else float(relative))
    except (KeyError, TypeError, ValueError):
        results = []
    if not results:
        return _failed(launch, gpu)._replace(note="the program wrote something that is no answer")
    differing = sum(one != 0 for one in results)
    verdict = (CONFIRMED if gpu else EMULATED) if differing else NOT_REPRODUCED
    first = next((at + 1 for at, one in enumerate(results) if one), None)
    return _failed(launch, gpu)._replace(
        verdict=verdict, verdicts=(verdict,), runs=len(results), processes=1, distinct=distinct,
        differing=differing, first_differing=first, bound=None if differing else share_bound(len(results) - 1),
        max_ulp=far[0], max_relative=far[1], elements=elements,
        note=_note(gpu, bool(differing), str(answer.get("device", "")), left_out),
    )  # fmt: skip


def _note(gpu: bool, varies: bool, device: str, left_out: Sequence[str]) -> str:
    told = [f"on {device or 'a GPU'}: {_NOT_OP}" if gpu else _EMULATED]
    if not gpu and not varies:
        told.append(_NOT_SEEN)
    if left_out:
        told.append(f"compiled without headers that were not found: {', '.join(left_out)}")
    return "; ".join(told)


def _failed(launch: KernelLaunch, gpu: bool) -> Evidence:
    """The evidence before anything is known."""
    return Evidence(case_of(launch, gpu), "gpu" if gpu else "cpu", HARNESS, (HARNESS,))


def _untested(launch: KernelLaunch, reason: str) -> Evidence:
    return Evidence(case_of(launch, True), "", UNTESTED, (UNTESTED,), note=reason)


def case_of(launch: KernelLaunch, gpu: bool) -> Case:
    """The launch as a case: what was run, in which form."""
    grid, block = (" x ".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    return Case(
        op=launch.name, framework="cuda", direction="", run=f"{launch.signature}<<<{grid}, {block}, {launch.shared}>>>",
        execution="kernel" if gpu else "emulated", dtype=launch.dtype,
    )  # fmt: skip
