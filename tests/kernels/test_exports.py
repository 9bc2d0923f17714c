"""Ops of kernels that classes hold, which the registries of other frameworks are given by macros."""

from __future__ import annotations

import pytest

from .torch_programs import KERNEL, ops

BARE = "\n".join(line for line in KERNEL.splitlines() if "#include <torch" not in line)
CLASS = """
void scatter_launcher(float* x, float* out);
template <typename T> class ScatterKernel final : public OpKernel {
 public:
  void Compute(Context* ctx) const override { scatter_launcher(ctx->in<T>(0), ctx->out<T>(0)); }
};
template <typename T> class GatherKernel final : public OpKernel {
 public:
  void Compute(Context* ctx) const override { gather_launcher(ctx->in<T>(0), ctx->out<T>(0)); }
};
"""


@pytest.mark.parametrize(
    ("include", "registered", "name"),
    [
        (
            "oneflow/core/framework/framework.h",
            'REGISTER_USER_KERNEL("scatter").SetCreateFn<ScatterKernel<float>>().SetIsMatchedHob(hob());\n'
            'REGISTER_USER_KERNEL("gather").SetCreateFn<GatherKernel<float>>();',
            "scatter",
        ),
        (
            "oneflow/core/framework/framework.h",
            '#define REGISTER_IT(dtype) \\\n  REGISTER_USER_KERNEL("scatter") \\\n'
            '      .SetCreateFn<GatherKernel<dtype>>() \\\n      .SetIsMatchedHob(of("y", 0)); \\\n'
            '  REGISTER_USER_KERNEL("scatter_grad") \\\n'
            '      .SetCreateFn<ScatterKernel<dtype>>() \\\n      .SetIsMatchedHob(is<dtype>::value == of("y", 0))\n\nREGISTER_IT(float)\n',
            "scatter_grad",
        ),
        (
            "plugin/device/gpu/kernel/gpu_kernel_factory.h",
            "MS_REG_GPU_KERNEL_ONE(Gather, KernelAttr().AddInputAttr(kFloat), GatherKernel, float)\n"
            "MS_REG_GPU_KERNEL_ONE(ScatterAdd, KernelAttr().AddInputAttr(kFloat), ScatterKernel, float)",
            "ScatterAdd",
        ),
        (
            "plugin/device/gpu/kernel/gpu_kernel.h",
            "MS_KERNEL_FACTORY_REG(NativeGpuKernelMod, ScatterAdd, ScatterKernel);",
            "ScatterAdd",
        ),
        (
            "core/providers/cuda/cuda_common.h",
            "#define REGISTER_TYPED(x, T) \\\n  ONNX_OPERATOR_TYPED_KERNEL_EX( \\\n      x, \\\n      kDomain, 1, T, kCuda, \\\n"
            "      Builder(), x##Kernel<T>);\nREGISTER_TYPED(Gather, float)\n"
            "ONNX_OPERATOR_KERNEL_EX(Scatter, kDomain, 1, kCuda, Builder(), ScatterKernel<float>);",
            "Scatter",
        ),
        ("caffe2/core/context_gpu.h", "REGISTER_CUDA_OPERATOR(Scatter, ScatterKernel<float>);", "Scatter"),
    ],
)
def test_registered_classes(include: str, registered: str, name: str) -> None:
    (op,) = ops({"scatter.cu": BARE, "scatter_op.cc": f'#include "{include}"\n{CLASS}{registered}\n'})
    assert (op.name, op.direction) == (name, "backward" if name.endswith("grad") else "forward")


def test_functions_of_paddle() -> None:
    source = """
#include "paddle/phi/core/kernel_registry.h"
namespace phi {
template <typename T, typename Context> void ScatterKernel(const Context& ctx, const Tensor& x, Tensor* out) {
  scatter_launcher(x.data<T>(), out->data<T>());
}
}
PD_REGISTER_KERNEL(scatter_nd_add, GPU, ALL_LAYOUT, phi::ScatterKernel, float, double) {}
"""
    (op,) = ops({"scatter.cu": BARE, "scatter_kernel.cc": source})
    assert op.name == "scatter_nd_add"


def test_a_name_that_a_variable_holds_is_none() -> None:
    source = (
        CLASS + "void add(const char* op_name) { REGISTER_USER_KERNEL(op_name).SetCreateFn<ScatterKernel<float>>(); }"
    )
    include = '#include "oneflow/core/framework/framework.h"\n'
    assert ops({"scatter.cu": BARE, "scatter_op.cc": include + source}) == []
