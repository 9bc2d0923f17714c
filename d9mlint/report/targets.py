"""Which entries were judged for which target, in an order that does not depend on how mappings were filled."""

from __future__ import annotations

from dataclasses import dataclass

from d9mlint.model import NEWEST, Package, Report, Target

_FIRST = ("tensorflow", "keras")
_TOLD = ("accelerate", "jax", "keras", "lightning", "tensorflow", "torch", "transformers", "vllm")
"""Packages whose assumed version is told, too, where the program uses them."""
_BOUNDED = "newest release for Python"
"""How the reason begins for a version that nobody states, of a Python that somebody does."""
_ALWAYS = (*_FIRST, "horovod", "numpy", "python")


@dataclass(frozen=True, slots=True)
class Group:
    """Paths that share one target."""

    target: Target
    paths: tuple[str, ...]


def groups(report: Report) -> tuple[Group, ...]:
    """One group a distinct target, the one with most paths first."""
    found: dict[object, tuple[Target, list[str]]] = {}
    for path in paths(report):
        target = report.targets[path]
        key = (target.device, tuple((name, package.version, package.reason) for name, package in packages(target)))
        found.setdefault(key, (target, []))[1].append(path)
    unsorted = (Group(target, tuple(members)) for target, members in found.values())
    return tuple(sorted(unsorted, key=lambda group: -len(group.paths)))


def paths(report: Report) -> tuple[str, ...]:
    """Every path that has a target: the entries in their order, then the others by name."""
    entries = [path for path in report.entries if path in report.targets]
    return tuple(dict.fromkeys([*entries, *sorted(report.targets)]))


def packages(target: Target) -> tuple[tuple[str, Package], ...]:
    """The packages of a target that matter, frameworks first, then by name: the usual ones and those stated."""

    always = (*_ALWAYS, *target.uses)

    def rank(item: tuple[str, Package]) -> tuple[int, str]:
        name = item[0]
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)

    return tuple(sorted((item for item in target.packages.items() if _matters(target, item[0], always)), key=rank))


def _matters(target: Target, name: str, always: tuple[str, ...]) -> bool:
    """Whether somebody stated the version, or it is one of ``always``; the others are assumptions nobody asks for."""
    from d9mlint.target.known import implied  # versions take long to import, and a report about kernels has none

    reason = target.packages[name].reason
    if name in always:
        return True
    if name == "python" and reason.startswith("newest Python for"):  # of interest where it bounds something
        return any(one in always and p.reason.startswith(_BOUNDED) for one, p in target.packages.items())
    follows = implied(name, target.version("tensorflow") or "0")
    return not (reason == NEWEST or reason.startswith(_BOUNDED) or (follows is not None and reason == follows[1]))


def describe(target: Target) -> str:
    """``tensorflow 2.4.1 (requirements.txt:14), device gpu (default)``."""
    used = {name for name in target.uses if name in _TOLD}
    told = tuple(used | {"keras"} if "tensorflow" in used else used)
    parts = [
        f"{name} {package.version}" + (f" ({package.reason})" if package.reason else "")
        for name, package in packages(target)
        if _matters(target, name, told)
    ]
    default = " (default)" if target.device == Target().device else ""
    return ", ".join([*parts, f"device {target.device}{default}"])
