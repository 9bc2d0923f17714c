"""A large source text gives the same facts in sections as in one piece."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from d9mlint.python.source import sections
from d9mlint.python.source.parsing import parse
from d9mlint.python.source.reading import CannotRead

OWN = sorted((Path(__file__).parents[3] / "d9mlint" / "python").rglob("*.py"))[::10]
SHAPES = {
    "two on a line": b"x = (1,\n 2); y = f(3)\nz = f(4)\n" * 5,
    "decorators": b"@a\n@b(1)\nclass C:\n    def f(self):\n        return g()\n\n\n# between\n" * 5,
    "a decorator in brackets": b"@(\n    a(1)\n)\ndef f():\n    g()\n" * 5,
    "continued lines": b"x = f(1) + \\\n    g(2)\nif x: \\\n    h(3)\n" * 5,
    "carriage returns": b"x = f(1)\r\ny = '''a\r\nb'''\r\nz = g(2)\r\n" * 5,
    "old Macintosh": b"x = f(1)\ry = g(2)\r" * 5,
    "a byte order mark": b"\xef\xbb\xbfx = f(1)\ny = g(2)\n" + b"z = h(3)\n" * 5,
    "form feeds": b"x = f(1)\n\x0c\ny = g(2)\n" * 5,
    "tabs": b"def f():\n\tif x:\n\t\tg(1)\n\treturn h(2)\n" * 5,
    "a text over lines": b"x = '''\ndef f(:\n'''\ny = g(1)\n" * 5,
    "an encoding": b"# coding: latin-1\nx = f('\xe9')\ny = g(1)\n" + b"z = h(2)\n" * 5,
    "no end": b"x = f(1)\ny = g(2)\nz = h(3)",
}


def in_sections(monkeypatch: pytest.MonkeyPatch, data: bytes, most: int) -> object:
    """The facts where a section has this many bytes, after those in one piece."""
    monkeypatch.setattr(sections, "LARGE", most)
    return parse(data, "m.py")


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_own_sources_are_the_same_in_sections(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    whole = parse(data, "m.py")
    assert in_sections(monkeypatch, data, 500) == whole


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("most", [1, 30, 60])
def test_shapes_are_the_same_in_sections(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = parse(SHAPES[name], "m.py")
    assert in_sections(monkeypatch, SHAPES[name], most) == whole


def test_sections_are_all_of_the_text_and_no_larger_than_they_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGE", 100)
    data = b"".join(b"name_%03d = f(%d)\n" % (number, number) for number in range(100))
    found = list(sections.sections(data, ast.parse(data)))
    assert b"".join(text for _, text in found) == data
    assert [before for before, _ in found] == [data[: data.index(text)].count(b"\n") for _, text in found]
    assert len(found) > 10
    assert max(len(text) for _, text in found) <= 100


def test_an_error_is_told_at_its_line_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGE", 50)
    with pytest.raises(CannotRead, match="syntax error at line 41"):
        parse(b"x = f(1)\n" * 40 + b"y = = 2\n" + b"x = f(1)\n" * 10, "m.py")
