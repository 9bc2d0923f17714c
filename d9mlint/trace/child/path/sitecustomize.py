"""Python imports this at its start: the user's own ``sitecustomize`` comes first, then the recording begins."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

HERE = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
NAME = "d9mlint_trace_child"


def _chained() -> None:
    """Executes the ``sitecustomize`` that this one stands before."""
    sys.path[:] = [one for one in sys.path if os.path.realpath(one or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _package() -> Any:
    """The folder above as a package of its own name, which no other can be taken for."""
    folder = os.path.dirname(HERE)  # noqa: PTH120
    start = os.path.join(folder, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location(NAME, start, submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


try:
    _chained()
finally:
    if os.environ.get("D9MLINT_TRACE"):
        _package()
        importlib.import_module(NAME + ".starting").start(os.environ["D9MLINT_TRACE"])
