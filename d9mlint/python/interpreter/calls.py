"""Calls and attributes: the program's own functions are entered, everything else becomes an event."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate, symbolic_part
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Const,
    Dict,
    Dynamic,
    Func,
    Inst,
    Obj,
    Partial,
    Phi,
    Ref,
    Seq,
    Super,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, binding, callbacks, expressions, managers
from d9mlint.python.interpreter.extent.bounds import MAX_BRANCHES
from d9mlint.python.interpreter.hooks import ask
from d9mlint.python.interpreter.library import coroutines, dispatch, environment, generics, overloads, streams
from d9mlint.python.interpreter.library.arguments import bindings, commands, experiments
from d9mlint.python.interpreter.library.containers import fields, mappings
from d9mlint.python.interpreter.marks import inferring
from d9mlint.python.interpreter.reuse.summaries import (
    Summary,
    generalized,
    kind_of,
    likeness,
    same_call,
    texts_of,
    told_apart,
)
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

EXITS = Unknown(name="exits")
"""What a call that ends the program returns."""
INFERENCE = "inference"
"""The context of functions whose names say that nothing is trained there."""


# -- calls ---------------------------------------------------------------------------------------------------------


def call_expression(interp: Interpreter, node: f.Call, frame: Frame) -> Value:
    """A call: its function, its arguments in order, then what it does."""
    if isinstance(node.func, f.Name) and node.func.id == "super" and frame.func is not None and frame.func.owner:
        receiver = next(iter(frame.vars.values()), UNKNOWN)
        return Super(frame.func.owner, receiver)
    func = expressions.evaluate(interp, node.func, frame)
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    star = unpacked = False
    for arg in node.args:
        unpacked = unpacked or bool(arg.star)
        value = expressions.evaluate(interp, arg.value, frame)
        if isinstance(value, Ref) and isinstance(arg.value, f.Attr):
            value = expressions.handed(value, arg.value)
        if arg.star == "*":
            if isinstance(value, Seq) and value.items is not None:
                args.extend(value.items)
            else:
                star = True
                if isinstance(value, Seq) and isinstance(value.element, (Inst, Obj)):
                    args.append(value.element)  # `Sequential(*(Block() for _ in range(n)))`: one stands for all
        elif arg.star == "**":
            given = Dict({})
            mappings.merge(interp, given, value)
            kwargs.update({k: v for k, v in given.items.items() if isinstance(k, str)})
            star = star or given.open
            for _, leaf in alternatives(value):
                if not isinstance(leaf, Dict):
                    environment.escape(interp, leaf)
        elif arg.keyword is not None:
            kwargs[arg.keyword] = value
        else:
            args.append(value)
    if not unpacked and binding.fails(func, args, kwargs, interp.hooks.plain_bases):
        interp.stopped = True  # it raises TypeError
        return EXITS
    if interp.loops and not node.awaited and coroutines.is_one(func):
        with coroutines.side_by_side(interp, func, frame, node.place):
            return call(interp, func, args, kwargs, frame, node.place, star)
    return call(interp, func, args, kwargs, frame, node.place, star)


def call(
    interp: Interpreter, func: Value, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool = False,
) -> Value:  # fmt: skip
    """Calls any value."""
    if isinstance(func, Phi):
        options = []
        for cond, leaf in func.alternatives if star else binding.taking(interp, func, args, kwargs, frame, place):
            found = interp.under(cond, partial(call, interp, leaf, args, kwargs, frame, place, star))
            if found is not None:
                options.append((cond, found))
        return choose(options)
    if func is ABSENT:
        return ABSENT
    if isinstance(func, Func):
        names = _decorators(interp, func)
        made = ask(interp.hooks.decorated, interp, func, names, kwargs, frame, place, star) if names else None
        result = overloads.enter(interp, func, args, kwargs, frame, place, star)
        if func.decorators and not args and commands.is_group(interp, func):
            commands.run_group(interp, func, frame, place)
        return result if made is None else made
    if isinstance(func, Bound):
        run = partial(overloads.enter, interp, func.func, [func.receiver, *args], kwargs, frame, place, star)
        if not isinstance(func.receiver, Inst):
            return run()
        there: Value | None = interp.while_there(func.receiver, run)
        return UNKNOWN if there is None else there
    if isinstance(func, Partial):
        return call(interp, func.func, [*func.args, *args], {**func.kwargs, **kwargs}, frame, place, star)
    if isinstance(func, Class):
        return instantiate(interp, func, args, kwargs, frame, place, star)
    if isinstance(func, Inst):
        for name in ("__call__", *interp.hooks.runs):
            method = attributes.class_attribute(interp, func.cls, name)
            if isinstance(method, Func):
                return call(interp, Bound(method, func), args, kwargs, frame, place, star)
        base = attributes.external(func.cls, "__call__", func)
        return call(interp, base, args, kwargs, frame, place, star) if base else UNKNOWN
    if isinstance(func, Ref):
        return _external_call(interp, func, args, kwargs, frame, place, star)
    if isinstance(func, Obj):
        return _external_call(interp, Ref(f"{func.type}.__call__", func), args, kwargs, frame, place, star)
    if isinstance(func, Dynamic) and func.options:
        known = dispatch.candidates(interp, func, args, kwargs, star, frame)
        if known is not None:
            if known[1]:
                _unresolved(interp, func, args, kwargs, frame, place)
            return call(interp, known[0], args, kwargs, frame, place, star)
    return _unresolved(interp, func, args, kwargs, frame, place)


def _unresolved(
    interp: Interpreter, func: Value, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place
) -> Value:
    name = func.name if isinstance(func, Unknown) else ""
    found = func if isinstance(func, Dynamic) else None
    event = interp.event("unresolved", name or "?", frame, place, tuple(args), kwargs=kwargs, receiver=found)
    callbacks.run_callbacks(interp, event, frame, place)
    for value in (*args, *kwargs.values()):
        environment.escape(interp, value)
    event.result = Unknown(*taint([*args, *kwargs.values()]))
    return event.result


def enter(
    interp: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool = False, made: Inst | None = None,
) -> Value:  # fmt: skip
    """Runs a function of the program; ``made`` is the object that it makes as a constructor."""
    if func.decorators and (handed := ask(interp.hooks.given, interp, func, args, kwargs, frame, place)) is not None:
        args, kwargs, star = handed
    node = func.node
    again = same_call(func, args)
    if not interp.bounds.step(func.closure.module.path, node) or again in interp.running:
        return UNKNOWN
    if interp.bounds.too_deep(len(interp.stack), func.name, frame.module.path, place):
        return UNKNOWN
    if interp.detached and id(node) in interp.entered:
        return UNKNOWN  # what happens in it has been told; nobody knows with which arguments it would be called here
    if interp.loops and not interp.detached:
        interp.story.looped[id(node)] = len(interp.story.events)
    options = commands.parameters(interp, func) if not args and not kwargs else {}
    if func.decorators:
        options.update(experiments.parameters(interp, func, frame, place))
    if not star and interp.noted(bindings.READ):
        kwargs = {**kwargs, **bindings.given(interp, func, made, args, kwargs, frame, place)}
    interp.heap.defaults(func)
    inner = Frame(func.closure.module, func.closure, interp.path, func)
    binding.bind(inner, func, args, {**options, **kwargs}, star, interp.knowledge)
    if star:
        commands.take_flags(interp, func, inner)
    for hook in interp.hooks.parameters:
        hook(interp, func, inner)
    quiet = func.closure.module.path in interp.project.quiet
    one = told_apart(func)
    runs, given = interp.summaries.runs[one], inner.vars.values()
    often = interp.summaries.often(one, given, quiet)
    texts = texts_of(given)
    key = _alike(interp, func, one, inner, made, often)
    conds = interp.path.all
    parts = managers.parts(interp, func, place)
    # One of many branches that all make the same layers says under its own condition that they are there.
    known = interp.summaries.find(key, None if often and (quiet or runs >= MAX_BRANCHES) else conds)
    if (
        known is not None
        and parts is None
        and (often or not any(hook(inner) for hook in interp.hooks.counts_each_call))
    ):
        interp.stopped = either(interp.stopped, known.stopped)
        if made is not None:
            made.attrs.update(known.attrs)
            made.like = known.like
        return known.result
    if often and key in interp.running:
        return UNKNOWN  # it calls itself with what nobody knows, as it does already
    interp.summaries.runs[one] += 1
    interp.summaries.texts[one, texts] += 1
    interp.entered.add(id(node))
    names = _decorators(interp, func)
    added = [context for inside in interp.hooks.contexts for context in inside(interp, func, names)]
    if INFERENCE not in interp.contexts and inferring.infers(func):
        added.append(INFERENCE)
    interp.contexts.extend(added)
    stack, interp.stack = interp.stack, (*interp.stack, Location(frame.module.path, *place))
    callers, interp.callers = interp.callers, (*interp.callers, frame.func)
    interp.running |= {again, key}
    stopped: Cond = False
    failures = len(interp.failures)
    try:
        if isinstance(node, f.Lambda):
            result = expressions.evaluate(interp, node.body, inner)
        else:
            returned, _, stopped = interp.block(node.body if parts is None else parts[0], inner)
            result = _result(node, inner, returned, stopped)
            if parts is not None:
                managers.keep(interp, parts[1], inner)
    finally:
        interp.stack, interp.callers = stack, callers
        interp.running -= {again, key}
        if added:
            del interp.contexts[-len(added) :]
    abstract = stopped is True and len(interp.failures) == failures  # what always raises, mostly another class has it
    if abstract or interp.deferred or interp.detached or (isinstance(node, f.Def) and node.generator):
        stopped = False
    # Whether an error that depends on what is not known was raised helps no caller.
    stopped = negate(symbolic_part(negate(stopped)))
    interp.stopped = either(interp.stopped, stopped)
    attrs, like = (dict(made.attrs), made.like) if made is not None else ({}, 0)
    interp.summaries.add(key, Summary(conds, result, stopped, attrs, like))
    return result


def _alike(
    interp: Interpreter, func: Func, one: Hashable, inner: Frame, made: Inst | None, often: bool
) -> object:  # fmt: skip
    """What calls of a function, told apart as ``one``, have in common that give the same.

    Of one called ``often`` what varies is taken away.
    """
    given = {name: likeness(interp, value, made) for name, value in inner.vars.items()}
    varying = interp.summaries.varying(one, given)
    if not often:
        place = (id(func.node), id(func.closure), tuple(interp.contexts), id(interp.loader), interp.by_clock)
        return place, tuple(given.values())
    inner.vars = {name: generalized(value) if name in varying else value for name, value in inner.vars.items()}
    return one, frozenset(interp.contexts), tuple(map(kind_of, inner.vars.values()))


def _decorators(interp: Interpreter, func: Func) -> list[tuple[Value, str]]:
    """What decorates a function, with the canonical names of it."""
    return [(d, decorator_name(interp, d)) for d in func.decorators]


def decorator_name(interp: Interpreter, decorator: Value) -> str:
    """The canonical name of what decorates a function; empty where that is no name outside the program."""
    if isinstance(decorator, Obj) and decorator.event is not None:
        return decorator.event.name
    return interp.knowledge.canonical(decorator.name) if isinstance(decorator, Ref) else ""


def _result(node: f.Def, inner: Frame, returned: Cond, stopped: Cond) -> Value:
    if node.generator:
        element = choose([(True, inner.yields[0])]) if inner.yields else UNKNOWN
        _, order, sources = taint(inner.yields)
        if inner.order[0]:
            order, sources = inner.order
        return Seq("generator", None, element, order, sources)
    if not inner.results:
        return Const(None)
    results = _apart(inner.results)
    rest = both(negate(returned), negate(stopped))
    if is_symbolic(rest) and rest is not False and returned is either(*(cond for cond, _ in results)):
        results.append((rest, NONE))  # (a return in a loop is none that is known of)
    return results[0][1] if len(results) == 1 else choose(results)


def _apart(results: Sequence[tuple[Cond, Value]]) -> list[tuple[Cond, Value]]:
    """What a function returns, where that is an answer each time: one in a loop is given instead of all that follow."""
    found: list[tuple[Cond, Value]] = []
    if not all(isinstance(value, Const) for _, value in results):
        return list(results)
    before: Cond = False
    for cond, value in results:
        rest = both(cond, negate(before))
        found.append((cond if rest is False else rest, value))
        before = either(before, cond)
    return found


def instantiate(
    interp: Interpreter, cls: Class, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool,
) -> Value:  # fmt: skip
    """An instance of a class of the program, its constructor run."""
    record = mappings.record(interp, cls, args, kwargs, star)
    if record is not None:
        return record
    if len(args) == 1 and not star and not generics.ENUMS.isdisjoint(cls.external()):
        return args[0]  # the member of this value; members are their values here
    if (other := _from_new(interp, cls, args, kwargs, frame, place, star)) is not None:
        return other
    instance = Inst(cls, tuple(interp.assumed()))
    init = attributes.class_attribute(interp, cls, "__init__")
    if isinstance(init, Func):
        enter(interp, init, [instance, *args], kwargs, frame, place, star, instance)
        instance.made = True
        return instance
    fields.fill(interp, instance, args, kwargs, frame, place, star)
    construct_outside(interp, instance, args, kwargs, frame, place, star)
    return instance


def construct_outside(
    interp: Interpreter, instance: Inst, args: Sequence[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool,
) -> None:  # fmt: skip
    """Runs the constructor that a class of the program inherits from one outside of it, where it does."""
    external = attributes.external(instance.cls, "__init__", instance)
    if isinstance(external, Ref):
        event = interp.event(
            "call", external.name, frame, place, tuple(args), kwargs=kwargs, star=star, receiver=instance
        )
        if (transfer := interp.hooks.transfer.get(event.name)) is not None:
            transfer(interp, event, frame)
        callbacks.run_callbacks(interp, event, frame, place)


def _from_new(
    interp: Interpreter, cls: Class, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool,
) -> Value | None:  # fmt: skip
    """What ``__new__`` gives where that is an object of another class, whose constructor has run; None for all else."""
    new = attributes.class_attribute(interp, cls, "__new__")
    given = enter(interp, new, [cls, *args], kwargs, frame, place, star) if isinstance(new, Func) else UNKNOWN
    others = all(
        isinstance(one, Inst) and not any(base is cls for base in one.cls.line()) for _, one in alternatives(given)
    )
    return given if others else None


def _of_known_type(interp: Interpreter, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> str:
    """The name of a method of something unknown, or of what an unknown call gives, where only one type has it."""
    holder, _, last = name.rpartition(".")
    if holder == "?" or (
        holder.endswith("()") and not interp.knowledge.effects_of(interp.knowledge.canonical(name), name)
    ):
        return ask(interp.hooks.method_of_unknown, last, args, kwargs) or name
    return name


def _external_call(
    interp: Interpreter, func: Ref, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place,
    star: bool,
) -> Value:  # fmt: skip
    name = _of_known_type(interp, func.name, args, kwargs)
    event = interp.event("call", name, frame, place, tuple(args), kwargs=kwargs, star=star, receiver=func.receiver)
    if interp.order_loops and event.effects:
        streams.written(interp, event, frame)
    transfer = interp.hooks.transfer.get(event.name)
    result = transfer(interp, event, frame) if transfer is not None else None
    if result is None and isinstance(func.receiver, Class):
        result = ask(interp.hooks.constructs, interp, event, frame)
    if result is not None:
        event.result = result
        return result
    callbacks.run_callbacks(interp, event, frame, place)
    for hook in interp.hooks.called:
        hook(interp, event, frame, place)
    for value in (*args, *kwargs.values()):
        environment.escape(interp, value)
    event.result = environment.result_of(interp, event)
    return event.result
