"""Methods that are called through their base class."""

from __future__ import annotations

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
