"""Judges an atomic: what kind of operation it is, and whether it can make a result vary from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import gradients, operations, uses
from d9mlint.kernels.judging.constants import Constant
from d9mlint.kernels.judging.operands import brought, handed_on, lone_constant
from d9mlint.kernels.judging.operations import ACCUMULATE, Operation, operation
from d9mlint.kernels.judging.owners import ownership, radix, singles, slices
from d9mlint.kernels.judging.owners.contention import contention
from d9mlint.kernels.judging.swapping import casloops, swaps
from d9mlint.kernels.judging.targets import Target, defines, handed_in, of_parameter, place, target
from d9mlint.kernels.sites.atomics import Atomic, target_first
from d9mlint.kernels.sites.functors import is_reference
from d9mlint.kernels.source.repository import Repository

Node = tree_sitter.Node

_DEFINITIONS = ("wrapper-def", "macro-def")
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


class Seen(NamedTuple):
    """All that is read off a site before it is judged."""

    atomic: Atomic
    operation: Operation
    target: Target
    use: uses.Use
    constant: Constant | None
    owner: str
    defines: bool = False
    """Whether it is an expansion outside of functions, which defines some itself."""
    assumed: str = ""
    """What must hold for one thread to own the address, where that is not proven: words from ``if`` on."""
    handed: bool = False
    """Whether it is an expansion whose target comes from a parameter of a function that is no kernel."""

    @property
    def what(self) -> str:
        """The atomic and its target, quoted, as reasons begin."""
        atomic = self.atomic
        call = f"`{atomic.name or atomic.assembler}`"
        on = f" on `{self.target.name}`" if self.target.name else ""
        shared = " in shared memory" if self.target.memory == "shared" else ""
        typed = f" ({self.target.written})" if self.target.written else ""
        return f"{call}{on}{shared}{typed}"

    @property
    def definition(self) -> bool:
        """Whether the site is the body of a wrapper or macro, judged where that is used.

        A functor whose calls are not found is judged by its instantiations.
        """
        function = self.atomic.function
        if self.atomic.form == "ptx" and self.atomic.arguments:
            return (
                function is not None
                and "__global__" not in function.qualifier
                and (self.atomic.passed_on or of_parameter(self.atomic))
            )
        if self.defines:
            return True
        if self.atomic.form == "macro-use" and (self.atomic.passed_on or self.handed):
            return True
        functor = function is not None and function.name.startswith("operator") and self.atomic.form == "wrapper-def"
        return self.atomic.form in _DEFINITIONS and not (functor and self.target.types and not self.atomic.called)


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
    class_, verdict, reason = _verdict(seen)
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
        class_, verdict, reason = _verdict(deeper)
        if class_ != "order-dependent" or verdict == "no":
            continue
        reason = f"in the body of `{seen.atomic.name}`, {reason.removesuffix('; it depends on the callers')}"
        if verdict == "yes":
            return class_, verdict, reason
        found = found or (class_, "conditional", reason)
    return found


def _brings_own(seen: Seen) -> bool:
    """Whether the amount that is added is in the test of the old value, too: then any order may pass it or not."""
    given = seen.atomic.arguments[1:2]
    text = seen.atomic.unit.text(given[0]) if given else ""
    return text.isidentifier() and re.search(rf"\b{text}\b", seen.use.text) is not None and seen.constant is None


def _adds_floats_beside(seen: Seen, repository: Repository) -> bool:
    """Whether each body of a wrapper adds to a float whatever else it adds to: ``s->mass`` beside ``s->count``."""
    atomic = seen.atomic
    bodies = {(i.location.path, i.function.node.id): i.function.node for i in atomic.inner if i.function is not None}
    if atomic.form != "wrapper" or not bodies or not seen.target.of("integer") or seen.assumed:
        return False
    if any(b"constexpr" in (body.text or b"") for body in bodies.values()):
        return False
    adding = set()
    for inner in atomic.inner:
        part = look(inner, repository) if not inner.inner and inner.function is not None else None
        if part is None or not part.target.types or part.target.open or "=" in part.target.written:
            continue
        if not part.target.of("integer") and set(part.operation.words) <= ACCUMULATE and inner.function is not None:
            adding.add((inner.location.path, inner.function.node.id))
    return adding == bodies.keys()


def look(atomic: Atomic, repository: Repository) -> Seen:
    """Reads a site: operation, type, memory, use of the old value, operand, owner of the address."""
    found = operation(atomic, repository)
    where = target(atomic, found, repository)
    types = () if where.types and not where.open else brought(atomic, repository)
    if types and not (where.of("float") and where._replace(types=types).of("integer")):
        where = where._replace(types=types, open=False)
    used = uses.use(atomic.node, atomic.unit) if atomic.node is not None else uses.Use("unused")
    if found.instruction is not None and found.instruction.returns and atomic.form.startswith("ptx"):
        kernel = atomic.function is None or "__global__" in atomic.function.qualifier
        traced = uses.assembled(atomic.arguments[0], atomic.unit) if atomic.arguments else None
        used = traced or (uses.Use("value", passed=True) if kernel else uses.Use("forwarded"))
    if found.loop and found.cas is not None:
        used = swaps.loop_use(atomic, used)
    alone, assumed = singles.sequential(atomic), ""
    matters = bool(where.of("float")) or used.kind not in ("unused", "forwarded")
    if matters and atomic.arguments and not atomic.assembler and handed_on(atomic, 0):
        address = atomic.arguments[0]
        alone = alone or ownership.owner(address, atomic.unit, atomic.function, where.memory)
        alone = alone or radix.owner(address, atomic.unit, atomic.function)
        cells = None if alone else slices.owner(address, atomic.unit, atomic.function, where.memory)
        if cells is not None:
            alone, assumed = ("", f"{cells.why} {cells.assumed}") if cells.assumed else (cells.why, "")
    # What defines a kernel, or a function that changes cells of its own, is used nowhere else as an atomic.
    defining = defines(atomic, repository) and any(one.passed_on for one in atomic.inner)
    used = uses.Use("unused") if defining else used
    handed = handed_in(where.name, place(atomic, repository))
    return Seen(atomic, found, where, used, lone_constant(atomic), alone, defining, assumed, handed)


def _verdict(seen: Seen) -> tuple[str, str, str]:
    words = set(seen.operation.words)
    if seen.defines:
        listed = ", ".join(f"`{w}`" for w in seen.operation.words) or "atomics"
        loops = "cas-loop" if seen.operation.loop else "unknown"
        return loops, "depends", f"`{seen.atomic.name}` defines functions with {listed} here; it depends on their use"
    if not words and is_reference(seen.atomic.arguments[0] if seen.atomic.arguments else None):
        return "unknown", "depends", f"{seen.what}: what it does to the cell is up to the function object that is " \
            "handed in"  # fmt: skip
    if not words:
        return "unknown", "unknown", f"{seen.what}: the operation is not visible in these sources"
    if words == {"cas"} or "exch" in words:
        class_, verdict, reason = swaps.judged(seen.atomic, seen.operation, seen.use, seen.constant, seen.what)
        return (class_, "depends", f"{reason}; it depends on the callers") if seen.definition else (
            class_, verdict, reason)  # fmt: skip
    if casloops.CUSTOM in words:
        return _custom(seen)
    class_, verdict, reason = _arithmetic(seen, words)
    return "cas-loop" if seen.operation.implements else class_, verdict, reason


def _custom(seen: Seen) -> tuple[str, str, str]:
    text = seen.operation.cas.text if seen.operation.cas is not None else ""
    inside = f"`{text}`, " if text else ""
    reason = f"{seen.what}: a compare-and-swap loop that stores {inside}the result of a function that is handed in"
    defined = seen.definition or seen.atomic.form in _DEFINITIONS
    return "cas-loop", "depends" if defined else "unknown", reason


def _arithmetic(seen: Seen, words: set[str]) -> tuple[str, str, str]:
    floats = seen.target.of("float")
    sums = words & ACCUMULATE
    if not sums:
        return _exact(seen, words)
    if seen.use.kind == "index" and seen.target.of("integer") and not seen.definition:
        return _returned(seen)  # what becomes a position is no float
    if floats:
        return _floats(seen, words)
    if seen.target.of("integer"):
        return _integers(seen)
    known = seen.atomic.function is not None or bool(seen.atomic.arguments)
    if seen.use.kind in ("index", "value", "ticket") and not seen.owner and known:
        class_, verdict, reason = _returned(seen)
        varies = (
            "" if verdict == "yes" else "; the type of the target is not visible, and sums of floats vary by themselves"
        )
        return class_, "conditional" if verdict == "no" else verdict, f"{reason}{varies}"
    plain = not seen.definition and seen.use.kind == "unused" and not seen.owner and seen.atomic.arguments
    same = seen.constant
    if plain and same is not None and not same.nan and len(words) == 1 and seen.atomic.function is not None:
        return "commutative-exact", "no", f"{seen.what}: every thread brings the same `{same.text}`, so the order " \
            "changes nothing, whatever the type is"  # fmt: skip
    gradient = gradients.named(seen.atomic, seen.target.name, seen.target.written) if plain else ""
    if gradient:
        return "float-accumulate", "yes", f"{seen.what}: its type is not visible here, but `{gradient}` stands for " \
            "gradients, which are floating point; addends from several threads meet in one cell in an order that " \
            "changes from run to run"  # fmt: skip
    if plain:
        what = f"`{seen.target.written}`" if seen.target.written else "its type"
        return "unknown", "conditional", f"{seen.what}: {what} is not visible here; floats meet " \
            "in one cell in an order that changes from run to run, integers are exact"  # fmt: skip
    reason = f"{seen.what}: the type of the target is not visible, and floats would depend on the order of the threads"
    depends = seen.definition or seen.use.kind == "forwarded"
    fixed = same is not None and not same.nan and not same.uniform and len(words) == 1 and seen.use.kind == "unused"
    if depends and fixed and same is not None:
        return "commutative-exact", "depends", f"{seen.what}: every thread brings the same `{same.text}`; it depends " \
            "on what else is added to its targets"  # fmt: skip
    return "unknown", "depends" if depends else "unknown", reason


def _floats(seen: Seen, words: set[str]) -> tuple[str, str, str]:
    class_ = "float-accumulate"
    exact = seen.target.of("integer")
    also = f" ({', '.join(f'`{t}`' for t in exact)} is exact)" if exact else ""
    if seen.definition:
        return class_, "depends", f"{seen.what}: floats are combined in the order of the threads{also}; " \
            "it depends on what the callers hand in"  # fmt: skip
    if seen.target.name in ("NULL", "nullptr"):
        return class_, "conditional", f"{seen.what}: no target is handed in (`{seen.target.name}`), so floats meet " \
            "only if another pointer stands for one"  # fmt: skip
    if seen.owner and seen.atomic.scope == "system":
        return class_, "conditional", f"{seen.what}: {seen.owner}, but other devices may add to it at the same time"
    if seen.owner:
        return class_, "no", f"{seen.what}: {seen.owner}, so the order of the addends is that of one thread"
    same = seen.constant
    if same is not None and same.nan:
        return class_, "no", f"{seen.what}: `{same.text}` is added, after which the cell is NaN in any order"
    if same is not None and (len(words) == 1 or _apart(seen.atomic)):
        return class_, "no", f"{seen.what}: every thread brings the same `{same.text}`, so the order changes nothing"
    if seen.assumed:
        return class_, "conditional", f"{seen.what}: {seen.assumed}; else the order of the addends changes from run " \
            "to run"  # fmt: skip
    several = "addends" if words <= {"add", "sub"} else "operands"
    order = f"{several} from several threads meet in one cell in an order that changes from run to run"
    who = _contention(seen)
    order += f"; {who}" if who else ""
    others = sorted(words - ACCUMULATE)
    if others:
        listed = ", ".join(f"`{w}`" for w in (*sorted(words & ACCUMULATE), *others))
        return class_, "conditional", f"float {seen.what}: one of {listed} is chosen; with " \
            f"{' or '.join(f'`{w}`' for w in sorted(words & ACCUMULATE))} {order}{also}"  # fmt: skip
    return class_, "conditional" if exact else "yes", f"float {seen.what}: {order}{also}"


def _contention(seen: Seen) -> str:
    atomic = seen.atomic
    if not atomic.arguments or atomic.assembler or not handed_on(atomic, 0):
        return ""
    return contention(atomic.arguments[0], atomic.unit, atomic.function, seen.target.memory)


def _apart(atomic: Atomic) -> bool:
    """Whether the bodies behind a wrapper are different functions: a launch uses one of them, chosen by types."""
    bodies = {(i.location.path, i.function.node.start_byte) for i in atomic.inner if i.function is not None}
    return bool(atomic.inner) and len(bodies) == len(atomic.inner)


def _integers(seen: Seen) -> tuple[str, str, str]:
    same = seen.constant
    if seen.target.open and same is not None and seen.use.kind == "unused" and not seen.definition and not same.nan:
        return "commutative-exact", "no", f"{seen.what}: every thread brings the same `{same.text}`, so the order " \
            "changes nothing, whatever the type is"  # fmt: skip
    if seen.target.open and seen.use.kind in ("index", "value"):
        return _returned(seen)  # whatever the type is
    if seen.target.open and seen.use.kind == "forwarded":
        return "order-dependent", "depends", f"{seen.what}: the old value goes back to the caller in " \
            f"`{seen.use.text}`; it depends on its use, and on the type where that is not visible"  # fmt: skip
    if seen.target.open:
        verdict = "depends" if seen.definition else "conditional"
        return "commutative-exact", verdict, f"{seen.what}: integers give the same result in any order, but there " \
            "are uses whose type is not visible, and floats would not"  # fmt: skip
    if seen.use.kind == "unused":
        return "commutative-exact", "no", f"integer {seen.what}: integers give the same result in any order"
    return _returned(seen)


def _exact(seen: Seen, words: set[str]) -> tuple[str, str, str]:
    listed = "/".join(sorted(words))
    if seen.use.kind not in ("unused", "forwarded") or (seen.use.kind == "forwarded" and words & operations.COUNTERS):
        return _returned(seen)
    signed = " (up to NaN and the sign of zero)" if seen.target.of("float") and words & {"min", "max"} else ""
    reason = f"{seen.what}: {listed} gives the same result in any order{signed}"
    if seen.use.kind == "forwarded":
        return "order-dependent", "depends", f"{reason}; the old value is returned to the caller"
    return "commutative-exact", "no", reason


def _returned(seen: Seen) -> tuple[str, str, str]:
    """An exact operation whose old value is used."""
    use = seen.use
    quoted = f" in `{use.text}`" if use.text else ""
    class_ = "order-dependent"
    if use.kind == "forwarded":
        return class_, "depends", \
            f"integer {seen.what}: the old value goes back to the caller{quoted}; it depends on its use"  # fmt: skip
    if seen.owner:
        return class_, "no", f"{seen.what}: {seen.owner}, so the old value is always the same"
    if use.kind == "ticket" and use.spins:
        return class_, "no", f"{seen.what}: the old value only ends the wait{quoted}"
    own = {"add", "sub"} & set(seen.operation.words) and _brings_own(seen)
    if use.kind == "ticket" and (use.constant or own):
        return class_, "conditional", f"{seen.what}: the old value elects a thread{quoted}; which one comes first " \
            "changes from run to run, and the result with it if it depends on who that is"  # fmt: skip
    if use.kind == "ticket":
        return class_, "no", f"{seen.what}: the old value is only compared with a count{quoted}, as a ticket"
    if use.queue:
        return class_, "conditional", f"{seen.what}: threads fetch their work by the old value{quoted}; who gets " \
            "which changes from run to run, and the result with it if it depends on who that is"  # fmt: skip
    if use.kind == "index" and singles.numbers_blocks(seen.atomic):
        return class_, "conditional", f"{seen.what}: each block takes its number by the old value{quoted}; who gets " \
            "which changes from run to run, and the result with it if it depends on who that is"  # fmt: skip
    if use.kind == "index":
        return class_, "yes", f"{seen.what}: the old value becomes a position{quoted}, so threads take their places " \
            "in an order that changes from run to run"  # fmt: skip
    if use.passed:
        return class_, "conditional", f"{seen.what}: the old value, which depends on the order of the threads, " \
            f"is handed on{quoted}"  # fmt: skip
    return class_, "yes", f"{seen.what}: the old value is used{quoted}, and it depends on the order of the threads"
