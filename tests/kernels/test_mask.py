"""Masking: the grammar sees C++, every byte keeps its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.source.mask import dead, masked
from d9mlint.kernels.source.unit import parsed


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void __launch_bounds__(max(1, N), 2) k(float* __restrict__ p) {}",
        "template <class T> __device__ __forceinline__ T f(T x) { return x; }",
        "void f() { k<<<blocks(n), 256, 0, stream>>>(p); k<T><<<dim3(1, 2), g<3>(4)>>>(p); }",
        "void f() { extern __shared__ __align__(sizeof(double)) unsigned char smem[]; }",
        "struct F { EIGEN_DEVICE_FUNC EIGEN_STRONG_INLINE void operator()(int* p) const {} };",
        'struct S { int x; MY_STATIC_ASSERT(sizeof(int) == f(4), "not (four"); __device__ S() = default; int g() { return 1; } };',
        "C10_LAUNCH_BOUNDS_1(256) __global__ void k(const __grid_constant__ Params p) {}",
        "class MY_LIB_EXPORT A : public lib::B { A(); virtual void f(); };",
        "template <class T> void f(T& p) { g(p, typename T::Arguments{.out = p.q, .size = 3}); }",
        "auto f = [=] GPU_LAMBDA (float a, float b) -> float { return a + b; };",
    ],
)
def test_cuda_parses_as_cpp(source: str) -> None:
    assert not parsed("a.cu", source.encode()).root.has_error
    assert len(masked(source.encode())) == len(source.encode())


def test_parameters_of_lambdas_stay() -> None:
    assert b"(float a)" in masked(b"[=] GPU_LAMBDA (float a) { }")


def test_dead_code() -> None:
    source = b"#if 0\nint a;\n#if X\nint b;\n#else\nint c;\n#endif\n#else\nint d;\n#endif\n# if  false // no\nint e;\n"
    text = masked(source)
    assert [n in text for n in (b"int a", b"int b", b"int c", b"int d", b"int e")] == [False] * 3 + [True, False]
    assert [source[a:b].count(b"int") for a, b in dead(source)] == [3, 1]


@given(
    st.lists(
        st.sampled_from(
            [b"__global__ ", b"<<<", b">>>", b"#if 0\n", b"#endif\n", b"\r\n", b"(", b")", b"x", b"__launch_bounds__"]
        )
    )
)
def test_every_byte_keeps_its_place(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    text = masked(data)
    assert len(text) == len(data)
    assert [i for i, b in enumerate(text) if b in b"\r\n"] == [i for i, b in enumerate(data) if b in b"\r\n"]


def test_tables_of_numbers_are_no_part_of_the_tree() -> None:
    table = b"unsigned char image[] = {\n" + b"  0x7f, 0x45, 12u, -1.5e3f,\n" * 500 + b"  0x00 };\nint after = 1;\n"
    hidden = masked(table)
    assert len(hidden) == len(table) and hidden.count(b"\n") == table.count(b"\n")
    assert hidden.split() == b"unsigned char image[] = { 0x7f, 0x00 }; int after = 1;".split()
    short = b"int few[] = {" + b"1, 2, 3, " * 20 + b"};\n"
    assert masked(short) == short
