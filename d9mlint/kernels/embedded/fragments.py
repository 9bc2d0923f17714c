"""Pieces of CUDA code that a Python program puts together: ``source += f"atomicAdd(&sums[{n}], x);"``.

No string of them is a source, so only what stands in one piece is known: the operation, and the types of arrays that a
list of parameters in the file names (``raw float32 sums``, CuPy).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d9mlint.kernels.embedded.sources import NUMPY
from d9mlint.kernels.judging.judge import Judgement, judge
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.sites import atomics
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import Location
from d9mlint.model.kernel import Site

_ATOMIC = re.compile(
    r"\batomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_block|_system)?\s*\(\s*"
    r"(?=[^;]{0,200}[&\[+])[^;]{3,400}?\)\s*(?:[;,)]|[=!<>]=?)"
)
"""A call with an address, as code and not as prose."""
_KEPT = re.compile(r"= ?atomic(?:Add|Exch|CAS)\s*\([^;]{3,400}?\)\s*;")
"""A call whose result is kept."""
_LITERAL = re.compile(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_PARAMETER = re.compile(r"\braw\s+(\w+)\s+(\w+)")
_FORMAT = re.compile(r"(?<!\{)\{\w+\}(?!\})")
"""What ``str.format`` fills: a name in braces, where others are written twice."""
_ARRAY = re.compile(
    r"\b(float|double|half|__half|unsigned|(?:unsigned )?(?:int|long long)|u?int(?:32|64)_t)(?=[\s*])\s*"
    r"(?:\*\s*(?:__restrict__\s+)?(?=\w+\s*[,)])|(?=\w+\s*\[))(\w+)"
)
"""``float* sums,`` and ``float sums[n]`` in a piece of code."""
_NESTED = ("FSTRING_START", "FSTRING_END")


class _Text(NamedTuple):
    """A string as it stands in the file, with where it begins and ends."""

    written: str
    line: int
    column: int
    """Of the first character, from 1."""
    last: int


def sites(file: PyFile, known: Iterable[Site]) -> Iterator[Site]:
    """The atomics in strings that hold none of the known sites of a file."""
    taken = {site.location.line for site in known}
    if not _holds(file.data.decode("utf-8", "replace")):
        return
    types = _types(file)
    documented = {
        node.lineno
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr)
    }
    for text in _strings(file.data):
        said = text.line in documented or ";" not in text.written or not _holds(text.written)
        if not said and taken.isdisjoint(range(text.line, text.last + 1)):
            yield from _of_text(file, text, types)


def _holds(text: str) -> bool:
    return _ATOMIC.search(text) is not None or ("= atomic" in text and _KEPT.search(text) is not None)


def _strings(data: bytes) -> Iterator[_Text]:
    """The strings of a source, each f-string whole."""
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    start: tuple[int, int] | None = None
    depth = 0
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            name = tokenize.tok_name[token.type]
            if name in _NESTED:
                start = token.start if depth == 0 else start
                depth += 1 if name == _NESTED[0] else -1
            if depth == 0 and (name == "STRING" or name == _NESTED[1]):
                yield _between(lines, token.start if name == "STRING" or start is None else start, token.end)
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> _Text:
    rows = lines[start[0] - 1 : end[0]]
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    return _Text("".join(rows), start[0], start[1] + 1, end[0])


def _types(file: PyFile) -> dict[str, str]:
    """The types of arrays that the strings of a file give, in lists of parameters and declarations that agree."""
    found: dict[str, set[str]] = {}
    text = file.data.decode("utf-8", "replace")
    for typed, name in _PARAMETER.findall(text):
        found.setdefault(name, set()).add(NUMPY.get(typed, ""))
    for typed, name in _ARRAY.findall(text):
        found.setdefault(name, set()).add(" ".join(typed.split()))
    return {name: t for name, every in found.items() if len(every) == 1 and (t := min(every))}


def _of_text(file: PyFile, text: _Text, types: dict[str, str]) -> Iterator[Site]:
    code = _code(text.written)
    missing = max(0, -min(_depths(code), default=0))
    named = [f"{typed} *{name}" for name, typed in sorted(types.items()) if re.search(rf"\b{name}\b", code)]
    head = f"__global__ void fragment({', '.join(named)}) {{" + "{" * missing
    tail = "\n" + "}" * (1 + missing + code.count("{") - code.count("}"))
    data = (head + code + tail).encode("utf-8", "replace")
    name = f"{file.path}.cu"
    alone = Repository([name], lambda _: data)
    for atomic in atomics.find(alone):
        at, shift = atomic.location, text.column - 1 - len(head)
        columns = [c + shift if row == 1 else c for row, c in ((at.line, at.column), (at.end_line, at.end_column))]
        place = Location(file.path, at.line + text.line - 1, columns[0], at.end_line + text.line - 1, columns[1])
        found = _of_a_piece(judge(atomic, alone))
        yield Site(
            place, "", atomic.name, atomic.intrinsic, atomic.form, "", "unknown", found.target_type, found.return_use,
            found.class_, found.verdict, found.reason, atomic.scope, found.implements,
        )  # fmt: skip


def _of_a_piece(found: Judgement) -> Judgement:
    """A judgement that holds whatever the other pieces are: only what is exact by itself cannot vary."""
    by_type = not ACCUMULATE & set(found.words) or kind(found.target_type) == "integer"
    if found.verdict != "no" or (found.class_ == "commutative-exact" and by_type):
        return found
    if found.class_ == "commutative-exact":
        found = found._replace(class_="unknown")
    reason = f"{found.reason}, as far as this piece of the code shows; the program puts others around it"
    return found._replace(verdict="conditional", reason=reason)


def _code(written: str) -> str:
    """The code in a string, each character at its place.

    What an f-string puts in is a name, or the strings in it (``{"a();" if fast else "b();"}``) without what is Python.
    """
    return "".join(_Reader(written).read()) if _LITERAL.match(written) else written


class _Reader:
    """Reads a literal with those inside of its expressions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out = [char if char == "\n" else " " for char in text]
        self.at = 0

    def read(self) -> list[str]:
        """The characters of the code; all others are blank."""
        self.literal()
        return self.out

    def literal(self) -> None:
        """From a prefix and a quote to behind the closing quote."""
        opening = _LITERAL.match(self.text, self.at)
        if opening is None:
            return
        doubled = "{{" in self.text and "}}" in self.text
        formatted = "f" in opening[1].lower() or (doubled and _FORMAT.search(self.text) is not None)
        self.at = opening.end()
        while self.at < len(self.text) and not self.text.startswith(opening[2], self.at):
            two = self.text[self.at : self.at + 2]
            if formatted and two in ("{{", "}}"):
                self.out[self.at] = two[0]
                self.at += 2
            elif formatted and two[:1] == "{":
                self.expression()
            elif two[:1] == "\\":
                self.at += 2
            else:
                self.out[self.at] = " " if two[:1] in "@\"'" else two[:1]
                self.at += 1
        self.at += len(opening[2])

    def expression(self) -> None:
        """From an opening brace to behind the closing one."""
        start, depth, plain = self.at, 0, True
        while self.at < len(self.text):
            char = self.text[self.at]
            depth += (char in "{([") - (char in "})]")
            if depth == 0:
                break
            if _LITERAL.match(self.text, self.at):
                plain = False
                self.literal()
            else:
                self.at += 1
        self.at += 1
        if plain:
            self.out[start : self.at] = ["\n" if char == "\n" else "_" for char in self.text[start : self.at]]


def _depths(code: str) -> Iterator[int]:
    """How many braces are open behind each brace."""
    depth = 0
    for brace in re.findall(r"[{}]", code):
        depth += 1 if brace == "{" else -1
        yield depth
