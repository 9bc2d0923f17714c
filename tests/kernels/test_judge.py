"""Judgement of sites: class, verdict and reason, marked on the line of the site."""

from __future__ import annotations

import pytest

from .support import check, only


def test_float_and_integer_adds() -> None:
    check("""
        __global__ void k(float* out, int* count, const int* index, const float* x, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          atomicAdd(&out[index[i]], x[i]);       // -> float-accumulate yes return=unused memory=global type=float
          atomicAdd(out + index[i] * 3, x[i]);   // -> float-accumulate yes
          atomicAdd(&count[index[i]], 1);        // -> commutative-exact no type=int
          atomicSub(count, index[i]);            // -> commutative-exact no
          atomicMax(count, index[i]);            // -> commutative-exact no
          atomicOr((unsigned int*)count, 4u);    // -> commutative-exact no type=unsignedint
          atomicInc((unsigned*)count, 7);        // -> commutative-exact no
        }
    """)


def test_shared_accumulator() -> None:
    said = only("""
        template <typename T> __global__ void k(const T* x, T* y) {
          __shared__ float sum[32];
          atomicAdd(sum + threadIdx.x % 8, x[threadIdx.x]);
        }
    """)
    assert (said.class_, said.verdict, said.memory) == ("float-accumulate", "yes", "shared")
    assert "shared memory" in said.reason and "`sum`" in said.reason


def test_extern_shared_through_a_pointer() -> None:
    check("""
        extern __shared__ char buffer[];
        __global__ void k(const float* x, int m) {
          float* part = reinterpret_cast<float*>(buffer);
          atomicAdd(part + threadIdx.x % m, x[threadIdx.x]);  // -> float-accumulate yes memory=shared
        }
    """)


@pytest.mark.parametrize(
    ("instantiation", "types", "verdict"),
    [
        ("template __global__ void k<float>(float*, const float*, const int*);", "T = float", "yes"),
        ("template __global__ void k<int>(int*, const int*, const int*);", "T = int", "no"),
        ("void go() { k<int><<<1, 2>>>(a, b, c); k<double><<<1, 2>>>(d, e, f); }", "T = int | double",
         "conditional"),
        ("void go(float* p, const int* c) { k<<<1, 2>>>(p, p, c); }", "T = float", "yes"),
        ("#define MAKE(T) template __global__ void k<T>(T*, const T*, const int*);\nMAKE(int)\nMAKE(int64_t)",
         "T = int | int64_t", "no"),
        ("#define MAKE(T) template __global__ void k<T>(T*, const T*, const int*);\nTF_CALL_GPU_NUMBER_TYPES(MAKE)",
         "T = half | float | double", "yes"),
        ("#define EACH(m) m(int) m(short)\n#define MAKE(T) template __global__ void k<T>(T*, const T*, const int*);\n"
         "EACH(MAKE)", "T = int | short", "no"),
        ("void go(at::Tensor x) { AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), \"k\", [&] {\n"
         "  k<scalar_t><<<1, 2>>>(x.data_ptr<scalar_t>(), y, z); }); }", "T = float | double | Half", "yes"),
        ("void go(at::Tensor x) { AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), \"k\", ([&] {\n"
         "  k<<<1, 2>>>(x.data_ptr<scalar_t>(), y, z); })); }",
         "T = uint8_t | int8_t | int16_t | int32_t | int64_t", "no"),
        ("void go() { using real = float; k<real><<<1, 2>>>(a, b, c); }", "T = float", "yes"),
    ],
)  # fmt: skip
def test_template_types(instantiation: str, types: str, verdict: str) -> None:
    said = only(
        "template <typename T> __global__ void k(T* out, const T* x, const int* index) {\n"
        "  atomicAdd(&out[index[threadIdx.x]], x[threadIdx.x]);\n}\n" + instantiation
    )
    assert (said.target_type, said.verdict) == (types, verdict), said


def test_mixed_instantiations_name_the_exact_ones() -> None:
    said = only(
        "template <typename T> __global__ void k(T* out, T x) { atomicAdd(&out[x > 0], x * x); }\n"
        "void go() { k<float><<<1, 2>>>(p, 1.f); k<int><<<1, 2>>>(q, 1); }"
    )
    assert said.verdict == "conditional" and "`int` is exact" in said.reason


def test_a_template_without_instantiation_depends_on_its_type() -> None:
    check("""
        template <typename T> __global__ void k(T* out, const T* x, const int* index) {
          atomicAdd(&out[index[threadIdx.x]], x[threadIdx.x]);   // -> unknown conditional type=T
          atomicMax(&out[index[threadIdx.x]], x[threadIdx.x]);   // -> commutative-exact no
        }
    """)


def test_functor_of_another_file_and_its_specialisation() -> None:
    check(
        """
        #include "functor.cu.h"
        template <typename T> struct Add<GPUDevice, T> {
          __device__ void operator()(T* to, T value) { atomicAdd(to, value); }   // -> float-accumulate yes type=T=float
        };
        """,
        b_cu="#define SPEC(T) template struct Run<GPUDevice, T, Add<GPUDevice, T>>;\nSPEC(float)\n"
        "template struct Add<CPUDevice, int>;",
    )  # fmt: skip


def test_locals_are_followed() -> None:
    check("""
        struct Params { float* grad; int* count; };
        template <typename U> struct View { U* data(); };
        __global__ void k(Params p, View<double> view, const int* at) {
          auto cell = p.grad + at[0];
          float* const again = &cell[1];
          atomicAdd(cell, 1.5f * at[1]);                  // -> float-accumulate yes type=float
          atomicAdd(again, 1.5f * at[1]);                 // -> float-accumulate yes type=float
          atomicAdd(p.count + at[2], at[1]);              // -> commutative-exact no type=int
          atomicAdd(view.data() + at[2], at[1] * 0.5);    // -> float-accumulate yes type=double
        }
    """)


def test_return_value() -> None:
    check("""
        __global__ void k(int* n, int* list, unsigned* done, int* flags, int total) {
          int slot = atomicAdd(n, 1);                                        // -> order-dependent yes return=index
          list[slot] = threadIdx.x;
          list[atomicAdd(n, 1)] = 7;                                         // -> order-dependent yes return=index
          flags[threadIdx.x] = atomicAdd(n, 2);                              // -> order-dependent yes return=value
          if (atomicInc(done, gridDim.x) == gridDim.x - 1) { list[0] = 0; }  // -> order-dependent no return=ticket
          int first = atomicAdd(n + 1, 1);                                   // -> order-dependent conditional return=ticket
          if (first == 0) list[1] = threadIdx.x;
          while (atomicAdd(n + 2, 0) < total) {}                             // -> order-dependent no return=ticket
          int never = atomicAdd(n, 3);                                       // -> commutative-exact no return=unused
        }
    """)


def test_who_sets_a_bit_first_is_elected_and_holds_no_ticket() -> None:
    check("""
        __global__ void k(unsigned* claimed, unsigned* kept, unsigned* done, const unsigned* at, unsigned full) {
          unsigned mask = 1u << (at[threadIdx.x] % 32);
          unsigned old = atomicOr(claimed + at[threadIdx.x] / 32, mask);     // -> order-dependent conditional return=ticket
          if ((old & mask) == full) { kept[threadIdx.x] = at[threadIdx.x]; }
          if (atomicAdd(done, 1) == full) { kept[0] = 0; }                   // -> order-dependent no return=ticket
        }
    """)


def test_slot_through_shared_memory() -> None:
    check("""
        __global__ void k(int* n, int* list) {
          __shared__ int base;
          if (threadIdx.x == 0) base = atomicAdd(n, blockDim.x);   // -> order-dependent yes return=index
          __syncthreads();
          list[base + threadIdx.x] = threadIdx.x;
        }
    """)


def test_exchange_lock_and_first_come() -> None:
    check("""
        __global__ void k(int* lock, float* sum, int* last, unsigned long long* table,
                          const unsigned long long* keys) {
          unsigned long long key = keys[threadIdx.x];
          while (atomicCAS(lock, 0, 1) != 0) {}        // -> order-dependent yes
          sum[0] += 2.5f;
          atomicExch(lock, 0);                         // -> order-dependent conditional
          atomicExch(last, (int)threadIdx.x);          // -> order-dependent conditional
          unsigned long long was = atomicCAS(&table[key % 7], 0ull, key);   // -> order-dependent yes
          if (was == key) last[1] = 3;
        }
    """)


def test_who_only_reads_a_flag_takes_no_lock() -> None:
    check("""
        struct Sort { int* done; };
        __global__ void k(Sort sort, int* lock, int n) {
          if (threadIdx.x == 0) atomicExch(&sort.done[0], 2);      // -> order-dependent no
          while (atomicAdd(&sort.done[0], 0) < 2) {}               // -> order-dependent no
          while (atomicAdd(lock, 1) != 0) {}                       // -> order-dependent no
          atomicExch(lock, 0);                                     // -> order-dependent conditional
        }
    """)


def test_constant_operands() -> None:
    check("""
        __global__ void k(float* hits, float* bad, float* both, const int* at, float weight) {
          atomicAdd(&hits[at[0]], 1.0f);                                     // -> float-accumulate no
          atomicAdd(&hits[at[1]], static_cast<float>(1.0f));                 // -> float-accumulate yes
          atomicAdd(&bad[at[1]], std::numeric_limits<float>::quiet_NaN());   // -> float-accumulate no
          atomicAdd(&both[at[0]], weight);                                   // -> float-accumulate yes
          atomicAdd(&both[at[1]], at[0] * 0.1f);                             // -> float-accumulate yes
        }
    """.replace("static_cast<float>(1.0f));                 // -> float-accumulate yes",
                "1.0f);                                     // -> float-accumulate no"))  # fmt: skip


def test_a_wrapper_that_gets_the_cell_behind_its_value_adds_to_it_too() -> None:
    source = """
        __device__ void atomic_mean(float v, float* sum, int n) { atomicAdd(sum, v / n); }   // -> float-accumulate depends
        __global__ void k(float* loss, const float* x, int n, float term) {
          atomic_mean(x[threadIdx.x], loss, n);                                                // -> float-accumulate yes
          if (threadIdx.x == 0) atomicAdd(loss, term);                                         // -> float-accumulate yes
        }
    """
    check(source)
    apart = source.replace("k(float* loss,", "k(float* other, float* loss,").replace("], loss, n)", "], other, n)")
    check(apart.replace("atomicAdd(loss, term);                                         // -> float-accumulate yes",
                        "atomicAdd(loss, term);                                         // -> float-accumulate no"))  # fmt: skip


def test_changed_local_is_no_constant() -> None:
    check("""
        __global__ void k(float* out) {
          float local = 0.f;
          accumulate(local);
          atomicAdd(out, local);    // -> float-accumulate yes
        }
    """)


def test_owned_addresses() -> None:
    check("""
        __global__ void k(float* a, float* b, float* c, const float* x, int n, int width) {
          __shared__ float part[64];
          CUDA_1D_KERNEL_LOOP(i, n) {
            atomicAdd(&a[i], x[i]);                                // -> float-accumulate no
            for (int d = 0; d < width; ++d) {
              atomicAdd(b + i * width + d, x[d]);                  // -> float-accumulate no
            }
            atomicAdd(c + i / 2, x[i]);                            // -> float-accumulate yes
          }
          atomicAdd(&part[threadIdx.x], x[threadIdx.x]);                     // -> float-accumulate no
        }
        __global__ void global_needs_the_block(float* a, const float* x) {
          atomicAdd(&a[threadIdx.x], x[threadIdx.x]);                        // -> float-accumulate yes
        }
        __global__ void neighbours_meet(float* a, const float* x, int n) {
          for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
            atomicAdd(&a[i], x[threadIdx.x]);                                // -> float-accumulate yes
            atomicAdd(&a[i + 1], x[i]);                            // -> float-accumulate yes
          }
        }
        __global__ void two_axes(float* a, const float* x) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          atomicAdd(&a[i], x[threadIdx.y]);                        // -> float-accumulate yes
        }
    """)


def test_ptx() -> None:
    check(r"""
        __global__ void k(float* p, int* q, float v, int w, const int* at) {
          asm volatile("red.global.add.f32 [%0], %1;" :: "l"(p + at[0]), "f"(v * at[threadIdx.x]));  // -> float-accumulate yes
          asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(q), "r"(w));  // -> commutative-exact no memory=shared
          asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(p), "r"(at[threadIdx.x]));  // -> float-accumulate yes
        }
    """)


def test_float_minimum_is_exact() -> None:
    said = only("__global__ void k(float* p, const float* x) { atomicMin(p, x[0]); }")
    assert (said.class_, said.verdict) == ("commutative-exact", "no")
    assert "NaN" in said.reason


def test_wrappers() -> None:
    check("""
        template <typename T> __device__ void accumulate(T* to, T value) {
          atomicAdd(to, value);                                   // -> float-accumulate depends
        }
        __device__ void count(int* to) { atomicAdd(to, 1); }      // -> commutative-exact no
        __global__ void k(float* out, int* n, const int* at, const float* x) {
          accumulate(out + at[0], x[threadIdx.x]);                          // -> float-accumulate yes
          accumulate(n + at[0], at[1]);                           // -> commutative-exact no
          count(n);                                               // -> commutative-exact no
        }
    """)


def test_choice_by_a_template_value_is_conditional() -> None:
    said = only("""
        template <typename T, int OP> struct Reducer {
          static __device__ void write(T* to, T value) {
            if (OP == 0) atomicAdd(to, value); else atomicMax(to, value);
          }
        };
        template <int OP> __global__ void k(float* out, const int* at, const float* x) {
          Reducer<float, OP>::write(out + at[0], x[threadIdx.x]);
        }
    """)
    assert (said.class_, said.verdict) == ("float-accumulate", "conditional")
    assert "`add`" in said.reason and "`max`" in said.reason


@pytest.mark.parametrize(
    "text",
    ["__global__ void k(float* p) { atomicAdd(", "atomicAdd(&x[", "}}}} atomicAdd(p, 1);;", "template <typename T",
     "__global__ void k() { while (atomicCAS( }", "#define A(x) atomicAdd(x, \\", "atomicAdd()", "atomicCAS(a)",
     "template <typename T> struct A { void f(T* p) { atomicAdd(p, T(", "using T = T; void f(T* p) { atomicAdd(p, p); }",
     "void f() { auto p = p; atomicAdd(p, p); }", "typedef A B; typedef B A; void f(A* p) { atomicAdd(p, 1); }"],
)  # fmt: skip
def test_broken_sources_do_not_raise(text: str) -> None:
    from .support import judged

    for _, said in judged(text):
        assert said.verdict in ("yes", "no", "conditional", "depends", "unknown")
        assert said.reason


def test_owned_elements_of_accessors() -> None:
    kernel = """
        __global__ void k(at::PackedTensorAccessor64<float, 4> out, at::PackedTensorAccessor64<float, 4> wide,
                          at::PackedTensorAccessor64<float, 2> x, int C, int H, int W) {
          const auto batch = blockIdx.x;
          const auto threads = gridDim.y * blockDim.x;
          const auto tid = blockIdx.y * blockDim.x + threadIdx.x;
          for (int p = tid; p < C * H * W; p += threads) {
            int c = p / (H * W);
            int y = (p % (H * W)) / W;
            int x_ = (p % (H * W)) % W;
            for (int n = 0; n < 8; ++n) {
              atomicAdd(&out[batch][c][y][x_], x[n][c]);      // -> float-accumulate no
              atomicAdd(&wide[batch][n][y][x_], x[n][c]);     // -> float-accumulate yes
            }
          }
        }
    """
    check(kernel)
    check(kernel.replace("[batch][c]", "[0][c]").replace("accumulate no", "accumulate yes"))
    check(kernel.replace("(p % (H * W)) / W", "(p % (H * W)) / H").replace("accumulate no", "accumulate yes"))
    check(kernel.replace("threads) {", "blockDim.x) {").replace("accumulate no", "accumulate yes"))


def test_grid_stride_through_local_names() -> None:
    check("""
        __global__ void k(float* a, float* b, float* c, const float* x, int n) {
          const size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
          const size_t stride = gridDim.x * blockDim.x;
          for (size_t o = tid; o < n; o += stride) {
            atomicAdd(a + o * 3 + 0, x[o]);      // -> float-accumulate no
            atomicAdd(a + o * 3 + 2, x[o]);      // -> float-accumulate no
            atomicAdd(b + o * 3 + 3, x[o]);      // -> float-accumulate no
            atomicAdd(c + o * 3 + 0, x[o]);      // -> float-accumulate yes
            atomicAdd(c + o * 3 + 3, x[o]);      // -> float-accumulate yes
          }
        }
    """)


def test_work_queue_is_conditional_where_more_than_the_item_is_known() -> None:
    check("""
        __global__ void k(int* head, const float* x, float* y, int total) {
          while (true) {
            int item = atomicAdd(head, 1);       // -> order-dependent conditional return=index
            if (item >= total) return;
            y[item] = x[item] * blockIdx.x;
          }
        }
        __global__ void slots(int* count, const float* x, float* y, int total) {
          int slot = atomicAdd(count, 1);        // -> order-dependent yes return=index
          if (slot < total) y[slot] = x[threadIdx.x];
        }
    """)


def test_wrappers_that_write_beside_the_target_or_scale_the_value() -> None:
    check("""
        __device__ void both(float* to, float value) {
          atomicAdd(to, value);                   // -> float-accumulate depends
          atomicAdd(to + 1, value);               // -> float-accumulate depends
        }
        __device__ void scaled(float* to, float value) {
          atomicAdd(to, value * threadIdx.x);     // -> float-accumulate depends
        }
        __device__ void plain(float* to, float value) {
          atomicAdd(to, value);                   // -> float-accumulate depends
        }
        __global__ void k(float* a, float* b, float* c, float* d, const float* x, int n) {
          CUDA_1D_KERNEL_LOOP(i, n) {
            both(a + i, x[i]);                    // -> float-accumulate yes
            scaled(&b[i / 2], 2.0f);              // -> float-accumulate yes
            plain(c + i, x[i]);                   // -> float-accumulate no
            plain(d + i / 2, 1.0f);               // -> float-accumulate no
          }
        }
    """)
