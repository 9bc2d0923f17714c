"""Agents of Stable-Baselines3 that are loaded and learn on: what their files hold.

Source: stable_baselines3/common/base_class.py (``load``, ``_excluded_save_params``) of 1.0 to 2.7: weights, optimizers,
settings and the number of steps are in the file, the replay buffer and generators are not; ``load`` seeds anew with the
seed that the agent was made with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by

_LOAD = re.compile(r"(?:stable_baselines3|sb3_contrib)\.([A-Z]\w*)\.load")
_OFF_POLICY = frozenset({"SAC", "TD3", "DDPG", "DQN", "CrossQ", "TQC", "QRDQN"})
_LEARN = ".learn"
BUFFER_LOADS = ".load_replay_buffer"
_SAVES = re.compile(
    r"(stable_baselines3|sb3_contrib)\..*\.save|stable_baselines3\.common\.callbacks\.(CheckpointCallback|EvalCallback)"
)
"""Calls that save an agent, or have it saved while it learns."""
_PACKAGES = ("stable_baselines3", "sb3_contrib")
_ANY, _ENVIRONMENT = "?.load", "env"
"""How an agent of a class that is not known is loaded: ``ALGORITHMS[name].load(path, env=env)``."""


def loads(program: Program) -> list[Event]:
    """The calls that load an agent."""
    return program.once("agents-loaded", _loads)


def _loads(program: Program) -> list[Event]:
    if not program.imports(*_PACKAGES):
        return []
    calls = (e for e in program.ending(".load", "call") if not e.detached)
    return [e for e in calls if _LOAD.fullmatch(e.name) or (e.name == _ANY and _ENVIRONMENT in e.kwargs)]


def learning(program: Program, load: Event) -> Iterator[Event]:
    """The calls by which a loaded agent learns on."""
    name = f"?{_LEARN}" if load.name == _ANY else f"{load.name}(){_LEARN}"
    for event in program.calls(name):
        if event.index > load.index and not event.detached and _is_method_of(event, load):
            yield event


def saves(program: Program, load: Event) -> list[Event]:
    """The calls that save the loaded agent, or another of its kind."""
    calls = (e for e in program.events if e.kind == "call" and not e.detached)
    return [e for e in calls if _SAVES.fullmatch(e.name) or (e.name == "?.save" and _is_method_of(e, load))]


def _is_method_of(event: Event, load: Event) -> bool:
    if any(made is load for made in made_by(event.receiver)):
        return True
    known = load.result is not None and load.result is not UNKNOWN
    return known and any(leaf is load.result for _, leaf in alternatives(event.receiver))


def has_buffer(load: Event) -> bool:
    """Whether the agent is known to learn from a replay buffer."""
    found = _LOAD.fullmatch(load.name)
    return found is not None and found[1] in _OFF_POLICY
