"""How findings about sites and library calls are written."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.model import Finding, Guard, KernelOp, KernelScan, LibraryCall, Location, Related, Rule, Site

_MOST_OPS = 3
_MOST_STEPS = 6
_PYTHON, _IN_PYTHON = "python", (".py", ".ipynb")
"""What a remedy for kernels in Python is marked with, and the files that these stand in."""
_GUARDS = {
    "throws": "deterministic mode refuses to run it",
    "other-path": "deterministic mode takes another path",
}


def finding(
    scan: KernelScan, rule: Rule, one: Site | LibraryCall, *, severity: str = "", confidence: str = ""
) -> Finding:
    """A finding about ``one``; what a guard covers is only ``info``: whoever asks for determinism is told, or cured.

    What a rule says of one kernel has one cause.
    """
    ops = [op for op in scan.ops if one.location in op.sites]
    guarded = one.guard.level != "none"
    name = one.atomic if isinstance(one, Site) else one.name
    message = rule.message.format(
        name=name, inside=f" in `{one.function}`" if one.function else "", reason=one.reason, ops=_reaches(ops)
    )
    return Finding(
        rule=rule.name, id=rule.id, hazard=rule.hazard, noise=rule.noise,
        severity="info" if guarded else severity or rule.severity, confidence=confidence or sure(rule, one),
        message=message, location=one.location, remedy=_remedy(rule, one.location),
        related=(*_guard(one.guard), *_way(ops, one.location)),
        cause=f"{rule.name}-{one.function}" if one.function else "",
    )  # fmt: skip


def _remedy(rule: Rule, at: Location) -> str:
    """What to do about a site: a kernel in Python has none of the macros of C++."""
    wanted = _PYTHON if at.path.endswith(_IN_PYTHON) else ""
    chosen = [one for one in rule.remedies if one.framework == wanted] or rule.remedies
    return chosen[0].text if chosen else ""


def sure(rule: Rule, one: Site | LibraryCall) -> str:
    """``medium`` at most where it varies only under a condition."""
    return "medium" if one.verdict == "conditional" and rule.confidence == "high" else rule.confidence


def _reaches(ops: Iterable[KernelOp]) -> str:
    """`` (reached by ...)``: the ops as Python names them, else by their own names."""
    names = [op.python[0] if op.python else op.name for op in ops]
    if not names:
        return ""
    more = f" and {len(names) - _MOST_OPS} more" if len(names) > _MOST_OPS else ""
    return f" (reached by {', '.join(f'`{name}`' for name in names[:_MOST_OPS])}{more})"


def _guard(guard: Guard) -> list[Related]:
    if guard.where is not None and guard.switch:
        return [Related(guard.where, f"`{guard.switch}` takes another path")]
    return [Related(guard.where, _GUARDS[guard.level])] if guard.where is not None and guard.level in _GUARDS else []


def _way(ops: list[KernelOp], site: Location) -> list[Related]:
    """The way from the site to the first op."""
    return [Related(step.location, step.text) for step in ops[0].chain_from(site)[:_MOST_STEPS]] if ops else []
