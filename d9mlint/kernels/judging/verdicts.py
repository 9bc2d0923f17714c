"""Class, verdict and reason of an atomic by what was read off it."""

from __future__ import annotations

import re

from d9mlint.kernels.judging import gradients, operations
from d9mlint.kernels.judging.checked import checked
from d9mlint.kernels.judging.operands import handed_on, scalar
from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.judging.owners import singles
from d9mlint.kernels.judging.owners.contention import contention
from d9mlint.kernels.judging.seen import DEFINITIONS, Seen
from d9mlint.kernels.judging.swapping import casloops, swaps
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.functors import is_reference
from d9mlint.kernels.sites.names import PASSES, READS, WAITS


def decide(seen: Seen) -> tuple[str, str, str]:
    """Class, verdict and reason of a site."""
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
    if words == {READS}:
        return "order-dependent", "no", f"{seen.what}: it only reads, and what it reads ends the wait"
    if words == {WAITS} and seen.atomic.arguments and seen.atomic.arguments[-1].type == "number_literal":
        return "order-dependent", "no", f"{seen.what}: it waits for a flag, whoever sets it"
    if words == {WAITS}:
        return "order-dependent", "conditional", f"{seen.what}: blocks wait for their turn; which one comes first " \
            "changes from run to run unless the awaited value fixes the order"  # fmt: skip
    if words == {PASSES}:
        return "order-dependent", "no", f"{seen.what}: it passes the turn on to who waits for it"
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
    defined = seen.definition or seen.atomic.form in DEFINITIONS
    return "cas-loop", "depends" if defined else "unknown", reason


def _arithmetic(seen: Seen, words: set[str]) -> tuple[str, str, str]:
    floats = seen.target.of("float")
    sums = words & ACCUMULATE
    if not sums:
        return _exact(seen, words)
    if seen.use.kind == "index" and seen.target.of("integer") and not seen.definition:
        return _returned(seen)  # what becomes a position is no float
    if seen.rounded and seen.use.kind == "unused" and not seen.definition:
        return "float-accumulate", "no", f"{seen.what}: all that is added was rounded to one grid by " \
            f"`{seen.rounded}`, so that the sums are exact in any order"  # fmt: skip
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
        named = not seen.atomic.inner and scalar(seen.atomic)
        class_ = "float-accumulate" if named else "unknown"
        return class_, "conditional", f"{seen.what}: {what} is not visible here; floats meet " \
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
    if same is not None and not same.nan and seen.use.kind != "unused":
        return _returned(seen)  # the sum is the same in any order, what each thread finds is not
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
        test = "" if seen.owner or seen.definition else checked(seen.atomic, seen.target.memory)
        if test:
            return "commutative-exact", "conditional", f"integer {seen.what}: the sum is the same in any order, but " \
                f"`{test}` reads it while other threads add, with no barrier between; what is stored then can depend " \
                "on who comes first"  # fmt: skip
        return "commutative-exact", "no", f"integer {seen.what}: integers give the same result in any order"
    return _returned(seen)


def _exact(seen: Seen, words: set[str]) -> tuple[str, str, str]:
    listed = "/".join(sorted(words))
    if seen.joins:
        return "order-dependent", "no", f"{seen.what}: each turn of the loop goes on with the old value until two " \
            f"trees have one root, which is their {listed} in any order"  # fmt: skip
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
    integer = "" if seen.target.of("float") else "integer "
    if use.kind == "forwarded":
        back = "goes back to the caller" if use.through or "return" in use.text else "is kept for other functions"
        return class_, "depends", f"{integer}{seen.what}: the old value {back}{quoted}; it depends on its use"
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
    if seen.alike:
        return class_, "no", f"{seen.what}: the old value is the piece of work that a thread or block takes{quoted}; " \
            "nothing else tells it from the others, so that the work is the same whoever takes it"  # fmt: skip
    if use.queue:
        return class_, "conditional", f"{seen.what}: threads fetch their work by the old value{quoted}; who gets " \
            "which changes from run to run, and the result with it if it depends on who that is"  # fmt: skip
    if use.kind == "index":
        return _placed(seen, quoted)
    if use.passed:
        return class_, "conditional", f"{seen.what}: the old value, which depends on the order of the threads, " \
            f"is handed on{quoted}"  # fmt: skip
    return class_, "yes", f"{seen.what}: the old value is used{quoted}, and it depends on the order of the threads"


def _placed(seen: Seen, quoted: str) -> tuple[str, str, str]:
    """An old value that becomes a position."""
    class_ = "order-dependent"
    if singles.numbers_blocks(seen.atomic):
        return class_, "conditional", f"{seen.what}: each block takes its number by the old value{quoted}; who gets " \
            "which changes from run to run, and the result with it if it depends on who that is"  # fmt: skip
    place = f"{seen.what}: the old value becomes a position{quoted}"
    if seen.sorting is None:
        return class_, "yes", f"{place}, so threads take their places in an order that changes from run to run"
    after = f"{place}, but `{seen.sorting.text}` sorts what is stored there"
    if seen.sorting.whole:
        return class_, "no", f"{after}, so that the order does not reach the result"
    return class_, "conditional", f"{after}: the order shows where elements compare equal, or where some find no place"


def _brings_own(seen: Seen) -> bool:
    """Whether the amount that is added is in the test of the old value, too: then any order may pass it or not."""
    given = seen.atomic.arguments[1:2]
    text = seen.atomic.unit.text(given[0]) if given else ""
    return text.isidentifier() and re.search(rf"\b{text}\b", seen.use.text) is not None and seen.constant is None
