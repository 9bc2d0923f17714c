"""Guards that stand in Python, and switches of an author's own: arguments and environment variables."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository
from d9mlint.model.kernel import KernelOp
from d9mlint.report.kernels.words import guard

from .torch_programs import SETUP, only

CUDA = """
    #include <torch/extension.h>
    #include <cstdlib>
    __global__ void scatter_kernel(const float* x, const int* at, float* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) atomicAdd(out + at[i], x[i]);
    }
    __global__ void sorted_kernel(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x]; }
    at::Tensor scatter(at::Tensor x) { scatter_kernel<<<1, 32>>>(p(x), q(x), r(x), 9); return x; }
    at::Tensor ordered(at::Tensor x) { sorted_kernel<<<1, 32>>>(p(x), r(x)); return x; }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scatter", &scatter); m.def("ordered", &ordered); }
"""


def met(python: str, cuda: str = CUDA) -> KernelOp:
    files = {"setup.py": SETUP, "pkg/__init__.py": "", "pkg/ops.py": python, "csrc/scatter.cu": cuda}
    return only(files)


HEAD = "import os\nimport torch\nfrom . import _ext\n"


@pytest.mark.parametrize(
    "function, level",
    [
        ("def scatter(x):\n if torch.are_deterministic_algorithms_enabled():\n  raise RuntimeError('no')\n return _ext.scatter(x)",
         "throws"),
        ("def scatter(x):\n if x.is_cuda and torch.are_deterministic_algorithms_enabled():\n  return _ext.ordered(x)\n"
         " return _ext.scatter(x)", "other-path"),
        ("def scatter(x):\n if not torch.are_deterministic_algorithms_enabled():\n  return _ext.scatter(x)\n"
         " return _ext.ordered(x)", "other-path"),
        ("def scatter(x):\n assert not torch.are_deterministic_algorithms_enabled()\n return _ext.scatter(x)", "throws"),
        ("def check():\n if torch.get_deterministic_debug_mode() > 0:\n  raise RuntimeError('no')\n"
         "def scatter(x):\n check()\n return _ext.scatter(x)", "throws"),
        ("def scatter(x):\n mode = torch.are_deterministic_algorithms_enabled()\n if mode:\n  x = _ext.ordered(x)\n"
         " else:\n  x = _ext.scatter(x)\n return x", "other-path"),
        # What does not stand before the call, or only warns, or holds for some inputs only, is no guard.
        ("def scatter(x):\n y = _ext.scatter(x)\n if torch.are_deterministic_algorithms_enabled():\n  raise RuntimeError\n return y",
         "none"),
        ("def scatter(x):\n if torch.are_deterministic_algorithms_enabled():\n  warn('varies')\n return _ext.scatter(x)", "none"),
        ("def scatter(x, n):\n if n > 4 and torch.are_deterministic_algorithms_enabled():\n  raise ValueError\n return _ext.scatter(x)",
         "none"),
        ("def scatter(x):\n if torch.are_deterministic_algorithms_enabled():\n  return _ext.scatter(x)\n return _ext.ordered(x)", "none"),
        # Another public function has no guard: the weakest counts.
        ("def scatter(x):\n if torch.are_deterministic_algorithms_enabled():\n  raise RuntimeError\n return _ext.scatter(x)\n"
         "def bare(x):\n return _ext.scatter(x)", "none"),
        # Nobody outside calls the private function.
        ("def _run(x):\n return _ext.scatter(x)\n"
         "def scatter(x):\n if torch.are_deterministic_algorithms_enabled():\n  raise RuntimeError\n return _run(x)", "throws"),
    ],
)  # fmt: skip
def test_guards_in_python(function: str, level: str) -> None:
    assert met(HEAD + function).guard.level == level


@pytest.mark.parametrize(
    "function, switch, default, level",
    [
        ("def scatter(x, deterministic=False):\n if deterministic:\n  return _ext.ordered(x)\n return _ext.scatter(x)",
         "deterministic=True", "False", "none"),
        ("def scatter(x, *, deterministic=True):\n return _ext.ordered(x) if deterministic else _ext.scatter(x)",
         "deterministic=True", "True", "other-path"),
        ("def scatter(x, allow_nondeterministic=False):\n if not allow_nondeterministic:\n  return _ext.ordered(x)\n"
         " return _ext.scatter(x)", "allow_nondeterministic=False", "False", "other-path"),
        ("def scatter(x):\n if os.environ.get('PKG_DETERMINISTIC', '0') == '1':\n  return _ext.ordered(x)\n return _ext.scatter(x)",
         "PKG_DETERMINISTIC=1", "", "none"),
        ("def scatter(x):\n if not int(os.getenv('PKG_ALLOW_NONDETERMINISTIC', '1')):\n  return _ext.ordered(x)\n return _ext.scatter(x)",
         "PKG_ALLOW_NONDETERMINISTIC=0", "", "none"),
        ("class Scatter(torch.nn.Module):\n def __init__(self, deterministic=False):\n  self.deterministic = deterministic\n"
         " def forward(self, x):\n  if self.deterministic:\n   return _ext.ordered(x)\n  return _ext.scatter(x)",
         "deterministic=True", "False", "none"),
    ],
)  # fmt: skip
def test_switches_in_python(function: str, switch: str, default: str, level: str) -> None:
    found = met(HEAD + function).guard
    assert (found.switch, found.default, found.level) == (switch, default, level)


def launcher(body: str, argument: str = "", bound: str = "") -> str:
    return CUDA.replace("{ scatter_kernel<<<1, 32>>>(p(x), q(x), r(x), 9); return x; }", body).replace(
        "scatter(at::Tensor x) ", f"scatter(at::Tensor x{argument}) ").replace("&scatter)", f"&scatter{bound})")  # fmt: skip


RUN = "scatter_kernel<<<1, 32>>>(p(x), q(x), r(x), 9);"


@pytest.mark.parametrize(
    "cuda, switch, default",
    [
        (launcher("{ if (deterministic) return ordered(x); " + RUN + " return x; }", ", bool deterministic",
                  ', py::arg("x"), py::arg("deterministic") = false'), "deterministic=True", "False"),
        (launcher('{ static const char* e = std::getenv("PKG_DETERMINISTIC"); if (e && atoi(e)) return ordered(x); '
                  + RUN + " return x; }"), "PKG_DETERMINISTIC=1", ""),
        (CUDA.replace("if (i < n) atomicAdd", "if (!kDeterministic) atomicAdd"), "kDeterministic=True", ""),
        (launcher("{ if (!deterministic) log(); " + RUN + " return x; }", ", bool deterministic"), "", ""),
    ],
)  # fmt: skip
def test_switches_of_launchers(cuda: str, switch: str, default: str) -> None:
    found = met(HEAD + "def scatter(x):\n return _ext.scatter(x)", cuda).guard
    assert (found.level, found.switch, found.default) == ("none", switch, default)


def test_python_hands_deterministic_mode_on() -> None:
    cuda = launcher("{ if (deterministic) return ordered(x); " + RUN + " return x; }", ", bool deterministic")
    call = "def scatter(x):\n return _ext.scatter(x, torch.are_deterministic_algorithms_enabled())"
    assert met(HEAD + call, cuda).guard.level == "other-path"


def test_a_switch_is_said_in_words() -> None:
    function = (
        "def scatter(x, deterministic=False):\n if deterministic:\n  return _ext.ordered(x)\n return _ext.scatter(x)"
    )
    told = guard(met(HEAD + function).guard)
    assert told == "takes another way with `deterministic=True`, which is `False` by default (pkg/ops.py:5)"


def test_a_kernel_that_no_op_reaches_has_its_switch() -> None:
    source = b"template <bool Deterministic> __global__ void k(float* p, const int* i, const float* x) {" \
        b" if constexpr (!Deterministic) { atomicAdd(p + i[threadIdx.x], x[threadIdx.x]); } }"  # fmt: skip
    found = scan(Repository(["k.cu"], lambda _: source)).sites
    assert [(site.guard.level, site.guard.switch) for site in found] == [("none", "Deterministic=True")]


def test_triton_kernels_have_the_guard_of_who_launches_them() -> None:
    source = b"""import torch
import triton
import triton.language as tl
@triton.jit
def kernel(out, at, x):
    i = tl.program_id(0)
    tl.atomic_add(out + tl.load(at + i), tl.load(x + i).to(tl.float32))
def scatter(out, at, x):
    if torch.are_deterministic_algorithms_enabled():
        raise RuntimeError("no")
    kernel[(9,)](out, at, x)
"""
    found = scan(Repository(["k.py"], lambda _: source))
    assert [site.guard.level for site in found.sites] == ["throws"]
