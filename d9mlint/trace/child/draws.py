"""The ledger of draws from Python's and NumPy's generators: who drew, in which state they were, who seeded them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .recorder import digest
from .wrapping import Wrapping

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder

_PYTHON = (
    "random", "uniform", "triangular", "randint", "choice", "randrange", "sample", "shuffle", "choices", "gauss",
    "normalvariate", "lognormvariate", "expovariate", "vonmisesvariate", "gammavariate", "betavariate",
    "binomialvariate", "paretovariate", "weibullvariate", "getrandbits", "randbytes",
)  # fmt: skip
_STATE = ("seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator")


def install(importing: Importing, recorder: Recorder) -> None:
    """From the import of `random` and of NumPy on, in the program and in its workers."""
    wrapping = Wrapping(recorder)
    importing.after("random", partial(_python, wrapping))
    importing.after("numpy.random", partial(_numpy, wrapping))


def _drawing(wrapping: Wrapping, generator: str, state: Any, name: str, real: Any) -> Any:
    def draw(*args: Any, **kwargs: Any) -> Any:
        if wrapping.told("draw"):
            recorder = wrapping.recorder
            recorder.event("draw", recorder.place(), generator, name, state())
        return real(*args, **kwargs)

    return draw


def _seeding(wrapping: Wrapping, generator: str, name: str, real: Any) -> Any:
    def seed(*args: Any, **kwargs: Any) -> Any:
        if wrapping.told("seed"):
            recorder = wrapping.recorder
            given = [*args, *kwargs.values()]
            # Nothing given: from the system's entropy, which no two runs share.
            text = repr(given[0])[:80] if given and given[0] is not None else ""
            recorder.event("seed", recorder.place(), generator, name, digest(text) if text else "", text)
        return real(*args, **kwargs)

    return seed


def _python(wrapping: Wrapping, random: Any) -> None:
    hidden = random._inst

    def state() -> str:
        return digest(repr(hash(hidden.getstate()[1])))

    for name in _PYTHON:
        wrapping.replace(random, name, partial(_drawing, wrapping, "python", state, "random." + name))
    wrapping.replace(random, "seed", partial(_seeding, wrapping, "python", "random.seed"))
    wrapping.replace(random.Random, "__init__", partial(_own, wrapping))


def _own(wrapping: Wrapping, real: Any) -> Any:
    """Of `random.Random`: one that is made without a seed draws from the system's entropy."""

    def __init__(self: Any, x: Any = None) -> None:
        real(self, x)
        kind = type(self).__name__
        place = wrapping.direct() if x is None and kind == "Random" and wrapping.told("own") else None
        if place is not None:
            recorder = wrapping.recorder
            state = digest(repr(hash(self.getstate()[1])))
            recorder.event("draw", recorder.number_of(place), "own", "random.Random()", state)

    return __init__


def _numpy(wrapping: Wrapping, module: Any) -> None:
    hidden = module.mtrand._rand

    def state() -> str:
        found = hidden.get_state(legacy=False)["state"]
        return digest(found["key"].tobytes() + str(found["pos"]).encode())

    for name in dir(module):
        one = getattr(module, name)
        if getattr(one, "__self__", None) is hidden and name not in _STATE:
            wrapping.replace(module, name, partial(_drawing, wrapping, "numpy", state, "numpy.random." + name))
    wrapping.replace(module, "seed", partial(_seeding, wrapping, "numpy", "numpy.random.seed"))
    wrapping.replace(module, "default_rng", partial(_generator, wrapping))


def _generator(wrapping: Wrapping, real: Any) -> Any:
    """Of ``default_rng``: without a seed it takes the system's entropy."""

    def default_rng(seed: Any = None) -> Any:
        made = real(seed)
        if wrapping.told("own"):
            recorder = wrapping.recorder
            name = "numpy.random.default_rng(%s)" % ("" if seed is None else "seed")
            recorder.event("draw", recorder.place(), "own", name, digest(repr(made.bit_generator.state)))
        return made

    return default_rng
