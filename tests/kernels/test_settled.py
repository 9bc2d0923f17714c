"""Bodies of wrappers whose uses in the repository agree."""

from __future__ import annotations

from d9mlint.kernels.scan import scan

from .support import repository

_ADD = "__device__ void add_to(float* cell, float v) { atomicAdd(cell, v); }\n"
_VARIES = "__global__ void k(float* s, const float* x) { add_to(&s[threadIdx.x % 3], x[threadIdx.x]); }\n"
_ALONE = """
  __global__ void one(float* s, const float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_to(&s[i], x[i]);
  }
"""
_LOWER = "__device__ int lower(int* cell, int v) { return atomicMin(cell, v); }\n"
_DROPS = "__global__ void drops(int* s, const int* x) { lower(&s[0], x[threadIdx.x]); }\n"
_KEEPS = "__global__ void keeps(int* s, const int* x) { s[threadIdx.x + 1] = lower(&s[0], x[threadIdx.x]); }\n"


def _body(text: str) -> tuple[str, str, bool]:
    """Class, verdict and whether it is one that varies, of the first site."""
    first = scan(repository(a_cu=text), jobs=1).sites[0]
    assert first.form == "wrapper-def"
    return first.class_, first.verdict, first.can_vary


def test_a_sum_that_varies_at_every_use_varies_and_is_told_there() -> None:
    assert _body(_ADD + _VARIES) == ("float-accumulate", "yes", False)
    through = "__device__ void twice(float* cell, float v) { add_to(cell, v); add_to(cell, v); }\n"
    used = _VARIES.replace("add_to", "twice")
    assert _body(_ADD + through + used) == ("float-accumulate", "yes", False)


def test_uses_that_do_not_agree_or_are_not_there_leave_it_open() -> None:
    for text in (_ADD, _ADD + _ALONE, _ADD + _ALONE + _VARIES):
        assert _body(text) == ("float-accumulate", "depends", False)


_HOST = """
  template <typename T> void add_all(Context c, T* cells, const T* x) {
    EVAL(c, 100, lambda_add, (int i)->void { add_to(cells + i % 3, x[i]); });
  }
  void scatter(Context c, const Tensor& x, Tensor* out) {
    add_all<float>(c, out->Data<float>(), x.Data<float>());
  }
"""


def test_a_function_of_the_host_that_launches_it_may_be_called_from_anywhere() -> None:
    sites = scan(repository(a_cu=_ADD + _HOST), jobs=1).sites
    assert [(s.function, s.verdict) for s in sites] == [("add_to", "yes"), ("add_all", "yes"), ("scatter", "yes")]


def test_an_old_value_that_no_use_takes() -> None:
    assert _body(_LOWER + _DROPS) == ("commutative-exact", "no", False)
    for text in (_LOWER, _LOWER + _KEEPS.replace("s[threadIdx.x + 1] = ", "return ")):
        assert _body(text)[:2] != ("order-dependent", "yes")
    assert _body(_LOWER + _KEEPS) == ("order-dependent", "yes", False)
    assert _body(_LOWER + _DROPS + _KEEPS) == ("order-dependent", "depends", False)


def test_an_overload_is_that_of_its_types() -> None:
    both = _ADD + "__device__ void add_to(int* cell, int v) { atomicAdd(cell, v); }\n"
    counts = "__global__ void n(int* s, const int* x) { add_to(&s[0], x[threadIdx.x]); }\n"
    assert _body(both + _VARIES + counts) == ("float-accumulate", "yes", False)


def test_an_overload_of_an_atomic_of_cuda() -> None:
    own = "__device__ void atomicAdd(half* cell, half v) { ::atomicAdd(cell, v); }\n"
    halves = "__global__ void k(half* s, const half* x) { atomicAdd(&s[threadIdx.x % 3], x[threadIdx.x]); }\n"
    floats = halves.replace("half", "float")
    assert _body(own + halves) == ("float-accumulate", "yes", False)
    assert _body(own + halves + floats) == ("float-accumulate", "yes", False)
    assert _body(own + floats) == ("float-accumulate", "depends", False)


def test_a_sum_beside_a_maximum_of_another_member() -> None:
    text = """
      struct Stats { float sum; float max; };
      __device__ void note(Stats* s, float v) { atomicAdd(&s->sum, v); myAtomicMax(&s->max, v); }
      __device__ void myAtomicMax(float* p, float v) { atomicMax((int*)p, __float_as_int(v)); }
      __global__ void k(Stats* s, const float* x) { note(s, x[threadIdx.x]); }
    """
    found = {s.function + " " + s.form: s.verdict for s in scan(repository(a_cu=text), jobs=1).sites}
    assert found["k wrapper"] == "yes"
    chosen = text.replace("&s->sum, v); ", "&s->max, v); else ").replace("{ atomicAdd", "{ if (v > 0) atomicAdd")
    found = {s.function + " " + s.form: s.verdict for s in scan(repository(a_cu=chosen), jobs=1).sites}
    assert found["k wrapper"] == "conditional"


def test_a_sum_of_a_type_that_only_its_uses_show() -> None:
    raw = "".join(
        f"__device__ void raw({t}* p, {t} v) {{ atomicAdd(p, v); }}\n" for t in ("float", "double", "unsigned")
    )
    body = "template <class C> __device__ void dev(C* out, C v, int at) { raw(&out[at], v); }\n"
    use = """
      template <class C> __global__ void k(C* out, const C* x, const int* at) {
        dev(load(out, blockIdx.y), x[threadIdx.x], at[threadIdx.x]);
      }
    """
    sites = scan(repository(a_cu=raw + body + use), jobs=1).sites
    assert [(s.class_, s.verdict) for s in sites if s.function == "dev"] == [("float-accumulate", "conditional")]


_ANY = """
template <typename T> __device__ void add_any(T* cell, T v) { atomicAdd(cell, v); }
template <typename T> __device__ void scale(T* cell, T v) {
  cuda::atomic_ref<T> ref(*cell);
  T old = ref.load();
  while (!ref.compare_exchange_strong(old, old * v)) {}
}
struct Sum { template <typename T> __device__ void operator()(T* out, T v) const { CALL(out, v); } };
__global__ void k(float* s, const float* x) { add_any(s, x[threadIdx.x]); }
"""


def test_a_use_for_any_type_has_the_class_of_the_bodies() -> None:
    def told(text: str) -> tuple[str, str, str]:
        (site,) = (one for one in scan(repository(a_cu=text), jobs=1).sites if "Sum" in one.function)
        return site.class_, site.verdict, site.implements

    assert told(_ANY.replace("CALL", "add_any")) == ("float-accumulate", "depends", "")
    assert told(_ANY.replace("CALL", "scale")) == ("cas-loop", "depends", "mul")
    integers = _ANY.replace("k(float* s, const float* x)", "k(int* s, const int* x)")
    assert told(integers.replace("CALL", "add_any"))[0] != "float-accumulate"


def test_a_body_that_casts_its_cell_is_meant_by_uses_of_the_other_type() -> None:
    lower = """
      __device__ float largest(float* cell, float v) {
        return v >= 0 ? __int_as_float(atomicMax((int*)cell, __float_as_int(v)))
                      : __uint_as_float(atomicMin((unsigned int*)cell, __float_as_uint(v)));
      }
    """
    drops = "__global__ void k(float* s, const float* x) { largest(&s[0], x[threadIdx.x]); }\n"
    keeps = "__global__ void l(float* s, const float* x) { s[threadIdx.x + 1] = largest(&s[0], x[threadIdx.x]); }\n"
    assert _body(lower + drops)[:2] == ("commutative-exact", "no")
    assert _body(lower + drops + keeps)[:2] == ("order-dependent", "depends")
