"""Whether sources register what they hold with Python: cheap to ask, and to import."""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import SUFFIXES, Repository

_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|import)\b[^\n]*torch/", re.MULTILINE)
_OTHERS = (b"<nnvm/", b"<dgl/", b"xla/ffi/", b"pybind11/", b"nanobind/", b"<mxnet/", b"paddle/extension.h",
           b"tvm/ffi/", b"phi/core/kernel_registry.h", b"oneflow/core/framework/", b"/gpu_kernel_factory.h",
           b"/gpu_kernel.h", b"core/providers/cuda/", b"caffe2/core/")  # fmt: skip


_HEAD = re.compile(rb'^[ \t]*(?:extern "C" |[A-Za-z_])[^\n;{}()=#"]*?[\s*&](\w+)\s*\(', re.MULTILINE)
"""The beginning of a function's definition or declaration at the start of a line."""
_NAMED = re.compile(
    rb"\.?(?:getattr\(\s*\w+\s*,|get_function\(|RawKernel\([^()]*(?:\([^()]*\)[^()]*)*,)\s*[\"'](\w+)[\"']"
    rb"|\.(\w+)\s*\(|\[\s*[\"'](\w+)[\"']\s*\]"
)
_BEGUN = re.compile(rb"[\"'](\w{4,})(?:[\"']\s*\+|\{|%[sd])")
"""The beginning of a name that Python puts together: ``"sum_" + kind``, ``f"sum_{kind}"``."""


_CORE = "tensorflow/core/"
"""The folder of TensorFlow's own sources."""
_COMPILED = (".cu", ".cpp", ".cc", ".cxx", ".c", ".hip", ".mu")


def _includes(path: str, data: bytes) -> str:
    """``torch``, ``other`` (a registry or binding of another framework), ``linked`` (as C does) or nothing."""
    if data.find(b"torch/", 0, _TOP) >= 0 and _INCLUDE.search(data, 0, _TOP) is not None:
        return "torch"
    if any(data.find(word, 0, _TOP) >= 0 for word in _OTHERS):
        return "other"
    return "linked" if path.endswith(_COMPILED) and data.find(b'extern "C"') >= 0 else ""


INCLUDING = Look(SUFFIXES, _includes)
"""Sources that include a header of PyTorch, or of what else binds C++ to Python, among their first lines; others that
export functions as C does."""
CYTHON = (".pyx", ".pxd")
"""Sources of Cython, and files of declarations for these."""
EXTERN = b"cdef extern from"
"""How a source of Cython begins what it takes from C++."""
LOADING = re.compile(rb"\b(?:C?DLL|PyDLL|LoadLibrary|dlopen|load_library)\s*\(")
"""``ctypes.CDLL(...)``, ``cdll.LoadLibrary(...)``, ``ffi.dlopen(...)``, ``numpy.ctypeslib.load_library(...)``."""

MODULES = re.compile(rb"\b(?:RawModule|RawKernel|SourceModule|module_from_\w+|get_function)\s*\(")
"""CuPy's and PyCUDA's ways to a kernel of CUDA."""

FFI = b"torch.utils.ffi"
"""PyTorch's use of cffi: every function of the C sources that a module is built of is a function of the module."""

EXPRESSIONS = b"name_expressions"
"""How CuPy and cuda.core ask NVRTC for kernels by their C++ names: ``name_expressions=["ns::k<float>"]``."""


def is_bound(repository: Repository) -> bool:
    """Whether a source includes a header of PyTorch or of another binding, or this is PyTorch itself.

    TensorFlow binds its ops by itself: in its own sources only PyTorch counts.
    """
    found = set(repository.looked(INCLUDING).values())
    if "torch" in found or any(path.endswith("/native_functions.yaml") for path in repository.paths):
        return True
    from d9mlint.kernels.tensorflow.presence import is_tensorflow

    if is_tensorflow(repository):
        own = any(path.startswith(_CORE) or f"/{_CORE}" in path for path in repository.paths)
        return "other" in found and not own
    if any(path.endswith(CYTHON) and EXTERN in repository.data(path) for path in repository.paths):
        return True
    return (
        "other" in found
        or compiles_by_name(repository)
        or binds_c(repository)
        or (bool(found) and _is_linked(repository))
    )


def binds_classes(repository: Repository) -> bool:
    """Whether Python may meet classes of C++: a library that exports functions as C does has none."""
    return repository.derived(_binds_classes, "")


def _binds_classes(repository: Repository, _: str) -> bool:
    return not {"torch", "other"}.isdisjoint(repository.looked(INCLUDING).values())


def compiles_by_name(repository: Repository) -> bool:
    """Whether Python has kernels compiled which it names as C++ does."""
    return repository.derived(_compiles_by_name, "")


def _compiles_by_name(repository: Repository, _: str) -> bool:
    return any(EXPRESSIONS in repository.data(path) for path in repository.paths if path.endswith(".py"))


def binds_c(repository: Repository) -> bool:
    """Whether Python builds modules of functions in C: ``torch.utils.ffi.create_extension`` (PyTorch before 1.0)."""
    return repository.derived(_binds_c, "")


def _binds_c(repository: Repository, _: str) -> bool:
    return any(FFI in repository.data(path) for path in repository.paths if path.endswith(".py"))


def _is_linked(repository: Repository) -> bool:
    """Whether Python loads a library or module and names what a source here exports as C does."""
    texts = [repository.data(path) for path in repository.paths if path.endswith(".py")]
    if not any(LOADING.search(text) or MODULES.search(text) for text in texts):
        return False
    linked = [repository.data(path) for path, kind in repository.looked(INCLUDING).items() if kind == "linked"]
    exported = {name for data in linked for name in _HEAD.findall(data)}
    if any(b"##" in data for data in linked):
        return True  # names that a macro pastes together
    if any(name in exported for text in texts for found in _NAMED.findall(text) for name in found):
        return True
    begun = tuple({name for text in texts if MODULES.search(text) for name in _BEGUN.findall(text)})
    return any(name.startswith(begun) for name in exported)
