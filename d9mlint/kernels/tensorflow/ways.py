"""From a site to the TensorFlow op: kernel, functor, OpKernel class, registration for the GPU, Python.

A way follows names: a function is used where its name stands in another body, a class where its name stands in a body,
a base clause or a registration. Inside a file every name counts, across files only those that a header declares (or, in
the same folder, a rare one). A specialisation for another device, or for another enumerator of the same enumeration
(``UpdateOp::ADD`` against ``UpdateOp::ASSIGN``), is not followed.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.flow import Anchor, Way, strongest
from d9mlint.kernels.guards import TENSORFLOW, guard_before, mentions
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.mentions import HEADERS, Mentions, Uses, uses_in
from d9mlint.kernels.source.owners import Owner, enumerators, only_declared, other_device, owner_at, place_of
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit
from d9mlint.kernels.switches import speaks, switch_before
from d9mlint.kernels.tensorflow.presence import is_tensorflow
from d9mlint.kernels.tensorflow.python import PythonApi, PythonIndex
from d9mlint.kernels.tensorflow.registrations import Registration, registrations
from d9mlint.model import Location
from d9mlint.model.kernel import GUARD_LEVELS, Guard, Step

MAX_STATES = 400
"""How many definitions one way may visit."""
MAX_USES = 60
"""How many uses of a name in one file are looked at; more are generated code."""


def ways(repository: Repository, anchors: Iterable[Anchor]) -> list[Way]:
    """For each site and each op that it reaches, the shortest way among the least guarded ones; by op and site."""
    anchors = list(anchors)
    if not anchors or not is_tensorflow(repository):
        return []
    return ways_of([Search(repository).reached(anchors)])


_Ops = list[tuple[str, Guard, tuple[Step, ...], PythonApi]]
"""The ops that a definition reaches: name, weakest guard, chain up to the registration, Python."""
Reached = list[tuple[Location, list[_Ops]]]
"""For each of some sites what is reached from the definition around it, a list for each of its specialisations."""


class Search:
    """The search for ways; sites do not need each other, so that several processes can share them."""

    def __init__(self, repository: Repository, uses: Uses | None = None) -> None:
        self._graph = _Graph(repository, uses or uses_in(repository))
        self._python = PythonIndex(repository)
        self._reached: dict[_State, _Ops] = {}

    def reached(self, anchors: Iterable[Anchor]) -> Reached:
        """What some sites reach."""
        return [(a.location, [self._ops(state) for state in self._graph.starts(a)]) for a in anchors]

    def _ops(self, state: _State) -> _Ops:
        if state not in self._reached:
            self._reached[state] = [
                (op, guard, steps, self._python.api(op, registration.location.path))
                for op, (guard, steps, registration) in sorted(_reached(self._graph, state).items())
            ]
        return self._reached[state]


def ways_of(reached: Iterable[Reached]) -> list[Way]:
    """The ways, from what all sites reach."""
    found: dict[tuple[str, Location], Way] = {}
    for site, special in itertools.chain.from_iterable(reached):
        for op, guard, steps, api in itertools.chain.from_iterable(special):
            known = found.get((op, site))
            if known is None or _weaker(guard, known.guard):
                own = (steps[0]._replace(location=site), *steps[1:], *api.steps)
                found[op, site] = Way(op, "tensorflow", api.names, api.direction, api.gradient_of, site, guard, own)
    return [found[key] for key in sorted(found)]


class _Edge(NamedTuple):
    """A use of a definition in another one, ``owner``, behind a guard.

    Its template arguments name ``enumerators``, those of the owner ``own``; ``elsewhere`` that one of both names a
    device that is no GPU.
    """

    owner: Owner
    location: Location
    enumerators: Mapping[str, str]
    own: Mapping[str, str]
    elsewhere: bool
    guard: Guard


class _State(NamedTuple):
    """A definition on the way, and the enumerators (by enumeration) that the way was specialised for so far.

    ``name`` is what a registration has to name: the definition or, for a macro, what led to the macro.
    """

    owner: Owner
    name: str
    fixed: tuple[tuple[str, str], ...]


class _Next(NamedTuple):
    """Where a way goes on from a state: the states behind its uses, each with a guard, and the ops registered for it.

    ``guard`` is that of the constructor, which stands before them all.
    """

    guard: Guard
    uses: tuple[tuple[_State, Guard, Step], ...]
    ops: tuple[tuple[Registration, Step], ...]


_Found = dict[str, tuple[Guard, tuple[Step, ...], Registration]]
_Registered = tuple[Registration, Mapping[str, str]]
"""A registration with the enumerators that its class names."""


def _reached(graph: _Graph, first: _State) -> _Found:
    """The ops that a definition reaches, each with its weakest guard and a shortest chain behind that."""
    best: dict[_State, tuple[Guard, tuple[Step, ...]]] = {first: (Guard(), (_step(first.owner, None),))}
    pending = deque([first])
    ops: _Found = {}
    while pending and len(best) < MAX_STATES:
        state = pending.popleft()
        guard, chain = best[state]
        after = graph.after(state)
        guard = strongest((guard, after.guard))
        for following, use, step in after.uses:
            known = best.get(following)
            behind = use if _weaker(guard, use) else guard
            if known is None or _weaker(behind, known[0]):
                best[following] = behind, (*chain, step)
                pending.append(following)
        for registration, step in after.ops:
            if registration.op not in ops or _weaker(guard, ops[registration.op][0]):
                ops[registration.op] = guard, (*chain, step), registration
    return ops


def _weaker(guard: Guard, known: Guard) -> bool:
    return (GUARD_LEVELS.index(guard.level), bool(guard.switch)) < (GUARD_LEVELS.index(known.level), bool(known.switch))


def _following(state: _State, owner: Owner, own: Mapping[str, str]) -> _State:
    name = state.name if owner.kind == "macro" else owner.class_ or owner.name
    return _State(owner, name, tuple(sorted({**own, **dict(state.fixed)}.items())) if own else state.fixed)


def _conflict(fixed: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return bool(fixed and other) and any(fixed.get(name, value) != value for name, value in other.items())


def _step(owner: Owner, location: Location | None) -> Step:
    if "__global__" in owner.qualifier:
        what = "kernel"
    elif "__device__" in owner.qualifier and "__host__" not in owner.qualifier:
        what = "device function"
    elif owner.name == "operator()" or owner.kind == "class":
        what = "class" if owner.kind == "class" else "functor"
    else:
        what = "method" if owner.scope else owner.kind
    shown = owner.scope if what == "functor" else owner.label
    return Step(location or Location(owner.path, 1, 1, 1, 1), f"{what} `{shown}`")


class _Graph:
    """The definitions of a repository and their uses, on demand."""

    def __init__(self, repository: Repository, uses: Uses) -> None:
        self._repository = repository
        self._mentions = Mentions(repository, uses)
        self._after: dict[_State, _Next] = {}
        self._edges: dict[Owner, tuple[_Edge, ...]] = {}
        self._uses_in: dict[tuple[str, str], list[_Edge]] = {}
        self._owners: dict[Location, Owner | None] = {}
        self._inner: set[Owner] = set()
        self._registrations: dict[str, Mapping[str, list[_Registered]]] = {}
        self._constructed: dict[Owner, Guard] = {}

    def starts(self, anchor: Anchor) -> list[_State]:
        """The definition that a site stands in, once for each enumerator that its wrapper is specialised for.

        A device function or macro of a header is a wrapper that everybody may use: its uses are sites themselves.
        """
        owner = self._owner(anchor.location)
        if owner is None:
            return []
        free = owner.kind == "macro" or (not owner.class_ and "__device__" in owner.qualifier)
        if free and owner.path.endswith(HEADERS):
            return []
        inner = [o.enumerators for o in map(self._owner, anchor.inner) if o is not None]
        special = [own for own in inner if own and not _conflict(owner.enumerators, own)]
        chosen = special if inner and len(special) == len(inner) else [{}]
        name = owner.class_ or owner.name
        states = (_State(owner, name, tuple(sorted((owner.enumerators | own).items()))) for own in chosen)
        return list(dict.fromkeys(states))

    def _owner(self, location: Location) -> Owner | None:
        if location not in self._owners:
            unit = self._repository.unit(location.path)
            place = place_of(unit, location) if unit is not None else None
            self._owners[location] = owner_at(unit, place) if unit is not None and place is not None else None
        return self._owners[location]

    def after(self, state: _State) -> _Next:
        """Where a way goes on from a state, without what is specialised otherwise."""
        found = self._after.get(state)
        if found is None:
            fixed = dict(state.fixed)
            uses = tuple(self._uses_of(state, fixed))
            ops = (
                (one, Step(one.location, f"op `{one.op}`, registered for GPU as `{one.class_}`"))
                for one, own in self._registered(state.owner, state.name)
                if not _conflict(fixed, own)
            )
            found = self._after[state] = _Next(self._in_constructor(state.owner), uses, tuple(ops))
        return found

    def _uses_of(self, state: _State, fixed: Mapping[str, str]) -> Iterator[tuple[_State, Guard, Step]]:
        """The uses of a state's definition; of several in one definition those that are less guarded than the first."""
        seen: dict[_State, Guard] = {}
        for edge in self._edges_to(state.owner):
            if _conflict(fixed, edge.enumerators) or _conflict(fixed, edge.own):
                continue
            following = _following(state, edge.owner, edge.own)
            known = seen.get(following)
            if known is None or _weaker(edge.guard, known):
                seen[following] = edge.guard
                yield following, edge.guard, _step(edge.owner, edge.location)

    def _edges_to(self, owner: Owner) -> tuple[_Edge, ...]:
        """All uses of a definition: a method that its own class calls is used there, any other with its class."""
        edges = self._edges.get(owner)
        if edges is None:
            calls = self._calls(owner)
            used = calls or self._calling(owner, tuple(self._used(owner)))
            edges = self._edges[owner] = tuple(e for e in used if not e.elsewhere)
            if calls:
                self._inner.add(owner)
        return edges

    def _calls(self, method: Owner) -> tuple[_Edge, ...]:
        """The uses of a method in other methods of its class, in its file."""
        if not method.scope or method.name in (method.scope, "operator()"):
            return ()
        used = self._in_file(method.path, method.name)
        return tuple(
            e for e in used
            if e.owner.scope == method.scope and e.owner.name not in (method.name, method.scope)
        )  # fmt: skip

    def _calling(self, method: Owner, used: tuple[_Edge, ...]) -> tuple[_Edge, ...]:
        """Of the uses of a class those that may call a method for the device.

        Where some device code that uses the class names the method, other device code that does not calls others.
        """
        if not method.scope or method.name.startswith(("operator", "~", method.scope)) or not _on_device(method):
            return used
        naming = [e for e in used if self._names(e.owner, method.name)]
        return tuple(e for e in used if e in naming or not _on_device(e.owner)) if naming else used

    def _names(self, owner: Owner, name: str) -> bool:
        if owner.node is None:
            return False
        data, node = self._repository.data(owner.path), owner.node
        return next(word_places(data, name.encode(), node.start_byte, node.end_byte), None) is not None

    def _used(self, owner: Owner) -> Iterator[_Edge]:
        name = owner.class_ or owner.name
        for path in self._files(owner):
            for edge in self._in_file(path, name):
                # Its own members and specialisations are no users.
                if name not in (edge.owner.class_, edge.owner.name):
                    yield edge

    def _files(self, owner: Owner) -> tuple[str, ...]:
        """The files where a definition may be used."""
        private = "__" in owner.qualifier or owner.kind == "macro"
        wide = owner.class_ or owner.path.endswith(HEADERS) or not private
        return self._mentions.files(owner.path, owner.class_ or owner.name) if wide else (owner.path,)

    def _in_file(self, path: str, name: str) -> list[_Edge]:
        """The uses of a name in a file."""
        if (path, name) not in self._uses_in:
            word = name.encode()
            idle = not word or only_declared(self._repository.data(path), word)
            unit = self._repository.unit(path) if not idle else None
            self._uses_in[path, name] = list(_uses(unit, word)) if unit is not None else []
        return self._uses_in[path, name]

    def _registered(self, owner: Owner, name: str) -> list[_Registered]:
        """The registrations with a name in their class, in the files where a definition is used.

        None for a method that its own class calls, which is known once its uses are.
        """
        if owner in self._inner:
            return []
        return [one for path in self._files(owner) for one in self._registered_in(path).get(name, ())]

    def _registered_in(self, path: str) -> Mapping[str, list[_Registered]]:
        """The registrations of a file by the words of their classes."""
        if path not in self._registrations:
            found: dict[str, list[_Registered]] = {}
            for one in registrations(self._repository, path, self._mentions.includes, "GPU"):
                if not other_device(one.class_):
                    own = enumerators(one.class_)
                    for word in one.words:
                        found.setdefault(word, []).append((one, own))
            self._registrations[path] = found
        return self._registrations[path]

    def _in_constructor(self, owner: Owner) -> Guard:
        """The guard in the constructor of a class."""
        if not owner.class_:
            return Guard()
        if owner not in self._constructed:
            self._constructed[owner] = _constructed(self._repository.unit(owner.path), owner.class_)
        return self._constructed[owner]


def _constructed(unit: Unit | None, name: str) -> Guard:
    if unit is None or not (mentions(unit.data, TENSORFLOW) or speaks(unit.data)):
        return Guard()
    nodes = [f.node for f in unit.functions() if f.name == f.scope == name]
    return strongest(_before(unit, n, n.end_byte - 1) for n in nodes)


def _before(unit: Unit, node: tree_sitter.Node, place: int) -> Guard:
    """What deterministic mode, else a switch of the author's own, does in a function before a place."""
    found = guard_before(unit, node, place, TENSORFLOW)
    return switch_before(unit, node, place) if found.level == "none" else found


def _on_device(owner: Owner) -> bool:
    return "__device__" in owner.qualifier or "__global__" in owner.qualifier


def _uses(unit: Unit, word: bytes) -> Iterator[_Edge]:
    """The uses of a word in the bodies of definitions; at namespace level nothing is behind it."""
    for at in itertools.islice(word_places(unit.data, word), MAX_USES):
        owner = owner_at(unit, at)
        if owner is None or at < owner.body:
            continue
        guard = _before(unit, owner.node, at) if owner.node else Guard()
        end = at + len(word)
        arguments = _template(unit.data, end)
        elsewhere = owner.on_host or other_device(arguments)
        yield _Edge(owner, unit.span(at, end), enumerators(arguments), owner.enumerators, elsewhere, guard)


def _template(data: bytes, at: int) -> str:
    """The template arguments that stand here, if they are short."""
    piece = data[at : at + 400].lstrip()
    if not piece.startswith(b"<"):
        return ""
    depth = 0
    for i, byte in enumerate(piece):
        depth += (byte == 60) - (byte == 62)
        if depth == 0:
            return piece[: i + 1].decode("utf-8", "replace")
        if byte in b";{":
            break
    return ""
