"""Whether a gradient goes through an op: what is trained, what only evaluates, prepares data or reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Op
from d9mlint.python.domain.conditions import (
    Cond,
    Literal,
    as_condition,
    both,
    either,
    flag_test,
    literals,
    negate,
    texts_of,
    truth,
)
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, Dict, Func, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.jax.mode import updates
from d9mlint.python.frameworks.jax.modules import INITIALIZING
from d9mlint.python.frameworks.tensorflow.consumers import gives_no_gradient
from d9mlint.python.frameworks.tensorflow.determinism import trains
from d9mlint.python.frameworks.tensorflow.fetching import step_fetched
from d9mlint.python.frameworks.tensorflow.inputs import on_inputs
from d9mlint.python.frameworks.torch.modules.functions import INSIDE
from d9mlint.python.frameworks.torch.ops import given_by_layer
from d9mlint.python.frameworks.torch.parameters.frozen import frozen, trained_when, without_gradients
from d9mlint.python.frameworks.torch.parameters.leaves import kept_as_weights, on_data
from d9mlint.python.frameworks.torch.tensors import NO_GRAD
from d9mlint.python.interpreter.calls import INFERENCE
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by, made_of, results

IN_PIPELINE = ("tfdata", "tfdata-parallel", "py_function", "generator")
"""tf.data runs its functions on the CPU, and no gradient goes through them."""
_ONLY_FORWARD = re.compile(
    r"^(?!.*(train|(up|down)_?sampl))(.*_)?(test|valid|validate|validation|eval|evaluate|evaluation|predict|prediction|predictions|"
    r"infer|inference|postprocess|post|metric|metrics|accuracy|visualize|summary|decode|parse|parser|preprocess|preprocessing|augment|augmentation|load|read|input|"
    r"dataset|label|labels|target|targets|assign|sample|anchors|export|serving|beam|generation|reorder)(_|$)"
)
"""Names of functions through which mostly no gradient goes."""
_INFERS = re.compile(
    r"(mode|phase)\w* (==|is) ('(infer|inference|predict|prediction|eval|evaluate|evaluation|export|serving|test)'|"
    r"\S*\bModeKeys\.(PREDICT|EVAL|INFER))$|(^|\.)(do_)?(infer|predict|eval|evaluate|export|test)(_only)?$",
    re.IGNORECASE,
)
"""Conditions on the way to code that trains nothing, as they are written."""
_TRAINS = re.compile(
    r"(mode|phase)\w* (==|is) ('(train|training)'|\S*\bModeKeys\.TRAIN)$|(^|\.)_?(is_|in_)?(training|train)$",
    re.IGNORECASE,
)
"""Conditions that hold where something is trained."""
_ABOUT_DATA = re.compile(r"(^|_)(parse|parser|preprocess|preprocessing|augment|load|read|input|dataset|decode)(_|$)")
_INPUT = re.compile(r"(^|_)input(_|$)")
_MOST_WAYS = 32
"""Conditions under which a program trains that are looked at."""
_MODELS = (".from_pretrained", ".from_config")
"""Calls that make a whole model, which trains elsewhere."""
_OF_WEIGHTS = re.compile(r"^torch\.nn\.(functional\.)?(conv|[Ee]mbedding)")
"""Ops of layers whose weights' gradient is what varies."""
_DATA_FILES = re.compile(r"preprocess|dataset|dataloader|data_loader|input_pipeline|augment|[^/]*_reader")


def matters(program: Program, event: Event, op: Op) -> bool:
    """Whether what an op makes vary can reach the training: for a gradient, whether there is one."""
    name = event.func.name.lower() if isinstance(event.func, Func) else ""
    if event.detached and (_ABOUT_DATA.search(name) or _DATA_FILES.search(event.location.path.rpartition("/")[2])):
        return False
    if _OF_WEIGHTS.search(op.name) and any(
        id(event) in ops for ops in (frozen(program), without_gradients(program), on_data(program))
    ):
        return False
    if op.direction != "backward":
        return True
    without = (on_data, without_gradients, on_inputs, kept_as_weights)
    if any(id(event) in calls(program) for calls in without):
        return False
    if op.framework == "tensorflow" and gives_no_gradient(program, event):
        return False
    if op.sites:  # the user's own: other frameworks train by calling `backward`
        return bool(trains(program)) or bool(program.ending(".backward"))
    if (
        all(step.inside(INSIDE) for step in trains(program))  # (nothing asks for what would be computed there)
        or event.inside(*IN_PIPELINE, NO_GRAD, INSIDE, INITIALIZING)
        or not _beside_training(program, event)
    ):
        return False
    if event.name.endswith(_MODELS):  # whatever the function around is called that loads the model
        return not _frozen(program, event) and not _only_infers(program, event)
    return not _only_infers(program, event)


def gets_gradients(program: Program, event: Event, op: Op) -> Cond:
    """When the weights of a layer are trained that some flag leaves frozen, and a session runs the step of a graph."""
    fetched = step_fetched(program) if op.direction == "backward" and op.framework == "tensorflow" else True
    return both(fetched, trained_when(program).get(id(event), True) if _OF_WEIGHTS.search(op.name) else True)


def _beside_training(program: Program, event: Event) -> bool:
    """Whether one run can come to this op and to a training step; of several commands one may only predict."""
    if not event.guards:
        return True
    steps = program.once("ways-to-training", _ways_to_training)
    return any(both(*event.guards, *event.excluded, *way) is not False for way in steps)


def _ways_to_training(program: Program) -> list[tuple[Cond, ...]]:
    """The conditions under which the program trains, each once; none where it does so under no condition."""
    ways = list(dict.fromkeys((*e.guards, *e.excluded) for e in trains(program)))
    return [()] if any(not way for way in ways) or len(ways) > _MOST_WAYS else ways


def doubtful(program: Program, event: Event, op: Op) -> bool:
    """Whether the names around an op speak against a gradient, and none is seen to pass through it."""
    if op.direction != "backward" or op.sites or event.name.endswith(_MODELS):
        return False
    name = event.func.name.lower() if isinstance(event.func, Func) else ""
    if op.framework == "torch" and given_by_layer(event, results(program)):
        name = _INPUT.sub("_", name)  # (what a layer has computed is no data that is put in)
    told = _ONLY_FORWARD.search(name) or _DATA_FILES.search(event.location.path.rpartition("/")[2])
    return bool(told) and id(event) not in program.once("behind-losses", _behind_losses)


def _behind_losses(program: Program) -> frozenset[int]:
    """The ``id`` of each call that is seen to go into what gradients are computed of."""
    makers = results(program)
    seen: set[int] = set()
    todo = [event for event in (*trains(program), *program.trains) if not event.detached]
    while todo:
        event = todo.pop()
        if id(event) in seen:
            continue
        seen.add(id(event))
        given = (*event.args, *event.kwargs.values(), *((event.receiver,) if event.receiver is not None else ()))
        todo += [made for value in given for part in _parts(value) for made in made_of(part, makers)]
    return frozenset(seen)


def _parts(value: Value) -> Iterator[Value]:
    """A value, and the items of a list or dict."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Seq):
            yield from (*(leaf.items or ()), *((leaf.element,) if leaf.element is not None else ()))
        elif isinstance(leaf, Dict):
            yield from leaf.items.values()
        else:
            yield leaf
            others = leaf.attrs.get(OPERANDS) if isinstance(leaf, Obj) else None
            yield from others.items or () if isinstance(others, Seq) else ()


def _frozen(program: Program, model: Event) -> bool:
    """Whether a model is put into evaluation mode for good, or its weights are frozen, as those of a teacher."""
    ends = program.once("methods-of-made", _methods_of_made).get(id(model), set())
    return ("eval" in ends and "train" not in ends) or "requires_grad_" in ends


def _methods_of_made(program: Program) -> dict[int, set[str]]:
    """The last names of the calls of what a call made, by the ``id`` of that call."""
    found: dict[int, set[str]] = {}
    for event in program.events:
        if event.receiver is not None:
            for made in made_by(event.receiver):
                found.setdefault(id(made), set()).add(event.name.rpartition(".")[2])
    return found


def _only_infers(program: Program, event: Event) -> bool:
    """Whether what happens there is part of an evaluation, a prediction or an export, by guards or names on the way."""
    known: dict[Cond, bool] = program.once("inferring", lambda _: {})
    for guard in event.guards:
        if guard not in known:
            known[guard] = _inferring(guard)
    if any(known[guard] for guard in event.guards):
        return True
    return event.inside(INFERENCE) and not program.once("trains-in-inference", _trains_in_inference)


def _trains_in_inference(program: Program) -> bool:
    """Whether a function that is named after evaluation trains all the same, as a search for parameters does.

    Gradients of JAX of which no new weights are made there are what it computes, such as the normals of a surface.
    """
    return any(e.inside(INFERENCE) and (not e.name.startswith("jax.") or updates(program, e)) for e in program.trains)


def _inferring(cond: Cond) -> bool:
    """Whether a condition holds only where nothing is trained: ``mode == "infer"``, not ``mode == "train"``."""
    if isinstance(cond, bool):
        return False
    tests = [test for one in literals(cond) for test in _tests(one)]
    found = either(*(test for test, text, pattern in tests if pattern.search(text)))
    return found is not False and truth(found, (cond,)) is True


def _tests(one: Literal) -> Iterator[tuple[Cond, str, re.Pattern[str]]]:
    """The tests that a literal stands for, how each is written, and which writings tell that nothing is trained."""
    cond = as_condition(one)
    if one.opaque is not None:
        yield cond, one.opaque.text, _INFERS if one.outcome is True else _TRAINS
    elif one.flag is not None:
        given = flag_test(one.flag, "truthy")
        if cond in (given, negate(given)):
            yield cond, one.flag.name, _INFERS if cond is given else _TRAINS
        for value in texts_of(one):
            test = flag_test(one.flag, "==", value)
            if test is not False:
                yield test, f"{one.flag.name} == {value!r}", _INFERS
                yield negate(test), f"{one.flag.name} == {value!r}", _TRAINS
