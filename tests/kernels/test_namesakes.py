"""Classes that bear the name of free functions in other namespaces."""

from __future__ import annotations

from .torch_programs import ops

PLAN = """
    namespace lib { namespace graph { namespace detail { namespace multi {
    __global__ void topk(int* n, int* out) { out[atomicAdd(n, 1)] = threadIdx.x; }
    struct search { void operator()(int* n) { topk<<<1, 32>>>(n, n); } };
    inline void run(int* n) { search one; one(n); }
    } } } }
"""
BRUTE = """
    namespace lib { namespace brute { namespace detail { inline void search(int* n, int k) {} }
    inline void search(int* n) { detail::search(n, 3); }
    } }
"""
BIND = """
    #include <pybind11/pybind11.h>
    #include "plan.cuh"
    #include "brute.cuh"
    namespace lib { namespace brute {
    void build(long n) { search(reinterpret_cast<int*>(n)); lib::brute::search(reinterpret_cast<int*>(n)); }
    } }
    void direct(long n) { lib::graph::detail::multi::search()(reinterpret_cast<int*>(n)); }
    void inside(long n) { lib::graph::detail::multi::run(reinterpret_cast<int*>(n)); }
    PYBIND11_MODULE(plans, m) { m.def("build", &lib::brute::build); m.def("direct", &direct); m.def("inside", &inside); }
"""


def test_a_call_of_a_function_makes_no_object_of_the_class_of_its_name() -> None:
    found = ops({"plan.cuh": PLAN, "brute.cuh": BRUTE, "bind.cu": BIND})
    assert sorted(op.name for op in found) == ["plans.direct", "plans.inside"]
