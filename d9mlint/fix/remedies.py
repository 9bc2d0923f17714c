"""The code that a remedy names: keywords of a call, functions to define, expressions in the place of a call.

A remedy is what the catalogue says for the version at hand, so a patch is made of its code: nothing is known twice.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

_CODE = re.compile(r"`([^`\n]+)`")
_KEYWORD = re.compile(r"[A-Za-z_]\w*=(?!=)")
_DEFINED = re.compile(r"def (\w+)\(")
_DEVICE = re.compile(r"tf\.device\(\S+\)")
ROOTS = {
    "random": "random", "np": "numpy", "torch": "torch", "paddle": "paddle", "tf": "tensorflow", "keras": "keras",
    "os": "os", "zlib": "zlib", "hashlib": "hashlib",
}  # fmt: skip
"""The first names of code in remedies, and the packages that they stand for."""


class Keyword(NamedTuple):
    """A keyword of a call, and the value that it is to have."""

    name: str
    value: str


class Expression(NamedTuple):
    """An expression in the place of a call, and where the values of the call's arguments stand in it."""

    text: str
    places: tuple[tuple[int, int, str], ...]
    """Begin, end and parameter of each, in order."""
    is_call: bool


def code(remedy: str) -> list[str]:
    """All code that a remedy names, each once."""
    return list(dict.fromkeys(_CODE.findall(remedy)))


def keywords(remedy: str, called: str) -> list[Keyword]:
    """The keywords that a call of ``called`` is to have: of the first code that names some for it, or for any call."""
    for text in code(remedy):
        bare = _parsed(f"f({text})") if _KEYWORD.match(text) else None
        calls = [bare] if isinstance(bare, ast.Call) else list(_calls(_parsed(text), called))
        for call in calls:
            source = f"f({text})" if call is bare else text
            found = [Keyword(one.arg, _segment(source, one.value)) for one in call.keywords if one.arg]
            if found:
                return found
    return []


def definition(remedy: str, name: str) -> str:
    """The function of this name that a remedy defines, as lines; empty where it defines none."""
    for text in code(remedy):
        match = _DEFINED.match(text)
        if match and match[1] == name:
            head, _, body = text.partition(": ")
            return f"{head}:\n" + "".join(f"    {line.strip()}\n" for line in body.split(";"))
    return ""


def device(remedy: str) -> str:
    """The device that a remedy has an op run on, as the call that enters it; empty where it names none."""
    return next((text for text in code(remedy) if _DEVICE.fullmatch(text)), "")


def call(remedy: str) -> str:
    """The first call without arguments, of a function of a package, that a remedy names; empty where it names none."""
    for text in code(remedy):
        found = _parsed(text)
        if isinstance(found, ast.Call) and not found.args and not found.keywords and text.partition(".")[0] in ROOTS:
            return text
    return ""


def method(remedy: str, text: str = "") -> str:
    """The method that a remedy has called with a seed, without its object, as in ``action_space.seed(1)``.

    Of several it is the one of a part of the object that ``text`` mentions, as ``env.action_space.sample()`` does.
    """
    found = list(_methods(remedy))
    of_parts = (one for one in found if "." in one.partition("(")[0] and f".{one.partition('.')[0]}." in text)
    return next(of_parts, next(iter(found), ""))


def _methods(remedy: str) -> Iterator[str]:
    for text in code(remedy):
        call = _parsed(text)
        if not isinstance(call, ast.Call) or call.keywords or [ast.unparse(one) for one in call.args] != ["1"]:
            continue
        root, _, rest = text.partition(".")
        if rest and root.isidentifier() and root not in ROOTS:
            yield rest


def signature(remedy: str, called: str) -> tuple[tuple[str, ...], bool]:
    """The parameters of ``called`` in order, as a remedy tells them: a call with nothing but names.

    Of a method the object comes first, and the second part is true.
    """
    for text in code(remedy):
        call = _parsed(text)
        if not isinstance(call, ast.Call) or _last(call.func) != called or not call.args or call.keywords:
            continue
        names = [one.id for one in call.args if isinstance(one, ast.Name)]
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        of = [base.id] if isinstance(base, ast.Name) and base.id not in ROOTS else []
        if len(names) == len(call.args):
            return (*of, *names), bool(of)
    return (), False


def expression(remedy: str, called: str, given: Sequence[str]) -> Expression | None:
    """The expression that a remedy has in the place of a call of ``called``: one of all that is ``given`` to it."""
    for text in code(remedy):
        found = _parsed(text)
        if found is None or isinstance(found, (ast.Name, ast.Constant, ast.Attribute)):
            continue
        if isinstance(found, ast.Call) and _last(found.func) == called:
            continue
        free = list(_free(found))
        if free and {one.id for one in free} == set(given):
            places = sorted((one.col_offset, one.end_col_offset or 0, one.id) for one in free)
            return Expression(text, tuple(places), isinstance(found, (ast.Call, ast.Subscript)))
    return None


def filled(expression: Expression, values: Mapping[str, str], known: Callable[[str], str]) -> str:
    """The expression with these values in the places of parameters, and packages under the names that are ``known``."""
    parts: list[str] = []
    begin = 0
    for start, end, name in expression.places:
        parts += [known(expression.text[begin:start]), values[name]]
        begin = end
    return "".join([*parts, known(expression.text[begin:])])


def calls(text: str) -> set[str]:
    """The last two names of all that a function calls, as in ``random.seed``."""
    try:
        parts = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return set()
    return {".".join(ast.unparse(one.func).split(".")[-2:]) for one in parts if isinstance(one, ast.Call)}


def roots(text: str) -> list[str]:
    """The packages, by the names that remedies have for them, that an expression needs."""
    found = _parsed(text)
    names = {one.id for one in ast.walk(found) if isinstance(one, ast.Name)} if found is not None else set()
    return sorted(names & ROOTS.keys())


def _free(found: ast.expr) -> Iterator[ast.Name]:
    """The names in an expression that are neither packages, nor Python's own, nor parameters of a lambda in it."""
    bound = {one.arg for part in ast.walk(found) if isinstance(part, ast.arguments) for one in part.args}
    for part in ast.walk(found):
        if (
            isinstance(part, ast.Name)
            and part.id not in bound
            and part.id not in ROOTS
            and not hasattr(builtins, part.id)
        ):
            yield part


def _calls(found: ast.expr | None, called: str) -> Iterator[ast.Call]:
    for part in ast.walk(found) if found is not None else ():
        if isinstance(part, ast.Call) and _last(part.func) == called:
            yield part


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _segment(source: str, node: ast.expr) -> str:
    return ast.get_source_segment(source, node) or ""
