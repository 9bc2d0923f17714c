"""Settings that a program reads from JSON or YAML files beside it: flags whose defaults stand in these files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import ABSENT, Const, Dict, FlagValue, Seq, Unknown, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.arguments import shipped
from d9mlint.python.interpreter.library.arguments.flags import flag_of

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_READ, _WHOLE, _OF_PATHS = ".read", (".read_text", ".read_bytes"), "pathlib."
_BACK = 50
"""Events among which a file is looked for that was opened before it is read."""
_MOST_LEVELS, _MOST = 6, 200
_MOST_ITEMS = 16
"""Parts in a list, each of which makes something of its own; numbers in lists are none."""
_SETTINGS = (str, int, float, bool, type(None))


def _load(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``json.load(file)``, ``yaml.safe_load(file)``, ``json.loads(file.read())``; None where no file is known."""
    return settings_at(interp, _path(interp, environment.first(event)), event, frame)


def _load_at(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``YamlConfig(path)``: used like a dict (autolab_core 1.1.1, yaml_config.py)."""
    return settings_at(interp, environment.first(event), event, frame)


def settings_at(interp: Interpreter, path: Value | None, event: Event, frame: Frame) -> Dict | None:
    """The settings in the file that lies at a path, which a call reads; None where no file is known."""
    said = None if path is None else shipped.stated(interp, frame, path, shipped.spoken_of(interp))
    if said is None:
        return None
    found, complete = shipped.agreed(said)
    others = not isinstance(path, Const) or not complete  # which may have more
    return _settings(interp, found, f"{{}} in {said.label}", event.location, others, itertools.count(1))


def _settings(
    interp: Interpreter, held: dict[str, Any], spelling: str, location: Location, open_: bool, count: Iterator[int],
    prefix: str = "",
) -> Dict:  # fmt: skip
    """What a file holds: each constant the default of a setting, under its dotted name."""
    made = Dict({}, open_)
    for name, value in held.items():
        if next(count) > _MOST:
            made.open = True
        elif isinstance(value, shipped.Differing) and value.optional:
            made.items.update(_optional(name, value.values, spelling, location))
        else:
            made.items[name] = _setting(interp, value, spelling, location, open_, count, f"{prefix}{name}")
    return made


def _setting(
    interp: Interpreter, value: Any, spelling: str, location: Location, open_: bool, count: Iterator[int], dotted: str
) -> Value:
    if isinstance(value, dict) and dotted.count(".") < _MOST_LEVELS and all(isinstance(one, str) for one in value):
        return _settings(interp, value, spelling, location, open_, count, f"{dotted}.")
    if isinstance(value, shipped.Differing):
        return _one_of(interp, dotted, value.values, spelling, location)
    if isinstance(value, _SETTINGS):
        return FlagValue(flag_of(dotted, value, location, False, spelling.format(dotted)))
    if isinstance(value, list) and len(value) <= _MOST_ITEMS and value and all(isinstance(one, dict) for one in value):
        parts = enumerate(value)
        return Seq(
            "list", [_setting(interp, one, spelling, location, open_, count, f"{dotted}[{at}]") for at, one in parts]
        )
    return Seq("list", None) if isinstance(value, list) else Unknown()


def _one_of(
    interp: Interpreter, dotted: str, values: tuple[Any, ...], spelling: str, location: Location
) -> Value:  # fmt: skip
    """What files say differently: a setting, or a name of something that is found by what config files name."""
    if not any(isinstance(value, str) for value in values) and all(isinstance(value, _SETTINGS) for value in values):
        return FlagValue(shipped.differing(dotted, values, location, spelling.format(dotted)))
    made = Unknown()
    for name in dotted.split("."):
        made.key = interp.knowledge.key_in_configs(made.key, name)
    return made


def _optional(name: str, values: tuple[Any, ...], spelling: str, location: Location) -> dict[str, Value]:
    """A setting that only some files have, if it is no text: it is not there where it has no value."""
    if not all(isinstance(value, _SETTINGS) and not isinstance(value, str) for value in values):
        return {}
    flag = shipped.differing(name, values, location, spelling.format(name))
    absent = flag_test(flag, "none")
    return {name: choose([(negate(absent), FlagValue(flag)), (absent, ABSENT)])}


def _path(interp: Interpreter, stream: Value) -> Value | None:
    """The path of the file that a stream reads, or whose whole text this is; it was opened just before."""
    for event in reversed(interp.story.events[-_BACK:]):
        if event.kind != "call" or event.result is not stream:
            continue
        if event.name.endswith(_WHOLE) and event.receiver is not None:
            return event.receiver
        if event.name.endswith(_READ) and event.receiver is not None:
            return _path(interp, event.receiver)
        if any(effect.opens for effect in event.effects):
            return event.args[0] if event.args and not event.name.startswith(_OF_PATHS) else event.receiver
    return None


TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys(
        (
            "json.load", "json.loads", "ujson.load", "yaml.load", "yaml.safe_load", "yaml.full_load",
            "yaml.unsafe_load", "ruamel.yaml.load", "ruamel.yaml.safe_load", "ruamel.yaml.round_trip_load",
            "ruamel.yaml.YAML().load",
        ),
        _load,
    ),
    **dict.fromkeys(("autolab_core.YamlConfig", "autolab_core.yaml_config.YamlConfig"), _load_at),
}  # fmt: skip
