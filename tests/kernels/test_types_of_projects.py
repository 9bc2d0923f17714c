"""Types as projects write them: launch macros, launch wrappers, CuTe tensors, traits, pieces of source."""

from __future__ import annotations

import pytest

from .support import check, judged, only

_KERNEL = "template <typename T> __global__ void k(T* out, const T* x, int n) { atomicAdd(&out[n], x[threadIdx.x]); }\n"
_SWITCH = """
#define REAL_SWITCH(type, DType, ...) switch (type) { case 0: { typedef float DType; {__VA_ARGS__} break; } \\
  case 1: { typedef double DType; {__VA_ARGS__} break; } }
#define ID_SWITCH(type, IdType, ...) do { if (type == 32) { typedef int32_t IdType; {__VA_ARGS__} } \\
  else { typedef int64_t IdType; {__VA_ARGS__} } } while (0)
#define BOTH_SWITCH(type, I, D, ...) ID_SWITCH(type, I, { REAL_SWITCH(type, D, {__VA_ARGS__}) })
"""


@pytest.mark.parametrize(
    "rest, types",
    [
        (_SWITCH + "void go(int t, void* p) { REAL_SWITCH(t, DType, { k<DType><<<1, 1>>>(p, p, 0); }); }",
         "T = float | double"),
        (_SWITCH + "void go(int t, void* p) { ID_SWITCH(t, IdType, { k<IdType><<<1, 1>>>(p, p, 0); }); }",
         "T = int32_t | int64_t"),
        (_SWITCH + "void go(int t, void* p) { BOTH_SWITCH(t, I, D, { k<I><<<1, 1>>>(p, p, 0); }); }",
         "T = int32_t | int64_t"),
        # A macro whose definition is not here says by its name that it switches indices.
        ("void go(int t, void* p) { ATEN_ID_TYPE_SWITCH(t, IdType, { k<IdType><<<1, 1>>>(p, p, 0); }); }",
         "T = int32_t | int64_t"),
        # Devices and dimensions are no types of elements.
        ("template <typename D> void go(const Tensor<gpu, 4, D>& t) { k<<<1, 1>>>(t.dptr_, x, 0); }\n"
         "void all(Tensor<gpu, 4, float> t) { go(t); }", "T = float"),
        # A kernel handed to a macro that launches it.
        ("#define LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)\n"
         "void go(double* p, double* q) { LAUNCH(k, 1, 32, p, q, 0); }", "T = double"),
        # A function that calls one of its name in another namespace.
        ("namespace cuda { template <typename D> void go(D* p) { k<D><<<1, 1>>>(p, p, 0); } }\n"
         "template <typename D> void go(D* p) { cuda::go(p); }\nvoid all(half* p) { go(p); }", "T = half"),
        # A trait, where all classes that have such a type agree.
        ("struct A { using Accum = float; }; struct B { using Accum = double; };\n"
         "template <typename Traits> void go() { using Accum = typename Traits::Accum;"
         " k<Accum><<<1, 1>>>(nullptr, nullptr, 0); }", "T = float | double"),
        ("template <bool B> void go() { k<std::conditional_t<B, float, half>><<<1, 1>>>(p, p, 0); }", "T = float | half"),
    ],
)  # fmt: skip
def test_types(rest: str, types: str) -> None:
    assert only(_KERNEL + rest).target_type == types


def test_views_of_cute_have_the_elements_of_what_they_are_made_of() -> None:
    check("""
        struct Kernel {
          struct Params { float* ptr_accum; int* semaphore; };
          __device__ void mma(Params const& params, int m) {
            Tensor mAccum = make_tensor(make_gmem_ptr(params.ptr_accum), shape, stride)(_, m);
            Tensor gAccum = local_tile(domain_offset(make_coord(m), mAccum), tile, make_coord(_));
            auto thread_copy = copy.get_thread_slice(threadIdx.x);
            Tensor tAccum = thread_copy.partition_D(gAccum);
            Tensor tWide = recast<float4>(tAccum(_, m));
            for (int i = 0; i < size(tWide); ++i) { atomicAdd(&tWide(i), v(i)); }   // -> float-accumulate yes
            for (int i = 0; i < size(tAccum); ++i) { atomicAdd(&tAccum(i), v(i)); }   // -> float-accumulate yes
          }
        };
        struct Scheduler {
          struct Params { float scale; int* semaphore; };
          __device__ void next(Params const& params) {
            atomicAdd(params.semaphore, 1);                        // -> commutative-exact no
          }
        };
    """)


@pytest.mark.parametrize("ending", ["inl", "ipp", "tcc", "txx"])
def test_a_piece_of_source_sees_what_its_includer_sees(ending: str) -> None:
    piece = "__device__ void run(Counters* all) { Counters& c = all[0]; atomicAdd(&c.bins, 1); }\n"
    including = f'#include "defs.h"\n#include "b.{ending}"\n'
    sources = {"defs_h": "typedef int S32;\nstruct Counters { S32 bins; };\n", f"b_{ending}": piece}
    assert judged(including, **sources) == []
    from d9mlint.kernels.scan import scan

    from .support import repository

    found = scan(repository(a_cu=including, **sources)).sites
    assert [(s.location.path, s.class_) for s in found] == [(f"b.{ending}", "commutative-exact")]


def test_bulk_reductions_are_read() -> None:
    check("""
        __device__ void add(float* p, const float* s, int n) {
          asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" :: "l"(p), "r"(s), "r"(n));  // -> float-accumulate depends
        }
        __global__ void k(float* out, const float* s, const int* index) { add(out + index[blockIdx.x], s, 16); }  // -> float-accumulate yes
    """)  # noqa: E501


def test_vectors_are_added_to_by_their_elements() -> None:
    check(
        """
        #include "vectors.h"
        template <typename vec> __device__ void add(vec* out, const vec& by) {
          for (int i = 0; i < by.size(); ++i) atomicAdd(&((*out)[i]), by[i]);      // -> float-accumulate depends
        }
        __global__ void k(Vec3f* grad, Vec3i* count, const int* at, const Vec3f* by, const Vec3i* one) {
          add(grad + at[threadIdx.x], by[threadIdx.x]);                            // -> float-accumulate yes
          atomicAdd(&count[at[threadIdx.x]][1], one[threadIdx.x][1]);              // -> commutative-exact no
        }
    """,
        vectors_h="template <typename S> using Vec3 = Eigen::Matrix<S, 3, 1>;\n"
        "using Vec3f = Vec3<float>;\nusing Vec3i = Vec3<int>;",
    )


def test_the_type_of_a_class_is_that_of_its_own_class() -> None:
    check(
        """
        #include "stats.h"
        __device__ Stats::type stats[8];
        __global__ void k(const int* at) {
          atomicAdd(&stats[at[threadIdx.x]], Stats::type(at[0]));                  // -> commutative-exact no
          atomicAdd(&((Sums::type*)sums)[at[threadIdx.x]], x[threadIdx.x]);        // -> float-accumulate yes
        }
    """,
        stats_h="struct Stats { using type = unsigned long long; };\nstruct Sums { typedef float type; };\n"
        "template <typename T> struct Any { using type = T; };",
    )


def test_the_device_of_alpaka_is_no_target() -> None:
    check("""
        struct Params { int charge[4]; };
        template <typename TAcc> __device__ void k(TAcc const& acc, float* sums, const int* at, const float* x) {
          auto& params = alpaka::declareSharedVar<Params, __COUNTER__>(acc);
          alpaka::atomicAdd(acc, &params.charge[at[0]], at[1], alpaka::hierarchy::Threads{});  // -> commutative-exact no
          alpaka::atomicAdd(acc, &sums[at[0]], x[0]);                              // -> float-accumulate depends
          atomicAdd(&sums[at[0]], x[0]);                                           // -> float-accumulate depends
        }
    """)


def test_recursive_templates_that_inherit_from_themselves_end() -> None:
    levels = "".join(
        f"template <int N> struct Level{i} : Level{i}<N - 1>, Level{i + 1}<N>, Level{i + 2}<N> {{}};\n"
        for i in range(12)
    )
    use = "__global__ void k(Level0<4> all, int n) { atomicAdd(&all.sums[threadIdx.x % n], 0.5f * threadIdx.x); }\n"
    assert only(levels + use).class_ == "float-accumulate"  # by what is added


@pytest.mark.parametrize(
    ("made", "verdict"),
    [("views::Tensor2DWrap<int>(x)", "no"), ("views::CreateTensorWrap<float>(x)", "yes"),
     ("make_device_vector<unsigned long long, int64_t>(h, n)", "no"), ("convert<int>(x)", "conditional")],
)  # fmt: skip
def test_views_that_are_parameters_of_a_template(made: str, verdict: str) -> None:
    said = only(f"""
    template <class View> __global__ void k(View hist, const int* at) {{ atomicAdd(hist.ptr(0, at[0]), 2 * at[threadIdx.x]); }}
    void run() {{ auto hist = {made}; k<<<1, 32>>>(hist, nullptr); }}
    """)
    assert said.verdict == verdict


def test_the_handle_of_a_view() -> None:
    said = only("""
    void run(int n, const int* sizes) {
      auto counts = lib::make_device_vector<unsigned long long, int64_t>(handle, n);
      auto pointer = counts.data_handle();
      for_each(n, [=] __device__(int i) { atomicAdd(&pointer[sizes[i]], sizes[i]); });
    }
    """)
    assert said.verdict == "no"


@pytest.mark.parametrize(
    "line",
    [
        "vecmem::device_atomic_ref<unsigned int>(shares.at(i)).fetch_sub(m);",
        "vecmem::device_atomic_ref<unsigned int> share(hidden(i)); share.fetch_add(m);",
        "vecmem::device_atomic_ref<unsigned int> share(counts.at(i)); share.fetch_add(m);",
    ],
)
def test_a_reference_of_a_librarys_own_says_its_type(line: str) -> None:
    found = only(f"""
        #include <vecmem/memory/device_atomic_ref.hpp>
        __global__ void k(view_type shares, vecmem::device_vector<int> counts, int i, unsigned m) {{ {line} }}
    """)
    assert (found.class_, found.verdict) == ("commutative-exact", "no"), found.reason


_ADD = """
    template <class T> __device__ T add(T* address, T value) { return atomicAdd(address, value); }
    __device__ double add(double* address, double value) {
      unsigned long long* at = (unsigned long long*)address; unsigned long long old = *at, seen;
      do { seen = old; old = atomicCAS(at, seen, __double_as_longlong(value + __longlong_as_double(seen)));
      } while (seen != old);
      return __longlong_as_double(old);
    }
    struct Id { using size_type = unsigned; };
"""


@pytest.mark.parametrize(
    "call, class_, verdict",
    [
        ("add(&state.counts[i], Id::size_type{1});", "commutative-exact", "no"),
        ("add(&state.counts[i], size_type(1));", "commutative-exact", "no"),
        ("out[add(&state.counts[i], Id::size_type{1})] = i;", "order-dependent", "yes"),
        ("ids[0] = make(state, i);", "order-dependent", "yes"),
        ("add(&state.counts[i], weights[threadIdx.x]);", "float-accumulate", "yes"),
        ("add(&state.counts[i], 1 + i);", "unknown", "conditional"),  # an integer that is as well converted
    ],
)
def test_one_type_for_target_and_value(call: str, class_: str, verdict: str) -> None:
    found = judged(
        _ADD
        + f"""
        __device__ Id make(State& state, int i) {{ return Id{{add(&state.counts[i], Id::size_type{{1}})}}; }}
        __global__ void k(State& state, int* out, Id* ids, int i, double* weights) {{ {call} }}
    """
    )
    used = [said for site, said in found if site.function is not None and site.function.name == "k"]
    assert [(said.class_, said.verdict) for said in used] == [(class_, verdict)], [said.reason for said in used]
