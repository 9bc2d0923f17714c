"""Functions of compiled modules that Python looks up by names it puts together: ``_C.__dict__[f"render_{kind}"]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.torch.pyfiles import PyFile, PyFiles
from d9mlint.kernels.torch.pywords import Mention

_LOOKS_UP = re.compile(rb"(?:__dict__\s*\[|getattr\s*\(\s*[\w.()]+\s*,|vars\s*\([\w.()]+\)\s*\[)\s*[fF]['\"]")
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


def closest(found: list[Composed], word: str) -> list[Composed]:
    """The look-ups that may mean a name; of several, those that say most of it: ``f_{x}_backward``, not ``f_{x}``."""
    meant = [one for one in found if one.name.fullmatch(word) is not None]
    most = max((one.known for one in meant), default=0)
    return [one for one in meant if one.known == most]


def composed(files: PyFiles) -> Iterator[Composed]:
    """All such look-ups of a repository."""
    for path in sorted({path for word in ("__dict__", "getattr", "vars") for path in files.holding(word)}):
        file = files.file(path) if _LOOKS_UP.search(files.repository.data(path)) is not None else None
        if file is not None:
            yield from _of_file(file)


def _of_file(file: PyFile) -> Iterator[Composed]:
    seen: set[int] = set()
    for mentions in file.mentions.values():
        for mention in mentions:
            text = mention.parents[-1] if isinstance(mention.node, ast.Constant) and mention.parents else None
            if not isinstance(text, ast.JoinedStr) or id(text) in seen or len(mention.parents) < 2:
                continue
            seen.add(id(text))
            parts = [str(v.value) if isinstance(v, ast.Constant) else None for v in text.values]
            known = sum(len(part) for part in parts if part is not None)
            base = _looked_up_in(mention.parents[-2], text)
            if base is not None and known >= _LEAST:
                pattern = "".join(r"\w+" if part is None else re.escape(part) for part in parts)
                yield Composed(file, mention, base, re.compile(pattern), known)


def _looked_up_in(around: ast.AST, text: ast.JoinedStr) -> ast.expr | None:
    """``m`` of ``m.__dict__[text]``, ``vars(m)[text]``, ``getattr(m, text)``."""
    if isinstance(around, ast.Subscript) and around.slice is text:
        whole = around.value
        if isinstance(whole, ast.Attribute) and whole.attr == "__dict__":
            return whole.value
        asked = isinstance(whole, ast.Call) and isinstance(whole.func, ast.Name) and whole.func.id == "vars"
        return whole.args[0] if asked and isinstance(whole, ast.Call) and len(whole.args) == 1 else None
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id == "getattr":
        return around.args[0] if len(around.args) > 1 and around.args[1] is text else None
    return None
