"""Ray Tune: each trial runs a function, or a class that is set up and then stepped, in an actor's process of its own.

Sources: docs.ray.io, "Training in Tune (tune.Trainable, tune.report)", "ray.tune.Trainable". The methods of a trainable
class were ``_setup``, ``_train``, ``_save``, ``_restore`` and ``_stop`` once (github.com/ray-project/ray, pull 9184).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    UNKNOWN,
    Bound,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Obj,
    Partial,
    Seq,
    Value,
    alternatives,
)
from d9mlint.python.frameworks import tunespaces
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library import workers
from d9mlint.python.interpreter.library.environment import place_of

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_RUN, _EXPERIMENTS, _EXPERIMENT = "ray.tune.run", "ray.tune.run_experiments", "ray.tune.Experiment"
_TUNER, _FIT = "ray.tune.Tuner", "ray.tune.Tuner().fit"
_REGISTER, _SAMPLED = "ray.tune.register_trainable", "ray.tune.sample_from"
_WITH_PARAMETERS, _WITH_RESOURCES = "ray.tune.with_parameters", "ray.tune.with_resources"
_TRAINABLE = {
    _RUN: Argument(0, "run_or_experiment"), _EXPERIMENTS: Argument(0, "experiments"),
    _EXPERIMENT: Argument(1, "run"), _TUNER: Argument(0, "trainable"), _REGISTER: Argument(1, "trainable"),
    _WITH_PARAMETERS: Argument(0, "trainable"), _WITH_RESOURCES: Argument(0, "trainable"),
}  # fmt: skip
"""What a call is given that trials run: a trainable, or experiments."""
_CONFIG = {_EXPERIMENT: "config", _TUNER: "param_space"}
_OPTIONS, _SEARCH = "ray.tune.TuneConfig", "search_alg"
_SETUP, _STEP = ("setup", "_setup"), ("step", "_train")
_LATER = ("save_checkpoint", "_save", "load_checkpoint", "_restore", "cleanup", "_stop")
"""Methods of a class that are called when somebody asks for it, or something goes wrong."""
_REGISTERED, _GIVEN = "tune-registered", "tune-given"
_MOST_LEVELS = 6


def _run(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``tune.run(trainable, config=...)``, ``tune.run_experiments({"name": {"run": ..., "config": ...}})``."""
    given = event.argument(_TRAINABLE[event.name])
    for trainable, config in _trials(interp, given, event.kwargs.get("config", UNKNOWN)):
        if not event.star:
            tunespaces.sampled(interp, event, config, event.kwargs.get(_SEARCH), frame)
        _in_trials(interp, event, trainable, config, frame)
    return UNKNOWN


def _fit(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``tune.Tuner(trainable, param_space=...).fit()``."""
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    if made is None or made.name != _TUNER:
        return None
    search = _search(made)
    for trainable, config in _trials(interp, made.argument(_TRAINABLE[_TUNER]), _config(made)):
        if search is not UNKNOWN:
            tunespaces.sampled(interp, event, config, search, frame)
        _in_trials(interp, event, trainable, config, frame)
    return UNKNOWN


def _kept(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``tune.Tuner(...)``, ``tune.Experiment(...)``: nothing runs yet."""
    return Obj(f"{event.name}()", event)


def _search(made: Event) -> Value | None:
    """The search of a tuner, None where it is given none."""
    options = made.kwargs.get("tune_config")
    if options is None and not made.star:
        return None
    config = options.event if isinstance(options, Obj) else None
    return config.kwargs.get(_SEARCH) if config is not None and config.name == _OPTIONS and not config.star else UNKNOWN


def _config(made: Event) -> Value:
    return made.kwargs.get(_CONFIG[made.name], UNKNOWN)


def _trials(interp: Interpreter, given: Value | None, config: Value) -> Iterator[tuple[Value, Value]]:
    """What the trials run, and what they are configured by: of an experiment, of several, or of a trainable."""
    if isinstance(given, Seq):
        for one in given.items or ([given.element] if given.element is not None else []):
            yield from _trials(interp, one, config)
    elif isinstance(given, Dict):
        held = interp.heap.items(given)
        if "run" in held:
            yield held["run"], held.get("config", UNKNOWN)
            return
        for one in (*held.values(), *([given.element] if given.element is not None else [])):
            if isinstance(one, Dict):
                yield from _trials(interp, one, config)
    elif isinstance(given, Obj) and given.event is not None and given.event.name == _EXPERIMENT:
        trainable = given.event.argument(_TRAINABLE[_EXPERIMENT])
        yield from _trials(interp, trainable, _config(given.event))
    elif given is not None:
        yield given, config


def _in_trials(interp: Interpreter, event: Event, trainable: Value, config: Value, frame: Frame) -> None:
    """Runs what all trials do, once: each has numbers of its own from what the configuration has to choose from."""
    chosen = _chosen(interp, config, frame, event)
    for cond, leaf in alternatives(trainable):
        found = _registered(interp, leaf)
        with workers.elsewhere(interp, f"trial {interp.serial(event)}"):
            if isinstance(found, Class):
                interp.under(cond, partial(_of_class, interp, event, found, chosen, frame))
            elif isinstance(found, (Func, Bound, Partial)):
                interp.under(cond, partial(_of_function, interp, event, found, chosen, frame))


def _of_function(interp: Interpreter, event: Event, func: Func | Bound | Partial, config: Value, frame: Frame) -> None:
    """A function is given the configuration, and in old releases what it reports by."""
    inner = func
    while isinstance(inner, Partial) and isinstance(inner.func, (Func, Bound, Partial)):
        inner = inner.func
    node = inner.func.node if isinstance(inner, Bound) else inner.node if isinstance(inner, Func) else None
    needed = [one for one in node.params if one.default is None] if node is not None else []
    taken = isinstance(inner, Bound) + (len(func.args) if isinstance(func, Partial) else 0)
    reports = len(needed) - taken > 1 and not isinstance(func, Partial)
    calls.call(interp, func, [config, UNKNOWN] if reports else [config], {}, frame, place_of(event))


def _of_class(interp: Interpreter, event: Event, cls: Class, config: Value, frame: Frame) -> None:
    """An object is made of a class and set up; then it makes one step after the other."""
    place = place_of(event)
    made = calls.instantiate(interp, cls, [config], {}, frame, place, False)
    if not isinstance(made, Inst):
        return
    interp.heap.set(made, "config", True, config)
    given: dict[str, Value] = interp.noted((_GIVEN, id(cls))) or {}
    for name in _SETUP:
        _method(interp, made, name, [config], given, frame, event)
    end = interp.enter_loop(frame, place)
    for name in _STEP:
        _method(interp, made, name, [], {}, frame, event)
    end()
    for name in _LATER:
        method = attributes.class_attribute(interp, cls, name)
        if isinstance(method, Func):
            callbacks.run_later(interp, Bound(method, made), frame, place)


def _method(
    interp: Interpreter, made: Inst, name: str, args: list[Value], kwargs: dict[str, Value], frame: Frame, event: Event
) -> None:  # fmt: skip
    method = attributes.class_attribute(interp, made.cls, name)
    if isinstance(method, Func):
        calls.call(interp, Bound(method, made), args, kwargs, frame, place_of(event))


def _chosen(interp: Interpreter, config: Value, frame: Frame, event: Event, level: int = 0) -> Value:
    """The configuration of a trial: what functions give that the program has it computed by, in its own process."""
    if isinstance(config, Dict) and level < _MOST_LEVELS:
        held = interp.heap.items(config)
        each = {key: _chosen(interp, value, frame, event, level + 1) for key, value in held.items()}
        return Dict(each, config.open, config.order, config.sources, config.element)
    made = config.event if isinstance(config, Obj) else None
    if made is None or made.name != _SAMPLED or not made.args:
        return config
    return calls.call(interp, made.args[0], [UNKNOWN], {}, frame, place_of(event))


# -- trainables ----------------------------------------------------------------------------------------------------


def _trainable(event: Event) -> Value:
    """What a call is given that trials run."""
    return event.argument(_TRAINABLE[event.name]) or UNKNOWN


def _register(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``tune.register_trainable("name", trainable)``."""
    name = event.args[0] if event.args else event.kwargs.get("name")
    trainable = _trainable(event)
    interp.note((_REGISTERED, name.value if isinstance(name, Const) else interp.serial(name)), trainable)
    return UNKNOWN


def _registered(interp: Interpreter, value: Value) -> Value:
    """What is registered under a name; all else is what it is."""
    if isinstance(value, (Class, Func, Bound, Partial)):
        return value
    found: Value | None = interp.noted((_REGISTERED, value.value if isinstance(value, Const) else interp.serial(value)))
    return value if found is None else found


def _with_parameters(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``tune.with_parameters(trainable, data=data)``: more than the configuration is given to it."""
    trainable = _trainable(event)
    given = {name: value for name, value in event.kwargs.items() if name != "trainable"}
    if isinstance(trainable, Class):
        interp.note((_GIVEN, id(trainable)), given)
        return trainable
    return Partial(trainable, (), given)


def _same(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``tune.with_resources(trainable, {"gpu": 1})``."""
    return _trainable(event)


class Tune(Framework):
    """What the trials of Ray Tune run."""

    packages = frozenset({"ray"})
    transfer: ClassVar[Mapping[str, Transfer]] = {
        _RUN: _run, _EXPERIMENTS: _run, _TUNER: _kept, _EXPERIMENT: _kept, _FIT: _fit,
        _REGISTER: _register, _WITH_PARAMETERS: _with_parameters, _WITH_RESOURCES: _same,
    }  # fmt: skip
