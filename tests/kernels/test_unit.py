"""One parsed source: functions and places."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
import tree_sitter
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.source import unit as units
from d9mlint.kernels.source.unit import Function, Unit, parsed


def around(source: str, word: str = "HERE") -> Function | None:
    unit = parsed("a.cu", source.encode())
    start = unit.data.index(word.encode())
    node = unit.root.descendant_for_byte_range(start, start + len(word))
    assert node is not None
    return unit.function(node)


@pytest.mark.parametrize(
    ("source", "label", "qualifier"),
    [
        ("__global__ void k(int n) { CUDA_1D_KERNEL_LOOP(i, n) { HERE(); } }", "k", "__global__"),
        ("template <class T>\n__global__ void\n__launch_bounds__(256) k(T* p) { HERE(); }", "k", "__global__"),
        ("/* __global__ */ __device__ inline float f(float* p) { HERE(); }", "f", "__device__"),
        ("__host__ __device__ /* both */ void f() { HERE(); }", "f", "__host__ __device__"),
        ("void f() { HERE(); }", "f", ""),
        (
            "struct S { EIGEN_DEVICE_FUNC void operator()(int* p) const { HERE(); } };",
            "S::operator()",
            "__host__ __device__",
        ),
        ("template <class T> struct S<T*, 2> { __device__ static T g() { HERE(); } };", "S::g", "__device__"),
        ("template <class T> void S<T>::run(Map<int, P<T>> m) const { HERE(); }", "S::run", ""),
        ("namespace a { namespace { __global__ void k() { if (x) { HERE(); } } } }", "k", "__global__"),
        ("void f() { auto g = [=] __device__ (int i) { HERE(); }; }", "f", ""),
        ("void f() { struct L { __device__ void g() { HERE(); } }; }", "L::g", "__device__"),
    ],
)
def test_the_function_around_a_place(source: str, label: str, qualifier: str) -> None:
    found = around(source)
    assert found is not None
    assert (found.label, found.qualifier) == (label, qualifier)


def test_outside_of_functions() -> None:
    assert around("int HERE = 1;") is None


def test_functions_are_listed_once_each_in_order() -> None:
    unit = parsed("a.cu", b"void a() { LOOP(i, n) { } }\nstruct S { void b() {} };\nnamespace n { void c() {} }\n")
    assert [f.label for f in unit.functions()] == ["a", "S::b", "c"]


@given(st.text(alphabet="ab\té€😀\n", max_size=40))
def test_places_in_text(text: str) -> None:
    unit = Unit("a.cu", text.encode(), parsed("a.cu", b"").tree)
    for index in range(len(text) + 1):
        at = len(text[:index].encode())
        before = text[:index]
        place = unit.span(at, at)
        assert (place.line, place.column) == (before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def test_places_of_a_piece() -> None:
    unit = parsed("a.py", b"int a;\nint b;", at=(10, 5))
    assert [(unit.span(i, i).line, unit.span(i, i).column) for i in (0, 4, 7, 11)] == [
        (10, 5),
        (10, 9),
        (11, 1),
        (11, 5),
    ]


def test_text_that_is_not_utf_8() -> None:
    unit = parsed("a.cu", b'char* s = "caf\xe9";')
    assert unit.text(unit.root).startswith('char* s = "caf')
    assert unit.span(16, 16).column == 17


def test_parsing_imports_nothing_that_the_package_of_the_grammar_only_offers() -> None:
    code = (
        "import sys\nfrom d9mlint.kernels.source.unit import parsed\n"
        "print(parsed('a.cu', b'int x;').root.type, *{'importlib.resources', 'tempfile'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("translation_unit\n", "")


def test_the_grammar_comes_from_its_package_where_that_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "PathFinder", SimpleNamespace(find_spec=lambda *_: None))
    language = tree_sitter.Language(units._grammar())
    assert tree_sitter.Parser(language).parse(b"int x;").root_node.named_children[0].type == "declaration"
