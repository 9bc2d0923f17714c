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
            int at = atomicAdd(counter, 1); // -> order-dependent no return=index
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
            if (threadIdx.x % 32 == 0) { s = atomicAdd(counter, 1); } // -> order-dependent no return=index
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


_WORK = """
        __device__ void row_of(const float* x, float* out, int row, int n) {
          for (int c = threadIdx.x; c < n; c += blockDim.x) out[row * n + c] = 2 * x[row * n + c];
        }
        __device__ void block_of(const float* x, float* out, int row) { out[blockIdx.x] += x[row]; }
"""


def test_work_that_is_the_same_whoever_fetches_it() -> None:
    check(
        _WORK
        + """
        __global__ void shared(int* next, const float* x, float* out, int rows, int n) {
          __shared__ int s_row;
          while (true) {
            if (threadIdx.x == 0) s_row = atomicAdd(next, 1);          // -> order-dependent no return=value
            __syncthreads();
            int row = s_row;
            __syncthreads();
            if (row >= rows) return;
            row_of(x, out, row, n);
          }
        }
        __global__ void first_by_block(int* next, const float* x, float* out, int rows, int n) {
          __shared__ int s_row;
          int row = blockIdx.x;
          while (row < rows) {
            out[row * blockDim.x + threadIdx.x] = x[row];
            if (threadIdx.x == 0) s_row = gridDim.x + atomicAdd(next, 1);  // -> order-dependent no return=index
            __syncthreads();
            row = s_row;
          }
        }
        __global__ void numbered(int* next, const float* x, float* out, int n) {
          __shared__ int block;
          if (threadIdx.x == 0) block = atomicAdd(next, 1);            // -> order-dependent no return=index
          __syncthreads();
          int i = block * blockDim.x + threadIdx.x;
          if (i < n) out[i] = x[i] + 1;
        }
    """
    )


def test_work_that_depends_on_who_fetches_it() -> None:
    check(_WORK + """
        __global__ void in_a_function(int* next, const float* x, float* out, int rows, int n) {
          __shared__ int s_row;
          while (true) {
            if (threadIdx.x == 0) s_row = atomicAdd(next, 1);          // -> order-dependent conditional return=value
            __syncthreads();
            int row = s_row;
            __syncthreads();
            if (row >= rows) return;
            block_of(x, out, row);
          }
        }
        __global__ void by_each_thread(int* next, const float* x, float* out, int n) {
          for (int i; (i = atomicAdd(next, 1)) < n;) out[i] = x[i] * threadIdx.x;  // -> order-dependent conditional return=index
        }
        __global__ void sums(int* next, const float* x, float* out, int rows) {
          __shared__ int s_row;
          float sum = 0;
          while (true) {
            if (threadIdx.x == 0) s_row = atomicAdd(next, 1);          // -> order-dependent conditional return=index
            __syncthreads();
            if (s_row >= rows) break;
            sum += x[s_row];
          }
          out[blockIdx.x] = sum;
        }
    """)  # fmt: skip


def test_a_function_of_another_source_that_knows_its_block() -> None:
    kernel = """
        #include "b.cuh"
        __global__ void k(int* next, const float* x, float* out, int rows) {
          while (true) {
            int row = atomicAdd(next, 1);                              // -> order-dependent %s return=index
            if (row >= rows) return;
            out[row] = weight() * x[row];
          }
        }
    """
    check(kernel % "conditional", b_cuh="__device__ float weight() { return blockIdx.x; }")
    check(kernel % "no", b_cuh="__device__ float weight() { return 2; } __device__ int other() { return blockIdx.x; }")


def test_trees_that_are_joined_by_their_least_members() -> None:
    check("""
        __device__ int join(int* label, int a, int b) {
          while (a != b) {
            if (a < b) { int c = a; a = b; b = c; }
            int old = atomicMin(&label[a], b);                         // -> order-dependent no
            a = (a == old) ? b : old;
          }
          return a;
        }
        __global__ void until(int* label, const int* from, const int* to) {
          int a = from[threadIdx.x], b = to[threadIdx.x];
          bool done;
          do {
            while (label[a] != a) a = label[a];
            while (label[b] != b) b = label[b];
            if (a < b) { int old = atomicMin(&label[b], a); done = old == b; b = old; }       // -> order-dependent no
            else if (b < a) { int old = atomicMin(&label[a], b); done = old == a; a = old; }  // -> order-dependent no
            else done = true;
          } while (!done);
        }
        __global__ void keeps(int* least, int* out, const int* x, int n) {
          for (int i = threadIdx.x, old; i < n; i += 32) {
            old = atomicMin(&least[0], x[i]);                          // -> order-dependent yes
            out[i] = old;
          }
        }
    """)
