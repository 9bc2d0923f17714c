"""Atomics of AMD GPUs by the names that LLVM has for them: builtins of clang, and functions bound to an intrinsic.

``float add(float x, int32x4_t resource, ...) __asm("llvm.amdgcn.raw.buffer.atomic.fadd.f32")`` is the intrinsic:
llvm/include/llvm/IR/IntrinsicsAMDGPU.td, clang/include/clang/Basic/BuiltinsAMDGPU.td. Those on buffers are given the
value first, then the resource that the buffer is reached through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import tree_sitter

from d9mlint.kernels.sites.names import BUFFER_BUILTINS
from d9mlint.kernels.source.lexical import in_line_comment

_BOUND = re.compile(
    rb'\b(\w+)\s*\(([^;{}"]{0,1000})\)\s*(?:__asm__|__asm|asm)\s*\(\s*"(llvm\.amdgcn\.[\w.]*atomic[\w.]*)"'
)
_OPERATION = re.compile(r"\batomic\.[sfu]?(add|sub|min|max|and|or|xor|inc|dec|swap|cmpswap)\b")
_CUDA = {"swap": "Exch", "cmpswap": "CAS"}
_COMPARES = ".cmpswap"


def bound(data: bytes) -> Iterator[tuple[bytes, str]]:
    """The functions that a source declares as an atomic intrinsic of LLVM, each with its intrinsic."""
    for match in _BOUND.finditer(data):
        if not in_line_comment(data, match.start()):
            yield match[1], match[3].decode()


def intrinsic(name: str, declared: Mapping[str, str]) -> str:
    """The intrinsic of LLVM that a function is; empty for others. ``declared``: those that sources bind to one."""
    return declared.get(name) or BUFFER_BUILTINS.get(name, "")


def of_cuda(text: str) -> str:
    """The atomic of CUDA that does the same as an intrinsic; empty for none."""
    match = _OPERATION.search(text)
    return f"atomic{_CUDA.get(match[1], match[1].capitalize())}" if match is not None else ""


def target_first(text: str, given: tuple[tree_sitter.Node, ...]) -> tuple[tree_sitter.Node, ...]:
    """The target and the value (of a compare-and-swap what is compared before it) among the arguments."""
    if ".buffer." not in text:
        return given[:2]
    if _COMPARES in text:
        return (given[2], given[1], given[0]) if len(given) > 2 else given
    return (given[1], given[0]) if len(given) > 1 else given
