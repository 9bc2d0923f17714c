"""Old values that a function keeps where others find them: parameters by reference, members, globals."""

from __future__ import annotations

from .support import check


def test_a_parameter_by_reference_is_what_the_caller_makes_of_it() -> None:
    check("""
        __device__ void next(int& at, int* count) { at = atomicAdd(count, 1); }         // -> order-dependent depends
        __global__ void takes(int* count, const float* x, float* out) {
          int at;
          next(at, count);                                                              // -> order-dependent yes
          out[at] = x[threadIdx.x];
        }
        __device__ void drop(int& at, int* count) { at = atomicAdd(count, 1); }         // -> order-dependent depends
        __global__ void drops(int* count) {
          int at;
          drop(at, count);                                                              // -> commutative-exact no
        }
    """)


def test_a_parameter_that_is_handed_on_by_reference() -> None:
    check("""
        __device__ void next(int& at, int* count) { at = atomicAdd(count, 1); }         // -> order-dependent depends
        __device__ void again(int& place, int* count) { next(place, count); }           // -> order-dependent depends
        __global__ void takes(int* count, const float* x, float* out) {
          int at;
          again(at, count);                                                             // -> order-dependent yes
          out[at] = x[threadIdx.x];
        }
    """)


def test_members_and_variables_of_the_file() -> None:
    check("""
        struct Work { int row; };
        struct Queue {
          int at; int* count;
          __device__ void fetch() { at = atomicAdd(count, 1); }                         // -> order-dependent depends
          __device__ void by_this() { this->at = atomicAdd(count, 1); }                 // -> order-dependent depends
          __device__ void of(Work& work) { work.row = atomicAdd(count, 1); }            // -> order-dependent depends
          __device__ void shown(int* out) {
            this->at = atomicAdd(count, 1);                                             // -> order-dependent yes
            out[threadIdx.x] = this->at;
          }
        };
        __device__ int last;
        __global__ void global(int* count) { last = atomicAdd(count, 1); }              // -> order-dependent yes
        __global__ void local(int* count) { int last; last = atomicAdd(count, 1); }     // -> commutative-exact no
    """)
