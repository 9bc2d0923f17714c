"""Networks that a function makes only to count their parameters, or to print them: what they are drawn with is gone.

So is what a model is called with only to have its variables made.

Such draws advance a generator all the same: where its seed comes after them, they change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from d9mlint.model import Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Const, Func, Obj
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.flows import takers
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import children, inside, plain_names, words

_PARAMETERS = frozenset({"parameters", "named_parameters"})
_NAMED = "named_parameters"
_MOVES = frozenset({"to", "cuda", "cpu", "float", "half", "double", "eval", "train"})
"""Methods of a network that give the network."""
_SIZES = frozenset(
    {"shape", "size", "numel", "nelement", "ndim", "dim", "dtype", "element_size", "requires_grad", "device"}
)
_DATA = "data"
_COUNTS = frozenset({"summary", "count_params"})
"""Functions and methods that count what a network is made of (torchsummary, torchinfo, Keras)."""
_PRINT = "print"
_FILTER, _MAP = "filter", "map"
_KERAS, _CALL, _CALLED = "keras.", "call", ".__call__"
_DRAWN = ("tensorflow.random", "keras.random.")
"""How the names of calls begin that draw what a model of Keras may be called with."""
_Start: TypeAlias = tuple[int, int]
"""The line and the column of a call."""


def only_counted(program: Program, draw: Event) -> bool:
    """Whether a draw is made for a network that a function keeps to itself and asks for nothing but its sizes."""
    found: dict[str, frozenset[_Start]] = program.once("counted-networks", lambda _: {})
    for place in (draw.location, *draw.stack):
        if place.path not in found:
            found[place.path] = frozenset(_made(program, place.path))
        if (place.line, place.column) in found[place.path]:
            return place not in program.once("places-of-training", _training)
    return False


def only_built_with(program: Program, draw: Event) -> bool:
    """Whether models of Keras are only called with what a call draws, to make their variables: nobody gets a result.

    Layers make their weights at their first call, by the shape of what they are given (keras, `Layer.__call__`).
    """
    if not draw.name.startswith(_DRAWN) or not isinstance(draw.result, Obj):
        return False
    depth = len(draw.stack)
    places = {(*one.stack, one.location)[depth] for one in takers(program, draw) if len(one.stack) >= depth}
    built = program.once("models-built", _built)
    return bool(places) and places <= built and places.isdisjoint(program.once("places-of-training", _training))


def _built(program: Program) -> frozenset[Location]:
    """Where models are called, without training, for a result that goes nowhere."""
    called = [e for e in program.ending(_CALLED, "call") if e.discarded and e.name.startswith(_KERAS)]
    inner = (e for e in called if e.stack and e.func is not None and e.func.name == _CALL)
    return frozenset((*(e.location for e in called if not _trains(e)), *(e.stack[-1] for e in inner if not _trains(e))))


def _trains(event: Event) -> bool:
    mode = event.kwargs.get("training")
    return mode is not None and not (isinstance(mode, Const) and not mode.value)


def _training(program: Program) -> frozenset[Location]:
    """The calls in which something trains, or is written: they do more than to give what they make."""
    done = (e for e in program.events if e.kind == "call" and (e.trains or any(x.writes for x in e.effects)))
    return frozenset(place for event in done for place in (event.location, *event.stack))


def _made(program: Program, path: str) -> Iterator[_Start]:
    """Where the functions of a file make such networks."""
    for module in program.story.modules:
        if module.path == path and module.frame is not None:
            own = [one for one in module.frame.vars.values() if isinstance(one, Class)]
            kept = [*module.frame.vars.values(), *(one for cls in own for one in cls.frame.vars.values())]
            named = module.frame.vars.items()
            counts = _COUNTS.union(name for name, one in named if isinstance(one, Func) and _only_counts(one.node))
            for one in kept:
                if isinstance(one, Func) and one.closure.module is module and isinstance(one.node, f.Def):
                    yield from _of_function(one.node, counts)


def _only_counts(node: f.Def | f.Lambda) -> bool:
    """Whether a function does nothing with a network that it is given but to count its parameters."""
    if not isinstance(node, f.Def) or len(node.params) != 1 or _PARAMETERS.isdisjoint(words(node.body)):
        return False
    name = node.params[0].name
    return not _lets_out(node.body, name, _parts(node.body, name), _COUNTS)


def _of_function(node: f.Def, counts: frozenset[str]) -> Iterator[_Start]:
    """Where a function makes networks that it asks for sizes alone, and where it asks; ``counts``: what counts them."""
    if (_PARAMETERS | counts).isdisjoint(words(node.body)):
        return
    calls = list(inside(node.body, f.Call))
    for one in inside(node.body, f.Assign):
        made = _maker(one.value)
        if made is None or len(one.targets) != 1 or not isinstance(one.targets[0], f.Name):
            continue
        name = one.targets[0].id
        asks = [call for call in calls if _listed(call, name) or _counts(call, name, counts)]
        if not asks:
            continue
        if not _lets_out(node.body, name, _parts(node.body, name), counts):
            yield from ((one.place[0], one.place[1]) for one in (made, *asks))


def _maker(value: f.Expr | None) -> f.Call | None:
    """The call that makes what is bound, before it is moved: ``Net(sizes).to(device)``."""
    while isinstance(value, f.Call) and isinstance(value.func, f.Attr) and value.func.name in _MOVES:
        value = value.func.value
    return value if isinstance(value, f.Call) else None


def _parts(body: Any, name: str) -> frozenset[str]:
    """The names that the parameters of a network are given in loops over them."""
    return frozenset(part for target, named in _gone_through(body, name) for part in _bound(target, named))


def _gone_through(body: Any, name: str) -> Iterator[tuple[f.Expr, bool]]:
    """The targets of loops over the parameters of a network, and whether the name of each comes first."""
    loops: list[f.For | f.Clause] = [*inside(body, f.For), *inside(body, f.Clause)]
    for one in loops:
        listed = _listed(one.iterable, name)
        if listed:
            yield one.target, listed == _NAMED


def _listed(value: f.Expr, name: str) -> str:
    """The method that lists the parameters of a network; nothing where something else is gone through."""
    if not isinstance(value, f.Call):
        return ""
    if isinstance(value.func, f.Name) and value.func.id in (_FILTER, _MAP) and len(value.args) == 2:
        pick = value.args[0].value
        if not isinstance(pick, f.Lambda):
            return ""
        if _lets_out(pick.body, "", frozenset(one.name for one in pick.params), _COUNTS):
            return ""
        return _listed(value.args[1].value, name)
    asked = value.func
    known = isinstance(asked, f.Attr) and asked.value == f.Name(name) and asked.name in _PARAMETERS
    return asked.name if known and isinstance(asked, f.Attr) else ""


def _bound(target: f.Expr, named: bool) -> list[str]:
    names = [name or "" for name in plain_names(target)]
    return names[1:] if named else names


def _counts(call: f.Call, name: str, counts: frozenset[str]) -> bool:
    """Whether a network is asked for the sizes of its layers: ``model.summary()``, ``summary(model, (3, 32, 32))``."""
    func = call.func
    if not isinstance(func, (f.Attr, f.Name)):
        return False
    own = isinstance(func, f.Attr) and func.value == f.Name(name)
    called = func.name if isinstance(func, f.Attr) else func.id
    return called in counts and (own or any(one.value == f.Name(name) for one in call.args))


def _prints(call: f.Call, name: str) -> bool:
    return call.func == f.Name(_PRINT) and any(one.value == f.Name(name) for one in call.args)


def _lets_out(node: Any, name: str, parts: frozenset[str], counts: frozenset[str]) -> bool:
    """Whether code does more with a network, or with its parameters, than to ask for sizes or to print the network."""
    if isinstance(node, f.Name):
        return node.id == name or node.id in parts
    if isinstance(node, f.Scope):
        return name in node.names
    if isinstance(node, f.Attr) and node.name in _SIZES:
        inner = node.value
        inner = inner.value if isinstance(inner, f.Attr) and inner.name == _DATA else inner
        if isinstance(inner, f.Name) and inner.id in parts:
            return False
    if isinstance(node, (f.For, f.Clause)) and _listed(node.iterable, name):
        node = node._replace(target=f.Const(None), iterable=f.Const(None))
    elif isinstance(node, f.Call) and node.func == f.Name(_MAP) and _listed(node, name):
        return False
    elif isinstance(node, f.Call) and (_prints(node, name) or _counts(node, name, counts)):
        func = f.Const(None) if isinstance(node.func, f.Attr) and node.func.value == f.Name(name) else node.func
        node = node._replace(func=func, args=tuple(one for one in node.args if one.value != f.Name(name)))
    elif isinstance(node, (f.Assign, f.Evaluate)) and _moves(node, name):
        return False
    elif isinstance(node, f.Assign):
        node = node._replace(targets=tuple(one for one in node.targets if not isinstance(one, f.Name)))
    return any(_lets_out(part, name, parts, counts) for part in children(node))


def _moves(node: f.Assign | f.Evaluate, name: str) -> bool:
    """Whether a network is only moved: ``model = model.cuda()``, ``model.eval()``."""
    call = node.value
    func = call.func if isinstance(call, f.Call) else None
    moved = isinstance(func, f.Attr) and func.name in _MOVES and func.value == f.Name(name)
    return moved and (isinstance(node, f.Evaluate) or node.targets == (f.Name(name),))
