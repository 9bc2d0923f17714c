"""What the author of a kernel can do about a site, with the lines to write: by pattern and by framework.

Which reductions repeat is documented by CUB ("run-to-run" determinism of ``DeviceReduce`` and
``DeviceSegmentedReduce``); the alert is that of aten/src/ATen/Context.h, TensorFlow's test that of
tensorflow/core/util/determinism.h.
"""

from __future__ import annotations

import re

from d9mlint.model import KernelOp, LibraryCall, Location, Site, Step

_SCALAR = re.compile(r"\w*[aA]tom\w*\s*(?:<[^<>]*>)?\s*\(\s*(?:&\s*)?(?:\(\s*)?\w+(?:\[0\]|\s*\+\s*0)?\s*\)?\s*,")
"""An atomic on one cell for all threads: a name without an index that depends on the thread."""
_PATTERNS = {
    "scatter": "one thread owns a cell and gathers in a fixed order; or sort by cell, then "
    "`cub::DeviceSegmentedReduce::Sum`; or add fixed-point integers (`llrint(x * 0x1p32)`)",
    "scalar": "two passes: each block stores `partial[blockIdx.x] = sum`, then `cub::DeviceReduce::Sum` adds `partial`",
    "histogram": "each block writes its histogram, a second pass adds them bin by bin in a fixed order, with one owner "
    "a bin within a block; or add integers (counts, fixed point)",
    "position": "positions from `cub::DeviceScan::ExclusiveSum` over flags (integers repeat) instead of a counter, or "
    "`cub::DeviceSelect::Flagged`",
    "last": "a key decides instead of time: `atomicMax(&owner[cell], i)`, then in the next pass "
    "`if (owner[cell] == i) out[cell] = x`",
    "lock": "blocks take the lock in a fixed order, or each adds in a cell of its own, and these are added afterwards",
    "library": "call a variant that repeats, or sort first (`d9mlint explain nondeterministic-library-call`)",
}
"""What makes a result repeat."""


def advice(one: Site | LibraryCall, line: str, op: KernelOp | None) -> str:
    """What to do about a site or call whose source is ``line``, met as ``op``: prose, and indented lines to write.

    Empty for a site whose type or use decides first, and where deterministic mode refuses or goes another way already.
    """
    if one.guard.level in ("throws", "other-path") or one.verdict not in ("yes", "conditional"):
        return ""
    if one.guard.switch:
        return _follow(one.guard.switch)
    pattern = "library" if isinstance(one, LibraryCall) else _pattern(one, line)
    remedy = _PATTERNS.get(pattern, "")
    alert = _alert(op) if op is not None else ""
    if not alert:
        return f"To make it repeat: {remedy}" if remedy else ""
    return f"{alert}\n\nTo make it repeat: {remedy}" if remedy else alert


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


def _alert(op: KernelOp) -> str:
    """How to refuse in deterministic mode until then, and where."""
    where = _launch(op)
    if where is None:
        return ""
    place = f"{where.location.path.rpartition('/')[2]}:{where.location.line}"
    if where.location.path.endswith(".py"):
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
