"""Registrations in functions that a module calls, through submodules and classes, and namesakes in other namespaces."""

from __future__ import annotations

import pytest

from .support import judged
from .torch_programs import KERNEL, only, ops

HEAD = "#include <torch/extension.h>\nvoid scatter_launcher(at::Tensor x, at::Tensor out);\n"
MAIN = """
#include <pybind11/pybind11.h>
void bind_all(py::module& m);
PYBIND11_MODULE(core, m) { bind_all(m); }
"""
ALL = """
#include <pybind11/pybind11.h>
void bind_shapes(py::module& m);
void bind_all(py::module& m) {
  auto m_t = static_cast<py::module>(m.attr("t"));
  bind_shapes(m_t);
}
"""
SHAPES = (
    HEAD
    + """
struct Mesh { Mesh& Scatter(at::Tensor x) { scatter_launcher(x, x); return *this; } };
void bind_shapes(py::module& m) {
  py::module m_shapes = m.def_submodule("shapes");
  auto mesh = static_cast<py::class_<Mesh, std::shared_ptr<Mesh>>>(m_shapes.attr("Mesh"));
  mesh.def(py::init([](int n) { return Mesh(Device("CPU:0")); }), "n"_a);
  mesh.def("scatter", &Mesh::Scatter, R"doc(Adds (what ) is handed in.)doc", "x"_a);
  mesh.def("size", [](Mesh& mesh) { return 1; });
}
"""
)
FILES = {"csrc/scatter.cu": KERNEL, "csrc/main.cpp": MAIN, "csrc/all.cpp": ALL}


def test_a_class_in_a_submodule_through_functions() -> None:
    op = only({**FILES, "csrc/shapes.cpp": SHAPES})
    assert (op.name, op.chain[-1].text) == ("core.t.shapes.Mesh.scatter", "bound as `Mesh.scatter`")
    declared = SHAPES.replace(
        'auto mesh = static_cast<py::class_<Mesh, std::shared_ptr<Mesh>>>(m_shapes.attr("Mesh"));',
        'py::class_<Mesh, std::shared_ptr<Mesh>> mesh(m_shapes, "Mesh", "Triangles.");',
    )
    assert only({**FILES, "csrc/shapes.cpp": declared}).name == "core.t.shapes.Mesh.scatter"


def test_a_function_that_no_module_calls_binds_nothing() -> None:
    assert ops({**FILES, "csrc/main.cpp": MAIN.replace("{ bind_all(m); }", "{ }"), "csrc/shapes.cpp": SHAPES}) == []


NEW = f"""{HEAD}
namespace lib {{ namespace t {{ namespace shapes {{
struct Mesh {{ Mesh& Scatter(at::Tensor x); }};
void bind(py::module& m) {{ m.def("scatter", &Mesh::Scatter); }}
}} }} }}
"""
OLD = """
#include <pybind11/pybind11.h>
namespace lib { namespace shapes {
Mesh& Mesh::Scatter(at::Tensor x) { return *this; }
void bind(py::module& m) { m.def("old_scatter", &Mesh::Scatter); }
} }
"""
BIND = """
#include <pybind11/pybind11.h>
namespace lib { namespace t {
void bind_t(py::module& m) { shapes::bind(m); }
} }
PYBIND11_MODULE(core, m) { lib::shapes::bind(m); lib::t::bind_t(m); }
"""
METHOD = (
    HEAD
    + """
namespace lib {
namespace {
int helper() { return 1; }
}  // namespace

namespace t { namespace shapes {
Mesh& Mesh::Scatter(at::Tensor x) { CUDA_CALL(scatter_launcher, x, x); return *this; }
} } }
"""
)


def test_classes_and_functions_of_one_name_in_two_namespaces() -> None:
    """Not the old class's; the comment `// namespace` before a method opens none."""
    files = {"csrc/scatter.cu": KERNEL, "csrc/mesh.cpp": METHOD, "csrc/new.cpp": NEW, "csrc/old.cpp": OLD,
             "csrc/bind.cpp": BIND}  # fmt: skip
    assert [op.name for op in ops(files)] == ["core.scatter"]
    plain = METHOD.replace("}  // namespace\n\nnamespace t", "}\n\nnamespace t")
    assert [op.name for op in ops({**files, "csrc/mesh.cpp": plain})] == ["core.scatter"]


INNER = (
    HEAD
    + """
namespace lib { namespace %s { void Mesh::operator()(at::Tensor x) const { scatter_launcher(x, x); } } }
"""
)
OUTER = """
#include <pybind11/pybind11.h>
namespace lib {
void Mesh::operator()(at::Tensor x) const { meshSubmit(handle, x); }
void RunMesh(at::Tensor x) { auto op = CreateOperator<lib::Mesh>(0); op->submit(x); }
PYBIND11_MODULE(core, m) { m.def("mesh", &RunMesh); }
}
"""


@pytest.mark.parametrize("inner, reached", [("priv", True), ("detail", True), ("other", False)])
def test_a_class_that_stands_for_that_of_an_inner_namespace(inner: str, reached: bool) -> None:
    files = {"csrc/scatter.cu": KERNEL, "csrc/inner.cpp": INNER % inner, "csrc/outer.cpp": OUTER}
    assert bool(ops(files)) is reached


KERNELS = (
    HEAD + "namespace lib { namespace kernel { void Scatter(at::Tensor x) { CUDA_CALL(scatter_launcher, x, x); } } }"
)
SAME = (
    HEAD
    + """
namespace lib { namespace kernel { void Scatter(at::Tensor x); }
void Scatter(at::Tensor x) { kernel::Scatter(x); }
PYBIND11_MODULE(core, m) { m.def("scatter", &Scatter); }
}
"""
)


def test_a_function_that_calls_its_namesake_in_another_namespace() -> None:
    files = {"csrc/scatter.cu": KERNEL, "csrc/kernel.cpp": KERNELS, "csrc/bind.cpp": SAME}
    assert only(files).name == "core.scatter"
    assert ops({**files, "csrc/bind.cpp": SAME.replace("{ kernel::Scatter(x); }", "{ other(x); }")}) == []


BASE = """
#include <pybind11/pybind11.h>
namespace lib { namespace %s {
struct Step { virtual ~Step() {} virtual void Compute(at::Tensor x) const = 0; };
%s
void %s(at::Tensor x, const Step& step) { step.Compute(x); }
void bind_%s(py::module& m) { m.def("%s", &%s); }
} }
"""
OVERRIDES = """
struct Plane : public Step { void Compute(at::Tensor x) const override { scatter_launcher(x, x); } };
"""


def test_a_base_class_that_has_a_namesake_elsewhere() -> None:
    new = BASE % ("t", OVERRIDES, "Run", "t", "run", "Run")
    old = BASE % ("legacy", "", "RunOld", "legacy", "run_old", "RunOld")
    main = MAIN.replace("bind_all(m);", "lib::t::bind_t(m); lib::legacy::bind_legacy(m);")
    files = {"csrc/scatter.cu": KERNEL, "csrc/new.cpp": HEAD + new, "csrc/old.cpp": old, "csrc/main.cpp": main}
    assert [op.name for op in ops(files)] == ["core.run"]


@pytest.mark.parametrize("macro, reached", [("MY_ASSERT", False), ("MY_DCHECK_GT", False), ("MY_RUN", True)])
def test_what_runs_where_an_assertion_fails_leads_nowhere(macro: str, reached: bool) -> None:
    bind = f"""{HEAD}
    #define {macro}(x) do {{ if (!(x)) scatter_launcher(x, x); }} while (0)
    void check(at::Tensor x) {{ {macro}(x); }}
    PYBIND11_MODULE(core, m) {{ m.def("check", &check); }}
    """
    assert bool(ops({"csrc/scatter.cu": KERNEL, "csrc/bind.cpp": bind})) is reached


@pytest.mark.parametrize(
    "made, reached", [("Base* w = new Worker(2);", True), ("Worker* w = new Worker(2);", False),
                      ("std::reference_wrapper<Worker> w = find();", False),
                      ("f(x);  // small: x <= 1\n lib::Worker w = find();", False), ("run<Worker>(x);", True)]
)  # fmt: skip
def test_who_points_to_the_class_itself_names_its_methods(made: str, reached: bool) -> None:
    bind = f"""{HEAD}
    struct Worker {{ void reduce(at::Tensor x) {{ scatter_launcher(x, x); }} int size() {{ return 1; }} }};
    void all(at::Tensor x) {{ {made} }}
    PYBIND11_MODULE(core, m) {{ m.def("all", &all); }}
    """
    assert bool(ops({"csrc/scatter.cu": KERNEL, "csrc/bind.cpp": bind})) is reached


@pytest.mark.parametrize(
    "macro",
    [
        "#define OP_DISPATCH(KEY, NAME, F) \\\n  TORCH_LIBRARY_IMPL(pkg, KEY, m) { m.impl(NAME, torch::dispatch(KEY, TORCH_FN(F))); }\n",
        "#define OP_DISPATCH(KEY, NAME, F) TORCH_LIBRARY_FRAGMENT(pkg, m) { m.def(NAME, &F); }\n",
    ],
)  # fmt: skip
def test_a_macro_of_a_header_that_stands_for_a_library(macro: str) -> None:
    bind = HEAD + '#include "dispatch.h"\nOP_DISPATCH(CUDA, "scatter", scatter_launcher);\n'
    op = only({"csrc/scatter.cu": KERNEL, "csrc/dispatch.h": macro, "csrc/bind.cpp": bind})
    assert (op.name, op.chain[-1].location.path, op.chain[-1].location.line) == ("pkg::scatter", "csrc/bind.cpp", 4)
    other = "#define OP_DISPATCH(KEY, NAME, F) static int unused;\n"
    assert ops({"csrc/scatter.cu": KERNEL, "csrc/dispatch.h": other, "csrc/bind.cpp": bind}) == []


REGISTRY = f"""{HEAD}
#include "op.h"
using ScatterCls = Held<Scatter>;
static int done = []() {{
  Registry::instance().register_one("scatter", [](py::module &m) {{
    m.def("scatter", &scatter_launcher);
    py::class_<ScatterCls>(m, "Scatter").def("forward", &ScatterCls::forward).def("size", &ScatterCls::size);
  }});
  return 0;
}}();
"""
OP_H = """
template <typename T>
struct Held : public torch::CustomClassHolder, T { using T::T; };
class Scatter {
 public:
  at::Tensor forward(at::Tensor x);
  int size();
 private:
  class ScatterImpl;
  ScatterImpl *impl_;
};
"""
OP = f"""{HEAD}
#include "op.h"
class Scatter::ScatterImpl {{
 public:
  at::Tensor forward(at::Tensor x) {{ scatter_launcher(x, x); return x; }}
  int size() {{ return 1; }}
}};
at::Tensor Scatter::forward(at::Tensor x) {{ return impl_->forward(x); }}
int Scatter::size() {{ return impl_->size(); }}
"""


def test_what_a_registry_is_given_at_the_top_of_a_file() -> None:
    """A lambda that fills a module; a class behind a holder that is derived from it, with its work in an inner one."""
    found = ops({"csrc/scatter.cu": KERNEL, "csrc/op.h": OP_H, "csrc/op.cpp": OP, "csrc/bind.cpp": REGISTRY})
    assert [op.name.rpartition("TORCH")[2].lstrip(".") for op in found] == ["Scatter.forward", "scatter"]


def test_a_member_of_another_class_is_not_called() -> None:
    other = OP.replace("return impl_->forward(x);", "return other_->forward(x);")
    found = ops({"csrc/scatter.cu": KERNEL, "csrc/op.h": OP_H, "csrc/op.cpp": other, "csrc/bind.cpp": REGISTRY})
    assert [op.name for op in found] == ["scatter"]


def test_a_kernel_that_a_launcher_is_given_by_its_template() -> None:
    """``kernel`` of another namespace is another one; the device function is no wrapper of its callers."""
    source = """
    #include <torch/extension.h>
    namespace add_rows {
    struct config {};
    struct globals { float* out; };
    __device__ inline void kernel(const globals &g) { atomicAdd(g.out + threadIdx.x % 3, 1.5f * threadIdx.x); }
    }
    namespace copy_rows {
    struct config {};
    struct globals { float* out; };
    __device__ inline void kernel(const globals &g) { g.out[threadIdx.x] = 0; }
    }
    void add(at::Tensor out) {
      add_rows::globals g{out.data_ptr<float>()};
      py::launch_kernel<add_rows::config, add_rows::globals, add_rows::kernel>(g);
    }
    void copy(at::Tensor out) {
      copy_rows::globals g{out.data_ptr<float>()};
      py::launch_kernel<copy_rows::config, copy_rows::globals, copy_rows::kernel>(g);
    }
    PYBIND11_MODULE(_C, m) { m.def("add", &add); m.def("copy", &copy); }
    """
    assert [op.name for op in ops({"rows.cu": source})] == ["_C.add"]
    (site,) = judged(source)
    assert (site[0].form, site[1].class_, site[1].verdict) == ("direct", "float-accumulate", "yes")
    (site,) = judged(source.replace("add_rows::kernel>", "other::kernel>"))
    assert site[1].verdict == "depends"


def test_a_macro_that_registers_in_a_module() -> None:
    macro = """
    #include <torch/extension.h>
    #define SCATTER_PYBIND              \\
        m.def("scatter",                \\
              &scatter_launcher,        \\
              py::arg("x"));
    """
    used = '#include "ops.h"\nPYBIND11_MODULE(core, m) { SCATTER_PYBIND; }\n'
    assert only({"csrc/scatter.cu": KERNEL, "csrc/ops.h": macro, "csrc/bind.cpp": used}).name == "core.scatter"
    assert (
        ops({"csrc/scatter.cu": KERNEL, "csrc/ops.h": macro, "csrc/bind.cpp": used.replace("SCATTER_PYBIND;", "")})
        == []
    )


def test_a_lambda_of_the_same_name_is_another_function() -> None:
    bind = """
    #include <torch/extension.h>
    namespace sorting {
    __global__ void sort_kernel(int* n) { atomicAdd(n, 1); }
    template <int N> inline void launch(int* n) { sort_kernel<<<1, N>>>(n); }
    }
    void run(at::Tensor x) {
      LAMBDA
      launch(x.data_ptr<int>());
    }
    PYBIND11_MODULE(core, m) { m.def("run", &run); }
    """
    assert ops({"bind.cu": bind.replace("LAMBDA", "auto launch = [&](auto p) { copy<<<1, 4>>>(p); };")}) == []
    assert only({"bind.cu": bind.replace("LAMBDA", "")}).name == "core.run"


def test_a_class_of_torchscript_that_a_global_registers() -> None:
    scripted = (
        HEAD
        + """
struct Mesh : torch::CustomClassHolder { void scatter(at::Tensor x) { scatter_launcher(x, x); } };
static auto registered = torch::jit::class_<Mesh>("shapes", "Mesh")
  .def(torch::jit::init<int64_t>())
  .def("scatter", &Mesh::scatter);
"""
    )
    op = only({"csrc/scatter.cu": KERNEL, "csrc/mesh.cpp": scripted})
    assert (op.name, op.chain[-1].text) == (
        "torch.classes.shapes.Mesh.scatter",
        "bound as `torch.classes.shapes.Mesh.scatter`",
    )
    spaced = scripted.replace("class_<Mesh>", "class_ <Mesh>")
    assert only({"csrc/scatter.cu": KERNEL, "csrc/mesh.cpp": spaced}).name == op.name


CHAINED = SHAPES.replace(
    '  auto mesh = static_cast<py::class_<Mesh, std::shared_ptr<Mesh>>>(m_shapes.attr("Mesh"));\n  mesh.def(',
    '  py::class_<Mesh> mesh(m_shapes, "Mesh");\n  mesh.def_readonly("n", &Mesh::n)\n    .def(',
).replace(', "n"_a);\n  mesh.def("scatter"', ', "n"_a)\n    .def("scatter"')


def test_definitions_that_go_on_with_what_a_statement_begins_with() -> None:
    assert CHAINED.count("mesh.") == 2
    assert only({**FILES, "csrc/shapes.cpp": CHAINED}).name == "core.t.shapes.Mesh.scatter"


def test_tensorflow_ops_beside_a_module_of_pybind() -> None:
    custom = 'REGISTER_KERNEL_BUILDER(Name("Data").Device(DEVICE_CPU), DataOp);\n'
    module = (
        "#include <pybind11/pybind11.h>\nvoid scatter_launcher(float* x, float* out);\n"
        'PYBIND11_MODULE(shapes, m) { m.def("scatter", &scatter_launcher); }\n'
    )
    assert only({"csrc/scatter.cu": KERNEL, "csrc/bind.cpp": module, "tf/data.cc": custom}).name == "shapes.scatter"
    kernel = "\n".join(line for line in KERNEL.splitlines() if "#include <torch" not in line)
    own = {"csrc/scatter.cu": kernel, "csrc/bind.cpp": module}
    assert len(ops(own)) == 1
    assert ops({**own, "tensorflow/core/op.cc": custom}) == []


def test_a_kernel_calls_no_function_of_the_host_and_a_reference_makes_no_object() -> None:
    host = HEAD + "at::Tensor gemm(at::Tensor x, at::Tensor y) { scatter_launcher(x, y); return x; }\n"
    other = (
        "#include <torch/extension.h>\n"
        "__global__ void rotate(float* x) { gemm(mma, x); }\nvoid run(at::Tensor x) { rotate<<<1, 32>>>(x.data_ptr<float>()); }\n"
        'PYBIND11_MODULE(rotating, m) { m.def("rotate", &run); }\n'
    )
    assert ops({"csrc/scatter.cu": KERNEL, "csrc/gemm.cpp": host, "csrc/rotate.cu": other}) == []
    refers = (
        HEAD
        + "struct Overlap { Overlap(at::Tensor x) { scatter_launcher(x, x); } void wait() {} };\n"
        + "void ready(Overlap& one) { one.wait(); }\nvoid make(at::Tensor x) { Overlap one(x); }\n"
        + 'PYBIND11_MODULE(overlapping, m) { m.def("ready", &ready); m.def("make", &make); }\n'
    )
    assert only({"csrc/scatter.cu": KERNEL, "csrc/bind.cpp": refers}).name.endswith("make")
