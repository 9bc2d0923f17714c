"""What the author of a kernel can do about a site, with the lines to write: by pattern, language and framework.

Which reductions repeat is documented by CUB ("run-to-run" determinism of ``DeviceReduce`` and
``DeviceSegmentedReduce``; its radix sort is stable); the alert is that of aten/src/ATen/Context.h, TensorFlow's test
that of tensorflow/core/util/determinism.h. PyTorch's ``index_add_`` sorts in deterministic mode
(aten/src/ATen/native/cuda/Indexing.cu, since 1.9), and its sums repeat (aten/src/ATen/native/cuda/Reduce.cuh).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from d9mlint.model import KernelOp, LibraryCall, Location, Site, Step

_SCALAR = re.compile(r"\w*[aA]tom\w*\s*(?:<[^<>]*>)?\s*\(\s*(?:&\s*)?(?:\(\s*)?\w+(?:\[0\]|\s*\+\s*0)?\s*\)?\s*,")
"""An atomic on one cell for all threads: a name without an index that depends on the thread."""
_IMPORTS_TORCH = re.compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)


class _Remedy(NamedTuple):
    """What makes a result repeat, in words, and the lines to write by language."""

    text: str
    lines: Mapping[str, tuple[str, ...]] = {}
    """``cuda``: C++ for CUDA or HIP, ``torch``: the same in an extension of PyTorch; ``string``: CUDA that Python
    holds; ``triton``, ``numba``."""


_FIXED_POINT = "atomicAdd(&sums[cell], (unsigned long long)llrint(x * 0x1p32));  // or integers"
_SECOND_PASS = (
    "partial[blockIdx.x * bins + b] = s[b];  // each block has its own",
    "for (int k = 0; k < blocks; ++k) sum += partial[k * bins + b];  // then",
)
_KEYED = ("atomicMax(&owner[cell], i);  // first pass", "if (owner[cell] == i) out[cell] = x;  // second pass")
_IN_PLACE = "partial[blockIdx.x] = sum;  // in place of the atomic"
_PLACES = ("cub::DeviceScan::ExclusiveSum(tmp, bytes, flags, place, n);", "if (flags[i]) out[place[i]] = x[i];")
_PATTERNS = {
    "scatter": _Remedy(
        "sort by cell and add each cell's run in order; or one thread owns a cell and gathers; or add integers in "
        "fixed point",
        {
            "cuda": (
                "cub::DeviceRadixSort::SortPairs(tmp, bytes, cell, cells, x, xs, n);",
                "cub::DeviceSegmentedReduce::Sum(tmp, bytes, xs, out, m, begin, begin + 1);",
                _FIXED_POINT,
            ),
            "torch": (
                "if (at::globalContext().deterministicAlgorithms())",
                "  return out.index_add_(0, cell, x);  // sorts in that mode",
                _FIXED_POINT,
            ),
            "triton": (
                "if torch.are_deterministic_algorithms_enabled():",
                "    return out.index_add_(0, cell, x)  # sorts in that mode",
                "tl.atomic_add(sums + cell, (x * 2**32).to(tl.int64))  # or integers",
            ),
            "string": (_FIXED_POINT,),
            "numba": ("cuda.atomic.add(sums, cell, int64(round(x * 2**32)))  # integers",),
        },
    ),
    "scalar": _Remedy(
        "two passes: each block stores its sum, then these are added in a fixed order",
        {
            "cuda": (_IN_PLACE, "cub::DeviceReduce::Sum(tmp, bytes, partial, out, blocks);"),
            "torch": (_IN_PLACE, "out = partial.sum();  // PyTorch's sum repeats"),
            "triton": ("tl.store(partial + tl.program_id(0), sum)  # in place of the atomic", "out = partial.sum()"),
            "string": (_IN_PLACE,),
            "numba": ("partial[cuda.blockIdx.x] = total  # in place of the atomic",),
        },
    ),
    "histogram": _Remedy(
        "each block writes its histogram, a second pass adds them bin by bin in a fixed order; within a block a bin "
        "has one owner, or integers are added",
        dict.fromkeys(("cuda", "torch", "string"), _SECOND_PASS),
    ),
    "position": _Remedy(
        "positions from a prefix sum over flags (integers repeat) instead of a counter, or "
        "`cub::DeviceSelect::Flagged`",
        dict.fromkeys(("cuda", "torch"), _PLACES),
    ),
    "last": _Remedy(
        "a key decides instead of time, the largest index for instance",
        dict.fromkeys(("cuda", "torch", "string"), _KEYED),
    ),
    "lock": _Remedy(
        "blocks take the lock in a fixed order, or each adds in a cell of its own, and these are added afterwards"
    ),
    "library": _Remedy("call a variant that repeats, or sort first (`d9mlint explain nondeterministic-library-call`)"),
}
"""What makes a result repeat."""
_LANGUAGES = (("tl.", "triton"), ("cuda.atomic", "numba"), ("numba.cuda", "numba"))
"""By the beginning of an atomic in Python."""


def advice(one: Site | LibraryCall, line: str, op: KernelOp | None, sources: Mapping[str, str] | None = None) -> str:
    """What to do about a site or call whose source is ``line``, met as ``op``: prose, and indented lines to write.

    Empty for a site whose type or use decides first, and where deterministic mode refuses or goes another way already.
    """
    if one.guard.level in ("throws", "other-path") or one.verdict not in ("yes", "conditional"):
        return ""
    if one.guard.switch:
        return _follow(one.guard.switch)
    pattern = "library" if isinstance(one, LibraryCall) else _pattern(one, line)
    remedy = _repeating(_PATTERNS[pattern], _language(one, op)) if pattern else ""
    alert = _alert(op, sources or {}) if op is not None else ""
    return "\n\n".join(filter(None, (alert, remedy)))


def _repeating(remedy: _Remedy, language: str) -> str:
    lines = remedy.lines.get(language, ())
    text = f"To make it repeat: {remedy.text}"
    return f"{text}:\n\n" + "\n".join(f"  {one}" for one in lines) if lines else text


def _language(one: Site | LibraryCall, op: KernelOp | None) -> str:
    """The language that the lines are to be written in; empty for one that no lines are known of."""
    if one.location.path.endswith((".py", ".pyx", ".ipynb")):
        name = one.atomic if isinstance(one, Site) else one.name
        known = next((language for start, language in _LANGUAGES if name.startswith(start)), "")
        return known or ("string" if "." not in name else "")
    return "torch" if op is not None and op.framework == "torch" else "cuda"


def _follow(switch: str) -> str:
    """How deterministic mode can set a switch that is there already."""
    name, _, value = switch.partition("=")
    if name.isupper():
        return f"Let deterministic mode choose the other way, too, not only `{switch}` in the environment"
    line = f"if torch.are_deterministic_algorithms_enabled(): {name} = {value}"
    return f"Let deterministic mode choose the other way, too, where Python hands `{name}` on:\n\n  {line}"


def _pattern(site: Site, line: str) -> str:
    if site.class_ == "order-dependent" or site.return_used:
        if "lock" in site.reason:
            return "lock"
        return "position" if site.return_use == "index" else "last" if site.intrinsic == "atomicExch" else ""
    if site.memory == "shared":
        return "histogram"
    return "scalar" if _SCALAR.search(line) else "scatter"


def _alert(op: KernelOp, sources: Mapping[str, str]) -> str:
    """How to refuse in deterministic mode until then, and where; nothing where no framework has such a mode."""
    where = _launch(op)
    if where is None:
        return ""
    place = f"{where.location.path.rpartition('/')[2]}:{where.location.line}"
    if where.location.path.endswith(".py"):
        text = sources.get(where.location.path)
        if op.framework != "torch" and (text is None or not _IMPORTS_TORCH.search(text)):
            return ""
        line = f'if torch.are_deterministic_algorithms_enabled(): raise RuntimeError("{op.name} may vary")'
        return f"Let it refuse in deterministic mode, in the function at {place}:\n\n  {line}"
    if op.framework == "torch":
        line = f'at::globalContext().alertNotDeterministic("{op.name}");'
        return f"Let it refuse in deterministic mode, before {place}:\n\n  {line}"
    if op.framework == "tensorflow":
        line = "OP_REQUIRES(context, !OpDeterminismRequired(), errors::Unimplemented("
        rest = f'"{op.name} has no deterministic GPU implementation"));'
        return f"Let `Compute` refuse (tensorflow/core/util/determinism.h):\n\n  {line}\n      {rest}"
    return ""


def _launch(op: KernelOp) -> Step | None:
    """The step at which the kernel is launched; of a kernel in Python the first function that is none."""
    launched = next((step for step in op.chain if step.text.startswith("launched in")), None)
    if launched is not None:
        return launched
    after = [step for step in op.chain if not step.text.startswith(("kernel ", "function ", "macro "))]
    return after[0] if after else Step(Location("", 1, 1, 1, 1), "") if op.framework == "tensorflow" else None
