"""TensorFlow's kernel registrations: which class computes which op on which device.

``REGISTER_KERNEL_BUILDER(Name("X").Device(DEVICE_GPU).TypeConstraint<T>("T"), XOp<GPUDevice, T>)``, mostly written
through macros of the file or of a header (``tensorflow/core/framework/op_kernel.h``).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.source.includes import Includes
from d9mlint.kernels.source.lexical import arguments
from d9mlint.kernels.source.preprocess import Expander, Macro, Undefined, apply, blank, cleaned, directives, table
from d9mlint.kernels.source.repository import MAX_BYTES, Repository
from d9mlint.kernels.source.unit import unparsed
from d9mlint.kernels.tensorflow.presence import REGISTERING
from d9mlint.model import Location

NEEDLE = b"REGISTER"
"""What a source holds that registers kernels, itself or through a macro of a header."""
_BUILDER = re.compile(r"REGISTER_(?<!\wREGISTER_)(?:\w+_)?KERNEL_BUILDER(?:_\w+)?\b")
_REGISTER = re.compile(r"(REGISTER\w*)\s*\(")
# The first letter in front, so that the search skips ahead to it; only then that nothing else is before it.
_USE = re.compile(r"([A-Z](?<!\w.)\w*)\s*\(")
_NAME = re.compile(r'\bName\s*\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)\)')
_DEVICE = re.compile(r'\bDevice\s*\(\s*(?:\w+\s*::\s*)*(?:DEVICE_(\w+)|"(\w+)")\s*\)')
_TYPE = re.compile(r'\bTypeConstraint\s*<\s*([^"]{1,200}?)\s*>\s*\(\s*"(\w+)"\s*\)')
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_WORD = re.compile(r"\w+")
MAX_REGISTRATIONS = 1500
"""How many of one file are looked at."""
MAX_UNCLOSED = 50
"""After so many parentheses that never close, a file is no source."""


class Registration(NamedTuple):
    """A class as the kernel of an op on a device (``GPU``, ``CPU``); ``types`` are its (attribute, type) constraints.

    ``class_`` is the C++ expression with all macros replaced; the location is where it, or its macro, is used.
    """

    location: Location
    op: str
    device: str
    class_: str
    types: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The identifiers of the class expression."""
        return frozenset(_WORD.findall(self.class_))


def registrations(repository: Repository, path: str, includes: Includes, device: str = "") -> list[Registration]:
    """The kernel registrations of a file, by place, for one device or all.

    What macros of headers up to two includes away expand to is among them.
    """
    data = repository.data(path)
    if NEEDLE not in data or len(data) > MAX_BYTES or b"\0" in data:
        return []
    near = includes.near(path)
    if repository.looked(REGISTERING).keys().isdisjoint({path, *near}):
        return []
    text = cleaned(data)
    found = directives(text)
    bare = _without(text, found)
    foreign = _foreign(repository, near, bare, {d.name for d in found})
    bodies = [(d.name, frozenset(_WORD.findall(d.body))) for d in (*found, *foreign) if isinstance(d, Macro)]
    leading = _leading(bodies, {word for _, words in bodies for word in words if _BUILDER.fullmatch(word)})
    naming = {device, f"DEVICE_{device}"}
    naming |= _leading(bodies, naming)
    own: dict[str, tuple[Macro, ...]] = {}
    outer = table(foreign)
    macros = dict(outer)
    expander = Expander(macros)
    opaque = frozenset(d.name for d in (*found, *foreign) if _BUILDER.fullmatch(d.name))
    pending = deque(found)
    places = repository.unit(path) or unparsed(path, data)
    result: dict[Registration, None] = {}
    for start, end in _uses(bare, leading):
        spelled = bare[start:end]
        words = frozenset(_WORD.findall(spelled))
        # A device that stands nowhere on the way cannot come out of it.
        if device and naming.isdisjoint(words):
            continue
        if pending and pending[0].start < start:
            while pending and pending[0].start < start:
                apply(pending.popleft(), own)
            macros.clear()
            macros |= outer | own
        spelled = expander.expand(spelled, opaque)
        result.update(dict.fromkeys(_read(spelled, places.span(start, end), device)))
        if len(result) >= MAX_REGISTRATIONS:
            break
    return sorted(result)


def _without(text: str, found: list[Macro | Undefined]) -> str:
    """The text with blanks for its directives."""
    out, at = [], 0
    for directive in found:
        out += [text[at : directive.start], blank(text[directive.start : directive.end])]
        at = directive.end
    return "".join([*out, text[at:]])


def _foreign(repository: Repository, headers: frozenset[str], bare: str, own: set[str]) -> list[Macro | Undefined]:
    """The macros of headers that registration-like calls of a file need, with those that these need."""
    wanted = {u for u in _registering(bare) if u not in own and not _BUILDER.match(u)}
    wanted -= {"REGISTER_OP", "REGISTER"} if "REGISTER" in own else {"REGISTER_OP"}
    if not wanted:
        return []
    defining = [
        h for h in sorted(headers) if any(b"define " + w.encode("latin-1") in repository.data(h) for w in wanted)
    ]
    macros = [d for h in defining for d in directives(cleaned(repository.data(h))) if isinstance(d, Macro)]
    # Their place is in another file: put them before everything.
    return [Macro(m.name, m.parameters, m.body, 0, 0) for m in macros]


def _registering(text: str) -> Iterator[str]:
    """What is called with a name in capitals that holds ``REGISTER``."""
    for match in _REGISTER.finditer(text):
        start = match.start()
        while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        if "A" <= text[start] <= "Z":
            yield text[start : match.end(1)]


def _leading(bodies: list[tuple[str, frozenset[str]]], wanted: set[str]) -> frozenset[str]:
    """The macros, given with the words of their bodies, whose expansion holds a wanted word, perhaps through others."""
    pending = [name for name, words in bodies if not words.isdisjoint(wanted)]
    used_by: dict[str, list[str]] = {}
    for name, words in bodies:
        for word in words:
            used_by.setdefault(word, []).append(name)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += used_by.get(name, ())
    return frozenset(found)


def _uses(bare: str, leading: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The registrations of a file and the uses of macros that lead to some: first byte and end."""
    data = bare.encode("latin-1", "replace")
    at = unclosed = 0
    for match in _USE.finditer(bare):
        if match.start() < at:
            continue
        name = match[1]
        if not (name in leading or name.startswith("TF_CALL_") or _BUILDER.fullmatch(name)):
            continue
        split = arguments(data, match.end() - 1)
        if split is None:
            unclosed += 1
            if unclosed > MAX_UNCLOSED:
                return
            continue
        if name.startswith("TF_CALL_") and leading.isdisjoint(_WORD.findall(bare[match.end() : split[1]])):
            continue
        at = split[1]
        yield match.start(), at


def _read(text: str, place: Location, wanted: str) -> Iterator[Registration]:
    data = text.encode("latin-1", "replace")
    for match in _BUILDER.finditer(text):
        opening = text.find("(", match.end())
        split = arguments(data, opening) if opening >= 0 and not text[match.end() : opening].strip() else None
        if split is None or len(split[0]) < 2:
            continue
        pieces = [text[a:b] for a, b in split[0]]
        builder, device = pieces[0], _DEVICE.search(pieces[0])
        if device is None or wanted not in ("", device[1] or device[2]):
            continue
        name = _NAME.search(builder)
        if name is None:
            continue
        op = "".join(_LITERAL.findall(name[1]))
        class_ = " ".join(",".join(pieces[1:]).split())
        types = tuple((attribute, " ".join(type_.split())) for type_, attribute in _TYPE.findall(builder))
        yield Registration(place, op, device[1] or device[2], class_, types)
