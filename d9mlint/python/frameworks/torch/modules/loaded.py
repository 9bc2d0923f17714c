"""Class methods of libraries that make a network of the program's class and fill it with the weights of a file.

The constructor runs with the settings that lie beside the weights, and what it draws is never seen: Lightning loads all
weights over it (lightning/pytorch/core/saving.py, ``_load_state``), Transformers makes the layers without numbers
(transformers/modeling_utils.py, ``from_pretrained``) and fills those that the file has not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Class, Func, Inst, Obj, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.parameters.weights import NO_NUMBERS
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.environment import place_of
from d9mlint.python.interpreter.scopes import within

_LIGHTNING = "lightning.pytorch.LightningModule.load_from_checkpoint"
_TRANSFORMERS = re.compile(
    r"(transformers|pytorch_transformers|pytorch_pretrained_bert|diffusers|adapters)\.([\w.]+\.)?"
    r"\w*(Model|ModelMixin|For[A-Z]\w*)\.from_pretrained"
)
_ANY = "transformers.PreTrainedModel.from_pretrained"
"""What the catalogue says of classes of the program: layers of their own may start at random."""
_CONFIG = "config"
_DEPTH = 3


def constructed(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Net.load_from_checkpoint(path)``, ``Net.from_pretrained(name)``: an instance, its constructor run."""
    pretrained = _TRANSFORMERS.fullmatch(event.name) is not None
    if not isinstance(event.receiver, Class) or not (pretrained or event.name == _LIGHTNING):
        return None
    cls, place = event.receiver, place_of(event)
    given = list(event.args[1:])
    if pretrained:
        given.insert(0, event.kwargs.get(_CONFIG) or Unknown(name=_CONFIG))
    named = {name: value for name, value in event.kwargs.items() if name in _parameters(interp, cls)}
    named.pop(_CONFIG, None)
    make = partial(calls.instantiate, interp, cls, given if pretrained else [], named, frame, place, star=True)
    made = within(interp, NO_NUMBERS, make)
    if pretrained and any(_own_layers(made, _DEPTH)):
        event.effects = interp.knowledge.effects_of(_ANY, _ANY)
        event.raw = f"{cls.node.name}.from_pretrained"
    return made


def _parameters(interp: Interpreter, cls: Class) -> frozenset[str]:
    """The names of the arguments of a constructor: what else is given is for the library, or for the settings."""
    init = attributes.class_attribute(interp, cls, "__init__")
    return frozenset(param.name for param in init.node.params) if isinstance(init, Func) else frozenset()


def _own_layers(value: Value | None, depth: int) -> Iterator[Event]:
    """The layers with weights that a network of the program makes by itself, outside of the library's networks."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Inst) and depth:
            for part in leaf.attrs.values():
                yield from _own_layers(part, depth - 1)
        elif isinstance(leaf, Obj) and leaf.event is not None and _is_layer(leaf.event):
            yield leaf.event


def _is_layer(made: Event) -> bool:
    """Whether a call makes a layer with weights."""
    return made.name.startswith("torch.nn.") and any(effect.draws and not effect.later for effect in made.effects)
