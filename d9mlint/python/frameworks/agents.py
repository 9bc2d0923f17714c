"""Agents of Stable-Baselines3 that are loaded and learn on: what their files hold.

Source: stable_baselines3/common/base_class.py (``load``, ``_excluded_save_params``) of 1.0 to 2.7: weights, optimizers,
settings and the number of steps are in the file, the replay buffer and generators are not; ``load`` seeds anew with the
seed that the agent was made with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by

_LOAD = re.compile(r"(?:stable_baselines3|sb3_contrib)\.([A-Z]\w*)\.load")
_OFF_POLICY = frozenset({"SAC", "TD3", "DDPG", "DQN", "CrossQ", "TQC", "QRDQN"})
_LEARN = ".learn"
BUFFER_LOADS = ".load_replay_buffer"
SAVES = re.compile(
    r"(stable_baselines3|sb3_contrib)\..*\.save|stable_baselines3\.common\.callbacks\.(CheckpointCallback|EvalCallback)"
)
"""Calls that save an agent, or have it saved while it learns."""


def loads(program: Program) -> list[Event]:
    """The calls that load an agent."""
    return program.once("agents-loaded", lambda one: [e for e in one.events if e.kind == "call" and _is_load(e)])


def _is_load(event: Event) -> bool:
    return not event.detached and _LOAD.fullmatch(event.name) is not None


def learning(program: Program, load: Event) -> Iterator[Event]:
    """The calls by which a loaded agent learns on."""
    for event in program.calls(f"{load.name}(){_LEARN}"):
        if event.index > load.index and not event.detached and any(made is load for made in made_by(event.receiver)):
            yield event


def has_buffer(load: Event) -> bool:
    """Whether the agent learns from a replay buffer."""
    found = _LOAD.fullmatch(load.name)
    return found is not None and found[1] in _OFF_POLICY
