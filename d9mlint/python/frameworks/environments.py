"""Environments of Gym and Gymnasium inside of others: a wrapper does what the environment in it does, but for its own.

(gymnasium/core.py: what a `Wrapper` does not define is that of `self.env`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Const, Inst, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter import attributes
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library.environment import bound, first, place_of

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

INNER = "env"
"""The attribute under which a wrapper keeps the environment in it."""
GENERATOR = "gymnasium.Env.np_random"
"""The type of the generator that an environment keeps for itself."""
GYMS = ("gym", "gymnasium")
ENVIRONMENTS = ("gymnasium.Env", "gymnasium.VectorEnv")
"""The types of environments that are not made by a class of the program."""
_OF_WRAPPERS = ("env", "wrap")
"""What is in the names of modules and classes that wrap environments: ``stable_baselines3.common.atari_wrappers``."""
_GIVEN = ("env", "venv", "environment")
"""How wrappers call the environment that they are given."""
_METHODS = ("reset", "seed", "step", "close", "render", "unwrapped", "observation_space")
_SPACE = "action_space"


def _wrapped(event: Event) -> Value | None:
    """The environment that a wrapper is given."""
    return event.kwargs.get(INNER, first(event) if event.args else None)


def _own_wrapper(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """A wrapper of the program keeps the environment; what its class lacks is that of the environment."""
    wrapper, given = bound(event)
    inner = event.kwargs.get(INNER, given[0] if given else None)
    if not isinstance(wrapper, Inst) or inner is None or isinstance(inner, (Unknown, Const)):
        return None  # (the base of an environment takes a file of its model, or a number, and no environment)
    interp.heap.set(wrapper, INNER, True, inner)
    for name in (*_METHODS, _SPACE):
        if name not in wrapper.attrs and attributes.class_attribute(interp, wrapper.cls, name) is None:
            value = attributes.attribute(interp, inner, name, frame, place_of(event))
            interp.heap.set(wrapper, name, True, value)
    return None


def _rescaled(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """A wrapper of the library with an action space of its own."""
    inner = _wrapped(event)
    if inner is None or isinstance(inner, Unknown):
        return None
    made = Obj("gymnasium.Env", event)
    made.attrs[INNER] = inner
    for name in _METHODS:
        made.attrs[name] = attributes.attribute(interp, inner, name, frame, place_of(event))
    return made


def _generator(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``seeding.np_random(seed)`` gives a generator for an environment to keep, and the seed that it was made from."""
    return Seq("tuple", [Obj(GENERATOR, event), UNKNOWN])


def _loaded_wrapper(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``VecNormalize.load(path, venv)`` wraps what it is given (stable_baselines3/common/vec_env/vec_normalize.py)."""
    return event.argument(Argument(1, "venv"))


def is_environment(value: Value) -> bool:
    """Whether a value is an environment, of a library or of a class of the program that is derived from Gym's."""
    if isinstance(value, Inst):
        return any(base.partition(".")[0] in GYMS for base in value.cls.external())
    return isinstance(value, Obj) and value.type in ENVIRONMENTS


class Environments(Framework):
    """Gym and Gymnasium, and wrappers of Stable-Baselines3."""

    transfer: ClassVar[Mapping[str, Transfer]] = {
        "gymnasium.Env.__init__": _own_wrapper,
        "gymnasium.VectorEnv.__init__": _own_wrapper,
        "gymnasium.wrappers.RescaleAction": _rescaled,
        "gymnasium.utils.seeding.np_random": _generator,
        "stable_baselines3.common.vec_env.VecNormalize.load": _loaded_wrapper,
    }
    packages = frozenset({"gymnasium", "stable_baselines3"})

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        """What a wrapper of a library that is not read makes of an environment is that environment.

        (gymnasium/core.py, gym/core.py: `Wrapper` hands `seed` and `reset` on to the environment in it.)
        """
        method = event.receiver is not None and not isinstance(event.receiver, Ref)
        if method or event.effects or not any(word in event.name.lower() for word in _OF_WRAPPERS):
            return None
        given = [*event.args[:1], *(event.kwargs[name] for name in _GIVEN if name in event.kwargs)]
        return next((one for one in given if all(is_environment(leaf) for _, leaf in alternatives(one))), None)
