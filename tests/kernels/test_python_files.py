"""One walk through a Python file gives what walks over ``ast`` give; files without words of atomics are not parsed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from d9mlint.kernels.embedded.finding import find
from d9mlint.kernels.python import files
from d9mlint.kernels.python.words import below, walked
from d9mlint.kernels.source.repository import Repository

_SOURCE = """
import a.b as c
@register("name")
def f(x: "T" = None, *, y=lambda: g):
    from h import i
    z = [j for j in x if j.k] + [1 < y <= z]
    z[0].w += f"{x!r}{y.v}"
    match x:
        case Point(x=0, y=u) if u.r:
            return {**x, "key": y}
class C(f, metaclass=M):
    z = 3
    def m(self):
        try:
            import late
        except (E, OSError) as error:
            raise N from error
z = 4
"""
_KERNELS = Path(files.__file__).parents[1]
_FILES = sorted(path for room in ("python", "torch") for path in (_KERNELS / room).glob("*.py"))


def _texts() -> list[str]:
    return [_SOURCE, *(path.read_text("utf-8") for path in _FILES)]


@pytest.mark.parametrize("text", _texts(), ids=["own", *(path.name for path in _FILES)])
def test_the_walk_is_that_of_ast(text: str) -> None:
    """All that carries names, in the same order; contexts and operators carry none."""
    tree = ast.parse(text)
    plain = [
        n
        for n in ast.walk(tree)
        if not isinstance(n, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop)
    ]
    assert below(tree) == plain
    found = walked(tree)
    assert list(found.imports) == [n for n in plain if isinstance(n, ast.Import | ast.ImportFrom)]
    assert list(found.assignments) == [n for n in plain if isinstance(n, ast.Assign)]
    assert list(found.functions) == [n for n in plain if isinstance(n, ast.FunctionDef)]
    words = {n.attr for n in plain if isinstance(n, ast.Attribute)}
    words |= {n.id for n in plain if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    strings = [n.value[:80] for n in plain if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert set(found.mentions) == words | {s for s in strings if s and " " not in s}


def test_a_mention_knows_what_stands_around_it() -> None:
    """From the statement of the module down; decorators and their arguments are outside of what they decorate."""
    mentions = walked(ast.parse(_SOURCE)).mentions
    [late] = mentions["OSError"]
    assert [type(node).__name__ for node in late.parents] == [
        "ClassDef",
        "FunctionDef",
        "Try",
        "ExceptHandler",
        "Tuple",
    ]
    assert [scope.name for scope in late.scopes] == ["C", "m"]
    assert [scope.name for scope in mentions["register"][0].scopes] == []
    assert "absent" not in mentions
    assert mentions.get("absent", ()) == ()


def test_a_file_that_only_imports_cupy_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as read; one that scatters is parsed."""
    sources = {
        "plain.py": b"import cupy\nx = cupy.zeros(3).max()\n",
        "scatter.py": b"import cupyx\n\ndef f(x, i, v):\n    cupyx.scatter_add(x, i, v)\n",
        "at.py": b"import cupy as cp\n\ndef g(x, i, v):\n    cp.add . at(x, i, v)\n",
    }
    parsed: list[bytes] = []
    inner = files._parsed
    monkeypatch.setattr(files, "_parsed", lambda data: parsed.append(data) or inner(data))
    found = find(Repository(sources, sources.__getitem__))
    assert found.files == len(sources)
    assert sources["plain.py"] not in parsed
    assert [site.location.path for site in found.sites] == ["at.py", "scatter.py"]
