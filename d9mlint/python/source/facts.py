"""The facts of one Python file: a small, plain, picklable picture of what the file does.

Everything syntactic happens before facts and every judgement after: the interpreter and the rules read these
tuples and never a syntax tree. Expressions keep what decides a value (names, constants, calls, conditions);
statements keep order and branching. Places are ``(line, column, end line, end column)``, from 1, end exclusive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

Place: TypeAlias = tuple[int, int, int, int]
NOWHERE: Place = (1, 1, 1, 1)


class Const(NamedTuple):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis."""

    value: Any


class Name(NamedTuple):
    """A bare name."""

    id: str


class Attr(NamedTuple):
    """``value.name``."""

    value: Expr
    name: str
    place: Place


class Arg(NamedTuple):
    """One argument of a call; ``star`` is ``*`` or ``**`` where it is unpacked."""

    value: Expr
    keyword: str | None = None
    star: str = ""


class Call(NamedTuple):
    """A call; the place starts at the called name, so that each link of a chain has its own line."""

    func: Expr
    args: tuple[Arg, ...]
    place: Place


class Sub(NamedTuple):
    """``value[key]``; ``is_slice`` for ``value[a:b]``."""

    value: Expr
    key: Expr
    is_slice: bool
    place: Place
    bounds: tuple[Expr | None, Expr | None] | None = None
    """The two ends of the one slice of step 1 in the brackets."""


class Items(NamedTuple):
    """A tuple, list or set display."""

    kind: str
    items: tuple[Expr, ...]
    place: Place


class Mapping(NamedTuple):
    """A dict display; a key of None stands for ``**value``."""

    items: tuple[tuple[Expr | None, Expr], ...]


class Clause(NamedTuple):
    """``for target in iterable if conditions`` of a comprehension."""

    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


class Comp(NamedTuple):
    """A comprehension of kind list, set, dict or generator."""

    kind: str
    element: Expr
    value: Expr | None
    clauses: tuple[Clause, ...]
    place: Place


class Param(NamedTuple):
    """A parameter; kind is ``pos``, ``kw``, ``*`` or ``**``."""

    name: str
    default: Expr | None
    kind: str
    annotation: Expr | None = None
    """Only where its last name is ``Tensor``."""


class Lambda(NamedTuple):
    """``lambda params: body``."""

    params: tuple[Param, ...]
    body: Expr
    place: Place


class Op(NamedTuple):
    """An arithmetic, unary or boolean operator (``+``, ``not``, ``and``, ``or`` ...)."""

    op: str
    operands: tuple[Expr, ...]


class Compare(NamedTuple):
    """``left op right``; longer chains are an ``and`` of these."""

    op: str
    left: Expr
    right: Expr


class IfExp(NamedTuple):
    """``body if test else orelse``."""

    test: Expr
    body: Expr
    orelse: Expr
    text: str


class Format(NamedTuple):
    """An f-string or a concatenation that is not constant."""

    parts: tuple[Expr, ...]


class Walrus(NamedTuple):
    """``(name := value)``."""

    target: Expr
    value: Expr


class Yield(NamedTuple):
    """``yield value`` (also ``yield from``)."""

    value: Expr | None


class Opaque(NamedTuple):
    """Anything else; only its parts matter."""

    parts: tuple[Expr, ...]


Expr: TypeAlias = (
    Const
    | Name
    | Attr
    | Call
    | Sub
    | Items
    | Mapping
    | Comp
    | Lambda
    | Op
    | Compare
    | IfExp
    | Format
    | Walrus
    | Yield
    | Opaque
)


class Evaluate(NamedTuple):
    """An expression on a line of its own."""

    value: Expr


class Assign(NamedTuple):
    """``targets = value``; ``annotation`` for ``target: annotation = value`` (value may then be None)."""

    targets: tuple[Expr, ...]
    value: Expr | None
    place: Place
    annotation: Expr | None = None


class Augment(NamedTuple):
    """``target op= value``."""

    target: Expr
    op: str
    value: Expr
    place: Place


class Return(NamedTuple):
    """``return value``."""

    value: Expr | None


class Raise(NamedTuple):
    """``raise``; also an ``assert`` that is known to fail."""

    parts: tuple[Expr, ...]


class Assert(NamedTuple):
    """``assert test``."""

    test: Expr


class Jump(NamedTuple):
    """``break`` or ``continue``."""

    kind: str


class If(NamedTuple):
    """``if test``; ``text`` is the source of the test."""

    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    text: str
    place: Place


class For(NamedTuple):
    """``for target in iterable``."""

    target: Expr
    iterable: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    place: Place


class While(NamedTuple):
    """``while test``."""

    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class Try(NamedTuple):
    """``try``; each handler is its body."""

    body: tuple[Stmt, ...]
    handlers: tuple[tuple[Stmt, ...], ...]
    orelse: tuple[Stmt, ...]
    final: tuple[Stmt, ...]


class With(NamedTuple):
    """``with item as target, ...``."""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: tuple[Stmt, ...]


class Match(NamedTuple):
    """``match subject``: each case is its pattern, as an expression where it is a plain value, and its body."""

    subject: Expr
    cases: tuple[tuple[Expr | None, tuple[Stmt, ...], str], ...]


class Def(NamedTuple):
    """A function definition."""

    name: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]
    generator: bool
    place: Place


class Class(NamedTuple):
    """A class definition."""

    name: str
    bases: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]
    place: Place
    keywords: bool = False
    """Whether there is more in the parentheses: ``metaclass=Registry``."""


class Import(NamedTuple):
    """``import dotted as alias``: pairs of dotted name and alias (None when not renamed)."""

    names: tuple[tuple[str, str | None], ...]
    place: Place


class ImportFrom(NamedTuple):
    """``from ..module import name as alias``; a name ``*`` for a star import."""

    module: str
    level: int
    names: tuple[tuple[str, str], ...]
    place: Place


class Scope(NamedTuple):
    """``global`` or ``nonlocal`` names."""

    kind: str
    names: tuple[str, ...]


Stmt: TypeAlias = (
    Evaluate | Assign | Augment | Return | Raise | Assert | Jump | If | For | While | Try | With | Match | Def | Class
    | Import | ImportFrom | Scope
)  # fmt: skip


class Facts(NamedTuple):
    """All facts of one file."""

    path: str
    body: tuple[Stmt, ...]
    lines: int


def functions(body: tuple[Stmt, ...]) -> Iterator[Def]:
    """All function definitions in statements, those inside others too, in no particular order."""
    pending: list[Any] = [body]
    while pending:
        one = pending.pop()
        if isinstance(one, Def):
            yield one
        for name in _BLOCKS.get(type(one), ()):
            pending += getattr(one, name)
        if type(one) is tuple:
            pending += one
        elif isinstance(one, Match):
            pending += [inner for case in one.cases for inner in case[1]]


_BLOCKS: dict[type, tuple[str, ...]] = {
    Def: ("body",), Class: ("body",), If: ("body", "orelse"), For: ("body", "orelse"), While: ("body", "orelse"),
    With: ("body",), Try: ("body", "handlers", "orelse", "final"),
}  # fmt: skip
"""The parts of a statement that hold statements, or blocks of them."""


def words(node: Any) -> frozenset[str]:
    """All names, attributes and texts in a statement or expression."""
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        for one in pending.pop():
            if isinstance(one, str):
                found.add(one)
            elif one and isinstance(one, tuple) and type(one[0]) is not int:  # a place holds numbers only
                pending.append(one)
    return frozenset(found)


def reads(node: Any) -> frozenset[str]:
    """All names in a file, statement or expression but those that are only assigned to; ``global`` ones are read."""
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, Name):
            found.add(one.id)
        elif isinstance(one, Scope):
            found.update(one.names)
        elif isinstance(one, Assign):
            pending += [target for target in one.targets if None in plain_names(target)]
            if one.value is not None:
                pending.append(one.value)
        else:
            # A place holds numbers only.
            pending += [part for part in one if part and isinstance(part, tuple) and type(part[0]) is not int]
    return frozenset(found)


def plain_names(target: Expr) -> list[str | None]:
    """The plain names of a target, None for what is none."""
    if isinstance(target, Items):
        return [name for item in target.items for name in plain_names(item)]
    return [target.id if isinstance(target, Name) else None]
