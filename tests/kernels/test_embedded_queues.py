"""Old values in Triton kernels that are work or numbers of programs, and cells that one program writes."""

from __future__ import annotations

import pytest

from .embedded_programs import scan

_HEAD = """
        import triton
        import triton.language as tl
        @triton.jit
        def part(x_ptr, at, B: tl.constexpr):
            return tl.load(x_ptr + at * B + tl.arange(0, B))
        @triton.jit
        def shifted(x_ptr, at):
            return tl.load(x_ptr + at + tl.program_id(0))
        @triton.jit
        def kernel(x_ptr, y_ptr, next_ptr, flag_ptr, n, B: tl.constexpr):
"""
_TAIL = """
        def run(x, y, next, flag):
            kernel[(8,)](x, y, next, flag, 4, B=4)
"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("""
            tile = tl.program_id(0)
            while tile < n:
                tl.store(y_ptr + tile * B + tl.arange(0, B), part(x_ptr, tile, B))
                tile = tl.atomic_add(next_ptr, 1)
        """, "no"),
        ("""
            mine = tl.program_id(0)
            tile = mine
            while tile < n:
                tl.store(y_ptr + mine * B + tl.arange(0, B), part(x_ptr, tile, B))
                tile = tl.atomic_add(next_ptr, 1)
        """, "conditional"),
        ("""
            tile = tl.program_id(0)
            while tile < n:
                tl.store(y_ptr + tile, shifted(x_ptr, tile))
                tile = tl.atomic_add(next_ptr, 1)
        """, "conditional"),
        ("""
            number = tl.atomic_add(next_ptr, 1)
            tl.store(y_ptr + number * B + tl.arange(0, B), part(x_ptr, number, B))
        """, "no"),
        ("""
            slot = tl.atomic_add(next_ptr, 1)
            tl.store(y_ptr + slot, tl.load(x_ptr + tl.program_id(0)))
        """, "yes"),
        ("""
            for at in range(n):
                slot = tl.atomic_add(next_ptr, 1)
                tl.store(y_ptr + slot, tl.load(x_ptr + at))
        """, "yes"),
        ("""
            rank = tl.atomic_add(next_ptr + tl.load(x_ptr + tl.arange(0, B)), 1)
            tl.store(y_ptr + rank, tl.arange(0, B))
        """, "yes"),
        ("""
            while tl.atomic_cas(flag_ptr, 1, 1) == 0:
                pass
        """, "no"),
        ("""
            while tl.atomic_cas(flag_ptr, 0, 1) == 1:
                pass
        """, "conditional"),
        ("""
            tl.atomic_xchg(flag_ptr + tl.program_id(0), n)
        """, "no"),
        ("""
            tl.atomic_xchg(flag_ptr + tl.program_id(0) % 2, tl.program_id(0))
        """, "conditional"),
    ],
)  # fmt: skip
def test_old_values_in_triton(body: str, verdict: str) -> None:
    found = scan(kernels=_HEAD + body + _TAIL).sites
    assert [(site.class_, site.verdict) for site in found] == [("order-dependent", verdict)]


def test_the_number_of_a_program_is_no_constant() -> None:
    body = """
            tl.atomic_add(y_ptr, tl.program_id(0).to(tl.float32))
            tl.atomic_add(y_ptr, tl.exp(2))
            tl.atomic_add(y_ptr, tl.constexpr(2.0))
    """
    found = scan(kernels=_HEAD + body + _TAIL).sites
    assert [site.verdict for site in found] == ["yes", "yes", "no"]


def test_a_lock_of_warp_compares_at_an_index() -> None:
    found = scan(
        kernels="""
        import warp as wp
        @wp.kernel
        def k(lock: wp.array(dtype=wp.int32), out: wp.array(dtype=float)):
            while wp.atomic_cas(lock, 0, 0, 1) == 1:
                pass
    """
    ).sites
    assert [(site.class_, site.verdict) for site in found] == [("order-dependent", "conditional")]
