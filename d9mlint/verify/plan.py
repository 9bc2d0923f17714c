"""What to execute: the cases of the ops that were named, that findings are about, or all."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from d9mlint.catalogue.lookup import ops_called
from d9mlint.catalogue.schema.cases import Executable
from d9mlint.model import ABOUT_OPS, Case, OpCall, Unchecked, Unexecuted, UsageError
from d9mlint.verify.likening import like

_QUOTED = re.compile(r"`([\w.]+)`")
"""How findings of reports without the key ``ops`` name the calls."""
_LONG = ("compiled",)
"""Executions that call a C++ compiler in every process: some ten seconds each, and others take milliseconds."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A finding as far as ``verify`` needs it: where, which rule, which ops."""

    place: str
    """``path:line rule``."""
    ops: tuple[str, ...]
    rule: str = ""
    calls: tuple[OpCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases to execute in order, the findings that each op belongs to, and what cannot be executed."""

    cases: tuple[Case, ...]
    findings: Mapping[str, tuple[str, ...]]
    unexecuted: tuple[Unexecuted, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    """What could not be linted."""
    calls: Mapping[str, tuple[OpCall, ...]] = field(default_factory=dict)
    """By op, how the findings' programs call it."""
    code: tuple[str, ...] = ()
    """The user's file that is to be executed, and the packages that it imports."""

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks that the cases need, sorted."""
        return tuple(sorted({case.framework for case in self.cases}))


def named(
    names: Sequence[str], known: Sequence[Executable], aliases: Mapping[str, str], framework: str | None = None
) -> Plan:
    """The cases of the ops called ``names``; all of them where there are none.

    Raises:
        UsageError: no op is called that.
    """
    considered = [one for one in known if framework in (None, one.op.framework)]
    if not considered:
        raise UsageError(f"no op of {framework} is in the catalogue")
    chosen: list[Executable] = [] if names else list(considered)
    for name in names:
        found = _called(name, considered, aliases)
        if not found:
            calls = sorted({call for one in considered for call in (one.op.name, *one.op.calls)})
            close = [f"`{word}`" for word in get_close_matches(name, calls, n=3)]
            raise UsageError(f"no op is called `{name}`{f'; did you mean {_or(close)}?' if close else ''}")
        chosen += [one for one in found if one not in chosen]
    return _plan(chosen, {})


def flagged(findings: Iterable[Flagged], known: Sequence[Executable], aliases: Mapping[str, str]) -> Plan:
    """The cases of the ops that findings are about."""
    chosen: list[Executable] = []
    places: dict[str, tuple[str, ...]] = {}
    missing: list[Unexecuted] = []
    calls: dict[str, tuple[OpCall, ...]] = {}
    for finding in findings:
        for call in finding.calls:
            calls[call.op] = tuple(dict.fromkeys((*calls.get(call.op, ()), call)))
        for name in finding.ops:
            found = _called(name, known, aliases)
            if not found and finding.rule in ABOUT_OPS:
                missing.append(Unexecuted(name, f"{finding.place}: not in the catalogue"))
            for one in found:
                places[one.op.name] = tuple(dict.fromkeys((*places.get(one.op.name, ()), finding.place)))
                chosen += [one] if one not in chosen else []
    plan = _plan(chosen, places)
    cases = tuple(case for one in chosen for case in _alike(one.cases, calls.get(one.op.name, ())))
    return Plan(cases, plan.findings, (*plan.unexecuted, *dict.fromkeys(missing)), calls=calls)


def _alike(cases: Sequence[Case], calls: Sequence[OpCall]) -> list[Case]:
    """The likest case made like each of the calls, then those of the catalogue that are none of these."""
    made: dict[tuple[object, ...], Case] = {}
    for call in calls if cases else ():
        case = like(cases, call)
        made.setdefault(_essence(case), case)
    return [*made.values(), *(one for one in cases if _essence(one) not in made)]


def _essence(case: Case) -> tuple[object, ...]:
    return case.run, tuple(case.make.items()), case.inputs, case.dtype, case.execution, case.autocast


def read_report(path: Path) -> list[Flagged]:
    """The findings in a report of ``d9mlint check --format json``.

    Raises:
        UsageError: the file is no such report.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not a JSON report: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict) or data.get("schema") != 1 or not isinstance(data.get("findings"), list):
        raise UsageError(f"{path}: not a report of `d9mlint check --format json` (schema 1)")
    try:
        return [_flagged(one) for one in data["findings"]]
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"{path}: a finding in this report lacks rule, path, line or message") from None


def _flagged(finding: Mapping[str, Any]) -> Flagged:
    rule = str(finding["rule"])
    place = f"{finding['path']}:{finding['line']} {rule}"
    ops = tuple(str(op) for op in finding.get("ops", ()))
    if not ops and rule in ABOUT_OPS:
        ops = tuple(_QUOTED.findall(str(finding["message"])))
    return Flagged(place, ops, rule, tuple(_called_in(one) for one in finding.get("calls", ())))


def _called_in(told: Mapping[str, Any]) -> OpCall:
    """A call as reports tell it; literals that are none are left out."""
    texts = {key: str(told.get(key, "")) for key in ("op", "name", "place", "dtype", "autocast", "execution")}
    pairs = {key: tuple((str(k), str(v)) for k, v in told.get(key, {}).items()) for key in ("arguments", "shapes")}
    arguments = tuple((name, text) for name, text in pairs["arguments"] if _is_literal(text))
    return OpCall(**texts, arguments=arguments, shapes=pairs["shapes"])


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError):
        return False
    return True


def restricted(plan: Plan, framework: str | None, executions: Sequence[str]) -> Plan:
    """The cases of a framework and of the executions that were asked for; those that take long only if they were."""
    cases = [case for case in plan.cases if framework in (None, case.framework)]
    if executions:
        return replace(plan, cases=tuple(case for case in cases if case.execution in executions))
    left = tuple(
        Unexecuted(case.key, f"it takes long: name its execution (`--execution {case.execution}`)")
        for case in cases
        if case.execution in _LONG and not case.like
    )
    kept = tuple(case for case in cases if case.execution not in _LONG or case.like)
    return replace(plan, cases=kept, unexecuted=(*plan.unexecuted, *left))


def _called(name: str, known: Sequence[Executable], aliases: Mapping[str, str]) -> list[Executable]:
    """By name or by a call; a bare layer (``Conv2D``) is one of Keras."""
    for spelled in (name, f"keras.layers.{name}"):
        found = ops_called(spelled, (one.op for one in known), aliases)
        if found:
            return [one for one in known if one.op in found]
    return []


def _plan(chosen: Sequence[Executable], places: Mapping[str, tuple[str, ...]]) -> Plan:
    cases = tuple(case for one in chosen for case in one.cases)
    without = tuple(Unexecuted(one.op.name, one.without) for one in chosen if not one.cases)
    return Plan(cases, places, without)


def _or(words: Sequence[str]) -> str:
    return " or ".join(words)
