"""Whether a source ends in the middle: what is missing cannot be judged, and that has to be said."""

from __future__ import annotations

import re

_NO_CODE = re.compile(
    rb'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|//[^\n\\]*(?:\\.[^\n\\]*)*|/\*.*?\*/', re.DOTALL
)
# One set of first letters, by which the search skips ahead; what they begin is told by looking back at them.
_PIECE = re.compile(
    rb"""[R"'/#(){}\[\]](?:"""
    rb'(?P<raw>(?<=R)"(?P<mark>[^()\\\s"]{0,16})\()|(?<=")(?:[^"\\\n]|\\.)*"|(?<=\')(?:[^\'\\\n]|\\.){1,8}\''
    rb"|(?<=/)/(?:[^\n\\]|\\.)*|(?P<comment>(?<=/)\*)"
    rb"|(?<=#)[ \t]*(?P<directive>ifdef|ifndef|if|elif|else|endif|define)\b(?:[^\n\\]|\\.)*"
    rb"|(?P<bracket>(?<=[(){}\[\]])))",
    re.DOTALL,
)
_OPENING = b"({["
_PAIRS = ((b"{", b"}"), (b"(", b")"), (b"#if", b"#endif"), (b"/*", b"*/"))
"""Where these occur equally often, a closer look costs more than it finds."""


def open_end(data: bytes) -> str:
    """What a source leaves open at its end, as a reason; empty where nothing is.

    Of the branches of an ``#if`` only the first counts.
    """
    if _even(data):
        return ""
    if b'R"' not in data and data.rfind(b"/*") <= data.rfind(b"*/") and _even(_NO_CODE.sub(b"", data)):
        return ""
    depth = 0
    saved: list[int] = []
    at = 0
    while (match := _PIECE.search(data, at)) is not None:
        at = match.end()
        if match["raw"] is not None or match["comment"] is not None:
            closing = b"*/" if match["comment"] is not None else b")" + match["mark"] + b'"'
            end = data.find(closing, at)
            if end < 0:
                return "ends inside a comment" if match["comment"] is not None else "ends inside a string"
            at = end + len(closing)
        elif match["bracket"] is not None:
            depth += 1 if match[0] in _OPENING else -1
        elif match["directive"] is not None:
            if data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip(b" \t"):
                at = match.start() + 1
                continue
            depth = _after(match["directive"], depth, saved)
    if saved:
        return "ends inside an `#if`"
    return "ends inside brackets" if depth > 0 else ""


def _even(data: bytes) -> bool:
    return all(data.count(one) == data.count(other) for one, other in _PAIRS)


def _after(directive: bytes, depth: int, saved: list[int]) -> int:
    """The depth of brackets after a directive; of an ``#if`` that of its first branch holds behind its end."""
    if directive.startswith(b"if"):
        saved.append(-1)
        return depth
    if directive in (b"elif", b"else") and saved:
        saved[-1] = depth if saved[-1] < 0 else saved[-1]
        return depth
    if directive == b"endif" and saved:
        first = saved.pop()
        return first if first >= 0 else depth
    return depth
