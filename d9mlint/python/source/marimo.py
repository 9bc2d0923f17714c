"""marimo notebooks as scripts: the code of their cells at the top of the module, in the order in which they run.

A notebook is a module in which each cell is a function: its parameters are the names that it takes from other cells,
and it returns those that it gives. Cells run when all that they take is there, whatever their order in the file.
Source: docs.marimo.io, "Saved as Python" and "How marimo runs cells".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from d9mlint.python.source import facts as f

NAME = b"marimo"
_APP = "App"
_CELL, _SETUP = "cell", "setup"
_PLAIN = ("function", "class_definition")
"""Decorators of what is the same in every cell, and can be imported."""


def as_script(body: tuple[f.Stmt, ...]) -> tuple[f.Stmt, ...]:
    """The statements of a module; of a notebook with its cells taken apart."""
    app = next((name for stmt in body for name in _app(stmt)), "")
    if not app:
        return body
    cells = [stmt for stmt in body if isinstance(stmt, f.Def) and _is(stmt.decorators, app, (_CELL,))]
    ordered = iter(_in_order(cells))
    out: list[f.Stmt] = []
    for stmt in body:
        if isinstance(stmt, f.With) and _is([item for item, _ in stmt.items], app, (_SETUP,)):
            out += stmt.body
        elif isinstance(stmt, f.Def) and _is(stmt.decorators, app, (_CELL,)):
            out += _code(next(ordered))
        elif isinstance(stmt, (f.Def, f.Class)) and _is(stmt.decorators, app, _PLAIN):
            out.append(stmt._replace(decorators=()))
        else:
            out.append(stmt)
    return tuple(out)


def _app(stmt: f.Stmt) -> Iterator[str]:
    """The name in ``app = marimo.App()``."""
    if isinstance(stmt, f.Assign) and isinstance(stmt.value, f.Call) and isinstance(stmt.value.func, f.Attr):
        made, target = stmt.value.func, stmt.targets[0]
        if made.name == _APP and isinstance(made.value, f.Name) and isinstance(target, f.Name):
            yield target.id


def _is(decorators: Iterable[f.Expr], app: str, names: Sequence[str]) -> bool:
    """Whether one is ``@app.cell``, with or without arguments."""
    for decorator in decorators:
        called = decorator.func if isinstance(decorator, f.Call) else decorator
        if isinstance(called, f.Attr) and called.name in names and isinstance(called.value, f.Name):
            return called.value.id == app
    return False


def _code(cell: f.Def) -> tuple[f.Stmt, ...]:
    """The code of a cell, without what hands its names on."""
    return cell.body[:-1] if cell.body and isinstance(cell.body[-1], f.Return) else cell.body


def _gives(cell: f.Def) -> set[str]:
    last = cell.body[-1] if cell.body else None
    value = last.value if isinstance(last, f.Return) else None
    items = value.items if isinstance(value, f.Items) else [value]
    return {item.id for item in items if isinstance(item, f.Name)}


def _in_order(cells: Sequence[f.Def]) -> list[f.Def]:
    """The cells as they run: each after those that give what it takes, else in the order of the file."""
    left, done = list(cells), set[str]()
    given = set[str]().union(*map(_gives, cells))
    out: list[f.Def] = []
    while left:
        waiting = ({param.name for param in cell.params} & given - done for cell in left)
        number = next((n for n, names in enumerate(waiting) if not names), 0)  # (in a circle, which marimo refuses)
        done |= _gives(left[number])
        out.append(left.pop(number))
    return out
