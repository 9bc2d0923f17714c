"""Types that stand for one of several: ``std::conditional_t<B, X, Y>``, lists of types, the typed tests over them.

Typed tests run once for each type of a list: https://google.github.io/googletest/reference/testing.html
"""

from __future__ import annotations

import re

from d9mlint.kernels.judging.known.scalars import arguments
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import code

_CHOICE = re.compile(r"(?:std::|cute::|cuda::std::)?conditional(?:_t)?\s*<")
_LIST = re.compile(
    r"(?:::)?(?:\w+::)*(?:[Tt]ypes|[Tt]ype_?[Ll]ist|[Tt]ype_?[Pp]ack|mp_list|tuple|[Cc]oncat(?:enate)?|[Uu]nion)\s*<"
)
_SUITE = rb"\b(?:TYPED_TEST_(?:SUITE|CASE)\s*\(\s*|INSTANTIATE_TYPED_TEST_(?:SUITE|CASE)_P\s*\(\s*\w+\s*,\s*)"
_ASKED = re.compile(_SUITE + rb"\Z")
_GIVEN = re.compile(rb"\w+\s*,\s*([\w:]+(?:\s*<[^;(){}]{0,600}>)?)\s*[,)]")
_TEST = re.compile(rb"\bTYPED_TEST(?:_P)?\s*\(\s*(\w+)\s*,")
_MAX_BACK = 60_000
_BEFORE = 120
TESTED = "TypeParam"
"""The type of a typed test, in its body."""


def alternatives(text: str) -> list[str]:
    """The types of which one is chosen, or which a list holds; empty for any other type."""
    chosen = _CHOICE.match(text)
    if chosen is not None:
        listed = arguments(text[chosen.end() - 1 :])
        return listed[1:] if len(listed) == 3 else []
    listing = _LIST.match(text)
    return arguments(text[listing.end() - 1 :]) if listing is not None else []


def tested_with(repository: Repository, path: str, at: int) -> str:
    """The list that a fixture, named at a byte, is tested with: ``TYPED_TEST_SUITE(Fixture, Types)``; else empty."""
    data = code(repository, path)
    asked = _ASKED.search(data[max(0, at - _BEFORE) : at]) is not None
    given = _GIVEN.match(data, at) if asked else None
    return given[1].decode("utf-8", "replace") if given is not None else ""


def of_test(repository: Repository, path: str, at: int) -> list[tuple[str, int]]:
    """The lists, each with its byte, that the typed test around a byte runs over."""
    data = code(repository, path)
    tests = list(_TEST.finditer(data, max(0, at - _MAX_BACK), at))
    if not tests:
        return []
    suite = re.compile(_SUITE + rb"(?=" + tests[-1][1] + rb"\s*,)")
    found = ((m.end(), tested_with(repository, path, m.end())) for m in suite.finditer(data))
    return [(text, place) for place, text in found if text]
