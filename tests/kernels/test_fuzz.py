"""Whatever the bytes are: masks and lexers keep every byte in its place, nothing raises, the same comes out again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d9mlint.kernels.scan import scan
from d9mlint.kernels.sites import macros, ptx
from d9mlint.kernels.source import lexical, textual
from d9mlint.kernels.source.ending import open_end
from d9mlint.kernels.source.mask import dead, masked
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import CLASSES, FORMS, USES, VERDICTS

CUDA = b"""#include <torch/extension.h>
#define EACH(m) m(float) m(int)
#define ADD(p, v) atomicAdd((p), (v))
template <typename T> __device__ void put(T* to, T value) { ADD(to, value); }
template <typename T> __global__ void __launch_bounds__(256, 2) k(T* __restrict__ out, const T* in, const int* at, int* n) {
  extern __shared__ float part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  put<T>(out + at[i], in[i]);  // d9m: ignore[float-atomic] why not
  ADD(&part[i % 32], 1.f);
  int slot = atomicAdd_system(n, 1);
  out[slot] = T(0);
  int old = *n, assumed;
  do { assumed = old; old = atomicCAS(n, assumed, max(assumed, at[i])); } while (old != assumed);
  asm volatile("red.global.add.f32 [%0], %1;" :: "l"(out), "f"(1.f));
  cuda::atomic_ref<float, cuda::thread_scope_device>(out[0]).fetch_add(2.f);
}
#if 0
__global__ void gone(float* p) { atomicAdd(p, 1.f); }
#else
const char* code = R"(extern "C" __global__ void s(float* p, float v) { atomicAdd(p, v); })";
#endif
void launch(torch::Tensor o, torch::Tensor i) {
  at::globalContext().alertNotDeterministic("launch");
  AT_DISPATCH_FLOATING_TYPES(o.scalar_type(), "launch", [&] {
    k<scalar_t><<<dim3(1, 2), 256, 0, stream>>>(o.data_ptr<scalar_t>(), i.data_ptr<scalar_t>(), nullptr, nullptr);
  });
}
PYBIND11_MODULE(ext, m) { m.def("launch", &launch); }
"""
KERNELS = b"""#include "tensorflow/core/framework/op_kernel.h"
#include <cub/cub.cuh>
namespace functor { template <> struct Fill<GPUDevice, float> { void operator()(float* x) {
  F<<<1, 32>>>(x); cub::DeviceScan::InclusiveSum(t, b, x, x, n); } }; }
class FillOp : public OpKernel { void Compute(OpKernelContext* c) override { functor::Fill<GPUDevice, float>()(x); } };
#define REGISTER(T) REGISTER_KERNEL_BUILDER(Name("Fill").Device(DEVICE_GPU).TypeConstraint<T>("T"), FillOp)
TF_CALL_float(REGISTER);
__global__ void F(float* x) { GpuAtomicAdd(x, x[threadIdx.x]); }
"""
TRITON = """import torch, triton
import triton.language as tl

@triton.jit
def kernel(out, x, index, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    old = tl.atomic_add(out + tl.load(index + i), tl.load(x + i).to(tl.float32))

class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, out, x, index):
        kernel[(1,)](out, x, index, 64)
        return out
    @staticmethod
    def backward(ctx, grad):
        return grad, None, None
"""
PIECES = st.sampled_from(
    [b"", b"{", b"}", b"(", b")", b";", b"<", b">>>", b"<<<", b"*", b"\\\n", b"#if 1\n", b"#if 0\n", b"#endif\n", b'"']
    + [b"'", b"/*", b"*/", b"//", b'R"(', b"\0", b"\xff\xfe", b"\r", b"\r\n", b"##", b"atomicAdd(", b"template <", b"::"]
)  # fmt: skip
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def edited(draw: st.DrawFn) -> bytes:
    """A valid source with a few holes and stray pieces, or cut off."""
    data = draw(st.sampled_from([CUDA, KERNELS]))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 60))
        data = data[:at] + draw(PIECES) + data[at + length :]
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def lines(data: bytes) -> list[int]:
    return [i for i, byte in enumerate(data) if byte in b"\r\n"]


def only(path: str, data: bytes) -> Repository:
    return Repository([path], lambda _: data)


ANY = st.one_of(st.binary(max_size=400), edited(), st.lists(PIECES, max_size=40).map(b"".join))


@FEW
@given(ANY)
def test_masks_keep_every_byte_and_line_in_its_place(data: bytes) -> None:
    text = masked(data)
    assert (len(text), lines(text)) == (len(data), lines(data))
    assert all(0 <= start <= end <= len(data) for start, end in dead(data))
    code = textual.code(only("a.cu", data), "a.cu")
    assert (len(code), lines(code)) == (len(data), lines(data))


@FEW
@given(ANY, st.integers(0, 400))
def test_lexers_stay_inside_of_what_they_are_given(data: bytes, at: int) -> None:
    for start, word in lexical.words_holding(data, b"tomic", {b"atomicAdd", b"atomicCAS"}):
        assert data[start : start + len(word)] == word
    assert all(data[start : start + 2] == b"in" for start in lexical.word_places(data, b"in"))
    opening = data.find(b"(", min(at, len(data)))
    read = lexical.arguments(data, opening) if opening >= 0 else None
    if read is not None:
        ranges, end = read
        assert data[end - 1 : end] in (b")", b"]", b"}")
        assert all(opening < first <= last < end for first, last in ranges)
    for one in ptx.instructions(data, loose=True):
        assert 0 <= one.start < one.end <= len(data)
    assert "\n" not in open_end(data)


@FEW
@given(ANY, st.lists(st.binary(max_size=20), max_size=4))
def test_macros_expand_to_one_line_of_bounded_length(data: bytes, passed: list[bytes]) -> None:
    known = {name: macros.definitions("a.cu", data, name) for name in (b"EACH", b"ADD", b"REGISTER")}
    for found in known.values():
        for macro in found:
            text = macros.expansion(macro, [p.replace(b"\n", b" ") for p in passed], known)
            assert len(text) <= 2 * macros.MAX_BODY and b"\n" not in text


def test_macros_that_double_at_every_level_come_to_an_end() -> None:
    levels = b"".join(b"#define M%d(x) M%d(x) M%d(x)\n" % (n, n - 1, n - 1) for n in range(1, 36))
    use = b"__global__ void k(float* p, const float* v, const int* i) { M35(p + i[0]) }\n"
    found = scan(only("a.cu", b"#define M0(x) atomicAdd(x, v[0]);\n" + levels + use))
    (site,) = [s for s in found.sites if s.form == "macro-use"]
    assert site.verdict in ("yes", "depends", "unknown")


@FEW
@given(edited(), st.sampled_from(["a.cu", "a.cc", "a.cuh", "a.ptx"]))
def test_a_scan_of_damaged_sources_answers_in_the_words_of_the_contract(data: bytes, path: str) -> None:
    found = scan(Repository([path, "b.cu"], {path: data, "b.cu": KERNELS}.__getitem__))
    for site in found.sites:
        assert site.class_ in CLASSES and site.verdict in VERDICTS and site.form in FORMS and site.return_use in USES
        assert site.reason and "\n" not in site.reason
        assert site.location.line >= 1 and site.location.column >= 1
    assert not [one for one in found.unchecked if one.reason.startswith("internal-error")]
    assert [s for s in found.sites if s.location.path == "b.cu"]


@FEW
@given(
    st.integers(0, len(TRITON)), st.integers(0, 60), st.sampled_from(["", "(", "):", "'''", "\n\t", "\0", "é", "\\"])
)
def test_a_scan_of_damaged_python_does_not_raise(at: int, length: int, put: str) -> None:
    data = (TRITON[:at] + put + TRITON[at + length :]).encode()
    assert not [u for u in scan(only("a.py", data)).unchecked if u.reason.startswith("internal-error")]


@pytest.mark.parametrize("cut", range(0, len(CUDA), 97))
def test_a_source_that_ends_in_the_middle_is_named(cut: int) -> None:
    assert bool(scan(only("a.cu", CUDA[:cut] + b"\n atomicAdd(")).unchecked)
    assert not scan(only("a.cu", CUDA)).unchecked


_SCAN = """
import random, sys
from pathlib import Path
from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import KernelReport, Report
from d9mlint.report.kernels import render
names = sorted(p.name for p in Path(".").iterdir())
random.Random(int(sys.argv[1])).shuffle(names)
found = scan(Repository(names, lambda path: Path(path).read_bytes()))
print(render(KernelReport(found, Report((), {})), "json"))
"""


def test_the_json_is_the_same_for_every_hash_seed_and_order_of_paths(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"k{number}.cu").write_bytes(CUDA.replace(b"(ext, m)", b"(ext%d, m)" % number))
    (tmp_path / "op.cu.cc").write_bytes(KERNELS)
    (tmp_path / "kern.py").write_text(TRITON)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SCAN, seed], cwd=tmp_path, capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("0", "1", str(random.Random(7).randrange(2, 4_000_000)))
    }  # fmt: skip
    assert len(outputs) == 1
    assert b"ext2.launch" in outputs.pop()
