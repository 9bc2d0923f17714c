"""The package that runs in the user's interpreter: old syntax, no imports of its own, hooks that do no harm."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from d9mlint.trace.child.places import Places

CHILD = ROOT / "d9mlint" / "trace" / "child"
FILES = sorted(CHILD.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_imports_the_standard_library_only(path: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    assert names <= {*sys.stdlib_module_names, "xxhash"}


def test_the_users_code_is_told_from_that_of_libraries(tmp_path: Path) -> None:
    places = Places([str(tmp_path)])
    library = tmp_path / "venv" / "lib" / "site-packages" / "library"
    library.mkdir(parents=True)
    for path in (tmp_path / "train.py", library / "code.py"):
        path.touch()
    assert places.owns(str(tmp_path / "train.py"))
    assert not places.owns(str(library / "code.py"))
    assert not places.owns(ast.__file__)
    assert not places.owns("<string>")


HOOKS = """\
import sys
sys.path.insert(0, sys.argv[1])
from child.importing import Importing
failed = []
importing = Importing(failed.append)
importing.after("colorsys", lambda module: setattr(module, "hooked", True))
importing.after("colorsys", lambda module: 1 / 0)
importing.after("no_such_module", print)
import colorsys
assert colorsys.hooked
assert type(colorsys.__loader__).__name__ == type(colorsys.__spec__.loader).__name__ == "SourceFileLoader"
assert failed == ["colorsys cannot be hooked: ZeroDivisionError: division by zero"], failed
try:
    import no_such_module
except ModuleNotFoundError:
    print("as always")
"""


def test_a_hook_comes_after_the_import_and_its_failure_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOOKS, str(CHILD.parent)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "as always\n"), done.stderr
