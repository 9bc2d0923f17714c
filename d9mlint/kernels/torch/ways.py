"""From a site to the op in PyTorch and in PyTorch extensions.

kernel -> launcher -> dispatchers -> registration (pybind11, ``TORCH_LIBRARY``, ``native_functions.yaml``) -> Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from d9mlint.kernels.flow import Anchor, Way, strongest
from d9mlint.kernels.guards import TORCH, guard_before, mentions
from d9mlint.kernels.sites.names import KNOWN
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.switches import switch_before, with_default
from d9mlint.kernels.torch import aten as torch_aten
from d9mlint.kernels.torch import registries
from d9mlint.kernels.torch.blocks import Block
from d9mlint.kernels.torch.callers import Callers
from d9mlint.kernels.torch.presence import is_bound
from d9mlint.kernels.torch.python import Binder, Met
from d9mlint.kernels.torch.routes import C_FUNCTION, EXPRESSED, LOADED, TVM_FFI, Export, Route, routes
from d9mlint.model import Location
from d9mlint.model.kernel import Guard

_BY_NAME = (C_FUNCTION, LOADED, EXPRESSED, TVM_FFI)
"""What Python finds by its name: an op only where Python does."""
_MAX_LEVELS = 6
"""Wrappers in wrappers."""


def ways(repository: Repository, anchors: Iterable[Anchor]) -> list[Way]:
    """The ways from each anchor to each op."""
    listed = list(anchors)
    if not listed or not is_bound(repository):
        return []
    callers = Callers(repository)
    aten = torch_aten.read(repository)
    found: list[tuple[Location, Route]] = []
    for block, before, places in _starts(callers, listed):
        if block.template and block.name.encode() in KNOWN:
            continue  # for the types of CUDA's own function of that name that one is called, not a template
        for route in routes(callers, block, aten.functions, _guard, before):
            found += [(place, route) for place in places]
    found += _of_overloads(found, listed)
    binder = Binder(repository)
    exports = dict.fromkeys(r.export for _, r in found if not r.export.name.startswith("aten::"))
    met = {e: binder.met(e) if e.framework == "torch" else registries.met(e, binder) for e in exports}
    found = [one for one in found if one[1].export.framework not in _BY_NAME or met[one[1].export].chain]
    return list(_both([way for place, route in found for way in _ways(place, route, met, aten, binder)]))


def _of_overloads(found: list[tuple[Location, Route]], anchors: Iterable[Anchor]) -> list[tuple[Location, Route]]:
    """The routes of the sites that call an own function with the name of an atomic, for the atomics in its body."""
    routes: dict[Location, list[Route]] = {}
    for place, route in found:
        routes.setdefault(place, []).append(route)
    more: dict[tuple[Location, Export], tuple[Location, Route]] = {}
    fresh = list(routes)
    inner = {one.location: one.inner for one in anchors}
    for _ in range(_MAX_LEVELS):
        following = []
        for place in fresh:
            for below in inner.get(place, ()):
                if below not in routes:
                    following.append(below)
                    for route in routes.get(place, ()):
                        more.setdefault((below, route.export), (below, route))
        for place, route in more.values():
            if place in following:
                routes.setdefault(place, []).append(route)
        fresh = following
    return list(more.values())


def _both(ways: list[Way]) -> Iterator[Way]:
    """The ways, where an op is reached both as itself and as its own gradient, with that said."""
    directions: dict[str, set[str]] = {}
    for way in ways:
        directions.setdefault(way.op, set()).add(way.direction)
    for way in ways:
        mixed = len(directions[way.op]) > 1
        yield way._replace(direction="both") if mixed else way


def _starts(callers: Callers, anchors: Iterable[Anchor]) -> list[tuple[Block, Guard, list[Location]]]:
    """The blocks that hold the anchors, in order, each with its anchors behind the same guard (of a library call)."""
    found: dict[tuple[Block, Guard], list[Location]] = {}
    for anchor in sorted(anchors, key=lambda a: a.location):
        block = _around(callers, anchor)
        if block is not None:
            before = _guard(block, _byte(block.unit.data, anchor.location))
            found.setdefault((block, before), []).append(anchor.location)
    return [(block, before, places) for (block, before), places in found.items()]


def _byte(data: bytes, at: Location) -> int:
    rows = data.splitlines(keepends=True)
    row = rows[at.line - 1] if at.line <= len(rows) else b""
    start = sum(len(r) for r in rows[: at.line - 1])
    return start + len(row.decode("utf-8", "replace")[: at.column - 1].encode("utf-8", "replace"))


def _around(callers: Callers, anchor: Anchor) -> Block | None:
    """The function or macro that holds an anchor; a function that a macro makes is known by its name alone."""
    line = anchor.location.line
    macro = None
    for block in callers.blocks(anchor.location.path).blocks:
        node = block.function.node if block.function is not None else None
        first, last = (node.start_byte, node.end_byte) if node is not None else (block.start, block.end)
        place = block.unit.span(first, last)
        if not place.line <= line <= place.end_line:
            continue
        if block.kind == "macro":
            macro = block
        elif block.kind == "function":
            return block
    return macro if macro is not None else _expanded(callers, anchor)


def _expanded(callers: Callers, anchor: Anchor) -> Block | None:
    unit = callers.repository.unit(anchor.location.path)
    if unit is None or not anchor.name:
        return None
    start = _byte(unit.data, anchor.location)
    return Block(unit, "function", anchor.name, start, start + 1, {}, None, anchor.scope)


def _guard(block: Block, place: int) -> Guard:
    """What deterministic mode does in a function before a place."""
    if block.function is None:
        return Guard()
    mode = mentions(block.unit.data, TORCH)
    found = guard_before(block.unit, block.function.node, place, TORCH) if mode else Guard()
    return switch_before(block.unit, block.function.node, place) if found.level == "none" else found


def _public(dotted: str, binder: Binder) -> tuple[str, ...]:
    """``torch.nn.functional.f`` stands for ``torch._C._nn.f``, which ``torch/nn/functional.py`` may call otherwise."""
    prefix, _, name = dotted.rpartition(".")
    return (binder.public(f"torch._C._nn.{name}") if prefix == torch_aten.FUNCTIONAL else ()) or (dotted,)


def _ways(
    place: Location, route: Route, met: dict[Export, Met], aten: torch_aten.Aten, binder: Binder
) -> Iterator[Way]:
    export = route.export
    if export.name.startswith("aten::"):
        name = export.name.removeprefix("aten::")
        direction, python, gradient = aten.met(name)
        python = tuple(dict.fromkeys(n for dotted in python for n in _public(dotted, binder)))
        yield Way(export.name, "torch", python, direction, gradient, place, route.guard, route.chain, route.only)
        return
    found = met[export]
    if export.framework in _BY_NAME:
        found = found._replace(name=found.nearest or found.name)
    framework = "torch" if export.framework == "torch" else ""
    direction = "backward" if route.backward else found.direction
    gradient = found.gradient_of or ((export.name,) if route.backward else ())
    guard = with_default(route.guard, found.defaults)
    if guard.switch and guard.level == "none" and found.handed.where is not None:
        guard = found.handed  # deterministic mode sets the switch
    guard = strongest((guard, found.guard))
    yield Way(
        found.name, framework, found.python, direction, gradient, place, guard, (*route.chain, *found.chain),
        route.only,
    )  # fmt: skip
