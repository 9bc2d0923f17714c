"""Class, verdict and reason of an atomic instruction.

A binary does not show which threads meet at an address: a float sum is ``conditional`` at most.
"""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.kernels.installed.atomic import Instruction, is_float

_EXACT = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_MEET = "the order in which threads come changes the sum where several add to one address, which a binary does not show"
_SUMS = {"add": "add", "sub": "sub", "fma": "add", "mad": "add", "mul": "mul", "div": "div"}


class Verdict(NamedTuple):
    """What is said of an instruction; the fields are those of ``model.Site``."""

    class_: str
    verdict: str
    reason: str
    implements: str = ""


def judge(one: Instruction) -> Verdict:
    """The judgement; ``unknown`` where the code does not show enough."""
    what = f"`{one.name}`{' in shared memory' if one.memory == 'shared' else ''}"
    if one.operation == "cas":
        return _swap(one, what)
    if one.operation == "exch":
        return _exchange(one, what)
    if one.operation not in _EXACT:
        return Verdict("unknown", "unknown", f"{what}: an operation that is not known")
    if one.operation == "add" and one.floating:
        return _sum(one, what)
    if one.use == "ticket":
        reason = f"{what}: the old value is only compared, as a ticket of the last block is"
        return Verdict("order-dependent", "no" if one.operation in ("add", "inc", "dec") else "depends", reason)
    if one.use == "value":
        reason = f"{what}: the old value, which depends on the order of the threads, is used; what for is not visible"
        return Verdict("order-dependent", "depends", reason)
    kind = "floats: " if one.floating else ""
    signed = " (up to NaN and the sign of zero)" if one.floating else ""
    return Verdict("commutative-exact", "no", f"{kind}{what} gives the same result in any order{signed}")


def _sum(one: Instruction, what: str) -> Verdict:
    if one.use != "unused":
        reason = f"float {what}: the old value, a sum that depends on the order of the threads, is used"
        return Verdict("float-accumulate", "conditional", f"{reason}; {_MEET}")
    if one.operand == "nan":
        return Verdict("float-accumulate", "no", f"{what}: a NaN is added, after which the cell is NaN in any order")
    if one.operand == "whole":
        reason = f"float {what} of whole numbers: exact until the sum has more digits than the type"
        return Verdict("float-accumulate", "conditional", f"{reason} ({_exact_until(one.type)})")
    return Verdict("float-accumulate", "conditional", f"float {what}: {_MEET}")


def _exact_until(type_: str) -> str:
    digits = {"f64": 53, "f32": 24}.get(type_, 8 if type_.startswith("bf") else 11)
    return f"2**{digits}"


def _exchange(one: Instruction, what: str) -> Verdict:
    if one.use != "unused":
        reason = f"{what}: the old value, which depends on the order of the threads, is used; what for is not visible"
        return Verdict("order-dependent", "depends", reason)
    if one.operand == "same":
        return Verdict(
            "order-dependent", "depends", f"{what} of a constant: a flag or a lock, which protects something"
        )
    return Verdict("order-dependent", "unknown", f"{what}: the last of several threads wins, if several come")


def _swap(one: Instruction, what: str) -> Verdict:
    """A compare-and-swap: by the arithmetic of the loop around it."""
    if one.operand == "same":
        return Verdict(
            "order-dependent", "depends", f"{what} of a constant: a lock or a flag, which protects something"
        )
    if not one.loop:
        reason = f"{what} outside of a loop: the first of several threads wins, as with a lock"
        return Verdict("order-dependent", "depends", reason)
    if not one.computes:
        return Verdict("cas-loop", "unknown", f"{what} in a loop: no arithmetic between the old value and the new one")
    listed = ", ".join(f"`{name}`" for name in one.computes)
    words = {name.partition(".")[0] for name in one.computes}
    floats = {name.partition(".")[0] for name in one.computes if is_float(name.partition(".")[2])}
    if floats & _SUMS.keys():
        implements = sorted({_SUMS[word] for word in floats & _SUMS.keys()})[0]
        reason = f"a compare-and-swap loop of {what} around {listed}: {_MEET}"
        return Verdict("cas-loop", "conditional", reason, implements)
    if words <= {"min", "max", "minmax"}:
        implements = "min" if words == {"min"} else "max" if words == {"max"} else "min or max"
        reason = f"a compare-and-swap loop of {what} around {listed} gives the same result in any order"
        return Verdict("cas-loop", "no", reason, implements)
    if words == {"add"} and not floats:
        reason = f"a compare-and-swap loop of {what} around {listed}: integers give the same result in any order"
        return Verdict("cas-loop", "no", reason, "add")
    return Verdict("cas-loop", "unknown", f"a compare-and-swap loop of {what} around {listed}")
