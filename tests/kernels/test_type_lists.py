"""Types of typed tests, of lists and choices of types, of template parameters that take their default."""

from __future__ import annotations

import pytest

from .support import only

_KERNEL = """
template <typename T> __global__ void k(T* out, const T* x, const int* at) {
  atomicAdd(&out[at[threadIdx.x]], x[threadIdx.x]);
}
"""


@pytest.mark.parametrize(
    ("rest", "types", "verdict"),
    [
        # The fixture is a template over the list.
        ("using Floats = ::testing::Types<float, double>;\nTYPED_TEST_SUITE(Adds, Floats);\n"
         "template <typename T> struct Adds : ::testing::Test { void run(T* p) { k<<<1, 1>>>(p, p, 0); } };",
         "T = float | double", "yes"),
        ("template <typename T> struct Adds : ::testing::Test { void run(T* p) { k<<<1, 1>>>(p, p, 0); } };\n"
         "TYPED_TEST_CASE(Adds, ::testing::Types<int, unsigned>);", "T = int | unsigned", "no"),
        # The body of the test names the type.
        ("using Mixed = ::testing::Types<int, float>;\nTYPED_TEST_SUITE(Adds, Mixed);\n"
         "TYPED_TEST(Adds, Sums) { TypeParam* p = nullptr; k<TypeParam><<<1, 1>>>(p, p, nullptr); }",
         "T = int | float", "conditional"),
        ("using Whole = testing::Types<int>;\nTYPED_TEST_SUITE_P(Adds);\n"
         "TYPED_TEST_P(Adds, Sums) { using V = TypeParam; V* p = nullptr; k<V><<<1, 1>>>(p, p, nullptr); }\n"
         "INSTANTIATE_TYPED_TEST_SUITE_P(All, Adds, Whole);", "T = int", "no"),
        # Another suite's list says nothing.
        ("TYPED_TEST_SUITE(Others, ::testing::Types<int>);\n"
         "TYPED_TEST(Adds, Sums) { TypeParam* p = nullptr; k<TypeParam><<<1, 1>>>(p, p, nullptr); }", "T", "conditional"),
    ],
)  # fmt: skip
def test_typed_tests(rest: str, types: str, verdict: str) -> None:
    said = only(_KERNEL + rest)
    assert (said.target_type, said.verdict) == (types, verdict)


def test_null_pointers_say_nothing_of_the_type() -> None:
    accumulator = """
template <typename T> struct Acc { using type = T; };
template <> struct Acc<__half> { using type = float; };
template <typename T, typename A%s>
__global__ void k(A* out, const T* x) { atomicAdd(&out[x[0]], A(x[threadIdx.x])); }
void run() { k<float><<<1, 1>>>(0, 0); k<double><<<1, 1>>>(NULL, 0); }
"""
    assert only(accumulator % "").verdict == "conditional"
    # What a call cannot deduce is the default of the parameter.
    said = only(accumulator % " = typename Acc<T>::type")
    assert (said.target_type, said.verdict) == ("A = float | double", "yes")
