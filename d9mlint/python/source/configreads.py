"""What a file does with the configurations that it loads: which keys it cannot do without, and where they go.

A query of facts, not an analysis: what is only done under a condition needs nothing, and where a configuration is
handed to a function, that may fill it, so nothing that is read of it afterwards has to stand in its file.

Source: omegaconf.readthedocs.io, "Access and manipulation" (since 2.1 a key that is missing raises; in 2.0 it is None).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

Keys = tuple[str, ...]
SCREEN = (b"OmegaConf.load", b"yaml.", b"json.load")
"""One of these stands in each file that loads a configuration."""
_OMEGACONF = "omegaconf.OmegaConf."
_LOADERS = frozenset(
    {f"{_OMEGACONF}load", "yaml.load", "yaml.safe_load", "yaml.full_load", "yaml.unsafe_load", "json.load"}
)
_KEEPS = frozenset(
    {f"{_OMEGACONF}create", "easydict.EasyDict", "argparse.Namespace", "types.SimpleNamespace", "munch.Munch", "dict"}
)
"""The same keys as another kind of object, which raises for one that is missing."""
_MERGES = f"{_OMEGACONF}merge"
_HARMLESS = frozenset({"print", "str", "repr", "len", "pprint.pprint", "copy.deepcopy", f"{_OMEGACONF}to_yaml"})
_ENDS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


class Reader(NamedTuple):
    """A function, or a file's own statements, that loads configurations."""

    needed: frozenset[Keys]
    """Ways to keys without which it ends with an error."""
    escapes: bool
    """It hands a whole configuration on: other code reads keys of it, too."""


def readers(facts: f.Facts) -> list[Reader]:
    """What in a file loads configurations, in order."""
    aliases = _aliases(facts.body)
    bodies = [facts.body, *(one.body for one in queries.functions(facts.body))]
    found = (_Scope(aliases).read(body) for body in bodies)
    return [one for one in found if one is not None]


def _aliases(body: tuple[f.Stmt, ...]) -> dict[str, str]:
    """What the names that a file imports stand for, wherever in it it does so."""
    found: dict[str, str] = {}
    for one in queries.statements(body):
        if isinstance(one, f.Import):
            found.update((alias, dotted) for dotted, alias in one.names if alias)
        elif isinstance(one, f.ImportFrom) and not one.level:
            found.update((alias, f"{one.module}.{name}") for name, alias in one.names)
    return found


class _Held(NamedTuple):
    """A configuration, or a part of one, that a name stands for."""

    keys: Keys
    lenient: bool
    """What is missing may be None, and raises only where something is read of it."""


class _Scope:
    """The statements of one function, in the order in which they run."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases
        self._held: dict[str, _Held] = {}
        self._lists: set[str] = set()
        """Names of lists of configurations, to be merged."""
        self._given: set[Keys] = set()
        self._needed: set[Keys] = set()
        self._loads = self._escapes = self._open = False

    def read(self, body: tuple[f.Stmt, ...]) -> Reader | None:
        """What these statements need; None where they load nothing."""
        self._block(body)
        return Reader(frozenset(self._needed), self._escapes) if self._loads else None

    def _block(self, body: tuple[f.Stmt, ...]) -> bool:
        """Goes through statements that run one after the other; whether what follows them runs, too."""
        return all(map(self._statement, body))

    def _statement(self, one: f.Stmt) -> bool:
        if isinstance(one, (f.Return, f.Raise)):
            self._expression(one)
            return False
        if isinstance(one, f.Assign):
            self._assign(one)
        elif isinstance(one, f.With):
            for item, _ in one.items:
                self._expression(item)
            return self._block(one.body)
        elif isinstance(one, f.Try):
            if all(handler and isinstance(handler[-1], f.Raise) for handler in one.handlers):
                return self._block((*one.body, *one.orelse))
            self._maybe(one)
        elif isinstance(one, f.If) and _is_main(one.test):
            return self._block(one.body)
        elif isinstance(one, (f.If, f.For, f.While, f.Match)):
            self._expression(_always(one))
            return self._maybe(one)
        elif isinstance(one, (f.Evaluate, f.Augment, f.Assert)):
            self._expression(one)
        return True

    def _maybe(self, statement: f.Stmt) -> bool:
        """What is only done under a condition may set keys, or leave; whether what follows runs all the same."""
        goes_on = True
        for one in queries.statements((statement,), (f.Def, f.Class)):
            targets = one.targets if isinstance(one, f.Assign) else ()
            for target in targets:
                if isinstance(target, f.Name):
                    self._held.pop(target.id, None)
                elif (held := self._keys(target)) is not None:
                    self._given.add(held.keys)
            if isinstance(one, f.Assign) and one.value is not None and self._configuration(one.value) is not None:
                self._loads = self._escapes = True  # under a name of which only then something is known
            leaves = (
                isinstance(one, f.Evaluate) and isinstance(one.value, f.Call) and self._name(one.value.func) in _ENDS
            )
            goes_on = goes_on and not leaves and not isinstance(one, f.Return)
        return goes_on

    def _assign(self, one: f.Assign) -> None:
        if one.value is None:
            return
        made = self._configuration(one.value)
        several = self._is_list(one.value)
        if made is None or made.keys:
            self._expression(one.value)
        for target in one.targets:
            if isinstance(target, f.Name):
                self._held.pop(target.id, None)
                self._lists.discard(target.id)
                if made is not None:
                    self._held[target.id] = made
                elif several:
                    self._lists.add(target.id)
            elif (held := self._keys(target)) is not None:
                self._need(held._replace(keys=held.keys[:-1], lenient=False))
                self._given.add(held.keys)
            if made is not None and not made.keys and not isinstance(target, f.Name):
                self._escapes = True

    # -- configurations ----------------------------------------------------------------------------------------

    def _configuration(self, value: f.Expr) -> _Held | None:
        """What of a configuration an expression is; None where it is none."""
        if not isinstance(value, f.Call):
            return self._keys(value)
        name = self._name(value.func)
        if name in _LOADERS:
            self._loads = True
            return _Held((), name.startswith(_OMEGACONF))
        if name in _KEEPS and len(value.args) == 1:
            return self._configuration(value.args[0].value)
        if name == _MERGES:
            parts = [arg.value for arg in value.args]
            whole = [part for part in parts if self._is_list(part) or self._configuration(part) is not None]
            return _Held((), True) if len(whole) == 1 else None  # of several, one may have what another lacks
        return None

    def _is_list(self, value: f.Expr) -> bool:
        """Whether an expression makes a list of configurations, or is one."""
        if isinstance(value, f.Comp):
            return self._configuration(value.element) is not None
        return isinstance(value, f.Name) and value.id in self._lists

    def _keys(self, value: f.Expr) -> _Held | None:
        """The way through a configuration by attributes and texts that an expression is."""
        keys: list[str] = []
        while not isinstance(value, f.Name):
            if isinstance(value, f.Attr):
                keys.append(value.name)
            elif isinstance(value, f.Sub) and isinstance(value.key, f.Const) and isinstance(value.key.value, str):
                keys.append(value.key.value)
            elif not (isinstance(value, f.Sub) and keys == []):
                return None
            value = value.value
        held = self._held.get(value.id)
        return held and held._replace(keys=(*held.keys, *reversed(keys)))

    def _need(self, held: _Held) -> None:
        keys = held.keys[:-1] if held.lenient else held.keys
        if keys and not self._open and not any(keys[: len(given)] == given for given in self._given):
            self._needed.add(keys)

    def _expression(self, node: Any) -> None:
        """What an expression reads, whatever happens."""
        if isinstance(node, (f.Name, f.Attr, f.Sub)) and (held := self._keys(node)) is not None:
            self._need(held)
        elif isinstance(node, f.Call):
            self._call(node)
        elif isinstance(node, f.Return) and node.value is not None:
            self._escapes = self._escapes or self._is_whole(node.value)
            self._expression(node.value)
        else:
            for part in _parts(node):
                self._expression(part)

    def _call(self, call: f.Call) -> None:
        """A method reads what it is called of; a function that is handed a configuration may fill it."""
        func = call.func
        called = self._keys(func.value) if isinstance(func, f.Attr) else None
        if called is not None:
            self._need(called._replace(lenient=False))
        else:
            self._expression(func.value if isinstance(func, f.Attr) else func)
        for arg in call.args:
            self._expression(arg.value)
        if self._name(func) not in _HARMLESS and any(self._is_whole(arg.value) for arg in call.args):
            self._escapes = self._open = True

    def _is_whole(self, value: f.Expr) -> bool:
        held = self._configuration(value)
        return held is not None and not held.keys

    def _name(self, func: f.Expr) -> str:
        """The dotted name of what is called."""
        parts: list[str] = []
        while isinstance(func, f.Attr):
            parts.append(func.name)
            func = func.value
        return ".".join([self._aliases.get(func.id, func.id), *reversed(parts)]) if isinstance(func, f.Name) else ""


def _is_main(test: f.Expr) -> bool:
    return isinstance(test, f.Compare) and test.left == f.Name("__name__")


def _always(statement: f.If | f.For | f.While | f.Match) -> f.Expr:
    """What a statement evaluates before anything is decided."""
    if isinstance(statement, f.For):
        return statement.iterable
    return statement.subject if isinstance(statement, f.Match) else statement.test


def _parts(node: Any) -> Iterator[Any]:
    """The parts of an expression that are evaluated whatever the others are."""
    if isinstance(node, f.Op) and node.op in ("and", "or"):
        yield node.operands[0]
    elif isinstance(node, f.IfExp):
        yield node.test
    elif isinstance(node, f.Comp):
        yield node.clauses[0].iterable
    elif isinstance(node, tuple) and not isinstance(node, (f.Lambda, f.Const, f.Name)):
        yield from queries.children(node)
