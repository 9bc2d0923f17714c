"""What the commands do: the only package that knows all the others.

``programs`` checks Python programs, ``fixing`` cures what that finds, ``examples`` runs those of the rule files. The
rooms ``kernels``, ``verify`` and ``traced`` hold what the commands about kernel sources, about ops to be executed, and
about runs of the user's program do. A command imports the one that it needs; here the names that others use are found
when they are asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from d9mlint.app.options import Options, Outcome, selected

if TYPE_CHECKING:
    from d9mlint.app.examples import ExampleResult, run_example, run_examples
    from d9mlint.app.fixing import check

_HOMES = {"ExampleResult": "examples", "run_example": "examples", "run_examples": "examples", "check": "fixing"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["ExampleResult", "Options", "Outcome", "check", "run_example", "run_examples", "selected"]
