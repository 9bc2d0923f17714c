"""A template that launches one kernel or another, by the value that it is given."""

from __future__ import annotations

import pytest

from .torch_programs import ops

LAUNCHER = """
    #include <torch/extension.h>
    typedef enum { ADAM, LION, MOMENTUM } Kind;
    template <typename T, int KIND> __global__ void one(T* a) { atomicAdd(a, 1.f * threadIdx.x); }
    template <typename T, int KIND> __global__ void two(T* a) { a[threadIdx.x] = 0; }
    template <typename T, int KIND> void update(T* a) {
      switch (KIND) {
        case ADAM: two<T, KIND><<<1, 32>>>(a); break;
        %s
        case MOMENTUM: { one<T, KIND><<<1, 32>>>(a); break; }
      }
    }
    void adam(at::Tensor x) { update<float, ADAM>(x.data_ptr<float>()); }
    void lion(at::Tensor x) { update<float, Kind::LION>(x.data_ptr<float>()); }
    void momentum(at::Tensor x) { update<float, MOMENTUM>(x.data_ptr<float>()); }
    template <int OTHER> void any_of(at::Tensor x) { update<float, OTHER>(x.data_ptr<float>()); }
    PYBIND11_MODULE(_C, m) {
      m.def("adam", &adam); m.def("lion", &lion); m.def("momentum", &momentum); m.def("any_of", &any_of<ADAM>);
    }
"""


@pytest.mark.parametrize(
    ("label", "reaching"),
    [
        ("case LION:", {"lion", "momentum", "any_of"}),  # falls through
        ("case LION: two<T, KIND><<<1, 32>>>(a); break;", {"momentum", "any_of"}),
        ("default:", {"lion", "momentum", "any_of"}),
    ],
)
def test_an_op_reaches_the_case_of_its_own_value(label: str, reaching: set[str]) -> None:
    assert {op.name.rpartition(".")[2] for op in ops({"a.cu": LAUNCHER % label})} == reaching
