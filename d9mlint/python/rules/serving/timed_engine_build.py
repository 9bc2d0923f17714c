"""timed-engine-build: TensorRT picks the kernels of an engine by timing them."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_BUILDS = ("build_serialized_network", "build_engine_with_config", "build_engine", "build_cuda_engine")
_CACHES = ("set_timing_cache", "algorithm_selector")
_BEFORE_8 = ("build_cuda_engine", ".fp16_mode", ".int8_mode", ".strict_type_constraints")
"""Ends of names that TensorRT 8 has no more; it is the first to have a timing cache (its release notes)."""
_SERIALIZES = (".serialize", ".build_serialized_network")
_WRITES = (".write", ".write_bytes")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each build in a program that uses TensorRT without a timing cache."""
    if not program.imports("tensorrt"):
        return
    if program.ending(_CACHES, "call", "set"):
        return
    found = program.named(_builds, "call")
    remedy = _remedy(program, rule) if found else ""
    for event in found:
        yield draft(program, rule, event, name=event.name.rpartition(".")[2], remedy=remedy)


def _builds(name: str) -> bool:
    head, _, last = name.rpartition(".")
    return last in _BUILDS and head.startswith(("tensorrt.Builder", "?"))


def _remedy(program: Program, rule: Rule) -> str:
    """What is left to do: the engine may be saved already, and old releases have no timing cache."""
    save, _, keep_timings = rule.remedy(program.target, frameworks_of(program)).partition(", or ")
    if _saves(program):
        save = "load the engine that is saved here wherever it is needed, instead of building it again"
    return save if program.ending(_BEFORE_8, "call", "set") else f"{save}, or {keep_timings}"


def _saves(program: Program) -> bool:
    """Whether what an engine, or a build, is serialized to is written to a file."""
    made = program.ending(_SERIALIZES, "call")
    results = {id(e.result) for e in made if e.result is not None}
    return any(id(a) in results for e in program.ending(_WRITES) for a in e.args)
