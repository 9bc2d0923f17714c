"""Slots and work queues: whether the old value of a counter is a place to store at, or work that a thread fetches."""

from __future__ import annotations

from .support import check


def test_a_slot_in_a_loop_that_its_bound_does_not_end() -> None:
    check("""
        __global__ void k(int* counter, int4* out, const int* a, int n, int room) {
          int k = threadIdx.x;
          for (;;) {
            if (a[k] > 3) {
              const int at = atomicAdd(counter, 1); // -> order-dependent yes return=index
              if (at < room) out[at] = make_int4(k, 0, 0, 0);
            }
            if (++k > n) break;
          }
        }
    """)


def test_a_slot_whose_bound_ends_the_loop() -> None:
    check("""
        __global__ void k(int* counter, int2* out, const int* a, int n, int room) {
          int k = threadIdx.x;
          while (true) {
            int at = atomicAdd(counter, 1); // -> order-dependent yes return=index
            if (at >= room) break;
            out[at].x = a[k++];
          }
        }
        __global__ void work(int* counter, float* out, const float* a, int n) {
          while (true) {
            int at = atomicAdd(counter, 1); // -> order-dependent conditional return=index
            if (at >= n) break;
            out[at] = a[at] * 2;
          }
        }
    """)


def test_a_queue_whose_ticket_a_lambda_gives() -> None:
    check("""
        __global__ void k(int* counter, const float* in, float* out, int n) {
          auto next = [&]() {
            int s;
            if (threadIdx.x % 32 == 0) { s = atomicAdd(counter, 1); } // -> order-dependent conditional return=index
            return __shfl_sync(0xffffffff, s, 0);
          };
          for (int s = next(); s < n; s = next()) {
            if (threadIdx.x % 32 == 0) out[s] = in[s] * 2;
          }
        }
        __global__ void slots(int* counter, const float* in, float* out, int n) {
          auto place = [&]() { return atomicAdd(counter, 1); }; // -> order-dependent yes return=index
          if (in[threadIdx.x] > 0) out[place()] = in[threadIdx.x];
        }
    """)


def test_a_variable_of_another_block_is_another_one() -> None:
    check("""
        __global__ void k(int* counter, const float* in, float* out, int n) {
          { int at = atomicAdd(counter, 1); if (at == n) out[0] = 1; } // -> order-dependent no return=ticket
          { int at = threadIdx.x; out[at] = in[at]; }
        }
    """)
