"""What Ray Tune draws from a search space by itself: numbers from NumPy's global generator, in the driver's process.

Sources: ray 2.9.3, ``tune/search/basic_variant.py`` (``BasicVariantGenerator``, which searches where nothing else is
given), ``tune/search/sample.py`` (``_BackwardsCompatibleNumpyRng``: without a ``random_state`` it is ``numpy.random``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, Dict, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.environment import place_of

_SAMPLE = "ray.tune.Domain.sample"
_DOMAINS = frozenset(
    f"ray.tune.{name}"
    for name in (
        "uniform", "quniform", "loguniform", "qloguniform", "randn", "qrandn", "randint", "qrandint", "lograndint",
        "qlograndint", "choice",
    )
)  # fmt: skip
"""What gives a domain that is drawn from, once for each trial."""
_VARIANTS = "ray.tune.search.BasicVariantGenerator"
_BY_NAME = ("random", "variant_generator")
"""Names for it (``tune/search/__init__.py``, ``SEARCH_ALG_IMPORT``)."""
_SEED = "random_state"
_MOST_LEVELS = 6


def sampled(interp: Interpreter, event: Event, config: Value, search: Value | None, frame: Frame) -> None:
    """What a call draws that runs trials, where its configuration has domains and no other search chooses from them."""
    domain = next(_domains(interp, config), None)
    if domain is None:
        return
    for cond, leaf in alternatives(search) if search is not None else ((True, None),):
        if leaf is None or _draws(leaf):
            interp.under(cond, partial(_sample, interp, event, domain, frame))


def _sample(interp: Interpreter, event: Event, domain: Event, frame: Frame) -> None:
    drawn = interp.event("call", _SAMPLE, frame, place_of(event), domain.args)
    drawn.raw = domain.raw
    drawn.location = domain.location


def _draws(search: Value) -> bool:
    """Whether a search is the one that draws all settings beforehand, without a seed."""
    if isinstance(search, Const):
        return search.value is None or search.value in _BY_NAME
    made = search.event if isinstance(search, Obj) else None
    if made is None or made.name != _VARIANTS or made.star:
        return False
    seed = made.kwargs.get(_SEED)
    return seed is None or (isinstance(seed, Const) and seed.value is None)


def _domains(interp: Interpreter, config: Value, level: int = 0) -> Iterator[Event]:
    """The calls that give the domains of a configuration."""
    for _, leaf in alternatives(config) if level < _MOST_LEVELS else ():
        made = leaf.event if isinstance(leaf, Obj) else None
        if made is not None and made.name in _DOMAINS and not _only_one(made):
            yield made
        held: tuple[Value, ...] = ()
        if isinstance(leaf, Dict):
            held = (*interp.heap.items(leaf).values(), *([leaf.element] if leaf.element is not None else []))
        elif isinstance(leaf, Seq):
            held = (*(leaf.items or ()), *([leaf.element] if leaf.element is not None else []))
        for one in held:
            yield from _domains(interp, one, level + 1)


def _only_one(domain: Event) -> bool:
    """Whether there is one value to choose from."""
    given = domain.args[0] if domain.args else None
    return isinstance(given, Seq) and given.items is not None and len(given.items) == 1
