"""A small macro expander, enough to see what the registration macros of a source come to.

It knows object-like and function-like macros, ``#``, ``##``, ``__VA_ARGS__``, continued lines and ``#undef``. It reads
all branches of ``#if``: a name defined twice without ``#undef`` between has both meanings. Texts are bytes decoded as
Latin-1, so that a place in the text is a place in the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from d9mlint.kernels.source.lexical import arguments

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
# With the newline rather than `^` in front, to which the search skips ahead.
_DIRECTIVE = re.compile(
    r"\n[ \t]*#[ \t]*(?P<kind>define|undef)[ \t]+(?P<name>\w+)(?P<parameters>\([^()]{0,2000}\))?"
    r"(?P<body>(?:[^\n]*\\\r?\n)*[^\n]*)"
)
_CONTINUED = re.compile(r"\\\r?\n")
_STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\''
_WORD = re.compile(rf"{_STRING}|\w+")
# A word with the operators beside it; what stands between two ``##`` keeps only its own side.
_PLACE = re.compile(rf"{_STRING}|(?P<left>##?\s*)?(?P<name>[A-Za-z_]\w*)(?P<right>\s*(?=##))?|(?P<paste>\s*##\s*)")
_CALL = re.compile(r"\s*\(")
MAX_DEPTH = 30
"""How deep macros may stand in each other."""
MAX_TEXT = 2_000_000
"""How many characters may be handled in all steps."""
STEP = 50
"""What a step costs beside its characters."""
MAX_MEANINGS = 4
"""How many definitions of one name, from the branches of ``#if``, are looked at."""


class Macro(NamedTuple):
    """A ``#define``; ``parameters`` is None for an object-like one. ``start`` and ``end`` are its place in the text."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    start: int
    end: int


class Undefined(NamedTuple):
    """An ``#undef``."""

    name: str
    start: int
    end: int


def cleaned(data: bytes) -> str:
    """The source with blanks for comments, every other byte at its place."""
    return _COMMENT.sub(_blank, data.decode("latin-1"))


def blank(text: str) -> str:
    """As many blanks, in the same lines."""
    return " " * len(text) if "\n" not in text else "\n".join(" " * len(line) for line in text.split("\n"))


def _blank(match: re.Match[str]) -> str:
    piece = match[0]
    if piece[0] != "/":
        return piece
    return " " * len(piece) if "\n" not in piece else re.sub(r"[^\n\r\\]|\\(?!\r?\n)", " ", piece)


def directives(text: str) -> list[Macro | Undefined]:
    """All ``#define`` and ``#undef`` of a cleaned text, in order, of all branches."""
    found: list[Macro | Undefined] = []
    for match in _DIRECTIVE.finditer("\n" + text):
        name, start, end = match["name"], match.start(), match.end() - 1
        if match["kind"] == "undef":
            found.append(Undefined(name, start, end))
        else:
            found.append(Macro(name, _parameters(match["parameters"]), _joined(match["body"]), start, end))
    return found


def _parameters(written: str | None) -> tuple[str, ...] | None:
    if written is None:
        return None
    names = (p.strip() for p in _joined(written)[1:-1].split(","))
    return tuple(n for n in names if n)


def _joined(text: str) -> str:
    return _CONTINUED.sub(" ", text).strip()


def apply(directive: Macro | Undefined, defined: dict[str, tuple[Macro, ...]]) -> None:
    """Adds a directive to the macros that are defined before it."""
    name = directive.name
    if isinstance(directive, Undefined):
        defined.pop(name, None)
    elif directive.body or name not in defined:
        defined[name] = (*(m for m in defined.get(name, ()) if m.body), directive)[:MAX_MEANINGS]


def table(found: Sequence[Macro | Undefined]) -> dict[str, tuple[Macro, ...]]:
    """The macros that are defined after some directives."""
    defined: dict[str, tuple[Macro, ...]] = {}
    for directive in found:
        apply(directive, defined)
    return defined


def expanded(text: str, macros: Mapping[str, Sequence[Macro]]) -> str:
    """The text with all macros replaced, again and again."""
    return Expander(macros).expand(text)


class Expander:
    """Replaces macros, again and again, within a budget for all its texts: beyond that they stay as they are.

    ``TF_CALL_x(m)`` without a definition becomes ``m(x)``, as TensorFlow's ``register_types.h`` has it for types; for a
    group of types ``x`` is the group's name. The table may change between two texts.
    """

    def __init__(self, macros: Mapping[str, Sequence[Macro]], budget: int = MAX_TEXT) -> None:
        self._macros = macros
        self._budget = budget

    def expand(self, text: str, opaque: frozenset[str] = frozenset()) -> str:
        """The text with its macros replaced; the names in ``opaque`` are left alone."""
        return self._run(text, opaque, 0)

    def _run(self, text: str, hidden: frozenset[str], depth: int) -> str:
        self._budget -= len(text) + STEP
        if depth > MAX_DEPTH or self._budget < 0:
            return text
        live = self._macros.keys() & set(_WORD.findall(text)) - hidden
        if not live and "TF_CALL_" not in text:
            return text
        data = text.encode("latin-1", "replace")
        out: list[str] = []
        done = 0
        for match in _WORD.finditer(text):
            word = match[0]
            if match.start() < done or not (word in live or (word.startswith("TF_CALL_") and word not in hidden)):
                continue
            values, end = _values(text, data, match.end())
            out += [text[done : match.start()], self._call(word, values, text[match.end() : end], hidden, depth)]
            done = end
        return "".join([*out, text[done:]])

    def _call(self, word: str, values: list[str] | None, call: str, hidden: frozenset[str], depth: int) -> str:
        """What a macro comes to: each of its meanings, one after the other."""
        macros = self._macros.get(word) or (Macro(word, ("m",), f"m({word[len('TF_CALL_') :]})", 0, 0),)
        results: list[str] = []
        for macro in macros:
            if macro.parameters is None:
                results.append(self._run(macro.body, hidden | {word}, depth + 1) + call)
            elif values is None:
                results.append(word + call)
            else:
                raw = _bound(macro.parameters, values)
                body = _pasted(macro.body, raw, {n: self._argument(v, hidden, depth) for n, v in raw.items()})
                results.append(self._run(body, hidden | {word}, depth + 1))
        return " ".join(dict.fromkeys(results))

    def _argument(self, value: str, hidden: frozenset[str], depth: int) -> str:
        # Most arguments are one plain word.
        return value if value.isidentifier() and value not in self._macros else self._run(value, hidden, depth + 1)


def _values(text: str, data: bytes, at: int) -> tuple[list[str] | None, int]:
    """The arguments that stand here and the place after them; None where none do."""
    opening = _CALL.match(text, at)
    split = arguments(data, opening.end() - 1) if opening is not None else None
    return ([text[a:b].strip() for a, b in split[0]], split[1]) if split is not None else (None, at)


def _bound(parameters: tuple[str, ...], values: list[str]) -> dict[str, str]:
    bound = dict(zip(parameters, values, strict=False))
    if parameters and parameters[-1].endswith("..."):
        name = parameters[-1][:-3].strip() or "__VA_ARGS__"
        bound.pop(parameters[-1], None)
        bound[name] = ", ".join(values[len(parameters) - 1 :])
    return bound


class _Slot(NamedTuple):
    """A parameter in a macro's body; ``raw`` beside ``##``, ``quoted`` after ``#``."""

    name: str
    raw: bool
    quoted: bool


@functools.lru_cache(maxsize=1024)
def _slots(body: str, names: tuple[str, ...]) -> tuple[str | _Slot, ...]:
    """A macro's body, which is used again and again: its parameters, and the text between them."""
    pieces: list[str | _Slot] = []
    text, done = "", 0
    for match in _PLACE.finditer(body):
        left, name = match["left"] or "", match["name"]
        text += body[done : match.start()]
        done = match.end()
        quoted = left.startswith("#") and not left.startswith("##")
        if name is None:
            text += "" if match["paste"] else match[0]
        elif name not in names:
            text += left + name if quoted else name
        else:
            pieces += [text, _Slot(name, bool(left) or match["right"] is not None, quoted)]
            text = ""
    return (*pieces, text + body[done:])


def _pasted(body: str, raw: Mapping[str, str], values: Mapping[str, str]) -> str:
    """A macro's body with its arguments in: as written beside ``##`` and after ``#``, expanded elsewhere."""
    pieces = _slots(body, tuple(raw))
    return "".join(piece if isinstance(piece, str) else _put(piece, raw, values) for piece in pieces)


def _put(slot: _Slot, raw: Mapping[str, str], values: Mapping[str, str]) -> str:
    if slot.quoted:
        return '"' + raw[slot.name].replace("\\", "\\\\").replace('"', '\\"') + '"'
    return raw[slot.name] if slot.raw else values[slot.name]
