"""torch-switch-version: a switch that this version of PyTorch does not have (any more, or yet)."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.torch.mode import DEBUG, OBSOLETE, SWITCH
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_GONE = "was removed in PyTorch 1.10: the call raises AttributeError"
_OLD = "is deprecated from PyTorch 1.8 on and removed in 1.10"
_VERSIONS = (
    (OBSOLETE, ">=1.10", _GONE, "error"), ("torch.is_deterministic", ">=1.10", _GONE, "error"),
    (OBSOLETE, ">=1.8,<1.10", _OLD, "info"), ("torch.is_deterministic", ">=1.8,<1.10", _OLD, "info"),
    (SWITCH, "<1.8", "came with PyTorch 1.8: the call raises AttributeError", "error"),
    (DEBUG, "<1.11", "came with PyTorch 1.11: the call raises AttributeError", "error"),
)  # fmt: skip
"""Read from torch/__init__.py of 1.7.1, 1.8.1, 1.9.1, 1.10.2 and 1.11.0."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Each call; one that asks first whether there is such a thing (`hasattr`, `try`) is fine."""
    for name, versions, what, severity in _VERSIONS:
        if not program.target.fits("torch", versions):
            continue
        for event in program.calls(name):
            if not _asked_before(program, event, name):
                yield draft(program, rule, event, name=name, what=what, severity=severity)
    if program.target.fits("torch", ">=1.8,<1.11"):
        for event in program.calls(SWITCH):
            if event.argument(Argument(None, "warn_only")) is not None and not event.star:
                what = "takes `warn_only` from PyTorch 1.11 on only: the call raises TypeError"
                yield draft(program, rule, event, name=SWITCH, what=what)


def _asked_before(program: Program, event: Event, name: str) -> bool:
    """Whether the program asks for the name, looks at the version or catches what is raised."""
    last = name.rpartition(".")[2]
    asks = program.calls("builtins.hasattr", "builtins.getattr")
    if any(isinstance(v, Const) and v.value == last for e in asks for v in e.args):
        return True
    return bool(event.guards) or bool(program.calls("packaging.version.parse", "packaging.version.Version"))
