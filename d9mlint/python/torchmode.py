"""PyTorch's switch for deterministic algorithms: when the program turns it on, and whether it then raises or warns.

Source: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html and
https://docs.pytorch.org/docs/stable/generated/torch.set_deterministic_debug_mode.html.
"""

from __future__ import annotations

from dataclasses import dataclass

from d9mlint.model import Argument
from d9mlint.python.determinism import ALL_IN_ONE
from d9mlint.python.guards import Cond, OpaqueTest, both, either, negate
from d9mlint.python.program import Program, matches
from d9mlint.python.story import Event
from d9mlint.python.values import Const, FlagValue, alternatives

SWITCH = "torch.use_deterministic_algorithms"
_SWITCHES = (SWITCH, "torch.set_deterministic")
_DEBUG = "torch.set_deterministic_debug_mode"
_TRAINERS = ("pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer")
KNOWN = frozenset((*_SWITCHES, _DEBUG, *_TRAINERS, *ALL_IN_ONE, "torch.are_deterministic_algorithms_enabled"))


@dataclass(frozen=True, slots=True)
class TorchMode:
    """When deterministic algorithms are asked for (``on``), and when what has none then raises (``raises``)."""

    on: Cond
    raises: Cond
    events: tuple[Event, ...]


def torch_mode(program: Program) -> TorchMode:
    """The mode of the whole program; a value that is not known is a condition that nobody can tell."""
    return program.once("torch-mode", _torch_mode)


def _torch_mode(program: Program) -> TorchMode:
    events = [e for e in program.calls(*_SWITCHES, _DEBUG, *_TRAINERS, *ALL_IN_ONE) if not e.detached]
    conds = [(e, *_asked(e)) for e in events]
    asking = tuple(e for e, on, _ in conds if on is not False)
    return TorchMode(
        either(*(both(*e.guards, on) for e, on, _ in conds)),
        either(*(both(*e.guards, raises) for e, _, raises in conds)),
        asking,
    )


def _asked(event: Event) -> tuple[Cond, Cond]:
    """When a call asks for deterministic algorithms, and when for an error where there are none."""
    if event.name in _SWITCHES:
        on = _is(event, Argument(0, "mode"), True) if event.name == SWITCH else _is(event, Argument(0, "d"), True)
        return on, both(on, negate(_is(event, Argument(None, "warn_only"), True)))
    if event.name == _DEBUG:
        mode = Argument(0, "debug_mode")
        raises = either(_is(event, mode, "error"), _is(event, mode, 2))
        return either(raises, _is(event, mode, "warn"), _is(event, mode, 1)), raises
    if event.name in _TRAINERS:
        wanted = Argument(None, "deterministic")
        raises = _is(event, wanted, True)
        return either(raises, _is(event, wanted, "warn")), raises
    on = True  # transformers.enable_full_determinism(seed, warn_only=False)
    return on, negate(_is(event, Argument(1, "warn_only"), True))


def _is(event: Event, wanted: Argument, value: object) -> Cond:
    """When an argument is a value; where that is hidden, a condition that nobody can tell."""
    given = event.argument(wanted)
    if given is None:
        return False
    for _, leaf in alternatives(given):
        if not isinstance(leaf, Const) and not (isinstance(leaf, FlagValue) and isinstance(value, bool)):
            return OpaqueTest(("unknown", id(given)), "a value that is not known")
    return matches(given, value)
