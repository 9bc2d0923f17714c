"""Kernels inside Python files: what is found and how it is judged."""

from __future__ import annotations

import pytest

from .embedded_programs import only, scan

TRITON = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _kernel(x_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
        pid = tl.program_id(0)
        offs = pid * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        {line}
"""


@pytest.mark.parametrize(
    "line, class_, verdict, use",
    [
        ("tl.atomic_add(out_ptr + offs % 8, x.to(tl.float32))", "float-accumulate", "yes", "unused"),
        ("tl.atomic_add(out_ptr, tl.sum(x * 2.0, axis=0))", "float-accumulate", "yes", "unused"),
        ("tl.atomic_add(out_ptr + offs % 8, x)", "unknown", "conditional", "unused"),
        ("tl.atomic_add(out_ptr + offs % 8, (x > 0).to(tl.int32))", "commutative-exact", "no", "unused"),
        ("tl.atomic_add(count_ptr, 1)", "commutative-exact", "no", "unused"),
        ("tl.atomic_max(out_ptr, x.to(tl.float32))", "commutative-exact", "no", "unused"),
        ("tl.atomic_xor(out_ptr, x)", "commutative-exact", "no", "unused"),
        ("tl.atomic_xchg(out_ptr, x)", "order-dependent", "conditional", "unused"),
        ("tl.atomic_xchg(out_ptr, 0)", "order-dependent", "no", "unused"),
        ("slot = tl.atomic_add(count_ptr, 1); tl.store(out_ptr + slot, pid)", "order-dependent", "yes", "index"),
        ("last = tl.atomic_add(count_ptr, 1) == n - 1", "order-dependent", "no", "ticket"),
        (
            "t = tl.atomic_add(count_ptr, 1)\n        if t % 4 < n:\n            tl.store(out_ptr, x)",
            "order-dependent",
            "yes",
            "value",
        ),
        ("return tl.atomic_add(count_ptr, 1)", "order-dependent", "depends", "forwarded"),
    ],
)
def test_triton(line: str, class_: str, verdict: str, use: str) -> None:
    site = only(TRITON.format(line=line))
    assert (site.class_, site.verdict, site.return_use) == (class_, verdict, use), site.reason
    assert site.function == "_kernel" and site.form == "direct" and site.qualifier == ""
    assert site.location.line == 11


def test_a_triton_lock_orders_its_users() -> None:
    site = only("""
        import triton, triton.language as tl
        @triton.jit
        def kernel(Lock, DW, w):
            while tl.atomic_cas(Lock, 0, 1) == 1:
                pass
    """)
    assert (site.class_, site.verdict, site.intrinsic) == ("order-dependent", "conditional", "atomicCAS")
    assert "lock" in site.reason


def test_triton_takes_the_type_from_the_launch_and_the_scope_from_the_call() -> None:
    site = only("""
        import torch
        import triton
        from triton import language as tl
        @triton.jit
        def histogram(x_ptr, out_ptr):
            tl.atomic_add(out_ptr + tl.program_id(0) % 4, tl.load(x_ptr), scope="cta")
        def run(x):
            out = torch.zeros(4, dtype=torch.int32, device=x.device)
            histogram[(8,)](x, out)
            return out
    """)
    assert (site.target_type, site.class_, site.verdict, site.scope) == (
        "torch.int32", "commutative-exact", "no", "block",
    )  # fmt: skip


def test_names_are_resolved_through_imports() -> None:
    found = scan(
        kernels="""
            import triton
            from triton.language import atomic_add as accumulate
            import mylib as tl
            @triton.jit
            def kernel(p):
                accumulate(p, 1.0 * 3)
                tl.atomic_add(p, 2.0)
        """,
        other="""
            class atomic: pass
            def atomic_add(a, b): return a + b
            atomic_add(1, 2)  # triton
        """,
    )
    assert [s.atomic for s in found.sites] == ["accumulate"]


def test_numba() -> None:
    found = scan(
        kernels="""
        from numba import cuda, float32
        import numba

        @cuda.jit("void(float64[:], int32[:], float64[:])")
        def signed(acc, hist, data):
            i = cuda.grid(1)
            cuda.atomic.add(acc, i % 3, data[i])
            cuda.atomic.add(hist, 2, data[i])
            cuda.atomic.max(acc, 0, data[i])
            cuda.atomic.compare_and_swap(hist, -1, i)

        @cuda.jit
        def shared(data, out, cursor):
            tile = cuda.shared.array(32, dtype=float32)
            cuda.atomic.add(tile, 0, data[cuda.threadIdx.x])
            pos = cuda.atomic.add(cursor, 0, 1)
            out[pos] = data[0]
    """
    )
    assert [(s.location.line, s.class_, s.verdict, s.target_type, s.memory) for s in found.sites] == [
        (8, "float-accumulate", "yes", "float64", "global"),
        (9, "commutative-exact", "no", "int32", "global"),
        (10, "commutative-exact", "no", "float64", "global"),
        (11, "order-dependent", "conditional", "int32", "global"),
        (16, "float-accumulate", "yes", "float32", "shared"),
        (17, "order-dependent", "yes", "", "global"),
    ]
    assert found.sites[0].atomic == "cuda.atomic.add" and found.sites[0].intrinsic == "atomicAdd"


def test_warp_takes_types_from_annotations() -> None:
    found = scan(
        kernels="""
        import warp as wp
        @wp.kernel
        def loss(force: wp.array(dtype=wp.vec3), count: wp.array(dtype=int), total: wp.array(dtype=wp.float32),
                 out: wp.array(dtype=int)):
            i = wp.tid()
            wp.atomic_add(total, 0, float(i))
            wp.atomic_add(force, i, wp.vec3(1.0, 0.0, 0.0))
            k = wp.atomic_add(count, 0, 1)
            out[k] = i
        def run(force, count, total, out):
            wp.launch(loss, dim=4, inputs=[force, count, total, out])
    """
    )
    assert [(s.class_, s.verdict) for s in found.sites] == [
        ("float-accumulate", "yes"), ("float-accumulate", "no"), ("order-dependent", "yes"),
    ]  # fmt: skip
    assert [op.name for op in found.ops] == ["kernels.run"]


def test_pallas() -> None:
    found = scan(
        kernels="""
        import jax.numpy as jnp
        from jax.experimental import pallas as pl
        from jax.experimental.pallas import triton as plgpu
        def kernel(x_ref, o_ref, c_ref):
            plgpu.atomic_add(o_ref, (0,), x_ref[...].astype(jnp.float32))
            pl.atomic_max(o_ref, (0,), x_ref[...])
            old = plgpu.atomic_add(c_ref, (0,), 1)
            o_ref[old] = 1
        def run(x):
            return pl.pallas_call(kernel, out_shape=x)(x)
    """
    )
    assert [(s.class_, s.verdict) for s in found.sites] == [
        ("float-accumulate", "yes"), ("commutative-exact", "no"), ("order-dependent", "yes"),
    ]  # fmt: skip
    assert [op.name for op in found.ops] == ["kernels.run"]


def test_a_raw_kernel_is_judged_like_any_source_at_its_place() -> None:
    found = scan(
        {
            "pkg/__init__.py": "",
            "pkg/sums.py": '''
        import cupy as cp

        _SOURCE = r"""
        extern "C" __global__ void sum(const float* x, float* out, int* n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          atomicAdd(out, x[i]);    // MARK
          atomicAdd(n, 1);         /* atomicAdd(out, 1.f) */
        }
        """
        _sum = cp.RawKernel(_SOURCE, "sum")

        def total(x):
            out = cp.zeros(1)
            _sum((1,), (32,), (x, out))
            return out
    ''',
        }
    )
    assert [(s.location.line, s.function, s.qualifier, s.class_, s.verdict) for s in found.sites] == [
        (7, "sum", "__global__", "float-accumulate", "yes"),
        (8, "sum", "__global__", "commutative-exact", "no"),
    ]
    assert found.sites[0].location.path == "pkg/sums.py" and found.sites[0].location.column == 3
    assert [(op.name, op.python, op.framework) for op in found.ops] == [("pkg.sums.total", ("pkg.sums.total",), "")]
    assert len(found.ops[0].sites) == 2


def test_elementwise_kernels() -> None:
    found = scan(
        kernels="""
        import cupy
        scatter = cupy.ElementwiseKernel(
            "raw int32 index, float32 x", "raw float32 out",
            "atomicAdd(&out[index[i]], x)",
            "scatter")
        count = cupy.ElementwiseKernel("int32 bin", "raw int32 out", "atomicAdd(&out[bin], 1);", "count")
        plain = cupy.ElementwiseKernel("T x", "T y", "y = x", "plain")
        def add(index, x, out): scatter(index, x, out)
    """
    )
    assert [(s.location.line, s.class_, s.verdict) for s in found.sites] == [
        (5, "float-accumulate", "yes"), (7, "commutative-exact", "no"),
    ]  # fmt: skip
    assert [op.name for op in found.ops] == ["kernels.add"]


def test_a_wrapper_of_elementwise_kernels_is_known_by_what_it_is_given() -> None:
    site = only("""
        from framework.backends import cuda
        def add(x, index, out):
            cuda.elementwise("T x, int32 index", "raw T out", "atomicAdd(&out[index], x)", "add")(x, index, out)
            cuda.log("T x", "a, b", "no atomicAdd(here)")
    """)
    assert (site.location.line, site.verdict) == (4, "conditional")


def test_library_scatter_of_cupy() -> None:
    site = only("""
        import cupy, cupyx
        def f(a, i, v):
            cupyx.scatter_add(a, i, v)
    """)
    assert (site.class_, site.verdict, site.function) == ("unknown", "conditional", "f")


@pytest.mark.parametrize(
    "load",
    [
        "load_inline(name='m', cpp_sources='', cuda_sources=SOURCE, functions=['run'])",
        "load_inline(name='m', cpp_sources='', cuda_sources=[SOURCE], functions=['run'])",
    ],
)
def test_load_inline(load: str) -> None:
    found = scan(
        kernels=f'''
        from torch.utils.cpp_extension import load_inline
        SOURCE = """
        __global__ void k(float* o) {{ atomicAdd(o, 2.f * threadIdx.x); }}
        """
        module = {load}
        def public(o):
            module.run(o)
    '''
    )
    assert [(s.location.line, s.verdict) for s in found.sites] == [(4, "yes")]
    assert [op.name for op in found.ops] == ["kernels.public"]


def test_a_source_in_a_string_that_only_uses_a_function_of_pytorch() -> None:
    found = scan(
        kernels='''
        from torch.utils.cpp_extension import load_inline
        SOURCE = """
        __global__ void k(float* o, const int* i, const float* x) { gpuAtomicAdd(o + i[threadIdx.x], x[threadIdx.x]); }
        """
        module = load_inline(name='m', cpp_sources='', cuda_sources=SOURCE, functions=['run'])
        def public(o):
            module.run(o)
    '''
    )
    assert [(s.location.line, s.class_) for s in found.sites] == [(4, "float-accumulate")]


def test_compile_kernel_and_source_module_and_f_strings() -> None:
    found = scan(
        kernels='''
        import torch
        from pycuda.compiler import SourceModule
        def make(kind):
            k = torch.cuda._compile_kernel("__global__ void k(double* o) { atomicAdd(o, 1.5 * threadIdx.x); }", "k")
            m = SourceModule("""
                __global__ void count(int* o) { atomicAdd(o, 3); }
            """)
            return SourceModule(f"""
                __global__ void typed({kind}* o, {kind} v) {{
                    atomicAdd(o, v + threadIdx.x);
                }}
            """)
    '''
    )
    assert [(s.location.line, s.class_) for s in found.sites] == [
        (5, "float-accumulate"), (7, "commutative-exact"), (11, "unknown"),
    ]  # fmt: skip
    assert all(op.name == "kernels.make" for op in found.ops) and len(found.ops) == 1


def test_documentation_is_no_source() -> None:
    found = scan(
        kernels='''
        """__global__ void k(float* o) { atomicAdd(o, 1.f); }"""
        import cupy
        def f():
            """Example: __global__ void k(float* o) { atomicAdd(o, 1.f); }"""
    '''
    )
    assert found.sites == () and found.ops == ()


def test_reductions_and_flags_of_the_cute_dsl() -> None:
    found = scan(
        {
            "a.py": """
        from functools import partial

        import cutlass
        import cutlass.cute as cute
        import cutlass.utils as utils
        from cutlass.experimental import primitives as prims

        smem_fmax = partial(cute.arch.atomic_fmax, sem="relaxed", scope="cta")

        @cute.kernel
        def kernel(ptr, flag, x, whole: cutlass.Constexpr, most: cutlass.Constexpr):
            cute.arch.atomic_fmax(ptr, x, sem="relaxed", scope="cluster")
            smem_fmax(ptr, x)
            utils.distributed.multimem_red_add1(lock_ptr=flag, order="release", scope="gpu")
            utils.distributed.spin_lock_atom_cas_relaxed_wait(flag, expected_val=8, reset_val=0, scope="gpu")
            cute.arch.red(ptr, x, op="add", dtype="f32")
            cute.arch.red(ptr, x, op="add", dtype=cutlass.Int32)
            prims.red(prims.ReductionOp.ADD, prims.ReductionType.BF16X2, ptr, x)
            op = prims.ReductionOp.MAX if most else prims.ReductionOp.ADD
            if most:
                op = prims.ReductionOp.MAX
            else:
                op = prims.ReductionOp.ADD
            kind = prims.ReductionType.F32
            if whole:
                kind = prims.ReductionType.S32
            prims.red(op, kind, ptr, x)
            prims.red(prims.ReductionOp.MIN, kind, ptr, x)
            prims.red(whole, kind, ptr, x)
            prims.cp_reduce_async_bulk_global_shared_cta(ptr, x, 64)
            prims.cp_reduce_async_bulk_global_shared_cta(ptr, x, 64, op=prims.CpReduceOp.MAX, type=kind)
            prims.cp_reduce_async_bulk_global_shared_cta(ptr, x, 64, op=op, type=prims.CpReduceType.U64)
            prims.cp_async_bulk_tensor_reduce(ptr, x, prims.TMARedux.ADD, [0])
            prims.cp_async_bulk_global_shared_cta(ptr, x, 64)
    """
        }
    )
    assert [(s.location.line, s.class_, s.verdict) for s in found.sites] == [
        (13, "commutative-exact", "no"),
        (14, "commutative-exact", "no"),
        (15, "commutative-exact", "no"),
        (16, "order-dependent", "no"),
        (17, "float-accumulate", "yes"),
        (18, "commutative-exact", "no"),
        (19, "float-accumulate", "yes"),
        (28, "unknown", "conditional"),
        (29, "commutative-exact", "no"),
        (30, "unknown", "conditional"),
        (31, "float-accumulate", "yes"),
        (32, "commutative-exact", "no"),
        (33, "commutative-exact", "no"),
        (34, "unknown", "conditional"),
    ]


@pytest.mark.parametrize(
    "said, class_",
    [
        ("self.kind = cutlass.Float32", "float-accumulate"),
        ("self.kind = cutlass.Int32", "commutative-exact"),
        ("assert self.kind == cutlass.Float32", "float-accumulate"),
        ("self.kind = kind\n            assert self.kind is cutlass.Float32, 'no other'", "float-accumulate"),
        ("assert self.kind != cutlass.Float32", "unknown"),
        ("assert self.other == cutlass.Float32", "unknown"),
        ("self.kind = self.other", "unknown"),
    ],
)
def test_a_type_that_the_object_of_a_kernel_holds(said: str, class_: str) -> None:
    site = only(f"""
    import cutlass
    import cutlass.cute as cute

    class Gemm:
        def __init__(self, kind):
            {said}

        @cute.jit
        def add(self, ptr, x):
            cute.arch.red(ptr, x, op="add", dtype=self.kind)
    """)
    assert site.class_ == class_, site.reason


_SEMAPHORE = {
    "pkg/__init__.py": "",
    "pkg/sync.py": """
        import cutlass.cute as cute
        from cutlass._mlir.dialects import nvvm

        class Semaphore:
            def __init__(self, flag):
                self.flag = flag

            def arrive(self, amount):
                cute.arch.red(self.flag, amount, op="add", dtype="s32")

            def take(self):
                return nvvm.atomicrmw(op=nvvm.AtomicOpKind.ADD, ptr=self.flag.ir(), a=1)
    """,
    "pkg/kernel.py": """
        import cutlass.cute as cute
        from .sync import Semaphore
        from .other import Counter

        def make(flag) -> Semaphore:
            return Semaphore(flag)

        @cute.kernel
        def kernel(flag, out, given: Semaphore, unknown):
            sem = make(flag)
            sem.arrive(1)
            given.arrive(1)
            place = sem.take()
            out[place] = 1
            counter = Counter(flag)
            counter.arrive(1)
            unknown.arrive(1)
    """,
}


def test_a_method_of_a_local_object_that_wraps_an_atomic() -> None:
    found = scan(_SEMAPHORE).sites
    assert [(s.location.path, s.location.line, s.form, s.class_, s.verdict) for s in found] == [
        ("pkg/kernel.py", 12, "wrapper", "commutative-exact", "no"),
        ("pkg/kernel.py", 13, "wrapper", "commutative-exact", "no"),
        ("pkg/kernel.py", 14, "wrapper", "order-dependent", "yes"),
        ("pkg/sync.py", 10, "direct", "commutative-exact", "no"),
        ("pkg/sync.py", 13, "direct", "order-dependent", "depends"),
    ]


CUTE = {
    "pkg/__init__.py": "",
    "pkg/ops.py": """
        import cutlass
        from cutlass import Float32, Int32, cute
        from cutlass.cutlass_dsl import dsl_user_op
        from cutlass._mlir.dialects import llvm, nvvm

        @dsl_user_op
        def add_f32(a: Float32, gmem_ptr, *, loc=None, ip=None) -> None:
            nvvm.atomicrmw(op=nvvm.AtomicOpKind.FADD, ptr=gmem_ptr.llvm_ptr, a=Float32(a).ir_value())

        @dsl_user_op
        def add_i32(a, ptr) -> Int32:
            return Int32(nvvm.atomicrmw(op=nvvm.AtomicOpKind.ADD, ptr=ptr.llvm_ptr, a=a))

        @dsl_user_op
        def add_f32x4(a, gmem_ptr) -> None:
            address = gmem_ptr.toint().ir_value()
            llvm.inline_asm(None, [address, a], "red.global.add.v4.f32 [$0], $1;", "l,f", has_side_effects=True)
    """,
    "pkg/kernels.py": """
        import cutlass.cute as cute
        from pkg import ops
        from pkg.ops import add_f32x4

        class Backward:
            @cute.kernel
            def kernel(self, acc, out, count, small):
                ops.add_f32(acc[0], out.iterator)
                add_f32x4(acc[1], out.iterator)
                ops.add_i32(1, count)
                cute.arch.atomic_add(ptr=out.iterator, val=small.to(cute.Float32))
                cute.arch.atomic_max(out.iterator, acc[2])
    """,
    "pkg/interface.py": """
        from pkg.kernels import Backward

        def backward(x):
            Backward()(x)
    """,
}


def test_cute_dsl() -> None:
    found = scan(CUTE)
    assert [(s.location.path[4:], s.location.line, s.form, s.class_, s.verdict) for s in found.sites] == [
        ("kernels.py", 9, "wrapper", "float-accumulate", "yes"),
        ("kernels.py", 10, "wrapper", "float-accumulate", "yes"),
        ("kernels.py", 11, "wrapper", "commutative-exact", "no"),
        ("kernels.py", 12, "direct", "float-accumulate", "yes"),
        ("kernels.py", 13, "direct", "commutative-exact", "no"),
        ("ops.py", 9, "wrapper-def", "float-accumulate", "depends"),
        ("ops.py", 13, "wrapper-def", "order-dependent", "depends"),
        ("ops.py", 18, "wrapper-def", "float-accumulate", "depends"),
    ]
    assert [(op.name, len(op.sites)) for op in found.ops] == [("pkg.interface.backward", 5)]


def test_tilelang() -> None:
    found = scan(
        kernels="""
        import tilelang
        import tilelang.language as T

        def kernel(out, x, n):
            T.atomic_add(out[0], 1.5 * x[0])
            T.atomic_max(out[0], x[0])
    """
    )
    assert [(s.atomic, s.class_, s.verdict) for s in found.sites] == [
        ("T.atomic_add", "float-accumulate", "yes"),
        ("T.atomic_max", "commutative-exact", "no"),
    ]


def test_tilelang_types_stand_in_annotations_and_in_names_around_the_kernel() -> None:
    """A macro has the types of what all its callers hand on; where these differ nothing is known."""
    found = scan(
        kernels="""
        import tilelang
        import tilelang.language as T

        def build(n, dtype, counts="int32"):
            accum = T.float32
            @T.macro
            def body(out, other, hist, mixed, i):
                part = T.alloc_fragment((n,), accum)
                T.atomic_add(out[i], part[i])
                T.atomic_add(other[i], other[0])
                T.atomic_add(hist[i], 1 + i)
                T.atomic_add(mixed[i], other[i])
            @T.prim_func
            def first(a: T.Tensor((n,), accum), b: T.Tensor((n,), dtype), h: T.Tensor((n,), counts)):
                body(a, b, h, a, 0)
            @T.prim_func
            def second(a: T.Tensor((n,), accum), b: T.Tensor((n,), dtype), h: T.Tensor((n,), counts)):
                body(a, b, h, h, 0)
            return first
    """
    )
    assert [(s.target_type, s.class_, s.verdict) for s in found.sites] == [
        ("T.float32", "float-accumulate", "yes"),
        ("dtype", "unknown", "conditional"),
        ("int32", "commutative-exact", "no"),
        ("", "unknown", "conditional"),
    ]


def test_floats_that_are_stored_in_the_type_of_their_target() -> None:
    """``accumulator.to(c_ptr.dtype.element_ty)``: whoever computes in floats stores floats."""
    source = """
import triton
import triton.language as tl
@triton.jit
def k(c_ptr, a_ptr, idx):
    total = tl.zeros((16, 16), dtype=tl.float32)
    total += tl.dot(tl.load(a_ptr), tl.load(a_ptr))
    tl.atomic_add(c_ptr + tl.load(idx), total.to(c_ptr.dtype.element_ty))
    tl.atomic_add(c_ptr + tl.load(idx), tl.load(idx).to(c_ptr.dtype.element_ty))
"""
    found = scan(k=source).sites
    assert [(site.class_, site.verdict) for site in found] == [("float-accumulate", "yes"), ("unknown", "conditional")]


def test_a_tile_of_warp_is_added_to_an_array() -> None:
    site = only("""
        import warp as wp
        @wp.kernel
        def normal_matrix(rows: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float32)):
            total = wp.tile_sum(wp.tile_load(rows, shape=32, offset=wp.tid()))
            wp.tile_atomic_add(out, total, 0, False)
    """)
    assert (site.class_, site.verdict, site.target_type) == ("float-accumulate", "yes", "wp.float32"), site.reason


def test_an_addition_to_a_cell_of_an_array_of_warp_is_atomic() -> None:
    found = scan(
        kernels="""
        import warp as wp
        from warp import array2d
        @wp.func
        def spread(out: wp.array(dtype=float), cell: int, x: float):
            out[cell] += x
        @wp.kernel
        def splat(at: wp.array(dtype=int), x: wp.array(dtype=float), grid: array2d(dtype=wp.vec3),
                  count: wp.array(dtype=int), own: wp.array2d(dtype=float), scale: float):
            i, j = wp.tid()
            cell = at[i]
            grid[cell, j] -= wp.vec3(x[i], 0.0, 0.0)
            count[cell] += 1
            own[i, j] += x[i]
            own[j, 3] += x[i] * scale
            total = wp.vec3(0.0, 0.0, 0.0)
            total[0] += x[i]
            spread(x, cell, scale)
        def run(at, x, grid, count, own):
            wp.launch(splat, dim=(4, 4), inputs=[at, x, grid, count, own, 2.0])
    """
    )
    seen = [(s.location.line, s.atomic, s.intrinsic, s.class_, s.verdict, s.target_type) for s in found.sites]
    assert seen == [
        (6, "+=", "atomicAdd", "float-accumulate", "yes", "float"),
        (12, "-=", "atomicSub", "float-accumulate", "yes", "wp.vec3"),
        (13, "+=", "atomicAdd", "commutative-exact", "no", "int"),
        (15, "+=", "atomicAdd", "float-accumulate", "yes", "float"),
    ]
    assert [op.name for op in found.ops] == ["kernels.run"]


def test_an_addition_in_plain_python_is_none() -> None:
    found = scan(
        kernels="""
        import warp as wp
        from numba import cuda
        @cuda.jit
        def racing(out: wp.array(dtype=float), x):
            out[0] += x[cuda.grid(1)]
        def host(out: wp.array(dtype=float)):
            out[0] += 1.0
            wp.atomic_add(out, 0, 1.0)
    """
    )
    assert [s.atomic for s in found.sites] == ["wp.atomic_add"]


def test_the_value_of_an_atomic_of_warp_is_its_last_argument() -> None:
    site = only("""
        import warp as wp
        @wp.kernel
        def k(out: wp.array2d(dtype=Any), x: wp.array(dtype=float), at: wp.array(dtype=int)):
            i = wp.tid()
            wp.atomic_add(out, at[i], 0, x[i])
    """)
    assert (site.class_, site.verdict) == ("float-accumulate", "yes")


def test_the_addition_of_cutlass_s_utilities() -> None:
    site = only("""
        import cutlass
        from cutlass.utils.distributed import atomicAdd
        class Kernel:
            def kernel(self, counter, out):
                pos = atomicAdd(counter.iterator + cutlass.Int32(2), cutlass.Int32(1))
                out[pos] = cutlass.Int32(7)
    """)
    assert (site.class_, site.verdict, site.intrinsic) == ("order-dependent", "yes", "atomicAdd")


def test_inline_assembler_of_triton_and_the_functions_around_it() -> None:
    """The type may be put in by its width alone; a function without ``__init__`` above it is found by its folder."""
    found = scan(
        **{
            "pkg/extra/ext": """
            import triton
            import triton.language as tl
            from triton.language import core

            @core.extern
            def atomic_add(ptr, value, scope="gpu", _semantic=None):
                return tl.inline_asm_elementwise(
                    asm=f"atom.relaxed.{scope}.global.add.{'s' if ptr.dtype.element_ty.is_int_signed() else 'u'}"
                    f"{ptr.dtype.element_ty.primitive_bitwidth} $0, [$1], $2;",
                    constraints="=r,l,r", args=[ptr, value], is_pure=False, pack=1, dtype=tl.int32)

            @triton.jit
            def kernel(out, x):
                tl.inline_asm_elementwise("red.global.add.f32 [$1], $2;", "=r,l,r", [out, x], tl.int32, False, 1)

            def run(out, x):
                kernel[(1,)](out, x)
            """,
            "pkg/use": """
            import triton
            from extra.ext import atomic_add as add
            from extra.other import atomic_add

            @triton.jit
            def count(counts, out, at):
                add(counts + at, 1)
                slot = add(counts, 1)
                atomic_add(counts, 1)
                triton.language.store(out + slot, at)

            def launch(counts, out, at):
                count[(1,)](counts, out, at)
            """,
        }
    )
    assert [(s.location.path[4:], s.form, s.target_type, s.class_, s.verdict) for s in found.sites] == [
        ("extra/ext.py", "wrapper-def", "integer", "order-dependent", "depends"),
        ("extra/ext.py", "direct", "float", "float-accumulate", "yes"),
        ("use.py", "wrapper", "integer", "commutative-exact", "no"),
        ("use.py", "wrapper", "integer", "order-dependent", "yes"),
    ]


def test_work_that_is_fetched_by_a_counter() -> None:
    """The number of the task goes to a function, too: it is no ticket, though a loop compares it."""
    found = scan(
        kernels="""
        import triton
        import triton.language as tl

        @triton.jit
        def persistent(counter, x, n, profiler):
            task = tl.atomic_add(counter, 1)
            while task < n:
                profiler = work(task - 1, x, profiler)
                task = tl.atomic_add(counter, 1)

        @triton.jit
        def waits(counter, n):
            while tl.atomic_add(counter, 1) < n:
                pass
    """
    )
    assert [(s.class_, s.verdict) for s in found.sites] == [
        ("order-dependent", "conditional"), ("order-dependent", "conditional"), ("order-dependent", "no"),
    ]  # fmt: skip


def test_types_that_a_program_puts_into_the_code_are_names() -> None:
    found = scan(
        kernels="""
        import cupy

        CODE = '''
        extern "C" __global__ void k({{type}}* out, ${count}* n, const int* at) {
          atomicAdd(&out[at[threadIdx.x]], ({{ type }}) 2 * at[0]);
          atomicAdd(n + at[0], at[threadIdx.x]);
          atomicAdd((float*) out, 0.5f * at[0]);
        }
        '''
    """
    )
    assert [(s.location.line - found.sites[0].location.line, s.target_type, s.class_, s.verdict) for s in found.sites] == [
        (0, "___type_", "unknown", "conditional"), (1, "__count_", "unknown", "conditional"),
        (2, "float", "float-accumulate", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        ("if (dtype == tl.float16) | (dtype == tl.float32):", "float-accumulate"),
        ("if out_ptr.dtype.element_ty == tl.float32:", "float-accumulate"),
        ("if dtype == tl.int32:", "commutative-exact"),
        ("if dtype == tl.int32 or dtype == tl.float32:", "unknown"),
        ("if n == tl.float32:", "unknown"),
        ("if x_ptr.dtype.element_ty == tl.float32:", "unknown"),
    ],
)
def test_types_that_a_test_asks_for(test: str, kind: str) -> None:
    site = only(f"""
        import triton
        import triton.language as tl

        @triton.jit
        def store(x_ptr, out_ptr, n):
            dtype = out_ptr.dtype.element_ty
            x = tl.load(x_ptr)
            {test}
                tl.atomic_add(out_ptr + n, x)
            else:
                tl.store(out_ptr, x)
    """)
    assert site.class_ == kind, site.reason
