"""Code that one thread of a block reaches: ``if (threadIdx.x == 0) {...}``."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.constants import assigned, constant
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_THREADS = re.compile(rb"threadIdx\s*\.\s*[yz]")
_FIRST = re.compile(r"(?:([A-Za-z_]\w*)|threadIdx\.x)==0u?\Z|0u?==(?:([A-Za-z_]\w*)|threadIdx\.x)\Z")
_BLOCK = "blockIdx.x"
_ANY_BLOCK = re.compile(rb"blockIdx(?!\s*\.\s*[yz])")
_COUNTS = re.compile(r"\s*gridDim\s*\.\s*x\s*-\s*1\s*\Z")


def sequential(atomic: Atomic) -> str:
    """Why only one thread is there, by the policy that an atomic of RAJA is given; empty for other policies.

    https://raja.readthedocs.io/en/develop/sphinx/user_guide/feature/policies.html#raja-atomic-policies
    """
    text = atomic.node.text if atomic.node is not None else None
    return "`seq_atomic` is for code that one thread runs" if text is not None and b"seq_atomic" in text else ""


def reached_by_one(node: Node, unit: Unit, function: Function) -> bool:
    """Whether a node stands under a test that one thread of each block passes; blocks are taken as one-dimensional.

    A kernel that tells its threads apart along y or z is not.
    """
    if _THREADS.search(unit.data, function.node.start_byte, function.node.end_byte):
        return False
    at, parent = node, node.parent
    while parent is not None and at != function.node:
        if parent.type == "if_statement" and at == parent.child_by_field_name("consequence"):
            condition = parent.child_by_field_name("condition")
            text = "".join(unit.text(condition).split()) if condition is not None else ""
            if any(_first(part, at, unit, function) for part in text.split("&&") if "||" not in text):
                return True
        at, parent = parent, parent.parent
    return False


def _first(test: str, place: Node, unit: Unit, function: Function) -> bool:
    match = _FIRST.match(test.strip("()"))
    if match is None:
        return False
    name = match[1] or match[2]
    return name is None or value_of(name, place, unit, function) == "threadIdx.x"


def own_block(factor: Node, unit: Unit, function: Function) -> bool:
    """Whether a factor is the index of the block: itself, a name for it, a loop that goes on by the whole grid."""
    text = "".join(unit.text(factor).split())
    return text == _BLOCK or (factor.type == "identifier" and value_of(text, factor, unit, function) == _BLOCK)


def value_of(name: str, place: Node, unit: Unit, function: Function) -> str:
    """What a local variable that is never changed was set to; empty for all others."""
    found = declarations.declared(place, name, unit)
    if found is None or found.kind != "local" or found.value is None or assigned(function.node, name, unit):
        return ""
    return re.sub(r"\s|static_cast<\w+>|[()]", "", unit.text(found.value))


def numbers_blocks(atomic: Atomic) -> bool:
    """Whether one thread of each block fetches the number by which the block goes: nothing else tells blocks apart.

    ``if (threadIdx.x == 0) number = atomicAdd(counter, 1);`` in a kernel that does not read ``blockIdx.x``: the counter
    goes up by the same for every block, and the block is known by its number alone.
    """
    node, unit, function = atomic.node, atomic.unit, atomic.function
    if node is None or function is None or "__global__" not in function.qualifier or len(atomic.arguments) < 2:
        return False
    if _ANY_BLOCK.search(unit.data, function.node.start_byte, function.node.end_byte):
        return False
    step = atomic.arguments[1]
    same = constant(step, unit) is not None or _COUNTS.match(unit.text(step)) is not None
    return same and _always(node, unit, function)


def _always(node: Node, unit: Unit, function: Function) -> bool:
    """Whether the first thread of every block comes to a node, once: its test stands in the kernel's own block."""
    body = function.node.child_by_field_name("body")
    at = node
    while at.parent is not None and at.parent != body:
        at = at.parent
        if at.type in ("for_statement", "while_statement", "do_statement", "lambda_expression"):
            return False
    condition = at.child_by_field_name("condition") if at.type == "if_statement" else None
    if at.parent is None or condition is None or at.child_by_field_name("alternative") is not None:
        return False
    text = "".join(unit.text(condition).split())
    return "&&" not in text and "||" not in text and _first(text, at, unit, function)
