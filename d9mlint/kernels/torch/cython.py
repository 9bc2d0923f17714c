"""Functions of C++ that Cython calls: ``cdef extern from "x.hpp" namespace "ns": void fit(...)``, then ``fit(...)``.

Cython's sources are read by their lines: what is declared from which header, and in which function or class of Python
it is called. https://cython.readthedocs.io/en/stable/src/userguide/external_C_code.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from d9mlint.kernels.source.lexical import arguments
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.presence import CYTHON, EXTERN
from d9mlint.model import Location
from d9mlint.model.kernel import Step

_EXTERN = re.compile(rb'cdef\s+extern\s+from\s+["\'<]([^"\'>]+)[">\'](?:\s*namespace\s*"([^"\n]*)")?[^:\n]*:')
_OPENING = re.compile(rb"cdef\s+extern\s+from\b")
_CONTINUED = re.compile(rb"\\\r?\n")
_DECLARED = re.compile(
    rb'^\s+(?:cdef\s+)?[\w.\[\], *&:]*?[\s*&](\w+)\s*(?:"((?:\w+::)*\w+)[^"\n]*")?\s*(?:\[[^\]\n(]*\]\s*)?\('
)
_SCOPE = re.compile(rb"^(\s*)(?:cdef\s+class|class|def|cpdef(?:\s+[\w.*\[\]]+)?|cdef\s+[\w.*\[\], ]+?)\s+(\w+)\s*[(:]")
_CALLED = re.compile(rb"\b(\w+)\s*(?:\[[^\]\n()]*\]\s*)?\(")
_IMPORTED = re.compile(rb"^\s*from\s+([\w.]+)\s+cimport\s+(?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_QUOTED = re.compile(rb'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'|#[^\n]*')
_NO_NAMES = (b"if", b"while", b"for", b"return", b"sizeof", b"not", b"in", b"and", b"or", b"print", b"enum", b"struct")
_CLASS = re.compile(rb"^(\s+)(?:cdef\s+)?cppclass\s+(\w+)")
_OBJECT = rb"\b%s\b(?:\[[^\]\n]*\])?[\s*&\]]+(\w+)"
"""A variable or attribute of a class: ``cdef Grid* grid``, ``unique_ptr[Grid] grid``, ``Grid& grid`` in a head."""
_RECEIVER = re.compile(rb"(\w+)(?:\.get\(\)|\[0\])?\s*\.\s*\Z|\bderef(?:erence)?\((?:\w+\.)*(\w+)\)\s*\.\s*\Z")


class _Declared(NamedTuple):
    header: str
    namespace: str
    name: str
    owner: str = ""
    """The class of a method."""


class Call(NamedTuple):
    """A call of a function of C++ in a source of Cython."""

    header: str
    """As the declaration names it."""
    namespace: str
    path: str
    place: Location
    scope: tuple[str, ...]
    """The class and the functions around it, the outermost first."""


def calls(repository: Repository, _: str) -> Mapping[str, list[Call]]:
    """The calls of all functions of C++ that Cython declares, by the name that they have in C++ (``Class::method``)."""
    found: dict[str, list[Call]] = {}
    declared: dict[str, Mapping[bytes, _Declared]] = {}
    paths = [p for p in repository.paths if p.endswith(CYTHON)]
    for path in paths:
        data = repository.data(path)
        if EXTERN in data:
            declared[path] = dict(_declarations(data))
    for path in paths:
        if path.endswith(".pyx"):
            data = _QUOTED.sub(_blank, repository.data(path))
            known = {**_imported(data, declared), **declared.get(path, {})}
            for name, call in _calls(path, data, known) if known else ():
                found.setdefault(name, []).append(call)
    return found


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])


def _declarations(data: bytes) -> Iterator[tuple[bytes, _Declared]]:
    """What the blocks ``cdef extern from`` declare: the name in Cython, the header and the name in C++."""
    header = namespace = owner = ""
    outer = indent = 0
    whole = _CONTINUED.sub(b" ", _QUOTED.sub(lambda m: _blank(m) if m[0][:1] == b"#" else m[0], data))
    for line in whole.split(b"\n"):
        opened = _EXTERN.match(line.lstrip())
        depth = len(line) - len(line.lstrip())
        if opened is not None:  # it may stand below `IF HAVE_CUDA:`
            header, namespace = opened[1].decode("utf-8", "replace"), (opened[2] or b"").decode("utf-8", "replace")
            owner, outer = "", depth
        elif line.strip() and depth <= outer:
            header = ""
        elif header and (within := _CLASS.match(line)) is not None:
            owner, indent = within[2].decode(), depth
        elif header and (found := _DECLARED.match(line)) is not None and found[1] not in _NO_NAMES:
            scope, _, plain = (found[2] or found[1]).rpartition(b"::")
            owner = owner if depth > indent else ""
            name = owner.encode() + b"." + found[1] if owner else found[1]
            yield name, _Declared(header, scope.decode() or namespace, plain.decode(), owner)


def _methods(data: bytes, known: Mapping[bytes, _Declared]) -> dict[tuple[bytes, bytes], _Declared]:
    """The methods of C++ that may be called on the objects of a source: by the name of the object and the method."""
    found: dict[tuple[bytes, bytes], _Declared] = {}
    for owner in sorted({one.owner for one in known.values() if one.owner}):
        objects = {match[1] for match in re.finditer(_OBJECT % owner.encode(), data)}
        methods = [(name.rpartition(b".")[2], one) for name, one in known.items() if one.owner == owner]
        found |= {(receiver, name): one for receiver in objects for name, one in methods}
    return found


def _imported(data: bytes, declared: Mapping[str, Mapping[bytes, _Declared]]) -> dict[bytes, _Declared]:
    """What ``from a.b cimport f`` takes from a file of declarations."""
    found = {}
    for match in _IMPORTED.finditer(data):
        ending = match[1].decode().strip(".").replace(".", "/") + ".pxd"
        homes = [d for p, d in declared.items() if f"/{p}".endswith(f"/{ending}")]
        for home in homes if len(homes) == 1 else ():
            for one in (match[2] or match[3] or b"").split(b","):
                name, _, alias = (part.strip() for part in one.strip().partition(b" as "))
                if name in home:
                    found[alias or name] = home[name]
                found |= {
                    n: d for n, d in home.items() if d.owner == name.decode("utf-8", "replace") and n not in found
                }
    return found


def _calls(path: str, data: bytes, known: Mapping[bytes, _Declared]) -> Iterator[tuple[str, Call]]:
    """The calls of these names inside functions."""
    scopes: list[tuple[int, str]] = []
    methods = _methods(data, known)
    declaring: int | None = None
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip() or line.strip()[:1] in (b")", b"]"):
            continue
        indent = len(line) - len(line.lstrip())
        while scopes and indent <= scopes[-1][0]:
            scopes.pop()
        if declaring is not None and indent > declaring:
            continue  # what is declared is not called there
        declaring = indent if _OPENING.match(line.lstrip()) is not None else None
        opened = _SCOPE.match(line) if declaring is None else None
        if opened is not None:
            scopes.append((indent, opened[2].decode()))
            continue
        for match in _CALLED.finditer(line) if scopes else ():
            receiver = _RECEIVER.search(line[: match.start()])
            if receiver is not None:
                one = methods.get((receiver[1] or receiver[2], match[1]))
            else:
                one = known.get(match[1]) if line[: match.start()].rstrip()[-1:] != b"." else None
            if one is not None:
                place = Location(path, number, match.start(1) + 1, number, match.end(1) + 1)
                name = f"{one.owner}::{one.name}" if one.owner else one.name
                yield name, Call(one.header, one.namespace, path, place, tuple(n for _, n in scopes))


def of_function(
    repository: Repository, name: str, path: str, namespaces: tuple[str, ...], takes: int | None = None
) -> list[Call]:
    """The calls that mean a function of a source: by its name and namespace, and by their header.

    The source includes that header, or bears its name beside it; or the header declares a function in that namespace
    that takes so many arguments.
    """
    named = [one for one in repository.derived(calls, "").get(name, []) if _within(one.namespace, namespaces)]
    reached = repository.reachable(path) if named else frozenset()
    found = []
    for one in named:
        header = repository.source_named(one.header, one.path) or ""
        beside = header in reached or header.rpartition(".")[0] == path.rpartition(".")[0]
        if beside or (one.namespace and header and takes in _declares(repository.data(header), name)):
            found.append(one)
    return found


def _declares(header: bytes, name: str) -> set[int]:
    """How many arguments the functions of a name take that a header declares."""
    found = set()
    for opening in re.finditer(rb"[\w>*&]\s+" + re.escape(name.encode()) + rb"\s*(?=\()", header):
        listed = arguments(header, opening.end())
        found |= {len(listed[0])} if listed is not None else set()
    return found


def _within(written: str, namespaces: tuple[str, ...]) -> bool:
    return not written or not namespaces or written.rpartition("::")[2] in namespaces


def step(call: Call) -> Step:
    """The step of a chain that says where the call is."""
    return Step(call.place, f"called from Cython in `{'.'.join(call.scope)}`")
