"""Ray: actors and tasks, which run in processes of their own, and the references to what they give.

An actor is an object in a process of its own (docs.ray.io, "Actors"); tasks run in processes that Ray keeps. It pickles
functions and classes by cloudpickle: by value where they stand in the file that the program starts with, else by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.numbers import Length
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import (
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Obj,
    Partial,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library import workers
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.library.environment import first, place_of

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

ACTOR_CLASS = "ray.actor.ActorClass"
METHOD = "ray.actor.ActorMethod"
FUNCTION = "ray.remote_function.RemoteFunction"
REFERENCE = "ray.ObjectRef"
POOL = "ray.util.ActorPool"
_PROCESSES = "ray.util.multiprocessing.Pool"
CONSTRUCT, CALL, TASK = f"{ACTOR_CLASS}.remote", f"{METHOD}.remote", f"{FUNCTION}.remote"
WAITS = ("ray.get", "ray.wait", "ray.util.as_completed")
"""Calls that wait for what references stand for."""
_DECORATOR = "ray.remote.decorator"
_DECORATORS = ("ray.remote", _DECORATOR)
_OF = "of"
"""The attribute under which what ``options`` gives keeps what it is of."""
_VALUE = "value"
"""The attribute under which a reference keeps the value that it refers to."""
_ACTOR, _NAMED, _IN_POOL = "ray-actor", "ray-named-actor", "ray-pool"


# -- making and calling --------------------------------------------------------------------------------------------


def _decorate(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``ray.remote(Class)``, ``ray.remote(function)``, ``ray.remote(num_cpus=1)``."""
    given = first(event) if event.args else None
    if isinstance(given, Class):
        return Ref(ACTOR_CLASS, given)
    if isinstance(given, (Func, Partial, Bound)):
        return Ref(FUNCTION, given)
    return Ref(_DECORATOR) if given is None else None


def _options(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Class.options(name="storage")``: the same, to be called in another way."""
    made = Obj(event.name.rpartition(".")[0], event)
    made.attrs[_OF] = _callee(event)
    return made


def _callee(event: Event) -> Value:
    """What is called by ``.remote(...)``, whatever options it is called with."""
    made = event.receiver
    return made.attrs.get(_OF, UNKNOWN) if isinstance(made, Obj) else made or UNKNOWN


def _construct(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Class.remote(...)``: an object whose constructor, and all of its methods, run in a process of its own."""
    cls = _callee(event)
    if not isinstance(cls, Class):
        return None
    event.raw = f"{cls.node.name}.remote"
    process = f"actor {interp.serial(event)}"
    args, kwargs = _given(event)
    with workers.elsewhere(interp, process):
        actor = calls.instantiate(interp, cls, args, kwargs, frame, place_of(event), event.star)
    if isinstance(actor, Inst):
        interp.note((_ACTOR, id(actor)), (actor, process))
        options = event.receiver.event if isinstance(event.receiver, Obj) else None
        name = options.kwargs.get("name") if options is not None else None
        if isinstance(name, Const):
            interp.note((_NAMED, name.value), actor)
    return actor


def _call(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``actor.method.remote(...)``: a reference to what the method gives, once it has run in the actor's process."""
    method = _callee(event)
    if not isinstance(method, Bound):
        return None
    event.raw = f"{method.func.name}.remote"
    args, kwargs = _given(event)
    with workers.elsewhere(interp, _process(interp, method.receiver)):
        value = calls.call(interp, method, args, kwargs, frame, place_of(event), event.star)
    return _reference(event, _by_then(value))


def _task(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``function.remote(...)``: a reference to what it gives, once it has run in a process that Ray keeps."""
    func = _callee(event)
    if not isinstance(func, (Func, Partial, Bound)):
        return None
    event.raw = f"{func.name}.remote" if isinstance(func, Func) else event.raw
    args, kwargs = _given(event)
    with workers.elsewhere(interp, f"task {interp.serial(func)}"):
        value = calls.call(interp, func, args, kwargs, frame, place_of(event), event.star)
    return _reference(event, value)


def _process(interp: Interpreter, value: Value) -> str:
    """The name of the process of an actor; empty for all else."""
    known = interp.noted((_ACTOR, id(value)))
    return known[1] if known is not None else ""


def _named(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``ray.get_actor("storage")``."""
    name = event.args[0] if event.args else event.kwargs.get("name")
    found: Value | None = interp.noted((_NAMED, name.value)) if isinstance(name, Const) else None
    return found


def called_method(event: Event) -> Bound | None:
    """The method of an actor that is called; None for other calls."""
    callee = _callee(event) if event.name == CALL else None
    return callee if isinstance(callee, Bound) else None


def started(event: Event) -> Class | Func | None:
    """What a call has run in another process: a task, or an actor by its class; None for other calls."""
    pooled = event.name.startswith(f"{_PROCESSES}.")
    if event.name not in (CONSTRUCT, CALL, TASK) and not pooled:
        return None
    callee = _mapped_by(event) if pooled else _callee(event)
    if isinstance(callee, Bound):
        return callee.receiver.cls if isinstance(callee.receiver, Inst) else None
    return callee if isinstance(callee, (Class, Func)) else None


# -- references ----------------------------------------------------------------------------------------------------


def _reference(event: Event, value: Value) -> Obj:
    made = Obj(REFERENCE, event, *taint([value]))
    made.attrs[_VALUE] = value
    return made


def referred(value: Value) -> Event | None:
    """The call whose result a reference stands for; None for what is none."""
    return value.event if isinstance(value, Obj) and value.type == REFERENCE else None


def _given(event: Event) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, with the values of those that are references: deeper ones are handed on as they are."""
    return [_value(one) for one in event.args], {key: _value(one) for key, one in event.kwargs.items()}


def _value(value: Value) -> Value:
    """The value of a reference; what is none stays what it is."""
    leaves = alternatives(value)
    if len(leaves) > 1:
        return choose([(cond, _value(leaf)) for cond, leaf in leaves])
    return value.attrs.get(_VALUE, UNKNOWN) if isinstance(value, Obj) and value.type == REFERENCE else value


def _values(value: Value) -> Value:
    """The values of references, one or a list of them, in the same order."""
    leaves = alternatives(value)
    if len(leaves) > 1:
        return choose([(cond, _values(leaf)) for cond, leaf in leaves])
    if not isinstance(value, Seq):
        return _value(value)
    items = None if value.items is None else [_value(one) for one in value.items]
    made = Seq("list", items, None if value.element is None else _value(value.element), value.order, value.sources)
    made.born = value.born
    return made


def _by_then(value: Value) -> Value:
    """What an actor gives at any time: a number, a truth value or None that it keeps may have changed by then."""
    leaves = alternatives(value)
    if len(leaves) > 1:
        return choose([(cond, _by_then(leaf)) for cond, leaf in leaves])
    if isinstance(value, Const) and value is not NONE and not isinstance(value.value, (str, bytes)):
        return Unknown(frozenset({"int"}) if type(value.value) in (int, float) else frozenset())
    if isinstance(value, Dict) and type(value) is Dict:
        items = {key: _by_then(one) if isinstance(one, Const) else one for key, one in value.items.items()}
        return Dict(items, value.open, value.order, value.sources, value.element)
    return value


def _get(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    return _values(first(event)) if event.args else None


def _put(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return _reference(event, first(event))


def _wait(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``ready, rest = ray.wait(refs, num_returns=1)``: those that are ready first, in the order of ``refs``."""
    refs = first(event)
    if not isinstance(refs, Seq):
        done = Unknown(taint([refs])[0], "completion", (event,))
        return Seq("tuple", [done, refs])
    if _waits_for_all(interp, event, refs):
        return Seq("tuple", [refs, Seq("list", [])])
    one = _any_of(refs)
    return Seq("tuple", [Seq("list", None, one, "completion", (event,)), Seq("list", None, one)])


def _waits_for_all(interp: Interpreter, event: Event, refs: Seq) -> bool:
    """Whether a call gives back only when all are ready: ``ray.wait(refs, num_returns=len(refs))``."""
    number, timeout = event.kwargs.get("num_returns", Const(1)), event.kwargs.get("timeout", NONE)
    if not isinstance(timeout, Const) or timeout.value is not None:
        return False
    if isinstance(number, Const):
        return refs.items is not None and bool(number.value == len(refs.items))
    if isinstance(number, Length):
        return number.of is refs
    counted = (one for one in reversed(interp.story.events) if one.result is number)
    return any(one.name == "builtins.len" and first(one) is refs for one in counted)


def _any_of(values: Seq) -> Value:
    """What stands for each item of a list."""
    return values.element or (values.items[0] if values.items else UNKNOWN)


def _completed(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``ray.util.as_completed(refs)``: the values, as they become ready."""
    refs = first(event)
    one = _value(_any_of(refs)) if isinstance(refs, Seq) else Unknown(taint([refs])[0], "", (event,))
    return Seq("list", None, one, "completion", (event,))


# -- pools of actors -----------------------------------------------------------------------------------------------


def _pooled(order: str) -> Transfer:
    """``pool.map(lambda actor, value: actor.method.remote(value), values)``."""

    def run(interp: Interpreter, event: Event, frame: Frame) -> Value:
        values = event.args[1] if len(event.args) > 1 else event.kwargs.get("values", UNKNOWN)
        return _listed(event, _in_pool(interp, event, _item_of(interp, values), frame), order)

    return run


def _mapped(order: str) -> Transfer:
    """``Pool().map(function, values)`` of Ray's multiprocessing, whose processes are actors."""

    def run(interp: Interpreter, event: Event, frame: Frame) -> Value:
        values = event.args[1] if len(event.args) > 1 else event.kwargs.get("iterable", UNKNOWN)
        with workers.elsewhere(interp, f"pool {interp.serial(event.receiver)}"):
            made = calls.call(interp, _mapped_by(event), [_item_of(interp, values)], {}, frame, place_of(event))
        return _listed(event, made, order)

    return run


def _mapped_by(event: Event) -> Value:
    return event.args[0] if event.args else event.kwargs.get("func", UNKNOWN)


def _item_of(interp: Interpreter, values: Value) -> Value:
    """What stands for each of the values that a pool is given."""
    return (sequences.loop_items(interp, values, UNKNOWN)[:1] or [UNKNOWN])[0]


def _listed(event: Event, value: Value, order: str) -> Seq:
    """What a pool gives for each value."""
    return Seq("list", None, value, order, (event,) if order else ())


def _submit(interp: Interpreter, event: Event, frame: Frame) -> Value:
    given = event.args[1] if len(event.args) > 1 else event.kwargs.get("value", UNKNOWN)
    interp.note((_IN_POOL, id(event.receiver)), _in_pool(interp, event, given, frame))
    return NONE


def _in_pool(interp: Interpreter, event: Event, item: Value, frame: Frame) -> Value:
    """What an actor of a pool makes of an item."""
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    actors = first(made) if made is not None else UNKNOWN
    actor = _any_of(actors) if isinstance(actors, Seq) else UNKNOWN
    func = event.args[0] if event.args else event.kwargs.get("fn", UNKNOWN)
    return _value(calls.call(interp, func, [actor, item], {}, frame, place_of(event)))


def _next(interp: Interpreter, event: Event, frame: Frame) -> Value:
    found: Value | None = interp.noted((_IN_POOL, id(event.receiver)))
    return UNKNOWN if found is None else found


def _next_ready(interp: Interpreter, event: Event, frame: Frame) -> Value:
    origins, _, sources = taint([_next(interp, event, frame)])
    return Unknown(origins, "completion", (event, *sources))


class Ray(Framework):
    """Ray's core: what is decorated by ``ray.remote`` is called by ``.remote(...)``."""

    packages = frozenset({"ray"})
    transfer: ClassVar[Mapping[str, Transfer]] = {
        "ray.remote": _decorate, _DECORATOR: _decorate, CONSTRUCT: _construct, CALL: _call, TASK: _task,
        f"{ACTOR_CLASS}.options": _options, f"{METHOD}.options": _options, f"{FUNCTION}.options": _options,
        "ray.get_actor": _named, "ray.get": _get, "ray.put": _put, "ray.wait": _wait,
        "ray.util.as_completed": _completed,
        f"{POOL}.map": _pooled(""), f"{POOL}.map_unordered": _pooled("completion"),
        f"{_PROCESSES}.map": _mapped(""), f"{_PROCESSES}.imap": _mapped(""),
        f"{_PROCESSES}.imap_unordered": _mapped("completion"),
        f"{POOL}.submit": _submit, f"{POOL}.get_next": _next, f"{POOL}.get_next_unordered": _next_ready,
    }  # fmt: skip

    def attribute(self, interp: Interpreter, holder: Value, name: str) -> Value | None:
        if name not in ("remote", "options"):
            return None
        if isinstance(holder, (Class, Func)):
            if not any(calls.decorator_name(interp, one) in _DECORATORS for one in holder.decorators):
                return None
            return Ref(f"{ACTOR_CLASS if isinstance(holder, Class) else FUNCTION}.{name}", holder)
        if isinstance(holder, Bound) and _process(interp, holder.receiver):
            return Ref(f"{METHOD}.{name}", holder)
        return None
