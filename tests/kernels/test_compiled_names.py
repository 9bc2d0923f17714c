"""Kernels that a program names in a text which it has compiled when it runs."""

from __future__ import annotations

from .torch_programs import only, ops

_KERNEL = """
    template <int kRanks, typename T>
    __global__ void scatter_impl(T* out, const int* at) { atomicAdd(&out[at[threadIdx.x]], T(1)); }
"""
_RUNTIME = """
    #include <torch/extension.h>
    class ScatterRuntime final : public jit::LaunchRuntime<ScatterRuntime> {
      static std::string generate(const Args& args) {
        return format("include <scatter.cuh> void* use() { return &{}; }", format(%s, args.ranks, args.type));
      }
    };
    void scatter(at::Tensor out, at::Tensor at) {
      auto code = ScatterRuntime::generate(Args{out.data_ptr(), at.data_ptr()});
      ScatterRuntime::launch(jit::build("scatter", code));
    }
    PYBIND11_MODULE(my_ext, m) { m.def("scatter", &scatter); }
"""


def test_a_string_that_is_an_instance_of_the_template() -> None:
    op = only({"include/scatter.cuh": _KERNEL, "csrc/scatter.cpp": _RUNTIME % '"scatter_impl<{}, {}>"'})
    assert op.name == "my_ext.scatter"
    op = only({"include/scatter.cuh": _KERNEL, "csrc/scatter.cpp": _RUNTIME % '"ns::scatter_impl<{}, {}>"'})
    assert op.name == "my_ext.scatter"


def test_a_string_that_only_speaks_of_it() -> None:
    for text in ('"scatter_impl<{}, {}> has failed"', '"scatter_impl"', '"gather_impl<{}, {}>"'):
        assert ops({"include/scatter.cuh": _KERNEL, "csrc/scatter.cpp": _RUNTIME % text}) == []
