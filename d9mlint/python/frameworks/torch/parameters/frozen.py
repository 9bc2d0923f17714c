"""Layers whose weights are frozen: what PyTorch programs take no weight gradients of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from d9mlint.python.domain.conditions import Cond, as_condition, both, by_default, either, literal, literals, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Inst, Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.loaders import CONTEXTS
from d9mlint.python.frameworks.torch.tensors import NO_GRAD
from d9mlint.python.interpreter.callbacks import CALLBACK
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, results

_HEAD = re.compile(r"(^|[._])(fc|heads?|classifier|get_classifier|last_linear|box_predictor)(\(\))?$")
"""Names of the last layers, which are linear and are trained again."""
_OF_NAME = re.compile(r"""['"](?P<part>[\w.]+)['"] in \w+|\w+\.startswith\(['"](?P<start>[\w.]+)['"]\)""")
"""Tests of a parameter's name."""
_IS_NAME = re.compile(r"""\w+ == ['"](?P<name>[\w.]+)['"]""")
"""One of the tests that ``name in ["fc.weight", "fc.bias"]`` is made of."""
_PART = re.compile(r"[.\[]")
_CALLED = "__call__"
_TELLING = (_CALLED, "parameters", "named_parameters", "train_step", "fit")
_METHOD = "torch.nn.Module."
_ONLY_WEIGHTS = (
    "load_state_dict",
    "state_dict",
    "to",
    "cuda",
    "cpu",
    "eval",
    "train",
    "parameters",
    "named_parameters",
)
"""Methods of networks that call none of their layers (torch/nn/modules/module.py)."""
_DEPTH = 6


def frozen(program: Program) -> frozenset[int]:
    """The ``id`` of each call that made a layer or network whose weights are surely frozen.

    ``model.requires_grad_(False)``, or ``p.requires_grad = False`` for each of ``model.parameters()``; a head that is
    trained again leaves the rest frozen, another part of which it is not known what it holds does not.
    """
    return frozenset(made for made, cond in trained_when(program).items() if cond is False)


def trained_when(program: Program) -> Mapping[int, Cond]:
    """By the ``id`` of each call that made a layer or network whose weights are frozen: when some flag thaws them."""
    return program.once("frozen-layers", _frozen)


def without_gradients(program: Program) -> frozenset[int]:
    """The ``id`` of each call that made a layer or network that is called, and only where no gradients are taken.

    What something asks the parameters of, as an optimizer's maker does, may be called where nobody sees it. What a
    loader calls to prepare examples is no part of what is trained. A method of `torch.nn.Module` (``load_state_dict``)
    calls no layer, but what is handed to others may be trained there.
    """
    return program.once("layers-without-gradients", _without_gradients)


def _without_gradients(program: Program) -> frozenset[int]:
    asked: set[int] = set()
    others: set[int] = set()
    layers: dict[int, set[int]] = {}
    """By the ``id`` of networks: the layers of each, which is called again and again."""
    methods = {e.location for e in program.events if e.kind == "call" and _calls_nothing(e.name)}
    given = {id(one): one for event in program.events for one in _networks_given(event)}
    asked.update(id(made) for network in given.values() for made in made_inside(network))
    for event in program.events:
        last = event.name.rpartition(".")[2]
        if event.kind == "call" and last in _TELLING:
            if event.inside(CALLBACK) and not methods.isdisjoint(event.stack):
                continue  # what a method of the network's own might do, which is known not to
            without = last == _CALLED and event.inside(NO_GRAD, *CONTEXTS)
            network = event.receiver
            if id(network) not in layers:
                layers[id(network)] = {id(made) for made in made_inside(network)}
            (others if without else asked).update(layers[id(network)])
    return frozenset(others - asked)


def _calls_nothing(name: str) -> bool:
    """Whether a call is one of a network's methods that handle its weights alone."""
    return name.startswith(_METHOD) and name.rpartition(".")[2] in _ONLY_WEIGHTS


def _networks_given(event: Event) -> list[Value]:
    """The networks that an outside call is given, which may train them."""
    if event.kind not in ("call", "unresolved"):
        return []
    given = (*event.args, *event.kwargs.values())
    return [leaf for value in given for _, leaf in alternatives(value) if isinstance(leaf, Inst)]


def _frozen(program: Program) -> Mapping[int, Cond]:
    held: set[int] = set()
    trained: dict[int, Cond] = {}
    makers = results(program)
    copies = _copies(program)
    for event, network in _settings(program):
        if _value(event) is False and any(id(leaf) in copies for _, leaf in alternatives(network)):
            continue  # what it was copied from has layers of its own
        inside = list(made_inside(network))
        asked = _asked(event)
        if asked is not None and inside:
            chosen = {id(made) for path, made in _named_inside(network) if _surely(asked, path)}
            if _value(event) is False:
                held.update(chosen)
            else:
                trained.update((id(made), True) for made in inside if id(made) not in chosen or _value(event))
        elif _value(event) is False:
            held.update(id(made) for made in inside if set(event.guards) <= set(made.guards))
        elif inside:  # networks that are frozen and trained by turns are trained
            when = both(*event.guards)
            when = True if by_default(when) is None else when  # (what no flag decides)
            trained.update((id(made), either(trained.get(id(made), False), when)) for made in inside)
        elif not _HEAD.search(_name(network, makers)) and not _is_tensor(event):
            return {}
    return {made: trained.get(made, False) for made in held if trained.get(made) is not True}


def _copies(program: Program) -> frozenset[int]:
    """The ``id`` of each copy of a network, and of the networks in it: its layers are told as those of the original."""
    found: set[int] = set()
    todo = [leaf for event in program.calls("copy.deepcopy") for _, leaf in alternatives(event.result)]
    while todo:
        value = todo.pop()
        if isinstance(value, (Inst, Obj, Seq)) and id(value) not in found:
            found.add(id(value))
            inside = () if isinstance(value, Obj) else _parts(value)
            todo += [leaf for part in inside for _, leaf in alternatives(part)]
    return frozenset(found)


def _settings(program: Program) -> Iterator[tuple[Event, Value | None]]:
    """What sets whether gradients are taken, each with the network: whose parameters the loop around goes through."""
    listed: list[Event] = []
    for event in program.events:
        last = event.name.rpartition(".")[2]
        if last in ("parameters", "named_parameters") and event.kind == "call":
            place = (event.location, event.func, event.stack, event.loops)
            several = listed and place == (listed[0].location, listed[0].func, listed[0].stack, listed[0].loops)
            listed = [*listed, event] if several else [event]  # of one of several networks
        elif last in ("requires_grad", "requires_grad_") and event.kind in ("call", "set"):
            of_parameter = next(made_inside(event.receiver), None) is None
            looped = of_parameter and listed and _loops_over(event, listed[0])
            yield from ((event, one.receiver) for one in listed) if looped else [(event, event.receiver)]


def _is_tensor(event: Event) -> bool:
    """Whether a tensor by itself gets gradients: `x.requires_grad = True`, which for a module does nothing."""
    value = event.receiver
    alone = isinstance(value, Unknown) and not _PART.search(value.name)
    return event.kind == "set" and not event.loops and alone


def _loops_over(event: Event, listed: Event) -> bool:
    around = (event.func, event.stack, event.loops[:-1])
    return bool(event.loops) and around == (listed.func, listed.stack, listed.loops)


class _Test(NamedTuple):
    """A test of a parameter's name: that it has a part, starts with one, or is one of several; and its outcome."""

    outcome: bool
    part: str = ""
    start: str = ""
    names: tuple[str, ...] = ()


def _asked(event: Event) -> _Test | None:
    """The test of a parameter's name that something is done under; None without one, or with more."""
    if not event.guards or not event.loops:
        return None
    guard = event.guards[-1]
    one = literal(guard)
    if one is not None and one.opaque is not None and (test := _OF_NAME.fullmatch(one.opaque.text)) is not None:
        return _Test(one.outcome is True, test["part"] or "", test["start"] or "")
    tests = {as_condition(one): one.opaque for one in literals(guard) if one.outcome is True}
    found = [test and _IS_NAME.fullmatch(test.text) for test in tests.values()]
    names = tuple(match["name"] for match in found if match is not None)
    among = either(*tests)
    if not names or len(names) < len(found) or guard not in (among, negate(among)):
        return None
    return _Test(guard == among, names=names)


def _surely(test: _Test, path: str) -> bool:
    """Whether the parameters of a layer at a path surely pass a test of their names.

    How a network that a library makes calls its layers is not known, but for its last one.
    """
    if test.names:
        return _is_named(test.names, path) is test.outcome
    word = test.part or test.start
    if not path:
        return not test.outcome and _HEAD.search(word.strip(".")) is not None
    whole = f"{path}."
    has = word in whole if test.part else whole.startswith(word)
    deeper = word != whole and word.startswith(whole)  # it may be that of some of its parameters
    return has is test.outcome and not deeper


def _is_named(names: Sequence[str], path: str) -> bool | None:
    """Whether the parameters of a layer are among those named; None where that is not known, or only some are."""
    if not path:
        return False if all(_HEAD.search(name.rpartition(".")[0]) for name in names) else None
    inside = [name for name in names if name.startswith(f"{path}.")]
    return False if not inside else True if len(inside) > 1 else None


def _named_inside(value: Value | None, path: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, Event]]:
    """The calls that made a network and its layers, each with the path of attributes that leads there."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Inst) and depth:
            for name, part in leaf.attrs.items():
                yield from _named_inside(part, f"{path}.{name}".lstrip("."), depth - 1)
        else:
            yield from ((path, made) for made in made_inside(leaf))


def _value(event: Event) -> bool | None:
    value = event.args[0] if event.args else event.kwargs.get("requires_grad", Const(True))
    return bool(value.value) if isinstance(value, Const) else None


def made_inside(value: Value | None, depth: int = _DEPTH, seen: dict[int, int] | None = None) -> Iterator[Event]:
    """The calls that made a network, its layers, and what these were given.

    ``seen``: how deep each thing was looked into, by its ``id``: an agent and its environment hold one another.
    """
    seen = {} if seen is None else seen
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj) and leaf.event is not None:
            yield leaf.event
        if depth > seen.get(id(leaf), 0):
            seen[id(leaf)] = depth
            for part in _parts(leaf):
                yield from made_inside(part, depth - 1, seen)


def _parts(value: Value) -> Iterable[Value]:
    if isinstance(value, Obj):
        return value.event.args if value.event is not None else ()
    if isinstance(value, Inst):
        return value.attrs.values()
    if isinstance(value, Seq):
        return value.items or ((value.element,) if value.element is not None else ())
    return ()


def _name(value: Value | None, makers: Makers) -> str:
    """The name by which a part of a network is reached."""
    made = makers.get(id(value))
    if made is not None:
        return made.name
    return value.name if isinstance(value, Unknown) else ""
