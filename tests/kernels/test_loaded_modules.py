"""Functions that a module of TVM's FFI exports, and how Python calls them."""

from __future__ import annotations

import textwrap

import pytest

from .torch_programs import KERNEL, only, ops

BIND = """
#include <tvm/ffi/function.h>
void scatter_launcher(TensorView x, TensorView out);
void Scatter(TensorView x, TensorView out) { scatter_launcher(x, out); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scatter, Scatter);
"""
PLAIN = KERNEL.replace("<torch/extension.h>", '"tensor.h"')
PUBLIC = """
from .jit import build

def get_module():
    return build("scatter")

def scatter_sum(x, out):
    get_module().scatter(x, out)

def other(x):
    get_module().gather(x)
"""
CLOSED = """
import functools
from types import SimpleNamespace
from .jit import build, register_custom_op

@functools.cache
def get_module():
    module = build("scatter")

    @register_custom_op("pkg::scatter", mutates_args=("out",))
    def scatter(x, out):
        module.scatter(x, out)

    def gather(x):
        module.gather(x)

    return SimpleNamespace(sums=scatter, gather=gather)

def scatter(x, out):
    get_module().sums(x, out)

def gather(x):
    get_module().gather(x)
"""


def _files(python: str, bind: str = BIND) -> dict[str, str]:
    return {
        "csrc/scatter.cu": PLAIN, "csrc/bind.cc": bind, "pkg/__init__.py": "", "pkg/ops.py": textwrap.dedent(python),
        "pkg/jit.py": "def build(name): ...\n",
    }  # fmt: skip


@pytest.mark.parametrize(
    "python, name, names", [(PUBLIC, "pkg.ops.scatter_sum", 1), (CLOSED, "pkg.ops.scatter", 1)], ids=["plain", "closed"]
)
def test_who_calls_a_function_of_a_loaded_module(python: str, name: str, names: int) -> None:
    """Not who asks for the module, nor who calls other functions of it."""
    op = only(_files(python))
    assert (op.name, op.python, len(op.python)) == (name, (name,), names)
    assert [step.text for step in op.chain][-2:] == ["registered as `scatter`", f"Python `{name.rpartition('.')[2]}`"]


def test_what_is_no_call_of_it() -> None:
    # A name that two modules export, a module of Python, nobody who calls it.
    assert ops(_files(PUBLIC, BIND) | {"csrc/two.cc": BIND.replace("Scatter", "Second")}) == []
    assert ops(_files("from . import jit_module\ndef f(x):\n    jit_module.scatter(x)\n")
               | {"pkg/jit_module.py": "def scatter(x): ...\n"}) == []  # fmt: skip
    assert ops(_files("def f(x):\n    x.scatter(0)\n")) == []
