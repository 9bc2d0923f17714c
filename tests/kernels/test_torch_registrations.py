"""From an atomic up to what a PyTorch extension registers: callers, registrations, guards, C++ autograd."""

from __future__ import annotations

import pytest

from d9mlint.kernels.flow import Anchor
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import parsed

from .torch_programs import KERNEL, PYTHON, flow, only, ops


def test_a_device_registry_and_a_dispatcher() -> None:
    op = only({
        **PYTHON,
        "csrc/scatter.cu": KERNEL,
        "csrc/registry.hpp": "#define REGISTER_DEVICE_IMPL(key, device, value) Registry(key).add(device, value)",
        "csrc/cudabind.cpp": """
            #include "registry.hpp"
            void scatter_launcher(at::Tensor x, at::Tensor out);
            void scatter_forward_cuda(at::Tensor x, at::Tensor out) { scatter_launcher(x, out); }
            void scatter_forward_impl(at::Tensor x, at::Tensor out);
            REGISTER_DEVICE_IMPL(scatter_forward_impl, CUDA, scatter_forward_cuda);
        """,
        "csrc/scatter.cpp": """
            void scatter_forward_impl(at::Tensor x, at::Tensor out) {
              DISPATCH_DEVICE_IMPL(scatter_forward_impl, x, out);
            }
            void scatter_forward(at::Tensor x, at::Tensor out) { scatter_forward_impl(x, out); }
        """,
        "csrc/bind.cpp": """
            void scatter_forward(at::Tensor x, at::Tensor out);
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter_forward", &scatter_forward); }
        """,
    })  # fmt: skip
    assert (op.name, op.direction, op.gradient_of) == ("pkg._ext.scatter_forward", "forward", ())
    assert "registered for `scatter_forward_impl`" in [s.text for s in op.chain]


OPERATORS = [
    """
    TORCH_LIBRARY(pkg, m) { m.def("scatter(Tensor x) -> Tensor"); }
    TORCH_LIBRARY_IMPL(pkg, CUDA, m) { m.impl("scatter", &scatter_cuda); }
    """,
    """
    TORCH_LIBRARY(pkg, m) { m.def("scatter(Tensor x) -> Tensor", &scatter_cuda); }
    """,
    """
    TORCH_LIBRARY_FRAGMENT(pkg, m) { m.def("scatter", [](at::Tensor x) { return scatter_cuda(x); }); }
    """,
    """
    TORCH_LIBRARY_IMPL(pkg, CUDA, m) { m.impl(TORCH_SELECTIVE_NAME("pkg::scatter"), TORCH_FN(scatter_cuda)); }
    """,
    """
    static auto registry = torch::RegisterOperators().op("pkg::other", &other).op("pkg::scatter", &scatter_cuda);
    """,
    """
    void register_cuda(torch::Library& m) { m.impl("scatter", &scatter_cuda); }
    TORCH_LIBRARY_IMPL(pkg, CUDA, m) { register_cuda(m); }
    """,
]


@pytest.mark.parametrize("registration", OPERATORS)
def test_operators_of_the_dispatcher(registration: str) -> None:
    op = only({
        "pkg/__init__.py": "from .ops import *",
        "pkg/ops.py": """
            import torch
            def scatter_rows(x):
                return torch.ops.pkg.scatter(x)
            def scatter_mean(x):
                return scatter_rows(x) / 2
            def other(x):
                return torch.ops.elsewhere.scatter(x)
        """,
        "csrc/scatter.cu": KERNEL + f"""
    at::Tensor scatter_cuda(at::Tensor x) {{
      auto out = at::zeros_like(x);
      scatter_launcher(x, out);
      return out;
    }}
    {registration}
    """,
    })  # fmt: skip
    assert (op.name, op.direction) == ("pkg::scatter", "forward")
    assert op.python == (
        "pkg.scatter_mean", "pkg.scatter_rows", "pkg.ops.scatter_mean", "pkg.ops.scatter_rows", "torch.ops.pkg.scatter",
    )  # fmt: skip


def test_an_autograd_function_in_cpp() -> None:
    files = {
        "csrc/scatter.cu": KERNEL,
        "csrc/scatter.h": "#include <torch/extension.h>\nvoid scatter_launcher(at::Tensor x, at::Tensor out);\n",
        "csrc/op.cpp": """
            #include "scatter.h"
            class Gather : public torch::autograd::Function<Gather> {
             public:
              static variable_list forward(AutogradContext* ctx, Variable x) { return {x}; }
              static variable_list backward(AutogradContext* ctx, variable_list grads) {
                scatter_launcher(grads[0], grads[0]);
                return grads;
              }
            };
            PKG_API at::Tensor gather(at::Tensor x) {
              if (x.is_cuda()) return Gather::apply(x)[0];
              return x;
            }
            TORCH_LIBRARY(pkg, m) { m.def("gather", gather); }
        """,
    }
    op = only(files)
    assert (op.name, op.direction, op.gradient_of) == ("pkg::gather", "backward", ("pkg::gather",))
    assert op.python == ("torch.ops.pkg.gather",)
    files["csrc/op.cpp"] = files["csrc/op.cpp"].replace("{ return {x}; }", "{ scatter_launcher(x, x); return {x}; }")
    assert only(files).direction == "both"


def test_an_operator_called_by_its_name() -> None:
    found = ops({
        "csrc/scatter.cu": KERNEL + """
    at::Tensor backward_cuda(at::Tensor x) { scatter_launcher(x, x); return x; }
    TORCH_LIBRARY_IMPL(pkg, CUDA, m) { m.impl("_gather_backward", backward_cuda); }
    """,
        "csrc/autograd.cpp": """
            #include <torch/extension.h>
            namespace detail {
            at::Tensor _gather_backward(at::Tensor g) {
              static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("pkg::_gather_backward", "").typed<F>();
              return op.call(g);
            }
            }
            class GatherFunction : public torch::autograd::Function<GatherFunction> {
             public:
              static variable_list backward(AutogradContext* ctx, variable_list g) {
                return {detail::_gather_backward(g[0])};
              }
            };
            at::Tensor gather_autograd(at::Tensor x) { return GatherFunction::apply(x)[0]; }
            TORCH_LIBRARY_IMPL(pkg, Autograd, m) { m.impl("gather", gather_autograd); }
        """,
    })  # fmt: skip
    assert [(op.name, op.direction) for op in found] == [
        ("pkg::_gather_backward", "backward"),
        ("pkg::gather", "backward"),
    ]


@pytest.mark.parametrize(
    "before, level",
    [
        ('at::globalContext().alertNotDeterministic("scatter_cuda");', "throws"),
        ("if (at::globalContext().deterministicAlgorithms()) { return other(x); }", "other-path"),
        ("", "none"),
    ],
)
def test_guards_on_the_way(before: str, level: str) -> None:
    op = only({
        "csrc/scatter.cu": KERNEL,
        "csrc/op.cpp": f"""
            #include <torch/extension.h>
            void scatter_launcher(at::Tensor x, at::Tensor out);
            at::Tensor scatter(at::Tensor x) {{
              {before}
              scatter_launcher(x, x);
              return x;
            }}
            TORCH_LIBRARY(pkg, m) {{ m.def("scatter", scatter); }}
        """,
    })  # fmt: skip
    assert op.guard.level == level
    assert (op.guard.where is not None and op.guard.where.line == 5) == (level != "none")


def test_a_guard_in_the_function_of_the_anchor_itself() -> None:
    source = b"""#include <torch/extension.h>
at::Tensor pool(at::Tensor x) {
  at::globalContext().alertNotDeterministic("pool");
  return library(x);
}
TORCH_LIBRARY(pkg, m) { m.def("pool", pool); }
"""
    repository = Repository(["a.cpp"], lambda _: source)
    unit = repository.unit("a.cpp")
    assert unit is not None
    at = source.index(b"library(")
    place = unit.span(at, at + 7)
    (op,) = flow(repository, [Anchor(place, next(unit.functions()).name)])
    assert (op.name, op.guard.level, op.sites) == ("pkg::pool", "throws", (place,))


def test_one_unguarded_way_is_enough() -> None:
    op = only({
        "csrc/scatter.cu": KERNEL + """
    void careful(at::Tensor x) {
      at::globalContext().alertNotDeterministic("careful");
      scatter_launcher(x, x);
    }
    void careless(at::Tensor x) { scatter_launcher(x, x); }
    at::Tensor scatter(at::Tensor x) { careful(x); careless(x); return x; }
    TORCH_LIBRARY(pkg, m) { m.def("scatter", scatter); }
    """,
    })  # fmt: skip
    assert op.guard.level == "none" and "called in `careless`" in [s.text for s in op.chain]


def test_functors_macros_and_namesakes() -> None:
    found = ops({
        "csrc/functor.cuh": """
            #include <torch/types.h>
            template <typename T> struct Reducer {
              static __device__ T init() { return 0; }
              static __device__ void write(T* a, T v) { atomicAdd(a, v); }
            };
            #define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)
        """,
        "csrc/a.cu": """
            #include "functor.cuh"
            __global__ void k(float* a) { Reducer<float>::write(a, 1.f * threadIdx.x); }
            static void run(float* a) { LAUNCH(k, a); }
            void sum(at::Tensor x) { run(x.data_ptr<float>()); }
            PYBIND11_MODULE(a_ext, m) { m.def("sum", &sum); }
        """,
        "csrc/b.cu": """
            #include "functor.cuh"
            __global__ void k(float* a) { *a = Reducer<float>::init(); }
            static void run(float* a) { LAUNCH(k, a); }
            void zero(at::Tensor x) { run(x.data_ptr<float>()); }
            PYBIND11_MODULE(b_ext, m) { m.def("zero", &zero); }
        """,
    })  # fmt: skip
    assert [op.name for op in found] == ["a_ext.sum"]


def test_a_kernel_that_a_macro_makes() -> None:
    source = b"""#include <torch/extension.h>
#define KERNEL(name, op) __global__ void name##_kernel(float* a) { op(a, 1.f * threadIdx.x); }
KERNEL(total, atomicAdd)
void total(at::Tensor x) { total_kernel<<<1, 32>>>(x.data_ptr<float>()); }
TORCH_LIBRARY(pkg, m) { m.def("total", total); }
"""
    repository = Repository(["a.cu"], lambda _: source)
    made = parsed("a.cu", b"__global__ void total_kernel(float* a) { atomicAdd(a, 1.f * threadIdx.x); }", (3, 1))
    function = next(made.functions())
    (op,) = flow(repository, [Anchor(made.location(function.node), function.name, function.scope)])
    assert op.name == "pkg::total" and op.chain[0].location.line == 3


def test_a_variable_or_a_template_parameter_of_the_same_name_is_no_caller() -> None:
    op = only({
        "csrc/op.cu": KERNEL + """
    void total(at::Tensor x) { scatter_launcher(x, x); }
    void first(at::Tensor x) { int total = 1; x.mul_(total); }
    template <typename scatter_launcher> void second(at::Tensor x) { scatter_launcher(x).run(); }
    TORCH_LIBRARY(pkg, m) { m.def("total", &total); m.def("first", &first); m.def("second", &second<int>); }
    """,
    })  # fmt: skip
    assert op.name == "pkg::total"


MADE = """
    #include <torch/extension.h>
    #define STRINGFY(str) #str
    #define BIND(func) \\
      m.def(STRINGFY(func), &func, STRINGFY(func));
    __global__ void sum_f32_kernel(float* out, const int* at, float* x) { atomicAdd(&out[at[0]], x[threadIdx.x]); }
    __global__ void sum_f16_kernel(float* out, const int* at, half* x) { atomicAdd(&out[at[0]], 2.f * threadIdx.x); }
    #define MAKE_SUM(type, element) \\
      torch::Tensor sum_##type(torch::Tensor x) {  \\
        CHECK_TENSOR_DTYPE(x, (torch::kFloat32))   \\
        CHECK_TENSOR_SIZE(x)                       \\
        auto out = torch::zeros({1});              \\
        sum_##type##_kernel<<<1, 256>>>(out.data_ptr<float>(), at, reinterpret_cast<element*>(x.data_ptr())); \\
        return out;                                \\
      }

    MAKE_SUM(f32, float)
    MAKE_SUM(f16,
             half)

    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
      BIND(sum_f32)
      BIND(sum_f16)
    }
"""


def test_functions_and_registrations_that_macros_without_semicolons_make() -> None:
    found = ops({"pkg/__init__.py": "from . import _ext\n_ext.sum_f32(1)\n_ext.sum_f16(1)\n", "csrc/sum.cu": MADE})
    assert {(op.name, site.line) for op in found for site in op.sites} == {
        ("pkg._ext.sum_f32", 6),
        ("pkg._ext.sum_f16", 7),
    }


def test_a_method_of_the_own_class_is_meant_before_a_function_of_its_name() -> None:
    sources = {
        **PYTHON,
        "csrc/scatter.cu": KERNEL.replace("scatter_launcher", "gather"),
        "csrc/bind.cpp": """
            void gather(at::Tensor x, at::Tensor out);
            struct Buffer {
              void gather(at::Tensor x, at::Tensor out) { out.copy_(x); }
              void fill(at::Tensor x, at::Tensor out) { NAMED(x, out); }
            };
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
              pybind11::class_<Buffer>(m, "Buffer").def("fill", &Buffer::fill);
            }
        """,
    }
    assert ops({**sources, "csrc/bind.cpp": sources["csrc/bind.cpp"].replace("NAMED", "gather")}) == []
    found = ops({**sources, "csrc/bind.cpp": sources["csrc/bind.cpp"].replace("NAMED", "::gather")})
    assert [op.name for op in found] == ["pkg._ext.Buffer.fill"]


def test_folders_that_each_build_a_source_of_the_same_name() -> None:
    files: dict[str, str] = {}
    for size in ("two", "three"):
        files |= {
            f"{size}/setup.py": f"""
                from torch.utils.cpp_extension import CUDAExtension
                setup(ext_modules=[CUDAExtension("dist_{size}", [
                    "/".join(__file__.split("/")[:-1] + ["dist.cpp"]), "/".join(__file__.split("/")[:-1] + ["{size}.cu"])])])
            """,
            f"{size}/{size}.cu": f"""
                __global__ void {size}_kernel(float* out, const int* at) {{ atomicAdd(out + at[threadIdx.x], 0.5f); }}
                int grad_cuda(at::Tensor out) {{ {size}_kernel<<<1, 32>>>(out.data_ptr<float>(), nullptr); return 1; }}
            """,
            f"{size}/dist.cpp": """
                #include <torch/torch.h>
                int grad_cuda(at::Tensor out);
                int grad(at::Tensor out) { return grad_cuda(out); }
                PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &grad); }
            """,
        }
    assert {op.name: [s.path for s in op.sites] for op in ops(files)} == {
        "dist_two.backward": ["two/two.cu"], "dist_three.backward": ["three/three.cu"],
    }  # fmt: skip


def test_a_lambda_that_is_registered_applies_an_autograd_function() -> None:
    found = ops(
        {
            "fold.cu": """
                #include <torch/extension.h>
                __global__ void fold(float* p) { atomicAdd(p, 1.f * threadIdx.x); }
                class Fold : public torch::autograd::Function<Fold> {
                 public:
                  static Tensor forward(AutogradContext* ctx, Tensor x) { return x; }
                  static tensor_list backward(AutogradContext* ctx, tensor_list g) { fold<<<1, 32>>>(ptr(g)); return g; }
                };
                TORCH_LIBRARY_IMPL(shapes, AutogradCUDA, m) {
                  m.impl("fold", [](const Tensor& x) { return Fold::apply(x); });
                  m.impl("keep", [](const Tensor& x) { return Fold::name(x); });
                }
            """
        }
    )
    assert [(op.name, op.direction) for op in found] == [("shapes::fold", "backward")]
