"""Whether one thread owns the address of an atomic: every other thread writes elsewhere.

Proven, never guessed: the address must be ``base + i * stride + offset`` with i the linear index of the thread in the
grid, the offset below the stride, and every other atomic on that base of the same form.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import aliases, declarations, memory
from d9mlint.kernels.judging.constants import MAX_CALLS, assigned, atomic_calls
from d9mlint.kernels.judging.owners import digits, singles
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_LOOP_MACRO = re.compile(r"\w*1D_KERNEL_LOOP\w*|CUDA_KERNEL_LOOP(?:_TYPE)?|GPU_KERNEL_LOOP\w*|CUDA_1D_\w*LOOP")
"""TensorFlow's util/gpu_launch_config.h, PyTorch's c10/macros and ATen/cuda/detail/KernelUtils.h, mmcv, Caffe."""
_RANGES = re.compile(r"(?:Cuda|Gpu)GridRangeX\s*(?:<[^<>]*>)?\s*\(")
_CASTS = re.compile(r"static_cast<[^<>]*>|\((?:int|unsigned|size_t|u?int\d+_t|long|long long|int64)\)|\s")
_LINEAR = re.compile(
    r"\(*(?:blockIdx\.x\*blockDim\.x\+threadIdx\.x|threadIdx\.x\+blockIdx\.x\*blockDim\.x"
    r"|blockDim\.x\*blockIdx\.x\+threadIdx\.x|threadIdx\.x\+blockDim\.x\*blockIdx\.x"
    r"|threadIdx\.x\+\(?blockIdx\.x\*blockDim\.x\)?|\(?blockIdx\.x\*blockDim\.x\)?\+threadIdx\.x)\)*\Z"
)
_OTHER_AXES = re.compile(rb"(?:threadIdx|blockIdx)\s*\.\s*[yz]")
_MAX_STEPS = 30


class _Form(NamedTuple):
    """``base + thread * stride + offset``."""

    base: str
    thread: str
    stride: str
    offset: str
    """A literal, the name of a loop variable that stays below the stride, or empty."""


def owner(address: Node, unit: Unit, function: Function | None, space: str) -> str:
    """Why only one thread writes the address; empty where that is not proven.

    ``space`` is the memory it is in: in shared memory ``threadIdx.x`` alone is unique, in global memory it is not.
    """
    if function is None or "__global__" not in function.qualifier:
        return ""
    if len(atomic_calls(function.node, unit.data)) > MAX_CALLS:
        return ""
    base = memory.base(address, unit)
    if base is None or aliases.escapes(unit.text(base), address, unit, function):
        return ""
    name = digits.owned_element(address, unit, function)
    if name and digits.same_everywhere(address, addresses(function, unit), unit):
        return f"the indices tell the thread with this `{name}`, and no other writes the cell"
    one = space == "shared" and singles.reached_by_one(address, unit, function)
    if one and _single(unit.text(base), unit, function):
        return "one thread of each block reaches it"
    form = _form(address, unit, function, space)
    if form is None or not _alone(form, unit, function, space):
        return ""
    return f"only the thread with this `{form.thread}` writes the cell"


def _alone(form: _Form, unit: Unit, function: Function, space: str) -> bool:
    """Whether all atomics of the function that start from the same base have the same form."""
    for address in addresses(function, unit):
        root = memory.base(address, unit)
        if root is None or aliases.origin(root, unit) != form.base:
            continue
        other = _form(address, unit, function, space)
        if other is None or (other.base, other.thread, other.stride) != (form.base, form.thread, form.stride):
            return False
    return True


def _single(base: str, unit: Unit, function: Function) -> bool:
    """Whether all atomics on a shared variable stand where one thread of the block comes."""
    others = addresses(function, unit)
    return not aliases.aliased(base, others, unit) and all(
        singles.reached_by_one(other, unit, function)
        for other in others
        if (root := memory.base(other, unit)) is not None and unit.text(root) == base
    )


def other_axes(function: Function, unit: Unit) -> bool:
    """Whether a kernel tells its threads apart along y or z, too."""
    return _OTHER_AXES.search(unit.data, function.node.start_byte, function.node.end_byte) is not None


def addresses(function: Function, unit: Unit) -> list[Node]:
    """The first arguments of the calls in a function that are named like atomics."""
    return [given[0] for given in atomic_calls(function.node, unit.data)]


def _form(address: Node, unit: Unit, function: Function, space: str) -> _Form | None:
    terms = _terms(address)
    if terms is None:
        return None
    base, index, stride, offset = "", "", "1", ""
    for term in terms:
        text = "".join(unit.text(term).split())
        if term.type == "identifier" and fixed_pointer(term, unit):
            if base:
                return None
            base = text
            continue
        factors = _factors(term)
        unique = [f for f in factors if _unique(f, unit, function, space)]
        if len(unique) == 1 and not index and len(factors) <= 2:
            index = unit.text(unique[0])
            rest = [f for f in factors if f != unique[0]]
            stride = "".join(unit.text(rest[0]).split()) if rest else "1"
            if rest and not _fixed(rest[0], unit):
                return None
        elif not offset and (term.type == "number_literal" or term.type == "identifier"):
            offset = text if term.type == "number_literal" else bounded(term, unit)
        else:
            return None
    if not base or not index or not _fits(offset, stride):
        return None
    return _Form(base, index, stride, offset)


def _fits(offset: str, stride: str) -> bool:
    if not offset or offset == "0":
        return True
    if offset.isdigit() and stride.isdigit():
        return int(offset) < int(stride)
    return offset.endswith(f"<{stride}")


def _terms(address: Node) -> list[Node] | None:
    """The summands of an address, through ``&a[i]`` and the initial values of local pointers."""
    found: list[Node] = []
    pending = [address]
    for _ in range(_MAX_STEPS):
        if not pending:
            return found
        node = pending.pop(0)
        argument = node.child_by_field_name("argument")
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            pending.append(node.named_children[0])
        elif node.type == "pointer_expression" and argument is not None and node.children[0].type == "&":
            while argument is not None and argument.type == "parenthesized_expression":
                argument = argument.named_children[0] if argument.named_children else None
            if argument is None or argument.type != "subscript_expression":
                return None
            indices = argument.child_by_field_name("indices")
            inner = argument.child_by_field_name("argument")
            if indices is None or inner is None or len(indices.named_children) != 1:
                return None
            pending += [inner, indices.named_children[0]]
        elif node.type == "binary_expression" and (operator := node.child_by_field_name("operator")) is not None:
            sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
            if operator.type == "+" and None not in sides:
                pending += [side for side in sides if side is not None]
            elif operator.type == "*":
                found.append(node)
            else:
                return None
        elif node.type in ("identifier", "number_literal", "field_expression"):
            found.append(node)
        else:
            return None
    return None


def fixed_pointer(node: Node, unit: Unit) -> bool:
    """Whether a name is an array or pointer that is a parameter or a ``__shared__`` variable, never moved."""
    found = declarations.declared(node, unit.text(node), unit)
    function = unit.function(node)
    if found is None or function is None or assigned(function.node, unit.text(node), unit):
        return False
    pointer = found.depth > 0 or found.type.rstrip().endswith("*")
    return pointer and (found.kind == "parameter" or (memory.memory(node, unit) == "shared" and found.value is None))


def _factors(node: Node) -> list[Node]:
    found: list[Node] = []
    pending = [node]
    for _ in range(_MAX_STEPS):
        if not pending:
            break
        at = pending.pop(0)
        operator = at.child_by_field_name("operator")
        if at.type == "parenthesized_expression" and len(at.named_children) == 1:
            pending.append(at.named_children[0])
        elif at.type == "binary_expression" and operator is not None and operator.type == "*":
            pending += [c for f in ("left", "right") if (c := at.child_by_field_name(f)) is not None]
        else:
            found.append(at)
    return found


def _fixed(node: Node, unit: Unit) -> bool:
    """A literal or a scalar parameter."""
    if node.type == "number_literal":
        return True
    found = declarations.declared(node, unit.text(node), unit) if node.type == "identifier" else None
    return found is not None and found.kind == "parameter" and not found.depth


def _unique(node: Node, unit: Unit, function: Function, space: str) -> bool:
    """Whether a factor is different in every thread."""
    text = _CASTS.sub("", unit.text(node))
    if node.type == "identifier" and digits.linear(text, unit, function):
        return True
    if other_axes(function, unit):
        return False
    if space == "shared" and text == "threadIdx.x":
        return True
    if space == "global" and singles.own_block(node, unit, function) and singles.reached_by_one(node, unit, function):
        return True
    if node.type != "identifier":
        return bool(_LINEAR.match(text))
    if looped(node, text, unit):
        return True
    found = declarations.declared(node, text, unit)
    if found is None or found.value is None or found.kind == "parameter":
        return False
    if found.kind == "range":
        return bool(_RANGES.match(unit.text(found.value).strip()))
    value = _CASTS.sub("", unit.text(found.value))
    own = space == "shared" and value == "threadIdx.x"
    return own and (not assigned(function.node, text, unit) or _block_stride(found, text, unit))


def _block_stride(found: declarations.Declared, name: str, unit: Unit) -> bool:
    """``for (int i = threadIdx.x; ...; i += blockDim.x)`` keeps i unique in the block."""
    loop = found.node.parent
    while loop is not None and loop.type not in ("for_statement", "function_definition"):
        loop = loop.parent
    update = loop.child_by_field_name("update") if loop is not None else None
    body = loop.child_by_field_name("body") if loop is not None else None
    if update is None or body is None or "".join(unit.text(update).split()) != f"{name}+=blockDim.x":
        return False
    return not assigned(body, name, unit)


def looped(node: Node, name: str, unit: Unit) -> bool:
    """Whether a name is the index of a grid-stride loop macro around it."""
    at = node.parent
    while at is not None:
        head = at.prev_named_sibling if at.type == "compound_statement" else None
        if at.type == "function_definition":
            head = at.child_by_field_name("declarator")
        if head is not None and head.type in ("function_declarator", "expression_statement"):
            match = re.match(r"\s*(\w+)\s*\(\s*(\w+)\s*,", unit.text(head))
            if match is not None and match[2] == name and _LOOP_MACRO.fullmatch(match[1]):
                return not assigned(at, name, unit)
        at = at.parent
    return False


def bounded(node: Node, unit: Unit) -> str:
    """``c<C`` for the variable of ``for (int c = 0; c < C; ...)``; the name with a ``?`` for any other."""
    name = unit.text(node)
    found = declarations.declared(node, name, unit)
    loop = found.node.parent if found is not None else None
    while loop is not None and loop.type not in ("for_statement", "function_definition"):
        loop = loop.parent
    condition = loop.child_by_field_name("condition") if loop is not None else None
    if (
        loop is None
        or found is None
        or found.value is None
        or condition is None
        or unit.text(found.value) not in ("0", "0u")
    ):
        return f"?{name}"
    update, body = loop.child_by_field_name("update"), loop.child_by_field_name("body")
    upward = update is not None and re.fullmatch(
        rf"{name}\+\+|\+\+{name}|{name}\+=\w+", "".join(unit.text(update).split())
    )
    if not upward or body is None or assigned(body, name, unit):
        return f"?{name}"
    text = "".join(unit.text(condition).split())
    return text if text.startswith(f"{name}<") and not text.startswith(f"{name}<=") else f"?{name}"
