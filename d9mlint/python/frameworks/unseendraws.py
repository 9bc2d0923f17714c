"""Networks of packages whose code is not read here: what they most probably draw.

Whatever has ``parameters()`` that are asked for, or a ``compile`` and a ``fit``, is a network of the framework, and its
weights are drawn as it is made, unless they are loaded. Of what it computes only names and arguments tell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Const, Inst, Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import fitted
from d9mlint.python.frameworks.torch import networks
from d9mlint.python.interpreter.program import Program

_TRAINED = (".parameters", ".named_parameters", ".trainable_variables")
_SAME = re.compile(r"\.(to|cuda|cpu|train|eval|float|half|double|bfloat16|requires_grad_|apply|share_memory)$")
_KNOWN = frozenset(
    {
        *sys.stdlib_module_names, "builtins", "?", "torch", "torchvision", "torchaudio", "transformers", "timm",
        "diffusers", "peft", "lightning", "pytorch_lightning", "tensorflow", "keras", "tf_keras", "jax", "flax",
        "numpy", "sklearn", "torch_geometric", "dgl", "sentence_transformers", "accelerate", "deepspeed", "apex",
        "horovod", "fairscale",
    }
)  # fmt: skip
"""Packages of which the catalogue tells what they draw, and those that wrap networks."""
_LOADS = re.compile(
    r"(^|_)(load|pretrained|restore|checkpoint|prepare|wrap|setup|initialize|compile|script|trace|convert|replace|clone|"
    r"quantize|copy|fuse|parallel|parameters?|config|optimizers?|loss(es)?|criterion)(_|$)|"
    r"(Loss|Optimizer|Config|Parallel|Trees?|TreesModel|ForestModel)$"
)
"""Parts of the names of calls that make no new network: that load, wrap or change one; trees have a seed by default."""
_WEIGHTS = ("pretrained", "weights", "checkpoint", "checkpoint_path", "ckpt", "ckpt_path", "load_from", "model_path")
"""Arguments by which a call loads the weights of what it makes."""
_LOADER = "DataLoader"
_STRICT = Argument(1, "strict")
_SAMPLES = (".sample", ".infer", ".inference", ".incremental_forward", ".synthesize", ".synthesise", ".tts")
_SAMPLES_BY = ".sample_"
"""Methods of networks that give something new; of what begins with the last one, too."""
_GENERATIVE = re.compile(r"wave(net|glow|rnn|grad)|glow|flow|vae|(^|[._])gan|diffusion|tacotron|vits|(^|[._])tts", re.I)
"""Networks that draw what they give, by their names."""
_SPREADS = (
    "sigma",
    "temperature",
    "noise_scale",
    "noise_level",
    "top_k",
    "top_p",
    "do_sample",
    "num_samples",
    "n_samples",
)
"""Arguments that say how wide numbers are drawn, or how many."""
_DEPTH = 8


class Hidden(NamedTuple):
    """A call that most probably draws, as this framework does: ``weights``, which are kept where it is ``free``."""

    event: Event
    framework: str
    weights: bool
    free: Cond = True


def hidden(program: Program) -> Iterator[Hidden]:
    """The calls of packages that are not read, or that nobody can tell, which most probably draw."""
    seen: set[int] = set()
    walked: set[int] = set()
    for event, framework in (*_trained(program), *((event, "tensorflow") for event in fitted(program))):
        for made in _makers(program, event.receiver, _DEPTH, walked):
            if id(made) not in seen and _draws(made):
                seen.add(id(made))
                free = negate(_loaded(program, made))
                if free is not False:
                    yield Hidden(made, framework, True, free)
    if program.imports("torch"):
        asked = (e for e in program.events if e.name.endswith(_SAMPLES) or _SAMPLES_BY in e.name)
        yield from (Hidden(event, "torch", False) for event in asked if _gives(program, event))
        yield from (Hidden(event, "torch", False) for event in program.events if _shuffles(event))


def _shuffles(event: Event) -> bool:
    """Whether a loader of a package that is not read is asked to shuffle, as one derived from PyTorch's does."""
    if event.kind != "call" or event.detached or event.effects or not event.name.endswith(_LOADER):
        return False
    shuffle = event.kwargs.get("shuffle")
    return event.name.partition(".")[0] not in _KNOWN and isinstance(shuffle, Const) and shuffle.value is True


def _giving(program: Program, value: Value) -> Event | None:
    """The call of something that is not known which gave a value."""
    return program.once("results-of-unknown", _results_of_unknown).get(id(value))


def _results_of_unknown(program: Program) -> dict[int, Event]:
    """Calls of what is not known, and of methods of it, by the ``id`` of what they give."""
    return {
        id(event.result): event
        for event in program.events
        if isinstance(event.result, Unknown) and event.result is not UNKNOWN
        and (event.kind == "unresolved" or (event.kind == "call" and event.name.startswith("?.")))
    }  # fmt: skip


def _trained(program: Program) -> Iterator[tuple[Event, str]]:
    """Where the parameters of networks of PyTorch are asked for."""
    if program.imports("torch"):
        yield from ((event, "torch") for event in program.ending(_TRAINED, "call") if not event.detached)


def _makers(program: Program, value: Value | None, depth: int, walked: set[int]) -> Iterator[Event]:
    """The calls outside of the program that made the networks in a value."""
    for _, leaf in alternatives(value):
        if not depth or id(leaf) in walked:
            continue
        walked.add(id(leaf))
        if isinstance(leaf, Inst) and networks.is_network(leaf.cls):
            for part in leaf.attrs.values():
                yield from _makers(program, part, depth - 1, walked)
        elif isinstance(leaf, Seq) and leaf.items is not None:
            for part in leaf.items:
                yield from _makers(program, part, depth - 1, walked)
        elif (made := leaf.event if isinstance(leaf, Obj) else _giving(program, leaf)) is not None:
            if _SAME.search(made.name) and made.receiver is not None:
                yield from _makers(program, made.receiver, depth - 1, walked)
                continue
            wrapped = networks.handed_on(made)
            given = [wrapped] if wrapped is not None else [*made.args, *made.kwargs.values()]
            inner = [one for one in given if one is wrapped or _holds_network(one)]
            for part in inner:
                yield from _makers(program, part, depth - 1, walked)
            if not inner:
                yield made


def _holds_network(value: Value) -> bool:
    return any(
        (isinstance(leaf, Inst) and networks.is_network(leaf.cls))
        or (isinstance(leaf, Obj) and leaf.event is not None and bool(_SAME.search(leaf.event.name)))
        for _, leaf in alternatives(value)
    )


def _draws(made: Event) -> bool:
    """Whether a call makes a network of its own, out of sight, whose weights it does not load."""
    if made.detached or isinstance(made.receiver, (Obj, Inst)) or networks.draws_nothing(made.name):
        return False
    known = made.name.partition(".")[0] in _KNOWN or any(e.draws for e in made.effects)
    if made.kind != "unresolved" and known:
        return False
    if any(map(_LOADS.search, made.name.split(".")[-1:])):
        return False
    given = (made.kwargs.get(name) for name in _WEIGHTS)
    return all(one is None or (isinstance(one, Const) and not one.value) for one in given)


def _loaded(program: Program, made: Event) -> Cond:
    """When the weights of what a call makes are loaded before anything trains."""
    loads = program.once("loads-before-training", _loads).get(id(made), ())
    return either(*(both(*event.guards) for event in loads if event.index >= made.index))


def _loads(program: Program) -> dict[int, list[Event]]:
    """The calls before anything trains that load all weights of a network, by the ``id`` of each call that made it."""
    begin = min((e.index for e in program.trains), default=len(program.events))
    found: dict[int, list[Event]] = {}
    for event in program.ending((".load_state_dict", ".load_weights"), "call"):
        strict = event.argument(_STRICT)
        if event.index < begin and not event.tried and not (isinstance(strict, Const) and not strict.value):
            for made in {id(one) for one in _makers(program, event.receiver, _DEPTH, set())}:
                found.setdefault(made, []).append(event)
    return found


def _gives(program: Program, event: Event) -> bool:
    """Whether a network that is not seen is asked for something new, as its name or the arguments say."""
    name = event.name.rpartition(".")[2]
    if event.kind != "call" or event.discarded or event.detached or event.effects:
        return False
    spread = any(_is_set(event.kwargs.get(one)) for one in _SPREADS)
    if isinstance(event.receiver, Unknown):
        return spread and event.name == f"?.{name}"
    if not isinstance(event.receiver, Obj):
        return False
    return any(_asked(made, spread) for made in _makers(program, event.receiver, _DEPTH, set()))


def _asked(made: Event, spread: bool) -> bool:
    """Whether what a call made is a network that draws what it gives, so far as is told."""
    own = made.name.partition(".")[0]
    if own in _KNOWN and not made.name.startswith(("torch.load", "torch.hub.load", "torch.jit.load")):
        return False
    words = (leaf.value for one in made.args for _, leaf in alternatives(one) if isinstance(leaf, Const))
    return spread or any(_GENERATIVE.search(str(word)) for word in (made.name, *words))


def _is_set(value: Value | None) -> bool:
    """Whether an argument is there that does not say that nothing is drawn."""
    return value is not None and not (isinstance(value, Const) and not value.value)
