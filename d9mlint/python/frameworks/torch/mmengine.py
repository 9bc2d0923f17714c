"""MMEngine's runners: what ``randomness`` and ``env_cfg`` say of seeds, deterministic algorithms and cuDNN.

Source: mmengine/runner/runner.py (``from_cfg``, ``setup_env``, ``set_randomness``) and utils.py of 0.10.7;
the registries of its libraries are children of its own (mmengine/registry/root.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import NONE, UNKNOWN, Const, Dict, Obj, Ref, Value, alternatives
from d9mlint.python.frameworks.torch import registries
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.environment import first, place_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f

RUNNER = "mmengine.runner.Runner"
_FROM_CONFIG = f"{RUNNER}.from_cfg"
_CONFIG = "mmengine.config.Config"
_FROM_FILE = f"{_CONFIG}.fromfile"
_RANDOMNESS, _ENVIRONMENT = "randomness", "env_cfg"
_SEED, DETERMINISTIC = "seed", "deterministic"
_BENCHMARK = "cudnn_benchmark"
_MODEL, _TYPE = Argument(0, "model"), "type"
_REGISTRIES = tuple(
    f"{package}.registry.MODELS"
    for package in ("mmengine", "mmdet", "mmdet3d", "mmseg", "mmpretrain", "mmpose", "mmaction", "mmagic", "mmocr")
)
_REGISTER = tuple(f"{registry}.register_module" for registry in _REGISTRIES)


def _from_file(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Config.fromfile(path)``: a tree of settings, known as far as the program changes it."""
    return Obj(_CONFIG, event)


def _runner(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Runner(model=dict(type="Net", width=8), randomness=dict(seed=1), env_cfg=...)``."""
    _set_up(interp, event, event.kwargs, frame)
    given = event.argument(_MODEL)
    made = None if given is None else _built(interp, given, place_of(event), frame)
    if made is not None:
        event.kwargs[_MODEL.keyword] = made
    return None


def _build(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``MODELS.build(dict(type="Net", width=8))``."""
    return _built(interp, first(event), place_of(event), frame)


def _built(interp: Interpreter, settings: Value, place: f.Place, frame: Frame) -> Value | None:
    """The network of the program that settings name; None where they name none of it."""
    held = settings_in(interp, settings) or {}
    name = held.pop(_TYPE, None)
    if not isinstance(name, Const):
        return None
    found = registries.registered(interp, _REGISTER).get(str(name.value))
    return None if found is None else calls.call(interp, found, [], held, frame, place)


def _from_cfg(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Runner.from_cfg(cfg)``; what a config file says of the seed, nobody sees before the runner trains."""
    config = first(event)
    held = settings_in(interp, config)
    of_file = isinstance(config, Obj) and config.event is not None and config.event.name == _FROM_FILE
    if held is None or (of_file and _RANDOMNESS not in held):
        return Obj(_FROM_CONFIG, event)
    return calls.call(interp, Ref(RUNNER), [], held, frame, place_of(event))


def _set_up(interp: Interpreter, event: Event, given: Mapping[str, Value], frame: Frame) -> None:
    """Notes the seed and the mode at the call, and makes cuDNN's setting, in the order of the constructor."""
    environment = settings_in(interp, given.get(_ENVIRONMENT, NONE)) or {}
    if _BENCHMARK in environment:
        place = place_of(event)
        interp.set_attribute(Ref("torch.backends.cudnn"), "benchmark", environment[_BENCHMARK], frame, place)
    if _RANDOMNESS not in given:
        return
    randomness = settings_in(interp, given[_RANDOMNESS])
    for name in (_SEED, DETERMINISTIC):
        if randomness is None:
            event.kwargs[name] = UNKNOWN
        elif name in randomness:
            event.kwargs[name] = randomness[name]


def settings_in(interp: Interpreter, value: Value) -> dict[str, Value] | None:
    """What a dict or a tree of settings holds by name; None where that is not known."""
    if isinstance(value, Dict) and not value.open:
        return {str(name): interp.resolve(one) for name, one in interp.heap.items(value).items()}
    if isinstance(value, Obj):
        return {name: interp.resolve(one) for name, one in value.attrs.items()} if value.type == _CONFIG else None
    return {} if isinstance(value, Const) and value.value is None else None


def randomness(program: Program) -> Iterator[Value]:
    """What runners are told of seeds and the mode, which is read there: ``randomness=dict(deterministic=True)``."""
    for event in program.calls(RUNNER):
        yield from (leaf for _, leaf in alternatives(event.kwargs.get(_RANDOMNESS)))


TRANSFER: dict[str, Transfer] = {
    _FROM_FILE: _from_file, RUNNER: _runner, _FROM_CONFIG: _from_cfg,
    **dict.fromkeys((f"{registry}.build" for registry in _REGISTRIES), _build),
}  # fmt: skip
