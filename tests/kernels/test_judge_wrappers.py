"""Wrappers, functors, macros and instructions: what is judged at their definition, and what at their use."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan

from .support import check, judged, only, repository

_FUNCTOR = """
    template <typename T> struct Add {
      __device__ void operator()(T* to, T value) { atomicAdd(to, value); }     // -> float-accumulate depends
    };
    template <typename T> struct Most {
      __device__ void operator()(T* to, T value) { atomicMax(to, value); }     // -> commutative-exact no
    };
"""


def test_functor_whose_call_is_found() -> None:
    check(
        _FUNCTOR
        + """
        template <typename T, typename F> __global__ void k(T* out, const T* x, const int* at) {
          F()(out + at[threadIdx.x], x[threadIdx.x]);                          // -> float-accumulate conditional
        }
        template __global__ void k<float, Add<float>>(float*, const float*, const int*);
        template __global__ void k<float, Most<float>>(float*, const float*, const int*);
    """
    )


def test_functor_whose_call_is_not_found_is_judged_by_its_types() -> None:
    check(_FUNCTOR.replace("depends", "yes") + "template struct Run<Add<float>>; template struct Run<Most<float>>;")


def test_call_operator_that_is_a_template_says_no_type() -> None:
    found = judged("""
        __device__ void multiply(float* to, float by) {
          int* bits = (int*)to;
          int old = *bits, assumed;
          do {
            assumed = old;
            old = atomicCAS(bits, assumed, __float_as_int(by * __int_as_float(assumed)));
          } while (assumed != old);
        }
        __device__ void multiply(int* to, int by) {
          int old = *to, assumed;
          do { assumed = old; old = atomicCAS(to, assumed, assumed * by); } while (assumed != old);
        }
        class Multiply {
         public:
          template <typename S> __device__ void operator()(S* start, long at, const S* by) const {
            multiply(start + at, *by);
          }
        };
    """)
    said = found[-1][1]
    assert (said.target_type, said.verdict) == ("S", "depends")


def test_lock_and_slots_inside_of_a_wrapper_that_also_adds() -> None:
    check("""
        struct Args { int* lock; int* count; int* done; };
        __device__ void finish(const Args& args) {
          while (atomicCAS(args.lock, 0, 1) != 0) {}       // -> order-dependent depends
          atomicAdd(args.count, 1);                        // -> commutative-exact no
        }
        __device__ void place(const Args& args, int* list) {
          atomicAdd(args.count, 1);                        // -> commutative-exact no
          list[atomicAdd(args.done, 1)] = 3;               // -> order-dependent yes
        }
        __global__ void k(const Args args, int* list) {
          finish(args);                                    // -> order-dependent conditional
          place(args, list);                               // -> order-dependent yes
        }
    """)


def test_expansion_in_a_device_function_depends_on_its_callers() -> None:
    check("""
        #define PUT(P, V) atomicAdd(P, V)     // -> unknown depends
        __device__ void put(float* to, float v) {
          float* at = reinterpret_cast<float*>(to);
          PUT(at + 1, v);                     // -> float-accumulate depends
        }
        __global__ void k(float* out, const float* x, const int* i) {
          PUT(out + i[0], x[threadIdx.x]);    // -> float-accumulate yes
        }
    """)


def test_struct_of_values_beside_the_pointers() -> None:
    said = only("""
        struct Sums { float x; float y; };
        __device__ void spread(Sums sums, float* first, float* second) {
          if (first != nullptr) atomicAdd(first, sums.x);
          if (second != nullptr) atomicAdd(second, sums.y);
        }
        __global__ void k(float* a, float* b, const float* x) {
          Sums mine;
          mine.x = x[threadIdx.x];
          spread(mine, a, b);
        }
    """)
    assert (said.class_, said.verdict, said.memory) == ("float-accumulate", "yes", "global")
    assert "on `a`" in said.reason


def test_old_value_of_an_integer_instruction() -> None:
    check(r"""
        __global__ void k(unsigned* n, unsigned* list, float* f) {
          unsigned slot, ticket, unread;
          asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(slot) : "l"(n));     // -> order-dependent yes return=index
          list[slot] = 3;
          asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(n));   // -> order-dependent no return=ticket
          if (ticket == gridDim.x - 1) list[0] = 1;
          asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(unread) : "l"(n));   // -> commutative-exact no return=unused
        }
        __device__ unsigned next(unsigned* n) {
          unsigned old;
          asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(n));      // -> order-dependent depends return=forwarded
          return old;
        }
    """)


def test_value_read_again_through_its_address() -> None:
    check("""
        __device__ float add(float* to, float v) {
          unsigned r = atomicAdd((unsigned*)to, 1u);     // -> order-dependent depends return=forwarded
          return *reinterpret_cast<my::bits*>(&r);
        }
    """)


def test_types_that_the_call_says() -> None:
    check("""
        template <typename T, typename F> __device__ T apply(T* to, F f) {
          T old = *to, assumed;
          do { assumed = old; old = atomicCAS(to, assumed, f(assumed)); } while (assumed != old);   // -> cas-loop depends
          return old;
        }
        __global__ void k(Lost lost, const int* at, const float* x) {
          apply(lost.where(), [=](int a) { return a + at[0]; });                          // -> cas-loop no
          apply(lost.where(), [=](float a) { return a + x[threadIdx.x]; });               // -> cas-loop yes
          apply(lost.where(), [=](int a) { return __float_as_int(__int_as_float(a) + x[0]); });   // -> cas-loop conditional
          __builtin_amdgcn_global_atomic_fadd_f32(lost.where(), x[threadIdx.x]);          // -> float-accumulate yes
        }
    """)


def test_memory_of_a_pointer_set_later() -> None:
    check("""
        __global__ void k(float* out, const float* x, const int* at, bool small) {
          extern __shared__ unsigned char bytes[];
          float* part = nullptr;
          float* either = nullptr;
          if (small) {
            part = reinterpret_cast<float*>(bytes);
            either = part;
            atomicAdd(&part[at[0]], x[threadIdx.x]);      // -> float-accumulate yes memory=shared
          } else {
            either = out;
          }
          atomicAdd(&either[at[0]], x[threadIdx.x]);      // -> float-accumulate yes memory=unknown
          float* cast = (float*)(out) + 3 * at[1];
          atomicAdd(cast, x[threadIdx.x]);                // -> float-accumulate yes memory=global
        }
    """)


def test_members_of_local_unions() -> None:
    kernel = """
        __global__ void k(const int* digit) {
          union Storage { unsigned counts[16]; unsigned long long sums[16]; };
          __shared__ Storage storage;
          atomicAdd(&storage.counts[digit[threadIdx.x]], 1);   // -> commutative-exact no memory=shared
        }
    """
    check(kernel)
    check(
        kernel.replace("exact no", "exact no")
        + """
        __global__ void other() { struct Storage { float counts[4]; }; Storage s; }
    """.replace("struct Storage", "struct Other")
    )
    twice = kernel + "__global__ void other() { union Storage { float counts[4]; }; Storage s; }"
    check(twice.replace(", 1);   // -> commutative-exact no", ", digit[0] + 1);   // -> unknown conditional"))


def test_shared_by_a_macro() -> None:
    check("""
        #define SHARED __shared__
        __global__ void k(const int* at) {
          SHARED uint loaded;
          atomicAdd(&loaded, 1u);      // -> commutative-exact no memory=shared
        }
    """)


def test_a_use_that_cannot_be_resolved_leaves_integers_open() -> None:
    said = only("""
        template <typename T> __global__ void k(T* out, const T* x, const int* at) { atomicAdd(out + at[0], x[at[1]]); }
        void go(int* p, const int* i) { k<int><<<1, 1>>>(p, p, i); k<Mystery><<<1, 1>>>(p, p, i); }
    """)
    assert (said.class_, said.verdict) == ("commutative-exact", "conditional")
    assert "not visible" in said.reason


def test_a_swap_that_stores_what_it_expects_only_reads() -> None:
    check("""
        __global__ void k(unsigned* flag, float* out, int* state) {
          while (atomicCAS(flag, 0, 0) != 0) {}                    // -> order-dependent no
          out[threadIdx.x] = atomicCAS(state, 1, 1);               // -> order-dependent conditional
          while (atomicCAS(flag, 0, 1) != 0) {}                    // -> order-dependent conditional
        }
    """)


def test_constants_of_any_spelling_are_the_same_whoever_stores_them() -> None:
    check("""
        enum State { IDLE, BUSY };
        enum class Color { kRed };
        __device__ void mark(int* flag) { atomicExch(flag, 1); }   // -> order-dependent depends
        __device__ void keep(int* flag, int v) { atomicExch(flag, v); }   // -> order-dependent depends
        __global__ void k(int* a, int* b, int* c, unsigned long long* d, int* e, int* f) {
          atomicExch(a, BUSY);                                     // -> order-dependent no
          atomicExch(b, false);                                    // -> order-dependent no
          atomicExch(c, (int)Color::kRed);                         // -> order-dependent no
          atomicExch(d, NULL);                                     // -> order-dependent no
          mark(e);                                                 // -> order-dependent no
          keep(f, threadIdx.x);                                    // -> order-dependent conditional
        }
    """)


def test_a_method_of_an_object_whose_class_is_a_parameter_of_a_template() -> None:
    check("""
        struct Counted {
          unsigned long long count;
          static __device__ void Increment(Counted* bins, int at, double) { Counted::AtomicAdd(bins + at, {1}); }  // -> commutative-exact no
          static __device__ void AtomicAdd(Counted* to, Counted by) { atomicAdd(&to->count, by.count); }   // -> commutative-exact no
        };
        struct Weighted {
          double sum;
          static __device__ void Increment(Weighted* bins, int at, double by) { Weighted::AtomicAdd(bins + at, {by}); }  // -> float-accumulate depends
          static __device__ void AtomicAdd(Weighted* to, Weighted by) { atomicAdd(&to->sum, by.sum); }     // -> float-accumulate depends
        };
        template <typename Bin_> struct Goal {
          using Bin = Bin_;
          __device__ void Note(Bin* bins, int at, double by) const { Bin::Increment(bins, at, by); }       // -> unknown depends
        };
        struct Other { __device__ void Note(int* bins, int at, double by) const { bins[at] = by; } };
        template <typename GoalT> __global__ void fill(typename GoalT::Bin* bins, const int* at, const double* x, GoalT goal) {
          goal.Note(bins, at[threadIdx.x], x[threadIdx.x]);                                                // -> float-accumulate conditional
        }
        __global__ void plain(int* bins, Other goal) { goal.Note(bins, 3, 1.0); }
    """)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("BEGIN_OWN_NAMESPACE\n", "END_OWN_NAMESPACE\n"),
        ("OWN_BEGIN\n\ninline ", "OWN_END\n"),
        ("_OWN_NAMESPACE_BEGIN  \n// of its own\n", ""),
    ],
)
def test_a_macro_that_opens_a_namespace_hides_no_wrapper(opening: str, closing: str) -> None:
    found = judged(
        f"{opening}namespace detail {{\n"
        "__device__ inline int atomic_add(int* to, int by) { return ::atomicAdd(to, by); }\n"
        f"}}\n{closing}"
        "__global__ void k(int* counts, const int* at) { ::own::detail::atomic_add(&counts[at[threadIdx.x]], 1); }\n"
    )
    assert [(atomic.form, said.verdict) for atomic, said in found] == [("wrapper-def", "depends"), ("wrapper", "no")]


def test_a_body_that_adds_to_floats_beside_integers_always_varies() -> None:
    check("""
        struct Removed { double mass; unsigned count; };
        __device__ void add(Removed* to, const Removed& by) {
          atomicAdd(&(to->mass), by.mass);                       // -> float-accumulate depends
          atomicAdd(&(to->count), by.count);                     // -> commutative-exact no
        }
        __device__ Removed all;
        template <typename T> __device__ void either(T* to, T by) {
          atomicAdd(to, by);                                     // -> float-accumulate depends
        }
        __global__ void k(Removed* by, float* x, int* n, const int* at) {
          add(&all, by[threadIdx.x]);                            // -> float-accumulate yes
          either(x + at[0], x[threadIdx.x]);                     // -> float-accumulate yes
          either(n + at[0], n[threadIdx.x]);                     // -> commutative-exact no
        }
    """)


def test_a_ticket_that_depends_on_what_a_thread_brings_elects_by_the_order() -> None:
    check("""
        __global__ void k(unsigned* left, const int* at, unsigned n) {
          unsigned mine = count(at, threadIdx.x);
          unsigned before = atomicSub(left + at[0], mine);       // -> order-dependent conditional return=ticket
          if (before == 1 + mine) finish(at);
          unsigned ticket = atomicAdd(left + 1, 1u);             // -> order-dependent no return=ticket
          if (ticket == n - 1) finish(at);
        }
    """)


@pytest.mark.parametrize(("typed", "verdict"), [("float", "yes"), ("int", "no"), ("char", "conditional")])
def test_a_struct_of_pointers_through_two_functions(typed: str, verdict: str) -> None:
    said = [
        j
        for a, j in judged(f"""
        struct Grads {{ {typed}* density; {typed}* colour; }};
        template <class T> __device__ void one(const int* links, T* g, int size, float v, int i) {{
          atomicAdd(&g[links[0] * size + i], v);
        }}
        __device__ void trace(const int* links, float* cache, float v, int lane, Grads& grads) {{
          one(links, grads.colour, 3, v, lane);
          if (lane == 0) one(links, grads.density, 1, v, 0);
        }}
        __global__ void k(const int* links, float v, Grads grads) {{ trace(links, nullptr, v, threadIdx.x, grads); }}
    """)
        if a.form == "wrapper"
    ]
    assert [j.verdict for j in said] == [verdict]


def test_a_wrapper_in_a_nearer_namespace_hides_that_of_the_same_name() -> None:
    text = """
    #include "outer.cuh"
    #include "inner.cuh"
    namespace lib {
    __global__ void k(int* n, int* out, int* sums) {
      out[atomic_add(n, 1)] = threadIdx.x;
      ::atomic_add(sums + threadIdx.x % 7, 1);
    }
    }
    """
    body = "__device__ int atomic_add(int* at, int x) { return atomicAdd((unsigned*)at, (unsigned)x); }"
    found = scan(repository(a_cu=text, outer_cuh=body, inner_cuh=f"namespace lib {{ {body} }}"))
    said = {s.location.path: (s.class_, s.verdict) for s in found.sites if s.form == "wrapper-def"}
    assert said == {"outer.cuh": ("commutative-exact", "no"), "inner.cuh": ("order-dependent", "yes")}


def test_a_wrapper_of_the_class_around_the_class_that_calls_it() -> None:
    check("""
    struct Low {
      static __device__ void push(float* p, float v) {
        atomicAdd(p + threadIdx.x % 3, v); // -> float-accumulate depends
      }
      struct Down {
        __device__ void apply(float* out, float v) {
          push(out, v); // -> float-accumulate depends
        }
      };
    };
    """)


def test_a_struct_that_is_defined_elsewhere_by_what_is_added_to_its_members() -> None:
    check("""
    #include "elsewhere.h"
    __device__ void inner(const double* x, Sums& sums, int i) {
      double v = x[i];
      atomicAdd(sums.total + i, v); // -> float-accumulate depends
    }
    __global__ void k(const double* x, Sums sums, const int* at) {
      inner(x, sums, at[threadIdx.x]); // -> float-accumulate yes
    }
    """)
