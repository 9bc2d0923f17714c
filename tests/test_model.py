"""The package of nouns says twice where a name is defined, to Python and to who checks types: both agree."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import d9mlint.model
from d9mlint import model


def _imported() -> dict[str, str]:
    """By name, the module from which the type checker takes it."""
    tree = ast.parse(Path(d9mlint.model.__file__).read_text(encoding="utf-8"))
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0)
    return {alias.name: node.module or "" for node in imports for alias in node.names if alias.asname == alias.name}


def test_each_name_is_found_where_the_type_checker_looks_for_it() -> None:
    imported = _imported()
    assert sorted(imported) == sorted(model._HOMES)
    for name, module in imported.items():
        assert getattr(model, name) is getattr(import_module(module), name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Noun'"):
        _ = model.Noun


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, d9mlint.model; print([m for m in sys.modules if m.startswith('d9mlint.model.')])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
