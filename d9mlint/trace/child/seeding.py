"""The switch of the seeds: generators are seeded at the start, and where the program seeds them, with known numbers."""

from __future__ import annotations

import itertools
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from .wrapping import Wrapping

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder

SEED = 0
_ABSENT = object()
_SEEDED_BY = (
    ("random", ("seed",)), ("numpy.random", ("seed", "default_rng")), ("torch.random", ("manual_seed",)),
    ("tensorflow.python.framework.random_seed", ("set_seed",)), ("jax.random", ("key", "PRNGKey")),
)  # fmt: skip
"""What a seed is given to, by module."""
_STARTS = (
    ("random", lambda random: random.seed), ("numpy.random", lambda module: module.seed),
    ("torch", lambda torch: torch.manual_seed), ("tensorflow", lambda tensorflow: tensorflow.random.set_seed),
)  # fmt: skip


class _Seeds:
    """Which number stands for one that the program gives."""

    def __init__(self, fixed: bool, absent: bool, shift: int) -> None:
        self._fixed, self._absent, self._shift = fixed, fixed or absent, shift
        self._known: dict[Any, int] = {}
        self._fresh = itertools.count()

    def __call__(self, given: Any) -> Any:
        """The number; what is given where that is no seed but a generator, an array or a value that is traced.

        The first seed of a process becomes the first number, and so on: a clock gives the same one in each run, and
        what had equal seeds still has.
        """
        if given is None or given is _ABSENT:
            return self._numbered(("fresh", next(self._fresh))) if self._absent else None
        if self._fixed and isinstance(given, (Integral, float, str, bytes)):
            return self._numbered(given)
        return (int(given) + self._shift) % 2**32 if isinstance(given, Integral) else given

    def _numbered(self, key: Any) -> int:
        return SEED + self._known.setdefault(key, len(self._known)) + self._shift


def start(importing: Importing, shift: int) -> None:
    """Seeds the generators of each module when it has been imported."""
    for module, seed in _STARTS:
        importing.after(module, partial(_started, seed, SEED + shift))


def install(importing: Importing, recorder: Recorder, fixed: bool, absent: bool, shift: int) -> None:
    """From the import of each module on.

    ``fixed``: seeds are known numbers; ``absent``: those that nobody gives are, which would come from the entropy of
    the operating system; ``shift`` is added to each.
    """
    wrapping, seeds = Wrapping(recorder), _Seeds(fixed, absent, shift)
    if fixed or absent:
        importing.after("torch.random", partial(_of_torch, wrapping, seeds))
        importing.after("random", partial(_of_python, wrapping, seeds))
    for module, names in _SEEDED_BY:
        importing.after(module, partial(_replaced, wrapping, partial(_given, wrapping, seeds), names))


def _started(seed: Any, number: int, module: Any) -> None:
    seed(module)(number)


def _replaced(wrapping: Wrapping, made: Any, names: Any, module: Any) -> None:
    for name in names:
        wrapping.replace(module, name, made)


def _of_torch(wrapping: Wrapping, seeds: _Seeds, module: Any) -> None:
    """`torch.seed` takes a seed from the entropy of the operating system."""
    seeding = module.manual_seed
    wrapping.replace(module, "seed", lambda _: lambda: seeding(seeds(None)).initial_seed())


def _of_python(wrapping: Wrapping, seeds: _Seeds, module: Any) -> None:
    """Generators that the user's own code makes: those of libraries name temporary files, say."""

    def made(real: Any) -> Any:
        def __init__(self: Any, x: Any = None) -> None:
            real(self, seeds(x) if wrapping.direct() else x)

        return __init__

    wrapping.replace(module.Random, "__init__", made)


def _given(wrapping: Wrapping, seeds: _Seeds, real: Any) -> Any:
    """A function whose first argument is a seed; in a worker those that a library gives are derived from others."""

    def seed(*args: Any, **kwargs: Any) -> Any:
        if wrapping.recorder.worker and not wrapping.direct():
            return real(*args, **kwargs)
        named = next((name for name in ("seed", "a") if name in kwargs), None)
        given = args[0] if args else kwargs[named] if named else _ABSENT
        number = seeds(given)
        if args:
            args = (number, *args[1:])
        elif named:
            kwargs[named] = number
        elif number is not None:
            args = (number,)
        return real(*args, **kwargs)

    return seed
