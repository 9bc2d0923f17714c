"""From the atomics of small TensorFlow-like repositories to ops and Python names."""

from __future__ import annotations

import pytest

from d9mlint.kernels.flow import Anchor, Way, ops_of
from d9mlint.kernels.tensorflow.ways import ways
from d9mlint.model import Location
from d9mlint.model.kernel import Guard, Step

from .tensorflow_sources import BLUR, HEADER, KERNEL, OP, anchors, ops, register, repository


def test_kernel_functor_opkernel_registration() -> None:
    (op,) = ops(BLUR).values()
    assert (op.name, op.framework, op.direction, op.python, op.guard) == (
        "BlurGrad",
        "tensorflow",
        "backward",
        (),
        Guard(),
    )
    assert [(s.location.path, s.location.line) for s in op.chain] == [
        ("k/blur_gpu.cu.cc", 5), ("k/blur_gpu.cu.cc", 10), ("k/blur_op.cc", 14), ("k/blur_op.cc", 20),
    ]  # fmt: skip
    assert [s.text for s in op.chain] == [
        "kernel `BlurGradKernel`",
        "functor `BlurGrad`",
        "method `BlurGradOp::Compute`",
        "op `BlurGrad`, registered for GPU as `BlurGradOp<GPUDevice, float>`",
    ]
    assert [s.line for s in op.sites] == [5]


def test_a_kernel_that_no_op_uses_reaches_none() -> None:
    assert ops({**BLUR, "k/blur_op.cc": OP.replace("functor::BlurGrad<", "functor::Sharpen<")}) == {}
    assert ops({**BLUR, "k/blur_op.cc": OP.replace("REGISTER(GPU", "REGISTER(CPU")}) == {}
    assert ops({"k/a.cu": KERNEL}) == {}


def test_a_user_of_the_host_functor_is_no_user_of_the_kernel() -> None:
    other = '#include "k/blur.h"\nclass HostOp : public OpKernel {\n  void Compute(OpKernelContext* c) override {\n'
    other += "    functor::BlurGrad<CPUDevice, float>()(d);\n  }\n};\n" + register("Host", "HostOp")
    assert set(ops({**BLUR, "k/host_op.cc": other})) == {"BlurGrad"}


def test_the_same_name_without_a_common_header_is_another_thing() -> None:
    other = "struct BlurGrad { void operator()() {} };\nclass OtherOp : public OpKernel {\n"
    other += "  void Compute(OpKernelContext* c) override { BlurGrad()(); }\n};\n" + register("Other", "OtherOp")
    assert set(ops({**BLUR, "k/other_op.cc": other})) == {"BlurGrad"}


SCATTER = """
template <typename T, UpdateOp op>
struct Body;
template <typename T>
struct Body<T, UpdateOp::ASSIGN> {
  __device__ void operator()(T* out, T value) { *out = value; }
};
template <typename T>
struct Body<T, UpdateOp::ADD> {
  __device__ void operator()(T* out, T value) { GpuAtomicAdd(out, value); }
};
template <typename T>
struct Body<T, UpdateOp::MIN> {
  __device__ void operator()(T* out, T value) { GpuAtomicMin(out, value); }
};
template <typename T, UpdateOp op>
__global__ void ScatterKernel(T* out, const T* in) {
  Body<T, op> body;
  body(out, in[threadIdx.x]);
}
template <typename T, UpdateOp op>
struct ScatterFunctor<GPUDevice, T, op> {
  void operator()(const GPUDevice& d) { ScatterKernel<T, op><<<1, 1>>>(out, in); }
};
template <typename Device, typename T, UpdateOp op>
class ScatterOp : public OpKernel {
  void Compute(OpKernelContext* c) override { DoCompute(c); }
  void DoCompute(OpKernelContext* c) { ScatterFunctor<Device, T, op>()(device); }
};
#define R(name, dev, op) REGISTER_KERNEL_BUILDER(Name(name).Device(DEVICE_##dev), ScatterOp<dev##Device, T, op>);
#define ALL(dev)                              \\
  R("ScatterAdd", dev, UpdateOp::ADD)         \\
  R("ScatterMin", dev, UpdateOp::MIN)         \\
  R("ScatterUpdate", dev, UpdateOp::ASSIGN)
ALL(CPU)
ALL(GPU)
"""


def test_one_functor_for_many_ops_by_an_enumerator() -> None:
    found = ops({"k/scatter_op.cu.cc": SCATTER})
    assert {name: [s.line for s in op.sites] for name, op in found.items()} == {"ScatterAdd": [10], "ScatterMin": [14]}
    texts = [s.text for s in found["ScatterAdd"].chain]
    assert texts[0] == "device function `Body::operator()`"
    assert texts[-1] == "op `ScatterAdd`, registered for GPU as `ScatterOp<GPUDevice, T, UpdateOp::ADD>`"
    assert "method `ScatterOp::DoCompute`" in texts
    assert "method `ScatterOp::Compute`" in texts


def test_a_wrapper_leads_only_to_the_ops_that_its_bodies_are_for() -> None:
    tree = repository({"k/scatter_op.cu.cc": SCATTER})
    unit = tree.unit("k/scatter_op.cu.cc")
    assert unit is not None
    inner = tuple(a.location for a in anchors(tree))
    start = unit.data.index(b"body(out")
    use = Anchor(unit.span(start, start + 4))
    assert {way.op for way in ways(tree, [use])} == {"ScatterAdd", "ScatterMin", "ScatterUpdate"}
    assert {way.op for way in ways(tree, [use._replace(inner=inner)])} == {"ScatterAdd", "ScatterMin"}


def test_a_device_function_of_a_header_is_a_wrapper_and_leads_nowhere() -> None:
    header = "template <typename T>\n__device__ void AddTo(T* p, T v) { GpuAtomicAdd(p, v); }\n"
    kernel = '#include "k/device.h"\n' + KERNEL.replace("GpuAtomicAdd(", "AddTo(")
    tree = repository({**BLUR, "k/device.h": header, "k/blur_gpu.cu.cc": kernel})
    assert ways(tree, anchors(tree)) == []


def test_a_functor_that_only_the_registration_names() -> None:
    header = "template <typename T>\nstruct SumGpu {\n  EIGEN_DEVICE_FUNC void operator()(T* d, const T& v) "
    header += "{ GpuAtomicAdd(d, v); }\n};\n"
    op = '#include "k/segment.h"\n' + register("SegmentSum", "SegmentOp<functor::Segment<GPUDevice, SumGpu<float>>>")
    op += register("SegmentAny", "SegmentOp<functor::Segment<GPUDevice, AnyGpu<float>>>")
    assert set(ops({"k/segment.h": header, "k/segment_op.cc": op})) == {"SegmentSum"}


def test_an_atomic_in_a_macro_of_the_file() -> None:
    source = """
    #define ADD_AT(p, v) \\
      GpuAtomicAdd(p, v)
    __global__ void Warp(float* p) { ADD_AT(p, 1.f); }
    template <>
    struct WarpGrad<GPUDevice> {
      void operator()() { Warp<<<1, 1>>>(p); }
    };
    class WarpGradOp : public OpKernel {
      void Compute(OpKernelContext* c) override { WarpGrad<GPUDevice>()(); }
    };
    """
    (op,) = ops({"k/warp.cu.cc": source + register("WarpGrad", "WarpGradOp")}).values()
    assert [s.text for s in op.chain][:2] == ["macro `ADD_AT`", "kernel `Warp`"]


def test_a_launcher_that_the_op_declares_itself() -> None:
    kernel = (
        "__global__ void Fold(float* p) { GpuAtomicAdd(p, 1.f); }\nvoid LaunchFold(float* p) { Fold<<<1, 1>>>(p); }\n"
    )
    op = "void LaunchFold(float* p);\nclass FoldOp : public OpKernel {\n"
    op += "  void Compute(OpKernelContext* c) override { LaunchFold(p); }\n};\n" + register("Fold", "FoldOp")
    assert set(ops({"k/fold.cu.cc": kernel, "k/fold_op.cc": op})) == {"Fold"}


def test_a_base_class_of_the_opkernel() -> None:
    source = """
    __global__ void Fold(float* p) { GpuAtomicAdd(p, 1.f); }
    class FoldBase : public OpKernel {
      void Compute(OpKernelContext* c) override { Fold<<<1, 1>>>(p); }
    };
    template <typename T>
    class FoldOp : public FoldBase {
     public:
      using FoldBase::FoldBase;
    };
    """
    found = ops({"k/fold.cu.cc": source + register("Fold", "FoldOp<float>")})
    assert [s.text for s in found["Fold"].chain][1:3] == ["method `FoldBase::Compute`", "class `FoldOp`"]


def test_registrations_in_files_that_only_use_a_macro_of_the_header() -> None:
    header = HEADER + OP.partition("};\n}\n")[2].replace("TF_CALL_float(REGISTER_CPU);\nREGISTER(GPU, float);\n", "")
    files = {
        "k/blur.h": HEADER,
        "k/blur_gpu.cu.cc": KERNEL,
        "k/blur_op.h": '#include "k/blur.h"\n' + header.replace("#define REGISTER(", "#define REGISTER_BLUR("),
        "k/blur_op_float.cc": '#include "k/blur_op.h"\nREGISTER_BLUR(GPU, float);\n',
    }
    (op,) = ops(files).values()
    assert (op.name, op.chain[-1].location.path) == ("BlurGrad", "k/blur_op_float.cc")


def test_a_class_that_the_grammar_loses() -> None:
    declared = "extern template struct Other<CPUDevice, half>;\nextern template struct Other<CPUDevice, float>;\n"
    lost = OP.replace(
        "template <typename Device, typename T>\nclass", declared + "template <typename D, class T>\nclass"
    )
    assert set(ops({**BLUR, "k/blur_op.cc": lost.replace("BlurGrad<Device", "BlurGrad<D")})) == {"BlurGrad"}


def test_a_block_that_conditions_split() -> None:
    split = (
        "class SplitOp : public OpKernel {\n  void Compute(OpKernelContext* c) override {\n#if A\n    if (x) {\n#else\n"
    )
    split += "    if (y) {\n#endif\n      f();\n    }\n  }\n};\n"
    assert set(
        ops({**BLUR, "k/blur_op.cc": OP.replace("template <typename Device", split + "template <typename Device")})
    ) == {"BlurGrad"}


GUARDED = OP.replace(
    "    functor::BlurGrad<Device, T>()",
    '    OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("x"));\n    functor::BlurGrad<Device, T>()',
)


def test_a_guard_on_the_way() -> None:
    (op,) = ops({**BLUR, "k/blur_op.cc": GUARDED}).values()
    assert op.guard.level == "throws"
    assert op.guard.where is not None
    assert (op.guard.where.path, op.guard.where.line) == ("k/blur_op.cc", 14)


def test_a_guard_in_the_launcher_and_in_the_constructor() -> None:
    launcher = KERNEL.replace(
        "    BlurGradKernel<T><<<", "    if (OpDeterminismRequired()) return Sorted();\n    BlurGradKernel<T><<<"
    )
    (op,) = ops({**BLUR, "k/blur_gpu.cu.cc": launcher}).values()
    assert op.guard.level == "other-path"
    built = OP.replace(
        "OpKernel(ctx) {}",
        'OpKernel(ctx) {\n    OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("x"));\n  }',
    )
    (op,) = ops({**BLUR, "k/blur_op.cc": built}).values()
    assert op.guard.level == "throws"


def test_the_guard_of_another_ops_compute_does_not_count() -> None:
    other = '#include "k/blur.h"\nclass OtherOp : public OpKernel {\n  void Compute(OpKernelContext* c) override {\n'
    other += "    functor::BlurGrad<GPUDevice, float>()(d);\n  }\n};\n" + register("Other", "OtherOp")
    found = ops({**BLUR, "k/blur_op.cc": GUARDED, "k/other_op.cc": other})
    assert {name: op.guard.level for name, op in found.items()} == {"BlurGrad": "throws", "Other": "none"}


def test_one_unguarded_way_is_enough() -> None:
    launcher = KERNEL.replace(
        "    return d.ok();",
        "    if (OpDeterminismRequired()) { Sorted(); } else { BlurGradKernel<T><<<1, 1>>>(in, out, n); }\n    return d.ok();",
    )
    tree = repository({**BLUR, "k/blur_gpu.cu.cc": launcher})
    (way,) = ways(tree, anchors(tree))
    assert way.guard == Guard()


def test_ops_of_ways() -> None:
    sites = [Location("a.cu", n, 1, n, 2) for n in (3, 1)]
    guard = Guard("throws", Location("a.cc", 9, 1, 9, 2))
    found = ops_of(
        [
            Way("X", "tensorflow", ("tf.x",), "forward", (), sites[0], Guard(), (Step(sites[0], "kernel `K`"),)),
            Way("X", "tensorflow", ("tf.x",), "forward", (), sites[1], guard, (Step(sites[1], "kernel `L`"),)),
        ]
    )
    assert [(op.name, op.sites, op.guard) for op in found] == [("X", (sites[1], sites[0]), Guard())]
    assert found[0].chain == (Step(sites[0], "kernel `K`"),)


@pytest.mark.parametrize("cut", range(0, 900, 60))
def test_truncated_repositories_never_fail(cut: int) -> None:
    files = {path: text[: max(0, len(text) - cut)] for path, text in BLUR.items()}
    ops(files)
    ops({"k/scatter_op.cu.cc": SCATTER[: len(SCATTER) - cut]})


@pytest.mark.parametrize(
    "test, level, switch",
    [
        ('bool sorted = std::getenv("BLUR_DETERMINISTIC") != nullptr; sorted', "none", "BLUR_DETERMINISTIC=1"),
        ("deterministic_", "none", "deterministic_=True"),
        ("OpDeterminismRequired()", "other-path", ""),
        ("ctx->num_inputs() > 2", "none", ""),
    ],
)
def test_a_switch_of_the_author_chooses_another_kernel(test: str, level: str, switch: str) -> None:
    call = "    functor::BlurGrad<Device, T>()(ctx->eigen_device<Device>());\n"
    op = OP.replace(call, f"    if ({test}) {{ functor::Sorted<Device, T>()(ctx); return; }}\n{call}")
    found = ops({**BLUR, "k/blur_op.cc": op})["BlurGrad"]
    assert (found.guard.level, found.guard.switch) == (level, switch)


def test_a_kernel_that_uses_a_class_calls_those_of_its_methods_that_it_names() -> None:
    source = """
#include "k/blur.h"
struct Four {
  __device__ void add_to(float* p) { GpuAtomicAdd(p, x); }
  __device__ void store(float* p) { *p = x; }
  float x;
};
__global__ void AddKernel(float* out) { Four f; f.add_to(out); }
__global__ void StoreKernel(float* out) { Four f; f.store(out); }
class AddOp : public OpKernel { void Compute(OpKernelContext* c) override { AddKernel<<<1, 32>>>(o); } };
class StoreOp : public OpKernel { void Compute(OpKernelContext* c) override { StoreKernel<<<1, 32>>>(o); } };
"""
    files = {"k/four.cu.cc": source + register("Add", "AddOp") + register("Store", "StoreOp")}
    assert set(ops(files)) == {"Add"}
