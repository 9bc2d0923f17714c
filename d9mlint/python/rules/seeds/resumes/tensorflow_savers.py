"""Checkpoints of TensorFlow: savers, sessions and Estimators that go on by themselves; none holds a generator."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import both, by_default, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Const, Obj, Value, alternatives
from d9mlint.python.frameworks import arrays
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.frameworks.tensorflow.estimators import ends, folders
from d9mlint.python.frameworks.tensorflow.sessions import (
    NEWEST,
    counts_steps,
    initial_values,
    own_graph,
    reset_before,
    takes_up,
)
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.calls import file_of
from d9mlint.python.judging.files.kept import named_otherwise, of_this_run, saved_there
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.warm_starts import begins_anew, is_warm_start, own_save, saves_at_the_end
from d9mlint.python.rules.seeds.resumes.lost import OPTIMIZER, UNREAD, lost_by_saver, told
from d9mlint.python.rules.seeds.resumes.resuming import both_remedies, draws_on, feeds, places, resumes

_RESTORE = "tensorflow.train.Saver().restore"
_SAVES = (
    "tensorflow.train.Saver().save", "keras.callbacks.ModelCheckpoint", "keras.Model.save", "keras.Model.save_weights",
)  # fmt: skip
_TRACKED = (
    "tensorflow.train.Checkpoint().restore", "tensorflow.train.CheckpointManager().restore_or_initialize",
    "tensorflow.train.CheckpointManager().checkpoint.restore",
)  # fmt: skip
_TRACKED_SAVES = ("tensorflow.train.Checkpoint().save", "tensorflow.train.CheckpointManager().save")
_HOLDS = ("tensorflow.random.Generator", "tensorflow.data.", "iter(")
"""Types of what a ``tf.train.Checkpoint`` may hold besides variables: generators, and places in the data."""
_WEIGHTS = "keras.Model.load_weights"
_SLOTS = "keras.optimizers."
_INITIAL = "initial_epoch"
_BACKUP = "keras.callbacks.BackupAndRestore"
_OF_MODELS = ("keras.models.load_model", _WEIGHTS)
_COMPILES = Argument(2, "compile")
_COMPILED = "load the model without `compile=False` and do not compile it again, as that makes another optimizer"
_READER, _GIVES = "tensorflow.train.load_checkpoint", "tensorflow.train.load_checkpoint().get_tensor"
_FILLS = (".load", ".assign")
"""How methods of variables end that are given what a reader of a checkpoint gives."""
_LOADS = (_RESTORE, _READER, *_OF_MODELS, *_TRACKED, *arrays.LOADS)
_PATH, _IN_NAME = Argument(1, "save_path"), Argument(2, "global_step")


def of_tensorflow(program: Program, rule: Rule) -> Iterator[Draft]:
    """One draft: of variables that are restored before a training that draws, or of what restores them by itself."""
    yield from next(filter(None, map(list, (_of_savers(program, rule), _of_sessions(program, rule)))), [])
    yield from _of_estimators(program, rule)
    yield from _of_backups(program, rule)


def _of_savers(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where variables are restored that a flag asks for, or that an earlier run of the program has saved."""
    initial = initial_values(program)
    for load in program.calls(*_LOADS):
        loose = load.name in arrays.LOADS
        names = _TRACKED_SAVES if load.name in _TRACKED else arrays.SAVES if loose else _SAVES
        saves = [e for e in program.calls(*names) if not e.detached and (not loose or arrays.holds_weights(program, e))]
        if (loose and not arrays.fills(program, load)) or (load.name == _READER and not _is_put_in(program, load)):
            continue
        training = [e for e in trainings(program) if e.index > load.index and e.meets(load)]
        met = [e for e in saves if e.meets(load)]
        if load.detached or not training or not met or of_this_run(load, _paths(program, load)[0], saves):
            continue
        if not (_goes_on(program, load, saves) or any(map(_counts_on, training))):
            continue
        if load.name in _TRACKED and _holds_more(program):
            continue
        warm = is_warm_start(program, load, training)
        ended = saves_at_the_end(met, training)
        ended = ended and begins_anew(program, load, training, numbered=False)
        slight = "info" if warm or ended else ""
        asked = any(by_default(one) is False for one in load.guards)
        if (warm or (ended and not asked)) and any(own_save(path, saves) for path in _paths(program, load)):
            continue  # what the same command has left, to begin with: `leftover-checkpoint`
        if load.name == _WEIGHTS and any(e.index < load.index and e.meets(load) for e in (*trainings(program), *saves)):
            continue  # the best of what this run has seen, or a copy of what it has just saved
        loops = {number for event in training for number in event.loops}
        found = (d.event for d in draws(program) if feeds(d, load, loops))
        drawn = next((e for e in found if id(e) not in initial), None)
        if drawn is not None:
            related, notes = places(load, drawn), {}
            resumed, also = symbolic_part(both(*load.guards)), lost_by_saver(program, load)
            more = "let the saver hold all variables (`tf.train.Saver()`)" if also else ""
            weights = loose or load.name == _WEIGHTS
            if load.name == _WEIGHTS:
                also, more = (OPTIMIZER,), "save and load the whole model (`keras.models.load_model`)"
            elif load.name == _OF_MODELS[0] and _is_false(load.argument(_COMPILES)):
                also, notes, more = (OPTIMIZER,), {OPTIMIZER: UNREAD}, _COMPILED
            if loose:
                also = (OPTIMIZER,) if _leaves_out_slots(program) else ()
                notes = {OPTIMIZER: UNREAD} if also and _saves_slots(program) else {}
                more = "save and restore the model, the optimizer and the step by `tf.train.Checkpoint`" if also else ""
            remedy = _by_name(program, load, met[0])
            remedy = (
                f"{more}; {remedy}" if more and remedy else remedy or both_remedies(more, rule, program, "tensorflow")
            )
            remedy, graph = _in_graph(program, load, remedy or rule.remedy(program.target, ("tensorflow",)))
            yield draft(
                program, rule, met[0], cond=resumed, severity=slight, related=[*related, *graph],
                remedy=remedy, holds="the weights" if weights else "the variables",
                lacks=told(also, notes=notes, warm=bool(slight)),
            )  # fmt: skip
            return


def _goes_on(program: Program, load: Event, saves: list[Event]) -> bool:
    """Whether a load is asked for by a word, or takes up what the program itself has saved."""
    if resumes(load) or load.name == _TRACKED[1]:
        return True
    if load.name == _RESTORE and any(by_default(one) is False for one in load.guards):
        return True
    path, *folders = _paths(program, load)
    if saved_there(path, saves) and not named_otherwise(path, saves):
        return True
    return any(saved_there(folder, saves) for folder in folders)


def _is_put_in(program: Program, load: Event) -> bool:
    """Whether variables are given the values in a checkpoint: ``variable.load(reader.get_tensor(name), session)``."""
    makers = results(program)
    given = (value for e in program.ending(_FILLS, "call") if e.index > load.index for value in e.args[:1])
    made = (one for value in given for one in made_of(value, makers) if one.name == _GIVES)
    return any(one is load for e in made for one in made_of(e.receiver, makers))


def _paths(program: Program, load: Event) -> list[Value]:
    """The file that is loaded, and the folders of which the function that loads it finds the newest one."""
    path = load.argument(_PATH) if load.name == _RESTORE else next(iter(load.args), None)
    found = (e for e in program.calls(*NEWEST) if e.index < load.index and e.meets(load) and not e.detached)
    near = [e.argument(NEWEST[e.name]) for e in found if e.func is load.func]
    return [UNKNOWN if path is None else file_of(path, results(program)), *(one for one in near if one is not None)]


_SEED = (
    "call `tf.set_random_seed(seed + step)` before the graph is built, and `np.random.seed(seed + step)` and "
    "`random.seed(seed + step)`, with the step that {}; 0 where there is none), as no checkpoint holds the generators"
)
_NUMBER = '`int(tf.train.latest_checkpoint(folder).rpartition("-")[2])`'
_NUMBERED = f"the name of the newest checkpoint ends with ({_NUMBER}"
_UNNUMBERED = f"`saver.save(..., global_step=step)` puts into the name of the file ({_NUMBER}"


_OF_KERAS = (
    "keep the number of the epoch that the file was saved after (in its name, say, by `{{epoch}}`), train on with "
    "`initial_epoch=epoch`, and seed from it before data and model are made: `random.seed(seed + epoch)`, "
    "`np.random.seed(seed + epoch)` and `{}(seed + epoch)`, as a file of Keras holds neither generators nor the epoch"
)


def _by_name(program: Program, load: Event, saved: Event) -> str:
    """The remedy where the step is no variable: for files of Keras, and graphs of TensorFlow 1 without; else empty."""
    if load.name in _OF_MODELS:
        seeds = "tf.random.set_seed" if program.target.fits("tensorflow", ">=2.0") else "tf.set_random_seed"
        return _OF_KERAS.format(seeds)
    if load.name != _RESTORE or not program.target.fits("tensorflow", "<2.0") or counts_steps(program):
        return ""
    step = saved.argument(_IN_NAME)
    return _SEED.format(_UNNUMBERED if step is None or is_none(step) is True else _NUMBERED)


_BEFORE_GRAPH = "before the graph is built"
_MADE = "makes the graph that goes on: a seed that is set before is that of another"


def _in_graph(program: Program, load: Event, remedy: str) -> tuple[str, list[Related]]:
    """A remedy with the place of its seed where the graph that goes on is not the first one, and where it is made."""
    own, reset = own_graph(program, load), reset_before(program, load)
    made = own or reset
    if made is None:
        return remedy, []
    where = "first in the block of `as_default()`" if own else "after `tf.reset_default_graph()`"
    return remedy.replace(_BEFORE_GRAPH, where), [Related(made.location, _MADE)] * (_BEFORE_GRAPH in remedy)


def _is_false(value: Value | None) -> bool:
    """Whether a value is plainly false."""
    return isinstance(value, Const) and value.value is False


def _counts_on(training: Event) -> bool:
    """Whether Keras is told how many epochs were done before."""
    done = training.kwargs.get(_INITIAL) if training.name.startswith("keras.") else None
    return done is not None and not (isinstance(done, Const) and not done.value)


def _of_backups(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a callback of Keras goes on after an interruption: with weights, optimizer and place, and no generator."""
    for made in program.calls(_BACKUP):
        training = next((e for e in trainings(program) if e.index > made.index and e.meets(made)), None)
        found = (d.event for d in draws(program) if not made.detached and feeds(d, made, frozenset()))
        drawn = next((e for e in found if training is not None and e is not made), None)
        if drawn is not None:
            yield draft(program, rule, made, related=[draws_on(drawn)], holds="the model and the epoch", lacks=told(()))
            return


def _saves_slots(program: Program) -> bool:
    """Whether the arrays of an optimizer are written, too."""
    return any(e.name.endswith(".get_weights") and not e.detached for e in program.beginning(_SLOTS))


def _leaves_out_slots(program: Program) -> bool:
    """Whether an optimizer trains that nothing fills from a file."""
    own = [e for e in program.beginning(_SLOTS, "call") if not e.detached]
    return bool(own) and not any(e.name.endswith((".set_weights", ".load_own_variables")) for e in own)


def _holds_more(program: Program) -> bool:
    """Whether a checkpoint of TensorFlow 2 is given a generator, or an iterator over data."""
    made = (e for e in program.calls("tensorflow.train.Checkpoint") if not e.detached)
    given = ((key, leaf) for e in made for key, value in e.kwargs.items() for _, leaf in alternatives(value))
    return any("iter" in key or (isinstance(leaf, Obj) and leaf.type.startswith(_HOLDS)) for key, leaf in given)


def _of_sessions(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a supervised session restores and saves by itself."""
    initial = initial_values(program)
    for session in takes_up(program):
        training = [e for e in trainings(program) if e.meets(session)]
        loops = {number for event in training for number in event.loops}
        found = (d.event for d in draws(program) if feeds(d, session, loops))
        drawn = next((e for e in found if id(e) not in initial), None)
        if training and drawn is not None:
            yield draft(program, rule, session, related=[draws_on(drawn)], holds="the variables", lacks=told(()))
            return


_GRAPH_SEED = (
    "give the Estimator `RunConfig(tf_random_seed=seed + step)` with the step that its newest checkpoint holds "
    '(`tf.train.load_variable(folder, "global_step")`; 0 where there is none), as no checkpoint holds the generators'
)
"""What to do where an Estimator draws in its graph, which it seeds by itself whenever it begins to train."""


def _of_estimators(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where an Estimator goes on by itself: its checkpoints hold variables, no generator and no place in the data."""
    for training, folder in folders(program):
        drawn = next((d for d in draws(program) if feeds(d, training, {*training.loops})), None)
        if drawn is not None and not training.detached:
            yield draft(
                program, rule, training, cond=negate(is_none(folder)), severity="" if ends(training) else "info",
                related=[draws_on(drawn.event)], holds="the variables", lacks=told(()),
                remedy=_GRAPH_SEED if drawn.generator == "tensorflow" else "",
            )  # fmt: skip
            return
