"""Atomic objects (``cuda::atomic_ref``) in the bodies of macros, and under names that another file gives them."""

from __future__ import annotations

import pytest

from d9mlint.kernels.sites import atomics

from .support import check, repository

_REF = "cuda::atomic_ref<float, cuda::thread_scope_device>"


@pytest.mark.parametrize(
    "macro",
    [
        f"#define ADD(p, v) {{ {_REF} ref{{*p}}; ref.fetch_add(v); }}",
        f"#define ADD(p, v) {_REF}(*p).fetch_add(v)",
        f"#define ADD(p, v) do {{ {_REF} ref(*(p)); ref += v; }} while (0)",
    ],
)
def test_an_object_that_a_macro_declares(macro: str) -> None:
    check(f"""
{macro} // -> float-accumulate depends
        __global__ void k(float* sum, const float* a) {{
          ADD(sum, a[threadIdx.x]); // -> float-accumulate yes
        }}
    """)


def test_an_object_that_a_macro_is_given() -> None:
    check(f"""
#define ADD(ref, v) ref.fetch_add(v) // -> unknown depends
        __global__ void k(float* sum, int* count, const float* a) {{
          {_REF} total{{*sum}};
          cuda::atomic_ref<int> number{{*count}};
          ADD(total, a[threadIdx.x]); // -> float-accumulate yes
          ADD(number, 1); // -> commutative-exact no
        }}
    """)


def test_a_method_that_a_macro_defines() -> None:
    check(f"""
#define ADDER inline __device__ void add_it(float v) {{ {_REF} ref{{*total}}; ref.fetch_add(v); }} // -> float-accumulate depends
        struct S {{ float* total; ADDER }}; // -> float-accumulate yes
        __global__ void k(S s, const float* a) {{ s.add_it(a[threadIdx.x]); }}
    """)


def test_a_kernel_that_a_macro_defines_is_judged_where_it_is_defined() -> None:
    check("""
#define KERNEL(T) __global__ void k_##T(T* o, T* a) { atomicAdd(o, a[threadIdx.x]); } // -> float-accumulate depends
KERNEL(float) // -> float-accumulate yes
    """)


def test_an_object_that_stands_around_the_use_is_told_as_not_read() -> None:
    tree = repository(
        a_cu=f"""
#define BUMP(v) counter.fetch_add(v)
        __global__ void k(float* sum, const float* a) {{ {_REF} counter{{*sum}}; BUMP(a[threadIdx.x]); }}
    """
    )
    assert not atomics.find(tree)
    assert "line 2" in tree.unchecked["a.cu"]


def test_a_name_for_such_a_type_in_another_file() -> None:
    check(
        """
        #include "types.h"
        __global__ void k(float* sum, const float* a) {
          Ref ref{*sum};
          ref.fetch_add(a[threadIdx.x]); // -> float-accumulate yes
        }
    """,
        types_h=f"using Ref = {_REF};",
    )


@pytest.mark.parametrize("declared", ["auto const ref", "const auto ref", "auto ref", "auto const& ref"])
def test_in_a_lambda_that_is_called_at_once(declared: str) -> None:
    check(f"""
        __global__ void k(int* count, int* out, int n) {{
          auto const [at, inserted] = [&]() {{
            if (threadIdx.x < n) {{
              {declared} = cuda::atomic_ref<int, cuda::thread_scope_block>{{*count}};
              auto const slot = ref.fetch_add(1, cuda::std::memory_order_relaxed); // -> order-dependent yes
              out[slot] = threadIdx.x;
              return cuda::std::pair{{slot, true}};
            }}
            return cuda::std::pair{{0, false}};
          }}();
        }}
    """)
