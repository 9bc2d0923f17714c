"""What a known call brings about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.target import Target


class Argument(NamedTuple):
    """How an argument is found in a call: by position (None: keyword only), else by keyword."""

    position: int | None
    keyword: str


class Invocation(NamedTuple):
    """A callable handed over in ``argument`` is called, in ``context`` (``tfdata``, ``traced``, ``thread`` ...).

    In the contexts ``loader`` and ``part`` that does not happen at the call, but when the result is gone through, or
    used in any way: a ``DataLoader`` reads its dataset when it is iterated.
    """

    argument: Argument
    context: str = ""
    method: str = ""
    """The method that is called; empty where the thing itself is."""


class Effect(NamedTuple):
    """One entry of ``rules/effects/*.yaml``; every field but ``calls`` is optional."""

    calls: tuple[str, ...]
    """Canonical dotted names; a trailing ``.*`` stands for one more name part."""
    framework: str = ""
    versions: str = ""
    seeds: tuple[str, ...] = ()
    """Generators that the call seeds (``python``, ``numpy``, ``tensorflow``, ``keras``, ...); ``own-...`` is one that
    the object whose method it is keeps for itself."""
    seed_argument: Argument | None = None
    """Where the seed is given; absent or None there means: from entropy."""
    default_seed: bool = False
    """A fixed seed is taken where none is given."""
    draws: tuple[str, ...] = ()
    """Generators that the call draws from."""
    unit: bool = False
    """The numbers drawn lie between 0 and 1."""
    own_seed: Argument | None = None
    """A value there makes the draw independent of the generator (an op-level seed)."""
    later: bool = False
    """The object that the call makes draws when it is used, not when it is made; as a seeding: whenever it is called,
    what was made before is seeded."""
    parts: Argument | None = None
    """The object draws only through those of these parts that draw; a call that makes no generator draws from those of
    the environment that it is handed there, or its result does."""
    in_process: bool = False
    """What it is handed at ``parts`` draws in newly started processes, which no seed of this one reaches."""
    options: Argument | None = None
    """A dict there holds keyword arguments, too (``lightgbm.train(params, ...)``)."""
    varies: str = ""
    """The result differs from run to run whatever is seeded: because of the ``gpu``, ``threads``, the ``search``, the
    ``clock``, Python's ``hash`` of texts, or ``sums`` that threads add to in the order in which they come to them."""
    remedy: str = ""
    """What to do about it, where the rule alone cannot say."""
    when: Mapping[str, Any] = {}
    """Keyword tests under which the effect holds, as in a rule's ``match``."""
    where: str = ""
    """A condition in words that nothing in the program tells: ``the checkpoint has no such head``."""
    creates: str = ""
    """The call makes a random generator of its own of this kind, seeded by ``seed_argument``; ``own-...`` is one inside
    the object that it makes."""
    switches: str = ""
    """The call turns on this switch (``op-determinism``)."""
    returns: str = ""
    """Dotted type of the result; ``self`` for the receiver, ``argument`` for the first argument, ``arguments`` for a
    tuple of all of them (the argument itself where it is the only one), ``callback`` for a decorator whose functions
    are called some time later."""
    invokes: tuple[Invocation, ...] = ()
    origin: str = ""
    """The result comes from ``clock``, ``pid``, ``entropy``, ``hash``, ``rank`` ...; ``contents``: from what is in a
    file, whatever its name is made of; ``fixed``: whatever the arguments come from, nothing of it is in the result (a
    trainer whose logger is named after the time)."""
    order: str = ""
    """The result has the order of a ``listing``, a ``set``, ``completion``; ``sorted`` clears it, ``kept`` keeps it."""
    orders_data: bool = False
    """An argument in such an order changes the result here."""
    writes: str = ""
    """What it is given goes to a file: ``whole`` at once, or to a ``stream`` that takes one call after the other."""
    opens: bool = False
    """The call makes such a stream."""
    mode: Argument | None = None
    """Where the mode is given with which the call opens a file: a stream, if that says to write."""
    trains: bool = False
    """The call computes gradients or runs a training step."""
    enters: str = ""
    """The body of a ``with`` over the result runs in this context."""
    loads: Argument | None = None
    """The weights of the model there are replaced by loaded ones."""
    shapes: bool = False
    """The call looks only at the shapes of the values it gets: they change nothing, and nothing of them is in what it
    gives (tracing, exporting, counting operations)."""
    device_op: bool = False
    """The call runs (or builds) ops on the device, so later switches come too late."""

    def fits(self, target: Target) -> bool:
        """Whether the entry holds for the target's version; entries without versions always do."""
        return not self.versions or target.fits(self.framework, self.versions)
