"""Classes that a module exports, whose virtual methods C++ calls on the objects that Python hands on."""

from __future__ import annotations

from .torch_programs import only, ops

HEADER = """
    namespace md {
    class Force { public: virtual ~Force(); void step() { compute(); } protected: virtual void compute(); };
    template <class T> class LIB_EXPORT PairGPU : public Force {
     public: void tune();
     protected: virtual void compute();
     private: float* out; const int* at;
    };
    __global__ void pair_kernel(float* out, const int* at) { atomicAdd(out + at[threadIdx.x], 1.f * threadIdx.x); }
    template <class T> void PairGPU<T>::compute() { pair_kernel<<<1, 32>>>(out, at); }
    template <class T> void export_pair(pybind11::module& m, const std::string& name) {
      pybind11::class_<PairGPU<T>, Force, std::shared_ptr<PairGPU<T>>>(m, name.c_str()).def(pybind11::init<int>());
    }
    }
"""
BIND = """
    #include <pybind11/pybind11.h>
    #include "pair.cuh"
    using namespace md;
    void export_wall(pybind11::module& m) { export_pair<Wall>(m, "PairWall"); }
    PYBIND11_MODULE(_md, m) { export_pair<Lj>(m, "PairLj"); export_wall(m); }
"""
FILES = {"md/pair.cuh": HEADER, "md/bind.cu": BIND}


def test_the_class_is_the_op_under_the_names_that_are_handed_in() -> None:
    found = ops(FILES)
    assert sorted(op.name for op in found) == ["_md.PairLj", "_md.PairWall"]
    assert [s.text for s in found[0].chain] == [
        "kernel `pair_kernel`", "launched in `PairGPU::compute`", "bound as `PairLj`",
    ]  # fmt: skip


def test_a_method_that_nobody_else_can_call_makes_no_op_of_its_class() -> None:
    plain = HEADER.replace("virtual void compute();", "void compute();")
    assert ops({**FILES, "md/pair.cuh": plain}) == []


def test_a_base_of_the_exported_class_is_not_exported() -> None:
    other = HEADER.replace("class_<PairGPU<T>, Force,", "class_<Other<T>, PairGPU<T>,")
    assert ops({**FILES, "md/pair.cuh": other}) == []


def test_what_runs_the_method_by_its_name_is_the_op_instead() -> None:
    bind = BIND.replace("export_wall(m); }", 'm.def("run", [](Force& force) { force.compute(); }); }')
    assert [op.name for op in ops({**FILES, "md/bind.cu": bind})] == ["_md.run"]


def test_modules_of_one_name_in_two_libraries_are_two() -> None:
    other = """
        #include <pybind11/pybind11.h>
        namespace base { namespace detail {
        struct List { List() {} };
        void export_list(pybind11::module& m) { pybind11::class_<List>(m, "ListGPU").def(pybind11::init<int>()); }
        } }
        using namespace base::detail;
        PYBIND11_MODULE(_base, m) { export_list(m); }
    """
    own = """
        #include <pybind11/pybind11.h>
        namespace md { namespace detail {
        __global__ void fill(int* n, int* out) { out[atomicAdd(n, 1)] = threadIdx.x; }
        struct List : Lists { List() { fill<<<1, 32>>>(n, out); } };
        void export_list(pybind11::module& m) { pybind11::class_<List>(m, "ListGPU").def(pybind11::init<int>()); }
        } }
        using namespace md::detail;
        PYBIND11_MODULE(_md, m) { export_list(m); }
    """
    python = "from pkg import _base, _md\ndef first(n):\n    return _base.ListGPU(n)\ndef second(n):\n    return _md.ListGPU(n)\n"
    found = only({"pkg/base.cu": other, "pkg/md.cu": own, "pkg/lists.py": python, "pkg/__init__.py": ""})
    assert (found.name, found.python) == ("pkg._md.ListGPU", ("pkg.lists.second", "pkg._md.ListGPU"))


def test_a_kernel_of_another_source_in_the_namespace_of_its_launch_is_not_meant() -> None:
    launch = """
        #include <torch/extension.h>
        __global__ void set_gradient(float* g, const int* at) { atomicAdd(g + at[threadIdx.x], 1.f * threadIdx.x); }
        namespace pool { void max_backward(at::Tensor g) { set_gradient<<<1, 32>>>(g.data_ptr<float>(), nullptr); } }
        PYBIND11_MODULE(pools, m) { m.def("max_backward", &pool::max_backward); }
    """
    other = (
        "namespace pool { __global__ void set_gradient(float* g, const int* at, int n) { atomicAdd(g + *at, 1.f); } }"
    )
    assert only({"pool/average.cu": other, "pool/max.cu": launch}).name == "pools.max_backward"


TABLE = """
    class Embedding { public: virtual void dump(float* out) = 0; };
    template <typename T> class Hashed : public Embedding { public: void dump(float* out) override; void tune(); };
"""
DUMP = """
    #include "table.hpp"
    __global__ void dump_kernel(int* n, float* out) { out[atomicAdd(n, 1)] = threadIdx.x; }
    template <typename T> void Hashed<T>::dump(float* out) { dump_kernel<<<1, 32>>>(nullptr, out); }
"""
MODEL = """
    #include "table.hpp"
    class Model { public: void add(); void save(); private: std::vector<std::shared_ptr<Embedding>> embeddings_; };
"""
METHODS = """
    #include "model.hpp"
    void Model::add() { embeddings_.emplace_back(new Hashed<float>()); }
    void Model::save() { for (int i = 0; i < 2; i++) embeddings_[i]->dump(nullptr); }
"""
MODULE = """
    #include <pybind11/pybind11.h>
    #include "model.hpp"
    PYBIND11_MODULE(models, m) { py::class_<Model>(m, "Model").def("add", &Model::add).def("save", &Model::save); }
"""


def test_who_makes_an_object_of_a_class_does_not_call_its_virtual_methods() -> None:
    files = {"include/table.hpp": TABLE, "src/table.cu": DUMP, "include/model.hpp": MODEL, "src/model.cpp": METHODS}
    found = only({**files, "src/module.cpp": MODULE})
    assert (found.name, found.chain[-1].text) == ("models.Model.save", "bound as `Model.save`")


def test_a_member_that_is_a_functor_is_called_where_it_is_applied() -> None:
    header = """
        struct Counter { Counter(int n); void operator()(float* out); };
        class Op { public: Op(int n); void run(float* out); void size(); private: Counter count_; };
    """
    source = """
        #include "counter.hpp"
        __global__ void count_kernel(float* out) { atomicAdd(out, 1.f * threadIdx.x); }
        void Counter::operator()(float* out) { count_kernel<<<1, 32>>>(out); }
    """
    calls = '#include "counter.hpp"\nOp::Op(int n) : count_(n) {}\nvoid Op::run(float* out) { count_(out); }\n'
    module = (
        MODULE.replace("model.hpp", "counter.hpp").replace("Model", "Op").replace("add", "run").replace("save", "size")
    )
    found = only({"counter.hpp": header, "counter.cu": source, "op.cpp": calls, "module.cpp": module})
    assert found.name == "models.Op.run"


def test_a_class_within_another_one_calls_its_methods_by_their_names() -> None:
    source = """
        #include <pybind11/pybind11.h>
        template <typename T> struct Low {
          static void reduce(float* out) { reduce_kernel<<<1, 32>>>(out); }
          struct Down { void operator()(float* out) { reduce(out); } };
        };
        __global__ void reduce_kernel(float* out) { atomicAdd(out, 1.f * threadIdx.x); }
        void down(long out) { using Down = typename Low<float>::Down; Down()(reinterpret_cast<float*>(out)); }
        PYBIND11_MODULE(lows, m) { m.def("down", &down); }
    """
    assert [s.text for s in only({"low.cu": source}).chain][1:4] == [
        "launched in `Low::reduce`", "called in `Down::operator()`", "called in `down`",
    ]  # fmt: skip


def test_the_enumerator_of_a_class_name_makes_no_object() -> None:
    source = """
        #include <pybind11/pybind11.h>
        __global__ void warm(int* n, int* out) { out[atomicAdd(n, 1)] = threadIdx.x; }
        struct Area : Metrics { Area() { warm<<<1, 32>>>(nullptr, nullptr); } };
        void solve(std::map<Kind, float> kinds) {}
        PYBIND11_MODULE(metrics, m) { m.def("solve", &solve, py::arg("kinds") = std::map<Kind, float>({{Kind::Area, 1.f}})); }
    """
    assert ops({"metrics.cu": source}) == []
