"""Which functions that nothing was seen to call may be called all the same: those that the program mentions.

To import a module is not to make the objects of its classes: what no reached code names is not run by this program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Const, Dict, Func, Module, Seq, Unknown, Value, alternatives
from d9mlint.python.source import facts as f

Test = Callable[[object], bool]
Words = Callable[[Any], frozenset[str]]
_BY_NAME = frozenset(
    {
        "globals", "__import__", "__subclasses__", "__init_subclass__", "getmembers", "import_module", "instantiate",
        "locate", "Fire", "CLI", "LightningCLI",
    }
)  # fmt: skip
"""Words that find functions and classes by names which the program may only get at run time."""
_DOES = (f.Evaluate, f.If, f.For, f.While, f.With, f.Try, f.Match)
"""Statements with which a module does more than to define something."""
_EVALUATES = ("builtins.eval", "builtins.exec")


def mentioned(
    modules: Sequence[Module], bodies: Callable[[str], Iterable[f.Stmt]], entered: Test, events: Iterable[Event],
    words: Words, wrapped: frozenset[int] = frozenset(),
) -> Test | None:  # fmt: skip
    """A test for definitions that reached code mentions; None where any may be found by its name.

    Args:
        modules: the entry, then what it imports.
        bodies: the statements of a module, by its path.
        entered: whether a definition was seen to be called.
        events: the story so far.
        words: all names and texts of a statement.
        wrapped: functions, by ``id``, whose decorators keep them nowhere.
    """
    seen = _looked_up(events, modules)
    if seen is None or not any(isinstance(node, _DOES) for node in bodies(modules[0].path)):
        return None  # the first one, the entry, only defines what others use
    named = _modules(modules)
    waiting: dict[str, list[f.Def | f.Class | f.Assign]] = {}
    """By their names, definitions, and tables of some, that nothing mentions yet."""
    found: list[f.Def | f.Class | f.Assign] = []
    told: list[f.Stmt] = []

    def add(node: f.Def | f.Class) -> None:
        if _is_reached(node, entered, wrapped) or node.name in seen:
            found.append(node)
        else:
            waiting.setdefault(node.name, []).append(node)

    for module in modules:
        for node in bodies(module.path):
            if isinstance(node, (f.Def, f.Class)):
                add(node)
            elif isinstance(node, f.Assign) and (table := _table(node)):
                (found if table in seen else waiting.setdefault(table, [])).append(node)
            elif not isinstance(node, (f.Import, f.ImportFrom)) and not _exports(node):
                told.append(node)
    reached: set[int] = set()
    while told or found:
        for one in told:
            here = words(one)
            if not here.isdisjoint(_BY_NAME):
                return None
            if "__dict__" in here:
                here = here.union(*(_names(named[name]) for name in _with_dict(one) & named.keys()))
            for name in here - seen:
                found += waiting.pop(name, ())
            seen |= here
        now, found, told = found, [], []
        for node in now:
            if isinstance(node, f.Assign):
                told.append(node)
                continue
            reached.add(id(node))
            for one in _inside(node):
                if not isinstance(one, f.Def) or one is node or _called_by_others(node):
                    told.append(one)
                    if _called_by_others(node):
                        reached.add(id(one))
                else:
                    add(one)
    return lambda node: id(node) in reached


def _inside(node: f.Def | f.Class) -> Iterator[f.Stmt]:
    """What a definition mentions where it is reached: a function as a whole, a class by its statements."""
    yield from ((node,) if isinstance(node, f.Def) else (*map(f.Evaluate, (*node.bases, *node.decorators)), *node.body))


def _called_by_others(node: f.Def | f.Class) -> bool:
    """Whether methods may be called by what a class is made of: a class with bases."""
    return isinstance(node, f.Class) and bool(node.bases)


def _is_reached(node: f.Def | f.Class, entered: Test, wrapped: frozenset[int]) -> bool:
    """Whether a definition is reached whether anything mentions it or not."""
    if node.decorators and id(node) not in wrapped:
        return True
    if isinstance(node, f.Class):
        return any(isinstance(one, f.Def) and entered(one) for one in node.body)
    return entered(node) or (node.name.startswith("__") and node.name.endswith("__"))


def _exports(node: f.Stmt) -> bool:
    """Whether a statement only lists names for others: ``__all__ = [...]``."""
    targets = node.targets if isinstance(node, f.Assign) else (node.target,) if isinstance(node, f.Augment) else ()
    return any(isinstance(target, f.Name) and target.id == "__all__" for target in targets)


def _table(node: f.Assign) -> str:
    """The name of what only lists others, mentioned where it is: ``MODELS = {"small": small}``; else empty."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or not isinstance(target, f.Name) or target.id == "__all__":
        return ""
    parts = value.items if isinstance(value, f.Items) else ()
    if isinstance(value, f.Mapping):
        parts = tuple(part for pair in value.items for part in pair if part is not None)
    return target.id if parts and all(isinstance(part, (f.Name, f.Attr, f.Const)) for part in parts) else ""


def _with_dict(node: object) -> set[str]:
    """The names whose ``__dict__`` is taken: ``models.__dict__[args.arch]``."""
    found: set[str] = set()
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, f.Attr) and one.name == "__dict__" and isinstance(one.value, (f.Name, f.Attr)):
            found.add(one.value.id if isinstance(one.value, f.Name) else one.value.name)
        if isinstance(one, tuple):
            pending.extend(one)
    return found


def _looked_up(events: Iterable[Event], modules: Iterable[Module]) -> set[str] | None:
    """The names that calls take out of modules by a name which is not known; None where that may be any.

    ``getattr(models, args.arch)`` takes one of ``models``, ``eval(text)`` one of the module that it stands in.
    """
    homes = {module.path: module for module in modules}
    names: set[str] = set()
    for event in events:
        if event.kind != "call" or not event.args or event.name not in ("builtins.getattr", *_EVALUATES):
            continue
        if event.name in _EVALUATES:
            names |= _names(homes.get(event.location.path))
        elif len(event.args) > 1 and not isinstance(event.args[1], Const):
            for _, holder in alternatives(event.args[0]):
                if isinstance(holder, Unknown):
                    return None
                names |= _names(holder)
    return names


def _modules(modules: Iterable[Module]) -> dict[str, Module]:
    """Modules by the names under which others import them."""
    frames = [module.frame for module in modules if module.frame is not None]
    return {name: value for frame in frames for name, value in frame.vars.items() if isinstance(value, Module)}


def _names(holder: Value | None) -> set[str]:
    frame = holder.frame if isinstance(holder, (Module, Class)) else None
    kinds = (Func, Class, Dict, Seq)
    return {name for name, value in frame.vars.items() if isinstance(value, kinds)} if frame else set()
