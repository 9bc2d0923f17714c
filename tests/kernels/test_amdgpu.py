"""Atomics of AMD GPUs on buffers: clang's builtins, functions bound to an intrinsic of LLVM, wrappers of these."""

from __future__ import annotations

from .support import check

DECLARED = """
typedef int int32x4_t __attribute__((ext_vector_type(4)));
__device__ float buffer_add(float value, int32x4_t resource, int at, int base, int aux)
    __asm("llvm.amdgcn.raw.buffer.atomic.fadd.f32");
__device__ int count(int value, int32x4_t resource, int at, int base, int aux)
    __asm("llvm.amdgcn.raw.buffer.atomic.add.i32");
__device__ double most(double value, int32x4_t resource, int at, int base, int aux)
    __asm("llvm.amdgcn.raw.buffer.atomic.fmax.f64");
__device__ float plain_store(float value, int32x4_t resource, int at, int base, int aux)
    __asm("llvm.amdgcn.raw.buffer.store.f32");
"""


def test_functions_that_are_bound_to_an_intrinsic() -> None:
    check(f"""{DECLARED}
__global__ void k(float* out, float* x, int n) {{
  int32x4_t resource = make_resource(out, n);
  buffer_add(x[threadIdx.x], resource, threadIdx.x % 7, 0, 0);  // -> float-accumulate yes type=f32
  count(1, resource, 0, 0, 0);  // -> commutative-exact no type=i32
  most(x[threadIdx.x], resource, 0, 0, 0);  // -> commutative-exact no
  plain_store(x[0], resource, 0, 0, 0);
  int slot = count(1, resource, 0, 0, 0);  // -> order-dependent yes return=index
  out[slot] = x[threadIdx.x];
}}
""")


def test_a_resource_that_is_handed_in_by_value_is_no_integer() -> None:
    """Its own type is a vector of integers; that of what is added to is the intrinsic's."""
    check(f"""{DECLARED}
__device__ void add_two(float2 v, int32x4_t resource, int at) {{
  buffer_add(v.x, resource, at, 0, 0);  // -> float-accumulate depends
  buffer_add(v.y, resource, at, 4, 0);  // -> float-accumulate depends
}}
__global__ void k(float* out, float2* x, int n) {{
  int32x4_t resource = make_resource(out, n);
  add_two(x[threadIdx.x], resource, threadIdx.x % 7);  // -> float-accumulate yes type=f32
}}
""")


def test_builtins_of_clang() -> None:
    check("""
__global__ void k(half2* x, __amdgpu_buffer_rsrc_t out) {
  int i = threadIdx.x;
  __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_v2f16(x[i], out, i % 7, 0, 0);  // -> float-accumulate yes type=v2f16
  __builtin_amdgcn_raw_ptr_buffer_atomic_fmax_f32(x[i].x, out, i % 7, 0, 0);  // -> commutative-exact no
}
""")


def test_a_function_that_another_file_binds() -> None:
    check(
        '#include "b.h"\n'
        "__global__ void k(float* x, int32x4_t out) {\n"
        "  buffer_add(x[threadIdx.x], out, threadIdx.x % 7, 0, 0);  // -> float-accumulate yes\n"
        "}\n",
        b_h=DECLARED,
    )
