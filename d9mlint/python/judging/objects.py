"""Objects outside the program that keep a random generator of their own: who makes, seeds and uses each of them."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Effect
from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dynamic, Func, Inst, Obj, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging import messages

OWN = "own"
"""Generators of this name, or with it before a hyphen, belong to one object: no global seed reaches them.

Those with a kind after the hyphen are looked for by it. Of the plain name are generators that are objects themselves
(``tf.random.Generator``): whether they are seeded is said where they are made.
"""
SHARED = "own-shared-"
"""Generators that parts hand on to what is made of them: a seeding of any object counts."""
_ONLY_SHAPES = ("init", "init_with_output", "lazy_init", "tabulate", "summary", "export")
"""Calls that look at the shapes of the values they get (parameters of Flax modules are drawn from their key alone)."""
_INNER = "env"
"""Where a wrapper keeps the environment in it."""
_ONE, _SEVERAL = "gymnasium.Env", "gymnasium.VectorEnv"
_DRAWN_THROUGH = (_ONE, _SEVERAL, "openmm.RandomIntegrator")
"""Types of what an algorithm or a simulation is handed to draw through."""
MAX_DEPTH = 8
"""Lists of parts inside parts that are looked through."""


def is_own(generator: str) -> bool:
    """Whether a generator belongs to one object."""
    return generator.partition("-")[0] == OWN


def seeded_by(program: Program, maker: Event, stream: str) -> list[tuple[Event, Cond]]:
    """Calls that seed one of an object's generators, each with the condition under which it does.

    Those of its methods, the one that makes it (``make_vec_env(name, seed=1)``), and those in the functions that this
    one runs (``DummyVecEnv([make])``).
    """
    return [
        (event, given(program, event, effect))
        for event, effect in seeders(program, stream)
        if stream.startswith(SHARED)
        or event is maker
        or maker.location in event.stack
        or any(made is maker or _may_hold(maker, event, made) for made in made_by(event.receiver))
    ]


def _may_hold(maker: Event, seeding: Event, made: Event) -> bool:
    """Whether a vector environment may be made of one that was seeded before: ``DummyVecEnv([lambda: env])``."""
    several = isinstance(maker.result, Obj) and maker.result.type == _SEVERAL
    return several and seeding.index < maker.index and isinstance(made.result, Obj) and made.result.type == _ONE


def unseeded_when_made(maker: Event) -> Cond:
    """When an object is given no seed as it is made: ``spaces.Box(-1, 1, seed=1)`` is."""
    given = maker.kwargs.get("seed")
    return given is None or is_none(given)


def handed_over(maker: Event) -> Value | None:
    """What a call is given that its result draws through, as an algorithm does through its environment, if any."""
    wanted = [x.parts for x in maker.effects if x.parts is not None and not x.creates]
    return next((value for one in wanted if (value := maker.argument(one)) is not None), None)


def environments(value: Value | None, depth: int = 0) -> list[Event] | None:
    """The calls that make the environment handed over, of wrappers the one inside; None where it is not known.

    One that is given by its name is made out of sight: no call.
    """
    out: list[Event] = []
    for _, leaf in alternatives(value):
        inner = leaf.attrs.get(_INNER) if isinstance(leaf, Inst) and depth < MAX_DEPTH else None
        found = environments(inner, depth + 1) if inner is not None else None
        if isinstance(leaf, Obj) and leaf.event is not None and leaf.type in _DRAWN_THROUGH:
            found = [leaf.event]
        elif isinstance(leaf, Const) and isinstance(leaf.value, str):
            found = []
        if found is None:
            return None
        out += found
    return out


def only_for_shapes(program: Program, draw: Event) -> bool:
    """Whether the values that a call draws are only looked at for their shapes, as far as is seen."""
    users = [
        event
        for event in program.events
        if event.kind in ("call", "unresolved")
        and not isinstance(event.receiver, Dynamic)
        and any(value is draw.result for value in (*event.args, *event.kwargs.values()))
    ]
    return bool(users) and all(event.name.rpartition(".")[2] in _ONLY_SHAPES for event in users)


def seeded_globally(program: Program, stream: str) -> list[tuple[Event, Effect, Cond]]:
    """Calls outside the object that seed all generators of its kind."""
    return [
        (event, effect, given(program, event, effect))
        for event, effect in seeders(program, stream)
        if not any(True for _ in made_by(event.receiver))
    ]


def seeders(program: Program, stream: str) -> Iterator[tuple[Event, Effect]]:
    """Calls that seed generators of a kind, of whichever object."""
    for event in program.events:
        if event.kind == "call" and not event.detached:
            for effect in event.effects:
                if stream in effect.seeds:
                    yield event, effect


def given(program: Program, event: Event, effect: Effect) -> Cond:
    """When a call really seeds; one of a worker does upon a message."""
    value = event.argument(effect.seed_argument) if effect.seed_argument else None
    asked = messages.asked_for(program, event)
    if asked is None:
        return both(*event.guards, program.holds(event, effect.when), negate(_no_seed(value, effect)))
    return either(*(both(*one.event.guards, negate(_no_seed(messages.given(value, one), effect))) for one in asked))


def _no_seed(value: Value | None, effect: Effect) -> Cond:
    return False if effect.default_seed else True if value is None else is_none(value)


def draws_by_parts(event: Event, effect: Effect, depth: int = 0) -> bool:
    """Whether an object that draws only through its parts has one that does; unknown parts are none."""
    if effect.parts is None:
        return True
    parts = event.argument(effect.parts)
    return depth < MAX_DEPTH and any(_draws(made, depth + 1) for made in made_by(parts))


def _draws(made: Event, depth: int) -> bool:
    return any(
        (is_own(effect.creates) or any(map(is_own, effect.draws))) and draws_by_parts(made, effect, depth)
        for effect in made.effects
    )


def idle(program: Program, maker: Event, effect: Effect) -> bool:
    """Whether a generator that is only drawn from later never is, as far as calls say so that have no seed themselves.

    Of an object that a function of the program builds, that function is asked.
    """
    if not effect.later:
        return False
    return not any(
        effect.creates in one.draws
        and _builds(maker, event)
        and both(_own_seed_absent(program, event, one), program.holds(event, one.when)) is not False
        for event in program.events
        for one in event.effects
    )


def _builds(maker: Event, event: Event) -> bool:
    """Whether what happens may belong to the object that a call makes."""
    by = maker.receiver
    if not isinstance(by, Func):
        return True
    return maker.location in event.stack or (event.func is not None and event.func.node is by.node)


def _own_seed_absent(program: Program, event: Event, effect: Effect) -> Cond:
    return True if effect.own_seed is None else program.absent(event, effect.own_seed)


def handed_to_maker(program: Program, maker: Event) -> bool:
    """Whether the object becomes a part of another one of its kind, which then decides."""
    kinds = {effect.creates for effect in maker.effects if is_own(effect.creates)}
    for event in program.events:
        if event is maker or event.kind != "call":
            continue
        for effect in event.effects:
            parts = event.argument(effect.parts) if effect.parts is not None and effect.creates in kinds else None
            if any(made is maker for made in made_by(parts)):
                return True
    return False


def may_be_seeded_by(program: Program, maker: Event, before: Event, judged: list[Event]) -> bool:
    """Whether the object was handed to something before that may seed it, and that is not ``judged`` already."""
    for event in program.events:
        if event.index >= before.index:
            return False
        known = event.effects and all(
            not effect.seeds or program.holds(event, effect.when) is False for effect in event.effects
        )
        if event.kind not in ("call", "unresolved") or known or event in judged or event.name.startswith("builtins."):
            continue
        if _only_wraps(event):
            continue
        if any(made is maker for value in (*event.args, *event.kwargs.values()) for made in made_by(value)):
            return True
    return False


def _only_wraps(event: Event) -> bool:
    """Whether what a call makes is what it was handed, in a wrapper that is told no seed."""
    return "seed" not in event.kwargs and any(event.result is one for one in (*event.args[:1], *event.kwargs.values()))


def fixed_before(program: Program, seedings: list[tuple[Event, Cond]], event: Event) -> Cond:
    """The condition under which one of the seedings came before an event, or may have."""
    at = messages.first(program, event)
    before = (c for seeding, c in seedings if messages.first(program, seeding) < at or seeding.deferred)
    return either(*before)
