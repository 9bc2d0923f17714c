"""The declarative half of a rule: ``match`` against the events of a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft, lower, value_text

RE_EXECUTES = ("os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl", "subprocess.run", "subprocess.call",
               "subprocess.Popen", "subprocess.check_call", "multiprocessing.Process")  # fmt: skip
"""Calls that start another process, which reads the environment anew."""
_KINDS = {"call": "call", "set": "set", "env": "env", "import": "import", "iterate": "iterate"}


def check(program: Program, rule: Rule) -> Iterator[Draft]:
    """The findings of a rule that has a ``match``."""
    match: Mapping[str, Any] = rule.match or {}
    subject = next(key for key in _KINDS if key in match)
    names = _list(match[subject])
    events = program.imports(*names) if subject == "import" else program.find(_KINDS[subject], *names)
    outside = _scope(program, match.get("unless"))
    inside = _scope(program, match.get("if"))
    for event in events:
        cond = both(_when(program, event, match.get("when") or {}), negate(outside(event)), inside(event, True))
        if cond is False or truth(cond, event.guards) is False:
            continue
        confidence = rule.confidence if is_symbolic(cond) else lower(lower(rule.confidence))
        yield draft(program, rule, event, cond=cond, confidence=confidence, **_words(event))


def _when(program: Program, event: Event, tests: Mapping[str, Any]) -> Cond:
    if event.kind in ("env", "set"):
        return both(*(matches(event.args[0] if event.args else None, test) for test in tests.values()))
    return program.holds(event, tests)


class _scope:
    """The condition that ``if``/``unless`` puts on an event; neutral when the key is absent."""

    def __init__(self, program: Program, clause: Mapping[str, Any] | None) -> None:
        self._program = program
        self._clause = clause

    def __call__(self, event: Event, neutral: bool = False) -> Cond:
        if self._clause is None:
            return neutral
        conds: list[Cond] = []
        for effect in _list(self._clause.get("program", [])):
            conds.append(self._effect(effect, event))
        contexts = _list(self._clause.get("inside", []))
        if contexts:
            conds.append(event.inside(*contexts))
        return both(*conds) if neutral else either(*conds)

    def _effect(self, effect: str, event: Event) -> Cond:
        program = self._program
        if effect == "op-determinism":
            return switch(program).on
        if effect == "re-executes":
            return any(not e.detached for e in program.calls(*RE_EXECUTES))
        if effect == "trains":
            return bool(program.trains)
        if effect.startswith("uses:"):
            return bool(program.imports(effect.removeprefix("uses:")))
        if effect.startswith("calls:"):
            called = program.calls(effect.removeprefix("calls:"))
            return any(not e.detached and event.meets(e) for e in called)
        if effect.startswith("sets:"):
            return any(not e.detached for e in program.env(effect.removeprefix("sets:")))
        raise ValueError(f"unknown program effect {effect!r}")


_TAKEN = frozenset({"cond", "confidence", "severity", "related", "remedy", "fixes", "at", "rule"})


def _words(event: Event) -> dict[str, Any]:
    words: dict[str, Any] = {"name": event.raw, "last": event.raw.rpartition(".")[2]}
    words |= {key: value_text(value) for key, value in event.kwargs.items() if key not in _TAKEN}
    if event.args:
        words["value"] = value_text(event.args[0])
    return words


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
