"""Layers that a network makes and never calls: it reads their weights, and what the layer would compute is not done."""

from __future__ import annotations

from typing import Any

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Func, Inst
from d9mlint.python.frameworks.torch.modules.held import RUNS
from d9mlint.python.interpreter.binding import REFUSED
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import children, inside, words

_LAYERS, _CALL = "torch.nn.", ".__call__"
_ALL = frozenset({"children", "named_children", "modules", "named_modules", "_modules"})
_WEIGHTS = frozenset({"weight", "bias", "num_embeddings", "embedding_dim", "in_features", "out_features"})
"""What a layer is asked for without being called."""


def only_weights_read(program: Program, layer: Event) -> bool:
    """Whether ``forward`` reads the weights of a layer, and only these are read wherever an attribute has its name."""
    name = _attribute(program, layer) if layer.kind == "call" and layer.name.startswith(_LAYERS) else ""
    if not name or not _names(program, layer, name) or name in program.once("attributes-used-whole", _used_whole):
        return False
    return not any(
        e.receiver is layer.result or layer.result in e.args for e in program.calls(f"{layer.name}(){_CALL}")
    )


def never_run(program: Program, layer: Event) -> bool:
    """Whether a layer is part of a network whose calls raise ``TypeError``, and that runs nowhere."""
    owner = layer.func.owner if layer.func is not None else None
    return owner is not None and id(owner) in program.once("networks-never-run", _never_run)


def _never_run(program: Program) -> frozenset[int]:
    refused = (e.receiver for e in program.find(REFUSED, "TypeError"))
    found = {id(one.cls) for one in refused if isinstance(one, Inst)}
    run = (e.func for e in program.events if e.func is not None and not (e.detached or e.deferred)) if found else ()
    return frozenset(found - {id(func.owner) for func in run if func.name in RUNS})


def _attribute(program: Program, layer: Event) -> str:
    """The attribute that a call makes in a constructor: ``self.codes = nn.Embedding(512, 64)``; else nothing."""
    func = layer.func
    if func is None or func.name != "__init__" or not isinstance(func.node, f.Def):
        return ""
    known = program.once("attributes-of-calls", lambda _: dict[int, dict[tuple[int, int], str]]())
    if id(func.node) not in known:
        known[id(func.node)] = _attributes(func.node)
    return known[id(func.node)].get((layer.location.line, layer.location.column), "")


def _attributes(constructor: f.Def) -> dict[tuple[int, int], str]:
    """The attributes that calls make in a constructor, by where the calls begin; nothing where it is no attribute."""
    found: dict[tuple[int, int], str] = {}
    for one in inside(constructor.body, f.Assign):
        if isinstance(one.value, f.Call):
            target = one.targets[0]
            name = target.name if len(one.targets) == 1 and isinstance(target, f.Attr) else ""
            found.setdefault(one.value.place[:2], name)
    return found


def _names(program: Program, layer: Event, name: str) -> bool:
    """Whether the ``forward`` of the class that makes a layer names it, and calls no layers without their names."""
    owner = layer.func.owner if layer.func is not None else None
    forward = owner.frame.vars.get("forward") if owner is not None else None
    if not isinstance(forward, Func):
        return False
    known = program.once("words-of-forward", lambda _: dict[int, frozenset[str]]())
    if id(forward.node) not in known:
        known[id(forward.node)] = words(forward.node.body)
    said = known[id(forward.node)]
    return name in said and said.isdisjoint(_ALL)


def _used_whole(program: Program) -> frozenset[str]:
    """The attributes that functions and classes of the program name but to read their weights, or to set them."""
    found: set[str] = set()
    seen: set[int] = set()
    for module in program.story.modules:
        for value in module.frame.vars.values() if module.frame is not None else ():
            if isinstance(value, (Class, Func)) and id(value.node) not in seen:  # (others may import it)
                seen.add(id(value.node))
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
                        pending += children(one)
    return frozenset(found)
