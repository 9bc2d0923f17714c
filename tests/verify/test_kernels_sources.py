"""What is taken of a source, the atomics in PTX, the probe for a site: text in, text out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.source.device import device_text, quoted_includes
from d9mlint.model import Location, Site
from d9mlint.verify.kernels.build import first_error
from d9mlint.verify.kernels.mirror import for_emulator
from d9mlint.verify.kernels.probes import probe_of
from d9mlint.verify.kernels.ptx import atomics_in

SOURCE = b"""\
#include "inner.h"
#include <torch/extension.h>
constexpr int most(int a) { return a; }
struct Plus { __device__ int operator()(int a) { return a; } int plain(int a) { return a; } };
template <typename T>
__global__ void kernel(T* out) { *out = 1; }
MY_DEVICE int helper() { return 2; }
template <typename T>
void launch(at::Tensor out) {
  kernel<T><<<dim3(1), 1, 0, stream()>>>(out.data_ptr<T>());
}
template void launch<float>(at::Tensor out);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launch", &launch<float>); }
"""


def test_the_functions_of_the_host_are_left_out() -> None:
    text = device_text("k.cu", SOURCE)
    assert len(text) == len(SOURCE)
    for kept in (b"most(int a)", b"operator()", b"plain", b"__global__ void kernel", b"MY_DEVICE int helper"):
        assert kept in text
    for gone in (b"launch", b"<<<", b"PYBIND11_MODULE", b"Tensor"):
        assert gone not in text
    assert quoted_includes(SOURCE) == ["inner.h"]


@given(st.binary(max_size=300))
def test_every_line_stays_where_it_is(data: bytes) -> None:
    text = device_text("k.cu", data)
    assert len(text) == len(data)
    assert [at for at, byte in enumerate(text) if byte == 10] == [at for at, byte in enumerate(data) if byte == 10]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (b"extern __shared__ float a[];", b"float* a = d9m::dynamic_shared<float>();"),
        (
            b"extern __shared__ __align__(16) unsigned char a[];",
            b"unsigned char* a = d9m::dynamic_shared<unsigned char>();",
        ),
        (b"extern volatile __shared__ T a [ ];", b"T* a = d9m::dynamic_shared<T>();"),
        (b"static __shared__ int a;", b"__shared__ int a;"),
        (b"__noinline__ void f();", b" void f();"),
        (b"__shared__ float a[32];", b"__shared__ float a[32];"),
    ],
)
def test_what_no_macro_can_rewrite(code: bytes, wanted: bytes) -> None:
    assert for_emulator(code) == wanted


PTX = """\
.visible .entry _Z3addPf(
  .param .u64 _Z3addPf_param_0
)
{
  @%p1 bra $L__BB0_2;
  red.global.add.f32 [%rd1], %f1;
  @%p2 red.global.add.f32 [%rd2], %f1;
  atom.global.cas.b32 %r1, [%rd1], %r2, %r3;
  bar.sync 0;  // red.global.add.f64
}
.func  (.param .b32 func_retval0) helper(.param .b64 a)
{
  atom.add.u32 %r1, [%rd1], 1;
}
.weak .entry plain()
{
  barrier.red.popc.u32 %r1, 0, %p1;
}
"""


def test_atomics_in_ptx() -> None:
    assert {name: dict(seen) for name, seen in atomics_in(PTX).items()} == {
        "_Z3addPf": {"red.global.add.f32": 2, "atom.global.cas.b32": 1},
        "helper": {"atom.add.u32": 1},
    }


@given(st.text(max_size=300))
def test_garbage_is_no_ptx(text: str) -> None:
    assert isinstance(atomics_in(text), dict)


def test_the_first_error() -> None:
    said = "In file included from a.h:1,\n                 from k.cu:2:\nk.cu:7:3: error: 'x' was not declared\nk.cu:9: error: y\n"
    assert first_error(said) == "k.cu:7:3: error: 'x' was not declared"
    assert first_error("") == "the compiler failed without a word"


@pytest.mark.parametrize(
    ("class_", "intrinsic", "use", "implements", "type_", "probe"),
    [
        ("float-accumulate", "atomicAdd", "unused", "", "float", "float-accumulate"),
        ("float-accumulate", "atomicAdd", "unused", "", "double", "double-accumulate"),
        ("float-accumulate", "atomicAdd", "unused", "", "T = float | double", "float-accumulate"),
        ("commutative-exact", "atomicSub", "unused", "", "int", "integer-add"),
        ("commutative-exact", "atomicXor", "unused", "", "int", "bitwise"),
        ("commutative-exact", "", "unused", "", "int", ""),
        ("cas-loop", "atomicCAS", "unused", "max", "float", "cas-max"),
        ("cas-loop", "atomicCAS", "unused", "custom", "float", ""),
        ("order-dependent", "atomicAdd", "index", "", "int", "slot-allocation"),
        ("order-dependent", "atomicAdd", "ticket", "", "int", "ticket"),
        ("order-dependent", "atomicCAS", "ticket", "", "int", "lock"),
        ("order-dependent", "atomicCAS", "value", "", "int", "first-wins"),
        ("order-dependent", "atomicExch", "unused", "", "int", "exchange"),
        ("unknown", "atomicAdd", "unused", "", "", ""),
    ],
)
def test_the_probe_for_a_site(class_: str, intrinsic: str, use: str, implements: str, type_: str, probe: str) -> None:
    site = Site(
        Location("k.cu", 1, 1, 1, 2), "f", intrinsic, intrinsic, "direct", "", "global", type_, use, class_, "yes", "",
        implements=implements,
    )  # fmt: skip
    assert probe_of(site) == probe


@pytest.mark.parametrize(
    ("class_", "intrinsic", "use", "probe"),
    [
        ("float-accumulate", "atomicAdd", "unused", ""),  # one thread owns the cell: the probe's cells are shared
        ("order-dependent", "atomicExch", "unused", ""),
        ("order-dependent", "atomicAdd", "index", ""),
        ("order-dependent", "atomicInc", "ticket", "ticket"),
        ("commutative-exact", "atomicAdd", "unused", "integer-add"),
    ],
)
def test_a_site_that_cannot_vary_is_not_judged_by_what_its_kind_does(
    class_: str, intrinsic: str, use: str, probe: str
) -> None:
    site = Site(
        Location("k.cu", 1, 1, 1, 2), "f", intrinsic, intrinsic, "direct", "", "global", "float", use, class_, "no", ""
    )
    assert probe_of(site) == probe
