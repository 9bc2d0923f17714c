"""``d9mlint kernels --fix``: PyTorch's alert before what varies, and nothing where that is not certain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

Run = Callable[..., Ran]

KERNEL = """#include <torch/types.h>
template <typename T>
__global__ void scatter_kernel(const T* x, const int64_t* at, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + at[i], x[i]);
}

torch::Tensor scatter(torch::Tensor x, torch::Tensor at, bool run) {
  auto out = torch::zeros_like(x);
  if (run) {
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scatter", [&] {
      scatter_kernel<scalar_t><<<1, 256>>>(x.data_ptr<scalar_t>(), at.data_ptr<int64_t>(), out.data_ptr<scalar_t>(), 9);
    });
  }
  return out;
}
"""
BIND = """#include <torch/extension.h>
torch::Tensor scatter(torch::Tensor x, torch::Tensor at, bool run);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter", &scatter); }
"""
ALERT = '    at::globalContext().alertNotDeterministic("scatter");\n'
WANTED = KERNEL.replace("<torch/types.h>\n", "<torch/types.h>\n#include <ATen/Context.h>\n").replace(
    "    AT_DISPATCH", f"{ALERT}    AT_DISPATCH"
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "bind.cpp").write_text(BIND)
    path = tmp_path / "scatter.cu"
    path.write_text(KERNEL)
    return path


def test_the_alert_stands_before_the_launch(d9mlint: Run, source: Path) -> None:
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_text() == WANTED
    assert ran.code == 0
    assert "no unguarded site that can vary" in ran.out
    assert "inserted alerts before 1 site that can vary in 1 file" in ran.err
    again = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_text() == WANTED
    assert "inserted alerts before 0 sites" in again.err


def test_a_diff_writes_nothing(d9mlint: Run, source: Path) -> None:
    ran = d9mlint("kernels", ".", "--diff", "--no-cache")
    assert source.read_text() == KERNEL
    assert f"+{ALERT}" in ran.out
    assert ran.out.startswith("--- scatter.cu\n+++ scatter.cu\n")
    assert ran.code == 1


def test_line_endings_stay(d9mlint: Run, source: Path) -> None:
    source.write_bytes(KERNEL.replace("\n", "\r\n").encode())
    d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_bytes() == WANTED.replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    "old, new, why",
    [
        # An integer sum of the same launcher would be refused, too.
        ("AT_DISPATCH_FLOATING_TYPES", "AT_DISPATCH_ALL_TYPES", ""),
        # The launcher is no function of tensors.
        ("torch::Tensor scatter(torch::Tensor x, torch::Tensor at, bool run)", "Any scatter(Any x, Any at, bool run)", "is not certain"),
        # Something stands before it in its line.
        ("  if (run) {\n    AT_DISPATCH", "  if (run) { AT_DISPATCH", "is not certain"),
        ("atomicAdd(out + at[i], x[i]);", "atomicAdd(out + at[i], x[i]);  // d9m: ignore[float-atomic] known", ""),
    ],
)  # fmt: skip
def test_what_is_not_certain_stays(d9mlint: Run, source: Path, old: str, new: str, why: str) -> None:
    text = KERNEL.replace(old, new).replace("  auto out = torch::zeros_like(x);\n", "  auto out = like(x);\n")
    assert old in KERNEL
    source.write_text(text)
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_text() == text
    assert why in ran.err


def test_an_alert_that_does_not_guard_is_taken_back(d9mlint: Run, source: Path) -> None:
    """Another way to the kernel has none: its launcher cannot be patched, so the op stays unguarded."""
    more = '#include <torch/extension.h>\nAny other(Any x);\nPYBIND11_MODULE(more, m) { m.def("other", &other); }\n'
    text = KERNEL + "Any other(Any x) { scatter_kernel<float><<<1, 256>>>(p(x), q(x), r(x), 9); return x; }\n"
    (source.parent / "more.cpp").write_text(more)
    source.write_text(text)
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_text() == text
    assert "not fixed: scatter.cu:5:" in ran.err


@pytest.mark.parametrize("words", [("--fix", "--diff"), ("--fix", "scatter.cu"), ("--fix", "--installed", "torch")])
def test_what_does_not_go_together(d9mlint: Run, source: Path, words: tuple[str, ...]) -> None:
    folder = () if "--installed" in words or "scatter.cu" in words else (".",)
    assert d9mlint("kernels", *folder, *words).code == 2


BLUR = """#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/gpu_kernel_helper.h"
namespace tensorflow {
using GPUDevice = Eigen::GpuDevice;
__global__ void BlurKernel(const float* in, const int* at, float* out, int n) {
  GPU_1D_KERNEL_LOOP(i, n) { GpuAtomicAdd(out + at[i], in[i]); }
}
template <typename Device>
class BlurGradOp : public OpKernel {
 public:
  explicit BlurGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    BlurKernel<<<1, 32>>>(in, at, out, n);
  }
};
REGISTER_KERNEL_BUILDER(Name("BlurGrad").Device(DEVICE_GPU), BlurGradOp<GPUDevice>);
}
"""
REFUSAL = """    OP_REQUIRES(ctx, !(std::is_same<Device, GPUDevice>::value && tensorflow::OpDeterminismRequired()),
                tensorflow::errors::Unimplemented("`BlurGradOp` has no deterministic implementation on the GPU."));
"""


@pytest.mark.parametrize(
    "old, new, refusal",
    [
        ("", "", REFUSAL),
        ("template <typename Device>\n", "", REFUSAL.replace(
            "!(std::is_same<Device, GPUDevice>::value && tensorflow::OpDeterminismRequired())",
            "!tensorflow::OpDeterminismRequired()")),
        # Which of the devices is the GPU is not told here.
        ("using GPUDevice = Eigen::GpuDevice;\n", "", ""),
        ("Compute(OpKernelContext* ctx)", "ComputeAsync(OpKernelContext* ctx, DoneCallback done)", ""),
    ],
)  # fmt: skip
def test_tensorflow_is_asked_before_the_launch(d9mlint: Run, tmp_path: Path, old: str, new: str, refusal: str) -> None:
    source = tmp_path / "blur.cu.cc"
    text = BLUR.replace(old, new)
    if "typename Device" not in text:
        text = text.replace("BlurGradOp<GPUDevice>", "BlurGradOp")
    source.write_text(text)
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    wanted = text.replace("    BlurKernel<<<", f"{refusal}    BlurKernel<<<")
    include = '#include "tensorflow/core/util/gpu_kernel_helper.h"\n'
    wanted = wanted.replace(include, f'{include}#include "tensorflow/core/util/determinism.h"\n') if refusal else text
    assert source.read_text() == wanted
    assert (ran.code == 0) is bool(refusal)
    d9mlint("kernels", ".", "--fix", "--no-cache")
    assert source.read_text() == wanted


TRITON = """import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, at_ptr, out_ptr, n, BLOCK: tl.constexpr):
    off = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + off, mask=off < n)
    tl.atomic_add(out_ptr + tl.load(at_ptr + off, mask=off < n), x, mask=off < n)


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, at, n):
        out = torch.zeros(n, device=x.device)
        with torch.cuda.device(x.device):
            add[(triton.cdiv(x.numel(), 128),)](x, at, out, x.numel(), BLOCK=128)
        return out


def scatter(x, at, n):
    return Scatter.apply(x, at, n)
"""
RAISES = (
    "            if torch.are_deterministic_algorithms_enabled() and not "
    "torch.is_deterministic_algorithms_warn_only_enabled():\n"
    '                raise RuntimeError("`Scatter.forward` adds floats in an order that differs from run to run")\n'
)


def test_python_refuses_before_it_launches(d9mlint: Run, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TRITON)
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert (tmp_path / "ops.py").read_text() == TRITON.replace("            add[(", f"{RAISES}            add[(")
    assert ran.code == 0
    assert "inserted alerts before 1 site that can vary in 1 file" in ran.err
    assert "no unguarded site that can vary" in ran.out


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("import torch\n", "from torch import autograd, cuda, zeros\n", "no function was found"),
        ("            add[(", "            x = x; add[(", "no function was found"),
        # The other launch stands where the test does not.
        ("def scatter(", "launch = add\n\n\ndef other(x, at, out, n):\n    launch[(1,)](x, at, out, n, BLOCK=128)\n\n\ndef scatter(",
         "did not come to stand"),
    ],
)  # fmt: skip
def test_python_that_is_not_certain_stays(d9mlint: Run, tmp_path: Path, old: str, new: str, why: str) -> None:
    text = TRITON.replace(old, new, 1)
    (tmp_path / "ops.py").write_text(text)
    ran = d9mlint("kernels", ".", "--fix", "--no-cache")
    assert (tmp_path / "ops.py").read_text() == text
    assert why in ran.err
