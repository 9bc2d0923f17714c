"""Methods that are called through their base class."""

from __future__ import annotations

from d9mlint.kernels.torch.callers import Callers
from d9mlint.kernels.torch.calls.virtual import bases

from .support import repository
from .torch_programs import only, ops

SOURCE = """
    #include "pipeline.h"
    __global__ void blur(float* p) { atomicAdd(p, 1.f * threadIdx.x); }
    template <typename T> class CudaPipeline : public Pipeline {
     public:
      void trace(float* p) const override { blur<<<1, 32>>>(p); }
      void other(float* p) { blur<<<1, 32>>>(p); }
    };
    std::shared_ptr<Pipeline> make() { return std::make_shared<CudaPipeline<float>>(); }
"""
BINDINGS = """
    #include <torch/extension.h>
    #include "pipeline.h"
    void run(Pipeline& self, at::Tensor x) { self.trace(x.data_ptr<float>()); }
    void run_another(Renderer& self, at::Tensor x) { self.trace(x.data_ptr<float>()); }
    void run_other(Pipeline& self, at::Tensor x) { self.other(x.data_ptr<float>()); }
    void handed(Pipeline& self, at::Tensor x) { use(self.trace, trace(x)); }
    PYBIND11_MODULE(_C, m) {
      m.def("run", &run); m.def("run_another", &run_another); m.def("run_other", &run_other); m.def("handed", &handed);
    }
"""
FILES = {
    "pipeline.h": "struct Pipeline { virtual void trace(float* p) const = 0; };",
    "pipeline.cu": SOURCE,
    "bind.cpp": BINDINGS,
}


def test_an_overriding_method_is_called_through_its_base() -> None:
    op = only(FILES)
    assert op.name.rpartition(".")[2] == "run"
    assert [s.text for s in op.chain] == [
        "kernel `blur`", "launched in `CudaPipeline::trace`", "called in `run`", "bound as `run`",
    ]  # fmt: skip


def test_a_method_that_overrides_nothing_is_no_other_classs() -> None:
    assert ops({**FILES, "pipeline.cu": SOURCE.replace(" override", "")}) == []
    assert ops({**FILES, "pipeline.cu": SOURCE.replace("public Pipeline", "public Stage")}) == []


def test_the_namespace_of_a_base_is_no_base() -> None:
    source = SOURCE.replace("public Pipeline", "public lib::Pipeline")
    other = "namespace lib { struct Stage { void trace(float* p); }; void run(Stage& s) { s.trace(nullptr); } }"
    assert only({**FILES, "pipeline.cu": source, "stage.cpp": other}).name.rpartition(".")[2] == "run"
    unit = repository(a_cu=source)
    found = bases(Callers(unit).blocks("a.cu").blocks[1], unit)
    assert found == {b"Pipeline"}


def test_a_method_that_another_source_of_its_class_calls() -> None:
    bind = """
        #include <torch/extension.h>
        #include "solver.h"
        void Solver::add(at::Tensor x) { if (on_gpu) { add_cuda(x); return; } }
        PYBIND11_MODULE(solver, m) { py::class_<Solver>(m, "Solver").def("add", &Solver::add).def("solve", &Solver::solve); }
    """
    kernels = """
        #include "solver.h"
        __global__ void add_kernel(float* out, const int* at, const float* x) { atomicAdd(out + at[threadIdx.x], *x); }
        void Solver::add_cuda(at::Tensor x) { add_kernel<<<1, 32>>>(out, at, x.data_ptr<float>()); }
    """
    header = "class Solver { public: void add(at::Tensor x); void add_cuda(at::Tensor x); void solve(); };\n"
    found = only({"csrc/solver.h": header, "csrc/solver.cpp": bind, "csrc/solver_cuda.cu": kernels})
    assert found.name == "solver.Solver.add"


def test_a_class_that_is_bound_under_another_name() -> None:
    header = """
        template <typename K, typename V> __global__ void put(K* keys, V* vals) { vals[atomicAdd(keys, 1)] = threadIdx.x; }
        template <typename K, typename V> class Table { public: void insert(at::Tensor x); void many(K* k); void look(); };
        using table = Table<int, float>;
        template <typename K, typename V> void Table<K, V>::many(K* k) { put<K, V><<<1, 32>>>(k, vals); }
        template <typename K, typename V> void Table<K, V>::insert(at::Tensor x) { many(x.data_ptr<K>()); }
    """
    bind = """
        #include <torch/extension.h>
        #include "table.cuh"
        PYBIND11_MODULE(tables, m) {
          py::class_<table>(m, "HashTable").def("insert", &table::insert).def("look", &table::look);
        }
    """
    found = only({"csrc/table.cuh": header, "csrc/bind.cu": bind})
    assert found.name == "tables.HashTable.insert"


def test_a_member_of_a_base_class_whose_method_is_defined_elsewhere() -> None:
    files = {
        "src/base.h": "class Base { public: virtual void forces(float* out) = 0; virtual void clear() = 0; };\n",
        "src/gpu.h": '#include "base.h"\nclass Gpu : public Base { public: void forces(float* out); void clear(); };\n',
        "src/gpu.cu": """
            #include "gpu.h"
            __global__ void push(float* out, const int* at) { atomicAdd(out + at[threadIdx.x], 1.f * threadIdx.x); }
            void Gpu::forces(float* out) { push<<<1, 32>>>(out, nullptr); }
        """,
        "src/bind.cpp": """
            #include <torch/extension.h>
            #include "gpu.h"
            class Holder { public:
              void backward(at::Tensor x) { impl->forces(x.data_ptr<float>()); }
              void reset() { impl->clear(); }
              void build() { impl = std::make_shared<Gpu>(); }
             private:
              std::shared_ptr<Base> impl;
            };
            PYBIND11_MODULE(forces, m) {
              py::class_<Holder>(m, "Holder").def("backward", &Holder::backward).def("reset", &Holder::reset);
            }
        """,
    }
    assert only(files).name == "forces.Holder.backward"


def test_an_object_that_is_only_asked_for_its_class_is_not_called() -> None:
    files = {
        "linear.cu": """
            __global__ void spread(float* p) { atomicAdd(p, 1.f * threadIdx.x); }
            class Linear : public Module { public: void forward(float* p) { spread<<<1, 32>>>(p); } float scale; };
        """,
        "bind.cpp": """
            #include <torch/extension.h>
            struct Net {
              void set_scale(float s) {
                each([&](Module* part) { if (auto* m = dynamic_cast<Linear*>(part)) m->scale = s; });
              }
              void run(float* p) { each([&](Module* part) { if (auto* m = dynamic_cast<Linear*>(part)) m->forward(p); }); }
            };
            PYBIND11_MODULE(_C, m) {
              py::class_<Net>(m, "Net").def("set_scale", &Net::set_scale).def("run", &Net::run);
            }
        """,
    }
    assert [op.name.rpartition("_C.")[2] for op in ops(files)] == ["Net.run"]
