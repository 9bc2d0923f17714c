"""Layers that a network makes and never calls: it reads their weights, and what the layer would compute is not done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Func
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import words

_LAYERS, _CALL = "torch.nn.", ".__call__"
_ALL = frozenset({"children", "named_children", "modules", "named_modules", "_modules"})
_WEIGHTS = frozenset({"weight", "bias", "num_embeddings", "embedding_dim", "in_features", "out_features"})
"""What a layer is asked for without being called."""


def only_weights_read(program: Program, layer: Event) -> bool:
    """Whether ``forward`` reads the weights of a layer, and only these are read wherever an attribute has its name."""
    name = _attribute(layer) if layer.kind == "call" and layer.name.startswith(_LAYERS) else ""
    if not name or not _names(layer, name) or name in program.once("attributes-used-whole", _used_whole):
        return False
    return not any(
        e.receiver is layer.result or layer.result in e.args for e in program.calls(f"{layer.name}(){_CALL}")
    )


def _attribute(layer: Event) -> str:
    """The attribute that a call makes in a constructor: ``self.codes = nn.Embedding(512, 64)``; else nothing."""
    func = layer.func
    if func is None or func.name != "__init__" or not isinstance(func.node, f.Def):
        return ""
    here = (layer.location.line, layer.location.column)
    for one in _all(func.node.body):
        if isinstance(one, f.Assign) and isinstance(one.value, f.Call) and one.value.place[:2] == here:
            target = one.targets[0]
            return target.name if len(one.targets) == 1 and isinstance(target, f.Attr) else ""
    return ""


def _names(layer: Event, name: str) -> bool:
    """Whether the ``forward`` of the class that makes a layer names it, and calls no layers without their names."""
    owner = layer.func.owner if layer.func is not None else None
    forward = owner.frame.vars.get("forward") if owner is not None else None
    said = words(forward.node.body) if isinstance(forward, Func) else frozenset()
    return name in said and said.isdisjoint(_ALL)


def _used_whole(program: Program) -> frozenset[str]:
    """The attributes that functions and classes of the program name but to read their weights, or to set them."""
    found: set[str] = set()
    for module in program.story.modules:
        for value in module.frame.vars.values() if module.frame is not None else ():
            if isinstance(value, (Class, Func)):
                pending: list[Any] = [value.node]
                while pending:
                    one = pending.pop()
                    if isinstance(one, f.Attr):
                        found.add(one.name)
                        inner = one.value
                        pending.append(inner.value if one.name in _WEIGHTS and isinstance(inner, f.Attr) else inner)
                    elif isinstance(one, f.Const) and isinstance(one.value, str):
                        found.add(one.value)  # `getattr(self, "codes")`
                    elif isinstance(one, f.Assign):
                        pending += [t.value if isinstance(t, f.Attr) else t for t in one.targets]
                        pending += [one.value] if one.value is not None else []
                    else:
                        pending += _parts(one)
    return frozenset(found)


def _all(body: Any) -> Iterator[Any]:
    pending: list[Any] = [body]
    while pending:
        one = pending.pop()
        yield one
        pending += _parts(one)


def _parts(one: Any) -> list[Any]:
    """What a piece of code is made of; a place holds numbers only."""
    return [part for part in one if part and isinstance(part, tuple) and type(part[0]) is not int]
