"""PTX that a program puts together, and inline assembler in branches and places that hide it."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.sites.accounting import unread
from d9mlint.kernels.sites.sightings import Knowledge
from d9mlint.model import Site

from .support import repository

WRITER = """
void store(Op op, int at) {
  // "red.global.add.f32 [%0], %1;" is what it is about
  fmt("        @%leader red.global.$s.$s [%rd3+$u], %q0_$u;\\n", name(op), type(op), at, at);
  fmt("   red.global.add.noftz.f16x2 [%rd3+$u], $v;\\n", at, at);
  if (op == Min) name = "red.global.v2.f16.min.noftz";
  fmt("{\\n   atom.global.add.u32 %prev, [%rd3], %ct;\\n   red.global.{}.u32 [%rd4], 1;\\n}\\n", op);
  log("shared.global settings are ignored. red.global is not [used]");
}
"""


def _sites(text: str, name: str = "a_cpp") -> list[Site]:
    found = scan(repository(**{name: text}))
    assert not found.unchecked and not found.skipped
    return list(found.sites)


def test_ptx_that_a_program_writes() -> None:
    found = [(s.location.line, s.atomic, s.form, s.class_, s.verdict) for s in _sites(WRITER)]
    assert found == [
        (4, "red.global.$s.$s", "ptx-string", "unknown", "unknown"),
        (5, "red.global.add.noftz.f16x2", "ptx-string", "float-accumulate", "yes"),
        (6, "red.global.v2.f16.min.noftz", "ptx-string", "commutative-exact", "no"),
        (7, "atom.global.add.u32", "ptx-string", "order-dependent", "conditional"),
        (7, "red.global.{}.u32", "ptx-string", "unknown", "unknown"),
    ]


def test_inline_assembler_is_no_text() -> None:
    asm = '__device__ void r(int* p) { asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" : : "l"(p), "r"(1)); }'
    assert [(s.form, s.class_) for s in _sites(asm, "a_cu")] == [("ptx", "commutative-exact")]
    assert [(s.form, s.class_) for s in _sites(asm, "a_cpp")] == [("ptx", "commutative-exact")]  # compiled by HIP


BRANCHES = """
namespace marlin {
#if OLD
__global__ void k(int* lock) {}
}  // namespace
#else
__device__ void release(int* lock) {
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" : : "l"(lock), "r"(1));
}
__global__ void k(int* lock) { release(lock); }
}  // namespace
#endif
"""


@pytest.mark.parametrize("text", [BRANCHES, BRANCHES.replace("#if OLD", "#ifdef A").replace("#else", "#elif B")])
def test_the_branch_with_the_atomics_stays(text: str) -> None:
    assert [(s.location.line, s.form, s.verdict) for s in _sites(text, "a_cu")] == [
        (8, "ptx", "no"),
        (10, "wrapper", "no"),
    ]


def test_assembler_that_is_not_read_is_told() -> None:
    text = """
        __device__ void r(int* p) {
          // asm volatile("red.global.add.s32 [%0], 1;" : : "l"(p));
          asm volatile("fence.acq_rel.gpu;");
          asm volatile ("red." "global.add.s32 [%0], 1;" : : "l"(p));
        }
        #if 0
        void dead(int* p) { asm volatile("red.global.add.s32 [%0], 1;" : : "l"(p)); }
        #endif
    """
    told = unread(Knowledge(repository(a_cu=text)))  # nothing was read yet
    assert told == {"a.cu": "a call of an atomic could not be read, the first in line 5"}
    assert not scan(repository(a_cu=text)).unchecked


def test_conditions_inside_of_assembler() -> None:
    text = """
        __device__ int f(int* p, int v) {
          int r;
          asm volatile(
        #if __CUDA_ARCH__ < 600
              "atom.shared.add.s32 %0, [%1], %2;"
        #elif __CUDA_ARCH__ < 700
              "atom.shared.cta.add.s32 %0, [%1], %2;"
        #else
              "atom.relaxed.cta.shared.add.s32 %0, [%1], %2;"
        #endif
              : "=r"(r) : "l"(p), "r"(v) : "memory");
          return r;
        }
    """
    assert [(s.atomic, s.form, s.verdict) for s in _sites(text, "a_cu")] == [
        ("atom.relaxed.cta.shared.add.s32", "ptx", "depends")
    ]
