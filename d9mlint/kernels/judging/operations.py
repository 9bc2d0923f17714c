"""What an atomic does to its target: the operations behind a name, a wrapper, a CAS loop or an instruction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.kernels.judging.swapping import applied, casloops
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.functors import is_reference
from d9mlint.kernels.sites.names import PASSES, READS, WAITS
from d9mlint.kernels.source import textual
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import Location

if TYPE_CHECKING:
    from d9mlint.kernels.judging.opcodes import Opcode

ACCUMULATE = frozenset({"add", "sub", "mul", "div"})
"""Operations whose result on floats depends on the order."""
COUNTERS = frozenset({"inc", "dec"})
"""Operations that CUDA has on integers only."""
_INTRINSICS = {f"atomic{name}": name.lower() for name in
               ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")}  # fmt: skip
_INTRINSICS |= {READS: READS, WAITS: WAITS, PASSES: PASSES}
_NAMED = re.compile(r"(?:tomic|atom|reduce)_?(?:fetch_)?(Add|Sub|Mul|Div|Min|Max)", re.I)
_MAX_LEVELS = 8
_MAX_ATOMICS = 400


class Operation(NamedTuple):
    """The operations that a site may come down to (a wrapper has several bodies).

    ``cas``: the compare-and-swap that it is, where it is one itself; ``loop``: one of the bodies is a CAS loop;
    ``floats``: a body works on floats that were packed into integers.
    """

    words: tuple[str, ...]
    cas: casloops.Cas | None = None
    loop: bool = False
    floats: bool = False
    instruction: Opcode | None = None
    implements: str = ""
    """What the CAS loop at this very place computes, in its body or by the lambda it is given."""
    custom: bool = False
    """Whether a body applies a function that it is handed."""


def operation(atomic: Atomic, repository: Repository, place: Location | None = None) -> Operation:
    """The operation of an atomic; empty words where it is not known.

    ``place`` is where the macro stands whose expansion holds it: a macro that it names means what it meant there.
    """
    place = place if place is not None else atomic.location
    if atomic.assembler:
        from d9mlint.kernels.judging.opcodes import opcode  # few repositories hold assembler

        found = opcode(atomic.assembler)
        words = (found.operation,) if found is not None and found.operation else ()
        return Operation(words, floats=found is not None and found.float, instruction=found)
    if atomic.inner:
        return _handed(_cached(atomic, repository, place), atomic, repository, place)
    word = _INTRINSICS.get(atomic.intrinsic, "")
    named = _named(atomic.name) if word in ("cas", "") or atomic.form == "wrapper" else ""
    if word == "cas" and named and atomic.name not in _INTRINSICS:
        # A framework's wrapper whose body is not in this tree: `CudaAtomicMul` multiplies.
        return Operation((named,), loop=True)
    if word == "cas" and atomic.node is not None:
        return _swap(atomic, repository, place)
    return Operation((word,) if word else (named,) if named else ())


def _cached(atomic: Atomic, repository: Repository, place: Location) -> Operation:
    known = repository.derived(_known, place.path)
    key = (atomic.name, *(inner.location for inner in atomic.inner))
    if key not in known or _lambda(atomic):
        known[key] = _wrapped(atomic, repository, place)
    return known[key]


def _handed(found: Operation, atomic: Atomic, repository: Repository, place: Location) -> Operation:
    """What a wrapper does with the function that this call hands it; a swap by a wrapper in a loop around the call."""
    if found.custom:
        word = applied.given(atomic, repository)
        alone = set(found.words) == {casloops.CUSTOM}
        return Operation((word,), loop=True, floats=found.floats, implements=word if alone else "") if word else found
    return (looped_swap(atomic, repository, place) if set(found.words) == {"cas"} else None) or found


def looped_swap(atomic: Atomic, repository: Repository, place: Location | None = None) -> Operation | None:
    """What the loop around a call computes whose wrapper is a compare-and-swap; None where it is no such loop."""
    if not atomic.inner or atomic.intrinsic != "atomicCAS" or atomic.node is None or len(atomic.arguments) < 3:
        return None
    swap = _swap(atomic, repository, place or atomic.location)
    return swap if swap.implements else None


def _known(_: Repository, path: str) -> dict[tuple[object, ...], Operation]:
    """The wrappers already looked through for the uses in a file."""
    return {}


def _named(name: str) -> str:
    match = _NAMED.search(name)
    return match[1].lower() if match is not None else ""


def _swap(atomic: Atomic, repository: Repository, place: Location) -> Operation:
    if atomic.node is None:
        return Operation(("cas",))
    found = casloops.cas(atomic.node, atomic.arguments, atomic.unit)
    if not found.implements:
        return Operation(("cas",), cas=found, loop=found.part)
    if found.implements == casloops.CUSTOM and found.function:
        meant = macro_operation(found.function, place, repository)
        found = found._replace(implements=meant or found.implements)
    if found.implements == casloops.CUSTOM and found.applied is not None:
        meant = applied.computed(found.applied, atomic.unit, repository)
        found = found._replace(implements=meant or found.implements)
    custom = found.implements == casloops.CUSTOM
    return Operation((found.implements,), found, True, found.floats, implements=found.implements, custom=custom)


def macro_operation(name: str, place: Location, repository: Repository) -> str:
    """What the macro of this name computes at a place: ``#define OP(X, Y) Y + X`` above it is an add."""
    above = [
        define
        for define in repository.derived(textual.defines, place.path).get(name, ())
        if repository.data(place.path).count(b"\n", 0, define.start) + 1 <= place.line
    ]
    if not above:
        return ""
    body = textual.code(repository, place.path)[above[-1].start : above[-1].end]
    return casloops.of_text(body.decode("utf-8", "replace"), above[-1].parameters)


def _wrapped(atomic: Atomic, repository: Repository, place: Location) -> Operation:
    """All operations of the bodies behind a wrapper or macro; the lambda at the call says what a CAS helper does."""
    given = _lambda(atomic)
    words: dict[str, None] = {}
    loop = floats = own = unseen = False
    pending = [(inner, 0, place) for inner in atomic.inner]
    seen: set[tuple[object, str, object]] = set()
    for _ in range(_MAX_ATOMICS):
        if not pending:
            break
        inner, level, at = pending.pop(0)
        if (inner.location, inner.name, at) in seen:
            continue
        seen.add((inner.location, inner.name, at))
        handed = _lambda(inner)
        whole = (
            bool(inner.inner) and not handed and (inner.intrinsic == "atomicCAS" or applied.given(inner, repository))
        )
        if inner.inner and not handed and not whole and level < _MAX_LEVELS:
            pending += [(deeper, level + 1, inner.location) for deeper in inner.inner]
            continue
        one = inner if whole else _bare(inner)
        found = Operation((handed,), loop=True) if handed else operation(one, repository, at)
        unseen = unseen or (not found.words and is_reference(one.arguments[0] if one.arguments else None))
        words.update(dict.fromkeys(found.words))
        own = own or found.custom
        loop, floats = loop or found.loop, floats or found.floats
    if given:
        return Operation((given,), loop=True, floats=floats, implements=given)
    if unseen and not {"cas", "exch"} & words.keys():
        return Operation(())  # beside what is seen, it applies an object of which nothing is known
    known = [w for w in words if w not in (casloops.CUSTOM, "cas")]
    named = _named(atomic.name)
    custom = casloops.CUSTOM if not known and casloops.CUSTOM in words else ""
    meant = (named,) if named in known else tuple(known or words)
    return Operation(meant, loop=loop, floats=floats, implements=custom, custom=own)


def _bare(atomic: Atomic) -> Atomic:
    if not atomic.inner:
        return atomic
    return Atomic(atomic.location, atomic.name, atomic.intrinsic, atomic.scope, atomic.form, atomic.unit, atomic.node,
                  atomic.function, atomic.arguments, (), atomic.assembler)  # fmt: skip


def _lambda(atomic: Atomic) -> str:
    """The operation of a lambda among the arguments."""
    for argument in atomic.arguments:
        if argument.type == "lambda_expression":
            return casloops.of_lambda(argument, atomic.unit)
    return ""
