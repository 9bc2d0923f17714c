"""Who seeds the random generators of a program, and what may seed them out of sight."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from d9mlint.python.domain.conditions import Cond, both, by_default, conjuncts, flag_test, literal, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Inst, Obj, Ref, Unknown, Value
from d9mlint.python.frameworks.tensorflow.sessions import own_graph
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.frameworks.used import TENSORLAYERX, keras_backend, tlx_backend
from d9mlint.python.interpreter.library.environment import PICKLED, PROCESS, SPAWNED
from d9mlint.python.interpreter.library.workers import process_of
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.objects import is_own
from d9mlint.python.judging.processes import lacks_parent_state

FORKED = "forked-rng"
"""The context of a block that leaves the state of the generators as it was before: ``torch.random.fork_rng``."""
_SEED_WORDS = ("seed", "determin", "reproduc")
_OF_OBJECTS = frozenset({"to_deterministic"})
"""Methods that give a copy of their object (imgaug's augmenters) and seed nothing else."""
_KNOWN = ("builtins.", "torch.", "paddle.", "numpy.", "cupy.", "tensorflow.config.")
"""Libraries whose calls that seed are all in the catalogue: their switches of determinism seed nothing."""
_COMPILED = ("numba.njit", "numba.jit", "numba.core.decorators.njit", "numba.core.decorators.jit")


_BY_GRAPH = "tensorflow.examples.tutorials.mnist.input_data.read_data_sets"
"""(contrib/learn/python/learn/datasets/mnist.py: ``numpy.random.seed(seed1)``, which `random_seed.get_seed` gives.)"""


@dataclass(frozen=True, slots=True)
class Seeding:
    """A call that seeds ``generators``, the value given, and the condition under which it really fixes them."""

    event: Event
    generators: tuple[str, ...]
    value: Value | None
    fixes: Cond
    until: float = math.inf
    """The index of the event by which the function that seeds puts the generators back; mostly none does."""

    @property
    def lasts(self) -> bool:
        """Whether it says how the program goes on: it puts no state back, and none is put back after it."""
        return not self.restores and self.until == math.inf

    @property
    def restores(self) -> bool:
        """Whether it puts a saved state back, which a run does that goes on from a checkpoint."""
        return self.event.name.endswith("state")


def seedings(program: Program) -> list[Seeding]:
    """All calls that seed a global generator, in order (also those in functions that nobody calls)."""
    return program.once("seedings", _seedings)


def _seedings(program: Program) -> list[Seeding]:
    out: list[Seeding] = []
    for event in program.events:
        if loading.context(event):
            continue  # seeds what its loader draws, nothing else
        for effect in event.effects:
            generators = tuple(computed_with(program, event, compiled(event, g)) for g in effect.seeds if not is_own(g))
            if generators:
                value = event.argument(effect.seed_argument) if effect.seed_argument else None
                none = False if effect.default_seed else True if value is None else is_none(value)
                given = program.holds(event, effect.when)
                if given is not False:
                    generators = (*generators, *_by_backend(program, event))
                    out.append(Seeding(event, generators, value, both(*event.guards, given, negate(none))))
        if event.name == _BY_GRAPH and event.kind == "call" and program.target.fits("tensorflow", ">=1.2"):
            out += _by_graph(event, out)
    undoing = _readers_without_seed(program, out)
    return [replace(one, until=min(_put_back(one, out), _made_random(one, undoing))) for one in out]


def made_random(program: Program, draw: Event) -> list[Event]:
    """Where NumPy's generator is seeded from entropy before a draw, whatever was set before."""
    return [one for one in _readers_without_seed(program, seedings(program)) if one.index < draw.index]


def _readers_without_seed(program: Program, known: list[Seeding]) -> list[Event]:
    """The readers of MNIST that get no seed and find none in the graph: ``numpy.random.seed(None)``."""
    if not program.target.fits("tensorflow", ">=1.2"):
        return []
    seeding = {id(one.event) for one in known}
    return [one for one in program.calls(_BY_GRAPH) if id(one) not in seeding and not one.detached]


def _made_random(seeding: Seeding, undoing: list[Event]) -> float:
    """Where NumPy's generator is seeded from entropy: by the reader of MNIST that gets no seed and finds none."""
    alone = seeding.generators == ("numpy",)
    later = (one.index for one in undoing if alone and one.index > seeding.event.index and _always(one, seeding.event))
    return min(later, default=math.inf)


def _always(event: Event, seed: Event) -> bool:
    """Whether something happens whenever a seed is set before it."""
    return not event.detached and set(event.guards) <= set(seed.guards)


def _put_back(seeding: Seeding, known: list[Seeding]) -> float:
    """Where the function that seeds puts the state back: ``state = get_state(); seed(0); ...; set_state(state)``."""
    event = seeding.event
    later = (
        one.event.index for one in known
        if one.restores and event.func is not None and one.event.func is event.func and one.event.index > event.index
        and one.event.stack == event.stack and set(seeding.generators) <= set(one.generators)
    )  # fmt: skip
    return math.inf if seeding.restores else min(later, default=math.inf)


def _by_graph(event: Event, before: list[Seeding]) -> list[Seeding]:
    """What seeds NumPy with the seed of TensorFlow's graph, where that has one by then."""
    known = [s for s in before if "tensorflow" in s.generators and not s.event.detached]
    return [Seeding(event, ("numpy",), s.value, both(*event.guards, s.fixes)) for s in known[-1:]]


def _by_backend(program: Program, event: Event) -> tuple[str, ...]:
    """What Keras seeds besides, for the backend it computes with (keras/src/utils/rng_utils.py)."""
    seeds_torch = event.name == "keras.utils.set_random_seed" and keras_backend(program) == "torch"
    return ("torch",) if seeds_torch else ()


def computed_with(program: Program, event: Event, generator: str) -> str:
    """The generator: where TensorLayerX computes with something else than TensorFlow, that one's."""
    other = generator == "tensorflow" and event.name.startswith(TENSORLAYERX)
    return tlx_backend(program) if other else generator


def compiled(event: Event, generator: str) -> str:
    """The generator: what Numba compiles has one of its own (numba.readthedocs.io, NumPy support, Random)."""
    inside = event.func is not None and generator == "numpy" and any(map(_compiles, event.func.decorators))
    return "numba" if inside else generator


def _compiles(decorator: Value) -> bool:
    name = decorator.name if isinstance(decorator, Ref) else ""
    if isinstance(decorator, Obj) and decorator.event is not None:
        name = decorator.event.name
    return name in _COMPILED


def reaches(seed: Event, draw: Event, generator: str = "") -> bool:
    """Whether a seed may act on a draw: a process that is started afresh does not run what is main only.

    A function that is handed over (the ``initializer`` of a pool) may well be called in it. What a process seeds that
    has a name is its own affair, and so is what the workers of a pool seed for one that has.
    """
    there, here = process_of(seed), process_of(draw)
    if there != here and (there or seed.inside(PROCESS)):
        return False
    if seed.inside(PROCESS, SPAWNED) and not draw.inside(PROCESS, SPAWNED) and not seed.deferred:
        return False
    if not lacks_parent_state(draw, generator) or (seed.inside(PROCESS, SPAWNED) and there == here) or seed.deferred:
        return True
    if not draw.inside(SPAWNED):
        return False
    return seed.importing if draw.inside(PICKLED) else not seed.main_only


def undone(seed: Event, draw: Event) -> bool:
    """Whether the generators are put back after a seed and before a draw."""
    return seed.inside(FORKED) and not draw.inside(FORKED)


def of_other_graph(program: Program, seed: Seeding, draw: Event, generator: str) -> bool:
    """Whether what seeds all generators for a program (Sacred) has seeded another graph than the one that draws.

    Of graphs that the program itself seeds and leaves a rule of its own speaks.
    """
    several = generator == "tensorflow" and len(seed.generators) > 1 and not seed.event.inside("graph")
    return several and (made := own_graph(program, draw)) is not None and seed.event.index < made.index


def without_default_seed(cond: Cond) -> bool:
    """Whether the user has to take a default seed away (``--seed 0`` for ``args.seed or random.randint(...)``)."""
    parts = [(part, literal(part)) for part in conjuncts(cond)]
    return any(
        one is not None and one.flag is not None and "seed" in one.flag.name.lower()
        and both(part, flag_test(one.flag, "truthy")) is False and by_default(part) is False
        for part, one in parts
    )  # fmt: skip


_COMPUTES = re.compile(
    r"(^|_)(eval\w*|score\w*|metrics?|forward|backward|cuda|cpu|nms|knn|gather|scatter|pool\w*|conv\w*|loss|decode|encode)(_|$)"
)
"""Names of functions that compute something, as compiled ones mostly do."""


def may_be_seeded(program: Program, before: Event, cond: Cond = True, generator: str = "") -> bool:
    """Whether something that could not be followed may seed, where ``cond`` holds: its name says so."""
    for maybe in program.once("maybe-seeding", _maybe_seeding):
        earlier = before.deferred or maybe.index < before.index
        able = earlier and reaches(maybe, before, generator)
        if able and maybe.meets(before) and both(cond, *maybe.guards) is not False:
            return True
    return program.story.truncated and (before.deferred or program.story.cut <= before.index)


def _maybe_seeding(program: Program) -> list[Event]:
    return [event for event in program.events if _sounds_like_seeding(event)]


def _sounds_like_seeding(event: Event) -> bool:
    if event.detached or event.effects or event.kind not in ("call", "unresolved"):
        return False
    last = event.name.rpartition(".")[2].lower()
    if event.kind == "unresolved" and event.name.startswith("."):  # of a module of the program that is not there
        return _COMPUTES.search(last) is None
    if last == "seed" and isinstance(event.receiver, (Inst, Obj, Unknown)):
        return False  # an object's method seeds that object: an environment, a space, a generator
    if last in _OF_OBJECTS:
        return False
    return any(word in last for word in _SEED_WORDS) and not event.name.startswith(_KNOWN)
