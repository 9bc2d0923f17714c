"""Calls outside the program whose result decides what the program does: environment, builtins, command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from d9mlint.python import calling, expressions
from d9mlint.python.guards import OpaqueTest
from d9mlint.python.story import Event, Frame
from d9mlint.python.values import (
    NONE,
    UNKNOWN,
    Bound,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Obj,
    Partial,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
    choose,
    taint,
)

if TYPE_CHECKING:
    from d9mlint.python.interpreter import Interpreter

NAMESPACE = "argparse.Namespace"
MAX_SOURCES = 8
"""Events that a value remembers having come from."""
Special = Callable[["Interpreter", Event, Frame], "Value | None"]
_PURE_TEXT = frozenset(
    {
        "lower",
        "upper",
        "strip",
        "split",
        "startswith",
        "endswith",
        "replace",
        "lstrip",
        "rstrip",
        "rsplit",
        "partition",
        "isdigit",
    }
)
_ONLY_DATASET = frozenset({"prefetch", "padded_batch", "interleave", "flat_map", "ragged_batch", "snapshot"})


# -- environment ---------------------------------------------------------------------------------------------------


def _place(event: Event) -> tuple[int, int, int, int]:
    loc = event.location
    return (loc.line, loc.column, loc.end_line, loc.end_column)


def _first(event: Event, index: int = 0) -> Value:
    return event.args[index] if index < len(event.args) else UNKNOWN


def _getenv(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = _first(event)
    if isinstance(name, Const) and name.value in interp.environment:
        return interp.resolve(interp.environment[name.value])
    return Unknown(frozenset({"env"}), name=f"${name.value}" if isinstance(name, Const) else "")


def _setenv(interp: Interpreter, event: Event, frame: Frame) -> Value:
    interp.set_environment(_first(event), _first(event, 1), frame, _place(event))
    return _first(event, 1)


def _update_environment(interp: Interpreter, event: Event, frame: Frame) -> Value:
    items = {k: v for a in event.args if isinstance(a, Dict) for k, v in a.items.items()} | event.kwargs
    for name, value in items.items():
        interp.set_environment(Const(name), value, frame, _place(event))
    return NONE


def _drop_environment(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = _first(event)
    if isinstance(name, Const):
        interp.environment.pop(str(name.value), None)
    return UNKNOWN


# -- builtins ------------------------------------------------------------------------------------------------------


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
        cond = expressions.condition(interp, value, "bool")
        return Const(cond) if isinstance(cond, bool) else CondValue(cond)
    if len(alternatives(value)) > 1:
        return choose([(c, leaf) for c, leaf in alternatives(value)])
    origins, order, sources = taint([value])
    return Unknown(origins | ({"int"} if event.name == "builtins.int" else frozenset()), order, sources)


def _length(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = _first(event)
    if isinstance(value, Seq) and value.items is not None and value.kind == "tuple":
        return Const(len(value.items))
    return Unknown(frozenset({"length", "int"}))


def _hash(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = _first(event)
    if isinstance(value, Const) and isinstance(value.value, (int, float, bool)):
        return value
    return Unknown(frozenset({"hash"}), "", (event,))


def _identity(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return Unknown(frozenset({"address"}), "", (event,))


def _collect(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``list``/``tuple``/``iter``/``reversed``: same items, same order."""
    if not event.args:
        return Seq(event.name.rpartition(".")[2], [])
    value = event.args[0]
    origins, order, sources = expressions.iteration_order(interp, value, frame, _place(event))
    if isinstance(value, Seq):
        items = list(value.items) if value.items is not None and not order else None
        return Seq("list", items, value.element or (value.items[0] if value.items else None), order, sources)
    if isinstance(value, Dict) and not value.open:
        return Seq("list", [Const(k) for k in value.items])
    return Seq("list", None, Unknown(origins), order, sources)


def _make_set(interp: Interpreter, event: Event, frame: Frame) -> Value:
    element: Value | None = None
    items: list[Value] | None = []
    if event.args:
        value = event.args[0]
        if isinstance(value, Seq):
            items, element = (list(value.items) if value.items is not None else None), value.element
        else:
            items, element = None, Unknown(*taint([value])[:1])
    return Seq("set", items, element, "", (event,))


def _sorted(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = _first(event)
    if isinstance(value, Seq):
        key = event.kwargs.get("key")
        tied = isinstance(key, (Func, Ref)) and not isinstance(key, Ref)
        known = list(value.items) if value.items is not None and not tied else None
        element = value.element or (value.items[0] if value.items else None)
        return Seq("list", None if known and len(known) > 1 else known, element)
    return Seq("list", None, Unknown(taint([value])[0]))


def _sort_in_place(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, Seq):
        receiver.order, receiver.sources = "", ()
    elif isinstance(receiver, (Unknown, Obj)):
        receiver.order = ""
    return NONE


def _enumerate(interp: Interpreter, event: Event, frame: Frame) -> Value:
    value = _first(event)
    origins, order, sources = expressions.iteration_order(interp, value, frame, _place(event))
    index = Unknown(frozenset({"int"}), order, sources)
    if order:
        interp.event("sink", "enumerate", frame, _place(event), (Unknown(order=order, sources=sources),))
    items = expressions.loop_items(interp, value, Unknown(origins, "", sources))
    if len(items) > 1:
        return Seq("list", [Seq("tuple", [Const(i), item]) for i, item in enumerate(items)], None, order, sources)
    return Seq("list", None, Seq("tuple", [index, items[0] if items else UNKNOWN]), order, sources)


def _zip(interp: Interpreter, event: Event, frame: Frame) -> Value:
    firsts: list[Value] = []
    order, sources = "", ()
    for value in event.args:
        _, its_order, its_sources = expressions.iteration_order(interp, value, frame, _place(event))
        if its_order:
            order, sources = its_order, its_sources  # type: ignore[assignment]
        items = expressions.loop_items(interp, value, Unknown())
        firsts.append(items[0] if items else UNKNOWN)
    return Seq("list", None, Seq("tuple", firsts), order, sources)


def _map(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) < 2:
        return UNKNOWN
    _, order, sources = expressions.iteration_order(interp, event.args[1], frame, _place(event))
    items = expressions.loop_items(interp, event.args[1], Unknown())
    element = UNKNOWN
    for item in items[:1]:
        element = calling.call(interp, event.args[0], [item], {}, frame, _place(event))  # type: ignore[assignment]
    if event.name.endswith("filter"):
        element = items[0] if items else UNKNOWN  # type: ignore[assignment]
    return Seq("list", None, element, order, sources)


def _append(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, Seq):
        if receiver.items is not None and event.name.endswith("append") and len(receiver.items) < 64:
            receiver.items.append(_first(event))
        else:
            receiver.items, receiver.element = None, receiver.element or _first(event)
        if interp.order_loops and receiver.kind != "set":
            receiver.order, receiver.sources = interp.order_loops[-1]
        _, order, sources = taint(event.args)
        if order and event.name.endswith(("extend", "__iadd__")) and receiver.kind != "set":
            receiver.order, receiver.sources = order, sources
    return NONE


def _pop(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if isinstance(receiver, Seq) and receiver.kind == "set":
        interp.event("sink", "pop", frame, _place(event), (Unknown(order="set", sources=(event,)),))
    if isinstance(receiver, Seq):
        return receiver.element or (receiver.items[-1] if receiver.items else UNKNOWN)
    return UNKNOWN


def _dict_get(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver, key = event.receiver, _first(event)
    default = event.args[1] if len(event.args) > 1 else NONE
    if isinstance(receiver, Dict) and isinstance(key, Const):
        try:
            found = receiver.items.get(key.value)
        except TypeError:
            found = None
        if found is not None:
            return interp.resolve(found)
        return UNKNOWN if receiver.open else default
    return UNKNOWN


def _dict_update(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if isinstance(event.receiver, Dict):
        for value in event.args:
            expressions.merge(event.receiver, value)
        event.receiver.items.update(event.kwargs)
    return NONE


def _dict_views(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver = event.receiver
    if not isinstance(receiver, Dict) or receiver.open:
        return UNKNOWN
    pairs = receiver.items.items()
    if event.name.endswith("keys"):
        return Seq("list", [Const(k) for k, _ in pairs])
    if event.name.endswith("values"):
        return Seq("list", [interp.resolve(v) for _, v in pairs])
    return Seq("list", [Seq("tuple", [Const(k), interp.resolve(v)]) for k, v in pairs])


def _make_dict(interp: Interpreter, event: Event, frame: Frame) -> Value:
    out = Dict(dict(event.kwargs), event.star)
    for value in event.args:
        expressions.merge(out, value)
    return out


def _text_method(interp: Interpreter, event: Event, frame: Frame) -> Value:
    receiver, name = event.receiver, event.name.rpartition(".")[2]
    if name in _PURE_TEXT and isinstance(receiver, Const) and all(isinstance(a, Const) for a in event.args):
        try:
            found = getattr(receiver.value, name)(*(a.value for a in event.args))  # type: ignore[union-attr]
        except (TypeError, ValueError):
            return UNKNOWN
        return Seq("list", [Const(part) for part in found]) if isinstance(found, (list, tuple)) else Const(found)
    return Unknown(*taint(event.args))


def _getattr(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) < 2 or not isinstance(event.args[1], Const) or not isinstance(event.args[1].value, str):
        escape(interp, _first(event))
        return UNKNOWN
    found = calling.attribute(interp, event.args[0], event.args[1].value, frame, _place(event))
    if isinstance(found, Unknown) and not found.origins and len(event.args) > 2:
        return choose([(OpaqueTest(("getattr", interp.serial(event)), "the attribute exists"), found), (True, UNKNOWN)])
    return found


def _setattr(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) == 3 and isinstance(event.args[1], Const):
        interp.set_attribute(event.args[0], str(event.args[1].value), event.args[2], frame, _place(event))
    return NONE


def _isinstance(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return CondValue(OpaqueTest(("isinstance", interp.serial(_first(event)), event.location), "isinstance(...)"))


def _partial(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if not event.args:
        return UNKNOWN
    return Partial(event.args[0], tuple(event.args[1:]), dict(event.kwargs))


def _import_module(interp: Interpreter, event: Event, frame: Frame) -> Value:
    from d9mlint.python import linking

    name = _first(event)
    if isinstance(name, Const) and isinstance(name.value, str):
        return linking.import_module(interp, name.value, 0, frame, _place(event))
    return UNKNOWN


def _exit(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return calling.EXITS


def _version(interp: Interpreter, event: Event, frame: Frame) -> Value:
    from packaging.version import InvalidVersion, Version

    value = _first(event)
    if isinstance(value, Const) and isinstance(value.value, str):
        try:
            return Const(Version(value.value))
        except InvalidVersion:
            return UNKNOWN
    return UNKNOWN


def _wraps(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return Ref("functools.wraps.decorator")


def _same_callable(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Decorators used as calls that hand the function on (``tf.function(step)``)."""
    for value in event.args[:1]:
        if isinstance(value, (Func, Bound, Partial)):
            if event.name == "tensorflow.function" and isinstance(value, Func):
                return Func(
                    value.node,
                    value.closure,
                    value.defaults,
                    (*value.decorators, Ref("tensorflow.function")),
                    value.owner,
                )
            return value
        if isinstance(value, Inst):
            return value
    return None


def _vars(interp: Interpreter, event: Event, frame: Frame) -> Value:
    escape(interp, _first(event))
    value = _first(event)
    if isinstance(value, Inst):
        return Dict(dict(value.attrs))
    return UNKNOWN


def _run_main(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``app.run(main)``: parses the flags, then calls ``main`` (that of ``__main__`` where none is given)."""
    main = event.args[0] if event.args else event.kwargs.get("main") or event.kwargs.get("target")
    if main is None and frame.module.frame is not None:
        main = frame.module.frame.vars.get("main")
    if main is not None:
        calling.call(interp, main, [UNKNOWN], {}, frame, _place(event))
    return NONE


# -- results and escapes -------------------------------------------------------------------------------------------


def result_of(interp: Interpreter, event: Event) -> Value:
    """What an outside call returns."""
    origins, order, sources = taint([*event.args, *event.kwargs.values()])
    returns = ""
    kept = False
    for effect in event.effects:
        returns = returns or effect.returns
        if effect.draws and not event.name.startswith(("keras.", "tensorflow.")):
            origins, sources = origins | {"random"}, (*sources[-MAX_SOURCES:], event)
        if effect.origin:
            origins, sources = origins | {effect.origin}, (*sources, event)
        if effect.order == "sorted":
            order, sources = "", ()
        elif effect.order == "kept":
            kept = True
        elif effect.order:
            order, sources, kept = effect.order, (event,), True
    receiver = event.receiver
    if receiver is not None:
        inherited = taint([receiver])
        origins, sources = origins | inherited[0], (*sources, *inherited[2])
        if event.name.startswith("?."):
            order = order or inherited[1]
    if returns == "self":
        return receiver if receiver is not None else UNKNOWN
    if order and kept:
        return Seq("list", None, Unknown(origins, "", sources), order, sources)
    if returns:
        return Obj(returns, event, origins)
    if event.name.startswith(("?.", "builtins.")) or origins:
        return Unknown(origins, order if kept else "", sources)
    return Obj(f"{event.name}()", event)


def escape(interp: Interpreter, value: Value) -> None:
    """Parsed arguments handed to something unknown: any flag may be read there."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj) and leaf.type in (NAMESPACE, "argparse.ArgumentParser"):
            interp.story.flags_escape = interp.story.flags_escape or leaf.type == NAMESPACE
        elif isinstance(leaf, Ref) and leaf.name == "absl.flags.FLAGS":
            interp.story.flags_escape = True


def invocation_context(interp: Interpreter, event: Event, context: str) -> str:
    """``tfdata`` becomes ``tfdata-parallel`` where the stage has several calls in flight."""
    if context == "tfdata":
        position = 3 if event.name.endswith(".interleave") else 1
        given = event.args[position] if position < len(event.args) else None
        calls = event.kwargs.get("num_parallel_calls", given)
        if calls is not None and not (isinstance(calls, Const) and calls.value in (None, 1)):
            return "tfdata-parallel"
    return context


def guess_dataset(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value], frame: Frame) -> bool:
    """Whether a method of something unknown can only be one of ``tf.data.Dataset``, by its name and arguments."""
    if name in _ONLY_DATASET:
        return True
    if name == "map":
        return "num_parallel_calls" in kwargs
    if name == "shuffle":
        number = bool(args) and isinstance(args[0], Const) and isinstance(args[0].value, int)
        return number or bool({"buffer_size", "reshuffle_each_iteration"} & set(kwargs))
    if name == "batch":
        return "drop_remainder" in kwargs
    return name == "shard" and (len(args) == 2 or {"num_shards", "index"} <= set(kwargs))


def command_line_parameters(interp: Interpreter, func: Func) -> dict[str, Value]:
    """Parameters that ``click`` fills in when a command is called without arguments."""
    return interp.command_line.click_parameters(interp, func)


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.abs": abs, "builtins.bool": bool,
}  # fmt: skip


def _parser(method: str) -> Special:
    def run(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        return getattr(interp.command_line, method)(interp, event, frame)  # type: ignore[no-any-return]

    return run


SPECIAL: dict[str, Special] = {
    "os.getenv": _getenv, "os.environ.get": _getenv, "os.environ.pop": _drop_environment,
    "os.unsetenv": _drop_environment, "os.putenv": _setenv, "os.environ.setdefault": _setenv,
    "os.environ.__setitem__": _setenv, "os.environ.update": _update_environment,
    "builtins.int": _convert, "builtins.float": _convert, "builtins.str": _convert, "builtins.abs": _convert,
    "builtins.bool": _convert, "builtins.len": _length, "builtins.hash": _hash, "builtins.id": _identity,
    "builtins.list": _collect, "builtins.tuple": _collect, "builtins.iter": _collect, "builtins.reversed": _collect,
    "builtins.set": _make_set, "builtins.frozenset": _make_set, "builtins.sorted": _sorted,
    "builtins.enumerate": _enumerate, "builtins.zip": _zip, "builtins.map": _map, "builtins.filter": _map,
    "builtins.list.append": _append, "builtins.list.extend": _append, "builtins.list.insert": _append,
    "builtins.list.sort": _sort_in_place, "?.sort": _sort_in_place, "builtins.set.pop": _pop,
    "builtins.list.pop": _pop, "builtins.dict.get": _dict_get, "builtins.dict.setdefault": _dict_get,
    "builtins.dict.update": _dict_update, "builtins.dict.items": _dict_views, "builtins.dict.keys": _dict_views,
    "builtins.dict.values": _dict_views, "builtins.dict": _make_dict, "builtins.getattr": _getattr,
    "builtins.setattr": _setattr, "builtins.isinstance": _isinstance, "builtins.vars": _vars,
    "builtins.set.union": _make_set, "functools.partial": _partial, "importlib.import_module": _import_module,
    "builtins.__import__": _import_module, "sys.exit": _exit, "builtins.exit": _exit, "builtins.quit": _exit,
    "os._exit": _exit, "packaging.version.parse": _version, "packaging.version.Version": _version,
    "distutils.version.LooseVersion": _version, "distutils.version.StrictVersion": _version,
    "pkg_resources.parse_version": _version, "functools.wraps": _wraps, "tensorflow.function": _same_callable,
    "tensorflow.autograph.experimental.do_not_convert": _same_callable, "functools.lru_cache.decorator": _same_callable,
    "functools.wraps.decorator": _same_callable, "absl.app.run": _run_main, "horovod.run": _run_main,
    "fire.Fire": _run_main, "argparse.ArgumentParser": _parser("make_parser"),
    "argparse.ArgumentParser.add_argument": _parser("add_argument"),
    "argparse.ArgumentParser.add_argument_group": _parser("group"),
    "argparse.ArgumentParser.add_mutually_exclusive_group": _parser("group"),
    "argparse.ArgumentParser.set_defaults": _parser("set_defaults"),
    "argparse.ArgumentParser.parse_args": _parser("parse"),
    "argparse.ArgumentParser.parse_known_args": _parser("parse_known"),
    "argparse.ArgumentParser.error": _exit,
    "absl.flags.DEFINE_integer": _parser("define"), "absl.flags.DEFINE_string": _parser("define"),
    "absl.flags.DEFINE_bool": _parser("define"), "absl.flags.DEFINE_boolean": _parser("define"),
    "absl.flags.DEFINE_float": _parser("define"), "absl.flags.DEFINE_enum": _parser("define_enum"),
}  # fmt: skip
SPECIAL.update({f"builtins.str.{name}": _text_method for name in (*_PURE_TEXT, "join", "format")})
