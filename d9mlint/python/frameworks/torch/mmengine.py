"""MMEngine's runners: what ``randomness`` and ``env_cfg`` say of seeds, deterministic algorithms and cuDNN.

Source: mmengine/runner/runner.py (``from_cfg``, ``setup_env``, ``set_randomness``) and utils.py of 0.10.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import NONE, UNKNOWN, Const, Dict, Obj, Ref, Value
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.environment import first, place_of

RUNNER = "mmengine.runner.Runner"
_FROM_CONFIG = f"{RUNNER}.from_cfg"
_CONFIG, _CONFIGURED = "mmengine.config.Config", "mmengine.runner.ConfiguredRunner"
_FROM_FILE = f"{_CONFIG}.fromfile"
_RANDOMNESS, _ENVIRONMENT = "randomness", "env_cfg"
_SEED, DETERMINISTIC = "seed", "deterministic"
_BENCHMARK = "cudnn_benchmark"


def _from_file(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Config.fromfile(path)``: a tree of settings, known as far as the program changes it."""
    return Obj(_CONFIG, event)


def _runner(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Runner(model, randomness=dict(seed=1), env_cfg=...)``."""
    _set_up(interp, event, event.kwargs, frame)
    return None


def _from_cfg(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Runner.from_cfg(cfg)``; what a config file says of the seed, nobody sees before the runner trains."""
    config = first(event)
    held = _items(interp, config)
    of_file = isinstance(config, Obj) and config.event is not None and config.event.name == _FROM_FILE
    if held is None or (of_file and _RANDOMNESS not in held):
        return Obj(_CONFIGURED, event)
    return calls.call(interp, Ref(RUNNER), [], held, frame, place_of(event))


def _set_up(interp: Interpreter, event: Event, given: Mapping[str, Value], frame: Frame) -> None:
    """Notes the seed and the mode at the call, and makes cuDNN's setting, in the order of the constructor."""
    environment = _items(interp, given.get(_ENVIRONMENT, NONE)) or {}
    if _BENCHMARK in environment:
        place = place_of(event)
        interp.set_attribute(Ref("torch.backends.cudnn"), "benchmark", environment[_BENCHMARK], frame, place)
    if _RANDOMNESS not in given:
        return
    randomness = _items(interp, given[_RANDOMNESS])
    for name in (_SEED, DETERMINISTIC):
        if randomness is None:
            event.kwargs[name] = UNKNOWN
        elif name in randomness:
            event.kwargs[name] = randomness[name]


def _items(interp: Interpreter, value: Value) -> dict[str, Value] | None:
    """What a dict or a tree of settings holds by name; None where that is not known."""
    if isinstance(value, Dict) and not value.open:
        return {str(name): interp.resolve(one) for name, one in interp.heap.items(value).items()}
    if isinstance(value, Obj):
        return {name: interp.resolve(one) for name, one in value.attrs.items()} if value.type == _CONFIG else None
    return {} if isinstance(value, Const) and value.value is None else None


TRANSFER: dict[str, Transfer] = {_FROM_FILE: _from_file, RUNNER: _runner, _FROM_CONFIG: _from_cfg}
