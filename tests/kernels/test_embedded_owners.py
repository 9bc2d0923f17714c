"""Cells that one thread of a kernel of Warp owns; types of Triton's sums; lines of sources in strings."""

from __future__ import annotations

import pytest

from .embedded_programs import scan

_WARP = """
    import warp as wp
    @wp.kernel
    def push(force: wp.array(dtype=wp.vec3), at: wp.array(dtype=int), dt: float):
        {thread} = wp.tid()
        {statements}
    def run(force, at):
        wp.{launch}(push, dim={dim}, inputs=[force, at, 0.1])
"""


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        ("wp.atomic_add(force, i, wp.vec3(dt))", "no"),
        ("wp.atomic_add(force, at[i], wp.vec3(dt))", "yes"),
        ("wp.atomic_add(force, i + 1, wp.vec3(dt)); wp.atomic_sub(force, i, wp.vec3(dt))", "yes"),
        ("i = at[i]; wp.atomic_add(force, i, wp.vec3(dt))", "yes"),
    ],
)
def test_a_cell_of_the_thread_of_its_number(statements: str, verdict: str) -> None:
    found = scan(k=_WARP.format(statements=statements, thread="i", launch="launch", dim="8"))
    assert {s.verdict for s in found.sites if s.class_ == "float-accumulate"} == {verdict}


@pytest.mark.parametrize(
    ("thread", "cell", "launch", "dim", "verdict"),
    [
        ("i, j", "i, j", "launch", "(4, 5)", "no"),
        ("i, j", "i", "launch", "(4, 5)", "yes"),
        ("i", "i", "launch", "(4, 5)", "yes"),  # the threads of a row have one number
        ("i", "i", "launch_tiled", "4", "yes"),  # those of a block, too
    ],
)
def test_as_many_numbers_as_the_launch_has_dimensions(
    thread: str, cell: str, launch: str, dim: str, verdict: str
) -> None:
    statements = f"wp.atomic_add(force, {cell}, wp.vec3(dt))"
    found = scan(k=_WARP.format(statements=statements, thread=thread, launch=launch, dim=dim))
    assert [s.verdict for s in found.sites] == [verdict]


@pytest.mark.parametrize(
    ("first", "then", "class_"),
    [
        ("tl.zeros((16,), dtype=tl.float32)", "acc.to(tl.float32)", "float-accumulate"),
        ("tl.zeros((16,), dtype=acc_dtype)", "acc.to(tl.float32) * scale", "float-accumulate"),
        ("tl.zeros((16,), dtype=acc_dtype)", "tl.dot(a, b, acc, out_dtype=acc_dtype)", "unknown"),
        ("tl.zeros((16,), dtype=tl.int32)", "tl.dot(a, b, acc, out_dtype=tl.int32)", "unknown"),
    ],
)
def test_a_sum_that_is_cast_to_the_type_of_its_place(first: str, then: str, class_: str) -> None:
    found = scan(
        k=f"""
        import triton
        import triton.language as tl
        @triton.jit
        def matmul(C, a, b, scale, acc_dtype: tl.constexpr):
            acc = {first}
            acc = {then}
            acc = acc.to(C.dtype.element_ty)
            tl.atomic_add(C + tl.arange(0, 16), acc)
    """
    )
    assert [s.class_ for s in found.sites] == [class_]


@pytest.mark.parametrize(
    ("added", "class_"), [("tl.dot(a, b, allow_tf32=False)", "float-accumulate"), ("tl.load(a)", "unknown")]
)
def test_what_is_added_to_a_name_is_of_its_kind(added: str, class_: str) -> None:
    found = scan(
        k=f"""
        import triton
        import triton.language as tl
        @triton.jit
        def matmul(C, a, b, n, acc_dtype: tl.constexpr):
            acc = tl.zeros((16,), dtype=acc_dtype)
            for _ in range(n):
                acc += {added}
            acc = acc.to(C.dtype.element_ty)
            tl.atomic_add(C + tl.arange(0, 16), acc)
    """
    )
    assert [s.class_ for s in found.sites] == [class_]


def test_lines_of_a_source_that_go_on_in_the_next_line() -> None:
    source = r"""
        import jinja2
        kernel = jinja2.Template(
            '''
        #define CHECK(call) \
          do { call; } while (0)
        __global__ void count(int* counts, const int* at) {
          atomicAdd(&counts[at[threadIdx.x]], 1);
        }
        ''')
    """.replace("\\'", "'")
    found = scan(k=source)
    assert [(s.location.line, s.verdict) for s in found.sites] == [(8, "no")]


def test_cells_of_arrays_in_a_struct_of_warp() -> None:
    found = scan(
        kernels="""
        import warp as wp
        @wp.struct
        class State:
            force: wp.array(dtype=wp.vec3)
            seen: wp.array(dtype=wp.int32)
            total: wp.vec3
        @wp.kernel
        def k(state: State, x: wp.array(dtype=wp.vec3), at: wp.array(dtype=wp.int32)):
            tid = wp.tid()
            state.force[at[tid]] += x[tid]
            state.seen[at[tid]] += at[tid]
            state.total[0] += 1.0
            state.force[tid] -= x[tid]
    """
    ).sites
    assert [(s.location.line, s.class_, s.verdict) for s in found] == [
        (11, "float-accumulate", "yes"), (12, "commutative-exact", "no"),
    ]  # fmt: skip
