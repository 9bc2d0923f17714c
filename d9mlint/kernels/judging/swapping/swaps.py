"""Judges what stores instead of computes: exchanges, locks, and compare-and-swap where the first one wins."""

from __future__ import annotations

import tree_sitter

from d9mlint.kernels.judging import around, memory
from d9mlint.kernels.judging.constants import Constant, constant, only_reads
from d9mlint.kernels.judging.operations import Operation
from d9mlint.kernels.judging.returned import uses
from d9mlint.kernels.judging.swapping import inserts
from d9mlint.kernels.sites.atomics import Atomic

Node = tree_sitter.Node
_CLASS = "order-dependent"
_MAX_LEAVES = 60


def loop_use(atomic: Atomic, found: uses.Use) -> uses.Use:
    """How the result of a CAS loop is used: the comparison that ends the loop does not count."""
    if atomic.node is None or found.kind not in ("ticket", "value", "index"):
        return found
    function = atomic.function
    returned = function is not None and _returns(function.node, atomic)
    return uses.Use("forwarded") if returned else uses.Use("unused")


def _returns(root: Node, atomic: Atomic) -> bool:
    """Whether a statement after the loop returns something."""
    pending = [root]
    end = atomic.node.end_byte if atomic.node is not None else 0
    while pending:
        node = pending.pop()
        if node.type == "return_statement" and node.named_children and node.start_byte > end:
            return True
        if node.end_byte > end:
            pending.extend(node.named_children)
    return False


def judged(
    atomic: Atomic, operation: Operation, use: uses.Use, same: Constant | None, what: str
) -> tuple[str, str, str]:
    """Class, verdict and reason of an exchange, or of a compare-and-swap that is no loop over the old value."""
    if operation.cas is not None or "cas" in operation.words:
        return _swap(atomic, use, what)
    if use.spins:
        return _lock(atomic, what)
    if use.kind == "unused":
        return _stored(atomic, same, what)
    if use.kind == "ticket" and same is not None:
        return _CLASS, "conditional", f"{what}: the first thread that comes is chosen in `{use.text}`, and which one " \
            "that is changes from run to run"  # fmt: skip
    if use.kind == "forwarded":
        return _CLASS, "depends", f"{what}: the old value, left by whichever thread came before, goes to the caller"
    return _CLASS, "yes", f"{what}: the old value, left by whichever thread came before, is used in `{use.text}`"


def _stored(atomic: Atomic, same: Constant | None, what: str) -> tuple[str, str, str]:
    if _locked(atomic):
        return _given_back(what)
    if same is not None:
        return _CLASS, "no", f"{what}: `{same.text}` is stored whichever thread is last"
    return _CLASS, "conditional", f"{what}: the last thread wins, so the result changes where two threads store " \
        "different values in one cell"  # fmt: skip


def _given_back(what: str) -> tuple[str, str, str]:
    return _CLASS, "conditional", f"{what} gives back a lock: what is done under it happens in an order that changes " \
        "from run to run"  # fmt: skip


def _locked(atomic: Atomic) -> bool:
    """Whether another atomic of the function takes a lock at the same place."""
    function = atomic.function
    base = memory.base(atomic.arguments[0], atomic.unit) if atomic.arguments else None
    if function is None or base is None:
        return False
    name = atomic.unit.text(base)
    for node in around.identifiers(function.node, name, atomic.unit):
        call = node.parent
        while call is not None and call.type != "call_expression" and call.end_byte - call.start_byte < 400:
            call = call.parent
        if call is not None and call.type == "call_expression" and call != atomic.node:
            called = call.child_by_field_name("function")
            text = atomic.unit.text(called) if called is not None else ""
            listed = call.child_by_field_name("arguments")
            given = [atomic.unit.text(n) for n in listed.named_children] if listed is not None else []
            if only_reads(text, given[1:]):
                continue  # who waits for a flag takes no lock
            used = uses.use(call, atomic.unit)
            if used.spins or (("CAS" in text or "Exch" in text) and used.kind != "unused"):
                return True
    return False


def _swap(atomic: Atomic, use: uses.Use, what: str) -> tuple[str, str, str]:
    if _reads(atomic):
        return _read(use, what)
    if use.kind == "unused" and _locked(atomic):
        return _given_back(what)
    leaves = _leaves(atomic)
    use = _waiting(leaves) if atomic.inner and use.kind == "unused" else use
    if use.spins and all(_constants(one) and not _awaits(one, use) for one in leaves):
        return _lock(atomic, what)
    if use.spins:
        return _CLASS, "conditional", f"{what}: threads wait for their turn in `{use.text}`; which one comes first " \
            "changes from run to run unless the awaited value fixes the order"  # fmt: skip
    if use.kind == "forwarded":
        return _CLASS, "depends", f"{what}: the first thread wins, and the caller gets the old value"
    if _constants(atomic):
        return _CLASS, "conditional", f"{what}: the first thread that comes is chosen, and which one that is changes " \
            "from run to run"  # fmt: skip
    if inserts.inserts(atomic):
        return _CLASS, "conditional", f"{what}: threads take places for their keys in an order that changes from run " \
            "to run; a look-up by key finds the same, unless equal keys bring different values, and what goes " \
            "through the table by places does not"  # fmt: skip
    return _CLASS, "yes", f"{what}: the first thread to come stores its value and the others find it taken, in an " \
        "order that changes from run to run"  # fmt: skip


def _leaves(atomic: Atomic) -> list[Atomic]:
    """The atomics in the bodies of a wrapper, and of those that they call; of another atomic itself."""
    found: list[Atomic] = []
    pending = [atomic]
    while pending and len(found) < _MAX_LEAVES:
        at = pending.pop()
        pending.extend(at.inner)
        if not at.inner and (at is atomic or at.intrinsic or at.assembler):  # not one that calls back
            found.append(at)
    return found


def _waiting(leaves: list[Atomic]) -> uses.Use:
    """The use of the old value where all bodies of a wrapper wait for it: ``while (atomicCAS(p, n, 0) != n) {}``."""
    found = [uses.use(one.node, one.unit) if one.node is not None else uses.Use("unused") for one in leaves]
    return found[0] if found and all(one.spins for one in found) else uses.Use("unused")


def _awaits(atomic: Atomic, use: uses.Use) -> bool:
    """Whether a thread waits for a number that it is given, its turn, not for a lock to be free."""
    expected = atomic.arguments[1] if len(atomic.arguments) > 2 else None
    if expected is None or expected.type != "identifier" or constant(expected, atomic.unit) is not None:
        return False
    return use.text.rstrip(" )").endswith(f"!= {atomic.unit.text(expected)}")


def _reads(atomic: Atomic) -> bool:
    """Whether a swap stores what it found: ``atomicCAS(p, 0, 0)`` only reads."""
    if len(atomic.arguments) < 3:
        return False
    expected, stored = (constant(node, atomic.unit) for node in atomic.arguments[1:3])
    return expected is not None and stored is not None and expected.text == stored.text


def _read(use: uses.Use, what: str) -> tuple[str, str, str]:
    """An atomic that only reads: it matters where the value goes."""
    if use.kind == "unused" or use.spins:
        waits = f"; `{use.text}` waits for another thread" if use.spins else ""
        return _CLASS, "no", f"{what}: it stores what it found, so it only reads{waits}"
    if use.kind == "forwarded":
        return _CLASS, "depends", f"{what}: it only reads, and the caller gets the value"
    return _CLASS, "conditional", f"{what}: it only reads, for `{use.text}`; the result depends on the order " \
        "of the threads where others change the value meanwhile"  # fmt: skip


def _constants(atomic: Atomic) -> bool:
    if atomic.assembler:
        from d9mlint.kernels.judging.opcodes import literals  # few repositories hold assembler

        return len(literals(atomic.assembler)) == 2
    if atomic.inner and not atomic.arguments[2:]:
        return all(_constants(inner) for inner in atomic.inner)
    return len(atomic.arguments) > 2 and constant(atomic.arguments[2], atomic.unit) is not None


def _lock(atomic: Atomic, what: str) -> tuple[str, str, str]:
    """A lock: what is done under it decides."""
    held = _held(atomic)
    if held:
        return _CLASS, "yes", f"{what} takes a lock, under which `{held}` happens in the order in which the threads " \
            "get it"  # fmt: skip
    return _CLASS, "conditional", f"{what} takes a lock: what is done under it happens in an order that changes from " \
        "run to run"  # fmt: skip


def _held(atomic: Atomic) -> str:
    """A store into memory or an accumulation after the lock is taken, in the same function."""
    node = atomic.node
    taking = (*around.LOOPS, "expression_statement") if atomic.inner else around.LOOPS
    while node is not None and node.type not in taking:
        node = node.parent
    for _ in range(12):
        node = node.next_named_sibling if node is not None else None
        if node is None:
            return ""
        text = " ".join(atomic.unit.text(node).split())
        stores = node.type == "expression_statement" and node.named_children[:1]
        if stores and stores[0].type == "assignment_expression":
            left = stores[0].child_by_field_name("left")
            if left is not None and left.type != "identifier":
                return text.rstrip(";")[:60]
    return ""
