"""Ops that Python calls in a shared library by their plain names (``ctypes``, ``cffi``), and XLA's custom calls."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import KernelOp

from .torch_programs import only
from .torch_programs import ops as reached

KERNEL = """
__global__ void scat(float* o, const int* i, const float* v) { atomicAdd(&o[i[threadIdx.x]], v[threadIdx.x]); }
extern "C" void pkg_scatter(float* o, const int* i, const float* v) { scat<<<1, 256>>>(o, i, v); }
"""


def ops(**files: str) -> tuple[KernelOp, ...]:
    data = {"k.cu": KERNEL.encode(), "pkg/__init__.py": b""}
    data |= {f"pkg/{name}.py": text.encode() for name, text in files.items()}
    return scan(Repository(data, lambda path: data[path])).ops


@pytest.mark.parametrize(
    "loads, call",
    [
        ("import ctypes\nlib = ctypes.CDLL('libk.so')", "lib.pkg_scatter(o, i, v)"),
        ("import ctypes\nlib = ctypes.cdll.LoadLibrary('libk.so')", "lib['pkg_scatter'](o, i, v)"),
        ("from cffi import FFI\nffi = FFI()\nlib = ffi.dlopen('libk.so')", "lib.pkg_scatter(o, i, v)"),
        ("import ctypes\nlib = ctypes.CDLL('libk.so')", "getattr(lib, 'pkg_scatter')(o, i, v)"),
    ],
)
def test_a_function_of_a_library(loads: str, call: str) -> None:
    (op,) = ops(ops=f"{loads}\ndef scatter(o, i, v):\n    {call}\n")
    assert (op.name, op.python) == ("pkg.ops.scatter", ("pkg.ops.scatter",))
    assert [step.text for step in op.chain][-2:] == ["exported as `pkg_scatter`", "Python `scatter`"]


def test_the_library_is_loaded_in_another_module() -> None:
    (op,) = ops(
        native="import ctypes\nlib = ctypes.CDLL('libk.so')\n",
        ops="from .native import lib\ndef scatter(o, i, v):\n    lib.pkg_scatter(o, i, v)\n",
    )
    assert op.name == "pkg.ops.scatter"


@pytest.mark.parametrize(
    "text",
    [
        "def scatter(o, i, v):\n    o.pkg_scatter(o, i, v)\n",  # nothing here loads a library
        "import ctypes\nlib = ctypes.CDLL('libk.so')\ndef scatter(o):\n    lib.another(o)\n",
        "import ctypes\nlib = ctypes.CDLL('libk.so')\ndef about():\n    return 'pkg_scatter'\n",
    ],
)
def test_what_calls_no_function_of_the_library(text: str) -> None:
    assert ops(ops=text) == ()


def test_custom_calls_of_xla() -> None:
    source = """
#include "xla/ffi/api/ffi.h"
__global__ void scat(float* o, const int* i) { atomicAdd(&o[i[threadIdx.x]], .5f * threadIdx.x); }
ffi::Error Impl(cudaStream_t s, ffi::Buffer<ffi::S32> i) { scat<<<1, 256, 0, s>>>(o(), i.typed_data()); return ok(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scat, Impl, ffi::Ffi::Bind());
void older(cudaStream_t s, void** b) { scat<<<1, 256, 0, s>>>((float*)b[1], (int*)b[0]); }
XLA_REGISTER_CUSTOM_CALL_TARGET(older, "CUDA");
"""
    python = """
import jax
jax.ffi.register_ffi_target("pkg_scatter", jax.ffi.pycapsule(lib.Scat), platform="CUDA")
def scatter(i):
    return jax.ffi.ffi_call("pkg_scatter", i)(i)
"""
    data = {"k.cu": source.encode(), "ops.py": python.encode()}
    found = scan(Repository(data, lambda path: data[path])).ops
    assert {op.name: op.python for op in found} == {"Scat": ("ops.scatter",), "older": ()}


def test_an_op_is_called_after_the_function_that_calls_the_library() -> None:
    (op,) = ops(
        ops="import ctypes\nlib = ctypes.CDLL('libk.so')\n"
        "def scatter(o, i, v):\n    lib.pkg_scatter(o, i, v)\n"
        "def a_user(o, i, v):\n    scatter(o, i, v)\n"
    )
    assert op.name == "pkg.ops.scatter"


def test_functions_whose_names_a_macro_pastes() -> None:
    kernel = """
        template <typename T, int N> __global__ void kStep(T* p, float* norm) { atomicAdd(norm, 1.f); }
        template __global__ void kStep<float, 1>(float*, float*);
    """
    launch = """
        #include "kernels.cuh"
        template <typename T, int N> void step(T* p, float* norm) { kStep<T, N><<<1, 32>>>(p, norm); }
    """
    bind = """
        #define MAKE_STEP(name, number, type, bits) \\
        void name##_step_##bits(type* p, float* norm) { step<type, number>(p, norm); } \\

        MAKE_STEP(adam, 1, float, 32)
        MAKE_STEP(lion, 2, half, 16)
        extern "C" {
          #define MAKE_C(name, type, bits) \\
          void c##name##_step_##bits(type* p, float* norm) { name##_step_##bits(p, norm); }
          MAKE_C(adam, float, 32)
          MAKE_C(lion, half, 16)
        }
    """
    python = """
        import ctypes
        lib = ctypes.CDLL("step.so")
        steps = {"adam": (lib.cadam_step_32,)}
        def update(name, p, norm):
            steps[name][0](p, norm)
    """
    found = only({
        "csrc/kernels.cu": kernel, "csrc/kernels.cuh": "template <typename T, int N> __global__ void kStep(T*, float*);",
        "csrc/launch.cu": launch, "csrc/bind.cpp": bind, "pkg/__init__.py": "", "pkg/optim.py": python,
    })  # fmt: skip
    assert found.name == "pkg.optim.update"
    assert [s.text for s in found.chain] == [
        "kernel `kStep`", "launched in `step`", "called in `adam_step_32`", "called in `cadam_step_32`",
        "exported as `cadam_step_32`", "table `steps`", "Python `update`",
    ]  # fmt: skip
    assert found.chain[2].location.line == 5


@pytest.mark.parametrize(
    "taken, name",
    [
        ('_kernel = cp.RawModule(code=open("k.cu").read()).get_function("splat")', "pkg.ops.scatter"),
        ('_kernel = cp.RawKernel(open("k.cu").read(), "splat")', "pkg.ops.scatter"),
        ('_kernel = cp.RawKernel(open("k.cu").read(), "other")', ""),
        ('_kernel = table.get("splat")', ""),
    ],
)
def test_a_kernel_of_a_source_that_cupy_compiles(taken: str, name: str) -> None:
    found = reached({
        "pkg/k.cu": 'extern "C" __global__ void splat(float* out) { atomicAdd(out, 1.f); }\n', "pkg/__init__.py": "",
        "pkg/ops.py": f"import cupy as cp\n{taken}\ndef scatter(x):\n    _kernel((1,), (32,), (x,))\n",
    })  # fmt: skip
    assert [op.name for op in found] == ([name] if name else [])


@pytest.mark.parametrize(
    "named, name",
    [
        ('f"grid::splat<{width}>"', "pkg.ops.scatter"),
        ('"splat<4>"', "pkg.ops.scatter"),
        ('"splat"', ""),
        ('"grid::splats<4>"', ""),
    ],
)
def test_a_kernel_that_is_compiled_by_its_name_in_c(named: str, name: str) -> None:
    found = reached({
        "pkg/k.cuh": "namespace grid { template <int N> __global__ void splat(float* o) { atomicAdd(o, N * 1.5f); } }\n",
        "pkg/__init__.py": "",
        "pkg/cache.py": "def compiled(name, code):\n"
        '    return Program(code, "c++").compile("cubin", name_expressions=(name,)).get_kernel(name)\n',
        "pkg/ops.py": "from pkg.cache import compiled\n"
        f"def scatter(x, width):\n    launch(compiled({named}, CODE), x)\n",
    })  # fmt: skip
    assert [op.name for op in found] == ([name] if name else [])


def test_functions_in_c_that_pytorch_binds_by_cffi() -> None:
    """``torch.utils.ffi`` of PyTorch before 1.0: a module of all functions in the C sources that it is built of."""
    files = {
        "roi/build.py": """
            from torch.utils.ffi import create_extension
            sources = ['src/roi.c']
            ffi = create_extension('_ext.roi', headers=['src/roi.h'], sources=sources, relative_to=__file__)
        """,
        "roi/__init__.py": "",
        "roi/functions.py": """
            from torch.autograd import Function
            from ._ext import roi
            class RoI(Function):
                def forward(self, x):
                    roi.roi_forward(x)
                def backward(self, grad):
                    roi.roi_backward(grad)
        """,
        "roi/src/roi.c": """
            #include <THC/THC.h>
            #include "kernel.h"
            static int helper(THCudaTensor *grad) { Launch(THCudaTensor_data(state, grad), 1); return 1; }
            int roi_backward(THCudaTensor *grad) { return helper(grad); }
            int roi_forward(THCudaTensor *x) { return 1; }
        """,
        "roi/src/kernel.cu": """
            __global__ void add(float *out) { atomicAdd(out, 1.5f * threadIdx.x); }
            #ifdef __cplusplus
            extern "C" {
            #endif
            int Launch(float *out, int n) { add<<<1, n>>>(out); return 1; }
            #ifdef __cplusplus
            }
            #endif
        """,
    }
    op = only(files)
    assert (op.name, op.direction) == ("_ext.roi.roi_backward", "backward")
    assert "roi.functions.RoI.apply" in op.python
    assert reached({**files, "roi/build.py": ""}) == []
