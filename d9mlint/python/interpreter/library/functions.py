"""Builtins and the standard library: calls whose result can be computed on symbolic values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import TYPE_TEST, is_symbolic, negate, opaque_test
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.reflected import Attributes
from d9mlint.python.domain.taint import ARRAY, NUMBERS, begins_path, taint, text_of
from d9mlint.python.domain.tellable import is_setting
from d9mlint.python.domain.values import (
    ABSENT,
    CALLABLE,
    NONE,
    UNKNOWN,
    Bound,
    Class,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Members,
    Module,
    Obj,
    Partial,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import calls, comparisons
from d9mlint.python.interpreter.heap import MAX_ITEMS
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import (
    coroutines,
    dispatch,
    environment,
    evaluated,
    inspecting,
    members,
    modules,
    reflection,
    streams,
    subclassing,
    texts,
    workers,
)
from d9mlint.python.interpreter.library.arguments import (
    argv,
    bindings,
    commands,
    configfiles,
    experiments,
    nodes,
    settings,
)
from d9mlint.python.interpreter.library.containers import copies, counting, mappings, named, sequences, sets, sorting
from d9mlint.python.interpreter.scopes import tell_together

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def _convert(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``int``/``str``/``float``/``bool``/``abs`` of a constant; of a flag, the flag."""
    if len(event.args) != 1:
        return None
    value = event.args[0]
    if isinstance(value, Const) and isinstance(value.value, (int, float, str, bool)):
        try:
            return Const(_CONVERSIONS[event.name](value.value))
        except (ValueError, TypeError, OverflowError):
            return UNKNOWN
    if isinstance(value, FlagValue) and event.name != "builtins.bool":
        return value
    if event.name == "builtins.bool":
        cond = comparisons.condition(interp, value, "bool(...)")
        return Const(cond) if isinstance(cond, bool) else CondValue(cond)
    if len(alternatives(value)) > 1:
        text = event.name == "builtins.str"
        return choose([(c, text_of([one]) if text and begins_path(one) else one) for c, one in alternatives(value)])
    if event.name == "builtins.str" and begins_path(value):
        return text_of([value], path=True)
    origins, order, sources = taint([value])
    number = event.name in ("builtins.int", "builtins.float")
    return Unknown(origins | {"int"} if number else origins - NUMBERS, order, sources)


def _hash(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = environment.first(event)
    if isinstance(value, Const) and isinstance(value.value, (int, float, bool)):
        return value
    return Unknown(frozenset({"hash"}), "", (event,))


def _identity(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return Unknown(frozenset({"address"}), "", (event,))


def _collect(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``list``/``tuple``/``iter``/``reversed``: same items, same order."""
    if not event.args:
        return Seq(event.name.rpartition(".")[2], [])
    value = sequences.contents(event.args[0]) or event.args[0]
    origins, order, sources = sequences.iteration_order(interp, value, frame, environment.place_of(event))
    if (members := sequences.members_of(value)) is not None:
        return value if members and isinstance(members[0], Seq) else Seq("list", members)
    if isinstance(value, Seq):
        items = list(value.items) if value.items is not None and not order else None
        kind = Members if isinstance(value, Members) else Seq
        return kind("list", items, value.element or (value.items[0] if value.items else None), order, sources)
    if isinstance(value, Dict) and not value.open:
        return Seq("list", [Const(k) for k in value.items])
    return Seq("list", None, Unknown(origins), order, sources)


def _next(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``next(path.glob("*.yaml"))``: whatever comes first. Of a walk that is always the folder itself."""
    value = environment.first(event)
    if isinstance(value, Seq) and not value.order and isinstance(value.element, Phi):
        return value.element  # `next(cls for cls in (Small, Large) if cls.name == name)`
    if not isinstance(value, (Seq, Unknown, Obj)) or not value.order:
        return None
    if value.sources and value.sources[-1].name == "os.walk":
        folders, files = (Seq("list", None, Unknown(), value.order, value.sources) for _ in range(2))
        return Seq("tuple", [Unknown(), folders, files])
    interp.event("sink", "item", frame, environment.place_of(event), (value,))
    if isinstance(value, Seq):
        return value.element or (value.items[0] if value.items else UNKNOWN)
    return Unknown(value.origins)


def _enumerate(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = environment.first(event)
    origins, order, sources = sequences.iteration_order(interp, value, frame, environment.place_of(event))
    index = Unknown(frozenset({"int"}), order, sources)
    if order:
        interp.event("sink", "enumerate", frame, environment.place_of(event), (Unknown(order=order, sources=sources),))
    items = sequences.loop_items(interp, value, Unknown(origins, "", sources))
    if len(items) > 1:
        each = isinstance(value, (Seq, Dict)) and len(items) == len(value.items or ())
        pairs: list[Value] = [Seq("tuple", [Const(i) if each else index, item]) for i, item in enumerate(items)]
        return Seq("list", pairs, None, order, sources)
    return Seq("list", None, Seq("tuple", [index, items[0] if items else UNKNOWN]), order, sources)


def _zip(interp: Interpreter, event: Event, frame: Frame) -> Value:
    firsts: list[Value] = []
    order, sources = "", []
    for value in event.args:
        origins, its_order, its_sources = sequences.iteration_order(interp, value, frame, environment.place_of(event))
        if its_order:
            order = order or its_order
            sources += [one for one in its_sources if one not in sources]
        items = sequences.loop_items(interp, value, Unknown(origins & {ARRAY}))  # (a part of numbers holds numbers)
        firsts.append(items[0] if items else UNKNOWN)
    pairs = None if order else sequences.pairs_of_things(event.args)
    return Seq("list", pairs, Seq("tuple", firsts), order, tuple(sources))


def _map(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) < 2:
        return UNKNOWN
    _, order, sources = sequences.iteration_order(interp, event.args[1], frame, environment.place_of(event))
    items = sequences.loop_items(interp, event.args[1], Unknown())
    element: Value = UNKNOWN
    for item in items[:1]:
        element = calls.call(interp, event.args[0], [item], {}, frame, environment.place_of(event))
    if event.name.endswith("filter"):
        element = items[0] if items else UNKNOWN
    return Seq("list", None, element, order, sources)


def _append(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if isinstance(receiver := event.receiver, Seq):
        given = sequences.without(environment.first(event), receiver)
        several = given if isinstance(given, Seq) and event.name.endswith(("extend", "__iadd__")) else None
        ordered = several is not None and several.kind in ("list", "tuple") and receiver.kind == "list"
        items = several.items if several is not None and ordered else None
        if items and receiver.items is not None and len(items) < MAX_ITEMS:
            for item in list(items):
                interp.heap.append(receiver, _where_added(interp, interp.resolve(item), frame), True)
        else:
            if several is not None:
                given = several.element or (several.items[0] if several.items else UNKNOWN)
            interp.heap.append(receiver, _where_added(interp, given, frame), event.name.endswith("append"))
        if interp.order_loops and receiver.kind != "set" and receiver.born is not interp.order_loops[-1]:
            tell_together(
                interp, receiver, frame, environment.place_of(event), [several] if several is not None else ()
            )
            order, sources = interp.order_loops[-1].taint
            interp.heap.arrange(receiver, order, _more(receiver.sources, sources))
        _, order, sources = taint(event.args)
        if order and event.name.endswith(("extend", "__iadd__")) and receiver.kind != "set":
            interp.heap.arrange(receiver, order, _more(receiver.sources, sources))
    return NONE


def _where_added(interp: Interpreter, added: Value, frame: Frame) -> Value:
    """An item under the condition that it was added; one that cannot be told helps nobody."""
    cond = interp.since(frame.born)
    return choose([(cond, added), (negate(cond), ABSENT)]) if is_symbolic(cond) or is_setting(cond) else added


def _more(known: tuple[Event, ...], new: tuple[Event, ...]) -> tuple[Event, ...]:
    return (*known, *(e for e in new if e not in known))[-environment.MAX_SOURCES :]


def _pop(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, Seq) and receiver.kind == "set" and not sets.has_own_order(receiver):
        interp.event("sink", "pop", frame, environment.place_of(event), (Unknown(order="set", sources=(event,)),))
    if isinstance(receiver, Seq):
        return receiver.element or (receiver.items[-1] if receiver.items else UNKNOWN)
    return UNKNOWN


def _setattr(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) == 3 and isinstance(event.args[1], Const):
        interp.set_attribute(event.args[0], str(event.args[1].value), event.args[2], frame, environment.place_of(event))
    for _, leaf in alternatives(environment.first(event)):
        if isinstance(leaf, Inst) and not isinstance(environment.first(event, 1), Const):
            commands.set_by_name(interp, leaf, frame, environment.place_of(event))
            members.keep(interp, leaf, environment.first(event, 1), environment.first(event, 2))
    return NONE


def _isinstance(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = environment.first(event)
    known = comparisons.is_a(value, environment.first(event, 1))
    test = opaque_test(("isinstance", interp.serial(value), event.location), TYPE_TEST)
    if isinstance(known, bool):
        return Const(known)
    return CondValue(test if known is None else known)


def make_namespace(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Objects that hold keyword arguments, or the items of a dict, as attributes (``HParams``, ``Namespace``)."""
    if any(not isinstance(a, Dict) for a in event.args):
        return None
    holder = Obj(event.name, event)
    for value in event.args:
        if isinstance(value, Dict):
            holder.attrs.update({k: v for k, v in value.items.items() if isinstance(k, str)})
    holder.attrs.update(event.kwargs)
    return holder


def add_to_namespace(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """A method that sets an attribute by its name."""
    name = environment.first(event)
    if isinstance(event.receiver, Obj) and isinstance(name, Const) and isinstance(name.value, str):
        interp.heap.set(event.receiver, name.value, True, environment.first(event, 1))
    return NONE


def override_namespace(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """A method that sets the attributes that a dict names; of one that is not known it may be any."""
    holder, given = event.receiver, environment.first(event)
    if not isinstance(holder, Obj):
        return None
    told = given.items if isinstance(given, Dict) else {}
    perhaps = [] if isinstance(given, Dict) and not given.open else [name for name in holder.attrs if name not in told]
    for name in perhaps:
        interp.heap.set(holder, name, True, Unknown(name=name))
    for key, value in told.items():
        if isinstance(key, str):
            interp.heap.set(holder, key, True, value)
    return holder


def _partial(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if not event.args:
        return UNKNOWN
    return Partial(event.args[0], tuple(event.args[1:]), dict(event.kwargs))


def _method(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``types.MethodType(function, object)``: nothing runs before it is called."""
    func = environment.first(event)
    return Bound(func, event.args[1]) if isinstance(func, Func) and len(event.args) > 1 else UNKNOWN


def _exit(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return calls.EXITS


def _wraps(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return Ref("functools.wraps.decorator")


def _cast(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``typing.cast(Net, value)`` is the value; a function that is kept so runs later, as one that is handed over."""
    given = event.args[1] if len(event.args) == 2 else None
    return None if isinstance(given, CALLABLE) else given


def same_callable(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Decorators used as calls that hand the function on."""
    given = environment.first(event)
    return given if isinstance(given, (Func, Bound, Partial, Inst)) else None


def _vars(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    if not event.args:
        return reflection.names_here(interp, event, frame)
    leaves = alternatives(environment.first(event))
    if all(isinstance(leaf, (Module, Ref)) for _, leaf in leaves):
        return choose([(cond, reflection.names_outside(leaf) or dispatch.names_of(leaf)) for cond, leaf in leaves])
    environment.escape(interp, environment.first(event))
    value = environment.first(event)
    if isinstance(value, Inst):
        return Attributes(value)
    if isinstance(value, Class):
        return reflection.names_of(interp, value)
    is_namespace = isinstance(value, Obj) and value.type == environment.NAMESPACE
    return interp.command_line.all_values(interp, value) if is_namespace else UNKNOWN  # type: ignore[arg-type]


def _all_absl_flags(interp: Interpreter, event: Event, frame: Frame) -> Value:
    interp.note("flags-escape")
    return interp.command_line.all_absl_values(interp)


def run_main(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``app.run(main)``: parses the flags, then calls ``main`` (that of ``__main__`` where none is given)."""
    main = event.args[0] if event.args else event.kwargs.get("main") or event.kwargs.get("target")
    if main is None and frame.module.frame is not None:
        main = frame.module.frame.vars.get("main")
    if main is not None:
        calls.call(interp, main, [UNKNOWN], {}, frame, environment.place_of(event))
    return NONE


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.abs": abs, "builtins.bool": bool,
}  # fmt: skip
TRANSFER: dict[str, Transfer] = {
    "types.SimpleNamespace": make_namespace, "argparse.Namespace": make_namespace,
    "builtins.int": _convert, "builtins.float": _convert, "builtins.str": _convert, "builtins.abs": _convert,
    "builtins.bool": _convert, "builtins.hash": _hash, "builtins.id": _identity,
    "builtins.list": _collect, "builtins.tuple": _collect, "builtins.iter": _collect, "builtins.reversed": _collect,
    "builtins.next": _next,
    "builtins.enumerate": _enumerate, "builtins.zip": _zip, "builtins.map": _map, "builtins.filter": _map,
    "builtins.list.append": _append, "builtins.list.extend": _append, "builtins.list.insert": _append,
    "builtins.set.pop": _pop,
    "builtins.list.pop": _pop,
    "builtins.setattr": _setattr, "builtins.isinstance": _isinstance, "builtins.vars": _vars,
    "functools.partial": _partial, "types.MethodType": _method,
    "sys.exit": _exit, "builtins.exit": _exit, "builtins.quit": _exit,
    "os._exit": _exit, "functools.wraps": _wraps,
    "functools.cache": same_callable, "functools.lru_cache": same_callable,
    "functools.lru_cache.decorator": same_callable, "functools.wraps.decorator": same_callable,
    "typing.cast": _cast,
    "absl.app.run": run_main,
    "argparse.ArgumentParser.error": _exit,
    "absl.flags.FLAGS.flag_values_dict": _all_absl_flags,
}  # fmt: skip
for _one in (
    argv, bindings, configfiles, copies, counting, mappings, sets, dispatch, evaluated, inspecting, modules,
    named, nodes, commands, reflection, subclassing, settings, sorting, experiments, streams, coroutines,
    workers, texts,
):  # fmt: skip
    TRANSFER.update(_one.TRANSFER)
