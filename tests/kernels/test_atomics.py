"""Every atomic of a repository: what is found, as what, and what is not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from d9mlint.kernels.sites.atomics import Atomic, find
from d9mlint.kernels.source.repository import Repository


def repository(files: Mapping[str, str | bytes]) -> Repository:
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return Repository(contents, contents.__getitem__)


def atomics(files: Mapping[str, str | bytes] | str) -> list[Atomic]:
    return find(repository({"a.cu": files} if isinstance(files, str) else files))


def seen(files: Mapping[str, str | bytes] | str) -> list[tuple[str, str, str]]:
    return [(a.form, a.name, a.intrinsic) for a in atomics(files)]


def kernel(body: str) -> str:
    return f"__global__ void k(float* p, int* n, float v) {{\n  {body}\n}}\n"


@pytest.mark.parametrize("operation", ["Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor"])
def test_cuda_atomics_with_their_scopes(operation: str) -> None:
    body = f"atomic{operation}(n, 1); atomic{operation}_block(n, 1); atomic{operation}_system(n, 1);"
    found = atomics(kernel(body))
    assert [a.name for a in found] == [f"atomic{operation}{s}" for s in ("", "_block", "_system")]
    assert {(a.form, a.intrinsic) for a in found} == {("direct", f"atomic{operation}")}
    assert [a.scope for a in found] == ["device", "block", "system"]


@pytest.mark.parametrize(
    ("call", "form", "intrinsic", "scope"),
    [
        ("unsafeAtomicAdd(p, v)", "direct", "atomicAdd", "device"),
        ("safeAtomicMax(p, v)", "direct", "atomicMax", "device"),
        ("atomicAddNoRet(p, v)", "direct", "atomicAdd", "device"),
        (
            "__hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)",
            "direct",
            "atomicAdd",
            "block",
        ),
        ("__hip_atomic_exchange(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)", "direct", "atomicExch", "device"),
        ("CudaAtomicAdd(p, v)", "wrapper", "atomicAdd", "device"),
        ("tensorflow::CudaAtomicMul(p, v)", "wrapper", "atomicCAS", "device"),
        ("GpuAtomicMax(p, v)", "wrapper", "atomicMax", "device"),
        ("gpuAtomicAddNoReturn(p, v)", "wrapper", "atomicAdd", "device"),
        ("at::native::fastAtomicAdd(p, 0, 1, v, true)", "wrapper", "atomicAdd", "device"),
        ("::atomicAdd(p, v)", "direct", "atomicAdd", "device"),
        ("atomicAdd<float>(p, v)", "direct", "atomicAdd", "device"),
    ],
)
def test_names_of_frameworks_and_qualified_names(call: str, form: str, intrinsic: str, scope: str) -> None:
    (found,) = atomics(kernel(call + ";"))
    assert (found.form, found.intrinsic, found.scope) == (form, intrinsic, scope)
    assert found.function is not None and found.function.label == "k"
    assert found.function.qualifier == "__global__"
    assert found.unit.text(found.arguments[0]) == "p"


@pytest.mark.parametrize(
    "source",
    [
        "// atomicAdd(p, v);\n/* atomicAdd(p, v); */ int x; /* a\n atomicAdd(p, v); */\n",
        'const char* m = "atomicAdd(p, v) is slow";\n',
        '#include "atomicAdd.h"\n#include <atomic.h>\n',
        "#if 0\n__global__ void k(float* p) { atomicAdd(p, 1.f); }\n#endif\n",
        "__device__ float atomicAdd(float* address, float value);\n",
        "void f(std::atomic<int>& a) { a.fetch_add(1); a.exchange(2); std::atomic_ref<int> r(x); r.fetch_sub(1); }\n",
        "using Op = Copy_Atom<UniversalCopy<int>, T>; AtomLayoutMNK<1> l;\n",
        "__global__ void atomicAdd(float* p) { p[0] = 1; }\nvoid f(float* p) { atomicAdd<<<1, 1>>>(p); }\n",
        "__global__ void atomicAddKernel(float* p) { p[0] = 1; }\nvoid f(float* p) { atomicAddKernel<<<1, 1>>>(p); }\n",
        "void f(Counter& c) { c.atomicAdd(1, 2); }\n",
        "void f(int* p) { boost::atomicAdd(p, 1); std::atomicExch(p, 1); }\n",
        "void f(int* p) { __sync_fetch_and_add(p, 1); __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }\n",
        "void f(int* p) { atomic_add(p, 1); atomic_fetch_add(p, 1); }\n",
        "template <class T> auto g(T* p) -> decltype(atomicAdd(p, T(1)));\n",
    ],
)
def test_no_impostors(source: str) -> None:
    assert seen(source) == []


def test_host_functions_of_the_same_name() -> None:
    host = "static void atomicAdd(float* p, float v) {\n  *p += v;\n}\nvoid f(float* p) { atomicAdd(p, 1.f); }\n"
    assert seen({"host.cpp": host}) == []
    assert seen({"host.h": host, "b.cpp": '#include "host.h"\nvoid g(float* p) { atomicAdd(p, 2.f); }\n'}) == []
    # The device's atomic in a file that the host's function does not reach.
    assert len(seen({"host.h": host, "k.cu": kernel("atomicAdd(p, v);")})) == 1


def test_places_count_characters_and_lines() -> None:
    source = "/* é */ __global__ void k(float* p) {\r\n\tatomicAdd(p, 1.f); /* ü€ */ atomicAdd(p,\r\n 2.f); }\r\n"
    first, second = atomics(source)
    assert (first.location.line, first.location.column, first.location.end_column) == (2, 2, 19)
    assert (second.location.line, second.location.column) == (2, 30)
    assert (second.location.end_line, second.location.end_column) == (3, 6)


def test_byte_order_mark_and_latin_1() -> None:
    line = "__global__ void k(float* p) { /* caf\xe9 \xe9\xe8 */ atomicAdd(p, 1.f); }"
    for data in (b"\xef\xbb\xbf" + line.encode(), line.encode("latin-1")):
        (found,) = atomics({"a.cu": data})
        assert (found.location.line, found.location.column) == (1, line.index("atomicAdd") + 1)


def test_wrappers_to_a_fixpoint() -> None:
    files = {
        "add.cuh": """
template <typename T> __device__ void inner_add(T* where, T what) { T* at = where + 1; atomicAdd(at, what); }
template <typename T> EIGEN_DEVICE_FUNC void outer_add(T what, T* where) { inner_add(where, what); }
""",
        "k.cu": '#include "add.cuh"\n__global__ void k(float* out) {\n  outer_add(1.f, out + threadIdx.x);\n}\n',
        "other.cu": "void outer_add(float, float*);\nvoid g(float* p) { outer_add(1.f, p); }\n",
    }
    deep, middle, call = atomics(files)
    assert (deep.form, deep.name, deep.function and deep.function.name) == ("wrapper-def", "atomicAdd", "inner_add")
    assert deep.passed_on
    assert (middle.form, middle.name, middle.intrinsic) == ("wrapper-def", "inner_add", "atomicAdd")
    assert (call.form, call.name, call.intrinsic, call.passed_on) == ("wrapper", "outer_add", "atomicAdd", False)
    assert call.unit.text(call.arguments[0]) == "out + threadIdx.x"
    assert [i.name for i in call.inner] == ["inner_add"] and [i.name for i in call.inner[0].inner] == ["atomicAdd"]
    assert (call.location.path, call.location.line, call.location.column) == ("k.cu", 3, 3)


def test_overloads_that_call_each_other_end() -> None:
    source = """
__device__ void add(float* p, float v) { atomicAdd(p, v); }
__device__ void add(float2* p, float2 v) { add(&p->x, v.x); add(&p->y, v.y); }
__global__ void k(float2* p) { add(p, p[1]); }
"""
    assert [(a.form, a.intrinsic) for a in atomics(source)] == [("wrapper-def", "atomicAdd")] * 3 + [
        ("wrapper", "atomicAdd")
    ]


def test_no_wrapper_without_a_pointer_of_the_caller() -> None:
    source = """
__device__ int ticket;
__device__ int next(int step) { return atomicAdd(&ticket, step); }
__device__ void tile(const int* index) { __shared__ int s[4]; atomicAdd(&s[index[0]], 1); }
__global__ void k(int* p) { atomicAdd(p, 1); next(2); tile(p); }
"""
    assert {a.form for a in atomics(source)} == {"direct"}
    assert len(atomics(source)) == 3


def test_common_names_are_claimed_only_where_they_are_seen() -> None:
    files = {
        "a.cu": "__device__ void add(float* p, float v) { atomicAdd(p, v); }\n"
        "__global__ void k(float* p) { add(p, 1.f); set.add(p, 1.f); Set::add(p, 1.f); add(p); }\n",
        "b.cu": "__device__ void add(float* p, float v) { *p += v; }\n__global__ void k(float* p) { add(p, 1.f); }\n",
    }
    assert [(a.location.path, a.form) for a in atomics(files)] == [("a.cu", "wrapper-def"), ("a.cu", "wrapper")]


def test_methods_of_reducers() -> None:
    source = """
template <typename T, int Op> struct Reducer {
  static inline __device__ void write(T* address, T value) {
    if (Op == 0) atomAdd(address, value); else atomMax(address, value);
  }
};
template <typename T, int Op> __global__ void k(T* out) { Reducer<T, Op>::write(out + 1, T(2)); Other::write(out, 1); }
"""
    first, second, call = atomics(source)
    assert first.function is not None and first.function.label == "Reducer::write"
    assert (call.form, call.name, [i.name for i in call.inner]) == ("wrapper", "write", ["atomAdd", "atomMax"])
    assert call.intrinsic == ""


def test_functors_called_directly_and_through_template_parameters() -> None:
    source = """
template <typename T> struct SumOp {
  EIGEN_DEVICE_FUNC void operator()(T* dest, const T& value) { CudaAtomicAdd(dest, value); }
};
struct MaxOp { __device__ void operator()(int* dest, int value) const { atomicMax(dest, value); } };
template <typename T, typename Op> __global__ void reduce(T* out, const T* in) { Op()(out + in[0], in[1]); }
template <typename Op> __global__ void apply(int* out, const Op& op) { op(&out[1], 2); less(out, 3); }
__global__ void plain(float* out) { SumOp<float>()(out, 1.f); MaxOp max; max(reinterpret_cast<int*>(out), 2); }
void launch(float* p, int* q) { reduce<float, SumOp<float>><<<1, 1>>>(p, p); apply<<<1, 1>>>(q, MaxOp()); }
"""
    calls = [a for a in atomics(source) if a.form == "wrapper"]
    assert [(a.name, a.location.line) for a in calls] == [("Op", 6), ("op", 7), ("SumOp", 8), ("max", 8)]
    assert [i.name for i in calls[2].inner] == ["CudaAtomicAdd"] and calls[3].intrinsic == "atomicMax"


def test_an_atomic_reference_is_known_by_its_declaration() -> None:
    source = """
#include <cuda/atomic>
using Flag = cuda::atomic<int, cuda::thread_scope_device>;
struct State { cuda::std::atomic<int> count; };
__global__ void k(float* x, Flag* flag, State* state, Other* other) {
  cuda::atomic_ref<float, cuda::thread_scope_block> ref(x[3]);
  ref.fetch_add(1.f, cuda::memory_order_relaxed);
  cuda::atomic_ref<float>(x[1]).fetch_max(2.f);
  flag->exchange(1);
  state->count.compare_exchange_weak(a, b);
  ref += 2.f;
  other->fetch_add(1);
}
"""
    found = atomics(source)
    assert [(a.name, a.intrinsic, a.scope) for a in found] == [
        ("fetch_add", "atomicAdd", "block"),
        ("fetch_max", "atomicMax", "system"),
        ("exchange", "atomicExch", "device"),
        ("compare_exchange_weak", "atomicCAS", "system"),
        ("+=", "atomicAdd", "block"),
    ]
    assert found[0].unit.text(found[0].arguments[0]) == "x[3]"
    assert {a.form for a in found} == {"direct"}


def test_atomic_references_of_other_libraries() -> None:
    source = """
template <typename T> __device__ void k(vector<unsigned>& x, int* p) {
  const unsigned at = vecmem::device_atomic_ref<unsigned>(x[threadIdx.x])
                          .fetch_add(1u);
  lib::detail::local_atomic_ref<int> ref(p[at]);
  ref.fetch_sub(2);
  std::atomic_ref<int>(host).fetch_add(1);
}
"""
    found = atomics(source)
    assert [(a.name, a.intrinsic, a.unit.text(a.arguments[0])) for a in found] == [
        ("fetch_add", "atomicAdd", "x[threadIdx.x]"),
        ("fetch_sub", "atomicSub", "p[at]"),
    ]


def test_inline_assembler() -> None:
    source = """
__device__ void red_add(float* p, float v) {
  asm volatile("red" ".global.add.f32 [%0], %1;" :: "l"(p), "f"(v) : "memory");
}
__global__ void k(float* x, int* y) {
  int old;
  asm("{ .reg .pred q;\\n\\tatom.shared.cta.cas.b32 %0, [%1], %2, %3; }" : "=r"(old) : "r"(y), "r"(0), "r"(1));
  asm("ld.shared.f32 %0, [%1];" : "=f"(z) : "l"(x));
  red_add(x, 1.f);
}
"""
    added, swapped, call = atomics(source)
    assert (added.form, added.name, added.intrinsic) == ("ptx", "red.global.add.f32", "atomicAdd")
    assert added.passed_on and added.node is None
    assert [added.unit.text(n) for n in added.arguments] == ["p", "v"]
    assert (swapped.name, swapped.intrinsic, swapped.scope) == ("atom.shared.cta.cas.b32", "atomicCAS", "block")
    assert [swapped.unit.text(n) for n in swapped.arguments] == ["y", "0", "1"]
    assert (call.form, call.name, call.intrinsic) == ("wrapper", "red_add", "atomicAdd")


def test_ptx_in_strings_and_files() -> None:
    module = ".version 6.0\n.target sm_60\n.visible .entry scale(\n) {\n  // atom.add.u32\n  red.global.add.f32 [%r1], %f1;\n}\n"
    files = {
        "host.cc": f'const char* module = R"({module})";\n',
        "m.ptx": module,
        "plain.cc": 'log("red.add is slow");\n',
    }
    string, file = atomics(files)
    assert (string.form, string.name, string.location.path, string.location.line) == (
        "ptx-string",
        "red.global.add.f32",
        "host.cc",
        6,
    )
    assert string.function is not None and (string.function.name, string.function.qualifier) == ("scale", "__global__")
    assert (file.form, file.location.line, file.location.column) == ("ptx", 6, 3)


def test_cuda_source_in_strings() -> None:
    source = """
const char* a = R"(
__global__ void k(float* p) {
  atomicAdd(p, 1.f);
}
)";
const char* b = "__global__ void k(int* p) {\\n"
                "  atomicMax(p, 2); }\\n";
"""
    first, second = atomics({"rtc.cpp": source})
    assert (first.form, first.name, first.location.line, first.location.column) == ("ptx-string", "atomicAdd", 4, 3)
    assert (second.name, second.location.line, second.location.column) == ("atomicMax", 8, 20)
    assert second.function is not None and second.function.qualifier == "__global__"
    assert second.unit.text(second.arguments[0]) == "p"


def test_a_call_in_a_macro_argument_outside_of_functions() -> None:
    assert seen("HANDLE(float, { atomicAdd(out + 1, 2.f); })\n") == [("direct", "atomicAdd", "atomicAdd")]


def test_kernel_macros_in_front_of_functions() -> None:
    files = {
        "global.h": "#define GLOBAL __global__\n#define DEVICE static __device__\n",
        "k.cu": '#include "global.h"\nGLOBAL void k(float* p) { atomicAdd(p, 1.f); }\nDEVICE void d(float* p) { atomicAdd(p, 1.f); }\n',
    }
    first, second = atomics(files)
    assert first.function is not None and second.function is not None
    assert (first.function.qualifier, first.form) == ("__global__", "direct")
    assert (second.function.qualifier, second.form) == ("__device__", "wrapper-def")


def test_the_order_of_files_does_not_matter() -> None:
    files: dict[str, str | bytes] = {
        "b.cuh": "template <class T> __device__ void up(T* p) { atomicAdd(p, T(1)); }\n",
        "a.cu": '#include "b.cuh"\n__global__ void k(int* p) { up(p); }\n',
    }
    turned = dict(reversed(list(files.items())))
    assert [(a.location, a.form) for a in atomics(files)] == [(a.location, a.form) for a in atomics(turned)]


def test_a_macro_of_a_library_that_begins_a_kernel_and_its_wrappers() -> None:
    from .support import check

    check("""
        template <typename T> CUML_KERNEL void forces(T* out, const T* x, const int* index) {
          atomicAdd(out + index[threadIdx.x], x[threadIdx.x]);           // -> float-accumulate yes
          raft::myAtomicAdd<T>(out + index[threadIdx.x], x[threadIdx.x]);   // -> float-accumulate yes
          raft::myAtomicMax(out + index[threadIdx.x], x[threadIdx.x]);   // -> commutative-exact no
        }
        void go(float* p, const int* i) { forces<float><<<1, 32>>>(p, p, i); }
    """)


def test_members_of_what_a_parameter_of_a_template_is() -> None:
    found = atomics(
        "template <typename AtomicT, typename Plain> __global__ void count(AtomicT* total, Plain p, int* fetched) {\n"
        "  total->fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);\n"
        "  Counter own;\n  own.fetch_add(1);\n}\n"
    )
    assert [(a.name, a.intrinsic, a.location.line) for a in found] == [("fetch_add", "atomicAdd", 2)]


def test_a_function_for_both_sides_that_holds_the_device_atomic() -> None:
    both = (
        "#define BOTH_INLINE BOTH INLINE\ntemplate <class T>\nBOTH_INLINE T atomic_add(T* p, T v) {\n"
        "#if DEVICE_CODE\n  return atomicAdd(p, v);\n#else\n  T old = *p; *p += v; return old;\n#endif\n}\n"
    )
    user = '#include "both.hh"\nMY_FUNCTION void f(int* p, int i) { atomic_add(&p[i], 1); }\n'
    assert "user.hh" in {one.location.path for one in atomics({"both.hh": both, "user.hh": user})}
    host = (
        "inline void atomic_add(int* p, int v) { *p += v; }\n"
        "inline void atomic_add(two* p, two v) { atomic_add(&p->x, v.x); }\n"
    )
    assert seen({"both.hh": host, "user.hh": user}) == []
