"""What adds up gradients adds floats, also where its type is not visible."""

from __future__ import annotations

import pytest

from .embedded_programs import only as only_in_python
from .support import only


@pytest.mark.parametrize(
    ("kernel", "target", "class_", "verdict"),
    [
        ("roi_pool_backward", "out", "float-accumulate", "yes"),
        ("KernelFilterGrad", "out", "float-accumulate", "yes"),
        ("accumulate", "grad_input", "float-accumulate", "yes"),
        ("roi_pool_backward", "offset_points", "float-accumulate", "yes"),
        ("accumulate", "dq_accum", "float-accumulate", "yes"),
        # Other words, and what counts or numbers something, say nothing.
        ("background", "out", "unknown", "conditional"),
        ("image_gradient", "out", "unknown", "conditional"),
        ("roi_pool_backward", "row_counts", "unknown", "conditional"),
    ],
)  # fmt: skip
def test_by_names(kernel: str, target: str, class_: str, verdict: str) -> None:
    said = only(f"""
    template <typename T> __global__ void {kernel}(T* {target}, const T* x, const int* at) {{
      atomicAdd(&{target}[at[threadIdx.x]], x[threadIdx.x]);
    }}
    """)
    assert (said.class_, said.verdict) == (class_, verdict), said.reason


def test_a_gradient_of_attention_in_triton() -> None:
    site = only_in_python("""
        import triton, triton.language as tl
        @triton.jit
        def attend(Q, DQ_ptr, N, B: tl.constexpr):
            at = tl.arange(0, B)
            tl.atomic_add(DQ_ptr + at, tl.load(Q + at))
    """)
    assert (site.class_, site.verdict) == ("float-accumulate", "yes")


def test_known_types_and_constants_come_first() -> None:
    kernel = """
    __global__ void pool_backward(%s* out, const %s* x, const int* at) { atomicAdd(&out[at[threadIdx.x]], %s); }
    """
    assert only(kernel % ("int", "int", "x[0] + threadIdx.x")).verdict == "no"
    assert only("template <typename T>" + kernel % ("T", "T", "1")).verdict == "no"


@pytest.mark.parametrize(
    ("around", "kernel", "class_"),
    [("backward", "f", "float-accumulate"), ("run", "embed_bwd", "float-accumulate"), ("run", "embed", "unknown")],
)
def test_by_the_python_around(around: str, kernel: str, class_: str) -> None:
    site = only_in_python(f"""
        import cupy
        def {around}(x, at, out):
            cupy.ElementwiseKernel("T x, S at", "raw T out", "atomicAdd(&out[at], x)", "{kernel}")(x, at, out)
    """)
    assert (site.class_, site.target_type) == (class_, "T")


@pytest.mark.parametrize(
    ("made", "class_", "verdict"),
    [
        ("cupy.zeros(8, dtype=cupy.float32)", "float-accumulate", "yes"),
        ("cupy.zeros(8)", "float-accumulate", "yes"),
        ("cupy.zeros(8, cupy.int32)", "commutative-exact", "no"),
        ("x.astype(cupy.uint32)", "commutative-exact", "no"),
        ("cupy.zeros(8, dtype=x.dtype)", "unknown", "conditional"),
    ],
)
def test_type_parameters_of_elementwise_kernels_by_the_arrays(made: str, class_: str, verdict: str) -> None:
    code = 'cupy.ElementwiseKernel("T x, S at", "raw T out", "atomicAdd(&out[at], x)", "f")'
    at_once = only_in_python(f"""
        import cupy
        def run(x, at):
            out = {made}
            {code}(x, at, out)
    """)
    by_name = only_in_python(f"""
        import cupy
        kernel = {code}
        def run(x, at):
            out = {made}
            kernel(x, at, out)
    """)
    assert (at_once.class_, at_once.verdict) == (class_, verdict) == (by_name.class_, by_name.verdict)


@pytest.mark.parametrize(
    ("chosen", "verdict"),
    [
        ('{"f": "float", "d": "double"}[x.dtype.char]', "yes"),
        ('"int" if x.dtype.kind == "i" else "unsigned"', "no"),
        ('{"f": "float", "i": "int"}.get(x.dtype.kind)', "conditional"),
        ("name_of(x)", "conditional"),
    ],
)
def test_types_that_are_put_into_a_source(chosen: str, verdict: str) -> None:
    body = "__global__ void f(%s* out, const %s* x, const int* at) OPEN atomicAdd(&out[at[0]], x[threadIdx.x]); CLOSE"
    filled = f"""
        import cupy
        SOURCE = r'''{body % ("{t}", "{t}")}'''
        def run(x):
            name = {chosen}
            return cupy.RawKernel(SOURCE.format(t=name), "f")
    """.replace("OPEN", "{{").replace("CLOSE", "}}")
    inserted = f"""
        import cupy
        def run(x):
            t = {chosen}
            return cupy.RawKernel(f'''{body % ("{t}", "{t}")}''', "f")
    """.replace("OPEN", "{{").replace("CLOSE", "}}")
    assert only_in_python(filled).verdict == verdict
    assert only_in_python(inserted).verdict == verdict


@pytest.mark.parametrize(
    ("kernel", "target", "class_", "verdict"),
    [
        ("embed_kernel", "grad_weight_ptr", "float-accumulate", "yes"),
        ("embed_bwd", "out", "float-accumulate", "yes"),
        ("embed_kernel", "out_ptr", "unknown", "conditional"),
        ("embed_bwd", "row_index_ptr", "unknown", "conditional"),
    ],
)
def test_in_triton_by_the_names_of_kernel_and_target(kernel: str, target: str, class_: str, verdict: str) -> None:
    said = only_in_python(f"""
        import triton
        import triton.language as tl
        @triton.jit
        def {kernel}({target}, x, at):
            i = tl.program_id(0)
            tl.atomic_add({target} + tl.load(at + i), tl.load(x + i))
    """)
    assert (said.class_, said.verdict) == (class_, verdict), said.reason
