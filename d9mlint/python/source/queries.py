"""Questions about facts: which functions, words and names are in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from d9mlint.python.source.facts import (
    Assign,
    Attr,
    Augment,
    Call,
    Class,
    Comp,
    Const,
    Def,
    Evaluate,
    Expr,
    Facts,
    For,
    If,
    Items,
    Mapping,
    Match,
    Name,
    Op,
    Return,
    Scope,
    Stmt,
    Sub,
    Try,
    While,
    With,
)

T = TypeVar("T")

_BLOCKS: dict[type, tuple[str, ...]] = {
    Def: ("body",), Class: ("body",), If: ("body", "orelse"), For: ("body", "orelse"), While: ("body", "orelse"),
    With: ("body",), Try: ("body", "handlers", "orelse", "final"),
}  # fmt: skip
"""The parts of a statement that hold statements, or blocks of them."""


def functions(body: tuple[Stmt, ...]) -> Iterator[Def]:
    """All function definitions in statements, those inside others too, in no particular order."""
    return (one for one in statements(body) if isinstance(one, Def))


def goes_on(node: Def) -> bool:
    """Whether a function is a generator that gives items for ever: ``while True: yield from loader``."""
    loops = inside(node.body, While) if node.generator else ()
    return any(isinstance(loop.test, Const) and bool(loop.test.value) for loop in loops)


def statements(body: tuple[Stmt, ...], outside: tuple[type, ...] = ()) -> Iterator[Stmt]:
    """Statements and those inside of them, in no particular order; of some kinds not what is inside."""
    pending: list[Any] = [body]
    while pending:
        one = pending.pop()
        if type(one) is tuple:
            pending += one
            continue
        yield one
        if isinstance(one, Match):
            pending += [inner for case in one.cases for inner in case[1]]
        elif not isinstance(one, outside):
            for name in _BLOCKS.get(type(one), ()):
                pending += getattr(one, name)


def children(node: Any) -> list[Any]:
    """What a piece of code is made of; a place, which holds numbers only, is none."""
    return [part for part in node if part and isinstance(part, tuple) and type(part[0]) is not int]


def inside(node: Any, kind: type[T]) -> Iterator[T]:
    """The statements, or expressions, of one kind in a piece of code, itself among them; in no order."""
    pending: list[Any] = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, kind):
            yield one
        pending += children(one)


def counted(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The plain names that statements change by what they were: ``n += 1``, ``n = n + 1``."""
    found: set[str] = set()
    for one in statements(body, (Def, Class)):
        if isinstance(one, Augment) and isinstance(one.target, Name):
            found.add(one.target.id)
        elif isinstance(one, Assign) and isinstance(one.value, Op):
            names = {part.id for part in one.value.operands if isinstance(part, Name)}
            found.update(target.id for target in one.targets if isinstance(target, Name) and target.id in names)
    return frozenset(found)


def tallied(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The names of attributes that functions in statements count on: ``self.steps += 1``."""
    found = (one.target.name for one in statements(body) if isinstance(one, Augment) and isinstance(one.target, Attr))
    return frozenset(found)


def carried_on(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The names of attributes, or of dicts that are, which statements change by what they were before.

    ``delta = x - self.mean; self.mean = self.mean + delta``, ``self.shadow[name] = 0.9 * self.shadow[name] + new``.
    """
    given: set[str] = set()
    found: set[str] = set()
    asked: set[str] = set()
    for one in statements(body):
        if isinstance(one, Assign) and one.value is not None:
            given.update(name for target in one.targets for name in _attributes(target))
            asked |= words(one.value)
        elif isinstance(one, Augment):
            found.update(_attributes(one.target))
    return frozenset(found | (given & asked))


def _attributes(target: Expr) -> list[str]:
    """The names of the attributes that a target sets, or an item of."""
    if isinstance(target, Items):
        return [name for item in target.items for name in _attributes(item)]
    holder = target.value if isinstance(target, Sub) else target
    return [holder.name] if isinstance(holder, Attr) else []


_NUMBERS = frozenset(
    {"len", "sum", "max", "min", "abs", "round", "sorted", "list", "tuple", "set", "dict", "zip", "map", "glob"}
)
"""Functions that count, list files, or put data together."""
_MEASURES = frozenset(
    {
        *("shape", "size", "numel", "dim", "sum", "any", "all", "nonzero", "keys", "values", "items", "split"),
        *("listdir", "glob", "iglob", "rglob", "iterdir", "scandir", "readline", "readlines"),
    }
)
"""Attributes and methods of data that tell how much there is of it, or take it apart, and of folders and files."""


def computed(node: Def | Facts) -> frozenset[str]:
    """The plain names that only numbers and collections of data are given to, which nobody sets: ``n = len(rows)``.

    So are the parts of what a call gives: ``state, reward, done, _ = env.step(action)``.
    """
    found: set[str] = set()
    others = {param.name for param in node.params} if isinstance(node, Def) else set()
    for one in statements(node.body, (Def, Class)):
        if isinstance(one, For):
            found.update(name for name in plain_names(one.target) if name)
        elif isinstance(one, Assign) and one.value is not None:
            if isinstance(one.value, Const):
                continue  # (`done = False` before it is asked for the first time)
            parts = isinstance(one.value, Call) and all(isinstance(target, Items) for target in one.targets)
            made = found if parts or _computes(one.value) else others
            made.update(name for target in one.targets for name in plain_names(target) if name)
    return frozenset(found - others)


def taken(node: Def | Facts) -> dict[str, Attr | Sub]:
    """The plain names that stand for an attribute or item and for nothing else: ``mode = config["mode"]``."""
    found: dict[str, Attr | Sub] = {}
    others = {param.name for param in node.params} if isinstance(node, Def) else set()
    for one in statements(node.body, (Def, Class)):
        if isinstance(one, For):
            others.update(name for name in plain_names(one.target) if name)
        elif isinstance(one, (Assign, Augment)):
            targets = one.targets if isinstance(one, Assign) else (one.target,)
            names = {name for target in targets for name in plain_names(target) if name}
            plain = isinstance(one, Assign) and all(isinstance(target, Name) for target in targets)
            others |= names & found.keys() if plain and isinstance(one.value, (Attr, Sub)) else names
            if plain and isinstance(one.value, (Attr, Sub)):
                found.update(dict.fromkeys(names, one.value))
    return {name: value for name, value in found.items() if name not in others}


def _computes(value: Expr) -> bool:
    """Whether an expression counts, measures or puts together data."""
    if isinstance(value, Call):
        func = value.func
        known = isinstance(func, Name) and func.id in _NUMBERS
        return known or (isinstance(func, Attr) and func.name in _MEASURES)
    if isinstance(value, Sub):
        return _computes(value.value)
    if isinstance(value, Attr):
        return value.name in _MEASURES
    return isinstance(value, (Comp, Items, Mapping)) or (isinstance(value, Op) and value.op not in ("and", "or", "not"))


def words(node: Any) -> frozenset[str]:
    """All names, attributes and texts in a statement or expression."""
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        node = pending.pop()
        found.update(one for one in node if isinstance(one, str))
        pending += children(node)
    return frozenset(found)


def reads(node: Any) -> frozenset[str]:
    """All names in a file, statement or expression but those that are only assigned or added to.

    ``global`` ones are read. Parameters of the functions in it, and what its comprehensions go through by name, are
    other names.
    """
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, Name):
            found.add(one.id)
        elif isinstance(one, Def) and one is not node:
            found |= reads(one.body) - {param.name for param in one.params}
            pending += [*one.decorators, *(param.default for param in one.params if param.default is not None)]
        elif isinstance(one, Comp):
            own = {name for clause in one.clauses for name in plain_names(clause.target)}
            inner = (one.element, *((one.value,) if one.value is not None else ()), *one.clauses[1:])
            found |= reads((*inner, *one.clauses[0].conditions)) - own
            pending.append(one.clauses[0].iterable)
        elif isinstance(one, Scope):
            found.update(one.names)
        elif isinstance(one, Assign):
            pending += [target for target in one.targets if None in plain_names(target)]
            if one.value is not None:
                pending.append(one.value)
        elif isinstance(one, Augment) and isinstance(one.target, Name):
            pending.append(one.value)
        elif isinstance(one, For):
            pending += [one.iterable, one.body, one.orelse]
            if None in plain_names(one.target):
                pending.append(one.target)
        else:
            pending += children(one)
    return frozenset(found)


_LOGS = frozenset({"debug", "info", "warning", "error", "critical", "set_description", "set_postfix"})


def reads_but_to_print(body: tuple[Stmt, ...]) -> frozenset[str]:
    """All names that statements read, but for what they print, or log, and for tests on which only that hangs."""
    found: set[str] = set()
    pending: list[Any] = [body]
    while pending:
        one = pending.pop()
        if type(one) is tuple:
            pending += one
        elif not _prints(one):
            blocks = [getattr(one, name) for name in _BLOCKS.get(type(one), ())]
            pending += blocks
            found |= reads(one._replace(**dict.fromkeys(_BLOCKS.get(type(one), ()), ()))) if blocks else reads(one)
    return frozenset(found)


def _prints(one: Any) -> bool:
    """Whether a statement prints or logs something, or does nothing but that on some condition."""
    if isinstance(one, If):
        return all(map(_prints, (*one.body, *one.orelse)))
    func = one.value.func if isinstance(one, Evaluate) and isinstance(one.value, Call) else None
    return (isinstance(func, Name) and func.id == "print") or (isinstance(func, Attr) and func.name in _LOGS)


def only_picks_by(body: tuple[Stmt, ...], names: frozenset[str | None]) -> bool:
    """Whether statements read names only to look up items by them: ``outputs[i]``, but not ``rows[i] = x``."""
    pending: list[Any] = [body]
    while pending:
        one = pending.pop()
        if isinstance(one, Name):
            if one.id in names:
                return False
        elif isinstance(one, Sub) and isinstance(one.key, Name) and not one.is_slice:
            pending.append(one.value)
        elif isinstance(one, For):
            pending += [one.iterable, one.body, one.orelse]
        else:
            targets = one.targets if isinstance(one, Assign) else (one.target,) if isinstance(one, Augment) else ()
            pending += [part for holder in (*targets, one) for part in holder if isinstance(part, tuple)]
    return True


def plain_names(target: Expr) -> list[str | None]:
    """The plain names of a target, None for what is none."""
    if isinstance(target, Items):
        return [name for item in target.items for name in plain_names(item)]
    return [target.id if isinstance(target, Name) else None]


_CHANGE = (
    "add", "append", "apply", "backward", "clear", "discard", "extend", "insert", "load", "pop", "push", "put",
    "remove", "restore", "save", "set", "step", "store", "train", "update", "write",
)  # fmt: skip
"""How the names of methods begin that change their object, mostly."""


class Changes(NamedTuple):
    """What a method does to the object that it is a method of."""

    state: bool
    """It changes what the object holds, in a way that depends on the order of such calls: counting does not."""
    looks: bool
    """It looks at what the object holds."""
    answers: bool
    """It gives something back."""
    calls: frozenset[str]
    """Methods of its own that it calls."""


def changes(node: Def) -> Changes:
    """What a method does to the object that it is a method of, as far as its own statements say."""
    own = node.params[0].name if node.params else ""
    state = looks = answers = False
    called: set[str] = set()
    pending: list[Any] = [*node.body]
    while pending:
        one = pending.pop()
        if isinstance(one, (Assign, Augment)):
            targets = one.targets if isinstance(one, Assign) else () if isinstance(one.value, Const) else (one.target,)
            state = state or any(_held_by(target, own) for target in targets)
        elif isinstance(one, Call) and isinstance(one.func, Attr):
            if isinstance(one.func.value, Name) and one.func.value.id == own:
                called.add(one.func.name)
            state = state or (_held_by(one.func.value, own) and one.func.name.lstrip("_").startswith(_CHANGE))
        elif isinstance(one, Return):
            answers = answers or not (one.value is None or isinstance(one.value, Const))
        looks = looks or (isinstance(one, Name) and one.id == own)
        pending += children(one)
    return Changes(state, looks, answers or node.generator, frozenset(called))


def _held_by(target: Expr, own: str) -> bool:
    """Whether a target, or what a method is called of, is held by an object: ``self.games[key]``, not ``self``."""
    if isinstance(target, Items):
        return any(_held_by(item, own) for item in target.items)
    held = False
    while isinstance(target, (Attr, Sub)):
        target, held = target.value, True
    return held and isinstance(target, Name) and target.id == own
