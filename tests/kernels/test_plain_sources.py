"""Device code in files with the names of plain C++, behind a project's own qualifiers, headers and namespaces."""

from __future__ import annotations

from d9mlint.kernels.judging.judge import judge
from d9mlint.kernels.sites import atomics
from d9mlint.kernels.source.repository import Repository

from .support import only

_QUALIFIERS = (
    "#pragma once\n#define MY_GPU_DEVICE __device__\n#define MY_INLINE inline __attribute__((always_inline))\n"
)
_WRAPPER = """#include "Qualifiers.H"
namespace my { namespace Gpu::Atomic {
template <class T> MY_GPU_DEVICE MY_INLINE void AddNoRet(T* sum, T value) noexcept { ::atomicAdd(sum, value); }
} }
"""
_USER = """#include "Atomic.H"
void deposit(double* rho, const double* w, const int* at, int n) {
  my::ParallelFor(n, [=] MY_GPU_DEVICE (int i) noexcept { my::Gpu::Atomic::AddNoRet(rho + at[i], w[i]); });
}
"""


def _verdicts(**files: str) -> dict[str, tuple[str, str]]:
    data = {path.replace("_", "."): text.encode() for path, text in files.items()}
    tree = Repository(data, lambda path: data[path])
    return {a.location.path: judge(a, tree)[:2] for a in atomics.find(tree)}


def test_a_lambda_of_the_device_in_a_plain_source() -> None:
    """`.H` is a header of C++, a namespace may begin with a capital letter."""
    found = _verdicts(Qualifiers_H=_QUALIFIERS, Atomic_H=_WRAPPER, Deposit_cpp=_USER)
    assert found == {
        "Atomic.H": ("float-accumulate", "depends"), "Deposit.cpp": ("float-accumulate", "yes"),
    }  # fmt: skip


def test_what_is_none() -> None:
    # Without device code, without the header, through a class of another name.
    host = _USER.replace("MY_GPU_DEVICE ", "")
    assert "Deposit.cpp" not in _verdicts(Qualifiers_H=_QUALIFIERS, Atomic_H=_WRAPPER, Deposit_cpp=host)
    alone = _USER.replace('#include "Atomic.H"', "")
    assert "Deposit.cpp" not in _verdicts(Qualifiers_H=_QUALIFIERS, Atomic_H=_WRAPPER, Deposit_cpp=alone)
    other = _USER.replace("Gpu::Atomic::AddNoRet", "Table::AddNoRet")
    assert "Deposit.cpp" not in _verdicts(Qualifiers_H=_QUALIFIERS, Atomic_H=_WRAPPER, Deposit_cpp=other)


def test_a_macro_that_stands_for_one_type_or_another() -> None:
    kernel = "__global__ void k(CELL* out, const int* at) { atomicAdd(&out[at[0]].x, 1.5f * threadIdx.x); }"
    header = "#ifdef SINGLE\n#define CELL cuFloatComplex\n#else\n#define CELL cuDoubleComplex // 16 bytes\n#endif\n"
    assert only(kernel, cell_h=header).verdict == "yes"
    whole = "__global__ void k(CELL* out, const int* at) { atomicAdd(&out[at[0]], 2 + threadIdx.x); }"
    assert only(whole, cell_h="#define CELL unsigned long long\n").verdict == "no"
    assert (
        only(whole, cell_h="#ifdef A\n#define CELL int\n#else\n#define CELL float\n#endif\n").verdict == "conditional"
    )


_TEMPLATE = """
template <typename T> __global__ void k(T* out, const int* at, const T* v) { atomicAdd(&out[at[0]], v[threadIdx.x]); }
template <typename T> struct Layer { void run(T* p) { k<T><<<1, 1>>>(p, nullptr, p); } };
"""


def test_a_macro_that_an_included_file_uses() -> None:
    source = _TEMPLATE + '#define EACH(T) template struct Layer<T>;\n#include "types.h"\n'
    said = only(source, types_h="EACH(float)\n#ifdef WIDE\nEACH(double)\n#endif\n")
    assert (said.target_type, said.verdict) == ("T = float | double", "yes")
    own = only(source, types_h="#define EACH(T) f<T>();\nEACH(int)\n")
    assert own.verdict == "conditional"  # another macro of that name


def test_a_scalar_does_not_tell_the_elements_of_a_class() -> None:
    """`run(bool)` is no call of `run(const Matrix<T>&)`, and says nothing of T."""
    said = only("""
    template <typename T> __global__ void k(T* out, const int* at, const T* v) { atomicAdd(&out[at[0]], v[threadIdx.x]); }
    template <typename T> void run(const Matrix<T>& m) { k<T><<<1, 1>>>(m.buffer(), nullptr, m.buffer()); }
    void all(bool biased) { run(biased); }
    """)
    assert said.verdict == "conditional"


def test_a_kernel_in_a_plain_source_behind_a_macro_that_is_given_something() -> None:
    """HIP compiles `.cpp`: the macro holds `__global__` in its second line; the header's function is its wrapper."""
    types = "#define MY_KERNEL(N) \\\n    __launch_bounds__(N) static __global__\n"
    device = """#include "Types.h"
    template <typename T> static __device__ void scatter_device(T* y, const T* x, const int* at) {
      atomicAdd(&y[at[threadIdx.x]], x[threadIdx.x]);
    }
    """
    kernel = """#include "Device.h"
    template <typename T> MY_KERNEL(256) void scatter_kernel(T* y, const T* x, const int* at) {
      my::scatter_device(y, x, at);
    }
    void launch(float* y, const float* x, const int* at) { scatter_kernel<float><<<1, 256>>>(y, x, at); }
    """
    found = _verdicts(Types_h=types, Device_h=f"namespace my {{ {device.replace('#', chr(10) + '#', 1)} }}",
                      Scatter_cpp=kernel)  # fmt: skip
    assert found["Scatter.cpp"] == ("float-accumulate", "yes")
    # A macro of that name that holds no qualifier of the device.
    plain = types.replace("static __global__", "static")
    assert "Scatter.cpp" not in _verdicts(Types_h=plain, Device_h=device, Scatter_cpp=kernel)


def test_a_comment_that_ends_in_class_makes_no_parameter_of_a_template() -> None:
    kernel = "__global__ void k(CELL* out, const CELL* x, const int* at) { atomicAdd(&out[at[0]], x[threadIdx.x]); }"
    header = "#ifdef SINGLE\n#define CELL float\n#else\n#define CELL double\n#endif\n"
    other = "// the mean over one class\nCELL mean(const CELL* x);\n"
    assert only(kernel, cell_h=header, other_h=other).verdict == "yes"
    parameter = "template <class CELL> CELL mean(const CELL* x);\n"
    assert only(kernel, cell_h=header, other_h=parameter).verdict == "conditional"
