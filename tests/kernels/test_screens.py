"""What is looked at by bytes before anything is parsed: nothing that matters may be screened out."""

from __future__ import annotations

import pytest

from d9mlint.kernels.sites.presence import in_assembler
from d9mlint.kernels.source.mask import masked
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.presence import is_bound


@pytest.mark.parametrize(
    "text",
    [
        rb'asm("red.global.add.f32 [%0], %1;" :: "l"(p), "f"(v));',
        rb'asm("{ .reg .f32 t;\n\tatom.add.f32 t, [%0], %1; }" :: "l"(p), "f"(v));',
        rb'asm volatile("atom" SCOPE ".add.u32 %0, [%1], %2;" : "=r"(o) : "l"(p), "r"(v));',
        rb'asm("multimem.red.add.f32 [%0], %1;" :: "l"(p), "f"(v));',
        rb'asm("cp.reduce.async.bulk.global.shared::cta.add.f32 [%0], [%1], %2;" ::);',
        b'asm(R"(red.add.f32 [%0], %1;)" :: "l"(p), "f"(v));',
    ],
)
def test_assembler_with_an_atomic_is_seen(text: bytes) -> None:
    assert in_assembler(text)


@pytest.mark.parametrize(
    "text", [b'asm("ld1 {v0.16b}, [x0]"); // required, shared.', b'asm("add %0");  // atomic', b""]
)
def test_other_assembler_is_not_parsed(text: bytes) -> None:
    assert not in_assembler(text)


@pytest.mark.parametrize(
    ("text", "torch"),
    [
        (b"#include <torch/extension.h>\n", True),
        (b'#  include "torch/csrc/utils.h"\n', True),
        (b"// see https://github.com/pytorch/cpuinfo\n#include <vector>\n", False),
    ],
)
def test_only_an_include_makes_a_source_one_of_pytorch(text: bytes, torch: bool) -> None:
    assert is_bound(Repository(["a.cc"], lambda _: text)) is torch


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"__global__ void k();", b"           void k();"),
        (b"my__device__ x___host__", b"my__device__ x___host__"),
        (b"TF_ATTRIBUTE int x; EIGEN_DEVICE_FUNC int f();", b"TF_ATTRIBUTE int x;                   int f();"),
        (b"__launch_bounds__(f(1), 2) g", b"                           g"),
    ],
)
def test_masked_words(text: bytes, shown: bytes) -> None:
    assert masked(text) == shown
