"""From files to findings: tells each entry's story, runs the rules on it, merges what they say."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from d9mlint.model import CONFIDENCES, Finding, Location, Related, Rule, Target
from d9mlint.python import calling, linking, loaders, match, mentions
from d9mlint.python import facts as f
from d9mlint.python.determinism import CUDNN_VARIABLE, FRONTEND_VARIABLE, OPS_VARIABLE
from d9mlint.python.guards import Cond, forget
from d9mlint.python.interpreter import Interpreter
from d9mlint.python.knowledge import Knowledge
from d9mlint.python.merging import combine
from d9mlint.python.notebooks import cells
from d9mlint.python.program import Draft, Program
from d9mlint.python.project import CannotRead, Project
from d9mlint.python.reading import NOTEBOOK
from d9mlint.python.story import Frame, Story
from d9mlint.python.values import Class, Func, Inst, Module
from d9mlint.python.wording import any_of, words_of

RECURSION = 12_000
"""Stack frames that the interpreter may use; its own limits (``MAX_CALLS``, ``MAX_DEPTH``) end well below."""

_VARIABLES = frozenset({OPS_VARIABLE, CUDNN_VARIABLE, FRONTEND_VARIABLE, "PYTHONHASHSEED"})
"""Environment variables whose setting in a function that nothing calls is worth a word."""

Check = Callable[[Program, Rule], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one entry yields: findings, and files (or rules) that could not be judged with the reason."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    runs: bool
    """It is a program: an entry, or a file that no entry reaches and that was seen to train by itself."""


def judge(
    project: Project, entry: str, roots: Sequence[str], rules: Iterable[Rule], knowledge: Knowledge,
    target: Target, argv: Sequence[str] | None = None, *, local: bool = False, elsewhere: frozenset[str] = frozenset(),
) -> Judged:  # fmt: skip
    """Tells the program that starts at ``entry`` and judges it; ``local`` for a file that no entry reaches.

    ``elsewhere`` are files that another entry of the same run reaches too: what nothing calls in them is told there.

    Raises:
        CannotRead: the entry itself cannot be read.
        UsageError: ``argv`` are not arguments of this program.
    """
    story = tell(project, entry, roots, knowledge, target, argv, local=local, elsewhere=elsewhere)
    program = Program(story, target, knowledge)
    drafts: list[Draft] = []
    unchecked = dict(story.unchecked)
    for rule in rules:
        if not rule.applies(target):
            continue
        try:
            drafts.extend(checker(rule)(program, rule))
        except Exception as error:  # noqa: BLE001 - one rule must not take the others down; it is reported as such
            place = f"{type(error).__name__}: {error}"
            unchecked[f"{entry}"] = f"internal-error: rule {rule.name} failed: {place}"
    findings = merge(drafts, entry, story.local)
    return Judged(findings, tuple(sorted(unchecked.items())), tuple(m.path for m in story.modules), not story.local)


def tell(
    project: Project, entry: str, roots: Sequence[str], knowledge: Knowledge, target: Target,
    argv: Sequence[str] | None = None, *, local: bool = False, elsewhere: frozenset[str] = frozenset(),
) -> Story:  # fmt: skip
    """The story of one entry, then (marked as detached) what is in functions that nobody was seen to call.

    Of the files in ``elsewhere`` only functions that may seed or switch something: it matters that they are not called.
    """
    if sys.getrecursionlimit() < RECURSION:
        sys.setrecursionlimit(RECURSION)
    forget()
    project.facts(entry)  # raises CannotRead for the entry; other files are reported in the story
    story = Story(entry, local=local)
    if entry.endswith(NOTEBOOK):
        story.cells = cells((project.data(entry) or b"").decode("utf-8", "replace"))
    interpreter = Interpreter(project, roots, knowledge, target, story, argv)
    linking.launch(interpreter, target)
    linking.load_entry(interpreter, entry)
    loaders.finish(interpreter)
    _tell_detached(interpreter, elsewhere)
    # A script without a main guard looks like a module until it is seen to train by itself.
    story.local = local and not any(e.certain and e.trains for e in story.events)
    return story


def _tell_detached(interp: Interpreter, elsewhere: frozenset[str]) -> None:
    interp.detached = True
    words = interp.knowledge.switching | _VARIABLES
    possible = None if interp.story.local else _mentioned(interp)
    for module in list(interp.story.modules):
        if module.frame is not None:
            others = module.path in elsewhere or (interp.story.local and module.path != interp.story.entry)
            wanted = words if others else None
            for value in list(module.frame.vars.values()):
                _detached_value(interp, value, module, wanted, possible)


def _mentioned(interp: Interpreter) -> Callable[[object], bool] | None:
    """A test for functions that nobody was seen to call but that the program mentions; None where any may be found."""

    def body(path: str) -> tuple[f.Stmt, ...]:
        try:
            facts = interp.project.facts(path)
        except CannotRead:
            return ()
        return facts.body if facts is not None else ()

    entered = frozenset(interp.entered)
    story = interp.story
    return mentions.mentioned(story.modules, body, lambda node: id(node) in entered, story.events, interp.project.words)


def _detached_value(
    interp: Interpreter, value: object, module: Module, words: frozenset[str] | None,
    possible: Callable[[object], bool] | None,
) -> None:  # fmt: skip
    """Tells a function or the methods of a class; with ``words`` only where one of them occurs."""
    frame = module.frame
    if frame is None:
        return

    def pends(func: object) -> TypeGuard[Func]:
        if not isinstance(func, Func) or id(func.node) in interp.entered:
            return False
        return words is None or not words.isdisjoint(interp.project.words(func.node))

    if isinstance(value, Func) and value.closure.module is module:
        if pends(value):
            interp.unreached = possible is not None and not possible(value.node)
            _run_detached(interp, value, [], frame)
    elif isinstance(value, Class) and value.frame.module is module and not _is_test(value):
        pending = [m for m in value.frame.vars.values() if pends(m)]
        if not pending:
            return
        instance = Inst(value, ())
        pending.sort(key=lambda method: method.name != "__init__")  # methods read what the constructor sets
        for method in pending:
            interp.unreached = possible is not None and not possible(method.node)
            _run_detached(interp, method, [instance], frame)


def _is_test(cls: Class) -> bool:
    """Whether a class holds unit tests: what they do is no part of a training run."""
    return any(name.endswith("TestCase") for name in cls.external())


def _run_detached(interp: Interpreter, func: Func, args: list[Inst], frame: Frame) -> None:
    if id(func.node) in interp.entered:  # by a method told just before
        return
    place = func.node.place if isinstance(func.node, (f.Def, f.Lambda)) else f.NOWHERE
    calling.enter(interp, func, list(args), {}, frame, place, star=True)


_CHECKERS: dict[str, Check] = {}


def checker(rule: Rule) -> Check:
    """The function that judges for a rule: its ``match``, or ``check_program`` of the module of its name."""
    if rule.match is not None:
        return match.check
    found = _CHECKERS.get(rule.name)
    if found is None:
        module = importlib.import_module(f"d9mlint.python.rules.{rule.name.replace('-', '_')}")
        found = _CHECKERS[rule.name] = module.check_program
    return found


def merge(drafts: Iterable[Draft], entry: str, local: bool) -> tuple[Finding, ...]:
    """Findings out of drafts: those that say the same of the same place become one, under either condition."""
    groups: dict[tuple[str, Location, str], list[Draft]] = {}
    for draft in drafts:
        groups.setdefault((draft.rule.name, draft.location, draft.message), []).append(draft)
    findings = [_finding(group, entry, local) for group in groups.values()]
    return tuple(sorted(findings, key=lambda x: x.sort_key))


def _finding(group: list[Draft], entry: str, local: bool) -> Finding:
    best = max(group, key=lambda d: CONFIDENCES.index(d.confidence))
    cond: Cond = any_of((d.cond for d in group), best.settings)
    excluded = [one for one in best.excluded if all(one in draft.excluded for draft in group)]
    related: list[Related] = []
    for draft in group:
        related.extend(r for r in draft.related if r not in related and r.location != draft.location)
    return Finding(
        rule=best.rule.name, id=best.rule.id, hazard=best.rule.hazard, noise=best.rule.noise, severity=best.severity,
        confidence=best.confidence, message=best.message, location=best.location, remedy=best.remedy,
        when=words_of(cond, best.settings, excluded), related=tuple(related), fixes=best.fixes,
        entries=() if local else (entry,),
        ops=tuple(dict.fromkeys(op for draft in group for op in draft.ops)),
    )  # fmt: skip


__all__ = ["CannotRead", "Judged", "combine", "judge", "tell"]
