"""Generators seeded from entropy: no seed, None, or a constructor that is made for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Effect, Location, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, literals, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import alternatives
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.objects import is_own
from d9mlint.python.judging.processes import of_loader
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.reseeding import decides, draws_unseeded
from d9mlint.python.judging.seedings import Seeding, seedings
from d9mlint.python.rules.seeds._origin_seeds import cause_at
from d9mlint.python.source.facts import Assert, Def
from d9mlint.python.source.queries import reads

_NEVER = ("system-generator", "jax-key")
"""Generators that a missing seed is no news for: one that cannot be seeded, and one that raises without."""

_SEEDS = (".seed", ".setstate", ".set_state", ".manual_seed")
"""Methods that give a generator a seed, or a state."""
_PASS = "pass an integer:"
_IS_NONE = (
    "give the seed that is None here a value: pass an integer in the call that leaves it out, or make one the default "
    "(a constant in its place here would be that of all callers)"
)
_IS_REFUSED = (
    "pass an integer in each call that leaves the seed out and draws by it: a default, or a constant in its "
    "place, would be that of all callers, and an assertion here asks something of calls that give one"
)
_LEFT_OUT = "leads here with a seed of None"
_MOST_CALLERS = 3
_ENTROPY = "entropy"
"""Where numbers of the operating system come from, in the catalogue."""
_OP = "-op"
"""How generators are called that an op makes for itself."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that seeds from entropy."""
    for event in program.effective:
        for effect in event.effects:
            if any(not is_own(g) and g not in _NEVER for g in (effect.creates, *effect.seeds) if g):
                yield from _one(program, rule, event, effect)


def _one(program: Program, rule: Rule, event: Event, effect: Effect) -> Iterator[Draft]:
    if effect.default_seed:
        return
    cond = True if effect.seed_argument is None else program.absent(event, effect.seed_argument)
    cond = both(cond, program.holds(event, effect.when))
    if not effect.seeds:
        if event.discarded and not event.name.endswith(_SEEDS) and not effect.creates.endswith(_OP):
            return  # kept under a name that nothing reads: nobody draws from it
        if not decides(program, event):
            return
        cond = both(cond, negate(_seeded_later(program, event)), draws_unseeded(program, event))
    if cond is False or truth(cond, event.guards) is False:
        return
    if effect.seeds and _only_ends(program, event, effect):
        return
    if id(event) in program.once("never-left-out", _never_left_out):
        return
    confidence = rule.confidence if is_symbolic(cond) else lower(lower(rule.confidence))
    remedy = _with_seed(program, event, effect, cond)
    if effect.creates.endswith(_OP):
        what = (
            f"`{event.raw}` without a `seed` of its own draws from operating-system entropy, "
            "whatever the global seed is"
        )
        remedy = f"give it one: `{event.raw.rpartition('.')[2]}(..., seed=1)` (0 means no seed)"
    elif effect.seeds:
        without = " without a seed" if effect.seed_argument is not None else ""
        what = f"`{event.raw}`{without} takes one from operating-system entropy: each run draws different numbers"
    else:
        what = f"`{event.raw}` makes a generator from operating-system entropy: each run draws different numbers"
    alike = f"{event.raw}-{event.location.file.replace('/', '.')}"  # (a slash begins what of a cause is concerned)
    cause = f"own-generators-{alike}" if remedy.startswith(_PASS) and not effect.seeds else ""
    if effect.seeds:  # what it hands back may be a seed as well: `torch.manual_seed(torch.seed())`
        cause = cause_at(_ENTROPY, event)
    related = [Related(at, _LEFT_OUT) for at in _callers(event, effect)]
    yield draft(
        program, rule, event, cond=cond, confidence=confidence, what=what, remedy=remedy, cause=cause, related=related
    )  # fmt: skip


def _never_left_out(program: Program) -> set[int]:
    """The calls (by ``id``) that make defaults of functions which are called, and always given something else."""
    funcs = {id(e.func): e.func for e in program.events if e.func is not None and not e.detached}
    defaults = (value for func in funcs.values() for value in func.defaults.values())
    given = (value for e in program.events for value in (e.receiver, *e.args, *e.kwargs.values()))
    return {id(made) for value in defaults for made in made_by(value)} - {
        id(made) for value in given if value is not None for made in made_by(value)
    }


def _seeded_later(program: Program, made: Event) -> Cond:
    """When the generator that a call makes gets a seed before anything else is done with it."""
    found: Cond = False
    for event in program.events[made.index + 1 :] if made.result is not None else ():
        if event.kind != "call" or all(leaf is not made.result for _, leaf in alternatives(event.receiver)):
            continue
        if not event.name.endswith(_SEEDS) or not event.args or is_none(event.args[0]) is True:
            break
        found = either(found, both(*event.guards))
    return found


def _with_seed(program: Program, event: Event, effect: Effect, cond: Cond) -> str:
    """What to do about this very call; empty for one that takes no seed."""
    if effect.seed_argument is None:
        return ""
    if effect.seeds and effect.remedy:
        return effect.remedy
    name = event.raw.replace("numpy.", "np.", 1)
    given = "1" if effect.seed_argument.position == 0 else f"{effect.seed_argument.keyword}=1"
    flags = (one.flag for one in literals(cond) if one.flag is not None)
    if named := sorted({flag.spelled for flag in flags if "seed" in flag.name.lower()}):
        return f"give `{named[0]}` a constant as its default, which it does not have"
    if _callers(event, effect):
        return _IS_REFUSED if _asserts_of_seed(event) else _IS_NONE
    if not effect.seeds:
        return f"{_PASS} `{name}({given})`{_of_flag(program)}"
    if remedy := of_loader(event):
        return remedy
    if any(
        s.fixes is not False and s.event.index < event.index and effect.seeds == s.generators
        and s.event.location != event.location
        for s in seedings(program)
    ):  # fmt: skip
        return (
            f"leave the call out: it puts an end to the seed that was set before; or pass an integer, `{name}({given})`"
        )
    where = ", once before the loop" if event.loops else ""
    return f"{_PASS} `{name}({given})`{where}"


def _of_flag(program: Program) -> str:
    """What to make the seed of a generator of where the user gives the program one."""
    flags = program.story.flags
    own = sorted(flags[name].spelled for name in program.story.read_flags if name in flags and name.endswith("seed"))
    return f", or one made of `{own[0]}`" if own else ""


def _asserts_of_seed(event: Event) -> bool:
    """Whether the function around asserts something of a seed that it is given."""
    node = event.func.node if event.func is not None else None
    asserts = [one for one in node.body if isinstance(one, Assert)] if isinstance(node, Def) else []
    return any("seed" in name.lower() for one in asserts for name in reads(one.test))


def _callers(event: Event, effect: Effect) -> Sequence[Location]:
    """The calls that lead to one that hands on a seed of None, the nearest last; none where it has no argument."""
    handed_on = effect.seed_argument is not None and event.argument(effect.seed_argument) is not None
    return event.stack[-_MOST_CALLERS:] if handed_on else ()


def _only_ends(program: Program, seed: Event, effect: Effect) -> bool:
    """Whether nothing is drawn from the seed: no draw later, or in the next turn of a loop, without a seed before it.

    A library that seeds may leave the draws to others, which nobody sees.
    """
    fixed = [s for s in seedings(program) if s.fixes is not False and {*effect.seeds} & {*s.generators}]
    drawn = [draw.event for draw in draws(program) if draw.generator in effect.seeds]
    if seed.detached or _is_for_worker(program, seed, effect) or not (drawn or _draws_others(program, seed, effect)):
        return False
    return not any(_reaches(seed, draw, fixed) for draw in drawn if draw.meets(seed))


def _is_for_worker(program: Program, seed: Event, effect: Effect) -> bool:
    """Whether a seed in a loader is the one that something drawn there takes its numbers from."""
    within = [event for event in program.events if seed.loader is not None and event.loader is seed.loader]
    drawn = ((event, g) for event in within for one in event.effects for g in one.draws if g in effect.seeds)
    return any(
        local.event is seed for event, g in drawn if (local := loading.local_seed(program, event, g)) is not None
    )


def _draws_others(program: Program, seed: Event, effect: Effect) -> bool:
    """Whether a program draws from another generator that gets a seed at the same place in it."""
    others = {g for s in seedings(program) if s.event.func is seed.func for g in s.generators} - {*effect.seeds}
    return any(draw.generator in others for draw in draws(program))


def _reaches(seed: Event, draw: Event, fixed: Sequence[Seeding]) -> bool:
    """Whether a draw may take from a seed, as none of those that are fixed whenever it is made comes between."""
    sure = [s.event for s in fixed if s.event.index < draw.index and truth(s.fixes, draw.guards)]
    if draw.index > seed.index:
        return not any(seed.index < one.index for one in sure)
    shared = {*draw.loops} & {*seed.loops}
    return bool(shared) and not any(shared <= {*one.loops} for one in sure)
