"""What the bodies of wrappers and macros come to where all their uses in the repository agree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from d9mlint.kernels.judging.judge import Judgement
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.names import INTRINSICS
from d9mlint.kernels.sites.wrappers import visible
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.mentions import HEADERS
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import Location

_ROUNDS = ("add", "sub", "mul", "div", "")
"""What a CAS loop computes when the order of its steps may change the rounding; empty: a function that is handed in."""
_VARYING = frozenset(("yes", "conditional"))
_ANY_ORDER = frozenset(("add", "sub", "min", "max", "and", "or", "xor"))
_OLD = re.compile("[:;] the old value")
_MAX_LEVELS = 20
_CALLS = ("wrapper", "wrapper-def")
_MAX_CHAIN = 4
"""How many wrappers around each other are given the class of what they call."""

Used = tuple[Atomic, Judgement]


def settled(atomics: Sequence[Atomic], judgements: Sequence[Judgement], repository: Repository) -> list[Judgement]:
    """The judgements; what depends on its uses gets the verdict of these where it is one.

    A body that only is exact if nobody uses the old value is exact where nobody does. That each sum of a wrapper is
    exact where it is used (one thread a cell) says nothing of the wrapper.
    """
    return _Uses(list(zip(atomics, judgements, strict=True)), repository).settled()


class _Uses:
    def __init__(self, every: list[Used], repository: Repository) -> None:
        self._all = every
        self._repository = repository
        self._of: defaultdict[Location, list[Used]] = defaultdict(list)
        self._named: defaultdict[str, list[Used]] = defaultdict(list)
        self._known: dict[Location, Judgement] = {}
        self._types: defaultdict[Location, set[str]] = defaultdict(set)
        for atomic, judged in self._all:
            self._types[atomic.location] |= target_types(judged)
            for place in dict.fromkeys(one.location for one in atomic.inner):
                self._of[place].append((atomic, judged))
            if atomic.form == "direct":
                self._named[atomic.name].append((atomic, judged))

    def settled(self) -> list[Judgement]:
        meant = [self._judged(atomic, judged, 0) for atomic, judged in self._all]
        for _ in range(_MAX_CHAIN):
            before, meant = meant, self._classed(meant)
            if meant == before:
                break
        return meant

    def _classed(self, meant: list[Judgement]) -> list[Judgement]:
        """The judgements, uses of wrappers whose type is not known with the class of the bodies."""
        told: defaultdict[Location, list[Judgement]] = defaultdict(list)
        for (atomic, _), judged in zip(self._all, meant, strict=True):
            told[atomic.location].append(judged)
        found = []
        for (atomic, _), judged in zip(self._all, meant, strict=True):
            opened = judged.class_ == "unknown" and atomic.form in _CALLS
            places = dict.fromkeys(one.location for one in atomic.inner) if opened else ()
            found.append(_of_bodies(judged, [body for place in places for body in told[place]]))
        return found

    def _judged(self, atomic: Atomic, judged: Judgement, level: int) -> Judgement:
        """The judgement of a site, after those of its uses."""
        place = atomic.location
        if judged.verdict != "depends" or level > _MAX_LEVELS:
            return judged
        if place not in self._known:
            self._known[place] = judged  # what calls itself ends here
            self._known[place] = self._taken_over(atomic, judged, level)
        return self._known[place]

    def _taken_over(self, atomic: Atomic, judged: Judgement, level: int) -> Judgement:
        users = [(one, said) for one, said in self._of[atomic.location] if self._means(one, said, judged)]
        users += self._of_overload(atomic, judged)
        meant = [self._judged(one, said, level + 1) for one, said in users]
        verdicts = {said.verdict for said in meant}
        several = f"each of its {len(meant)} uses" if len(meant) > 1 else "its only use"
        reason = judged.reason.partition("; it depends on")[0]
        if not verdicts and _of_host(atomic) and _sums(judged):
            verdict = "conditional" if any(kind(t) == "integer" for t in target_types(judged)) else "yes"
            return judged._replace(verdict=verdict, reason=f"{reason}; a function of the host launches it")
        if not verdicts and self._uncalled(atomic):
            exact = set(judged.words) <= _ANY_ORDER and bool(judged.words) and not _sums(judged)
            class_ = "commutative-exact" if exact and judged.class_ == "order-dependent" else judged.class_
            return judged._replace(class_=class_, reason=f"{reason}; nothing in these sources calls it")
        if not verdicts or "depends" in verdicts:
            return judged
        if verdicts <= _VARYING and all(_alike(judged, said) for said in meant):
            verdict = "yes" if "yes" in verdicts else "conditional"
            class_ = "float-accumulate" if judged.class_ == "unknown" and all(map(_sums, meant)) else judged.class_
            reason = f"{reason}; {several} here can vary"
            return judged._replace(class_=class_, verdict=verdict, reason=reason, by_uses=True)
        exact = verdicts == {"no"} and not any(_sums(one) or one.class_ == "order-dependent" for one in meant)
        unread = _whole(judged) and all(said.return_use == "unused" for said in meant)
        if (exact or unread) and judged.return_use == "forwarded" and not _sums(judged):
            reason = f"{_OLD.split(judged.reason)[0]}; {several} here leaves the old value"
            class_ = "cas-loop" if judged.class_ == "cas-loop" else "commutative-exact"
            return judged._replace(class_=class_, verdict="no", reason=reason, by_uses=True)
        return judged

    def _uncalled(self, atomic: Atomic) -> bool:
        """Whether the name of a wrapper stands in the sources only where functions of that name are defined.

        As a string alone it calls nothing.
        """
        function = atomic.function
        if function is None or atomic.form not in ("wrapper-def", "ptx") or function.name in INTRINSICS:
            return False
        word = function.name.encode()
        for path in self._repository.holding(word):
            unit = self._repository.unit(path)
            own = sum(one.name == function.name for one in unit.functions()) if unit is not None else 0
            data = self._repository.data(path)
            named = [p for p in word_places(data, word) if data[max(0, p - 1) : p + len(word) + 1] != b'"%s"' % word]
            if len(named) != own:
                return False
        return function.name.isidentifier()

    def _means(self, user: Atomic, use: Judgement, body: Judgement) -> bool:
        """Whether a use may mean a body: of several overloads, that of its types.

        They tell nothing where no body is of the types of the use: ``atomicMax((int*)address, ...)`` for floats.
        """
        bodies = {(i.location.path, i.function.node.start_byte) for i in user.inner if i.function is not None}
        mine, other = target_types(body), target_types(use)
        if len(bodies) < 2 or not mine or not other or mine & other:
            return True
        return all(other.isdisjoint(self._types[inner.location]) for inner in user.inner)

    def _of_overload(self, atomic: Atomic, judged: Judgement) -> list[Used]:
        """The uses of an overload that a project adds to an atomic of CUDA's: ``atomicAdd(half* address, half x)``."""
        own, mine = atomic.function, target_types(judged)
        if own is None or own.name not in INTRINSICS or not mine:
            return []
        return [
            (one, said)
            for one, said in self._named[own.name]
            if (one.location.path != atomic.location.path or one.function is None or one.function.node != own.node)
            and (not said.target_type or mine & target_types(said))
            and visible(self._repository, one.location.path, atomic.location.path)
        ]


def _of_host(atomic: Atomic) -> bool:
    """Whether the body is one of a function of the host (with a lambda for the device): callers may be anywhere."""
    function = atomic.function
    if function is None or atomic.form != "wrapper-def" or atomic.location.path.endswith(HEADERS):
        return False
    return not function.on_device and not function.scope


def _of_bodies(use: Judgement, bodies: list[Judgement]) -> Judgement:
    """A use of a wrapper whose type is not known, with the class of the bodies where all are sums that may round."""
    if use.verdict not in ("depends", "conditional") or not bodies or not all(map(_sums, bodies)):
        return use
    loops = {body.implements for body in bodies if body.class_ == "cas-loop"}
    if len(loops) == 1 and all(body.class_ == "cas-loop" for body in bodies):
        return use._replace(class_="cas-loop", implements=loops.pop())
    return use._replace(class_="float-accumulate")


def _alike(body: Judgement, use: Judgement) -> bool:
    """Whether a use can vary for what the body does: a sum for a sum, also for one of a type that is not visible."""
    open_sum = body.class_ == "unknown" and not ACCUMULATE.isdisjoint(body.words)
    return _sums(body) == _sums(use) or (open_sum and _sums(use))


def _whole(body: Judgement) -> bool:
    """Whether a body does to integers alone what any order does alike, whatever else its uses do to floats."""
    types, words = target_types(body), set(body.words)
    return bool(types and words) and words <= _ANY_ORDER and all(kind(t) == "integer" for t in types)


def _sums(one: Judgement) -> bool:
    return one.class_ == "float-accumulate" or (one.class_ == "cas-loop" and one.implements in _ROUNDS)


def target_types(judged: Judgement) -> frozenset[str]:
    """The types that the target may have; none where they are not known."""
    listed = judged.target_type.rpartition(" = ")[2]
    return frozenset(found for t in listed.split("|") if kind(found := t.strip()))
