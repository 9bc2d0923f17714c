"""Checkpoints to resume from that hold weights or the optimizer's state, but no state of a random generator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import (
    UNKNOWN_DEFAULT,
    Cond,
    both,
    by_default,
    conjuncts,
    either,
    has_raised,
    is_symbolic,
    negate,
    symbolic_part,
)
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.tellable import is_setting
from d9mlint.python.domain.values import Const, FlagValue, Value, alternatives
from d9mlint.python.frameworks.torch.lightning import RESUMED, TRAINER
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, on_ways, written_at
from d9mlint.python.judging.files.kept import with_moves
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.restoring import of_checkpoints
from d9mlint.python.judging.warm_starts import begins_anew, is_warm_start, own_save
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host._full_queues import GETS, PUTS, WORKERS
from d9mlint.python.rules.seeds.resumes.agents import of_agents
from d9mlint.python.rules.seeds.resumes.averages import forgotten
from d9mlint.python.rules.seeds.resumes.checkpoints import (
    best_known,
    holds_optimizer,
    is_network,
    is_rounded,
    lacks_state,
    leaves,
    may_hold_optimizer,
)
from d9mlint.python.rules.seeds.resumes.engines import of_accelerators, of_engines
from d9mlint.python.rules.seeds.resumes.filled_states import of_filled
from d9mlint.python.rules.seeds.resumes.jax_states import PICKLES, of_jax
from d9mlint.python.rules.seeds.resumes.lost import AVERAGE, EPOCH, NOT_TAKEN_UP, PRECISION, UNREAD, lost, told
from d9mlint.python.rules.seeds.resumes.lost import OPTIMIZER as LOST
from d9mlint.python.rules.seeds.resumes.own_states import own_states
from d9mlint.python.rules.seeds.resumes.progress import holds_number, progress
from d9mlint.python.rules.seeds.resumes.resuming import (
    RESUMES,
    THERE,
    draws_on,
    places,
    resumes,
    seeded_anew,
    takes_up,
    with_states,
)
from d9mlint.python.rules.seeds.resumes.runners import of_runners
from d9mlint.python.rules.seeds.resumes.tensorflow_savers import of_tensorflow
from d9mlint.python.rules.seeds.resumes.torch_loads import OPTIMIZER, SAVES, checkpoints, is_own, loads, of_own, setting
from d9mlint.python.rules.seeds.resumes.trainers import of_weights
from d9mlint.python.source.facts import Def
from d9mlint.python.source.queries import goes_on

_STATES = (
    "torch.get_rng_state", "torch.set_rng_state", "torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all",
    "torch.cuda.set_rng_state", "torch.cuda.set_rng_state_all", "torch.Generator.get_state",
    "torch.Generator.set_state", "numpy.random.get_state", "numpy.random.set_state", "random.getstate",
    "random.setstate",
)  # fmt: skip
_STEP = ".step"
_ENVIRONMENTS = ("gym.", "gymnasium.", "env.")
_FIT, _CHECKPOINT = f"{TRAINER}.fit", Argument(4, "ckpt_path")
_FORMER = Argument(None, RESUMED)
"""An argument of the trainer itself until 2.0."""
_DROPOUT, _SHARE, _HALF = "torch.nn.Dropout", Argument(0, "p"), Const(0.5)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first such checkpoint of a program that draws while it trains, and that loads what it has saved."""
    if program.story.local or program.story.truncated:
        return
    yield from of_agents(program, rule)
    if not program.trains:
        return
    kept = of_checkpoints(program, _STATES)
    if not kept:
        yield from of_tensorflow(program, rule)
        yield from _of_lightning(program, rule)
        yield from of_weights(program, rule)
        yield from of_runners(program, rule)
        yield from of_engines(program, rule)
        yield from of_accelerators(program, rule)
        yield from of_filled(program, rule)
        yield from of_jax(program, rule)
    yield from _of_torch(program, rule, kept)


def _of_torch(program: Program, rule: Rule, kept: bool) -> Iterator[Draft]:
    """At the first checkpoint of weights or an optimizer; ``kept``: the states of generators are saved somewhere."""
    seen = best_known([e for e in program.calls(*SAVES) if not e.detached])
    whole = [e for e in seen if lacks_state(program, e, random=True)]
    saves = [e for e in whole if lacks_state(program, e)]
    saves += [e for e in program.calls(*PICKLES) if not e.detached and any(map(is_network, leaves(*e.args[:1])))]
    if kept or not saves:
        kept, saves = True, whole
    if not saves:
        return
    steps = [e for e in program.events if _steps(e) and e.loops and not e.detached]
    moved = checkpoints(program)
    found = loads(program, steps)
    warm = {id(load) for load in found if is_warm_start(program, load, steps)}
    for load in sorted(found, key=lambda e: id(e) in warm):
        after = _after(load, steps or program.trains)
        loops = {number for event in after for number in event.loops}  # those that change the weights
        met = _met(program, load, saves, loops)
        if not met or not loops or (id(load) in warm and load.args and own_save(load.args[0], moved)):
            continue  # (what the same command has left, to begin with: `leftover-checkpoint`)
        own = load.name.startswith(OPTIMIZER) or is_own(program, load, moved, steps)
        sure = own or resumes(load)
        exported = not (own or takes_up(load)) and _ends_with(program, met, loops)
        begins = id(load) in warm or (exported and begins_anew(program, load, after, numbered=False))
        drawn = [] if kept else _drawn(program, load, loops, sure)
        # It may be got to in several ways; what is told of it holds on each.
        training = [e for e in steps if loops.intersection(e.loops)]
        also = (*_lost(program, load, met, training), *progress(program, load, met, training, sure))
        if drawn or (also and sure):
            at = written_at(met[0])
            there = [e for e in (*saves, *(e for e in met if e not in saves)) if written_at(e) == at]
            here = [e for e in found if e.location == load.location and _after(e, steps or program.trains)]
            yield from _drafts(program, rule, there, here, drawn, also, begins, met)
            return


def _after(load: Event, steps: Sequence[Event]) -> list[Event]:
    """The steps that go on from what is loaded; a load at the end is for a last evaluation."""
    return [step for step in steps if step.index > load.index and step.meets(load)]


def _met(program: Program, load: Event, saves: Sequence[Event], loops: set[int]) -> list[Event]:
    """The calls that save what a call loads, first those in the training, and of these such as hold the same.

    Of branches that a flag chooses from, first that of a run without any.
    """
    met, optimizer = [e for e in saves if e.meets(load)], load.name.startswith(OPTIMIZER)
    if met and optimizer:  # its state may have a file of its own, beside that of the weights
        others = (e for e in program.calls(*SAVES) if e not in met and not e.detached and e.meets(load))
        met += [e for e in others if holds_optimizer(program, e)]
    weights = not optimizer and bool(setting(program, load))
    return sorted(
        met,
        key=lambda e: (
            not loops.intersection(e.loops), holds_optimizer(program, e) is weights,
            any(by_default(one) is False for one in e.guards),
        ),
    )  # fmt: skip


def _ends_with(program: Program, saves: Sequence[Event], loops: set[int]) -> bool:
    """Whether weights alone are saved when the training is through: a run that is interrupted leaves nothing."""
    caught = any(has_raised(guard) for e in saves for guard in e.guards)
    more = any(holds_number(e) or may_hold_optimizer(program, e) for e in saves)
    return not caught and not more and all(loops.isdisjoint(e.loops) for e in saves)


def _lost(program: Program, load: Event, saves: Sequence[Event], steps: Sequence[Event]) -> tuple[str, ...]:
    """The kinds of state that what goes on from a load does not have, the optimizer's also where no call saves it."""
    found = lost(program, load, steps)
    never = load.name.startswith(OPTIMIZER) and not any(may_hold_optimizer(program, e) for e in saves)
    never = never or bool(setting(program, load))
    if AVERAGE not in found and forgotten(program, load, saves, steps):
        found = (*found, AVERAGE)
    found = (*found, *(one for one in own_states(program, load, saves, steps) if one not in found))
    found = (*found, PRECISION) if any(is_rounded(program, e) for e in saves[:1]) else found
    return (LOST, *found) if never and LOST not in found else found


def _drawn(program: Program, load: Event, loops: set[int], sure: bool) -> list[Draw]:
    """What draws in the training that goes on from a load; a layer that drops draws whenever it is used.

    ``sure``: what is trained there is what was saved, and has these layers.
    """
    going = (d for d in draws(program) if _goes_on(program, d, load))
    found = [d for d in going if loops.intersection(d.event.loops) and d.event.meets(load)]
    ahead = _filling(program, loops)
    found += [d for d in draws(program) if ahead.intersection(d.event.loops) and d.event.inside(*WORKERS)]
    found += [d for d in draws(program) if _is_taken_from(d.event) and not d.event.detached and d.event.meets(load)]
    known = {id(d.event) for d in found}
    layers = (d for d in draws(program) if sure and _drops(d.event))
    return found + [d for d in layers if id(d.event) not in known and d.event.meets(load)]


def _filling(program: Program, loops: set[int]) -> set[int]:
    """The loops of workers that fill the queues which a training takes from, and the queues that these take from."""
    gets = [e for e in program.ending(GETS, "call") if not e.detached]
    puts = [e for e in program.ending(PUTS, "call") if e.loops and not e.detached and e.inside(*WORKERS)]
    found = set[int]()
    while True:
        taken = (e for e in gets if not (loops | found).isdisjoint(e.loops))
        queues = {id(made) for e in taken for made in made_by(e.receiver)}
        fill = {n for e in puts for n in e.loops if any(id(made) in queues for made in made_by(e.receiver))}
        if fill <= found:
            return found
        found |= fill


def _is_taken_from(event: Event) -> bool:
    """Whether something happens as items are taken out of a generator that goes on for ever, wherever that was made.

    ``while True: yield from loader``: what trains takes the next item there.
    """
    nodes = (one.node for one in (*event.callers, event.func) if one is not None)
    return any(isinstance(node, Def) and goes_on(node) for node in nodes)


def _drops(event: Event) -> bool:
    """Whether a layer is made that drops at random, as far as its share is known."""
    if not event.name.startswith(_DROPOUT) or event.detached:
        return False
    shares = [leaf for _, leaf in alternatives(event.argument(_SHARE) or _HALF)]
    known = (leaf.value if isinstance(leaf, Const) else leaf.flag.default for leaf in shares if _is_known(leaf))
    return any(share != UNKNOWN_DEFAULT and share for share in known)


def _is_known(leaf: Value) -> TypeGuard[Const | FlagValue]:
    return isinstance(leaf, (Const, FlagValue))


def _drafts(
    program: Program, rule: Rule, saves: Sequence[Event], loads: Sequence[Event], drawn: Sequence[Draw],
    also: Sequence[str], warm: bool, others: Sequence[Event],
) -> Iterator[Draft]:  # fmt: skip
    """At each call that saves; ``loads`` are the calls of one place in the code that load, any of which may go on.

    Where they are ``warm`` starts, it is told for who means to go on. ``others`` are all calls that save.
    """
    load = loads[0]
    related = places(load, drawn[0].event if drawn else None)
    held = any(holds_optimizer(program, saved) for saved in saves)
    holds = "the optimizer" if load.name.startswith(OPTIMIZER) and LOST not in also else "the weights"
    moved = with_moves(program, list(saves))
    resumed = either(*(both(*_asked(one), of_own(one, moved)) for one in loads))
    acts = any(_is_of_environment(e) and e.loops and not e.detached for e in program.events)
    remedy = with_states(also, bool(drawn), acts, rule, program, saves)
    needed = setting(program, load)
    notes = {LOST: f"kept only where `{needed}` is true" if needed else UNREAD if held else ""}
    notes |= {EPOCH: NOT_TAKEN_UP} if any(map(holds_number, saves)) else {}
    lacks, severity = told(also, bool(drawn), notes, warm), "info" if warm else ""
    drawing = True if also else _drawing(program, load, drawn)
    for saved in saves:
        at, made = _anyway(saved, others)
        cond = both(resumed, made, drawing)
        yield draft(
            program, rule, at, cond=cond, severity=severity, related=related, remedy=remedy, holds=holds, lacks=lacks
        )


def _drawing(program: Program, load: Event, drawn: Sequence[Draw]) -> Cond:
    """When the training draws at all, where a run with the defaults of its flags does not.

    Not where other draws are made in it without the load: a network that is loaded as a whole may draw as that does
    which is made in its place.
    """
    loops = {number for one in drawn for number in one.event.loops}
    if any(loops.intersection(one.event.loops) and not one.event.meets(load) for one in draws(program)):
        return True
    found = either(*(symbolic_part(one.cond) for one in drawn))
    return found if by_default(found) is False else True


def _anyway(saved: Event, others: Sequence[Event]) -> tuple[Event, Cond]:
    """A call that saves, under what all calls need that save the same, in other branches; and when one is made."""
    same = [saved, *(e for e in others if e is not saved and e.args and saved.args and e.args[0] is saved.args[0])]
    shared = tuple(one for one in saved.guards if all(one in e.guards for e in same))
    made = either(*(both(*(one for one in e.guards if one not in shared)) for e in same))
    return replace(saved, guards=shared, location=written_at(saved)), made


def _asked(load: Event) -> Iterator[Cond]:
    """The conditions of a load that somebody asks for it, without those that a file is there."""
    asked = (one for one in load.guards if by_default(one) is False or is_setting(one) or RESUMES.search(describe(one)))
    parts = (part for one in asked for part in conjuncts(one))
    return (part for part in parts if _is_plain(part) and not THERE.search(describe(part)))


def _is_plain(part: Cond) -> bool:
    """Whether a condition is one test, or names flags one of which has to be given: ``opt.resume or opt.load``."""
    return " or " not in describe(part) or (is_symbolic(part) and by_default(part) is False)


def _of_lightning(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where ``fit`` is given a checkpoint: it holds loops, optimizers and callbacks, and no generator.

    One call may be that of several trainers: ``trainer = Trainer(callbacks=log) if args.log else Trainer()``.
    Source: lightning/pytorch/trainer/connectors/checkpoint_connector.py (``dump_checkpoint``), 1.5 to 2.6.
    """
    ways: list[tuple[Event, Cond]] = []
    related: list[Related] = []
    for fit in program.calls(_FIT):
        asked = [(fit, _CHECKPOINT), *((made, _FORMER) for made in made_by(fit.receiver))]
        given = either(_set(program), *(_given(program, event, argument) for event, argument in asked))
        drawn = next((d.event for d in draws(program) if d.event.trains or _in_fit(d, fit)), None)
        again = ways and fit.location == ways[0][0].location  # (the same is drawn there, and told once)
        if given is False or fit.detached or (not again if ways else drawn is None):
            continue
        ways.append((fit, given))
        related += [draws_on(drawn)] if drawn is not None and drawn is not fit else []
    if ways:
        at, cond = on_ways(ways[0][0], ways)
        yield draft(
            program, rule, at, cond=cond, related=dict.fromkeys(related), holds="weights and optimizers", lacks=told(())
        )  # fmt: skip


def _given(program: Program, event: Event, argument: Argument) -> Cond:
    return negate(program.absent(event, argument)) if argument.keyword in event.kwargs else False


def _set(program: Program) -> Cond:
    """When the program sets the flag of a trainer itself: ``opt.resume_from_checkpoint = path``."""
    sets = (e for e in program.find("set", f"argparse.Namespace.{RESUMED}") if e.args and not e.detached)
    return either(*(both(*e.guards, negate(is_none(e.args[0]))) for e in sets))


def _in_fit(draw: Draw, fit: Event) -> bool:
    return not draw.event.detached and draw.event.index > fit.index and draw.event.meets(fit)


def _steps(event: Event) -> bool:
    """Whether a call updates weights; environments have a method of this name, too."""
    return event.kind == "call" and event.name.endswith(_STEP) and not event.name.startswith(_ENVIRONMENTS)


def _is_of_environment(event: Event) -> bool:
    """Whether a call acts in an environment."""
    return event.kind == "call" and event.name.endswith(_STEP) and event.name.startswith(_ENVIRONMENTS)


def _goes_on(program: Program, draw: Draw, load: Event) -> bool:
    """Whether a draw comes after ``load`` and is not seeded anew in between (as by the number of the epoch)."""
    return not draw.event.detached and draw.event.index >= load.index and not seeded_anew(program, draw, load)
