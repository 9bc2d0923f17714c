"""Classes of settings that the command line or a config file fills: HfArgumentParser, tyro, hydra and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Argument, Location
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Dynamic,
    FlagValue,
    Func,
    Inst,
    Obj,
    Ref,
    Seq,
    Setting,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import configured, environment
from d9mlint.python.interpreter.library.arguments.flags import ANY_FLAGS, flag_of, flag_value
from d9mlint.python.interpreter.library.arguments.options import plain
from d9mlint.python.interpreter.library.containers import fields
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

OF_ANNOTATION = ("hydra.main", "pyrallis.wrap", "draccus.wrap", "simple_parsing.main", "simple_parsing.decorators.main")
"""Decorators that hand settings to a function, of the class that its first parameter is annotated with."""
_TARGET = "_target_"
_MOST_LEVELS = 6
_ELSEWHERE = "what it makes is named in a configuration that is not at hand"


def filled(interp: Interpreter, cls: Class, frame: Frame, place: f.Place, spelling: str, prefix: str = "") -> Inst:
    """An instance whose fields are flags with the defaults of the class; those of classes are instances of their own.

    ``spelling`` is how a flag is written, with ``{}`` for its name; ``prefix`` is the path of fields that leads here.
    """
    instance = Inst(cls, tuple(interp.assumed()))
    _fill(interp, instance, frame, place, spelling, prefix)
    if not isinstance(attributes.class_attribute(interp, cls, "__init__"), Func):
        calls.construct_outside(interp, instance, (), dict(instance.attrs), frame, place, True)
    after = attributes.class_attribute(interp, cls, "__post_init__")
    if isinstance(after, Func):
        calls.enter(interp, after, [instance], {}, frame, place)
    return instance


def _fill(interp: Interpreter, instance: Inst, frame: Frame, place: f.Place, spelling: str, prefix: str = "") -> None:
    for owner, name, annotation, place_there in fields.of_class(instance.cls):
        dotted = f"{prefix}{name}"
        inner = fields.class_of(interp, owner, name, annotation)
        if inner is not None and dotted.count(".") < _MOST_LEVELS:
            instance.attrs[name] = filled(interp, inner, frame, place, spelling, f"{dotted}.")
            continue
        given = fields.default(owner.frame.vars.get(name))
        default = None if given is None else plain(given)
        location = Location(owner.frame.module.path, *place_there)
        flag = flag_of(dotted, default, location, given is None, spelling.format(dotted))
        instance.attrs[name] = flag_value(interp, flag)


def of_class(interp: Interpreter, wanted: Value, frame: Frame, place: f.Place, spelling: str) -> Value:
    """What a parser makes of a class: an instance filled by flags; of a library's class one that is not known."""
    if isinstance(wanted, Class):
        return filled(interp, wanted, frame, place, spelling)
    if isinstance(wanted, Ref):
        return calls.call(interp, wanted, [], {}, frame, place, True)
    return UNKNOWN


# -- parsers -------------------------------------------------------------------------------------------------------


def _into_dataclasses(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``HfArgumentParser(types).parse_args_into_dataclasses()``: one of each, in this order."""
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    given = None if made is None else (made.args[0] if made.args else made.kwargs.get("dataclass_types"))
    types = list(given.items or ()) if isinstance(given, Seq) else [] if given is None else [given]
    if not types:
        return UNKNOWN
    place = environment.place_of(event)
    parsed: list[Value] = [of_class(interp, one, frame, place, "--{}") for one in types]
    rest = event.kwargs.get("return_remaining_strings")
    return Seq("tuple", [*parsed, UNKNOWN] if rest is not None and plain(rest) is not False else parsed)


def _into_itself(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Settings().parse_args()``: the object itself, its fields filled; ``Settings`` is a class of the program.

    Source: github.com/swansonk14/typed-argument-parser, README.
    """
    if not isinstance(event.receiver, Inst):
        return None
    if plain(event.kwargs.get("known_only", NONE)) is True:
        interp.note(ANY_FLAGS)
    _fill(interp, event.receiver, frame, environment.place_of(event), "--{}")
    return event.receiver


def _add_class(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``parser.add_arguments(Settings, dest="run")``: its fields as flags; ``add_class_arguments`` is jsonargparse's.

    Sources: github.com/lebrice/SimpleParsing, README; jsonargparse.readthedocs.io, "Classes, methods and functions".
    """
    cls = event.args[0] if event.args else next((event.kwargs[n] for n in _ADDED if n in event.kwargs), None)
    if not isinstance(cls, Class) or event.receiver is None:
        return None
    dest = event.argument(_DEST) or event.kwargs.get("nested_key")
    under = dest.value if isinstance(dest, Const) and isinstance(dest.value, str) else ""
    prefix = f"{under}." if under and not event.name.endswith(".add_arguments") else ""
    made = filled(interp, cls, frame, environment.place_of(event), "--{}", prefix)
    interp.command_line.add_given(event.receiver, {under: made} if under else made.attrs)
    return UNKNOWN


def of_main(interp: Interpreter, func: Func) -> dict[str, Value]:
    """What ``hydra.main`` and the like hand to a function whose parameter is annotated with a class of settings."""
    first = func.node.params[0] if func.node.params else None
    wanted = _annotated(interp, func, first) if first is not None else None
    if first is None or wanted is None:
        return {}
    return {first.name: filled(interp, wanted, func.closure, func.node.place, "{}")}


def of_parameter(interp: Interpreter, func: Func, param: f.Param) -> Inst | None:
    """What stands for a parameter that is annotated with a class of settings; None where it is not."""
    wanted = _annotated(interp, func, param)
    if wanted is None or not any(True for _ in fields.of_class(wanted)):
        return None
    return filled(interp, wanted, func.closure, func.node.place, "--{}", f"{param.name}.")


def _annotated(interp: Interpreter, func: Func, param: f.Param) -> Class | None:
    """The class of the program that a parameter is annotated with."""
    wanted = expressions.evaluate(interp, param.annotation, func.closure) if param.annotation is not None else None
    return wanted if isinstance(wanted, Class) else None


# -- what a configuration names ------------------------------------------------------------------------------------


def _instantiate(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``hydra.utils.instantiate(config, **more)``: calls what ``_target_`` names with the rest of the configuration."""
    config = event.args[0] if event.args else event.kwargs.get("config")
    given = {**_settings(config), **{k: v for k, v in event.kwargs.items() if k != "config"}}
    target = given.pop(_TARGET, None)
    named = target.flag.default if isinstance(target, FlagValue) else plain(target or NONE)
    if not isinstance(named, str) or named == UNKNOWN_DEFAULT:
        return _candidates(interp, event, config, frame)
    place = environment.place_of(event)
    words = {name: value for name, value in given.items() if not name.startswith("_")}
    called = configured.by_dotted_name(interp, named, frame, place)
    return calls.call(interp, called, list(event.args[1:]), words, frame, place)


def _candidates(interp: Interpreter, event: Event, config: Value | None, frame: Frame) -> Value:
    """What the config files beside the program name under this key; with which arguments is not known."""
    place = environment.place_of(event)
    found = configured.named_in_configs(interp, config, frame, place) or Dynamic(_ELSEWHERE, name=event.raw)
    words = {name: value for name, value in event.kwargs.items() if name != "config"}
    return calls.call(interp, found, list(event.args[1:]), words, frame, place, star=True)


def _settings(config: Value | None) -> dict[str, Value]:
    for _, leaf in alternatives(config):
        if isinstance(leaf, Inst):
            return dict(leaf.attrs)
        if isinstance(leaf, Dict):
            return {str(key): value for key, value in leaf.items.items()}
    return {}


def _keeps(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``OmegaConf.structured(config)``, ``OmegaConf.to_container(config)``: the settings, in another kind of object."""
    first = environment.first(event)
    return first if isinstance(first, (Inst, Dict, Obj, Ref, Unknown)) else UNKNOWN


def _class_named(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``hydra.utils.get_class(config.model._target_)``: what config files name there."""
    given = environment.first(event)
    place = environment.place_of(event)
    if isinstance(given, Const) and isinstance(given.value, str):
        return configured.by_dotted_name(interp, given.value, frame, place)
    spelled = given.spelled if isinstance(given, Setting) else given.name if isinstance(given, (Ref, Unknown)) else ""
    above, _, last = spelled.rpartition(".")
    if last != _TARGET or not above:
        return None
    part = Unknown()
    part.key = interp.knowledge.key_in_configs("", above.rpartition(".")[2])
    return configured.named_in_configs(interp, part, frame, place)


def _validated(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Config.model_validate(data)``: an object of the class, filled with what nobody knows."""
    cls = event.receiver
    place = environment.place_of(event)
    return calls.instantiate(interp, cls, [], {}, frame, place, True) if isinstance(cls, Class) else None


def _evaluate(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``exec(open("settings.py").read())``: the constants above it are defaults of settings that it may change."""
    if frame.func is None and not frame.body_of_class and event.args and not isinstance(event.args[0], Const):
        for name, value in [*frame.vars.items()]:
            if name.startswith("_") or not isinstance(value, Const) or not isinstance(value.value, _PLAIN):
                continue
            interp.store(name, flag_value(interp, flag_of(name, value.value, event.location, spelled=name)), frame)
    return NONE


_PLAIN = (bool, int, float, str)
_HF_PARSERS = ("transformers.HfArgumentParser", "trl.TrlParser")
_PARSE = ("parse_args_into_dataclasses", "parse_json_file", "parse_yaml_file", "parse_dict", "parse_args_and_config")
_ADDED = ("dataclass", "theclass")
_DEST = Argument(1, "dest")
_ADD_CLASS = ("add_arguments", "add_class_arguments", "add_dataclass_arguments")
_VALIDATE = ("model_validate", "model_validate_json", "parse_obj", "parse_file", "parse_raw")
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call", "hydra_zen.instantiate")
TRANSFER: dict[str, Transfer] = {
    **{f"{parser}().{name}": _into_dataclasses for parser in _HF_PARSERS for name in _PARSE},
    **{f"argparse.ArgumentParser.{name}": _add_class for name in _ADD_CLASS},
    **dict.fromkeys(("tap.Tap.parse_args", "tap.Tap.from_dict", "tap.Tap.load"), _into_itself),
    **dict.fromkeys(_INSTANTIATE, _instantiate),
    **dict.fromkeys(("hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object"), _class_named),
    **{f"{base}.{name}": _validated for base in fields.CHECKED for name in _VALIDATE},
    "builtins.exec": _evaluate,
    **{f"omegaconf.OmegaConf.{name}": _keeps for name in ("structured", "to_object", "to_container")},
}
