"""The facts of one Python file: a small, plain, picklable picture of what the file does.

Everything syntactic happens before facts and every judgement after: the interpreter and the rules read these
tuples and never a syntax tree. Expressions keep what decides a value (names, constants, calls, conditions);
statements keep order and branching. Places are ``(line, column, end line, end column)``, from 1, end exclusive.
"""

from __future__ import annotations

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
    awaited: bool = False
    """What it starts has ended before anything else goes on: ``await work()``, ``asyncio.run(work())``."""


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
    """Only a name: one whose last part begins with a capital, or any of a function with decorators."""


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
    coroutine: bool = False
    """It is ``async``, and others go on while it waits for something."""


class Class(NamedTuple):
    """A class definition."""

    name: str
    bases: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]
    place: Place
    keywords: tuple[Arg, ...] = ()
    """What else is in the parentheses: ``metaclass=Registry``."""


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
