"""Random generators of a program: who draws from them, and when a draw is not covered by a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Effect
from d9mlint.python.domain.conditions import (
    TYPE_TEST,
    Cond,
    both,
    by_default,
    either,
    negate,
    opaque,
    stated,
    symbolic_part,
    truth,
)
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks import kerasfit, unseendraws
from d9mlint.python.frameworks.tensorflow import estimators, loaded, sessions
from d9mlint.python.frameworks.tensorflow import untrained as tf_untrained
from d9mlint.python.frameworks.tensorflow.determinism import trains
from d9mlint.python.frameworks.tensorflow.hooks import SCOPE_INITIALIZER
from d9mlint.python.frameworks.torch import devicedraws, evaluating, loading
from d9mlint.python.frameworks.torch.ops import masks
from d9mlint.python.frameworks.torch.parameters import untrained
from d9mlint.python.frameworks.torch.parameters.weights import kept, without_numbers
from d9mlint.python.frameworks.torch.scorers import only_scores
from d9mlint.python.frameworks.used import TENSORLAYERX
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging import counting
from d9mlint.python.judging.flows import changes_nothing, takes_the_only_one
from d9mlint.python.judging.objects import MAX_DEPTH, draws_by_parts, is_own
from d9mlint.python.judging.seedings import (
    Seeding,
    compiled,
    computed_with,
    may_be_seeded,
    of_other_graph,
    reaches,
    seedings,
    undone,
    without_default_seed,
)

_IMPLICIT = (
    "keras.layers.", "keras.initializers.", "keras.applications.", "tensorflow.layers.", "tensorflow.get_variable",
    "tensorflow.contrib.layers.", "tensorflow.contrib.slim.", "tf_slim.", "tensorflow.nn.dropout",
    "tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.", "sonnet.", "paddle.nn.", "paddle.vision.models.",
    "torch.nn.", "torchvision.models.", "timm.", "transformers.AutoModel", "transformers.Bert",
    "monai.networks.", "peft.", "tensorlayerx.nn.", "paddlenlp.transformers.",
)  # fmt: skip
DATA_DRAWS = frozenset(
    {
        f"tensorflow.data.{name}"
        for name in (
            "Dataset.shuffle", "Dataset.list_files", "Dataset.sample_from_datasets", "Dataset.random",
            "Dataset.rejection_resample", "experimental.shuffle_and_repeat",
        )
    }
    | {
        f"torch.utils.data.{name}"
        for name in (
            "DataLoader.__iter__", "RandomSampler.__iter__", "SubsetRandomSampler.__iter__",
            "WeightedRandomSampler.__iter__", "random_split",
        )
    }
)  # fmt: skip
_SCOPED = ("tensorflow.get_variable", "tensorflow.layers.", "tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.")
"""Calls that take the initializer of their variable scope where they are given none."""
_NOISE = ("tensorflow.layers.dropout", "tensorflow.nn.rnn_cell.DropoutWrapper")
_SCOPE_SETTER = "tensorflow.get_variable_scope().set_initializer"
_INITIALIZER = "keras.initializers.Initializer"


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw from ``generator``; ``cond`` is when it happens and no seed of its own is given."""

    event: Event
    generator: str
    cond: Cond
    implicit: bool
    worker: bool = False
    """It happens in a worker process of a data loader, which takes its seed from ``generator``."""
    other: str = ""
    """A seed of this generator covers it, too, as far as anybody can tell."""
    in_process: bool = False
    """It happens in processes that a library starts."""
    unseen: bool = False
    """That it draws is not seen: its code could not be read."""

    def may_follow(self, seed: Event) -> bool:
        """Whether a seed that comes before the draw acts on it, as far as their processes say."""
        return not self.in_process and reaches(seed, self.event, self.generator)

    @property
    def is_data(self) -> bool:
        """Whether a rule of its own speaks of this draw: shuffles, splits and samplings of datasets."""
        return self.event.name in DATA_DRAWS


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A draw that no seed covers under ``cond``; ``late`` is a seeding that comes after it."""

    draw: Draw
    cond: Cond
    late: Seeding | None
    sure: bool


def draws(program: Program) -> tuple[Draw, ...]:
    """All draws from global generators whose numbers can reach a result, in order."""
    return program.once("draws", lambda one: tuple(_draws(one)))


def _draws(program: Program) -> Iterator[Draw]:
    for event in program.events:
        if event.kind != "call" or not (event.effects or event.name.endswith(kerasfit.FITS)):
            continue
        for effect in event.effects:
            for named in effect.draws:
                draw = _draw(program, event, effect, named)
                if draw is not None:
                    yield draw
        if event.name.endswith(kerasfit.FITS) and (generator := kerasfit.shuffles_with(program, event)) is not None:
            yield Draw(event, generator, both(*event.guards), True)
    yield from _hidden(program)


def _hidden(program: Program) -> Iterator[Draw]:
    """What packages most probably draw whose code is not read."""
    for one in unseendraws.hidden(program):
        of_torch = one.framework == "torch"
        trained = program.training if one.weights and of_torch else True
        cond = both(*one.event.guards, one.free, trained)
        if cond is not False and not (one.weights and of_torch and not trains(program)):
            generator = one.framework if of_torch or program.target.fits("keras", "<3") else "python"
            if one.weights or not evaluating.only(program, one.event):
                yield Draw(one.event, generator, cond, one.weights, unseen=True)


def _draw(program: Program, event: Event, effect: Effect, named: str) -> Draw | None:
    handed = _handed(program, named, event.argument(effect.parts)) if effect.in_process and effect.parts else True
    if is_own(named) or handed is False or not (effect.in_process or draws_by_parts(event, effect)):
        return None
    if (named == "torch" and without_numbers(event)) or estimators.never_drops(program, event):
        return None
    if takes_the_only_one(event):
        return None
    source = loading.source(program, event, _generator(program, event, effect, named))
    if source is None:
        return None
    free = both(handed, no_own_seed(event, effect), negate(_initialized_by_scope(program, event)))
    cond = both(*event.guards, free, source.cond, program.holds(event, effect.when))
    if effect.where:
        cond = False if only_scores(program, event) else both(cond, stated(effect.where))
    any_mode = masks.whatever_mode(event)
    implicit = (event.name.startswith(_IMPLICIT) and not any_mode) or effect.returns == _INITIALIZER
    if any_mode is False or cond is False:
        return None
    if implicit:  # where nothing trains, weights that are loaded are drawn for nothing
        cond = both(cond, _matters(program, event))
    if evaluating.only(program, event) or (named == "tensorflow" and _is_restored(program, event)):
        return None
    weights = effect.later or both(kept(program, event), loaded.kept(program, event))  # (a dropout has none)
    cond = both(cond, weights, negate(event.idle))
    if both(*event.excluded, cond) is False:  # what holds anyhow may leave nothing: `assert p in (0, 1)`
        return None
    other = source.other
    if source.generator == "torch" and not other and devicedraws.may_be_on_gpu(program, event):
        other = devicedraws.GPU
    return Draw(event, source.generator, cond, implicit, source.worker, other, effect.in_process)


def _matters(program: Program, event: Event) -> Cond:
    """When something trains what is drawn, or it stays as it is drawn, or a dropout is told to act at predictions."""
    of_tensorflow = event.name.startswith(("keras.", "tensorflow.", "tf_slim.", TENSORLAYERX))
    stays = tf_untrained.drawn(program, event) if of_tensorflow else untrained.drawn(program, event)
    drops = evaluating.drops_out(program, event) or (of_tensorflow and tf_untrained.drops_anyhow(program, event))
    return either(program.training if trains(program) else False, stays, drops)


def _handed(program: Program, generator: str, value: Value | None, depth: int = 0) -> Cond:
    """When something that is handed over draws from a global generator: an estimator, or one inside of it."""
    if depth > MAX_DEPTH:
        return False
    conds: list[Cond] = []
    for _, leaf in alternatives(value) if value is not None else ():
        if isinstance(leaf, Seq):
            conds += (_handed(program, generator, one, depth + 1) for one in leaf.items or ())
        made = leaf.event if isinstance(leaf, Obj) else None
        if made is not None:
            drawing = (e for e in made.effects if generator in e.draws and not e.in_process)
            conds += (both(no_own_seed(made, e), program.holds(made, e.when)) for e in drawing)
            conds += (_handed(program, generator, one, depth + 1) for one in (*made.args, *made.kwargs.values()))
    return either(*conds)


def _generator(program: Program, event: Event, effect: Effect, named: str) -> str:
    """The generator that a draw takes its numbers from: Keras 2 leaves Python's alone in TF1 graphs and behaviour.

    The initializers of ``tf.compat.v1``, those that layers get by name after ``disable_v2_behavior()`` and random
    preprocessing layers in a graph use TensorFlow's generator (keras 2.10 to 2.15: ``initializers/__init__.py``,
    ``backend.py``, ``RandomGenerator._maybe_init``; measured on TensorFlow 2.15.1).
    """
    if named == "numpy":
        return compiled(event, named)
    if event.name.startswith(TENSORLAYERX):
        return computed_with(program, event, named)
    if named == "tensorflow" and event.raw.startswith("keras.") and program.target.fits("keras", "<2.4"):
        return "numpy"  # a seed that is not given is `np.random.randint(10e6)` (keras 2.0 to 2.3: backend)
    if named != "python" or not event.name.startswith(("keras.", "tensorflow.")):
        return named
    if effect.returns == _INITIALIZER:
        old = event.raw.startswith("tensorflow.compat.v1.")
    else:
        off = program.calls("tensorflow.disable_v2_behavior")
        in_graph = event.name.startswith("keras.layers.Random") and event.inside("graph")
        old = in_graph or any(not e.detached for e in off)
    return "tensorflow" if old else named


def _is_restored(program: Program, event: Event) -> bool:
    """Whether a draw is the first value of a variable of a graph, which a checkpoint gives all its values."""
    return sessions.only_restored(program) and id(event) in sessions.initial_values(program)


def _initialized_by_scope(program: Program, event: Event) -> Cond:
    """When the variable scope gives the initializer: that one was judged where it was made."""
    if not event.name.startswith(_SCOPED) or event.name in _NOISE:
        return False
    if event.inside(SCOPE_INITIALIZER):
        return True
    setters = [e for e in program.calls(_SCOPE_SETTER) if not e.detached and e.index < event.index]
    given = [(e, negate(is_none(e.args[0]))) for e in setters if e.args]
    if any(cond is True and set(e.guards) <= set(event.guards) for e, cond in given):
        return True
    return either(*(both(*e.guards, cond) for e, cond in given))


def no_own_seed(event: Event, effect: Effect) -> Cond:
    """The condition under which a draw has no seed of its own."""
    if effect.own_seed is None:
        return True
    value = event.argument(effect.own_seed)
    if value is None:
        return True
    if effect.own_seed.keyword.endswith("initializer"):
        return either(*(both(c, _random_by_name(leaf)) for c, leaf in alternatives(value)))
    return is_none(value)


def _random_by_name(value: Value) -> bool:
    """Whether an initializer given by name draws; objects were judged where they were made."""
    if not isinstance(value, Const):
        return False
    return value.value is None or (
        isinstance(value.value, str) and value.value not in ("zeros", "ones", "zero", "one", "identity")
    )


def uncovered(program: Program) -> list[Uncovered]:
    """Draws that happen in the story without a seed in force; draws that may be covered are left out."""
    return program.once("uncovered", _uncovered)


def _uncovered(program: Program) -> list[Uncovered]:
    known = seedings(program)
    out: list[Uncovered] = []
    for draw in draws(program):
        if draw.event.detached or _never_used(program, draw):
            continue
        wanted = {draw.generator, draw.other}
        own = [s for s in known if not wanted.isdisjoint(s.generators) and not s.event.detached]
        at = _happens(program, draw)
        before = [
            s for s in own
            if (at is None or s.event.index < at < s.until) and draw.may_follow(s.event)
            and not undone(s.event, draw.event) and not of_other_graph(program, s, draw.event, draw.generator)
        ]  # fmt: skip
        covered = either(*(s.fixes for s in before))
        assumed = [*draw.event.guards, draw.cond]
        answer = truth(covered, assumed)
        if answer is True:
            continue
        missing = True if answer is False else negate(symbolic_part(covered))
        if missing is False or by_default(missing) is False:
            continue  # not known, or only when somebody takes the seed away
        able = (s for s in own if s.lasts and s.fixes is not False and draw.may_follow(s.event))
        after = (s for s in able if at is not None and s.event.index > at)
        here = both(*assumed, missing)  # (a seed for runs that have one before the draw comes too late for none)
        late = next((s for s in after if s.event.meets(draw.event) and both(here, *s.event.guards) is not False), None)
        cond = both(draw.cond, missing)
        if cond is False or without_default_seed(cond) or changes_nothing(program, draw.event):
            continue
        if counting.only_counted(program, draw.event) or counting.only_built_with(program, draw.event):
            continue
        out.append(
            Uncovered(
                draw,
                cond,
                late,
                sure=not (may_be_seeded(program, draw.event, cond, draw.generator) or _supposed(draw.event)),
            )
        )
    return out


def _supposed(event: Event) -> bool:
    """Whether a draw that not every input brings about happens only if something unknown has some type."""
    return any(e.where for e in event.effects) and any(
        (test := opaque(cond)) is not None and test.text == TYPE_TEST for cond in event.guards
    )


def _happens(program: Program, draw: Draw) -> int | None:
    """Where in the order a draw happens, None for later than told.

    An initializer draws where a layer or variable calls it, not where it is made (Keras 3 is another matter: it draws
    its seed from Python's generator when it is made).
    """
    event = draw.event
    if event.deferred:
        return None
    if any(e.later for e in event.effects if draw.generator in e.draws):
        return program.once("first-use", _first_use).get(id(event))
    at_once = draw.generator == "python" and program.target.fits("keras", ">=3")
    if at_once or not any(e.returns == _INITIALIZER for e in event.effects):
        return event.index
    return program.once("initialized", _initialized).get(id(event))


def _first_use(program: Program) -> dict[int, int]:
    """The first method call of each object, by the event that made it."""
    found: dict[int, int] = {}
    for event in program.events:
        if event.kind == "call" and event.receiver is not None and event.certain:
            for _, leaf in alternatives(event.receiver):
                if isinstance(leaf, Obj) and leaf.event is not None:
                    found.setdefault(id(leaf.event), event.index)
    return found


def _never_used(program: Program, draw: Draw) -> bool:
    """An initializer that is the default of a parameter, and that no layer or variable was seen to get."""
    made = any(e.returns == _INITIALIZER for e in draw.event.effects)
    return made and draw.event.importing and id(draw.event) not in program.once("initialized", _initialized)


def _initialized(program: Program) -> dict[int, int]:
    """The first call that builds something with each initializer, by the event that made the initializer."""
    found: dict[int, int] = {}
    for event in program.events:
        if event.kind != "call" or not any(e.device_op for e in event.effects):
            continue
        for value in (*event.args, *event.kwargs.values()):
            for _, leaf in alternatives(value):
                if isinstance(leaf, Obj) and leaf.type == _INITIALIZER and leaf.event is not None and event.certain:
                    found.setdefault(id(leaf.event), event.index)
    return found
