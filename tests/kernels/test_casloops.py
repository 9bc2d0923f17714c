"""What a compare-and-swap computes."""

from __future__ import annotations

import pytest

from .support import check, judged, only


def _loop(value: str, before: str = "", pointer: str = "float* address, float val", bits: str = "int") -> str:
    return f"""
        __global__ void k({pointer}) {{
          {bits}* as_bits = ({bits}*)(address + threadIdx.x % 3);
          {bits} old = *as_bits, assumed;
          do {{
            assumed = old;
            {before}
            old = atomicCAS(as_bits, assumed, {value});
          }} while (assumed != old);
        }}
    """


@pytest.mark.parametrize(
    ("value", "implements", "verdict"),
    [
        ("__float_as_int(val + __int_as_float(assumed))", "add", "yes"),
        ("__float_as_int(__int_as_float(assumed) - val)", "sub", "yes"),
        ("__float_as_int(val * __int_as_float(assumed))", "mul", "yes"),
        ("__float_as_int(__int_as_float(assumed) / val)", "div", "yes"),
        ("__float_as_int(fmaxf(val, __int_as_float(assumed)))", "max", "no"),
        ("__float_as_int(::min(val, __int_as_float(assumed)))", "min", "no"),
        ("__float_as_int(val < __int_as_float(assumed) ? val : __int_as_float(assumed))", "min", "no"),
        ("__float_as_int(val < __int_as_float(assumed) ? __int_as_float(assumed) : val)", "max", "no"),
    ],
)
def test_float_loops(value: str, implements: str, verdict: str) -> None:
    said = only(_loop(value))
    assert (said.class_, said.implements, said.verdict) == ("cas-loop", implements, verdict), said.reason


def test_the_new_value_in_a_variable() -> None:
    said = only(_loop("__float_as_int(next)", before="float next = __int_as_float(assumed); next += val;"))
    assert (said.implements, said.verdict) == ("add", "yes")


def test_integers_are_exact() -> None:
    said = only(_loop("assumed + val", pointer="unsigned* address, unsigned val", bits="unsigned"))
    assert (said.class_, said.implements, said.verdict) == ("cas-loop", "add", "no")


def test_half_words_in_a_word() -> None:
    check("""
        __device__ void add_half(__half* address, __half val) {
          unsigned* base = (unsigned*)((char*)address - ((size_t)address & 2));
          unsigned old = *base, assumed;
          do {
            assumed = old;
            __half sum = __ushort_as_half((size_t)address & 2 ? old >> 16 : old & 0xffff);
            sum = __hadd(sum, val);
            old = (size_t)address & 2 ? (old & 0xffff) | (__half_as_ushort(sum) << 16)
                                      : (old & 0xffff0000) | __half_as_ushort(sum);
            old = atomicCAS(base, assumed, old);   // -> cas-loop depends implements=add
          } while (assumed != old);
        }
        __global__ void k(__half* out, const int* at, const __half* x) {
          add_half(out + at[0], x[threadIdx.x]);   // -> float-accumulate yes
        }
    """)


def test_while_form() -> None:
    said = only("""
        __global__ void k(double* sum, const double* x) {
          unsigned long long* bits = reinterpret_cast<unsigned long long*>(sum);
          unsigned long long seen = *bits, before;
          while (true) {
            before = seen;
            seen = atomicCAS(bits, before, __double_as_longlong(x[threadIdx.x] + __longlong_as_double(before)));
            if (seen == before) break;
          }
        }
    """)
    assert (said.class_, said.implements, said.verdict) == ("cas-loop", "add", "yes")


def test_helper_that_takes_a_function() -> None:
    check("""
        template <typename T, typename F> __device__ T swap_with(T* p, F accumulate) {
          T old = *p, assumed;
          do {
            assumed = old;
            old = atomicCAS(p, assumed, accumulate(assumed));                     // -> cas-loop depends implements=custom
          } while (assumed != old);
          return old;
        }
        __device__ float scale(float* p, float by) {
          return swap_with(p, [by](float a) { return a * by; });                  // -> cas-loop depends implements=mul
        }
        __device__ float highest(float* p, float x) {
          return swap_with(p, [x](float a) { return max(a, x); });                // -> cas-loop depends implements=max
        }
        __global__ void k(float* p, const float* x, const int* at) {
          scale(p + at[threadIdx.x], x[threadIdx.x]);                             // -> float-accumulate yes
          highest(p + at[threadIdx.x], x[threadIdx.x]);                           // -> commutative-exact no
        }
    """)


def test_function_from_a_macro() -> None:
    text = """
        #define CAS_LOOP(NAME, TYPE, BITS) \\
          __device__ void NAME(TYPE* address, TYPE val) { \\
            BITS* bits = (BITS*)address; \\
            BITS old = *bits, assumed; \\
            do { assumed = old; old = atomicCAS(bits, assumed, OP(val, (TYPE)old)); } while (assumed != old); \\
          }
        #define OP(X, Y) (X) * (Y)
        CAS_LOOP(times, int, int)
        #undef OP
    """
    uses = [j for a, j in judged(text) if a.form == "macro-use"]
    assert [(j.class_, j.verdict) for j in uses] == [("cas-loop", "depends")]
    assert "`mul`" in uses[0].reason


def test_waiting_for_a_turn_is_no_sum() -> None:
    said = only("""
        __global__ void k(int* tail, int mine, int count) {
          while (atomicCAS(tail, mine, mine + count) != mine) {}
        }
    """)
    assert said.class_ == "order-dependent" and said.implements == ""


def test_first_come_first_served() -> None:
    said = only("""
        __global__ void k(unsigned* keys, const unsigned* x) {
          unsigned slot = x[threadIdx.x] % 64;
          while (true) {
            unsigned before = atomicCAS(&keys[slot], 0xffffffffu, x[threadIdx.x]);
            if (before == 0xffffffffu) break;
            slot = (slot + 1) % 64;
          }
        }
    """)
    assert (said.class_, said.verdict) == ("order-dependent", "yes")


def test_a_wrapper_that_exchanges_a_constant() -> None:
    check("""
        __device__ void put(int* p, int v) { atomicExch(p, v); }      // -> order-dependent depends
        __global__ void k(int* p) { put(p, 1); }                      // -> order-dependent no
        __global__ void l(int* p) { put(p, threadIdx.x); }            // -> order-dependent conditional
    """)


def test_a_swap_behind_a_test_is_a_max_or_a_min() -> None:
    check("""
        __device__ void up(float* p, float v) {
          int* bits = (int*)p;
          int old = *bits, assumed;
          do {
            assumed = old;
            if (__int_as_float(assumed) >= v) { break; }
            old = atomicCAS(bits, assumed, __float_as_int(v));           // -> cas-loop no implements=max
          } while (assumed != old);
        }
        __device__ float down(float* p, float v) {
          int old = __float_as_int(*p), assumed;
          while (v < __int_as_float(old)) {
            assumed = old;
            old = atomicCAS((int*)p, assumed, __float_as_int(v));        // -> cas-loop depends implements=min
          }
          return __int_as_float(old);
        }
        __device__ void down_too(int* p, int v) {
          int old = *p, assumed;
          do {
            assumed = old;
            if (assumed > v) old = atomicCAS(p, assumed, v);             // -> cas-loop no implements=min
          } while (assumed != old);
        }
        __global__ void k(float* p, const float* x, const int* at) {
          up(p + at[threadIdx.x], x[threadIdx.x]);                       // -> commutative-exact no
        }
    """)


@pytest.mark.parametrize(
    "test",
    [
        "if (v == 0) break;",  # no order
        "if (assumed >= w) break;",  # of another value
        "if (assumed >= v) break; if (assumed < v) break;",  # both ways
        "if (assumed >= v) *p = 1;",  # goes on
        "if (assumed >= v && w) break;",  # not always
    ],
)
def test_a_swap_behind_another_test_is_none(test: str) -> None:
    found = only("""
        __global__ void k(int* p, int* q, int v, int w) {
          int old = *p, assumed;
          do { assumed = old; TEST old = atomicCAS(p, assumed, v); } while (assumed != old);
          q[0] = old;
        }
    """.replace("TEST", test))  # fmt: skip
    assert (found.class_, found.implements) == ("order-dependent", "")
    assert found.verdict != "no"


def test_one_turn_of_a_loop_that_a_helper_makes() -> None:
    text = """
template <typename F> __device__ unsigned turns(unsigned* p, F turn) {
  unsigned old = *p, assumed;
  do { assumed = old; turn(old, assumed, p); } while (assumed != old);
  return old;
}
__device__ unsigned add_up(unsigned* p, unsigned v) {
  return turns(p, [&v](unsigned& old, unsigned assumed, unsigned* q) {
    old = atomicCAS(q, assumed, v + assumed);  // -> MARK
  });
}
"""
    check(text.replace("MARK", "cas-loop no implements=add"))
    check(text.replace("v + assumed", "bits(v + value(assumed))").replace("MARK", "cas-loop unknown implements=custom"))


_BYTE = """
        __device__ unsigned char cas8(unsigned char* addr, unsigned char compare, unsigned char v) {{
          unsigned shift = ((size_t)addr & 3) * 8;
          unsigned* p = (unsigned*)(addr - ((size_t)addr & 3));
          unsigned old = *p, seen;
          unsigned char part;
          do {{
            seen = old;
            part = (old >> shift) & 0xff;
            {test}
            unsigned next = {value};
            old = atomicCAS(p, seen, next);                                    // -> {said}
          }} while (seen != old);
          return part;
        }}
        __global__ void k(unsigned char* a, const unsigned char* v) {{
          cas8(a, 0, v[threadIdx.x]);                                          // -> {used}
        }}
"""


@pytest.mark.parametrize(
    "value",
    [
        "(old & ~(0xffu << shift)) | ((unsigned)v << shift)",
        "((unsigned)v << shift) | (seen & ~(0xffu << shift))",
        "shift ? (old & 0xffff0000) | v : (old & 0xffff) | (v << 16)",
    ],
)
def test_a_swap_of_a_byte_is_a_compare_and_swap(value: str) -> None:
    said, used = "order-dependent depends", "order-dependent yes"
    check(_BYTE.format(test="if (part != compare) break;", value=value, said=said, used=used))


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("", "(old & ~(0xffu << shift)) | ((unsigned)v << shift)"),
        ("if (v != compare) break;", "(old & ~(0xffu << shift)) | ((unsigned)v << shift)"),
        ("if (part != compare) v = 3;", "(old & ~(0xffu << shift)) | ((unsigned)v << shift)"),
    ],
)
def test_what_stores_in_a_byte_otherwise_is_none(test: str, value: str) -> None:
    check(_BYTE.format(test=test, value=value, said="cas-loop depends", used="cas-loop unknown"))


def test_who_waits_for_a_number_that_it_is_given_takes_no_lock() -> None:
    check("""
        struct Barrier {
          __device__ static void wait_eq(int* flag, int val) { while (atomicCAS(flag, val, 0) != val) {} }  // -> order-dependent depends
          __device__ static void take(int* lock) { while (atomicCAS(lock, 0, 1) != 0) {} }                  // -> order-dependent depends
        };
        __global__ void turn(int* flags, float* sum, const float* x) {
          Barrier::wait_eq(flags, blockIdx.x);                                                              // -> order-dependent conditional
          sum[0] = sum[0] + x[blockIdx.x];
        }
        __global__ void any(int* lock, float* sum, const float* x) {
          Barrier::take(lock);                                                                              // -> order-dependent yes
          sum[0] = sum[0] + x[blockIdx.x];
        }
    """)
