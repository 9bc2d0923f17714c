"""Texts that are not known as a whole: what they begin and end with tells them apart from others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.domain.taint import differ, filled_in
from d9mlint.python.domain.values import Const, Unknown
from tests.python.interpreter.test_reflection import DRAWS, OTHER, START
from tests.python.interpreter.test_story import calls, story

FLAG = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--n')\nn = parser.parse_args().n\n"


def drawn(test: str) -> list[str]:
    text = f"{START}{FLAG}x = read()\nif {test}:\n    f()\nelse:\n    g()\n"
    return [name for name in calls(story(text)) if "random" in name]


@pytest.mark.parametrize(
    "test",
    [
        "'retrieval_%s' % x == 'pretrain'",
        "f'a_{x}' == 'b'",
        "f'a_{x}' == f'b_{x}'",
        "'a_' + x == 'b'",
        "'a_{}'.format(x) == 'b'",
        "'b' == 'a_' + x",
        "f'{n}.png' == 'a.jpg'",
        "f'a{x}' in ('b', 'c')",
        "not f'a{x}' != 'b'",
        "('a/' + n + '_{}').format(x) == 'b'",
    ],
)
def test_what_begins_or_ends_otherwise_is_another_text(test: str) -> None:
    assert drawn(test) == [OTHER]


@pytest.mark.parametrize("text", ["'./log_%s' % x", "f'log_{x}'", "'log_' + x"])
def test_a_text_with_something_in_it_is_something(text: str) -> None:
    assert drawn(f"(n or {text}) is None") == [OTHER]
    assert drawn(f"not {text}") == [OTHER]
    assert set(drawn("not '%s' % x")) == {DRAWS, OTHER}
    assert set(drawn("(n or x) is None")) == {DRAWS, OTHER}


@pytest.mark.parametrize(
    "test",
    [
        "'retrieval_%s' % x == 'retrieval_a'",
        "f'a{x}' == 'a'",
        "f'{x}a' == 'b'",
        "f'a{x}' == f'ab{n}'",
        "'%d%%' % x == '3%'",
        "'{{{}'.format(x) == '{3'",
        "os.path.join('a', x) == '/b'",
        "str(pathlib.Path('a') / x) == '/b'",
        "f'a{x}' is x",
        "x == 'b'",
        "('a' + n + '{}').format(x) == 'a1b'",
        "(n + 'b').format(x) == 'ab'",
        "os.path.join('a', '{}').format(x) == 'a/b'",
    ],
)
def test_others_may_be_the_same(test: str) -> None:
    assert set(drawn(test)) == {DRAWS, OTHER}


def test_a_function_is_asked_again_for_a_text_that_begins_otherwise() -> None:
    text = f"{START}x = read()\ndef run(name):\n    if name == 'a/1':\n        f()\nrun(f'b/{{x}}')\nrun(f'a/{{x}}')\n"
    assert DRAWS in calls(story(text))


@given(st.text("ab%{}", max_size=4), st.text("ab%{}", max_size=4), st.text("ab", max_size=3), st.text("ab", max_size=8))
def test_never_two_that_can_be_equal(begin: str, end: str, filled: str, other: str) -> None:
    try:
        whole = (begin + "%s" + end) % filled
    except (ValueError, TypeError):
        return
    template = filled_in(begin + "%s" + end, "%", [Unknown()])
    assert not differ(template, Const(whole))
    assert not differ(Const(other), template) or other != whole
