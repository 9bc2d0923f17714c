"""Names of installed frameworks: under the module that an object stands in it is known by the same name."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections import defaultdict
from itertools import chain

import pytest

from d9mlint.catalogue import load
from d9mlint.catalogue.aliases import Aliases

pytestmark = pytest.mark.slow

HOMES = """
import importlib, inspect, sys

def found(name):
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
            for part in parts[length:]:
                value = getattr(value, part)
            return value
        except Exception:  # a module that is not there, or one that lacks what it needs
            continue

for name in sys.stdin.read().split():
    value = found(name)
    if (inspect.isclass(value) or inspect.isfunction(value)) and value.__qualname__ == name.rpartition(".")[2]:
        home = value.__module__ + "." + value.__qualname__
        if home.split(".")[0] == name.split(".")[0] and found(home) is value:
            print(name, home)
"""
"""Asks for what is written in Python at the top of a module of the package, under its own name.

Names of C++ have no module that a program could name, methods stand in their class, and an internal name with a version
(``conv2d_v2``) is nobody's.
"""
PACKAGES = [("torch", "TORCH"), ("tensorflow", "TF"), ("keras", "TF"), ("jax", "JAX"), ("numpy", "JAX"), ("scipy", "JAX")] + [
    (package, "TORCH") for package in ("torchvision", "torch_geometric", "transformers", "sklearn")
] + [(package, "JAX") for package in ("flax", "optax")]  # fmt: skip


@pytest.mark.parametrize(("package", "variable"), PACKAGES, ids=[package for package, _ in PACKAGES])
def test_an_object_is_known_under_the_module_that_it_stands_in(package: str, variable: str) -> None:
    python = os.environ.get(f"D9MLINT_{variable}_PYTHON", sys.executable)
    if python == sys.executable and importlib.util.find_spec(package) is None:
        pytest.skip(f"no {package} here")
    catalogue = load()
    resolve = Aliases(catalogue.aliases).resolve
    entries = [one.calls for one in (*catalogue.effects, *catalogue.ops)]
    asked = sorted(name for name in {*chain(*entries)} if name.startswith(f"{package}.") and "*" not in name)
    done = subprocess.run([python, "-c", HOMES], input="\n".join(asked), capture_output=True, text=True, check=True)
    if not done.stdout:
        pytest.skip(f"no {package} there")
    names = defaultdict(set)
    for line in done.stdout.splitlines():
        name, home = line.split()
        names[home].add(name)
    alike = [{*map(resolve, calls)} for calls in entries if len(calls) > 1]
    lost = {home: of for home, of in names.items() if not _known(resolve(home), {*map(resolve, of)}, alike)}
    assert not lost, lost


def _known(home: str, names: set[str], alike: list[set[str]]) -> bool:
    """Whether it is one of the names, or the catalogue says the same of both: TensorFlow 1 had other public names."""
    return home in names or any(home in calls and not names.isdisjoint(calls) for calls in alike)
