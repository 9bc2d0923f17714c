"""autotuned-kernels: a program that trains nothing by gradients computes with networks whose kernels are timed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.jax import sizes as jaxsizes
from d9mlint.python.frameworks.jax.calls import COMPILED
from d9mlint.python.frameworks.jax.modules import only_initializes
from d9mlint.python.frameworks.tensorflow.determinism import (
    trainings,
    trains,
)
from d9mlint.python.frameworks.tensorflow.sessionruns import RUN, fetched, is_variable
from d9mlint.python.frameworks.used import keras_backend
from d9mlint.python.interpreter.library import streams
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.interpreter.provenance import Makers, made_of, results
from d9mlint.python.judging.drafts import Draft, draft, on_ways
from d9mlint.python.judging.ops.opuse import shown
from d9mlint.python.rules.switches import _missing_switch
from d9mlint.python.rules.switches.cudnn_autotune_variable import AUTOTUNE

_CONVOLUTION = re.compile(
    r"(tensorflow\.(.+\.)?|tf_slim\.(.+\.)?)(?i:(separable_|depthwise_|atrous_)?conv(olution)?\dd?(_transpose)?)(_in_plane)?"
    r"|keras\.(.+\.)?(Separable|Depthwise)?Conv(olution)?[123]D(Transpose)?|keras\.applications\.(.+\.)?[A-Z]\w*"
)
"""Layers and ops that cuDNN computes, and networks of Keras' that are made of them."""
_FILLS = re.compile(r"(_initializers?|assign|no_op|group)\(\)$")
_INITIALIZER = ".initializer"
_MEASURES = ("keras.Model.evaluate", "keras.Model.evaluate_generator")
_FILTERS, _IDENTITY = Argument(1, "filters"), frozenset({"numpy.eye", "numpy.identity", "tensorflow.eye"})
_MOST_CASTS = 6
"""Calls between an identity matrix and the filter that is made of it."""
_COMPUTES = (*_MEASURES, RUN, "keras.Model.predict", "keras.Model.predict_on_batch",
             "keras.Model.predict_generator", "keras.Model.__call__")  # fmt: skip


_PRODUCT = re.compile(
    r"(flax\.(linen|nnx)|haiku|equinox\.nn)\.(Dense\w*|Linear\w*|Conv\w*|\w*LSTMCell|\w*GRUCell|MultiHead\w*)|"
    r"jax\.lax\.conv(_\w+)?|jax\.scipy\.signal\.convolve2?d?"
)
"""Layers and ops of JAX and its libraries whose products cuBLAS, cuDNN or kernels of XLA's own compute."""
_OF_FLAX = re.compile(
    r"(\?|transformers\.Flax\w+(\(\))?)\.(\w+\(\)\.)*(__call__|generate|(en|de)code\w*|get_\w+_features)"
)
_WEIGHTS, _KEY, _LOADS = "params", "prng_key", ".from_pretrained"
"""How networks of Transformers are given their weights, and the key by which they sample; and what loads them."""
_INPUTS = frozenset({"keras.Input()", "keras.layers.Input()"})
_COMPILES = ("jax.jit", "jax.pmap", "jax.shard_map", "flax.nnx.jit", "equinox.filter_jit", "haiku.jit")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """One finding a framework, where the program first computes with its network."""
    yield from _missing_switch.by_framework(program, rule, _tensorflow, _jax)


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """Without new weights by gradients: networks that only render, play or predict, and those that evolution trains."""
    if any(not event.detached for event in jaxmode.training_steps(program)):
        return  # what says so of trainings, says it for this, too
    off = _missing_switch.off_in_jax(program)
    if off is False or jaxsizes.tiny(program):
        return
    compiles = any(not event.detached for event in program.calls(*_COMPILES))
    own = next((e for e in program.named(_PRODUCT.fullmatch, "call") if _runs(e)), None) if compiles else None
    pretrained = next(_pretrained(program), None)
    event = min((one for one in (pretrained, own) if one is not None), key=lambda one: one.index, default=None)
    if event is None:
        return
    of_others = event is pretrained
    counts = _keeps(program) or (of_others and _KEY in event.kwargs)
    name = _missing_switch.method(event.raw) if of_others else shown(event)
    yield draft(
        program,
        rule, event, cond=off, severity="" if counts else "info",
        remedy=rule.remedy(program.target, ("jax",)),
        does=f"`{name}` is compiled for", state="XLA's deterministic ops", compiler="XLA",
    )  # fmt: skip


def _pretrained(program: Program) -> Iterator[Event]:
    """The calls in compiled functions that compute with a network of another package, whose weights they are given.

    ``model.generate(**inputs, params=params, prng_key=key)`` (transformers/modeling_flax_utils.py).
    """
    if program.ending(_LOADS):
        for event in program.named(_OF_FLAX.fullmatch, "call"):
            if _WEIGHTS in event.kwargs and not event.detached and event.inside(COMPILED):
                yield event


def _runs(event: Event) -> bool:
    """Whether a layer is seen to be computed, and not only to find the shapes of its weights."""
    return not event.detached and not only_initializes(event)


def _tensorflow(program: Program, rule: Rule) -> Iterator[Draft]:
    if trainings(program) or trains(program):
        return  # what says so of trainings, says it for this, too
    found = [e for e in program.named(_CONVOLUTION.fullmatch, "call") if _counts(program, e)]
    if not found:
        return
    off = _missing_switch.off_in_tensorflow(program, _untimed(program))
    if off is False:
        return
    computing = _computing(program, found, off)
    if computing:
        event, off = on_ways(computing[0], [(one, off) for one in computing])
        layer = next((e for e in found if by_default(both(*e.guards)) is not False), found[0])
        first = shown(layer)
        yield draft(
            program,
            rule, event, cond=off, severity="" if _keeps(program) else "info",
            remedy=rule.remedy(program.target, ("tensorflow",)),
            related=[Related(layer.location, f"`{first}` is a convolution")],
            does=f"`{_missing_switch.method(event.raw)}` computes `{first}` on", state="deterministic ops",
            compiler="TensorFlow",
        )  # fmt: skip


def _untimed(program: Program) -> Cond:
    """When the program has cuDNN choose by its rules instead."""
    set_ = (event for event in program.env(AUTOTUNE) if not event.detached)
    return either(*(both(*e.guards) for e in set_ if e.args and matches(e.args[0], "0") is not False))


def _counts(program: Program, event: Event) -> bool:
    """Whether a convolution is computed by TensorFlow, on a GPU where there is one."""
    other = event.name.startswith("keras.") and keras_backend(program) != "tensorflow"
    return not event.detached and not other and not event.on_cpu() and not _copies(program, event)


def _copies(program: Program, event: Event) -> bool:
    """Whether the filter of a convolution is an identity matrix, by which it copies what it is given, bit by bit."""
    makers, filters = results(program), event.argument(_FILTERS)
    return any(one.name in _IDENTITY for made in made_of(filters, makers) for one in _through(made, makers))


def _through(made: Event, makers: Makers) -> Iterator[Event]:
    """A call, and those that made what it was given first: ``tf.constant(np.eye(3).reshape(1, 3, 3))``."""
    for _ in range(_MOST_CASTS):
        yield made
        first = made.receiver if isinstance(made.receiver, Obj) else next(iter(made.args), None)
        before = next(iter(made_of(first, makers)), None)
        if before is None:
            return
        made = before


def _keeps(program: Program) -> bool:
    """Whether what is computed goes into a file or a metric, and is not only shown."""
    return bool(program.calls(*_MEASURES)) or any(streams.writes(e) for e in program.events if not e.detached)


def _computing(program: Program, convolutions: list[Event], off: Cond) -> list[Event]:
    """The first call that computes with a network that holds one of the convolutions, on each way that leads to it."""
    found: list[Event] = []
    makers = results(program)
    for event in program.calls(*_COMPUTES):
        if found and event.location != found[0].location:
            continue
        there = not event.detached and truth(off, event.guards) is not False
        there = there and not _only_fills(event, makers) and not _is_inside(event) and not _is_symbolic(event)
        if there and any(one.index < event.index and one.meets(event) for one in convolutions):
            found.append(event)
    return found


def _only_fills(event: Event, makers: Makers) -> bool:
    """Whether a session only gives variables their first values, or those of a file, or reads them."""
    listed = [one for one in fetched(event) if not isinstance(one, (Seq, Dict))] if event.name == RUN else []
    return bool(listed) and all(_is_first(one) or is_variable(one, makers) for one in listed)


def _is_first(fetch: Value) -> bool:
    """Whether a session is asked to give variables their first values: ``init``, ``variable.initializer``."""
    if isinstance(fetch, Obj):
        return _FILLS.search(fetch.type) is not None
    return isinstance(fetch, (Ref, Unknown)) and fetch.name.endswith(_INITIALIZER)


def _is_symbolic(event: Event) -> bool:
    """Whether a network is called with an input of Keras, which makes another network and computes nothing."""
    leaves = [leaf for value in event.args[:1] for _, leaf in alternatives(value)]
    return bool(leaves) and all(isinstance(leaf, Obj) and leaf.type in _INPUTS for leaf in leaves)


def _is_inside(event: Event) -> bool:
    """Whether a network calls another one, as a part of what it computes itself."""
    owner = event.func.owner if event.func is not None else None
    return owner is not None and any(base.startswith(("keras.", "tensorflow.")) for base in owner.external())
