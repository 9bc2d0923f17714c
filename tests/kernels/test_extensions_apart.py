"""Several extensions of one repository: modules of CMake, sources of `load`, functions of one name in each."""

from __future__ import annotations

import textwrap

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository

from .torch_programs import KERNEL, ops

_BIND = """
#include <torch/extension.h>
void scatter_launcher(at::Tensor x, at::Tensor out);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &scatter_launcher); }
"""
_WRAPPED = """
# pybind11_add_module(comment)
function(add_op target_name)
  set(flags "-O3")
  pybind11_add_module(${target_name} MODULE ${ARGN})
  target_compile_definitions(${target_name} PRIVATE TORCH_EXTENSION_NAME=${target_name})
endfunction(add_op)
macro(add_gpu_op name)
  add_op(${name} ${ARGN})
endmacro()
"""
_LISTS = """
set(OP_NAME {name})
set(CODE ${{CMAKE_CURRENT_SOURCE_DIR}}/{name}.cpp kernel.cu)
add_gpu_op(${{OP_NAME}}_cuda
  ${{CODE}})
"""
_USER = """
import pkg.{name}.{name}_cuda as {name}_cuda

def run(x, out):
    return {name}_cuda.forward(x, out)
"""


def _op(name: str) -> dict[str, str]:
    folder = f"pkg/{name}"
    return {
        f"{folder}/__init__.py": "",
        f"{folder}/kernel.cu": KERNEL,
        f"{folder}/{name}.cpp": _BIND,
        f"{folder}/CMakeLists.txt": _LISTS.format(name=name),
        f"{folder}/{name}.py": _USER.format(name=name),
    }


def test_modules_that_functions_of_a_project_build_with_cmake() -> None:
    files = {"pkg/__init__.py": "", "cmake/Extension.cmake": _WRAPPED, **_op("rudy"), **_op("sums")}
    found = {op.name: ({s.path for s in op.sites}, op.python) for op in ops(files)}
    assert found == {
        f"pkg.{name}.{name}_cuda.forward": (
            {f"pkg/{name}/kernel.cu"},
            (f"pkg.{name}.{name}.run", f"pkg.{name}.{name}_cuda.forward"),
        )
        for name in ("rudy", "sums")
    }


def test_a_function_that_builds_no_module_of_its_first_parameter_names_none() -> None:
    other = _WRAPPED.replace("pybind11_add_module(${target_name}", "pybind11_add_module(${prefix}_ops")
    files = {"pkg/__init__.py": "", "cmake/Extension.cmake": other, **_op("rudy"), **_op("sums")}
    assert {op.name for op in ops(files)} == {"forward"}


_LOADS = """
import os
from torch.utils.cpp_extension import load

here = os.path.dirname(__file__)
first_ops = load(name="first", sources=["csrc/first.cpp", f"csrc/first_v{os.environ['V']}.cu"])
plain_ops = load(name="plain", sources=[f"{here}/csrc/plain.cpp", f"{here}/csrc/plain.cu"])

def run_first(x, out):
    return first_ops.forward(x, out)

def run_plain(x, out):
    return plain_ops.forward(x, out)
"""


@pytest.mark.parametrize(
    ("loads", "first"),
    [
        (_LOADS, {"csrc/first_v1.cu", "csrc/first_v2.cu"}),
        (_LOADS.replace('f"csrc/first_v{', '*["csrc/plain.cu"], f"csrc/first_v{'),
         {"csrc/first_v1.cu", "csrc/first_v2.cu", "csrc/plain.cu"}),
    ],
)  # fmt: skip
def test_functions_of_one_name_in_extensions_of_their_own(loads: str, first: set[str]) -> None:
    kernels = ("first_v1", "first_v2", "plain")
    files = {f"csrc/{name}.cu": KERNEL for name in kernels} | {"csrc/first.cpp": _BIND, "csrc/plain.cpp": _BIND}
    found = {op.name: {s.path for s in op.sites} for op in ops({**files, "run.py": loads})}
    assert found == {"first.forward": first, "plain.forward": {"csrc/plain.cu"}}


_OTHER = """
#include <torch/extension.h>
__global__ void multiply_kernel(float* mul, const float* x) {{
  {line}
}}
void multiply(at::Tensor x, at::Tensor out) {{ multiply_kernel<<<1, 1>>>(out.data_ptr<float>(), x.data_ptr<float>()); }}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("multiply", &multiply); }}
"""


def test_a_parameter_that_has_the_name_of_a_function() -> None:
    kernel = textwrap.dedent(KERNEL).replace("scatter_launcher", "mul")
    bind = _BIND.replace("scatter_launcher", "mul").replace('"forward"', '"mul"')
    other = _OTHER.format(line="use(&mul[threadIdx.x], x[threadIdx.x]);")
    files = {"mul/kernel.cu": kernel, "mul/bind.cpp": bind, "other/kernel.cu": other}
    assert {op.name for op in ops(files)} == {"mul"}


def test_a_library_after_a_function_of_which_the_parser_finds_no_end() -> None:
    broken = """
    #include <torch/extension.h>
    BEGIN
    template <typename T, typename V>
    int launch(const T* x, V* y);
    typedef int V;
    void scatter_launcher(at::Tensor x, at::Tensor out);
    at::Tensor run(at::Tensor x, at::Tensor out) {
      scatter_launcher(x, out);
      DISPATCH(x, "run", [&] {
            launch<scalar_t, V>(
                DATA(x, scalar_t), DATA(out, unsigned char), n, DATA(x, V), nullptr);
      });
      if (x.numel()) {
        x.mul_(out.view({n}));
      }
      return {x, out};
    """
    bind = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &ns::run); m.def("other", &ns::other); }\n'
    text = textwrap.dedent(broken) + "at::Tensor other(at::Tensor x) { return x; }\n" + bind
    assert {op.name for op in ops({"kernel.cu": KERNEL, "bind.cpp": text})} == {"run"}
    assert not ops({"kernel.cu": KERNEL, "bind.cpp": text.replace("PYBIND11_MODULE", " PYBIND11_MODULE")})


_ROUTER = {
    "gr/router.h": "namespace gr {\nclass Maze {\n public:\n  void results(at::Tensor x, at::Tensor out);\n};\n}\n",
    "gr/force.h": '#include "router.h"\nnamespace gr {\nclass Force {\n  void run(at::Tensor x);\n  Maze maze;\n};\n}\n',
    "gr/force.cpp": '#include "force.h"\nvoid gr::Force::run(at::Tensor x) {\n  maze.results(x, x);\n}\n',
    "gr/router.cu": '#include "router.h"\n'
    + textwrap.dedent(KERNEL)
    + "void gr::Maze::results(at::Tensor x, at::Tensor out) { scatter_launcher(x, out); }\n",
    "bind.cpp": '#include "gr/force.h"\nPYBIND11_MODULE(ext, m) { py::class_<gr::Force>(m, "Force")'
    '.def("run", &gr::Force::run); }\n',
}


def test_a_method_that_is_called_on_a_member_of_which_a_header_says_the_class() -> None:
    assert [op.name for op in ops(_ROUTER)] == ["ext.Force.run"]
    for path, old, new in (
        ("gr/force.h", "Maze maze;", "Other maze;"),
        ("gr/force.cpp", "maze.results", "other.results"),
        ("gr/force.cpp", '#include "force.h"', ""),
    ):
        assert old in _ROUTER[path]
        assert not ops({**_ROUTER, path: _ROUTER[path].replace(old, new)})


def _by_macro(define: str) -> list[str]:
    call = '#include "kernel.h"\nvoid bound(at::Tensor x, at::Tensor out) { run_all(x, out); }\n'
    bind = 'PYBIND11_MODULE(ext, m) { m.def("run", &bound); }\n'
    files = {"kernel.cu": textwrap.dedent(KERNEL) + define, "bind.cpp": call + bind}
    return [op.name for op in ops(files)]


def test_a_function_that_a_macro_defines_under_one_name() -> None:
    body = "(at::Tensor x, at::Tensor out) \\\n  { \\\n    scatter_launcher<T>(x, out); \\\n  }\nALL(float)\n"
    assert _by_macro(f"#define ALL(T) \\\n  void run_all{body}") == ["ext.run"]
    assert not _by_macro(f"#define ALL(T) \\\n  void other{body}")
    assert not _by_macro(f"#define ALL(T) \\\n  else if{body}".replace("ALL(float)", "").replace("run_all", "go"))


def test_a_namespace_that_the_parser_loses() -> None:
    kernel = textwrap.dedent(KERNEL).replace("void scatter_launcher", "namespace mm {\nvoid scatter_launcher")
    text = kernel + "}\nvoid both(at::Tensor x, at::Tensor out) { mm::scatter_launcher(x, out); }\n"
    opened = '#define OPEN extern "C" {\nnamespace mm {\nOPEN\nvoid plain();\n}\n'  # no block for the parser
    broken = text.replace("namespace mm {\n", opened)
    bind = 'void both(at::Tensor x, at::Tensor out);\nPYBIND11_MODULE(ext, m) { m.def("run", &both); }\n'
    other = text.replace("both", "other")
    for source in (text, broken):
        found = ops({"a/kernel.cu": source, "a/bind.cpp": bind, "b/kernel.cu": other})
        assert [(op.name, {site.path for site in op.sites}) for op in found] == [("ext.run", {"a/kernel.cu"})]


_HALVES = """
#include <torch/extension.h>
__device__ __forceinline__ void add_half(half* at, half x) {
  unsigned* whole = (unsigned*)at; unsigned old = *whole, assumed;
  do { assumed = old; old = atomicCAS(whole, assumed, __hadd(assumed, x)); } while (assumed != old);
}
__device__ void atomicAdd(half* at, half x) { add_half(at, x); }
template <typename T> __global__ void scatter_kernel(T* out, const T* x) { atomicAdd(out + 3, x[threadIdx.x]); }
void scatter(at::Tensor out, at::Tensor x) {
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "scatter", [&] {
    scatter_kernel<scalar_t><<<1, 1>>>(out.data_ptr<scalar_t>(), x.data_ptr<scalar_t>());
  });
}
PYBIND11_MODULE(ext, m) { m.def("scatter", &scatter); }
"""


def _ops_of_sites(text: str) -> dict[str, tuple[str, ...]]:
    found = scan(Repository(["a.cu"], lambda _: text.encode()), jobs=1)
    return {f"{site.form} {site.atomic}": site.ops for site in found.sites}


def test_an_overload_reaches_the_ops_that_call_it_for_its_types() -> None:
    assert _ops_of_sites(_HALVES) == {
        "wrapper-def atomicCAS": (),
        "wrapper-def add_half": (),
        "direct atomicAdd": ("ext.scatter",),
    }
    both = _HALVES.replace("FLOATING_TYPES(", "FLOATING_TYPES_AND_HALF(")
    assert set(_ops_of_sites(both).values()) == {("ext.scatter",)}


_CFFI = """
from torch.utils.ffi import create_extension

sources = ["src/host.c"]
extra_objects = []
sources += ["src/{name}.c"]
extra_objects += ["src/cuda/{name}.cu.o"]
sources = [os.path.join(here, one) for one in sources]
ffi = create_extension("_ext.{name}", sources=sources, extra_objects=extra_objects)
"""
_LAUNCH = """
__global__ void add(float *out) { atomicAdd(out, 1.5f * threadIdx.x); }
extern "C" {
int Launch(float *out, int n) { add<<<1, n>>>(out); return 1; }
}
"""


def test_objects_that_are_linked_to_extensions_of_their_own() -> None:
    """A kernel is compiled before, and its object named: of two of one name each module has its own."""
    host = '#include "cuda/kernel.h"\nint {name}_backward(THCudaTensor *grad) {{ return Launch(data(grad), 1); }}\n'
    names = ("single", "twice")
    files = {"src/cuda/kernel.h": "int Launch(float *out, int n);\n", "src/host.c": "int version(void) { return 1; }\n"}
    for name in names:
        files[f"build_{name}.py"] = _CFFI.format(name=name)
        files[f"src/{name}.c"] = host.format(name=name)
        files[f"src/cuda/{name}.cu"] = _LAUNCH
    found = {op.name: {s.path for s in op.sites} for op in ops(files)}
    assert found == {f"_ext.{name}.{name}_backward": {f"src/cuda/{name}.cu"} for name in names}
