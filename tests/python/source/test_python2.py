"""Python 2 sources are read as Python 3, line by line."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.model import Limit
from d9mlint.python.project.signs import limits
from d9mlint.python.source.parsing import parse
from d9mlint.python.source.python2 import as_python3, with_spaces
from tests.python.judging.test_causes import found

OLD = """import sys
print "a", 1,
print >>sys.stderr, "x"
print
print ("a %s") % 3
try:
    pass
except ValueError, e:
    raise KeyError, "x"
exec "a = 1"
x = `3` + 10L
if 1 <> 2: print 'yes'
mode = 0777
"""
PIECES = ["print 'a'", "x = `1`", "except A, b:", "(", ")", "if x:", "    ", "\t", '"""', "\\"]


def test_each_line_stays_where_it_is() -> None:
    new = as_python3(OLD.encode())
    assert new is not None
    ast.parse(new)
    assert new.decode().splitlines()[5:7] == OLD.splitlines()[5:7]
    assert len(new.splitlines()) == len(OLD.splitlines())


def test_pairs_among_the_parameters_of_a_lambda_are_taken_apart() -> None:
    new = as_python3(b"best = max(scores.items(), key=lambda (name, score): score)\nprint best\n")
    assert new is not None
    ast.parse(new)
    assert len(new.splitlines()) == 2


def test_no_line_is_added_for_the_pairs_of_a_function() -> None:
    new = as_python3(b"def norm((x, y)):\n    return x * x\nprint norm((1, 2))\n")
    assert new is not None
    assert len(new.splitlines()) == 3


@pytest.mark.parametrize("text", ["print('x'\n", "def f(:\n    pass\n", "x = 1\n"])
def test_of_other_texts_nothing_is_made(text: str) -> None:
    assert as_python3(text.encode()) is None


def test_an_old_program_is_judged_like_any_other() -> None:
    text = "import numpy as np\nprint 'drawn:', np.random.rand(3)\nx = np.random.rand(3)\nnp.save('x', x)\n"
    assert [one.location.line for one in found(text, "unseeded-numpy")] == [2]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(PIECES)))
def test_any_text_can_be_tried(lines: list[str]) -> None:
    text = "\n".join(lines).encode()
    as_python3(text)
    assert len(with_spaces(text)[0].splitlines()) == len(text.splitlines())


def test_what_is_no_old_python_either_is_told_by_pythons_own_parser() -> None:
    with pytest.raises(Exception, match="syntax error at line 2"):
        parse(b"x = 1\nprint 'a' 'b' c\n", "x.py")


def test_a_word_of_python_37_may_name_an_argument() -> None:
    old = b"x = x.cuda(0, async=True)\nif async:\n    f(q.async)\nasync def g():\n    async for x in y: pass\nz = asyncio\n"
    new = b"x = x.cuda(0, async_=True)\nif async_:\n    f(q.async_)\nasync def g():\n    async for x in y: pass\nz = asyncio\n"
    assert as_python3(old) == new


MIXED = """import numpy as np

class Draws:
    def go(self,
\t   count):
        '''Draws
\tthem.'''
\tx = np.random.rand(count)
        return x

np.save("x", Draws().go(3))
"""


def test_a_tab_goes_to_the_next_multiple_of_eight_columns() -> None:
    new, moved = with_spaces(MIXED.encode())
    assert "go" in ast.parse(new).body[1].body[0].name  # type: ignore[attr-defined]
    assert moved == {5: 7, 8: 7} and new.decode().splitlines()[6] == MIXED.splitlines()[6]
    assert with_spaces(b"if x:\n\ty = 1\n") == (b"if x:\n\ty = 1\n", {})


@pytest.mark.parametrize("before", ["", "print 'old'\n"])
def test_columns_are_those_of_the_file(before: str) -> None:
    (place,) = (one.location for one in found(before + MIXED, "unseeded-numpy"))
    assert (place.line - before.count("\n"), place.column, place.end_column) == (8, 6, 27)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def f(x):\n\ty = x\n        return y\n", "a block with tabs and with spaces (a.py:3)"),
        ("def f(x):\n\treturn x\n\ndef g(x):\n    return x\n", None),
        ("def f(x):\n    return '''\n\tx'''\n", None),
        ("print 'a'\n", "`print` without parentheses (a.py:1)"),
    ],
)
def test_what_only_python_2_reads_tells_an_old_release(text: str, told: str | None) -> None:
    assert [limit for limit in limits("a.py", text.encode()) if limit.package == "python"] == (
        [Limit("python", "<3", told)] if told else []
    )
