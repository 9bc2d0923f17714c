"""Ops that other registries than PyTorch's name, and what does not lead to an op although it names a class."""

from __future__ import annotations

import pytest

from d9mlint.kernels.ops import own_ops
from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository

from .torch_programs import KERNEL, only, ops

PLAIN = KERNEL.replace("<torch/extension.h>", '"tensor.h"')
BIND = "csrc/bind.cpp"
HEAD = "#include <torch/extension.h>\nvoid scatter_launcher(at::Tensor x, at::Tensor out);\n"


@pytest.mark.parametrize(
    "bind, name, python, direction, gradient_of",
    [
        ("#include <nnvm/op.h>\nNNVM_REGISTER_OP(_contrib_scatter)\n.set_attr<FCompute>(\"FCompute<gpu>\", scatter_launcher);",
         "_contrib_scatter", ("mx.nd.contrib.scatter",), "forward", ()),
        ("#include <nnvm/op.h>\nNNVM_REGISTER_OP(_backward_scatter).set_attr<FCompute>(\"FCompute<gpu>\", scatter_launcher);",
         "_backward_scatter", ("mx.nd.scatter",), "backward", ("scatter",)),
        ("#include <dgl/runtime/registry.h>\nDGL_REGISTER_GLOBAL(\"sparse._CAPI_Scatter\")\n"
         ".set_body([](DGLArgs args, DGLRetValue* rv) { scatter_launcher(args[0], args[1]); });",
         "sparse._CAPI_Scatter", ("dgl.scatter",), "forward", ()),
        ("#include \"xla/ffi/api/ffi.h\"\nXLA_FFI_DEFINE_HANDLER_SYMBOL(ScatterHandler, scatter_launcher, Bind());",
         "ScatterHandler", (), "forward", ()),
    ],
)  # fmt: skip
def test_other_registries(
    bind: str, name: str, python: tuple[str, ...], direction: str, gradient_of: tuple[str, ...]
) -> None:
    op = only({
        "csrc/scatter.cu": PLAIN,
        BIND: bind,
        "dgl/__init__.py": "from .sparse import scatter\n",
        "dgl/sparse.py": "def scatter(x):\n    return _CAPI_Scatter(x, x)\n",
    })  # fmt: skip
    assert (op.name, op.framework, op.direction, op.gradient_of) == (name, "", direction, gradient_of)
    assert op.python[: len(python)] == python


def test_a_kernel_that_another_file_launches() -> None:
    op = only({
        "csrc/k.cu": "__global__ void AddKernel(float* p) { atomicAdd(p, 1.f); }",
        BIND: """
            #include <torch/extension.h>
            __global__ void AddKernel(float* p);
            void add(at::Tensor x) { cudaLaunchKernel((void*)AddKernel, 1, 1, args, 0, stream); }
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", &add); }
        """,
    })  # fmt: skip
    assert op.name.endswith("add")


BOUND = """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter", &scatter_launcher); }
"""
METHODS = """
struct Worker {
  Worker(int n);
  void reduce(at::Tensor x, at::Tensor out) { scatter_launcher(x, out); }
  int size() { return 1; }
};
"""


@pytest.mark.parametrize(
    "rest, reached",
    [
        # The class alone is no call of its methods: inherited, held, made.
        ("struct Other : public Worker { Other() : Worker(1) {} };\nvoid run_all(at::Tensor x) { Other o; }", False),
        ("void run_all(at::Tensor x) { std::shared_ptr<Worker> w; }", False),
        ("void run_all(at::Tensor x) { Worker w(2); w.size(); }", False),
        ("void run_all(at::Tensor x) { Worker w(2); w.reduce(x, x); }", True),
        ("void run_all(at::Tensor x) { run<Worker>(x); }", True),
        ("void run_all(at::Tensor x) { using W = std::conditional_t<true, Worker, int>; W::go(x); }", True),
        ("void run_all(at::Tensor x) { Base* w = new Worker(2); w->go(x); }", True),
    ],
)
def test_a_class_that_is_named_and_its_methods(rest: str, reached: bool) -> None:
    bind = f'{HEAD}{METHODS}{rest}\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("run_all", &run_all); }}'
    assert bool(ops({"csrc/scatter.cu": KERNEL, BIND: bind})) is reached


@pytest.mark.parametrize("name", ["get_scatter_workspace_size", "get_max_block_size", "fp4_gemm_tactic_num"])
def test_what_asks_for_a_size_or_number_launches_nothing(name: str) -> None:
    bind = f'{HEAD}PYBIND11_MODULE(x, m) {{ m.def("{name}", &scatter_launcher); }}'
    assert ops({"csrc/scatter.cu": KERNEL, BIND: bind}) == []


def test_an_op_that_asks_for_the_maximum_alone_does_not_vary() -> None:
    files = {
        "csrc/k.cu": """
            #include <torch/extension.h>
            enum ReductionType { SUM, MAX };
            template <typename T, ReductionType R> struct Reducer {
              static __device__ void write(T* p, T v) { if (R == SUM) atomicAdd(p, v); else atomicMax(p, v); }
            };
            template <typename T, ReductionType R> __global__ void k(T* out, const T* x, const int* at) {
              Reducer<T, R>::write(out + at[threadIdx.x], x[threadIdx.x]);
            }
            void reduce_cuda(at::Tensor x, at::Tensor out, std::string reduce) {
              if (reduce == "sum") k<float, SUM><<<1, 32>>>(out.data_ptr<float>(), x.data_ptr<float>(), i);
              else k<float, MAX><<<1, 32>>>(out.data_ptr<float>(), x.data_ptr<float>(), i);
            }
            void scatter_sum(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "sum"); }
            void scatter_max(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "max"); }
            void scatter_any(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "max"); reduce_cuda(x, out, "sum"); }
            TORCH_LIBRARY(pkg, m) { m.def("scatter_sum", &scatter_sum); m.def("scatter_max", &scatter_max);
              m.def("scatter_any", &scatter_any); }
        """,
    }
    data = {path: text.encode() for path, text in files.items()}
    found = scan(Repository(data, lambda path: data[path]))
    assert [op.name for op in own_ops(found)] == ["pkg::scatter_any", "pkg::scatter_sum"]


def test_a_macro_that_registers_in_a_library() -> None:
    bind = f"""{HEAD}
    #define DISPATCH_TO_CUDA(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::CUDA, TORCH_FN(function)))
    TORCH_LIBRARY_FRAGMENT(pkg, m) {{ DISPATCH_TO_CUDA("scatter", scatter_launcher); }}
    """
    assert [op.name for op in ops({"csrc/scatter.cu": KERNEL, BIND: bind})] == ["pkg::scatter"]


def test_a_table_of_functions_leads_on() -> None:
    op = only({
        "csrc/scatter.cu": KERNEL,
        BIND: HEAD + """
            std::map<std::string, Kernel> kernels() { return {{"scatter_v1", scatter_launcher}}; }
            void scatter(at::Tensor x) { kernels().at("scatter_v1")(x, x); }
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter", &scatter); }
        """,
    })  # fmt: skip
    assert op.name.endswith("scatter")


def test_two_modules_with_a_function_of_one_name() -> None:
    setup = """
        def make(name, module, sources):
            return CUDAExtension(name=module + "." + name, sources=sources)
        setup(ext_modules=[
            make_cuda_ext(name="one_cuda", module="pkg.one", sources=["src/api.cpp", "src/k.cu"]),
            make_cuda_ext(name="two_cuda", module="pkg.two", sources=["src/api.cpp", "src/k.cu"]),
        ])
    """
    files = {"setup.py": setup, "pkg/__init__.py": ""}
    for name in ("one", "two"):
        files |= {
            f"pkg/{name}/__init__.py": "",
            f"pkg/{name}/utils.py": f"from . import {name}_cuda as ops\ndef scatter(x):\n    return ops.scatter(x, x)\n",
            f"pkg/{name}/src/k.cu": KERNEL.replace("scatter_launcher", f"launch_{name}"),
            f"pkg/{name}/src/api.cpp": f"""
                #include <torch/extension.h>
                void launch_{name}(at::Tensor x, at::Tensor out);
                PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("scatter", &launch_{name}); }}
            """,
        }
    found = ops(files)
    assert {op.name: op.python for op in found} == {
        f"pkg.{name}.{name}_cuda.scatter": (f"pkg.{name}.utils.scatter", f"pkg.{name}.{name}_cuda.scatter")
        for name in ("one", "two")
    }


def test_functions_of_submodules() -> None:
    op = only({
        "csrc/scatter.cu": KERNEL,
        "setup.py": 'setup(ext_modules=[CUDAExtension("pkg._C", ["csrc/scatter.cu", "csrc/bind.cpp"])])',
        "pkg/__init__.py": "",
        "pkg/ops.py": "from pkg import _C\ndef scatter(x):\n    return _C.ops.sparse.scatter(x, x)\n",
        "pkg/other.py": "from pkg import _C\ndef dense(x):\n    return _C.ops.scatter(x, x)\n",
        BIND: HEAD + """
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
              auto ops = m.def_submodule("ops");
              py::module sparse = ops.def_submodule("sparse");
              sparse.def("scatter", &scatter_launcher);
            }
        """,
    })  # fmt: skip
    assert (op.name, op.python) == ("pkg._C.ops.sparse.scatter", ("pkg.ops.scatter", "pkg._C.ops.sparse.scatter"))


def test_a_template_with_the_name_of_an_atomic_is_not_what_others_call() -> None:
    """For CUDA's own types the function that is no template is called: who adds floats does not reach it."""
    own = "template <typename T> __device__ T atomicAdd(T* p, T v) { return atomicCAS((int*)p, 0, (int)v); }\n"
    files = {"csrc/own.cuh": own, "csrc/scatter.cu": '#include "own.cuh"\n' + KERNEL, BIND: HEAD + BOUND}
    data = {path: text.encode() for path, text in files.items()}
    found = scan(Repository(data, lambda path: data[path]))
    assert {op.name: {at.path for at in op.sites} for op in found.ops} == {"scatter": {"csrc/scatter.cu"}}


CYTHON = """
    from libc.stdint cimport uintptr_t
    from pkg.native cimport smooth as native_smooth

    cdef extern from "ml/scatter.hpp" namespace "ml::scatter" nogil:
        cdef void fit(
            float* out,
            int n) except +
        void other_fit "ml::elsewhere::fit"(float* out, int n) except +

    class Scatter:
        \"\"\"A class whose method calls C++: fit(x).\"\"\"
        def fit(self, x):
            self.fit(x)
            with nogil:
                fit(<float*>x, 3)
        def predict(self, x):
            other_fit(<float*>x, 3)

    def smooth(x):
        native_smooth(<float*>x)
"""
SCATTER = """
    #include <ml/scatter.hpp>
    namespace ml {
    namespace %s {
    __global__ void sum_kernel(float* out, int n) { atomicAdd(out, 1.f); }
    void fit(float* out, int n) { sum_kernel<<<1, n>>>(out, n); }
    }
    }
"""


def test_what_cython_calls() -> None:
    headers = {"include/ml/scatter.hpp": "namespace ml { namespace scatter { void fit(float* out, int n); } }\n"}
    files = {
        **headers, "pkg/__init__.py": "from pkg.scatter import Scatter\n", "pkg/scatter.pyx": CYTHON,
        "pkg/native.pxd": 'cdef extern from "ml/smooth.hpp":\n    void smooth(float* out)\n',
    }  # fmt: skip
    op = only({**files, "src/scatter.cu": SCATTER % "scatter"})
    assert op.name == "pkg.scatter.Scatter.fit" and op.python == ("pkg.Scatter.fit", "pkg.scatter.Scatter.fit")
    assert [s.text for s in op.chain][-2:] == ["launched in `fit`", "called from Cython in `Scatter.fit`"]
    assert op.chain[-1].location.line == 16
    op = only({**files, "src/scatter.cu": SCATTER % "elsewhere"})
    assert op.name == "pkg.scatter.Scatter.predict"
    third = SCATTER.replace("<ml/scatter.hpp>", "<ml/third.hpp>") % "scatter"
    assert only({**files, "src/scatter.cu": third}).name == "pkg.scatter.Scatter.fit"  # the header declares it
    assert ops({**files, "src/scatter.cu": third.replace("int n) { sum", "int n, int m) { sum")}) == []
    beside = SCATTER.replace("#include <ml/scatter.hpp>", "") % "scatter"  # it bears the name of its header
    assert only({**files, "include/ml/scatter.cu": beside}).name == "pkg.scatter.Scatter.fit"
    smooth = """
        #include "ml/smooth.hpp"
        __global__ void blur(float* p) { atomicAdd(p, 1.f); }
        void smooth(float* out) { blur<<<1, 2>>>(out); }
    """
    op = only({**files, "include/ml/smooth.hpp": "void smooth(float* out);\n", "src/smooth.cu": smooth})
    assert op.name == "pkg.scatter.smooth"


@pytest.mark.parametrize(
    "call, reached",
    [
        ("fit(x);", True),
        ("a::fit(x);", True),
        ("lib::a::fit<float>(x);", True),
        ("std::fit(x);", False),
        ("b::fit(x);", False),
        ("short_name::fit(x);", True),
    ],
)
def test_functions_of_one_name_in_two_namespaces(call: str, reached: bool) -> None:
    files = {
        "csrc/a.cu": """
            namespace lib { namespace a {
            __global__ void sum_kernel(float* out) { atomicAdd(out, 1.f); }
            template <typename T> void fit(at::Tensor x) { sum_kernel<<<1, 2>>>(x.data_ptr<float>()); }
            } }
        """,
        "csrc/b.cu": "namespace lib { namespace b { void fit(at::Tensor x) {} } }\n",
        BIND: f"""
            #include <torch/extension.h>
            namespace short_name = lib::a;
            namespace lib {{ namespace a {{ void run(at::Tensor x) {{ {call} }} }} }}
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("run", &lib::a::run); }}
        """,
    }
    assert bool(ops(files)) is reached
    inside = {**files, BIND: files[BIND].replace("namespace a {", "namespace b {").replace("a::run", "b::run")}
    assert bool(ops(inside)) is (reached and call != "fit(x);")


@pytest.mark.parametrize(
    "body, reached",
    [
        ("Dropout<float> d; d.apply_grad(x);", True),
        ("auto d = std::make_shared<Dropout<float>>(3); layers.push_back(d);", False),
        ("auto d = std::make_shared<Dropout<float>>(3); d->apply_grad(x);", True),
        ("setup(typename Dropout<float>::Config(3, 4));", False),
        ("Holder h(x);", False),
    ],
)
def test_who_makes_an_object_calls_none_of_its_methods(body: str, reached: bool) -> None:
    found = ops({
        "csrc/dropout.h": """
            #include <torch/extension.h>
            __global__ void grad_kernel(float* p) { atomicAdd(p, 1.f); }
            template <typename T> class Dropout {
             public:
              struct Config { int a; };
              void apply_grad(at::Tensor x) { grad_kernel<<<1, 2>>>(x.data_ptr<float>()); }
              void backward(at::Tensor x) { grad_kernel<<<1, 2>>>(x.data_ptr<float>()); }
            };
            struct Holder {
              Dropout<float>* made;
              Holder(at::Tensor x) : made(new Dropout<float>(x)) {}
            };
        """,
        BIND: f"""
            #include "dropout.h"
            void create(at::Tensor x) {{ {body} }}
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("create", &create); }}
        """,
    })  # fmt: skip
    assert bool(found) is reached


def test_a_registration_in_a_comment_is_none() -> None:
    op = only({
        "csrc/scatter.cu": KERNEL,
        BIND: HEAD + 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  // m.def("old",\n  m.def("scatter", &scatter_launcher);\n}\n',
    })  # fmt: skip
    assert op.name.endswith("scatter")


def test_a_macro_that_registers_functions_under_their_own_names() -> None:
    op = only({
        "csrc/scatter.cu": KERNEL,
        BIND: HEAD + """#define REG(name) m.def(#name, &name)
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  REG(scatter_launcher);
  // REG(old_launcher);
}
""",
    })  # fmt: skip
    assert op.name.endswith("scatter_launcher")
    assert op.chain[-1].text == "bound as `scatter_launcher`" and op.chain[-1].location.line == 5


def test_methods_that_cython_calls() -> None:
    """Of an object whose class the source declares; a method of that name of another class is none."""
    cython = """
        cdef extern from "ml/grid.hpp" namespace "ml":
            cdef cppclass Grid:
                Grid(int) except +
                void splat(float* out) nogil
            cdef cppclass Other:
                void splat(float* out)
            void splat(float* out)

        cdef class Field:
            cdef Grid* grid
            cdef Other other
            def add(self, x):
                self.grid.splat(<float*>x)
            def move(self, x):
                self.other.splat(<float*>x)
            def plain(self, x):
                splat(<float*>x)
    """
    kernel = """
        #include <ml/grid.hpp>
        __global__ void sum_kernel(float* out) { atomicAdd(out, 1.f); }
        namespace ml { void %s(float* out) { sum_kernel<<<1, 8>>>(out); } }
    """
    header = "namespace ml { struct Grid { void splat(float*); }; struct Other { void splat(float*); }; }\n"
    files = {"include/ml/grid.hpp": header, "pkg/__init__.py": "", "pkg/field.pyx": cython}
    assert only({**files, "src/grid.cu": kernel % "Grid::splat"}).name == "pkg.field.Field.add"
    assert only({**files, "src/grid.cu": kernel % "Other::splat"}).name == "pkg.field.Field.move"
    assert only({**files, "src/grid.cu": kernel % "splat"}).name == "pkg.field.Field.plain"
    assert ops({**files, "src/grid.cu": kernel % "Third::splat"}) == []
    below = {**files, "pkg/field.pyx": "IF HAVE_CUDA:\n" + cython.replace("\n", "\n    ")}
    assert only({**below, "src/grid.cu": kernel % "Grid::splat"}).name == "pkg.field.Field.add"


@pytest.mark.parametrize(("macro", "direction"), [("PD_BUILD_OP", "forward"), ("PD_BUILD_GRAD_OP", "backward")])
def test_ops_of_paddle(macro: str, direction: str) -> None:
    op = only({
        "csrc/scatter.cu": PLAIN,
        BIND: f"""
            #include "paddle/extension.h"
            std::vector<paddle::Tensor> Run(const paddle::Tensor& x) {{ scatter_launcher(x, x); return {{x}}; }}
            {macro}(scatter_add).Inputs({{"X"}}).Outputs({{"Out"}}).SetKernelFn(PD_KERNEL(Run));
        """,
        "pkg/__init__.py": "",
        "pkg/layers.py": "from scatter_ops import scatter_add\n\ndef pool(x):\n    return scatter_add(x)\n",
    })  # fmt: skip
    named = "scatter_add" if direction == "forward" else "scatter_add_grad"
    assert (op.name, op.direction, op.python) == (named, direction, ("pkg.layers.pool",))
    assert op.gradient_of == (() if direction == "forward" else ("scatter_add",))


@pytest.mark.parametrize(("module", "name"), [("_C", "_C.scatter"), ("ops", "ops.scatter"), ("MODULE_NAME", "scatter")])
def test_the_module_that_a_binding_names(module: str, name: str) -> None:
    """`_C` is a name and no macro."""
    op = only({
        "csrc/scatter.cu": PLAIN,
        BIND: f'#include <torch/extension.h>\nPYBIND11_MODULE({module}, m) {{ m.def("scatter", &scatter_launcher); }}',
        "pkg/use.py": "import os\n",
    })  # fmt: skip
    assert op.name == name


def test_each_reduction_reaches_its_own_atomic() -> None:
    """By the name that is handed on; what counts beside is kept for all."""
    source = b"""
        #include <torch/extension.h>
        enum ReductionType { SUM, MUL, MAX };
        template <typename T, ReductionType R> struct Reducer {
          static __device__ void write(T* p, T v) {
            if (R == SUM) atomicAdd(p, v);
            else if (R == MUL) atomMul(p, v);
            else atomicMax(p, v);
          }
        };
        template <typename T, ReductionType R> __global__ void k(T* out, const T* x, const int* at, int* count) {
          Reducer<T, R>::write(out + at[threadIdx.x], x[threadIdx.x]);
          atomicAdd(count, 1);
        }
        void reduce_cuda(at::Tensor x, at::Tensor out, std::string reduce) {
          DISPATCH(reduce, [&] { k<float, REDUCE><<<1, 32>>>(out.data_ptr<float>(), x.data_ptr<float>(), i, n); });
        }
        void scatter_mean(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "mean"); }
        void scatter_mul(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "mul"); }
        void scatter_max(at::Tensor x, at::Tensor out) { reduce_cuda(x, out, "max"); }
        TORCH_LIBRARY(pkg, m) { m.def("mean", &scatter_mean); m.def("mul", &scatter_mul); m.def("max", &scatter_max); }
    """
    found = scan(Repository({"k.cu": source}, lambda _: source)).sites
    told = [(site.atomic, [op.partition("::")[2] for op in site.ops]) for site in found if site.atomic != "write"]
    assert told == [
        ("atomicAdd", ["mean"]),
        ("atomMul", ["mul"]),
        ("atomicMax", ["max"]),
        ("atomicAdd", ["max", "mean", "mul"]),
    ]
