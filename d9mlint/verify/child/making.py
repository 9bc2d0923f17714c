"""Calls that a file of the user's makes: its ``make`` gives the inputs, its ``run`` is the call."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .frameworks.base import Json

_NAME = "d9mlint_made"


def made(framework: Any, case: Json) -> tuple[Json, Json]:
    """The tensors that the call is given, on their device, and everything else that its expression names."""
    module = _loaded(case["file"])
    given = module.make()
    if not isinstance(given, dict):
        raise TypeError("make() must give a dict of inputs, not " + type(given).__name__)
    placed = {name: framework.placed(value) for name, value in given.items()}
    inputs = {name: value for name, value in placed.items() if value is not None}
    rest = {name: value for name, value in given.items() if name not in inputs}
    return inputs, {**rest, "run": module.run}


def _loaded(path: str) -> Any:
    """The file as a module; what lies beside it can be imported by it."""
    folder = os.path.dirname(path)  # noqa: PTH120
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
