"""From files to findings: interprets each entry, runs the rules on what it does, merges what they say."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from d9mlint.model import CONFIDENCES, AnyPlace, Coverage, Finding, Location, PlanRow, Related, Rule, Target
from d9mlint.python.domain.conditions import Cond, Literal, both, literal, truth
from d9mlint.python.domain.events import Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.frameworks.registry import frameworks
from d9mlint.python.interpreter import driver
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.reuse.sharing import Shared
from d9mlint.python.judging import match, plan
from d9mlint.python.judging.drafts import Draft, with_unnamed
from d9mlint.python.judging.merging import combine
from d9mlint.python.judging.tryouts import keeps_nothing, only_shows
from d9mlint.python.judging.wording import any_of, told_of, words_of
from d9mlint.python.project.files import Project
from d9mlint.python.source.reading import CannotRead

Check = Callable[[Program, Rule], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one entry yields: findings, and files (or rules) that could not be judged with the reason."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    coverage: Coverage | None
    runs: bool
    """It is a program: an entry, or a file that no entry reaches and that was seen to train by itself."""
    plan: tuple[PlanRow, ...] = ()


def judge(
    project: Project, entry: str, roots: Sequence[str], rules: Iterable[Rule], knowledge: Knowledge,
    target: Target, argv: Sequence[str] | None = None, *, local: bool = False, elsewhere: frozenset[str] = frozenset(),
    shared: Shared | None = None, seconds: float | None = None, planned: bool = False, starts: Sequence[str] = (),
    imported: bool = False,
) -> Judged:  # fmt: skip
    """Tells the program that starts at ``entry`` and judges it; ``local`` for a file that no entry reaches.

    ``seconds`` of CPU time it may take, None for no limit; ``elsewhere`` are files that another entry of the
    same run reaches too: what nothing calls in them is told there; ``planned``: with its determinism plan;
    ``starts``: functions of the entry that console scripts call; ``imported``: by another entry of the run.

    Raises:
        CannotRead: the entry itself cannot be read.
        UsageError: ``argv`` are not arguments of this program.
    """
    story = interpret(
        project, entry, roots, knowledge, target, argv, local=local, elsewhere=elsewhere, shared=shared,
        seconds=seconds, starts=starts,
    )  # fmt: skip
    program = Program(story, target, knowledge)
    drafts: list[Draft] = []
    failed: list[str] = []
    kept = not keeps_nothing(program)
    for rule in rules if kept else ():
        if not rule.applies(target):
            continue
        try:
            drafts.extend(checker(rule)(program, rule))
        except Exception as error:  # noqa: BLE001 - one rule must not take the others down; it is reported as such
            failed.append(f"internal-error: rule {rule.name} failed: {type(error).__name__}: {error}")
    if kept and drafts and only_shows(program, imported):
        drafts = [_for_information(one, entry) for one in drafts]
    findings = merge(drafts, entry, story.local, anyhow(program))
    try:
        told = plan.rows(program) if planned and not story.local else ()
    except Exception as error:  # noqa: BLE001 - as with the rules
        told = ()
        failed.append(f"internal-error: the determinism plan failed: {type(error).__name__}: {error}")
    story.release()
    reasons = (*story.unchecked.items(), *((entry, reason) for reason in (*failed, *story.cuts)))
    coverage = story.coverage and story.coverage._replace(kept=kept)
    return Judged(
        findings, tuple(sorted(reasons)), tuple(m.path for m in story.modules), coverage, not story.local, told
    )


_TRIED = "{} (in a self-test: what comes of it is only printed or shown)"


def _for_information(draft: Draft, entry: str) -> Draft:
    """What is told of a program that only tries out what it defines; it shares its causes with no other program."""
    name, _, concerned = draft.cause.partition("/")
    own = f"{name}-{entry.replace('/', '.')}" if name else ""
    told = _TRIED.format(draft.message)
    return replace(draft, severity="info", message=told, cause=f"{own}/{concerned}" if concerned else own, slight=True)


def interpret(
    project: Project, entry: str, roots: Sequence[str], knowledge: Knowledge, target: Target,
    argv: Sequence[str] | None = None, *, local: bool = False, elsewhere: frozenset[str] = frozenset(),
    shared: Shared | None = None, seconds: float | None = None, starts: Sequence[str] = (),
) -> Story:  # fmt: skip
    """What the program that starts at ``entry`` does, with all frameworks that are known.

    Raises:
        CannotRead, UsageError: as for `judge`.
    """
    return driver.run(
        project, entry, roots, knowledge, target, frameworks(), argv, local=local, elsewhere=elsewhere, shared=shared,
        seconds=seconds, starts=starts,
    )  # fmt: skip


_CHECKERS: dict[str, Check] = {}


def checker(rule: Rule) -> Check:
    """The function that judges for a rule: its ``match``, or ``check_program`` of the module of its name."""
    if rule.match is not None:
        return match.check
    found = _CHECKERS.get(rule.name)
    if found is None:
        module = importlib.import_module(f"d9mlint.python.rules.{rule.family}.{rule.name.replace('-', '_')}")
        found = _CHECKERS[rule.name] = module.check_program
    return found


def merge(drafts: Iterable[Draft], entry: str, local: bool, anyhow: Sequence[Cond] = ()) -> tuple[Finding, ...]:
    """Findings out of drafts: those that say the same of the same place become one, under either condition.

    ``anyhow`` is what holds wherever the program does what it is for; it needs no mention.
    """
    groups: dict[tuple[str, Location, str], list[Draft]] = {}
    for draft in drafts:
        groups.setdefault((draft.rule.name, draft.location, draft.message), []).append(draft)
    told = [_told(group, entry, local, anyhow) for group in groups.values()]
    alike: dict[tuple[object, ...], list[_Told]] = {}
    for one in told:
        alike.setdefault(_of_cause(one.finding), []).append(one)
    findings = [
        one.finding._replace(any_place=at) for group in alike.values() for at in [_any_place(group)] for one in group
    ]
    return tuple(sorted(findings, key=lambda x: x.sort_key))


class _Told(NamedTuple):
    """A finding, when it holds, and what holds anyhow."""

    finding: Finding
    cond: Cond
    excluded: Sequence[Cond]


def _of_cause(found: Finding) -> tuple[object, ...]:
    """Equal for the findings of one cause, and one generator, that are as grave and as sure and decide as much."""
    known = found.cause, found.severity, found.confidence, found.slight
    return known if found.cause else (found.rule, found.location, found.message)


def _any_place(alike: Sequence[_Told]) -> AnyPlace | None:
    """When any of several findings holds."""
    if len(alike) == 1:
        return None
    cond = any_of((one.cond for one in alike), settings=True)
    excluded = [test for test in alike[0].excluded if all(test in one.excluded for one in alike)]
    when = words_of(cond, True, excluded)
    return AnyPlace(when, len(alike)) if when or truth(cond, excluded) is True else None


def anyhow(program: Program) -> tuple[Cond, ...]:
    """What values of flags the program takes: with any other it stops before it trains (``else: sys.exit(...)``)."""
    trains = [event for event in program.trains if not event.detached]
    shared = [one for one in trains[0].excluded if all(one in event.excluded for event in trains)] if trains else []
    return tuple(one for one in shared if (test := literal(one)) is not None and _of_values(test))


def _of_values(test: Literal) -> bool:
    return test.flag is not None and test.flag.kind == "value" and not isinstance(test.flag.default, bool)


def _told(group: list[Draft], entry: str, local: bool, anyhow: Sequence[Cond]) -> _Told:
    best = max(group, key=lambda d: CONFIDENCES.index(d.confidence))
    cond: Cond = any_of((d.cond for d in group), best.settings)
    excluded = [one for one in best.excluded if all(one in draft.excluded for draft in group)]
    if both(cond, *excluded, *anyhow) is not False:
        excluded += [one for one in anyhow if one not in excluded]
    related: list[Related] = []
    for draft in group:
        told = (one._replace(note=with_unnamed(one.note)) for one in draft.related)
        related.extend(r for r in told if r not in related and r.location != draft.location)
    calls = tuple(dict.fromkeys(call for draft in group for call in draft.calls))
    found = Finding(
        rule=best.rule.name, id=best.rule.id, hazard=best.rule.hazard, noise=best.rule.noise, severity=best.severity,
        confidence=best.confidence, message=with_unnamed(best.message), location=best.location, remedy=best.remedy,
        when=told_of(cond, best.settings, excluded), related=tuple(related), fixes=best.fixes,
        entries=() if local else (entry,),
        ops=tuple(dict.fromkeys(call.op for call in calls)), calls=calls,
        cause=best.cause, uncalled=all(draft.uncalled for draft in group), slight=all(draft.slight for draft in group),
        reached=next(filter(None, (draft.reached(entry) for draft in group)), None),
    )  # fmt: skip
    return _Told(found, cond, excluded)


__all__ = ["CannotRead", "Judged", "combine", "interpret", "judge"]
