"""Methods that classes inherit, and functions of one name in two libraries of a tree: who is the op's."""

from __future__ import annotations

import pytest

from .torch_programs import ops

_BASE = """
    #include "conv.h"
    template <typename T> __global__ void spread(T* out, const T* x, const int* at) {
      atomicAdd(&out[at[threadIdx.x]], x[threadIdx.x]);
    }
    template <typename T> void Conv<T>::back(T* out, const T* x) { spread<<<1, 32>>>(out, x, at_); }
    template <typename T> void Conv<T>::run(T* out, const T* x) { gather<<<1, 32>>>(out, x); }
    template class Conv<float>;
"""
_BINDINGS = """
    #include <torch/extension.h>
    #include "conv.h"
    class Setup : public ns::Conv<float> { public: void prepare(at::Tensor x); };
    class Forward : public Setup {
     public:
      void compute(at::Tensor x) { this->prepare(x); this->run(out(x), in(x)); }
    };
    class Gradient final : public Setup {
     public:
      void compute(at::Tensor x) { this->prepare(x); this->back(out(x), in(x)); }
    };
    class Own : public Setup {
     public:
      void back(float* out, const float* x) {}
      void compute(at::Tensor x) { this->back(out(x), in(x)); }
    };
    class Other { public: void compute(at::Tensor x) { helper_.back(out(x), in(x)); } };
    void forward(at::Tensor x) { Forward op; op.compute(x); }
    void gradient(at::Tensor x) { Gradient op; op.compute(x); }
    void own(at::Tensor x) { Own op; op.compute(x); }
    void other(at::Tensor x) { Other op; op.compute(x); }
    PYBIND11_MODULE(_C, m) {
      m.def("forward", &forward); m.def("gradient", &gradient); m.def("own", &own); m.def("other", &other);
    }
"""


def test_a_method_of_a_base_class_that_an_heir_calls() -> None:
    header = "template <typename T> class Conv { public: void back(T*, const T*); void run(T*, const T*); };"
    found = ops({"conv.h": header, "conv.cu": _BASE, "bind.cpp": _BINDINGS})
    assert [op.name.rpartition(".")[2] for op in found] == ["gradient"]


_ADD = """
    #include "add.h"
    __global__ void {0}(float* out, const float* x) {{ atomicAdd(out, x[threadIdx.x]); }}
    void scatter_gpu(float* out, const float* x) {{ {0}<<<1, 32>>>(out, x); }}
"""


@pytest.mark.parametrize(
    "builds, kernels",
    [
        (("caffe/CMakeLists.txt", "trees/CMakeLists.txt"), {"trees/src/scatter.cu"}),
        ((), {"caffe/src/scatter.cu", "trees/src/scatter.cu"}),  # nothing says that they are two libraries
    ],
)
def test_a_function_of_the_library_whose_header_is_included(builds: tuple[str, ...], kernels: set[str]) -> None:
    files = {
        "caffe/include/add.h": "void scatter_gpu(float* out, const float* x);",
        "caffe/src/scatter.cu": _ADD.format("first"),
        "trees/trees/add.h": "void scatter_gpu(float* out, const float* x);",
        "trees/src/scatter.cu": _ADD.format("second"),
        "torch/bind.cpp": """
            #include <torch/extension.h>
            #include <trees/add.h>
            void scatter(at::Tensor out, at::Tensor x) { scatter_gpu(out.data_ptr<float>(), x.data_ptr<float>()); }
            PYBIND11_MODULE(_C, m) { m.def("scatter", &scatter); }
        """,
    } | dict.fromkeys(builds, "project(one)")
    assert {site.path for op in ops(files) for site in op.sites} == kernels
