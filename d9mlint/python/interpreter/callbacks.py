"""Functions handed to calls outside the program: run now, or some time later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Effect
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    CALLABLE,
    Bound,
    Class,
    Dict,
    Func,
    Inst,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
    born,
)
from d9mlint.python.interpreter import attributes, calls, scopes
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.program import holds
from d9mlint.python.interpreter.scopes import COMPLETION, OrderLoop, within
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


CALLBACK = "callback"
"""The context of functions that something outside the program calls."""
COMPLETED = "completed"
"""The context of what is called with each result as it becomes ready."""
HANDLER = "handler"
"""The type of a decorator that hands a function to a server, which calls it when a request comes."""
_SECOND_ARGS = Argument(1, "args")
_PROCESS_ARGS = Argument(3, "args")
_INITIALIZER = "initializer"
"""The argument of pools for what each of their workers runs first."""
_POOL_INITARGS, _EXECUTOR_INITARGS = Argument(2, "initargs"), Argument(3, "initargs")
_ALONE = (".Thread", ".Process")
"""Constructors that take all arguments of the function as ``args`` and ``kwargs``."""
_SUBMIT = ("concurrent.futures.ProcessPoolExecutor.submit", "concurrent.futures.ThreadPoolExecutor.submit")
"""Calls that take all arguments of the function behind it."""
_PROCESSES = (environment.PROCESS, environment.SPAWNED)
_MAKING = (".__init__", ".register_buffer", ".register_parameter", ".add_module", ".register_module")
"""What constructors call on the object that they make, which nobody need use."""
_LOOKS = (
    "inspect.", "builtins.isinstance", "builtins.hasattr", "builtins.callable", "builtins.id", "builtins.type",
    "abc.ABCMeta",
)  # fmt: skip
"""Calls that only look at what they are given, ``inspect.signature(cls.__init__)`` runs no constructor, or make a class
of it: ``ABCMeta(cls.__name__, cls.__bases__, dict(cls.__dict__))``."""
_TEXTS = frozenset({"builtins.print", "builtins.str", "builtins.repr", "builtins.format"})
"""Calls that make a text of what they are given: of a network its layers, which computes nothing."""
_OF_TEXTS = frozenset({"__str__", "__repr__", "__format__"})
_MAY_BE_CALLED = (*CALLABLE, Inst, Seq, Dict, Phi)
"""What can be called, or may hold such; few values are any of these."""


def run_callbacks(interp: Interpreter, event: Event, frame: Frame, place: f.Place) -> None:
    """Runs the functions handed to an outside call: now where the catalogue says so, else some time later."""
    if event.name.startswith(_LOOKS):
        return
    done: list[Value] = []
    for hook in interp.hooks.made:
        hook(interp, event, frame)
    for effect in event.effects:
        if effect.invokes:
            when = holds(event, effect.when)
            when = when if is_symbolic(when) else True  # (what is not known was written for a purpose)
            if when is False:
                continue
            done += interp.under(when, partial(_invoke, interp, effect, event, frame, place)) or ()
            if when is not True:
                given = (event.argument(one.argument) for one in effect.invokes)
                for value in (one for one in given if one is not None):
                    run = partial(_run_callback, interp, value, frame, place, CALLBACK, deferred=True)
                    interp.under(negate(when), run)
    if event.args and isinstance(event.args[0], Inst) and event.name.endswith(_MAKING):
        done.append(event.args[0])  # `Base.__init__(self)`
    for value in (*event.args, *event.kwargs.values()):
        if isinstance(value, _MAY_BE_CALLED) and not any(value is d for d in done):
            if event.name not in _TEXTS:
                _run_callback(interp, value, frame, place, CALLBACK, deferred=True)
                continue
            for cond, leaf in _callables(value):
                if isinstance(leaf, Inst):
                    interp.under(cond, partial(run_protocol, interp, leaf, frame, place, _OF_TEXTS))
    handed_back = any(effect.returns == "self" for effect in event.effects)  # `net.cuda()` runs nothing yet
    quiet = handed_back or event.name.endswith(_MAKING) or event.name in interp.hooks.asking
    if isinstance(event.receiver, Inst) and not quiet:
        run_protocol(interp, event.receiver, frame, place)


def _invoke(interp: Interpreter, effect: Effect, event: Event, frame: Frame, place: f.Place) -> list[Value]:
    """Runs the functions that the catalogue says a call is handed, and gives all that need not be run again."""
    done: list[Value] = []
    for invocation in effect.invokes:
        value = event.argument(invocation.argument)
        if value is None:
            continue
        done.append(value)
        if invocation.context in interp.hooks.on_use:
            continue
        if invocation.method:
            _run_method(interp, value, invocation.method, frame, place)
            continue
        context = environment.invocation_context(interp, event, invocation.context)
        several = (context == COMPLETED and event.loops) or (context == "thread" and _starts_several(event))
        order = [OrderLoop(COMPLETION, (event,), len(interp.loops), born())] if several else []
        words = _words(event)
        args = _handed(interp, event, context, words, invocation.argument.keyword)
        run = partial(
            _run_callback, interp, value, frame, place, context, deferred=context in (CALLBACK, "thread"),
            args=args, words=words, order=order, outside=context == "thread",
        )  # fmt: skip
        within(interp, _own_process(event, context), run)
        if args is not None and all(isinstance(leaf, CALLABLE) for _, leaf in alternatives(value)):
            done += _passed_on(event, args)
    return done


def _passed_on(event: Event, args: Sequence[Value]) -> Iterator[Value]:
    """What a call holds for the function that it starts, and no other: whatever that calls of it is seen there."""
    for given in (*event.args, *event.kwargs.values()):
        if isinstance(given, Seq) and given.items and all(any(item is one for one in args) for item in given.items):
            yield given


def _own_process(event: Event, context: str) -> str:
    """The name of the process that a constructor makes for a function of its own: what is seeded there stays there."""
    own = context == environment.PROCESS and event.name.endswith(".Process")
    return f"{environment.NAMED_PROCESS}{event.location.path}:{event.location.line}" if own else ""


def _starts_several(event: Event) -> bool:
    """Whether a call starts a thread for each of several things."""
    return bool(event.loops) or event.name.endswith(".map")


def _words(event: Event) -> dict[str, Value] | None:
    """The arguments by name that a process or thread is started with; None where they are not known."""
    if event.name in _SUBMIT:
        return event.kwargs
    given = event.kwargs.get("kwargs") if event.name.endswith(_ALONE) else None
    known = isinstance(given, Dict) and not given.open and all(isinstance(key, str) for key in given.items)
    return {str(key): value for key, value in given.items.items()} if isinstance(given, Dict) and known else None


def _handed(
    interp: Interpreter, event: Event, context: str, words: dict[str, Value] | None, keyword: str
) -> list[Value] | None:  # fmt: skip
    """The arguments that a process or thread is started with; None where they are not known."""
    if event.name in _SUBMIT:
        return None if event.star else [*event.args[1:]]
    ranked = event.name in interp.hooks.rank_first
    second = ranked or event.name.endswith((".apply_async", ".apply"))
    place = _SECOND_ARGS if second else _PROCESS_ARGS
    if keyword == _INITIALIZER:
        place = _EXECUTOR_INITARGS if event.name.endswith("Executor") else _POOL_INITARGS
    value = event.argument(place)
    if value is None and keyword == _INITIALIZER:
        return []
    if value is None and ranked:
        value = Seq("tuple", [])  # the number of the process alone
    named = words is not None or "kwargs" not in event.kwargs
    if value is None and event.name.endswith(_ALONE) and named and not event.star:
        return []  # the function has its defaults: `Thread(target=lambda worker=worker: worker.run())`
    thread = context == "thread" and (event.name.endswith(".Thread") or keyword == _INITIALIZER)
    if not (thread or context in _PROCESSES) or not isinstance(value, Seq) or value.items is None:
        return None
    rank: list[Value] = [Unknown(frozenset({"rank", "int"}), name="rank")] if ranked else []
    return [*rank, *value.items]


def run_in(interp: Interpreter, value: Value, frame: Frame, place: f.Place, context: str) -> None:
    """Runs what a thread or process of its own runs."""
    _run_callback(interp, value, frame, place, context, deferred=context == "thread", args=[])


def run_later(interp: Interpreter, value: Value, frame: Frame, place: f.Place) -> None:
    """Runs what is called some time later, nobody knows when."""
    _run_callback(interp, value, frame, place, CALLBACK, deferred=True)


def keep_handler(interp: Interpreter, func: Func, frame: Frame, place: f.Place) -> None:
    """Keeps a function that a server calls when a request comes: once all that the program sets up is there."""
    interp.note((HANDLER, id(func)), (both(*interp.path.all), func, frame, place))


def run_handlers(interp: Interpreter) -> None:
    """Runs the functions that are kept for a server, each where it has been handed over."""
    scope = scopes.leave(interp)
    for cond, func, frame, place in interp.all_noted(HANDLER):
        interp.under(cond, partial(run_later, interp, func, frame, place))
    scopes.enter(interp, scope, ())


def _run_method(interp: Interpreter, value: Value, name: str, frame: Frame, place: f.Place) -> None:
    """Runs a method that a framework calls by its name, on each object (or one of each class) handed over."""
    for _, leaf in alternatives(value):
        instance = _instance(interp, leaf, frame, place) if isinstance(leaf, Class) else leaf
        if isinstance(instance, Inst) and interp.noted(("ran", id(instance), name)) is None:
            method = attributes.class_attribute(interp, instance.cls, name)
            interp.note(("ran", id(instance), name), instance)
            if (own := instance.attrs.get(name)) is not None:  # `self.train_dataloader = self._one_of_them`
                _run_callback(interp, interp.resolve(own), frame, place, CALLBACK, deferred=True)
            elif isinstance(method, Func):
                _run_callback(interp, Bound(method, instance), frame, place, CALLBACK, deferred=True)


def _instance(interp: Interpreter, cls: Class, frame: Frame, place: f.Place) -> object:
    """The one object that a framework makes of a class handed to it."""
    known: object = interp.noted(("one-of", id(cls)))
    if known is None:
        known = calls.instantiate(interp, cls, [], {}, frame, place, True)
        interp.note(("one-of", id(cls)), known)
    return known


def _callables(value: Value) -> list[tuple[Cond, Value]]:
    """What can be called of a value, or of what it holds, each under the condition that it is that."""
    return [(cond, one) for cond, leaf in alternatives(value) for one in _inside(leaf)]


def _inside(leaf: Value) -> Iterator[Value]:
    if isinstance(leaf, (*CALLABLE, Inst)):
        yield leaf
    elif isinstance(leaf, Seq) and leaf.items is not None:
        yield from (v for v in leaf.items if isinstance(v, (*CALLABLE, Inst)))
    elif isinstance(leaf, Seq) and isinstance(leaf.element, (*CALLABLE, Inst)):
        yield leaf.element
    elif isinstance(leaf, Dict):
        yield from (v for v in leaf.items.values() if isinstance(v, CALLABLE))


def _run_callback(
    interp: Interpreter, value: Value, frame: Frame, place: f.Place, context: str, *, deferred: bool,
    args: list[Value] | None = None, words: dict[str, Value] | None = None, order: Sequence[OrderLoop] = (),
    outside: bool = False,
) -> None:  # fmt: skip
    """Runs what is called of a value; ``outside``: also a method of a library, which a thread runs for its effects."""
    found = _callables(value)
    if outside:
        found += [(cond, leaf) for cond, leaf in alternatives(value) if isinstance(leaf, Ref) and leaf.receiver]
    for cond, leaf in found:
        run = partial(
            _run, interp, leaf, frame, place, context, deferred=deferred, args=args, words=words or {}, order=order
        )
        interp.under(cond, run)


def _run(
    interp: Interpreter, leaf: Value, frame: Frame, place: f.Place, context: str, *, deferred: bool,
    args: list[Value] | None, words: dict[str, Value], order: Sequence[OrderLoop],
) -> None:  # fmt: skip
    if isinstance(leaf, Inst) and not isinstance(attributes.class_attribute(interp, leaf.cls, "__call__"), Func):
        run_protocol(interp, leaf, frame, place)
        return
    interp.deferred += deferred
    loops, interp.order_loops = interp.order_loops, list(order)
    try:
        run = partial(calls.call, interp, leaf, args or [], words, frame, place, star=args is None)
        within(interp, context, run)
    finally:
        interp.order_loops = loops
        interp.deferred -= deferred


def run_protocol(
    interp: Interpreter, instance: Inst, frame: Frame, place: f.Place, names: frozenset[str] | None = None
) -> None:
    """Runs the methods that a framework calls on an object handed to it, each once."""
    if names is None:
        later = frozenset[str]().union(*(hook(interp, instance, frame, place) for hook in interp.hooks.handed))
        names = interp.hooks.protocol - later
    for cls in instance.cls.line():
        for name, method in list(cls.frame.vars.items()):
            if name in names and isinstance(method, Func) and interp.noted(("ran", id(instance), name)) is None:
                interp.note(("ran", id(instance), name), instance)
                interp.deferred += 1
                try:
                    run = partial(calls.enter, interp, method, [instance], {}, frame, place, star=True)
                    within(interp, CALLBACK, run)
                finally:
                    interp.deferred -= 1
