"""Registries of OpenMMLab that a program makes: ``HEADS = Registry("head")``, ``build_from_cfg(cfg.head, HEADS)``.

Source: mmcv/utils/registry.py of 1.7.2; mmengine/registry/registry.py and build_functions.py of 0.10.7 do the same.
"""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import NONE, UNKNOWN, Const, Dict, Obj, Value
from d9mlint.python.frameworks.torch import registries
from d9mlint.python.frameworks.torch.mmengine import settings_in
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library import dispatch
from d9mlint.python.interpreter.library.environment import first, place_of
from d9mlint.python.source import facts as f

_REGISTRIES = ("mmcv.utils.Registry", "mmengine.registry.Registry")
_BUILDS = ("mmcv.utils.build_from_cfg", "mmengine.registry.build_from_cfg")
_REGISTRY, _DEFAULTS, _NAME = Argument(1, "registry"), Argument(2, "default_args"), Argument(0, "name")
_TYPE = "type"


def _build_from_cfg(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``build_from_cfg(cfg, HEADS, dict(classes=19))``."""
    return _built(interp, event.argument(_REGISTRY), event, frame)


def _build(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``HEADS.build(cfg)``."""
    return _built(interp, event.receiver, event, frame)


def _built(interp: Interpreter, registry: Value | None, event: Event, frame: Frame) -> Value | None:
    """What the program has registered under the ``type`` in settings, made of the others; None where it has nothing."""
    given = settings_in(interp, first(event))
    known = {**(settings_in(interp, event.argument(_DEFAULTS) or NONE) or {}), **(given or {})}
    made = _held(interp, registry, known.pop(_TYPE, UNKNOWN), frame, place_of(event))
    return None if made is None else calls.call(interp, made, [], known, frame, place_of(event), given is None)


def _get(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``HEADS.get(name)``."""
    return _held(interp, event.receiver, first(event), frame, place_of(event))


def _held(interp: Interpreter, registry: Value | None, name: Value, frame: Frame, place: f.Place) -> Value | None:
    """What the program has given a registry of its own under a name."""
    found = registries.held_by(interp, registry) if isinstance(registry, Obj) else {}
    if isinstance(name, Const):
        return found.get(str(name.value))
    return dispatch.of_table(interp, Dict(found), name, _spelled(registry), frame, place) if found else None


def _spelled(registry: Value | None) -> str:
    """What conditions say of the choice: ``Registry("head")`` holds heads."""
    made = registry.event if isinstance(registry, Obj) else None
    name = None if made is None else made.argument(_NAME)
    return f"the {name.value}" if isinstance(name, Const) else ""


TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys(_BUILDS, _build_from_cfg),
    **{f"{registry}().build": _build for registry in _REGISTRIES},
    **{f"{registry}().get": _get for registry in _REGISTRIES},
}
