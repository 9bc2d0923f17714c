"""Whether all that a JAX program computes is seen, and is too small to vary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program

_REWRITTEN = 100
"""Matrix products with fewer elements in both matrices stay out of cuBLAS and its autotuning.

(xla/debug_options_flags.cc, ``xla_gpu_gemm_rewrite_size_threshold``)
"""
_SHAPED = re.compile(r"jax\.(numpy\.(ones|zeros|full|empty)|random\.(normal|uniform))")
"""Calls that make an array of a shape that they are given."""
_SIZED = re.compile(r"flax\.linen\.(Dense|Module\.__init__)")
_SAME = re.compile(
    r"builtins\.(print|range|len|int|float|enumerate|zip)|jax\.random\.(key|PRNGKey|split|fold_in)|"
    r"jax\.(jit|grad|value_and_grad)(\.applied)?|jax\.(tree|tree_util)\.(tree_)?map|"
    r"jax\.numpy\.(abs|exp|log|log1p|sqrt|square|sin|cos|tanh|sum|mean|maximum|minimum|where|dot|matmul)|"
    r"jax\.lax\.(dot|dot_general|stop_gradient)|jax\.nn\.(relu|gelu|silu|sigmoid|softplus|tanh)|"
    r"flax\.linen\.initializers\.\w+|flax\.linen\.(Dense\(\)|Module)\.(init|apply|param|__call__)|"
    r"optax\.\w+(\(\)\.(init|update))?"
)
"""Calls that make nothing larger than what they are given, and do not vary themselves: no scatter, no convolution."""


def tiny(program: Program) -> bool:
    """Whether every call is known, every array is made here, and no matrix product is worth a kernel of cuBLAS."""
    arrays: list[list[int]] = []
    widths: list[int] = []
    for event in program.events:
        if event.kind == "unresolved" or (event.kind == "call" and event.detached):
            return False
        if event.kind != "call" or _SAME.fullmatch(event.name):
            continue
        shaped, sized = _SHAPED.fullmatch(event.name), _SIZED.fullmatch(event.name)
        numbers = _shape(event) if shaped else _widths(event) if sized else None
        if numbers is None:
            return False
        if shaped:
            arrays.append(numbers)
        else:
            widths += numbers
    return bool(arrays) and _elements(arrays, widths) < _REWRITTEN


def _elements(arrays: Iterable[list[int]], widths: list[int]) -> int:
    """The most elements that two matrices of a product can have together."""
    widest = max(widths, default=0)
    largest = max(max(math.prod(a), math.prod(a[:-1]) * widest) for a in arrays)
    weights = max((*(n for a in arrays for n in a), widest)) * widest
    return largest + max(largest, weights)


def _shape(event: Event) -> list[int] | None:
    position = 1 if event.name.startswith("jax.random.") else 0
    given = event.args[position] if len(event.args) > position else event.kwargs.get("shape")
    return [1] if given is None and position else _numbers(given)


def _widths(event: Event) -> list[int] | None:
    """The numbers that a layer is made with; what is made by another call is told there."""
    found: list[int] = []
    for value in (*event.args, *event.kwargs.values()):
        for _, leaf in alternatives(value):
            numbers = [] if isinstance(leaf, Obj) else _numbers(leaf)
            if numbers is None:
                return None
            found += numbers
    return found


def _numbers(value: Value | None) -> list[int] | None:
    """A number, or those of a tuple; None where one is not known."""
    if isinstance(value, Const):
        parts = value.value if isinstance(value.value, tuple) else (value.value,)
        return list(parts) if all(isinstance(n, int) for n in parts) else None
    if not isinstance(value, Seq) or value.items is None:
        return None
    inner = [_numbers(item) for item in value.items]
    return None if None in inner else [n for numbers in inner if numbers for n in numbers]
