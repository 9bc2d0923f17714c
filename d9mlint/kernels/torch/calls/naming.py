"""Which of several functions of one name a call means, as far as the namespaces tell: ``A::run`` is not ``B::run``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from d9mlint.kernels.sites.wrappers import declarator_of
from d9mlint.kernels.source.repository import Repository, shared_parts
from d9mlint.kernels.source.unit import namespaces as enclosing
from d9mlint.kernels.torch.blocks import Block

_QUALIFIER = re.compile(rb"((?:\w+\s*(?:<[^<>;{}()]*>\s*)?::\s*)+)\Z")
_LAMBDA = re.compile(rb"\bauto\s+(\w+)\s*=\s*\[")
_USING = re.compile(rb"^[ \t]*using[ \t]+namespace[ \t]+([\w:]+)[ \t]*;", re.MULTILINE)
_ALIAS = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*([\w:\s]+);")
_DERIVED = re.compile(
    rb"\btemplate\s*<\s*(?:typename|class)\s+(\w+)\s*>\s*(?:class|struct)\s+(\w+)\s*(?:final\s*)?:"
    rb"(?:[^{;]{0,200},)?\s*(?:public\s+)?\1\s*[,{]"
)
_LIBRARIES = frozenset(("std", "thrust", "cub", "boost", "absl", "folly", "cutlass", "cute", "Eigen"))
"""Namespaces of libraries, whose functions are no functions of a project that has no such namespace."""
_INNER = frozenset(("priv", "detail", "details", "impl", "internal"))
"""Namespaces of implementations: ``pkg::Op`` hands its calls on to ``pkg::priv::Op``."""
_MAX_BEFORE = 200


@functools.lru_cache(maxsize=4096)
def namespaces(block: Block) -> tuple[str, ...]:
    """The named namespaces around the definition of a function, the outermost first; also those of ``ns::f``.

    Each search for callers asks for those of all namesakes.
    """
    if block.function is None:
        return ()
    declarator = declarator_of(block.function.node)
    named = declarator.child_by_field_name("declarator") if declarator is not None else None
    written = (named.text or b"").decode("utf-8", "replace") if named is not None else ""
    own = _parts(re.sub(r"<.*", "", written))[:-1]
    return (*enclosing(block.function.node), *own)


def meant(other: Block, block: Block, place: int, namesakes: Iterable[Block]) -> bool:
    """Whether the name at a place of another block can be this free function, or the class of this method.

    A name means the one, of all functions (or classes) of that name, in the innermost of the namespaces around it that
    has one. Where free functions bear the name of a class, too, none is taken for a class of another namespace.
    """
    listed = list(namesakes)
    rivals = {around(one) for one in listed}
    doubtful = block.scope != "" and any(not one.scope for one in listed)
    own, here = around(block), around(other)
    data = other.unit.data
    written = _QUALIFIER.search(data, max(0, place - _MAX_BEFORE), place)
    parts = _parts(re.sub(r"<[^>]*>", "", written[1].decode("utf-8", "replace"))) if written is not None else []
    if parts and other.unit is block.unit and lost(block, parts[-1]):
        return True
    known = {own, *rivals}
    if len(known) > 1:
        for depth in range(len(here), -1, -1):  # from the namespaces around it outwards
            if (full := (*here[:depth], *parts)) in known and full:
                return full == own or (block.scope != "" and _public(full) == _public(own))
        used = known & _used(data) if not parts else frozenset()
        if used:
            return own in used
    if parts:
        if parts[-1] in (own[-1:] if doubtful else own):
            return True
        return _aliases(data).get(parts[-1]) in own if own else parts[-1] not in _LIBRARIES
    if not own or here[: len(own)] == own:
        return True
    return not doubtful and not any(rival and rival != own and here[: len(rival)] == rival for rival in rivals)


def lost(block: Block, name: str) -> bool:
    """Whether a function of no namespace may stand in one that begins before it, of which the parser lost the end."""
    if around(block):
        return False
    opened = re.compile(rb"^[ \t]*namespace\s+" + name.encode() + rb"\b", re.MULTILINE)
    return opened.search(block.unit.data, 0, block.start) is not None


def hides(block: Block, name: bytes) -> bool:
    """Whether a name means a lambda that a block holds: ``auto launch = [&](auto tag) {...}; launch(Tag{});``."""
    held = _lambdas(block.unit.data).get(name, ())
    at = block.unit.data.find(name, block.start, block.end) if held else -1
    first = max(block.start, at - _MAX_BEFORE)
    return at >= 0 and any(first <= start and end <= block.end for start, end in held)


def _public(namespace: tuple[str, ...]) -> tuple[str, ...]:
    """A namespace without the parts that hold what a class of the same name outside of them stands for."""
    return tuple(name for name in namespace if name not in _INNER)


def around(block: Block) -> tuple[str, ...]:
    """The named namespaces around a function, or around the class whose method it is."""
    return tuple(name for name in namespaces(block) if name != block.scope)


def nearest_class(other: Block, block: Block, homes: set[tuple[str, ...]]) -> bool:
    """Whether who calls a method of a base class can mean that of this block: no namesake of the base is nearer."""
    own, here = around(block), around(other)
    base = max(sorted(homes), key=lambda home: shared_parts(home, own), default=own)
    return all(shared_parts(here, home) <= shared_parts(here, base) for home in homes)


def same_class(one: Block, other: Block) -> bool:
    """Whether two methods are of one class, which may be defined in two sources."""
    if not one.scope or one.scope != other.scope:
        return False
    return around(one) == around(other)


def other_names(repository: Repository, name: str) -> frozenset[bytes]:
    """What ``using Table = Map<int, float>;`` and typedefs call a class beside its own name.

    Also ``using Held = Holder<Table>;`` where the template is derived from what it is given.
    """
    word = re.escape(name.encode())
    heirs = sorted(repository.derived(_derived, ""))
    given = rb"\s*(?:<[^;{}()]*>)?\s*"
    held = rb"(?:(?:\w+\s*::\s*)*(?:" + rb"|".join(map(re.escape, heirs)) + rb")\s*<\s*)?" if heirs else rb""
    made = re.compile(
        rb"\busing\s+(\w+)\s*=\s*"
        + held
        + rb"(?:\w+\s*::\s*)*"
        + word
        + given
        + (rb">?\s*;" if heirs else rb";")
        + rb"|\btypedef\s+(?:\w+\s*::\s*)*"
        + word
        + given
        + rb"\b(\w+)\s*;"
    )
    texts = (repository.data(path) for path in repository.holding(name.encode()))
    found = (match for text in texts if b"using" in text or b"typedef" in text for match in made.finditer(text))
    return frozenset(match[1] or match[2] for match in found) - {name.encode()}


def _derived(repository: Repository, _: str) -> frozenset[bytes]:
    """The templates of classes that are derived from their parameter: ``struct Holder : Base, T``."""
    paths = repository.holding(b"template")
    texts = (data for path in paths if b"using" in (data := repository.data(path)) and b": " in data)
    return frozenset(match[2] for text in texts for match in _DERIVED.finditer(text))


@functools.lru_cache(maxsize=256)
def _lambdas(data: bytes) -> dict[bytes, list[tuple[int, int]]]:
    """Where a source begins lambdas, by their names; it is asked for each mention in it."""
    found: dict[bytes, list[tuple[int, int]]] = {}
    for match in _LAMBDA.finditer(data) if b"auto" in data else ():
        found.setdefault(match[1], []).append(match.span())
    return found


@functools.lru_cache(maxsize=256)
def _used(data: bytes) -> frozenset[tuple[str, ...]]:
    """The namespaces whose names a source uses without saying so; it is asked for each mention in it."""
    return frozenset(tuple(_parts(m[1].decode())) for m in _USING.finditer(data))


@functools.lru_cache(maxsize=256)
def _aliases(data: bytes) -> dict[str, str]:
    """The last part of what each ``namespace x = a::b`` of a source names; it is asked for each mention in it."""
    return {m[1].decode(): _parts(m[2].decode())[-1] for m in _ALIAS.finditer(data)}


def _parts(name: str) -> list[str]:
    return [part.strip() for part in name.split("::") if part.strip()]
