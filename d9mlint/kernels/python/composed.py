"""Functions of compiled modules that Python looks up by names it puts together: ``_C.__dict__[f"render_{kind}"]``.

Also kernels of compiled sources: ``name = "sum_" + kind; module.get_function(name)``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.python.calls import last_name
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.words import Mention, set_to

_LOOKS_UP = re.compile(
    rb"(?:__dict__\s*\[|getattr\s*\(\s*[\w.()]+\s*,|vars\s*\([\w.()]+\)\s*\[)\s*(?:[fF]?['\"]|\w+\s*[\])])"
    rb"|get_function\s*\(|RawKernel\s*\("
)
_KERNELS = ("get_function", "RawKernel")
_ASKING = ("__dict__", "getattr", "vars", *_KERNELS)
_MAX_DEPTH = 6
_LEAST = 4
"""Letters that a pattern needs to say anything."""


class Composed(NamedTuple):
    """A look-up by a name of which only parts are known."""

    file: PyFile
    mention: Mention
    base: ast.expr
    """What is looked up in."""
    name: re.Pattern[str]
    known: int
    """How many letters of the name are known."""

    @property
    def kernel(self) -> bool:
        """Whether a kernel of a compiled source is looked up."""
        above = (p for p in reversed(self.mention.parents) if isinstance(p, ast.Call))
        called = next((c.func for c in above if not _makes(c)), None)
        return last_name(called) in _KERNELS


def _makes(call: ast.Call) -> bool:
    """Whether a call makes the name itself: ``"sum_{}".format(kind)``."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "format"


def closest(found: list[Composed], word: str) -> list[Composed]:
    """The look-ups that may mean a name; of several, those that say most of it: ``f_{x}_backward``, not ``f_{x}``."""
    meant = [one for one in found if one.name.fullmatch(word) is not None]
    most = max((one.known for one in meant), default=0)
    return [one for one in meant if one.known == most]


def composed(files: PyFiles) -> Iterator[Composed]:
    """All such look-ups of a repository."""
    for path in sorted({path for word in _ASKING for path in files.holding(word)}):
        file = files.file(path) if _LOOKS_UP.search(files.repository.data(path)) is not None else None
        if file is not None:
            yield from _of_file(file)


def _of_file(file: PyFile) -> Iterator[Composed]:
    for word in _ASKING:
        for mention in file.mentions.get(word, ()):
            asked = _asked(mention)
            if asked is None:
                continue
            base, name, around = asked
            parts = _parts(name, around)
            known = sum(len(part) for part in parts if part is not None)
            if known >= _LEAST and None in parts:
                pattern = "".join(r"\w+" if part is None else re.escape(part) for part in parts)
                yield Composed(file, around, base, re.compile(pattern), known)


def _asked(mention: Mention) -> tuple[ast.expr, ast.expr, Mention] | None:
    """What is looked up in, the name, and its place: of ``m.__dict__[name]``, ``getattr(m, name)`` and their kin."""
    node, parents = mention.node, mention.parents
    around = parents[-1] if parents else None
    outer = parents[-2] if len(parents) > 1 else None
    found: tuple[ast.expr, ast.expr] | None = None
    if isinstance(around, ast.Subscript) and around.value is node and isinstance(node, ast.Attribute):
        found = (node.value, around.slice) if node.attr == "__dict__" else None
    elif isinstance(around, ast.Call) and around.func is node:
        called = last_name(node)
        if called == "vars" and isinstance(outer, ast.Subscript) and outer.value is around and len(around.args) == 1:
            return around.args[0], outer.slice, _within(mention, outer, outer.slice)
        if called in ("getattr", "RawKernel") and len(around.args) > 1:
            found = around.args[0], around.args[1]
        elif called == "get_function" and around.args:
            found = (node.value if isinstance(node, ast.Attribute) else node), around.args[0]
    return (*found, _within(mention, around, found[1])) if found is not None and around is not None else None


def _within(mention: Mention, around: ast.AST, name: ast.expr) -> Mention:
    """The mention of a name that a look-up is given."""
    parents = mention.parents[: mention.parents.index(around) + 1]
    node = (
        name if isinstance(name, ast.Name | ast.Constant | ast.Attribute) else ast.copy_location(ast.Constant(""), name)
    )
    return Mention(node, parents if node is name else (*parents, name))


def _parts(node: ast.expr, mention: Mention, depth: int = 0) -> list[str | None]:
    """The pieces of a name, None for what is not known: of f-strings, sums, ``%``, ``.format``, of a local variable."""
    if isinstance(node, ast.Constant):
        return [node.value if isinstance(node.value, str) else None]
    if isinstance(node, ast.JoinedStr):
        return [str(v.value) if isinstance(v, ast.Constant) else None for v in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < _MAX_DEPTH:
        return [*_parts(node.left, mention, depth + 1), *_parts(node.right, mention, depth + 1)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return _holes(str(node.left.value), r"%[sd]")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value
        return _holes(str(text.value), r"\{\w*\}") if isinstance(text, ast.Constant) else [None]
    if isinstance(node, ast.Name) and depth < _MAX_DEPTH:
        scope = next((s for s in reversed(mention.scopes) if not isinstance(s, ast.ClassDef)), None)
        values = set_to(scope, node.id) if scope is not None else []
        if len(values) == 1:
            return _parts(values[0], mention, depth + 1)
    return [None]


def _holes(text: str, hole: str) -> list[str | None]:
    found: list[str | None] = []
    for at, part in enumerate(re.split(hole, text)):
        found += [None, part] if at else [part]
    return found
