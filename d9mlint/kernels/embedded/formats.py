"""What a program puts into a CUDA source before it is compiled: ``source.format(t="float")``, ``f"{t}* out"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.python.calls import parameters
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import Mention, set_to

_PLACEHOLDER = re.compile(r"\{\{ ?(\w+) ?\}\}|(?<!\$)\$\{(?P<name>\w+)\}")
"""What a program puts in: ``{{type}}``, ``${type}``."""
_FORMAT = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
"""What ``str.format`` fills: a name in braces, where others are written twice."""
_TYPE = re.compile(r"\b_+(\w+?)_+\b(?=\s*[*&]|\s+\w)")
"""A word that stands for what is put in, where a type stands."""
_FILLING = ("format", "substitute", "safe_substitute")
_MAX_DEPTH = 8


def text_of(node: ast.AST) -> str:
    """The text of a string; in it each value that is put in is a word of its own, with underscores around it."""
    if isinstance(node, ast.Constant):
        return _filled(node.value) if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(v) if isinstance(v, ast.Constant) else _inserted(v) for v in node.values)
    return ""


def _filled(text: str) -> str:
    if "{{" in text and "}}" in text and "${" not in text and _FORMAT.search(text) is not None:
        return _FORMAT.sub(_word, text)
    return _PLACEHOLDER.sub(_word, text)


def _word(match: re.Match[str]) -> str:
    """A name as long as what stands for it."""
    name = match[1] or match["name"]
    return name.rjust(len(match[0]) - 1, "_").ljust(len(match[0]), "_")


def _inserted(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.FormattedValue) else node
    return f"_{value.id}_" if isinstance(value, ast.Name) else "_inserted_"


def typedefs(file: PyFile, text: str, mention: Mention) -> str:
    """Declarations of the types that are put in, where the file shows them and all are of one kind; on a line each."""
    found = ""
    for word in sorted({match[0] for match in _TYPE.finditer(text)}):
        types = list(dict.fromkeys(_types(file, word.strip("_"), mention)))
        kinds = {kind(one) for one in types}
        if len(kinds) == 1 and "" not in kinds:
            found += f"\ntypedef {types[0]} {word};"
    return found


def _types(file: PyFile, name: str, mention: Mention) -> Iterator[str]:
    """The types that a name is put in as; an empty one where it is not known."""
    given = [*_given(file, name)]
    inside = isinstance(mention.parents[-1], ast.JoinedStr) if mention.parents else False
    if not given or inside:
        given.append((ast.Name(name), mention))
    for node, at in given:
        yield from _read(file, node, at, 0)


def _given(file: PyFile, name: str) -> Iterator[tuple[ast.expr, Mention]]:
    """What ``source.format(name=...)``, ``source.replace("${name}", ...)`` put in for a name."""
    for word in _FILLING:
        for mention in file.mentions.get(word, ()):
            if mention.call is not None:
                yield from ((k.value, mention) for k in mention.call.keywords if k.arg == name)
    for mention in file.mentions.get("replace", ()):
        call = mention.call
        if call is not None and len(call.args) == 2:
            old = call.args[0]
            if isinstance(old, ast.Constant) and old.value in (f"${{{name}}}", f"{{{name}}}", f"{{{{{name}}}}}"):
                yield call.args[1], mention


def _read(file: PyFile, node: ast.expr | None, mention: Mention, depth: int) -> Iterator[str]:
    """The texts that an expression may be: of constants, of a table's items, of both branches of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif depth > _MAX_DEPTH or node is None:
        yield ""
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _read(file, value, mention, depth + 1)
    elif isinstance(node, ast.IfExp):
        for value in (node.body, node.orelse):
            yield from _read(file, value, mention, depth + 1)
    elif isinstance(node, ast.Subscript):
        yield from _read(file, node.value, mention, depth + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        for value in (node.func.value, *node.args[1:]):
            yield from _read(file, value, mention, depth + 1)
    elif isinstance(node, ast.Name):
        for one in _assigned(node.id, mention) or (file.assigned.get(node.id),):
            yield from _read(file, one, mention, depth + 1)
    else:
        yield ""


def _assigned(name: str, mention: Mention) -> list[ast.expr]:
    """What the functions around a place set a name to; where it is a parameter, nothing is known."""
    for scope in reversed(mention.scopes):
        if isinstance(scope, ast.ClassDef):
            continue
        found = set_to(scope, name)
        if found:
            return found
        if any(one.arg == name for one in parameters(scope)):
            return [ast.Tuple([])]
    return []
