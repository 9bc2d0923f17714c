"""Training that goes on, unasked, from a checkpoint in the folder into which the program itself saves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import (
    Cond,
    both,
    by_default,
    either,
    has_raised,
    symbolic_part,
)
from d9mlint.python.domain.diagrams import simplified
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Ref, Text, Unknown, Value, alternatives
from d9mlint.python.frameworks import arrays, checkpoints
from d9mlint.python.frameworks.jax.calls import APPLIED
from d9mlint.python.frameworks.tensorflow import sessions
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.frameworks.torch.loaders import CONTEXTS
from d9mlint.python.frameworks.torch.tensors import LOADING
from d9mlint.python.interpreter.library.streams import FILE_TESTS, writes
from d9mlint.python.interpreter.marks.bounded import listings
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by, results
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.files.calls import file_of, listed_by, tested_file
from d9mlint.python.judging.files.kept import (
    besides_files,
    lists_files,
    of_this_run,
    perhaps_saved,
    saved_there,
    with_moves,
)
from d9mlint.python.judging.files.places import flags_of, flags_within, lasting
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.warm_starts import begins_again, own_save
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host.leftovers.by_itself import by_itself
from d9mlint.python.rules.host.leftovers.picked_up import picked_up
from d9mlint.python.rules.host.leftovers.unasked import (
    RESUMES,
    THERE,
    asked_for,
    asks_for_files,
    besides_path,
    is_asked,
    left_over,
    listed,
    named_in,
)
from d9mlint.python.rules.host.leftovers.unsaved import unsaved

_NEWEST = {
    **checkpoints.FINDERS,
    **sessions.SUPERVISED,
    **sessions.RESTORING,
    "flax.training.checkpoints.restore_checkpoint": Argument(0, "ckpt_dir"),
    "deepspeed.DeepSpeedEngine.load_checkpoint": Argument(0, "load_dir"),
}
"""Calls that find, or take up, the newest checkpoint of a folder, and where it is given."""
_RESTORES = ("tensorflow.train.Checkpoint().restore", "tensorflow.train.CheckpointManager().checkpoint.restore")
_MANAGED = ".latest_checkpoint"
_INITIALIZES = (
    "tensorflow.train.CheckpointManager().restore_or_initialize",
    "clu.checkpoint.Checkpoint().restore_or_initialize", "clu.checkpoint.MultihostCheckpoint().restore_or_initialize",
)  # fmt: skip
"""Methods of what keeps a folder that restore the newest checkpoint in it (clu 0.0.12, checkpoint.py)."""
_KEEPERS = ("tensorflow.train.", "clu.checkpoint.")
_IF_THERE = ("torch.load", *arrays.LOADS, "keras.Model.load_weights", "keras.models.load_model")
"""Calls that load what they are given: where that depends on whether the file is there, they go on from it."""
_INTO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("torch.load", *arrays.PICKLED), (".load_state_dict",)),
    "numpy.load": (".set_weights", ".assign"),
}
"""How methods end that fill a model, or its variables, from what such a call has loaded, which may be anything."""
_FILLS = tuple({end for ends in _INTO.values() for end in ends})
_TELL = ".tell"
"""How a search learns the results of what it has asked for (`solver.ask()`, `solver.tell(points, losses)`): of pycma,
nevergrad, scikit-optimize; a stream has a method of this name that takes nothing."""
_ENDS = ("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
"""Calls that end the program."""
_RESTORE, _PATH, _FIRST = "tensorflow.train.Saver().restore", Argument(1, "save_path"), Argument(0, "f")
_ELSEWHERE = "save into another folder than the one that the weights to begin with are taken from"
_FINDS = "finds the file"
_NOT_THERE = (
    "give each run an empty folder of its own, and refuse one that is not empty instead of passing over the training"
)
_LOADS = (*_NEWEST, *_INITIALIZES, *_RESTORES, *_IF_THERE)
_SAVES = re.compile(
    r"tensorflow\.train\.(Saver|Checkpoint|CheckpointManager)\(\)\.(save|write)|tensorflow\.train\.CheckpointManager|"
    r"flax\.training\.checkpoints\.save_checkpoint(_multiprocess)?|clu\.checkpoint\.\w+\(\)\.save|torch\.save|"
    r"numpy\.savez?(_compressed)?|deepspeed\.DeepSpeedEngine\.save_checkpoint|accelerate\.(Accelerator|utils)\.save|"
    r"(transformers|paddlenlp\.trainer)\.\w*TrainingArguments|(transformers|trl|paddlenlp\.trainer)\.\w*Trainer(\.__init__)?|"
    r"trl\.\w+Config|"
    r"keras\.Model\.(save|save_weights)|keras\.models\.save_model|keras\.callbacks\.ModelCheckpoint|"
    + re.escape(sessions.SAVING_HOOK)
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that takes up such a checkpoint before the program trains."""
    if program.story.local or program.story.truncated:
        return
    yield from by_itself(program, rule)
    tells = (event for event in program.ending(_TELL, "call") if event.args)
    trained = (*program.trains, *trainings(program), *program.calls(*APPLIED), *tells)
    steps = [event for event in trained if not event.detached]
    steps.sort(key=lambda event: event.index, reverse=True)
    states = [s.event for s in seedings(program) if s.restores and not s.event.detached]
    saves = [e for e in program.named(_SAVES.fullmatch, "call") if not e.detached]
    saves += [e for e in program.calls(*arrays.PICKLES) if not e.detached and arrays.holds_weights(program, e)]
    saves = with_moves(program, saves)
    for load in program.calls(*_LOADS):
        own = load.name in sessions.SUPERVISED  # a session, in which the program trains
        training = next((step for step in steps if step.meets(load)), None)
        if own and not sessions.restores(load):
            continue
        if load.name in _IF_THERE and load.inside(LOADING, *CONTEXTS):
            continue  # items of a data set
        if load.detached or training is None or (load.index >= training.index and not own):
            continue
        if any(e.index > load.index for e in states):
            continue  # (with the states of the generators it ends like the run that it goes on with)
        kept = [e for e in saves if _of_one_command(load, e)]
        if load.name in _IF_THERE and (not kept or of_this_run(load, next(iter(load.args), None), kept)):
            continue
        folder, guards = _newest_of_its_own(program, load, training, kept)
        unasked = folder is None and not asked_for(load, training)
        if unasked:
            folder = _taken_up(program, load)
        if folder is None:
            folder, guards = _found_there(program, load, training, kept)
        if folder is None and unasked:
            folder = _tried(program, load, steps, kept)
        if folder is None or is_none(folder) is True:
            continue
        if own or _saved_there(folder, kept):
            told = replace(load, guards=guards) if guards else load
            there = [(cond, leaf) for cond, leaf in alternatives(folder) if own or _saved_there(leaf, kept)]
            goes_on = True if own else symbolic_part(either(*(both(*s.guards) for s in steps if s.index > load.index)))
            when = both(goes_on, either(*(both(cond, lasting(leaf)) for cond, leaf in there)))
            later = [e for e in kept if e.index > load.index]
            if load.name in sessions.RESTORING:
                later = [e for e in kept if e.name == sessions.SAVING_HOOK or e in later]
                when = both(when, symbolic_part(either(*(both(*e.guards) for e in later))))
            if when is not False:
                yield left_over(program, rule, told, folder, later, when=when)
    yield from _skipped(program, rule, steps, saves)
    yield from _begun_with(program, rule, steps[::-1], saves)
    yield from unsaved(program, rule, steps, saves)
    if not steps or not saves:
        yield from picked_up(program, rule, _IF_THERE)


def _of_one_command(load: Event, save: Event) -> bool:
    """Whether one run can come to both, but for what files are there: a second one finds others."""
    return both(besides_files(load.guards), besides_files(save.guards)) is not False


def _skipped(program: Program, rule: Rule, steps: Sequence[Event], saves: Sequence[Event]) -> Iterator[Draft]:
    """Where the program trains only if a file is not there yet that it saves itself."""
    if not steps or not all(_if_absent(step) for step in steps):
        return
    first = min(step.index for step in steps)
    tests = reversed(program.ending(FILE_TESTS, "call"))
    for test in (one for one in tests if one.index < first and not one.detached):
        path = tested_file(test)
        if path is not None and saved_there(path, saves) and any(step.meets(test) for step in steps):
            written = [e for e in program.events[first:] if writes(e) and any(given is path for given in e.args)]
            yield left_over(
                program, rule, test, path, written or saves, "does not train", does=_FINDS, remedy=_NOT_THERE
            )
            return


def _begun_with(program: Program, rule: Rule, steps: Sequence[Event], saves: Sequence[Event]) -> Iterator[Draft]:
    """Where a flag asks for weights to begin with, and the same command saves into their place: `--pretrain --save`.

    A training that counts from the start, whatever was loaded, does all its steps again.
    """
    told: list[Event] = []
    for load in program.calls(*_LOADS, _RESTORE):
        training = next((step for step in steps if step.index > load.index and step.meets(load)), None)
        if load.detached or training is None or not asked_for(load, training):
            continue
        path = load.argument(_NEWEST.get(load.name, _PATH if load.name == _RESTORE else _FIRST))
        path = None if path is None else file_of(path, results(program))
        if isinstance(path, Ref) and any(made in told for made in made_by(path.receiver)):
            continue  # (what was found is loaded)
        after = [e for e in saves if e.index > load.index and e.meets(load)]
        saved = own_save(path, after) if path is not None and begins_again(program, load, steps) else None
        if path is not None and saved is not None and _into_weights(program, load):
            when = symbolic_part(both(*saved.guards))
            told.append(load)
            yield left_over(program, rule, load, path, [saved], when=when, remedy=_ELSEWHERE)


def _if_absent(step: Event) -> bool:
    """Whether a step is done only where a file is not there."""
    told = (describe(one) for one in step.guards)
    return any(THERE.search(text) and text.startswith("not ") for text in told)


def _taken_up(program: Program, load: Event) -> Value | None:
    """The folder or file that a call takes up where it is there; None for other calls."""
    if load.name in _NEWEST:
        return load.argument(_NEWEST[load.name])
    if load.name in _INITIALIZES:
        return load.receiver
    first = file_of(load.args[0], results(program)) if load.args else None
    if load.name in _RESTORES:
        return first if isinstance(first, Ref) and first.name.endswith(_MANAGED) else None
    if load.name not in _IF_THERE or not _into_weights(program, load):
        return None
    there = any(asks_for_files(one) or lists_files(one) for one in load.guards)
    return listed(program, first) or named_in(program, first) or (first if there else None)


def _found_there(
    program: Program, load: Event, training: Event, saves: Sequence[Event]
) -> tuple[Value | None, tuple[Cond, ...]]:  # fmt: skip
    """Of several files that a call may load the one that the program saves, taken unasked where it is there; and when.

    ``source = last if last.exists() and not args.restart else args.start_from``; also one that the program finds by
    listing its folder: ``if config.auto_resume: config.resume = max(glob(folder), key=getmtime)``.
    """
    several = alternatives(file_of(load.args[0], results(program))) if load.name in _IF_THERE and load.args else ()
    if not several or not _into_weights(program, load):
        return None, ()
    for cond, leaf in several:
        folder = listed(program, leaf)
        if not saved_there(folder or leaf, saves) or not (folder is not None or asks_for_files(cond)):
            continue
        here = both(cond, *load.guards)
        unasked = by_default(simplified(here, both(*training.guards))) is not False
        here = here if folder is None else besides_path(here)
        if unasked and not is_asked(describe(here)):
            return folder or leaf, (here,)
    return None, ()


def _tried(program: Program, load: Event, steps: Sequence[Event], saves: Sequence[Event]) -> Value | None:
    """What a call loads in a ``try`` that is over before the training, where the program goes on without it.

    A path that somebody names to go on from is asked for, whatever is done where nothing is there.
    """
    path = file_of(load.args[0], results(program)) if load.tried and load.args and load.name in _IF_THERE else None
    after = [step for step in steps if step.index > load.index and step.meets(load)] if path is not None else []
    if path is None or not after or load.tried <= min(s.tried for s in after) or not _into_weights(program, load):
        return None
    saved = {name for save in saves for value in (*save.args, *save.kwargs.values()) for name in flags_within(value)}
    picked = flags_within(path).keys() - saved  # one of several files that the program saves: `--step 300`
    named = bool(picked) or is_none(path) is not False or any(RESUMES.search(name) for name in flags_of(path))
    if named or _is_needed(program, load, min(step.index for step in after)):
        return None
    return path if perhaps_saved(path, saves) else None


def _is_needed(program: Program, load: Event, until: int) -> bool:
    """Whether the handler of an error of a call ends the program, or loads in another way."""
    handled: Cond | None = None
    for event in program.events[load.index + 1 : until]:
        error = next((one for one in event.guards if one not in load.guards and has_raised(one)), None)
        if error is None or event.tried >= load.tried or handled not in (None, error):
            continue
        handled = error
        if event.name in _ENDS or event.name in _LOADS or event.name.endswith(_FILLS):
            return True
    return False


def _newest_of_its_own(
    program: Program, load: Event, training: Event, saves: Sequence[Event]
) -> tuple[Value | None, tuple[Cond, ...]]:  # fmt: skip
    """The folder of which the program lists what it has saved, to put the path together that it then loads, unasked.

    And when: what it calls that path says nothing (``args.resume = os.path.join(folder, f"{newest}.pth")``), but where
    it lists the folder.
    """
    if load.name not in _IF_THERE or not load.args or not _into_weights(program, load):
        return None, ()
    path = file_of(load.args[0], results(program))
    found = ((cond, leaf) for cond, leaf in alternatives(path) if _is_put_together(leaf))
    own = [(cond, leaf) for cond, leaf in found if saved_there(leaf, saves)]
    before = (e for e in program.effective if e.index < load.index and not e.detached) if own else ()
    for listing in listings(before):
        folder = listed_by(listing)
        for cond, _ in own:
            guards = (*listing.guards, cond)
            unasked = by_default(simplified(both(*guards, *load.guards), both(*training.guards))) is not False
            words = any(is_asked(describe(one), off=True) for one in guards)
            if folder is not None and unasked and not words and listing.meets(load) and saved_there(folder, saves):
                return folder, guards
    return None, ()


def _is_put_together(path: Value) -> bool:
    """Whether a path has a part that is only known when it runs, after a folder."""
    parts = path.parts if isinstance(path, Text) else path.event.args if isinstance(path, Obj) and path.event else ()
    return any(isinstance(leaf, Unknown) for part in parts[1:] for _, leaf in alternatives(part))


def _into_weights(program: Program, load: Event) -> bool:
    """Whether the function that loads a file, or the one that calls it, fills a model from it: no cache of data."""
    fills = _INTO.get(load.name, ())
    filling = program.ending(fills, "call") if fills else ()
    after = [e for e in filling if e.index > load.index and not e.detached]
    there = any(e.func is load.func or _is_handed(program, load, e) or _is_by_helper(program, load, e) for e in after)
    if load.name in arrays.LOADS and not there:
        # (The parameters that a step of optax makes are a value, which fills nothing.)
        return arrays.fills(program, load) or bool(program.calls(*arrays.STEPS))
    return not fills or there


def _is_handed(program: Program, load: Event, event: Event) -> bool:
    """Whether the caller of a function makes a call with what that one has loaded, before it loads something else."""
    outer = load.stack[:-1]
    if not load.stack or event.stack != outer:
        return False
    between = (e for e in program.calls(load.name) if load.index < e.index <= event.index)
    return not any(e.stack == outer and not e.detached for e in between)


def _is_by_helper(program: Program, load: Event, event: Event) -> bool:
    """Whether a call stands in a function for loading that the one calls which loads, before something else is loaded.

    ``state = torch.load(path)``, ``load_weights(net, state)``.
    """
    if event.stack[:-1] != load.stack or event.func is None or "load" not in event.func.name:
        return False
    between = (e for e in program.calls(*_IF_THERE) if load.index < e.index <= event.index)
    return not any(e.meets(load) and not e.detached for e in between)


def _saved_there(folder: Value, saves: Iterable[Event]) -> bool:
    """Whether one of these calls saves there, as far as the paths can be told; a manager has one folder for both."""
    saves = list(saves)
    if isinstance(folder, Ref) and folder.name.endswith(_MANAGED):
        return bool(saves)
    if isinstance(folder, Ref) and folder.receiver is not None and any(_keeps(s, folder.receiver) for s in saves):
        return True  # the folder of the object that saves, or whose settings say where: `arguments.output_dir`
    if isinstance(folder, Obj) and folder.type.startswith(_KEEPERS):
        return bool(saves)
    return saved_there(folder, saves)


def _keeps(saved: Event, settings: Value) -> bool:
    """Whether a call makes these settings, or a trainer that is told by them where it saves: ``Trainer(args=...)``."""
    return saved.result is settings or any(one is settings for one in (*saved.args[1:2], *saved.kwargs.values()))
