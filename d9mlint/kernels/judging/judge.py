"""Judges an atomic: what kind of operation it is, and whether it can make a result vary from run to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.judging import operations
from d9mlint.kernels.judging.aliases import other_member
from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.judging.seen import Seen, look
from d9mlint.kernels.judging.switched import switch
from d9mlint.kernels.judging.verdicts import decide
from d9mlint.kernels.sites.atomics import Atomic, target_first
from d9mlint.kernels.source.repository import Repository

_MAX_INNER = 60
_GRAVITY = ("yes", "conditional", "unknown", "depends", "no")


class Judgement(NamedTuple):
    """What is said of a site; the fields are those of ``model.Site``."""

    class_: str
    verdict: str
    reason: str
    target_type: str = ""
    return_use: str = "unused"
    memory: str = "unknown"
    implements: str = ""
    words: tuple[str, ...] = ()
    """The operations that the site may come down to."""
    by_uses: bool = False
    """Whether the verdict is that of the uses of a wrapper, which are sites themselves."""


def judge(atomic: Atomic, repository: Repository) -> Judgement:
    """Class, verdict and reason of an atomic; ``unknown`` where the source does not show enough.

    A wrapper that works on several of its arguments is judged for each; the gravest counts.
    """
    if atomic.targets:
        parts = [_judged(part, repository) for part in _apart_by_target(atomic)]
        return min(parts, key=lambda one: _GRAVITY.index(one.verdict))
    return _judged(atomic, repository)


def _apart_by_target(atomic: Atomic) -> Iterator[Atomic]:
    """The atomic once for each argument that it works on, which comes first, with what works on it."""
    for index in sorted(set(atomic.targets)):
        inner = tuple(one for one, at in zip(atomic.inner, atomic.targets, strict=True) if at == index)
        yield atomic._replace(arguments=target_first(atomic.arguments, index), inner=inner, targets=())


def _judged(atomic: Atomic, repository: Repository) -> Judgement:
    seen = look(atomic, repository)
    class_, verdict, reason = decide(seen)
    exact = class_ == "commutative-exact" or verdict == "no"
    if (exact or class_ == "unknown") and atomic.form in ("wrapper", "macro-use"):
        inside = _within(seen, repository)
        if inside is not None and (exact or inside[1] == "yes"):
            class_, verdict, reason = inside
    elif verdict == "no" and atomic.inner and atomic.form == "wrapper-def":
        inside = _within(seen, repository)
        class_, verdict, reason = (
            (inside[0], "depends", f"{inside[2]}; it depends on the callers") if inside else (class_, verdict, reason)
        )
    if (class_, verdict) == ("float-accumulate", "conditional") and _adds_floats_beside(seen, repository):
        verdict = "yes"
    when = switch(atomic) if verdict == "yes" else ""
    if when:
        verdict, reason = "conditional", f"{reason}; {when}"
    implements = seen.operation.implements
    return Judgement(
        class_,
        verdict,
        reason,
        seen.target.written,
        seen.use.kind,
        seen.target.memory,
        implements,
        seen.operation.words,
    )


def _within(seen: Seen, repository: Repository) -> tuple[str, str, str] | None:
    """What the body of a wrapper does beside: an old value that is used, a lock, an exchange."""
    found: tuple[str, str, str] | None = None
    pending = list(seen.atomic.inner)
    for _ in range(_MAX_INNER):
        if not pending:
            break
        inner = pending.pop(0)
        if not operations.looped_swap(inner, repository):
            pending.extend(inner.inner)
        if inner.inner or inner.form == "macro-def":
            continue
        deeper = look(inner, repository)
        stores = {"cas", "exch"} & set(deeper.operation.words)
        same = deeper.constant is not None or (seen.constant is not None and "exch" in stores)
        if same and deeper.use.kind == "unused":
            continue
        if not stores and deeper.use.kind not in ("index", "value", "ticket"):
            continue
        class_, verdict, reason = decide(deeper)
        if class_ != "order-dependent" or verdict == "no":
            continue
        reason = f"in the body of `{seen.atomic.name}`, {reason.removesuffix('; it depends on the callers')}"
        if verdict == "yes":
            return class_, verdict, reason
        found = found or (class_, "conditional", reason)
    return found


def _adds_floats_beside(seen: Seen, repository: Repository) -> bool:
    """Whether each body of a wrapper adds to a float whatever else it adds to: ``s->mass`` beside ``s->count``."""
    atomic = seen.atomic
    bodies = {(i.location.path, i.function.node.id): i.function.node for i in atomic.inner if i.function is not None}
    others = set(seen.operation.words) - ACCUMULATE
    if atomic.form != "wrapper" or not bodies or not (seen.target.of("integer") or others) or seen.assumed:
        return False
    if any(b"constexpr" in (body.text or b"") for body in bodies.values()):
        return False
    adding = set()
    for inner in atomic.inner:
        part = look(inner, repository) if not inner.inner and inner.function is not None else None
        if part is None or not part.target.types or part.target.open or "=" in part.target.written:
            continue
        sums = not part.target.of("integer") and set(part.operation.words) <= ACCUMULATE
        if sums and inner.function is not None and (not others or _apart_from_others(inner, atomic.inner)):
            adding.add((inner.location.path, inner.function.node.id))
    return adding == bodies.keys()


def _apart_from_others(inner: Atomic, every: tuple[Atomic, ...]) -> bool:
    """Whether other operations in the body work on other members of the object: ``s->max`` beside ``s->sum``."""
    own = [one for one in every if one.location.path == inner.location.path and one.name != inner.name]
    return all(
        bool(one.arguments and inner.arguments) and other_member(inner.arguments[0], one.arguments[0], inner.unit)
        for one in own
    )
