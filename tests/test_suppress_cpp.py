"""Suppression comments in C++ and CUDA sources."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from d9mlint.suppress import scan

PATH = "a.cu"


def found(text: str) -> list[tuple[int, int, int, tuple[str, ...], str]]:
    """Line, covered lines, names and reason of each comment."""
    return [(s.line, s.first, s.last, s.names, s.reason) for s in scan(text, PATH)]


@pytest.mark.parametrize(
    "text",
    [
        "f();  // d9m: ignore[a] why\n",
        "f();  /* d9m: ignore[a] why */\n",
        "f();  // NOLINT // d9m: ignore[a] why\n",
        "int n = 1'000'000; f();  // d9m: ignore[a] why\n",
        "char c = '\"'; f();  // d9m: ignore[a] why\n",
        'g("// d9m: ignore[b] no");  // d9m: ignore[a] why\n',
        "f();\t// d9m: ignore[a] why\r\n",
        "f();  /// d9m: ignore[a] why\n",
        "#define F(x) f(x)  /* d9m: ignore[a] why */ \\\n  ;\n",
    ],
)
def test_a_comment_after_code_is_about_its_line(text: str) -> None:
    assert found(text) == [(1, 1, 1, ("a",), "why")]


@pytest.mark.parametrize(
    "text",
    [
        'const char* s = "// d9m: ignore[a] no";\n',
        'auto s = R"x(\n// d9m: ignore[a] no\n)x";\n',
        'auto s = R"(// d9m: ignore[a] no)";\n',
        'const char* s = "a\\"// d9m: ignore[a] no";\n',
        "// see https://x.org/d9m: ignore[a] no\n",
    ],
)
def test_strings_are_no_comments(text: str) -> None:
    assert found(text) == []


def test_a_comment_alone_is_about_the_statement_that_follows() -> None:
    text = "// d9m: ignore[a] one writer\n\natomicAdd(&x[i],\n          v);\ng();\n"
    assert found(text) == [(1, 3, 4, ("a",), "one writer")]


def test_a_block_comment_may_hold_several() -> None:
    text = "/*\n * d9m: ignore[a] first\n * d9m: ignore[b] second\n */\nf();\n"
    assert found(text) == [(2, 5, 5, ("a",), "first"), (3, 5, 5, ("b",), "second")]


def test_a_whole_file_and_several_names() -> None:
    (one,) = scan("// d9m: ignore-file[a, b] generated\nint x;\n", PATH)
    assert one.whole_file
    assert one.names == ("a", "b")
    (late,) = scan("f(); // d9m: ignore-file[a] late\n", PATH)
    assert late.problem


def test_what_is_wrong_is_said_in_the_language_of_the_file() -> None:
    (one,) = scan("f();  // d9m: disable[a]\n", PATH)
    assert "`// d9m: ignore[name] reason`" in one.problem
    (bare,) = scan("f();  // d9m: ignore[a]\n", PATH)
    assert (bare.reason, bare.problem) == ("", "")


def test_columns_are_those_of_the_source() -> None:
    (one,) = scan("f();  // d9m: ignore[a] why\n", PATH)
    assert (one.column, one.end_column) == (7, 28)


def test_python_files_are_read_as_python() -> None:
    assert scan("f()  // d9m: ignore[a] no\n", "a.py") == ()
    assert len(scan("f()  # d9m: ignore[a] yes\n", "a.py")) == 1


@example('R"(' + "// d9m: ignore[a] b\n" * 3)
@example("/* d9m: ignore[a] open")
@example("'" * 50 + "d9m:")
@given(st.text(alphabet="/*\\\"'R()x \n\rd9m: ignore[a]", max_size=200))
def test_anything_can_be_scanned(text: str) -> None:
    lines = text.count("\n") + 1
    for one in scan(text + "// d9m: ignore[a] b", PATH):
        assert 1 <= one.line <= lines
        assert one.first <= one.last


def test_scanning_takes_linear_time() -> None:
    scan("/* " * 200_000 + "d9m:", PATH)
    scan('R"( ' * 100_000 + "d9m:", PATH)
    scan("\"'" * 200_000 + "d9m:", PATH)
