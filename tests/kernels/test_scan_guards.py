"""The guards of a whole scan: of a site the weakest of its ways, of an op the weakest of those to what can vary."""

from __future__ import annotations

from d9mlint.kernels.ops import own_ops
from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository

TORCH = b"""#include <torch/extension.h>
template <typename T>
__global__ void add_k(T* out, const T* in, const int* at) { atomicAdd(out + at[threadIdx.x], in[threadIdx.x]); }
__global__ void count_k(int* out, const int* at) { atomicAdd(out + at[threadIdx.x], 1); }
__global__ void sorted_k(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x]; }
void throws(torch::Tensor o, torch::Tensor i, torch::Tensor x) {
  if (o.scalar_type() == at::kInt) { count_k<<<1, 32>>>(o.data_ptr<int>(), x.data_ptr<int>()); return; }
  at::globalContext().alertNotDeterministic("throws");
  add_k<float><<<1, 32>>>(o.data_ptr<float>(), i.data_ptr<float>(), x.data_ptr<int>());
}
void other(torch::Tensor o, torch::Tensor i, torch::Tensor x) {
  if (at::globalContext().deterministicAlgorithms()) {
    sorted_k<<<1, 32>>>(o.data_ptr<float>(), i.data_ptr<float>());
  } else {
    add_k<float><<<1, 32>>>(o.data_ptr<float>(), i.data_ptr<float>(), x.data_ptr<int>());
  }
}
%s
TORCH_LIBRARY(g, m) { m.def("throws", throws); m.def("other", other); %s }
"""
NONE = b"""void none(torch::Tensor o, torch::Tensor i, torch::Tensor x) {
  add_k<float><<<1, 32>>>(o.data_ptr<float>(), i.data_ptr<float>(), x.data_ptr<int>());
}"""
FUNCTOR = b"""#include "tensorflow/core/framework/op_kernel.h"
namespace scatter_op { enum class UpdateOp { ASSIGN, ADD }; }
template <typename T, scatter_op::UpdateOp op> struct Body;
template <typename T> struct Body<T, scatter_op::UpdateOp::ASSIGN> { __device__ void operator()(T* d, T s) { *d = s; } };
template <typename T> struct Body<T, scatter_op::UpdateOp::ADD> {
  __device__ void operator()(T* d, T s) { atomicAdd(d, s); }
};
template <typename T, scatter_op::UpdateOp op>
__global__ void ScatterKernel(T* params, const T* updates, const int* indices) {
  Body<T, op> body;
  body(&params[indices[threadIdx.x]], updates[threadIdx.x]);
}
template <typename T, scatter_op::UpdateOp op> struct ScatterFunctor {
  void operator()(const GPUDevice& d, T* p, T* u, int* i) {
    ScatterKernel<T, op><<<1, 32, 0, d.stream()>>>(p, u, i);
  }
};
template <typename Device, typename T, scatter_op::UpdateOp op> class ScatterUpdateOp : public OpKernel {
  void Compute(OpKernelContext* c) override { ScatterFunctor<T, op> functor; functor(c->eigen_device<Device>(), p, u, i); }
};
REGISTER_KERNEL_BUILDER(Name("ScatterAdd").Device(DEVICE_GPU), ScatterUpdateOp<GPUDevice, float, scatter_op::UpdateOp::ADD>);
REGISTER_KERNEL_BUILDER(
    Name("ScatterUpdate").Device(DEVICE_GPU), ScatterUpdateOp<GPUDevice, float, scatter_op::UpdateOp::ASSIGN>);
"""


def one(data: bytes) -> Repository:
    return Repository(["a.cu.cc"], lambda _: data)


def test_a_site_has_the_weakest_guard_of_its_ways() -> None:
    guarded = {s.location.line: s for s in scan(one(TORCH % (b"", b""))).sites}
    assert (guarded[3].guard.level, guarded[3].ops) == ("other-path", ("g::other", "g::throws"))
    bare = {s.location.line: s for s in scan(one(TORCH % (NONE, b'm.def("none", none);'))).sites}
    assert (bare[3].guard.level, bare[3].ops) == ("none", ("g::none", "g::other", "g::throws"))


def test_an_op_has_the_guard_of_what_can_vary_in_it() -> None:
    found = scan(one(TORCH % (b"", b"")))
    ops = {op.name: op for op in found.ops}
    assert [s.verdict for s in found.sites if s.guard.level == "none"] == ["no"]  # the integers, before the guard
    assert (ops["g::throws"].guard.level, ops["g::other"].guard.level) == ("throws", "other-path")
    assert ops["g::throws"].chain[0].text == "kernel `add_k`"
    assert {op.name: op.status[0].deterministic_mode for op in own_ops(found)} == {
        "g::throws": "raises",
        "g::other": "same",
    }


def test_a_functor_specialised_by_an_enumerator_leads_only_to_the_ops_of_this_one() -> None:
    found = scan(one(FUNCTOR))
    assert [op.name for op in found.ops] == ["ScatterAdd"]
