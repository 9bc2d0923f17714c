"""Kernel languages that are Python: cuTile, what builds MLIR, dtypes chosen by a test, and what is not read."""

from __future__ import annotations

import textwrap

import pytest

from d9mlint.kernels.embedded.finding import find
from d9mlint.kernels.source.repository import Repository

from .embedded_programs import only, scan


@pytest.mark.parametrize(
    "line, class_, verdict",
    [
        ("ct.atomic_add(out, 0, x * 0.5)", "float-accumulate", "yes"),
        ("ct.atomic_add(out, 0, x)", "unknown", "conditional"),
        ("ct.atomic_max(out, 0, x)", "commutative-exact", "no"),
        ("last = ct.atomic_add(out, 0, 1) == n - 1", "order-dependent", "no"),
    ],
)
def test_cutile(line: str, class_: str, verdict: str) -> None:
    found = only(f"""
        import cuda.tile as ct

        @ct.kernel
        def k(out, a, n: ct.Constant[int]):
            x = ct.load(a, index=(ct.bid(0),), shape=(16,))
            {line}
    """)
    assert (found.class_, found.verdict) == (class_, verdict), found.reason


_BUILT = """
    import flydsl.expr as fx
    from flydsl._mlir.dialects import llvm

    def build(n):
        def add_at(tensor, at, value):
            ptr = fx.element(tensor, at)
            return fx.Uint32(llvm.AtomicRMWOp(llvm.AtomicBinOp.add, ptr, value, llvm.AtomicOrdering.monotonic).result)

        @fx.kernel
        def k(out, counts, x):
            add_at(counts, 0, 1)
            slot = add_at(counts, 1, 1)
            fx.store(out, slot, x)
            llvm.AtomicRMWOp(llvm.AtomicBinOp.fadd, out, x, llvm.AtomicOrdering.monotonic)
            llvm.AtomicCmpXchgOp(counts, x, n, llvm.AtomicOrdering.monotonic, llvm.AtomicOrdering.monotonic)
        return k

    def other(add_at):
        add_at(1, 2, 3)
"""


def test_operations_of_mlir_and_the_functions_around_them() -> None:
    found = [(s.location.line, s.form, s.class_, s.verdict) for s in scan(kernels=_BUILT).sites]
    assert found == [
        (8, "wrapper-def", "order-dependent", "depends"),
        (12, "wrapper", "commutative-exact", "no"),
        (13, "wrapper", "order-dependent", "yes"),
        (15, "direct", "float-accumulate", "yes"),
        (16, "direct", "order-dependent", "conditional"),
    ]


def test_what_no_language_here_knows_is_told() -> None:
    text = textwrap.dedent("""
        import flydsl.compiler as flyc
        from somewhere import buffer_atomic_fadd

        @flyc.kernel
        def k(out, x):
            buffer_atomic_fadd(x, out)
            rocdl.atomic_add_f32(out, x)

        def host(ext, out):
            ext.atomic_add_forward(out)
    """).encode()
    repository = Repository({"kernels.py": text}, lambda _: text)
    assert find(repository).sites == ()
    assert repository.unchecked == {"kernels.py": "a call of an atomic could not be read, the first in line 8"}


_CHOSEN = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _kernel(dy, grad, other, ROWS: tl.constexpr):
        at = tl.arange(0, 16)
        base = grad + at
        value = tl.load(dy + at)
        if ROWS == 1:
            {first}
        else:
            tl.atomic_add(base, value)

    def backward(dy, scale, rows, more):
        chosen = scale.dtype if rows == 1 else {otherwise}
        if more:
            chosen = more.dtype if rows == 1 else {otherwise}
        grad = torch.empty(dy.shape, dtype=chosen)
        again = grad if more is None else torch.empty(dy.shape, dtype=chosen)
        _kernel[(1,)](dy, grad, again, ROWS=rows)
"""


def test_a_dtype_that_the_test_around_the_atomic_chooses() -> None:
    found = only(_CHOSEN.format(first="tl.store(base, value)", otherwise="torch.float32"))
    assert (found.target_type, found.class_, found.verdict) == ("torch.float32", "float-accumulate", "yes")
    assert only(_CHOSEN.format(first="tl.store(base, value)", otherwise="torch.int32")).class_ == "commutative-exact"
    assert only(_CHOSEN.format(first="tl.store(base, value)", otherwise="dy.dtype")).verdict == "conditional"
    both = scan(kernels=_CHOSEN.format(first="tl.atomic_add(base, value)", otherwise="torch.float32")).sites
    assert [s.class_ for s in both] == ["unknown", "float-accumulate"]


def test_a_folder_without_init_inside_of_a_package_is_part_of_its_name() -> None:
    kernel = """
        import triton
        import triton.language as tl

        @triton.jit
        def _kernel(out, x):
            tl.atomic_add(out, tl.load(x) * 2.0)

        def launch(out, x):
            _kernel[(1,)](out, x)
    """
    found = scan({"pkg/__init__.py": "", "pkg/_src/ops/__init__.py": "", "pkg/_src/ops/rows.py": kernel})
    assert [op.name for op in found.ops] == ["pkg._src.ops.rows.launch"]
    assert [op.name for op in scan({"scripts/rows.py": kernel}).ops] == ["rows.launch"]


@pytest.mark.parametrize("how", ["OptionalImport('triton')", "importlib.import_module('triton')", "make('triton')"])
def test_modules_that_a_function_imports_by_name(how: str) -> None:
    text = textwrap.dedent(f"""
        triton = {how}
        tl = triton.language

        @triton.jit
        def k(out, x):
            tl.atomic_add(out, tl.load(x) * 2.0)
    """).encode()
    repository = Repository({"kernels.py": text}, lambda _: text)
    found = [(s.atomic, s.class_) for s in find(repository).sites]
    told = {"kernels.py": "a call of an atomic could not be read, the first in line 7"}
    assert found == ([("tl.atomic_add", "float-accumulate")] if "mport" in how else [])
    assert repository.unchecked == ({} if "mport" in how else told)


def test_a_zero_of_the_type_of_an_array_is_a_float_where_it_is_written_as_one() -> None:
    kernel = """
        import warp as wp

        def build(dtype):
            def k(out: wp.array(ndim=1, dtype=real_of(dtype)), x: wp.array(ndim=1, dtype=real_of(dtype))):
                total = x.dtype({zero})
                total += x[0]
                wp.atomic_add(out, 0, total)
            return wp.Kernel(k)
    """
    assert only(kernel.format(zero="0.0")).class_ == "float-accumulate"
    assert only(kernel.format(zero="0")).class_ == "unknown"


def test_a_language_that_a_module_of_the_project_hands_on() -> None:
    found = scan({
        "pkg/__init__.py": "",
        "pkg/_triton.py": """
            try:
                import triton
                import triton.language as tl
            except ImportError:
                triton = tl = None
        """,
        "pkg/ops.py": """
            from pkg._triton import tl, triton
            @triton.jit
            def _sum(x_ptr, at_ptr, out_ptr, n, BLOCK: tl.constexpr):
                at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                x = tl.load(x_ptr + at).to(tl.float32)
                tl.atomic_add(out_ptr + tl.load(at_ptr + at), x)
            def scatter(x, at, out):
                _sum[(1,)](x, at, out, 4, BLOCK=4)
        """,
    })  # fmt: skip
    assert [(s.class_, s.verdict) for s in found.sites] == [("float-accumulate", "yes")]
    assert [op.name for op in found.ops] == ["pkg.ops.scatter"]


def test_code_that_pccm_puts_together() -> None:
    found = scan({
        "pool.py": '''
            import pccm
            class Pool(pccm.Class):
                @pccm.cuda.cuda_global_function
                def rearrange(self):
                    code = pccm.FunctionCode()
                    code.arg("out", "int*")
                    code.raw(f"""
                    for (int i : KernelLoopX<int>(n)) {{
                        auto old = atomicAdd(counts + at[i], 1);
                        out[at[i] * n + old] = i;
                    }}
                    """)
                    return code
        ''',
    })  # fmt: skip
    assert [(s.class_, s.verdict) for s in found.sites] == [("order-dependent", "yes")]


EAGER = """
    import tilelang
    import tilelang.language as T

    @tilelang.jit
    def split(A, C, done, block, dtype, count_dtype=T.int32):
        M = T.const("M")
        A: T.Tensor((M,), dtype)
        C: T.Tensor((M,), dtype)
        done: T.Tensor[[M], count_dtype]
        with T.Kernel(4) as b:
            {line}

    def run(a, c, done):
        split(a, c, done, 8, {given})
"""


@pytest.mark.parametrize(
    "line, given, class_, verdict",
    [
        ("T.atomic_add(C[b], A[b])", "T.float32", "float-accumulate", "yes"),
        ("T.atomic_addx4(C[b], A[b])", "dtype=T.float32", "float-accumulate", "yes"),
        ("T.atomic_add(C[b], A[b])", "T.int32", "commutative-exact", "no"),
        ("T.atomic_add(C[b], A[b])", "a.dtype", "unknown", "conditional"),
        ("T.atomic_add(done[b], A[b])", "T.float32", "commutative-exact", "no"),
        ("T.atomic_add(done[b], b)", "T.float32, T.float32", "unknown", "conditional"),
    ],
)
def test_types_that_the_body_of_a_tilelang_kernel_declares(line: str, given: str, class_: str, verdict: str) -> None:
    """By the dtype that its calls hand in, and the default of the parameter; calls of two kinds say nothing."""
    site = only(EAGER.format(line=line, given=given))
    assert (site.class_, site.verdict) == (class_, verdict), site.reason


def test_a_tilelang_kernel_is_called_by_its_own_name() -> None:
    found = scan(kernels=EAGER.format(line="T.atomic_add(C[b], A[b])", given="T.float32"))
    assert [op.name for op in found.ops] == ["kernels.split"]
    assert found.sites[0].location in found.ops[0].sites


def test_atomics_on_buffers_of_amd_gpus() -> None:
    """``rocdl`` of MLIR: the value, then the resource."""
    found = scan(
        kernels="""
        from flydsl._mlir.dialects import rocdl

        def kernel(x, resource, zero):
            rocdl.raw_ptr_buffer_atomic_fadd(x, resource, zero, zero, zero)
            rocdl.raw_ptr_buffer_atomic_smax(x, resource, zero, zero, zero)
            rocdl.raw_ptr_buffer_store(x, resource, zero, zero, zero)

        kernel[1](1, 2, 3)
        """
    ).sites
    assert [(s.location.line, s.class_, s.verdict) for s in found] == [
        (5, "float-accumulate", "yes"),
        (6, "commutative-exact", "no"),
    ]


def test_a_wrapper_of_a_package_that_is_installed_under_another_name() -> None:
    found = scan(
        {
            "flux_extra/__init__.py": "",
            "flux_extra/lang/__init__.py": "from ._impl import *",
            "flux_extra/lang/_impl.py": """
            import triton
            import triton.language as tl
            @triton.jit
            def atomic_add(ptr, value):
                return tl.inline_asm_elementwise(
                    "atom.relaxed.gpu.global.add.s32 $0, [$1], $2;", "=r,l,r", [ptr, value], tl.int32, False, 1)
            """,
            "run.py": """
            import triton
            import triton.language as tl
            from flux.extra.lang import atomic_add
            from other.things import atomic_max

            @triton.jit
            def kernel(out):
                atomic_add(out, tl.program_id(0))
                atomic_max(out, tl.program_id(0))

            kernel[(4,)](None)
            """,
        }
    ).sites
    told = [(s.location.line, s.form, s.class_, s.verdict) for s in found if s.location.path == "run.py"]
    assert told == [(9, "wrapper", "commutative-exact", "no")]


def test_what_is_cast_to_the_type_of_the_target_is_a_float_where_floats_are_computed() -> None:
    site = only("""
        import triton
        import triton.language as tl
        @triton.jit
        def kernel(c_ptr, a, b, n: tl.constexpr):
            acc = tl.zeros((n,), dtype=tl.float32)
            acc += tl.dot(a, b)
            c = acc.to(c_ptr.type.element_ty)
            tl.atomic_add(c_ptr + tl.arange(0, n), c)
    """)
    assert (site.class_, site.verdict) == ("float-accumulate", "yes")
