"""The caret line lies under the range, whatever the line holds; a page shows the lines around a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.model import Location
from d9mlint.report.excerpt import Excerpt, around, cells, display_width, excerpt, source_lines

# No combining marks and format characters: with width 0 they belong to either side of a boundary.
SPACED = st.text(st.characters(exclude_categories=("Mn", "Me", "Cf")), max_size=60)
COLUMNS = st.integers(1, 80)


def under_caret(shown: Excerpt) -> str:
    """What stands above the carets, by display columns."""
    found, position = "", 0
    for character in shown.line.ljust(shown.start + shown.width):
        if shown.start <= position < shown.start + shown.width:
            found += character
        position += display_width(character)
    return found


@pytest.mark.parametrize(
    ("line", "column", "end", "expected"),
    [
        ("x = f(y)", 5, 9, Excerpt("x = f(y)", 4, 4)),
        ("\tx = 1", 2, 3, Excerpt("    x = 1", 4, 1)),
        ("ab\tx", 4, 5, Excerpt("ab  x", 4, 1)),
        ("雑音 = f()", 1, 3, Excerpt("雑音 = f()", 0, 4)),
        ("雑音 = f()", 6, 9, Excerpt("雑音 = f()", 7, 3)),
        ("e\u0301 = f()", 6, 9, Excerpt("e\u0301 = f()", 4, 3)),
        ("x = f(  # half", 5, None, Excerpt("x = f(  # half", 4, 10)),
        ("x = f(   ", 5, None, Excerpt("x = f(", 4, 2)),
        ("x", 1, 1, Excerpt("x", 0, 1)),
        ("x", 40, 50, Excerpt("x", 1, 1)),
        ("a\x1b[31mb", 2, 3, Excerpt("a\\x1b[31mb", 1, 4)),
    ],
)
def test_examples(line: str, column: int, end: int | None, expected: Excerpt) -> None:
    assert excerpt(line, column, end, 80) == expected


def test_long_lines_are_cut_around_the_range() -> None:
    line = "a" * 50 + "TARGET" + "b" * 50
    assert excerpt(line, 51, 57, 30) == Excerpt("...aaaaaaaaaTARGETbbbbbbbbb...", 12, 6)
    assert excerpt(line, 1, 3, 30) == Excerpt("a" * 24 + "...", 0, 2)
    assert excerpt(line, 105, 107, 30) == Excerpt("..." + "b" * 24, 25, 2)
    assert excerpt(line, 1, 107, 30) == Excerpt("a" * 24 + "...", 0, 24)


@given(st.text(), st.integers(-3, 80), st.none() | st.integers(-3, 80), st.integers(-3, 120))
def test_never_raises_and_stays_in_its_room(line: str, column: int, end: int | None, room: int) -> None:
    shown = excerpt(line, column, end, room)
    assert shown.start >= 0
    assert shown.width >= 1
    assert display_width(shown.line) <= max(room, 20)
    assert not set(shown.line) & set("\t\r\n\x1b\u2028\u202e")


@given(SPACED, COLUMNS, COLUMNS)
def test_caret_lies_under_the_range(line: str, column: int, end: int) -> None:
    covered = "".join(cells(line)[column - 1 : end - 1])
    shown = excerpt(line, column, end, 1000)
    if covered:
        assert under_caret(shown) == covered


@given(SPACED, COLUMNS, st.integers(1, 80), st.integers(20, 40))
def test_caret_lies_under_the_range_of_a_cut_line(line: str, column: int, length: int, room: int) -> None:
    covered = "".join(cells(line)[column - 1 : column - 1 + length])
    shown = excerpt(line, column, column + length, room)
    if covered:
        assert under_caret(shown)
        assert covered.startswith(under_caret(shown))


def test_lines_are_those_of_python() -> None:
    assert source_lines("\ufeffa\x0cb\u2028c\r\nd\re\nf") == ["a\x0cb\u2028c", "d", "e", "f"]


def test_the_lines_around_a_place() -> None:
    lines = ["", "\tx = f(1)", "y = [", "  1,", "]", "z"]
    one = around(Location("a.py", 2, 6, 2, 10), lines, 1)
    assert [tuple(line) for line in one] == [
        (1, "", "", "", False),
        (2, "    x = ", "f(1)", "", True),
        (3, "", "", "y = [", False),
    ]
    several = around(Location("a.py", 3, 5, 5, 2), lines, 1)[1:4]
    assert [(line.before, line.marked, line.after) for line in several] == [
        ("y = ", "[", ""),
        ("  ", "1,", ""),
        ("", "]", ""),
    ]
    assert around(Location("a.py", 9, 1, 9, 2), lines) == ()
