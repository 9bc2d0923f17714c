"""From what a PyTorch extension or ATen registers to the names under which Python meets it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .torch_programs import KERNEL, PYTHON, only, ops


def test_pybind_and_an_autograd_function() -> None:
    op = only({
        **PYTHON,
        "csrc/scatter.cu": KERNEL,
        "csrc/bind.cpp": """
            #include <torch/extension.h>
            void scatter_launcher(at::Tensor x, at::Tensor out);
            void scatter_backward(at::Tensor x, at::Tensor out) { scatter_launcher(x, out); }
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
              // m.def("commented", &scatter_backward);
              m.def("scatter_backward", &scatter_backward, "backward; of scatter", py::arg("x"), py::arg("out"));
              m.def("version", []() { return 1; });
            }
        """,
    })  # fmt: skip
    assert (op.name, op.framework, op.direction) == ("pkg._ext.scatter_backward", "torch", "backward")
    assert op.gradient_of == ("pkg.ops.ScatterFunction",)
    assert op.python == (
        "pkg.Scatter", "pkg.scatter", "pkg.ops.Scatter", "pkg.ops.scatter", "pkg.ops.ScatterFunction.apply",
        "pkg._ext.scatter_backward",
    )  # fmt: skip
    assert [(s.location.path, s.location.line, s.text) for s in op.chain] == [
        ("csrc/scatter.cu", 4, "kernel `scatter_kernel`"),
        ("csrc/scatter.cu", 10, "launched in `scatter_launcher`"),
        ("csrc/bind.cpp", 4, "called in `scatter_backward`"),
        ("csrc/bind.cpp", 7, "bound as `scatter_backward`"),
        ("pkg/ops.py", 9, "`ScatterFunction.backward`"),
        ("pkg/ops.py", 26, "alias `scatter`"),
    ]
    assert len(op.sites) == 1 and op.guard.level == "none"


def test_each_kernel_has_its_own_way_and_is_launched_where_it_runs() -> None:
    op = only({
        "csrc/pool.cu": """
            #include <torch/extension.h>
            template <typename T> __global__ void pool(T* a) { atomicAdd(a, 1.f * threadIdx.x); }
            template <typename T> __global__ void pool_nhwc(T* a) { atomicAdd(a, 2.f * threadIdx.x); }
            void run(at::Tensor x, bool nhwc) {
              cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void*) pool<float>, 0, 1024);
              if (nhwc)
                pool_nhwc<scalar_t>
                    <<<grid, block>>>(x.data_ptr<scalar_t>());
              else
                pool<scalar_t><<<grid, block>>>(x.data_ptr<scalar_t>());
            }
            PYBIND11_MODULE(_C, m) { m.def("run", &run); }
        """,
    })  # fmt: skip
    ways = [[(s.location.line, s.text) for s in op.chain_from(site)] for site in op.sites]
    assert ways == [
        [(3, "kernel `pool`"), (11, "launched in `run`"), (13, "bound as `run`")],
        [(4, "kernel `pool_nhwc`"), (8, "launched in `run`"), (13, "bound as `run`")],
    ]


def test_a_bound_class() -> None:
    op = only({
        "pkg/__init__.py": "",
        "pkg/render.py": """
            from pkg import _C
            class Renderer:
                def __init__(self):
                    self.native = _C.Renderer()
        """,
        "csrc/render.cu": """
            #include <torch/extension.h>
            __global__ void draw_kernel(float* a) { atomicAdd(a, 1.f * threadIdx.x); }
            struct Renderer {
              void draw(at::Tensor x) { draw_kernel<<<1, 32>>>(x.data_ptr<float>()); }
              int width() const { return 1; }
            };
            PYBIND11_MODULE(_C, m) {
              py::class_<Renderer, std::shared_ptr<Renderer>>(m, "Renderer")
                  .def("__repr__", [](const Renderer& self) { std::string text; return text; })
                  .def("width", &Renderer::width)
                  .def("draw", &Renderer::draw);
            }
        """,
    })  # fmt: skip
    assert op.name == "pkg._C.Renderer.draw" and op.python == ("pkg.render.Renderer", "pkg._C.Renderer.draw")


def test_generic_names_need_the_right_module() -> None:
    files = {
        "setup.py": """
            setup(ext_modules=[CUDAExtension("one_cuda", ["one/one.cpp"]), CUDAExtension("two_cuda", ["two/two.cpp"])])
        """,
        "one/one.cpp": KERNEL
        + """
    void forward(at::Tensor x) { scatter_launcher(x, x); }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
    """,
        "two/two.cpp": """
            #include <torch/extension.h>
            void forward(at::Tensor x) {}
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
        """,
        "use.py": """
            import one_cuda, two_cuda
            def first(x): return one_cuda.forward(x)
            def second(x): return two_cuda.forward(x)
            class Net:
                def third(self, x): return self.forward(x)
        """,
    }
    op = only(files)
    assert op.name == "one_cuda.forward" and op.python == ("use.first", "one_cuda.forward")


def test_registered_gradients_and_looked_up_operators() -> None:
    op = only({
        "pkg/__init__.py": "from .ops import gather",
        "pkg/ops.py": """
            import torch
            def _backward(ctx, grad):
                return getattr(torch.ops.pkg, "gather_backward")(grad)
            torch.library.register_autograd("pkg::gather", _backward)
            @torch.library.register_fake("pkg::gather_backward")
            def _(grad):
                return grad
            def gather(x):
                return torch.ops.pkg.gather(x)
        """,
        "csrc/op.cu": KERNEL + """
    at::Tensor gather_backward(at::Tensor x) { scatter_launcher(x, x); return x; }
    TORCH_LIBRARY(pkg, m) { m.def("gather(Tensor x) -> Tensor"); m.def("gather_backward", gather_backward); }
    """,
    })  # fmt: skip
    assert (op.direction, op.gradient_of) == ("backward", ("pkg::gather",))


def test_the_gradient_of_an_operator_by_its_name() -> None:
    op = only({
        "pkg/__init__.py": "",
        "pkg/ops.py": "import torch\ndef gather(x):\n    return torch.ops.pkg.gather(x)\n",
        "csrc/op.cu": KERNEL + """
    at::Tensor gather_bwd(at::Tensor x) { scatter_launcher(x, x); return x; }
    TORCH_LIBRARY(pkg, m) { m.def("gather(Tensor x) -> Tensor"); m.def("gather_bwd", gather_bwd); }
    """,
    })  # fmt: skip
    assert (op.direction, op.gradient_of) == ("backward", ("pkg::gather",))
    assert op.python == ("pkg.ops.gather", "torch.ops.pkg.gather", "torch.ops.pkg.gather_bwd")


def test_a_helper_of_a_function_class_is_no_use_of_it() -> None:
    op = only({
        **PYTHON,
        "pkg/other.py": """
            from .ops import ScatterFunction
            class OtherFunction(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return ScatterFunction.helper(x)
        """,
        "csrc/bind.cpp": KERNEL + """
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter_forward", &scatter_launcher); }
    """,
    })  # fmt: skip
    assert op.python[0] == "pkg.Scatter" and not any("Other" in name for name in op.python)


ATEN = {
    "aten/src/ATen/native/native_functions.yaml": """
        # comment
        - func: put_rows(Tensor self, Tensor index) -> Tensor
          variants: function, method
          dispatch:
            CPU: put_rows_cpu
            CUDA: put_rows_cuda  # note
        - func: resize_down_backward.grad_input(Tensor grad, *, Tensor(a!) grad_input) -> Tensor(a!)
          python_module: nn
          structured: True
          dispatch:
            CPU: resize_down_backward_out_cpu
            CUDA: resize_down_backward_out_cuda
        - func: resize_down(Tensor self) -> Tensor
          python_module: nn
          dispatch:
            CPU, CUDA: resize_down
        - func: pick(Tensor self, Tensor index) -> Tensor
          variants: function
          dispatch:
            CUDA: pick_cuda
          tags: core
    """,
    "tools/autograd/derivatives.yaml": """
        - name: resize_down(Tensor self) -> Tensor
          self: resize_down_backward(grad, self.sym_sizes())
        - name: pick(Tensor self, Tensor index) -> Tensor
          self: put_rows(grad,
              index)
          index: non_differentiable
    """,
}


REGISTRY = """
    #include <torch/extension.h>
    struct ScatterPlugin { int enqueue(float* x) { scatter_launcher(x, x); return 0; } };
    struct ScatterCreator { void* create(float* x) { auto* made = new ScatterPlugin(); made->enqueue(x); return made; } };
    template <typename Creator> void enter(Registry& all) { all.add(std::make_unique<Creator>()); }
    void init_plugins() { enter<ScatterCreator>(registry()); }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("init_plugins", &init_plugins); }
"""


def test_what_puts_a_class_into_a_registry_calls_no_method_of_it() -> None:
    python = {"pkg/__init__.py": "from . import _ext\n_ext.init_plugins()\n"}
    assert ops({**python, "csrc/scatter.cu": KERNEL, "csrc/bind.cpp": REGISTRY}) == []
    calls = REGISTRY.replace("all.add(std::make_unique<Creator>());", "Creator one; one.create(all.values());")
    assert len(ops({**python, "csrc/scatter.cu": KERNEL, "csrc/bind.cpp": calls})) == 1
    through = REGISTRY.replace(
        "template <typename Creator> void enter(Registry& all) { all.add(std::make_unique<Creator>()); }",
        "template <typename C> void put(Registry& all) { C one; one.create(all.values()); }\n"
        "    template <typename Creator> void enter(Registry& all) { put<Creator>(all); }",
    )
    assert len(ops({**python, "csrc/scatter.cu": KERNEL, "csrc/bind.cpp": through})) == 1


OVERLOADED = """
    #include <torch/extension.h>
    float scatter_launcher(at::Tensor x);
    void forward(at::Tensor x, at::Tensor out) { scatter_launcher(ARGUMENTS); }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.mark.parametrize(
    ("arguments", "declared", "found"),
    [
        ("x, out", "", True),
        ("x", "", False),
        ("x, out, x", "", False),
        ("x", "void scatter_launcher(at::Tensor x, at::Tensor out = at::Tensor());", True),
        ("x", "bool f(int a, int b) { return a == scatter_launcher(a, b == 0); }", False),
        ("given...", "", True),
        ("ARGUMENTS_OF_BOTH", "", True),
    ],
)
def test_a_call_with_another_number_of_arguments_is_one_of_another_function(
    arguments: str, declared: str, found: bool
) -> None:
    bind = OVERLOADED.replace("ARGUMENTS", arguments).replace("float scatter_launcher(at::Tensor x);", declared)
    assert bool(ops({**PYTHON, "csrc/scatter.cu": KERNEL, "csrc/bind.cpp": bind})) == found


def test_aten() -> None:
    found = ops({
        **ATEN,
        "aten/src/ATen/native/cuda/Rows.cu": """
            #include <ATen/ATen.h>
            namespace at::native {
            namespace {
            __global__ void put_kernel(float* a) { atomicAdd(a, 1.f * threadIdx.x); }
            void put_rows_kernel(TensorIterator& iter) { put_kernel<<<1, 32>>>(nullptr); }
            }
            REGISTER_DISPATCH(put_rows_stub, &put_rows_kernel)
            __global__ void resize_kernel(float* a) { atomicAdd(a, 1.f * threadIdx.x); }
            static void resize_template(const Tensor& g) { resize_kernel<<<1, 32>>>(nullptr); }
            TORCH_IMPL_FUNC(resize_down_backward_out_cuda)(const Tensor& grad, const Tensor& out) {
              globalContext().alertNotDeterministic("resize_down_backward_out_cuda");
              resize_template(grad);
            }
            }
        """,
        "torch/__init__.py": "",
        "torch/nn/__init__.py": "",
        "torch/nn/functional.py": """
            import torch
            def interpolate(x):
                return torch._C._nn.resize_down(x)
        """,
        "aten/src/ATen/native/Rows.cpp": """
            #include <ATen/ATen.h>
            namespace at::native {
            DEFINE_DISPATCH(put_rows_stub);
            Tensor put_rows_cuda(const Tensor& self, const Tensor& index) {
              put_rows_stub(self.device().type(), iter);
              return self;
            }
            }
        """,
    })  # fmt: skip
    shown = [(op.name, op.direction, op.python, op.gradient_of, op.guard.level) for op in found]
    assert shown == [
        ("aten::put_rows", "both", ("torch.put_rows", "torch.Tensor.put_rows", "torch.pick"), ("aten::pick",), "none"),
        (
            "aten::resize_down_backward",
            "backward",
            ("torch.nn.functional.interpolate",),
            ("aten::resize_down",),
            "throws",
        ),
    ]


def test_a_repository_without_pytorch_costs_nothing() -> None:
    assert (
        ops({"a.cu": '__global__ void k(float* a) { atomicAdd(a, 1.f); }\nPYBIND11_MODULE(x, m) { m.def("k", &k); }'})
        == []
    )


PIECES = ["#include <torch/x.h>\n", "void f() {", "}", "atomicAdd(", "(", ")", ";", "m.def(", '"f"', "&f", "TORCH_LIBRARY(p, m)",
          "{", "REGISTER_X(a, f)", "class A : public Function<A>", "static void backward()", "R\"(", "/*", "#define M f(\\\n",
          "<", "::", "PYBIND11_MODULE(x, m)", ".op(", "\n", "RegisterOperators()"]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=40),
    st.lists(st.sampled_from(["x.f(", ")", "\n", "class A:", " ", "def f"])),
)
def test_garbage_never_raises(code: list[str], python: list[str]) -> None:
    ops(
        {
            "a.cu": "#include <torch/x.h>\n" + "".join(code),
            "b.py": "".join(python),
            "setup.py": "Extension(" + "".join(python),
        }
    )
