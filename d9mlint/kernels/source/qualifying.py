"""Macros of a repository that stand for qualifiers only (``#define HD __host__ __device__``): they hide from a grammar.

``HD vec(T x) : x_(x) {}`` is no constructor to the C++ grammar, and what follows it is lost or taken for members.
"""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import SUFFIXES, Repository

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Z_]\w*)(?![\w(])((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_WITH_PARAMETERS = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Z_]\w*\()[\w, \t]*\)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)
"""``#define KERNEL(THREADS) __launch_bounds__(THREADS) static __global__``: with its parenthesis."""
_DIRECT = re.compile(
    rb"define[ \t]+[A-Z_]\w*(?:\([\w, \t]*\))?[ \t]+(?:\\\r?\n)?[^\n]*?__(?:device|host|global|forceinline)__"
)
"""It begins with letters by which the search skips ahead: few files define such a macro."""
_WORDS = (b"__device__", b"__host__", b"__global__", b"__forceinline__")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NOTHING = re.compile(
    rb"__(?:host|device|global|forceinline|noinline|inline)__|__(?:force)?inline|\b(?:inline|static|constexpr|extern)\b(?:\s*\"C\")?"
    rb"|__attribute__\s*\(\(.*?\)\)|__declspec\s*\([^()]*\)|\[\[.*?\]\]|__launch_bounds__\s*\([^()]*\)|\\|\s+"
)
_NAME = re.compile(rb"[A-Za-z_]\w*")
_ROUNDS = 4


def _defined(_: str, data: bytes) -> tuple[tuple[bytes, tuple[bytes, ...] | None], ...]:
    """The macros whose bodies are made of qualifiers and names: each with these names, None where there is more.

    One with parameters has a parenthesis at the end of its name.
    """
    if b"define" not in data or _DIRECT.search(data) is None:
        return ()
    found: list[tuple[bytes, tuple[bytes, ...] | None]] = []
    for name, body in _DEFINE.findall(data):
        left = _NOTHING.sub(b" ", _COMMENT.sub(b" ", body)).split()
        qualifies = len(b" ".join(left)) < len(body.strip())
        empty = not body.strip() and not name.endswith((b"_H", b"_H_", b"_HPP", b"_HPP_", b"_CUH", b"_CUH_"))
        if all(_NAME.fullmatch(word) for word in left) and (left or qualifies or empty):
            found.append((name, tuple(left) if left or any(word in body for word in _WORDS) else ()))
        elif any(word in body for word in _WORDS):
            found.append((name, None))
    for name, body in _WITH_PARAMETERS.findall(data):
        left = _NOTHING.sub(b" ", _COMMENT.sub(b" ", body)).split()
        qualifies = not left and any(word in body for word in _WORDS)
        found.append((name, () if qualifies else None))
    return tuple(found)


QUALIFIERS = Look(SUFFIXES, _defined)
"""Macros that may be qualifiers only, in the sources that hold CUDA's."""


def qualifying(repository: Repository, _: str) -> frozenset[bytes]:
    """The names that mean qualifiers wherever the repository defines them."""
    bodies: dict[bytes, set[tuple[bytes, ...] | None]] = {}
    for listed in repository.looked(QUALIFIERS).values():
        for name, words in listed:
            bodies.setdefault(name, set()).add(words)
    found: set[bytes] = set()
    for _round in range(_ROUNDS):
        more = {
            name
            for name, every in bodies.items()
            if name not in found and all(words is not None and set(words) <= found for words in every)
        }
        if not more:
            break
        found |= more
    return frozenset(found)
