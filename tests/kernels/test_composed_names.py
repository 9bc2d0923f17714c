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
def test_a_look_up_by_a_name_with_a_hole(asked: str) -> None:
    backward = asked.format('f"render_{ctx.kind}_backward"')
    forward = asked.format('f"render_{kind}"')
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
        return {forward}(x)
    @staticmethod
    def backward(ctx, g):
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
