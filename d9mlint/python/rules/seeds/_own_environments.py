"""Environments that the program does not make by a call of Gym: unpickled ones, and objects of its own classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, by_default, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Class, Inst, Ref, Unknown, alternatives
from d9mlint.python.frameworks.environments import GYMS, INNER
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging import objects
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.seedings import may_be_seeded
from d9mlint.python.source.facts import Attr, Def, Name, Param

GENERATOR = "own-env"
_OF_ENVIRONMENT = ("?.reset", "?.step", "?.seed")
_SEED = "gymnasium.Env.seed"
_INIT, _RESET, _STATE = "gymnasium.Env.__init__", "gymnasium.Env.reset", "gymnasium.Env.state"


def unseen(program: Program, rule: Rule) -> Iterator[Draft]:
    """Environments that are not seen to be made (unpickled, say), known by what is done with them: reset and step."""
    if not program.imports(*GYMS):
        return
    done: dict[int, dict[str, Event]] = {}
    for event in program.events:
        if event.kind == "call" and event.name in _OF_ENVIRONMENT and not event.detached:
            done.setdefault(id(event.receiver), {}).setdefault(event.name, event)
    for calls in done.values():
        reset = calls.get("?.reset")
        if reset is None or "?.step" not in calls or "?.seed" in calls or "seed" in reset.kwargs or reset.args:
            continue
        if isinstance(reset.receiver, Unknown) and not may_be_seeded(program, reset) and not _seeded(program, reset):
            remedy = (
                "call `env.reset(seed=1)` once before the first step (`env.seed(1)` before gym 0.26), "
                "then `env.reset()`; of a wrapper whose `reset` takes no seed, call that of the environment in it"
            )
            yield draft(
                program,
                rule, reset, confidence=lower(rule.confidence), remedy=remedy, verb="draws from", name="env.reset",
                cause=GENERATOR, besides="",
            )  # fmt: skip
            return


def _seeded(program: Program, reset: Event) -> bool:
    """Whether an environment was seeded before, which one that is not known may wrap."""
    seeders = (one for one in objects.seeders(program, GENERATOR) if one[0].index < reset.index)
    return any(objects.given(program, event, effect) is not False for event, effect in seeders)


def replaced(program: Program, reset: Event) -> bool:
    """Whether the state that a reset has drawn is set by hand before anything is done with the environment."""
    if reset.name != _RESET or not reset.discarded:
        return False
    own = {id(one) for one in made_by(reset.receiver)}
    for event in program.events[reset.index + 1 :]:
        receiver = event.receiver
        holder = receiver.receiver if isinstance(receiver, Ref) and event.kind == "set" else receiver
        if any(id(made) in own for value in (holder, *event.args, *event.kwargs.values()) for made in made_by(value)):
            at_once = event.kind == "set" and event.name == _STATE
            return at_once and frozenset(event.guards) <= frozenset(reset.guards) and not _is_used(program, reset)
    return False


def _is_used(program: Program, reset: Event) -> bool:
    """Whether something is given what a reset returns."""
    later = (event for event in program.events[reset.index + 1 :] if event.kind != "import")
    return any(reset in taint([*event.args, *event.kwargs.values()])[2] for event in later)


class Swallowed(NamedTuple):
    """A call of ``seed`` that seeds no environment, and the class of the program whose object it is called of."""

    call: Event
    of: str

    @property
    def remedy(self) -> str:
        """What to do instead."""
        return (
            "call `env.seed(1)` after each environment is made, with a number of its own, or give "
            f"`{self.of}` a `seed` that does so"
        )

    @property
    def related(self) -> Related:
        """Where it is called."""
        note = f"this `seed` does nothing: `{self.of}` has none of its own, and that of `gym.Env` reaches nothing in it"
        return Related(self.call.location, note)


def swallowed(program: Program, maker: Event) -> Swallowed | None:
    """The call of ``seed`` that does not reach an environment, as the class that has it made leaves it to its base.

    That of ``gym.Env`` does nothing (gym/core.py of 0.21), or makes a generator for the object alone (of 0.22 to 0.25);
    a wrapper's hands the seed on.
    """
    makers = {id(func.owner) for func in (*maker.callers, maker.func) if func is not None and func.owner is not None}
    for event in program.calls(_SEED) if makers else ():
        one = _instance(event)
        if one is None or event.detached or INNER in one.attrs or _may_wrap(one.cls):
            continue
        if any(id(cls) in makers for cls in one.cls.line()):
            return Swallowed(event, one.cls.node.name)
    return None


def _may_wrap(made: Class) -> bool:
    """Whether a class may be derived from a wrapper of Gym."""
    return any(base.partition(".")[0] not in GYMS or not base.endswith(".Env") for base in made.external())


_ITSELF = (
    "as {}, call `env.reset(seed=1)` (`env.seed(1)` before gym 0.26) once on the environment itself, where it is made"
)
_INSIDE = "-inside"
_MAKES_GENERATOR = "gymnasium.utils.seeding.np_random"


class Cure(NamedTuple):
    """What seeds an environment, and what to add to the name of the cause where that is not what seeds any other."""

    remedy: str
    part: str = ""


def cure(draw: Event, maker: Event, usual: str) -> Cure:
    """What seeds the environment that makes a draw: with wrappers and classes of the program it depends on these."""
    if inside := _through_wrapper(draw):
        return Cure(inside, _INSIDE)
    owner = maker.func.owner if maker.name == _MAKES_GENERATOR and maker.func is not None else None
    return Cure(usual) if owner is None else _for_class(owner, usual)


def asked(draw: Event) -> Event:
    """A reset, where the program asks for it: outside of the wrappers that only hand it on, with its seed."""
    told = draw
    while (
        told.name == _RESET and told.stack and (func := told.func) is not None and func.owner is not None
        and func.name == "reset" and (_takes_any(func.node.params) or "seed" in draw.kwargs)
    ):  # fmt: skip
        told = replace(
            told, location=told.stack[-1], func=told.callers[-1], stack=told.stack[:-1], callers=told.callers[:-1]
        )
    return told


def _takes_any(params: Iterable[Param]) -> bool:
    return any(one.kind == "**" for one in params)


def _through_wrapper(draw: Event) -> str:
    """The remedy where a wrapper of the program resets the environment in it and hands it no seed; empty elsewhere."""
    if draw.name != _RESET:
        return ""
    for func in (draw.func, *draw.callers):
        if func is None or func.owner is None or func.name != "reset" or not _has(func.owner, "step"):
            continue
        name = func.owner.node.name
        if not _takes(func.node.params, "seed"):
            return _ITSELF.format(f"`{name}.reset` takes no seed")
        if not _has(func.owner, "seed") and not _hands_on(func.owner):
            return _ITSELF.format(f"`{name}` has no `seed` that reaches it")
    return ""


def _hands_on(made: Class) -> bool:
    """Whether a class may be derived from a wrapper of Gym, which hands on what it does not define itself."""
    bases = (base for cls in made.line() for base in cls.node.bases)
    names = (base.id if isinstance(base, Name) else base.name if isinstance(base, Attr) else "" for base in bases)
    return _may_wrap(made) or any(name.endswith("Wrapper") for name in names)


def _takes(params: Iterable[Param], name: str) -> bool:
    return _takes_any(params) or any(one.name == name for one in params)


def _has(made: Class, name: str) -> bool:
    """Whether a class of the program, or a base of it that is one, defines something."""
    return any(name in cls.frame.vars for cls in made.line())


def _for_class(made: Class, usual: str) -> Cure:
    """What seeds the generator of a class's objects: what it defines for that, or the generator is set."""
    name = made.node.name
    part = f"-{name}"
    if _has(made, "seed"):
        return Cure("call `env.seed(1)` once after the environment is made", part)
    if _has(made, "_seed"):
        return Cure(f"call `env._seed(1)` once after the environment is made: `{name}` has no `seed`", part)
    resets = (one for cls in made.line() for one in cls.node.body if isinstance(one, Def) and one.name == "reset")
    first = next(resets, None)
    if first is None or _takes(first.params, "seed"):
        return Cure(usual)
    set_by_hand = "set `env.np_random = gym.utils.seeding.np_random(1)[0]` after the environment is made"
    return Cure(f"{set_by_hand}: `{name}` has no `seed`, and its `reset` takes none", part)


def of_classes(program: Program, rule: Rule) -> Iterator[Draft]:
    """Objects of the program's own classes of environments that draw from the generator that Gym makes for each."""
    seen: set[int] = set()
    drawing = _drawing_classes(program)
    for event in program.events if drawing else ():
        one = _instance(event)
        if one is None or id(one) in seen or event.detached or not _draws(event, one, drawing):
            continue
        seen.add(id(one))
        given = [(e, cond) for e, cond in _seedings(program, one) if e.index < event.index or e.deferred]
        cond = negate(either(*(cond for _, cond in given)))
        if cond is False or truth(cond, event.guards) is False or by_default(cond) is False:
            continue
        made = next((e for e in program.calls(_INIT) if any(value is one for value in (e.receiver, *e.args[:1]))), None)
        usual = next((effect.remedy for effect in event.effects if GENERATOR in effect.draws), "")
        seeds = _for_class(one.cls, usual)
        yield draft(
            program,
            rule, event, cond=cond, related=[Related(made.location, "made here")] if made is not None else [],
            remedy=seeds.remedy, verb="draws from", name=".".join(event.raw.split(".")[-2:]),
            cause=f"{GENERATOR}/{GENERATOR}{seeds.part}", besides="",
            confidence=rule.confidence if is_symbolic(cond) else lower(lower(rule.confidence)),
        )  # fmt: skip


def _instance(event: Event) -> Inst | None:
    """The object of the program whose generator a call is about."""
    if event.kind != "call" or not event.name.startswith("gym"):
        return None
    return next((leaf for _, leaf in alternatives(event.receiver) if isinstance(leaf, Inst)), None)


def _drawing_classes(program: Program) -> set[int]:
    """The classes whose methods draw from that generator, whoever calls them."""
    found = set()
    for event in program.events:
        one = _instance(event)
        if one is not None and event.name != _RESET and any(GENERATOR in effect.draws for effect in event.effects):
            found.add(id(one.cls))
    return found


def _draws(event: Event, one: Inst, drawing: set[int]) -> bool:
    """Whether a call draws: from the generator itself, or as a `reset` of Gym that runs methods of a class which do.

    A class may have a `reset` of its own: that of Gym only makes a generator where it is given a seed.
    """
    if id(one.cls) not in drawing or not any(GENERATOR in effect.draws for effect in event.effects):
        return False
    return event.name != _RESET or not _has(one.cls, "reset")


def _seedings(program: Program, one: Inst) -> Iterator[tuple[Event, Cond]]:
    """Calls that seed the generator of an object, each with the condition under which it does."""
    for event, effect in objects.seeders(program, GENERATOR):
        if any(leaf is one for _, leaf in alternatives(event.receiver)):
            yield event, objects.given(program, event, effect)
