"""Checkpoints to resume from that hold weights or the optimizer's state, but no state of a random generator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Cond, both, by_default, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, FlagValue, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.torch.lightning import RESUMED, TRAINER
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.paths import with_moves
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.restoring import of_checkpoints
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.seeds._engine_resumes import of_engines
from d9mlint.python.rules.seeds._jax_resumes import PICKLED, PICKLES, of_jax
from d9mlint.python.rules.seeds._lost import lost, told
from d9mlint.python.rules.seeds._progress import progress
from d9mlint.python.rules.seeds._resuming import RESUMES, draws_on, from_own, places, resumes, with_states
from d9mlint.python.rules.seeds._tensorflow_resumes import of_tensorflow

_SAVES = ("torch.save", "accelerate.Accelerator.save", "accelerate.utils.save", "torch_xla.core.xla_model.save")
_STATES = (
    "torch.get_rng_state", "torch.set_rng_state", "torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all",
    "torch.cuda.set_rng_state", "torch.cuda.set_rng_state_all", "torch.Generator.get_state",
    "torch.Generator.set_state", "numpy.random.get_state", "numpy.random.set_state", "random.getstate",
    "random.setstate",
)  # fmt: skip
_OPTIMIZER = "torch.optim."
_LOAD, _STATE, _UNPICKLES = ".load_state_dict", ".state_dict", "torch.load"
_STEP = ".step"
_ENVIRONMENTS = ("gym.", "gymnasium.", "env.")
_FIT, _CHECKPOINT = f"{TRAINER}.fit", Argument(4, "ckpt_path")
_FORMER = Argument(None, RESUMED)
"""An argument of the trainer itself until 2.0."""
_DROPOUT, _SHARE, _HALF = "torch.nn.Dropout", Argument(0, "p"), Const(0.5)
_KEY = "optim"
_WEIGHTS = ("state", "model", "net", "weight", "generator", "disc", "encoder", "decoder")
"""Words in a key of a checkpoint that say that weights are in it."""
_RANDOM = ("rng", "random", "generator_state", "sampler", "loader", "seed")
"""Words in a key of a checkpoint that say that random state may be in it."""
_ASKED = re.compile(
    r"--?(load|model|ckpt|checkpoint)([-_]?(path|file|from|dir|name))? (is given|is set|> 0|is not)|--?load[-_]\w+ is"
)
"""Words of a flag that names a file to start from."""
_OTHER = re.compile(r"pre-?train|teacher|backbone|fine-?tune|init|embed|vgg|encoder", re.IGNORECASE)
"""Words of weights that something else has trained."""
_THERE = re.compile(r"(?<!not )\b(exists|isfile|is_file)\(")
"""What asks in a condition whether a file is there."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first such checkpoint of a program that draws while it trains, and that loads what it has saved."""
    if program.story.local or program.story.truncated or not program.trains:
        return
    kept = of_checkpoints(program, _STATES)
    if not kept:
        yield from of_tensorflow(program, rule)
        yield from _of_lightning(program, rule)
        yield from of_engines(program, rule)
        yield from of_jax(program, rule)
    yield from _of_torch(program, rule, kept)


def _of_torch(program: Program, rule: Rule, kept: bool) -> Iterator[Draft]:
    """At the first checkpoint of weights or an optimizer; ``kept``: the states of generators are saved somewhere."""
    whole = [e for e in program.calls(*_SAVES) if not e.detached and _lacks_state(program, e, random=True)]
    saves = [e for e in whole if _lacks_state(program, e)]
    saves += [e for e in program.calls(*PICKLES) if not e.detached and any(map(_is_network, _leaves(*e.args[:1])))]
    if kept or not saves:
        kept, saves = True, whole
    if not saves:
        return
    steps = [e for e in program.events if _steps(e) and e.loops and not e.detached]
    for load in _loads(program):
        after = [e for e in steps or program.trains if e.index > load.index and e.meets(load)]
        loops = {number for event in after for number in event.loops}  # those that change the weights
        met = [e for e in saves if e.meets(load)]
        if met and load.name.startswith(_OPTIMIZER):  # its state may have a file of its own, beside that of the weights
            others = (e for e in program.calls(*_SAVES) if e not in met and not e.detached and e.meets(load))
            met += [e for e in others if _holds_optimizer(program, e)]
        met.sort(key=lambda e: (not loops.intersection(e.loops), not _holds_optimizer(program, e)))
        if not met or not loops:
            continue
        drawn = None if kept else _drawn(program, load, loops)
        # It may be got to in several ways; what is told of it holds on each.
        training = [e for e in steps if loops.intersection(e.loops)]
        also = (*lost(program, load, training), *progress(program, load, met, training))
        if drawn is not None or (also and (load.name.startswith(_OPTIMIZER) or resumes(load))):
            there = [e for e in (*saves, *(e for e in met if e not in saves)) if e.location == met[0].location]
            yield from _drafts(program, rule, there, load, drawn, also)
            return


def _drawn(program: Program, load: Event, loops: set[int]) -> Event | None:
    """What draws first in the training that goes on from a load; a layer that drops draws whenever it is used."""
    going = (d.event for d in draws(program) if _goes_on(program, d, load))
    found = next((e for e in going if loops.intersection(e.loops) and e.meets(load)), None)
    sure = load.name.startswith(_OPTIMIZER) or resumes(load)  # what is trained there has these layers
    layers = (d.event for d in draws(program) if sure and _drops(d.event))
    return found or next((e for e in layers if e.meets(load)), None)


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
    program: Program, rule: Rule, saves: Sequence[Event], load: Event, drawn: Event | None, also: Sequence[str]
) -> Iterator[Draft]:
    related = places(load, drawn)
    holds = "the optimizer" if load.name.startswith(_OPTIMIZER) else "the weights"
    asked = (one for one in load.guards if by_default(one) is False or RESUMES.search(describe(one)))
    resumed = both(*(one for one in asked if " or " not in describe(one) and not _THERE.search(describe(one))))
    acts = any(_is_of_environment(e) and e.loops and not e.detached for e in program.events)
    remedy = with_states(also, drawn is not None, acts, rule, program)
    lacks = told(also, drawn is not None, any(_holds_optimizer(program, saved) for saved in saves))
    for saved in saves:
        yield draft(program, rule, saved, cond=resumed, related=related, remedy=remedy, holds=holds, lacks=lacks)


def _of_lightning(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where ``fit`` is given a checkpoint: it holds loops, optimizers and callbacks, and no generator.

    Source: lightning/pytorch/trainer/connectors/checkpoint_connector.py (``dump_checkpoint``), 1.5 to 2.6.
    """
    for fit in program.calls(_FIT):
        asked = [(fit, _CHECKPOINT), *((made, _FORMER) for made in made_by(fit.receiver))]
        given = either(_set(program), *(_given(program, event, argument) for event, argument in asked))
        drawn = next((d.event for d in draws(program) if d.event.trains or _in_fit(d, fit)), None)
        if given is not False and drawn is not None and not fit.detached:
            related = [] if drawn is fit else [draws_on(drawn)]
            yield draft(program, rule, fit, cond=given, related=related, holds="weights and optimizers", lacks=told(()))
            return


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


def _loads(program: Program) -> list[Event]:
    """The calls that load what training goes on from: the optimizer's state first, else weights by a word."""
    ends = (_LOAD, _UNPICKLES, *PICKLED)
    found = [e for e in program.events if e.kind == "call" and not e.detached and e.name.endswith(ends)]
    optimizers = [e for e in found if e.name.startswith(_OPTIMIZER)]
    saves = with_moves(program, list(program.calls(*_SAVES)))
    loads = optimizers or [e for e in found if resumes(e) or _is_own(e, saves) or _goes_back(program, e)]
    return sorted(loads, key=lambda load: sum(by_default(one) is False for one in load.guards))


def _goes_back(program: Program, load: Event) -> bool:
    """Whether a flag asks for a file whose weights go, as they are, into the very network that the program saves."""
    if not any(_ASKED.search(words := describe(one)) and not _OTHER.search(words) for one in load.guards):
        return False
    if load.name.endswith(_LOAD):
        states = program.once("states", _states)
        read = any(e.result is load.args[0] for e in program.calls(_UNPICKLES)) if load.args else False
        return read and any(made.receiver is load.receiver for made in states if not made.detached)
    kept = program.calls(*(PICKLES if load.name.endswith(PICKLED) else _SAVES))
    return any(_is_network(leaf) for e in kept for leaf in _leaves(*e.args[:1]))


def _is_network(leaf: Value) -> bool:
    """Whether a value is a network as a whole."""
    if isinstance(leaf, Inst):
        return "torch.nn.Module" in leaf.cls.external()
    return isinstance(leaf, Obj) and leaf.type.startswith("torch.nn.")


def _is_own(load: Event, saves: Sequence[Event]) -> bool:
    """Whether what the program itself saves is loaded where that is asked for (`--start_epoch 20`) or is there already.

    (That it is loaded unasked is a matter of its own, `leftover-checkpoint`, with another cure.)
    """
    asked = any(by_default(one) is False or _THERE.search(describe(one)) for one in load.guards)
    return load.name == _UNPICKLES and asked and from_own(load, saves)


def _goes_on(program: Program, draw: Draw, load: Event) -> bool:
    """Whether a draw comes after ``load`` and is not seeded anew in between (as by the number of the epoch)."""
    if draw.event.detached or draw.event.index < load.index:
        return False
    between = (s for s in seedings(program) if load.index < s.event.index < draw.event.index)
    return not any(draw.generator in s.generators for s in between)


def _lacks_state(program: Program, event: Event, random: bool = False) -> bool:
    """Whether weights or an optimizer's state, and nothing about random state (but for ``random``), is saved."""
    saved = event.args[0] if event.args else event.kwargs.get("obj")
    return saved is not None and any(_is_checkpoint(program, leaf, event, random) for _, leaf in alternatives(saved))


def _is_checkpoint(program: Program, saved: Value, event: Event, random: bool) -> bool:
    if isinstance(saved, Dict):
        keys = [str(key).lower() for key in saved.items]
        if not random and any(word in key for key in keys for word in _RANDOM):
            return False
        if (
            saved.open
        ):  # filled by a loop over what is kept: `for name, one in parts.items(): saved[name] = one.state_dict()`
            return any(made.func is event.func for made in program.once("states", _states))
        named = any(word in key for key in keys for word in (_KEY, *_WEIGHTS))
        return named or any(_is_state(program, leaf) for leaf in _leaves(*saved.items.values()))
    if isinstance(saved, Seq):
        parts = _leaves(*(saved.items or ()), saved.element)
        return any(isinstance(leaf, Inst) or _is_state(program, leaf) for leaf in parts)
    return _is_network(saved) or (_is_state(program, saved) and not _is_optimizer(saved))


def _holds_optimizer(program: Program, save: Event) -> bool:
    """Whether the state of an optimizer is in what is saved."""
    states = (made for made in program.once("states", _states) if made.name.startswith(_OPTIMIZER))
    kept = {id(made.result) for made in states}
    saved = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    parts = (one for leaf in saved for one in ([*leaf.items.values()] if isinstance(leaf, Dict) else [leaf]))
    return any(id(leaf) in kept or _is_optimizer(leaf) for leaf in _leaves(*parts))


def _leaves(*items: Value | None) -> list[Value]:
    return [leaf for item in items for _, leaf in alternatives(item)]


def _is_state(program: Program, leaf: Value) -> bool:
    """Whether a value is an optimizer, or the state of one or of a network, whatever it is kept under."""
    return _is_optimizer(leaf) or any(made.result is leaf for made in program.once("states", _states))


def _states(program: Program) -> list[Event]:
    return [event for event in program.events if event.kind == "call" and event.name.endswith(_STATE)]


def _is_optimizer(leaf: Value) -> bool:
    return isinstance(leaf, Obj) and leaf.type.startswith(_OPTIMIZER)
