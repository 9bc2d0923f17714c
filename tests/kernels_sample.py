"""A report about kernel sources, for the tests of its formats."""

from __future__ import annotations

from d9mlint.model import (
    Finding,
    Guard,
    KernelOp,
    KernelReport,
    KernelScan,
    LibraryCall,
    Location,
    Remedy,
    Report,
    Rule,
    Site,
    Step,
    Unchecked,
)

SOURCE = """#include <torch/extension.h>
__global__ void scatter_kernel(float* out, const float* in, const int* index, int n) {
\tint i = threadIdx.x;
\tif (i < n) atomicAdd(out + index[i], in[i]);
}
"""
HOSTILE = """// </script><img src=x onerror=alert(1)>
__global__ void k(T* x) { atomicExch(x, 1); } // "'<b>&amp;
"""
RULE = Rule(
    "float-atomic", "D9M701", "kernels", "warning", "high", "kernel-atomic", "impl", "A kernel adds floats",
    "Rounding depends on the order.", "{reason}", remedies=(Remedy("sum in a fixed order"),),
)  # fmt: skip


def site(path: str, line: int, verdict: str, **more: object) -> Site:
    values: dict[str, object] = {
        "location": Location(path, line, 13, line, 45), "function": "scatter_kernel", "atomic": "atomicAdd",
        "intrinsic": "atomicAdd", "form": "direct", "qualifier": "__global__", "memory": "global",
        "target_type": "float", "return_use": "unused", "class_": "float-accumulate", "verdict": verdict,
        "reason": f"`atomicAdd` on `out`: {verdict}",
    }  # fmt: skip
    return Site(**{**values, **more})  # type: ignore[arg-type]


def sample() -> KernelReport:
    """Sites of every verdict and guard, a hostile source, a library call, and something unchecked."""
    first = site("csrc/scatter.cu", 4, "yes", ops=("foo._C.scatter",))
    where = Location("csrc/guard.cpp", 7, 3, 7, 9)
    second = site("csrc/guarded.cu", 9, "conditional", ops=("bar",), guard=Guard("throws", where))
    third = site("csrc/<evil>.cu", 2, "unknown", class_="unknown", target_type="T = <script>", atomic="atomicExch")
    fourth = site("csrc/scatter.cu", 2, "no", target_type="int", class_="commutative-exact")
    chain = (
        Step(Location("csrc/scatter.cu", 2, 1, 5, 2), "kernel `scatter_kernel`"),
        Step(where, "bound as `scatter`"),
    )
    ops = (
        KernelOp("bar", "tensorflow", ("tf.bar",), "backward", ("Foo",), (second.location,), second.guard),
        KernelOp("foo._C.scatter", "torch", ("foo.scatter",), "forward", (), (first.location,), Guard(), chain),
    )
    call = LibraryCall(
        Location("csrc/scan.cu", 3, 1, 3, 30), "sums", "InclusiveSum", "nondeterministic-library-call", "yes", "scans"
    )
    unchecked = (Unchecked("csrc/broken.cu", "not a text file (it holds NUL bytes)"),)
    scan = KernelScan(
        12, tuple(sorted((first, second, third, fourth), key=lambda s: s.location)), ops, (call,), unchecked,
        {"csrc/scatter.cu": SOURCE, "csrc/<evil>.cu": HOSTILE},
    )  # fmt: skip
    finding = Finding(
        "float-atomic", "D9M701", "kernel-atomic", "impl", "warning", "high", first.reason, first.location,
        fingerprint="0123456789abcdef",
    )  # fmt: skip
    comment = Finding(
        "unused-suppression", "D9M902", "suppression", "impl", "warning", "high", "suppression is <unused>",
        Location("csrc/scatter.cu", 3, 1, 3, 9), fingerprint="1123456789abcdef",
    )  # fmt: skip
    report = Report(
        (comment, finding), {}, files=12, suppressed=1, unchecked=unchecked, rules={RULE.name: RULE},
        sources={"csrc/scatter.cu": SOURCE},
    )  # fmt: skip
    return KernelReport(scan, report, frozenset({third.location}))
