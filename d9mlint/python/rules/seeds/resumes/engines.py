"""Training that goes on from the checkpoint of an engine of DeepSpeed, of fvcore's checkpointer, or of an accelerator.

DeepSpeed's holds weights, optimizer, schedule and steps, and no generator (deepspeed/runtime/engine.py of 0.3 to 0.17,
``_save_checkpoint``); fvcore's the states of the network and of what else it was given (fvcore/common/checkpoint.py of
0.1.5, ``save``, ``resume_or_load``). Accelerate's holds what was prepared or registered, the scaler and all generators,
and neither the place in the epoch nor any count (accelerate/accelerator.py of 0.12 to 1.15, ``save_state``,
``load_state``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import alternatives
from d9mlint.python.frameworks.torch.mode import truthy
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.judging.randomness import draws
from d9mlint.python.rules.seeds.resumes.lost import EPOCH, PLACE, lost, told, words
from d9mlint.python.rules.seeds.resumes.progress import progress
from d9mlint.python.rules.seeds.resumes.resuming import feeds, places, seeded_anew

_ENGINE, _CHECKPOINTER = "deepspeed.DeepSpeedEngine.", "fvcore.common.checkpoint.Checkpointer."
_SAVES = {
    f"{_ENGINE}load_checkpoint": (f"{_ENGINE}save_checkpoint", "weights and optimizer"),
    f"{_CHECKPOINTER}resume_or_load": (f"{_CHECKPOINTER}save", "the objects that the checkpointer was given"),
}
"""What loads a checkpoint to go on from it, what saves it, and what it holds."""
_RESUME = Argument(None, "resume")
_ACCELERATOR = "accelerate.Accelerator."
_HANDED = ("prepare", "prepare_optimizer", "prepare_scheduler", "prepare_model", "register_for_checkpointing")
_HAND = "hand {} to `accelerator.prepare` (or to `accelerator.register_for_checkpointing`)"
_SKIP = "pass over what the epoch has done: `accelerator.skip_first_batches(loader, done)`"
_COUNT = "save the number of epochs and steps done, and begin the loops with them"


def of_engines(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first save of an engine that also loads, and then trains with random numbers."""
    for load in program.calls(*_SAVES):
        save, holds = _SAVES[load.name]
        saved = next((e for e in program.calls(save) if not e.detached and e.meets(load)), None)
        after = [e for e in program.trains if e.index > load.index and e.meets(load)]
        loops = {number for event in after for number in event.loops}
        asked = load.argument(_RESUME)
        goes_on = True if asked is None else truthy(asked)
        if load.detached or saved is None or not loops or goes_on is False:
            continue
        found = (d for d in draws(program) if feeds(d, load, loops) and not seeded_anew(program, d, load))
        drawn = next((d.event for d in found), None)
        if drawn is not None:
            related = places(load, drawn)
            cond = symbolic_part(both(*load.guards, goes_on))
            yield draft(program, rule, saved, cond=cond, related=related, holds=holds, lacks=told(()))
            return


def of_accelerators(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call that saves the state of an accelerator which is loaded before the training."""
    saves = [e for e in program.calls(f"{_ACCELERATOR}save_state") if not e.detached]
    for load in program.calls(f"{_ACCELERATOR}load_state"):
        met = [save for save in saves if save.meets(load)]
        after = [e for e in program.events if _steps(e) and e.index > load.index and e.meets(load)]
        if load.detached or not met or not after:
            continue
        calls = program.calls(*(f"{_ACCELERATOR}{name}" for name in _HANDED))
        handed = {id(leaf) for e in calls for value in e.args for _, leaf in alternatives(value)}
        behind = lost(program, load, after, handed)
        also = (*behind, *progress(program, load, met, after, True))
        if also:
            cond = besides_files([symbolic_part(both(*load.guards))])
            yield draft(
                program, rule, met[0], cond=cond, related=places(load, None), remedy=_to_hand(also, behind),
                holds="what the accelerator prepares and the generators", lacks=told(also, False),
            )  # fmt: skip
            return


def _steps(event: Event) -> bool:
    """Whether a call steps an optimizer or what goes with it, in a loop."""
    named = event.kind == "call" and event.name.startswith("torch.optim.") and event.name.endswith(".step")
    return named and bool(event.loops) and not event.detached


def _to_hand(also: Sequence[str], behind: Sequence[str]) -> str:
    parts = [_HAND.format(words(f"the {kind}" for kind in behind))] if behind else []
    parts += [_SKIP] if PLACE in also else []
    return "; ".join([*parts, *([_COUNT] if EPOCH in also else [])])
