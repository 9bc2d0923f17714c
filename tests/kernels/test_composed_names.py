"""Functions of compiled modules under names that Python puts together, and which module a source belongs to."""

from __future__ import annotations

import pytest

from .torch_programs import ops

_BOUND = """
    #include <torch/extension.h>
    __global__ void k(float* o, const float* a) { atomicAdd(o, a[threadIdx.x]); }
    void render_fast_backward(at::Tensor x) { k<<<1, 32>>>(x.data_ptr<float>(), x.data_ptr<float>()); }
    void render_fast(at::Tensor x) { k<<<1, 32>>>(x.data_ptr<float>(), x.data_ptr<float>()); }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
      m.def("render_fast_backward", &render_fast_backward);
      m.def("render_fast", &render_fast);
    }
"""
_SETUP = (
    "from torch.utils.cpp_extension import CUDAExtension\nsetup(ext_modules=[CUDAExtension('pkg._C', ['csrc/a.cu'])])"
)


@pytest.mark.parametrize("asked", ["_C.__dict__[{}]", "getattr(_C, {})", "vars(_C)[{}]"])
@pytest.mark.parametrize(
    "name", ['f"render_{%s}%s"', '"render_" + %s + "%s"', '"render_%%s%s" %% %s', '"render_{}%s".format(%s)']
)
@pytest.mark.parametrize("before", [False, True])
def test_a_look_up_by_a_name_with_a_hole(asked: str, name: str, before: bool) -> None:
    """As it stands, or set to a variable of the function before."""

    def put(kind: str, ending: str) -> str:
        return name % ((ending, kind) if "%%" in name or "format" in name else (kind, ending))

    backward = asked.format("name" if before else put("ctx.kind", "_backward"))
    forward = asked.format("name" if before else put("kind", ""))
    found = {
        op.name: op
        for op in ops({
            "setup.py": _SETUP,
            "csrc/a.cu": _BOUND,
            "pkg/__init__.py": "from .ops import render\n",
            "pkg/ops.py": f"""
import torch
from pkg import _C
class _Render(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kind):
        ctx.kind = kind
        name = {put("kind", "")}
        return {forward}(x)
    @staticmethod
    def backward(ctx, g):
        name = {put("ctx.kind", "_backward")}
        return {backward}(g), None
def render(x, kind):
    return _Render.apply(x, kind)
def label(kind):
    return names[f"render_{{kind}}_backward"]
""",
        })
    }  # fmt: skip
    assert found["pkg._C.render_fast_backward"].direction == "backward"
    assert found["pkg._C.render_fast"].direction == "forward"
    assert all("pkg.render" in op.python and "pkg.ops.label" not in op.python for op in found.values())


_CMAKE = "class CMakeExtension(Extension):\n    pass\nsetup(ext_modules=[CMakeExtension('inference')])\n"
_LOADED = """
import torch
from pkg.build import Builder
module = Builder().load()
class Render(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ours = module
        return ours.render_fast(x)
    @staticmethod
    def backward(ctx, g):
        ours = module
        return ours.render_fast_backward(g)
"""


@pytest.mark.parametrize(
    ("cmake", "name"),
    [
        ("", "render_fast_backward"),
        ("add_definitions(-DTORCH_EXTENSION_NAME=${NAME})", "inference.render_fast_backward"),
    ],
)
def test_a_module_of_cmake_does_not_set_the_name_of_an_extension(cmake: str, name: str) -> None:
    found = ops({
        "setup.py": _CMAKE,
        "CMakeLists.txt": cmake,
        "csrc/a.cu": _BOUND,
        "pkg/__init__.py": "",
        "pkg/ops.py": _LOADED,
    })  # fmt: skip
    backward = next(op for op in found if "backward" in op.name)
    assert backward.name == name
    assert "pkg.ops.Render.apply" in backward.python and backward.direction == "backward"


@pytest.mark.parametrize(
    "name",
    ['f"sum_{kind}"', '"sum_" + kind', '"sum_" + {"f": "float", "d": "double"}[kind]'],
)
@pytest.mark.parametrize("look_up", ["module.get_function({})", "cupy.RawKernel(CODE, {})"])
@pytest.mark.parametrize("before", [False, True])
def test_kernels_of_modules_by_composed_names(name: str, look_up: str, before: bool) -> None:
    look_up = look_up.format("name" if before else name)
    found = ops({
        "pkg/__init__.py": "",
        "pkg/kern.cu": """
            extern "C" __global__ void sum_float(float* o, const float* x) { atomicAdd(o, x[threadIdx.x]); }
            extern "C" __global__ void scan_float(float* o, const float* x) { atomicAdd(o, x[threadIdx.x]); }
        """,
        "pkg/sums.py": f"""
import cupy
CODE = open("kern.cu").read()
module = cupy.RawModule(path="kern.cubin")
def total(x, o, kind):
    name = {name}
    kernel = {look_up}
    kernel((1,), (1,), (o, x))
""",
    })  # fmt: skip
    assert [(op.name, op.python) for op in found] == [("pkg.sums.total", ("pkg.sums.total",))]
