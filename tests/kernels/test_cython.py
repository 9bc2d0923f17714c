"""Functions of C++ that Cython takes from files of declarations, and that templates of the same name implement."""

from __future__ import annotations

from .torch_programs import only, ops

_HEADER = """
    namespace geo {
    column distance(column const& xs, column const& ys, resource* memory = current());
    }
"""
_TEMPLATE = """
    namespace geo {
    template <typename T>
    __global__ void distance_kernel(T* out, const T* x, int n) { atomicAdd(out, x[threadIdx.x]); }
    template <typename T>
    void distance(T* out, const T* x, int n, cudaStream_t stream) { distance_kernel<T><<<1, n, 0, stream>>>(out, x, n); }
    }
"""
_SOURCE = """
    #include "geo/detail/distance.cuh"
    namespace geo {
    struct distance_functor {
      template <typename T> column operator()(column const& xs, column const& ys) {
        geo::distance(xs.data<T>(), ys.data<T>(), xs.size(), stream());
        return xs;
      }
    };
    column distance(column const& xs, column const& ys, resource* memory) {
      return type_dispatcher(xs.type(), distance_functor{}, xs, ys);
    }
    }
"""
_DECLARATIONS = """
cdef extern from "geo/distance.hpp" \\
        namespace "geo" nogil:
    cdef column distance(
        const column& xs, const column& ys
    ) except +
"""
_CYTHON = """
from geo_py.cpp.distance cimport (
    distance as cpp_distance,
)

def distance(Column xs, Column ys):
    with nogil:
        result = move(cpp_distance(xs.view(), ys.view()))
    return result
"""
_FILES = {
    "include/geo/distance.hpp": _HEADER, "include/geo/detail/distance.cuh": _TEMPLATE, "src/distance.cu": _SOURCE,
    "geo_py/__init__.py": "", "geo_py/cpp/__init__.py": "", "geo_py/cpp/distance.pxd": _DECLARATIONS,
    "geo_py/distance.pyx": _CYTHON,
}  # fmt: skip


def test_a_template_of_the_name_of_the_function_that_cython_calls() -> None:
    op = only(_FILES)
    assert op.name == "geo_py.distance.distance"
    assert op.chain[-1].text == "called from Cython in `distance`"


def test_a_header_that_declares_another_function() -> None:
    other = _HEADER.replace("column const& ys, ", "")
    assert ops({**_FILES, "include/geo/distance.hpp": other}) == []
    elsewhere = _SOURCE.replace("namespace geo", "namespace other")
    assert ops({**_FILES, "src/distance.cu": elsewhere}) == []


def test_overloads_with_as_many_arguments_are_not_told_apart() -> None:
    same = _SOURCE.replace("resource* memory)", "resource* memory, int extra)")
    header = _HEADER.replace("current()", "current(), int extra = 0")
    assert ops({**_FILES, "include/geo/distance.hpp": header, "src/distance.cu": same}) == []
