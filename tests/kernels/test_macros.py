"""Atomics in macros: definitions, uses, expansions."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.sites.atomics import Atomic, find
from d9mlint.kernels.sites.macros import defined_around, expansion, use_at
from d9mlint.kernels.source.repository import Repository

from .support import check


def atomics(files: Mapping[str, str] | str) -> list[Atomic]:
    files = {"a.cu": files} if isinstance(files, str) else files
    return find(Repository(files, lambda path: files[path].encode()))


def expanded(define: str, use: str) -> str:
    data = f"{define}\n{use}\n".encode()
    macro = defined_around("a.cu", data, data.index(b"atomic"))
    assert macro is not None
    found = use_at(data, data.index(b"\n" + macro.name) + 1, [macro])
    assert found is not None
    return expansion(found[0], found[2], {macro.name: [macro]}).decode().strip()


def test_substitution() -> None:
    assert expanded("#define ADD(p, v) atomicAdd((p), v)", "ADD(x + f(1, 2), y)") == "atomicAdd((x + f(1, 2)), y)"
    assert expanded("#define OP(n, ...) atomic##n(__VA_ARGS__)", "OP(Add, p, v)") == "atomicAdd(p, v)"
    assert expanded("#define OP(n) say(#n, atomic ## n)", 'OP(Add "q")') == r'say("Add \"q\"", atomicAdd "q")'
    assert expanded("#define ADD(p) \\\r\n  do { \\\r\n  atomicAdd(p, 1); } while (0)", "ADD(q)") == (
        "do {    atomicAdd(q, 1); } while (0)"
    )


def test_definition_and_use() -> None:
    source = """
#define ADD_BOTH(p, v) \\
  atomicAdd(&(p)->x, (v).x); \\
  atomicMax(&(p)->y, (v).y)
__global__ void k(Pair* out, Pair w) {
  ADD_BOTH(out + threadIdx.x, w);
}
"""
    first, second, use = atomics(source)
    assert [(a.form, a.name, a.location.line, a.location.column) for a in (first, second, use)] == [
        ("macro-def", "atomicAdd", 3, 3),
        ("macro-def", "atomicMax", 4, 3),
        ("macro-use", "ADD_BOTH", 6, 3),
    ]
    assert [(i.name, i.form) for i in use.inner] == [("atomicAdd", "direct"), ("atomicMax", "direct")]
    assert use.unit.text(use.arguments[0]) == "&(out + threadIdx.x)->x"
    assert use.function is not None and (use.function.name, use.function.qualifier) == ("k", "__global__")
    assert (use.location.end_line, use.location.end_column) == (6, 33)


def test_an_alias_is_a_macro() -> None:
    source = "#define MY_ADD atomicAdd\n__global__ void k(int* p) { int old = MY_ADD(p, 2); }\n"
    definition, use = atomics(source)
    assert (definition.form, definition.intrinsic, definition.location.column) == ("macro-def", "atomicAdd", 16)
    assert (use.form, use.name, use.intrinsic) == ("macro-use", "MY_ADD", "atomicAdd")
    assert [use.unit.text(n) for n in use.arguments] == ["p", "2"]


def test_macros_of_macros_and_other_files() -> None:
    files = {
        "m.h": "#define ONE(p) atomicAdd(p, 1)\n#define TWO(p) ONE(p); ONE((p) + 1)\n",
        "k.cu": '#include "m.h"\n__global__ void k(int* p) {\n  TWO(p);\n}\n',
        "host.cpp": "void ONE(int*);\nvoid f(int* p) { ONE(p); }\n",
    }
    found = atomics(files)
    assert [(a.location.path, a.form, a.name, a.intrinsic) for a in found] == [
        ("k.cu", "macro-use", "TWO", "atomicAdd"),
        ("m.h", "macro-def", "atomicAdd", "atomicAdd"),
        ("m.h", "macro-def", "ONE", "atomicAdd"),
        ("m.h", "macro-def", "ONE", "atomicAdd"),
    ]
    assert [i.name for i in found[0].inner] == ["atomicAdd", "atomicAdd"]


def test_macros_that_define_functions() -> None:
    source = """
#define DEFINE_ADD(T, NAME) __device__ void NAME##_add(T* p, T v) { atomicAdd(p, v); }
DEFINE_ADD(float, float)
DEFINE_ADD(int, int)
__global__ void k(float* p) { float_add(p, 1.f); double_add(p, 1.f); }
"""
    definition, first, second, call = atomics(source)
    assert (definition.form, first.form, second.form, call.form) == ("macro-def", "macro-use", "macro-use", "wrapper")
    assert first.location.line == 3 and first.passed_on
    assert (call.name, call.intrinsic) == ("float_add", "atomicAdd")


def test_a_macro_that_makes_an_alias_of_a_function() -> None:
    source = """
#define ALIAS(func, alias) \\
  template <typename... Args> \\
  __device__ auto alias(Args&&... args) -> decltype(func(std::forward<Args>(args)...)) { \\
    return func(std::forward<Args>(args)...); \\
  }
template <class T> __device__ T GpuAtomicAdd(T* p, T v) { return atomicAdd(p, v); }
ALIAS(GpuAtomicAdd, old_add)
__global__ void k(float* p) { old_add(p, 1.f); }
"""
    inner, alias, call = atomics(source)
    assert (alias.form, alias.name, [i.name for i in alias.inner]) == ("macro-use", "ALIAS", ["GpuAtomicAdd"])
    assert (call.form, call.name, call.intrinsic) == ("wrapper", "old_add", "atomicAdd")
    assert inner.form == "wrapper-def"


def test_assembler_in_a_macro() -> None:
    source = """
#define RED(op, p, v) asm volatile("red.global." #op ".f32 [%0], %1;" :: "l"(p), "f"(v))
__global__ void k(float* p) { RED(add, p + 1, 2.f); }
"""
    use = atomics(source)[-1]
    assert (use.form, use.name, use.intrinsic) == ("macro-use", "RED", "atomicAdd")
    assert use.inner[0].assembler.startswith("red.global.add.f32 [%0]")
    assert use.unit.text(use.arguments[0]) == "p + 1"


def test_variants_of_a_macro_are_all_inside() -> None:
    source = """
#if __CUDA_ARCH__ >= 600
#define ADD_BLOCK(p, v) atomicAdd_block(p, v)
#else
#define ADD_BLOCK(p, v) atomicAdd(p, v)
#endif
__global__ void k(float* p) { ADD_BLOCK(p, 1.f); }
"""
    use = atomics(source)[-1]
    assert [i.name for i in use.inner] == ["atomicAdd_block", "atomicAdd"]


def test_what_is_no_use() -> None:
    source = """
#define ADD(p, v) atomicAdd(p, v)
#ifdef ADD
#undef ADD
#endif
// ADD(p, 1)
const char* text = "ADD(p, 1)";
void f(Set& s) { Pair<ADD> x; }
"""
    assert [a.form for a in atomics(source)] == ["macro-def"]


def test_definitions_and_uses_that_do_not_end() -> None:
    assert atomics("#define ADD(p) \\\n" + "  x; \\\n" * 50_000 + "atomicAdd(p, 1)") == []
    assert [a.form for a in atomics("#define ADD(p) atomicAdd(p, 1)\nvoid f() { ADD(q + (1; }\n")] == ["macro-def"]
    assert [a.form for a in atomics("#define A(x) B(x) atomicAdd(x, 1)\n#define B(x) A(x) A(x)\nA(A(1))\n")][
        0
    ] == "macro-def"


@given(
    st.lists(
        st.sampled_from(["#define A(x) ", "A(", ")", "\\\n", "\n", "atomicAdd(", "x,", "##", "#", '"', "{", "/*"]),
        max_size=40,
    )
)
def test_any_text_is_read(pieces: list[str]) -> None:
    atomics("".join(pieces))


def test_a_function_in_one_branch_and_a_macro_of_its_name_in_the_other() -> None:
    check("""
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 200)
__device__ float _atomicAdd(float* p, float v) { return swapped(p, v); }
#else
#ifdef FAST
#define UNUSED
#endif
#define _atomicAdd atomicAdd // -> unknown depends
#endif
__global__ void k(const float* x, float* y, const int* at) {
  _atomicAdd(y + at[threadIdx.x], x[threadIdx.x]); // -> float-accumulate yes
}
    """)
