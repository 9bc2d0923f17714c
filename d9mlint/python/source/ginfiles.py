"""What ``.gin`` files bind to the parameters of functions and classes (github.com/google/gin-config, docs/index.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

ENDING = ".gin"
MAX_BYTES = 60_000
"""A larger one holds data."""
_TOKEN = re.compile(
    r"(\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|#[^\n]*|@([\w./]+)(\(\))?"
    r"|%([\w./]+)"
)
_BINDING = re.compile(r"([\w./]+)\s*=(?!=)\s*(.+)", re.DOTALL)
_BLOCK = re.compile(r"([\w./]+)\s*:$")
_REFERENCE, _MACRO = "reference", "macro"
_OPENS, _CLOSES = "([{", ")]}"


class Reference(NamedTuple):
    """``@models.Net``, or ``@models.Net()`` which is called each time that the value is asked for."""

    name: str
    called: bool


class Macro(NamedTuple):
    """``%batch_size``: what the file, or another one, gives this name."""

    name: str


class Binding(NamedTuple):
    """``Net.layers = 3``; a macro has no ``owner``."""

    owner: str
    parameter: str
    value: Any


@lru_cache(maxsize=512)
def read(data: bytes) -> tuple[Binding, ...]:
    """The bindings of a file in order, without those whose values cannot be read."""
    if len(data) > MAX_BYTES:
        return ()
    return tuple(_bindings(_TOKEN.sub(_as_call, data.decode("utf-8", "replace"))))


def _as_call(token: re.Match[str]) -> str:
    """A text as it is, a comment as nothing, a reference or macro as a call that Python can parse."""
    text, reference, called, macro = token.groups()
    if text is not None:
        return str(text)
    if reference is not None:
        return f"{_REFERENCE}({reference!r}, {bool(called)})"
    return "" if macro is None else f"{_MACRO}({macro!r})"


def _bindings(text: str) -> Iterator[Binding]:
    block = ""
    for lines in _statements(text):
        inside, statement = lines[0].isspace(), lines.strip()
        opened = _BLOCK.fullmatch(statement)
        if opened is not None or not inside:
            block = opened[1] if opened is not None else ""
        found = _BINDING.fullmatch(statement)
        if found is None:
            continue
        try:
            value = _value(ast.parse(found[2], mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            continue
        owner, _, parameter = (f"{block}.{found[1]}" if block else found[1]).rpartition(".")
        yield Binding(owner.rpartition("/")[2], parameter, value)


def _statements(text: str) -> Iterator[str]:
    """The lines of a file, those together that brackets hold together, and none that is empty."""
    held: list[str] = []
    depth = 0
    for line in text.splitlines():
        if not held and not line.strip():
            continue
        held.append(line.removesuffix("\\"))
        depth += sum(line.count(one) for one in _OPENS) - sum(line.count(one) for one in _CLOSES)
        if depth <= 0 and not line.endswith(("\\", "=")):
            yield "\n".join(held)
            held, depth = [], 0


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        given = [ast.literal_eval(one) for one in node.args]
        return Reference(*given) if node.func.id == _REFERENCE else Macro(*given)
    if isinstance(node, ast.List):
        return [_value(one) for one in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(one) for one in node.elts)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {ast.literal_eval(key): _value(one) for key, one in pairs if key is not None}
    return ast.literal_eval(node)
