"""What a name of a type means where the file that uses it does not say so: an alias or macro all files agree upon.

Kernels are compiled behind a prelude (``typedef unsigned long long mm_ulong;``) or below headers that are found by
other roots; of a name with two meanings nothing is known.
"""

from __future__ import annotations

import re

from d9mlint.kernels.judging.known.scalars import element, kind, plain
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository

_PARAMETER = re.compile(rb"[<,]\s*(?:typename|class)\s+\Z")
_VIEWED = re.compile(r"\w+::(?:t_\w+|HostMirror)")
"""A view of a name that stands for two, in the memory of the host and of the device (Kokkos' ``DualView``)."""
_WRITTEN = rb"[\w\s:]+?(?:<[^;{}]{0,400}>(?:::\w+)?)?(?:\s*\*(?:\s*const|\s*__restrict(?:__)?)*)*"
_BEFORE = 40
"""So far before a name `typename` is looked for."""


def meaning(repository: Repository, name: str) -> str | None:
    """The scalar that the aliases of a name stand for, as the first writes it; None where they differ in kind.

    None, too, where only functions and classes have such an alias, or where the name is a parameter of a template.
    """
    known = repository.derived(_known, "")
    if name not in known:
        known[name] = None  # where names stand for one another
        known[name] = _read(repository, name)
    return known[name]


def _kind(repository: Repository, written: str, name: str) -> str:
    """The kind of what an alias stands for, through other aliases where it is a single name or a pointer to one."""
    inner = plain(written).rstrip(" *")
    found = kind(inner) or kind(element(inner))
    inner = inner.partition("::")[0] if _VIEWED.fullmatch(inner) else inner
    if found or inner == name or not inner.isidentifier():
        return found
    further = meaning(repository, inner)
    return _kind(repository, further, inner) if further is not None else ""


def _known(_: Repository, __: str) -> dict[str, str | None]:
    return {}


def _read(repository: Repository, name: str) -> str | None:
    word = re.escape(name.encode())
    alias = re.compile(
        rb"^([ \t]*)(?:typedef\s+(" + _WRITTEN + rb")\s*\b" + word + rb"\s*;|using\s+" + word + rb"\s*=\s*([^;{}]+);)",
        re.MULTILINE,
    )
    closed = re.compile(word + rb"\s*[;=]")  # it begins with what is rare, so most files are passed over at once
    macro = re.compile(
        rb"^[ \t]*#[ \t]*define[ \t]+" + word + rb"[ \t]+([A-Za-z_][\w: \t]*?)[ \t]*(?://.*)?\r?$", re.MULTILINE
    )
    found: list[str] = []
    outside = False
    for path in repository.holding(name.encode()):
        data = repository.data(path)
        if any(_PARAMETER.search(data, max(0, at - _BEFORE), at) for at in lexical.word_places(data, name.encode())):
            return None
        aliases = (b"typedef" in data or b"using" in data) and closed.search(data) is not None
        for match in alias.finditer(data) if aliases else ():
            outside = outside or not match[1]
            written = (match[2] or match[3]).decode("utf-8", "replace")
            found.append(plain(written) + "*" * written.count("*") * ("<" not in written))
        for match in macro.finditer(data) if b"define" in data else ():  # `#define REAL float`, or `double` by a switch
            outside = True
            found.append(plain(match[1].decode("utf-8", "replace")))
    kinds = {_kind(repository, one, name) for one in found}
    return found[0] if outside and len(kinds) == 1 and "" not in kinds else None
