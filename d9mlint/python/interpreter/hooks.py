"""The hooks by which frameworks tell the interpreter what their calls and objects mean.

The interpreter knows Python; effects of calls stand in the catalogue. What neither can say is a `Framework`: a class
that overrides what it knows something about. The interpreter never imports one, it is handed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Func, Inst, Obj, Value
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

Transfer = Callable[["Interpreter", Event, Frame], "Value | None"]
"""A transfer function: what a call gives, computed on abstract values; None where it has nothing to say."""


class Framework:
    """What one framework means to the interpreter. Each program gets instances of its own, which may keep state."""

    transfer: ClassVar[Mapping[str, Transfer]] = {}
    """Transfer functions by the canonical names of calls."""
    packages: frozenset[str] = frozenset()
    """Top-level packages that the catalogue describes: no program has them as modules of its own."""
    variables: frozenset[str] = frozenset()
    """Environment variables whose setting in a function that nothing calls is worth a word."""
    protocol: frozenset[str] = frozenset()
    """Methods that the framework calls on objects handed to it."""
    arrays: tuple[str, ...] = ()
    """Beginnings of the types of arrays."""
    parts_alike: frozenset[str] = frozenset()
    """Types whose parts have the same type: items, and what a split gives."""
    items_alike: frozenset[str] = frozenset()
    """Types whose items have the same type."""
    views: frozenset[str] = frozenset()
    """Attributes that are the thing itself, seen in another way."""
    persistent: tuple[str, ...] = ()
    """Types whose methods make something new and leave the object as it is."""
    same_numbers: tuple[str, ...] = ()
    """Calls that give the numbers that they are given, in the same order."""
    numeric: tuple[str, ...] = ()
    """Endings of the names of methods that give arrays of numbers."""
    symbolic: tuple[str, ...] = ()
    """Beginnings of the names of calls that draw later, when a graph is run: their results are no numbers yet."""
    on_use: frozenset[str] = frozenset()
    """Contexts of functions that run when the object that they are handed to is used."""
    rank_first: frozenset[str] = frozenset()
    """Calls that start processes and give their function the number of the process before the arguments."""
    never_text: frozenset[str] = frozenset()
    """Types whose objects never equal a string."""
    plain_bases: frozenset[str] = frozenset()
    """Bases whose instances are made by ``__init__`` and nothing else."""
    network_bases: frozenset[str] = frozenset()
    """Bases of networks."""
    asking: frozenset[str] = frozenset()
    """Methods that give what an object of the program holds, and call none of its own methods."""
    dataclasses: frozenset[str] = frozenset()
    """Decorators that give a class methods of their own, as a base does."""
    transformations: frozenset[str] = frozenset()
    """Decorators with effects of their own, those of calls that are given the function: ``@grad``."""
    layers: tuple[str, ...] = ()
    """Beginnings of the names of calls that make layers of networks."""
    runs: tuple[str, ...] = ()
    """Methods that a call of an object of the program runs, where its class has no ``__call__``."""

    def attribute(self, interp: Interpreter, holder: Value, name: str) -> Value | None:
        """An attribute that a class, a function or a method of the program has of the framework, and not of its own."""

    def subscript(self, holder: Value, index: Value) -> Value | None:
        """What ``holder[index]`` gives."""

    def part(self, holder: Value) -> Value | None:
        """What a slice ``holder[a:b]`` gives."""

    def arithmetic(self, operands: Sequence[Value]) -> Value | None:
        """What an arithmetic operator gives."""

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        """What a call gives; ``origins`` are those of its arguments."""

    def method_of_unknown(self, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> str | None:
        """The dotted name of a method of something unknown, where name and arguments can only mean that one."""

    def constructs(self, interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        """What a class method of a library gives that is called on a class of the program."""

    def parameters(self, interp: Interpreter, func: Func, frame: Frame) -> None:
        """Says more of the parameters of a function that is entered."""

    def contexts(self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]]) -> Iterable[str]:
        """The contexts that the body of a function runs in; ``decorators`` are values and canonical names."""
        return ()

    def given(
        self, interp: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place
    ) -> tuple[list[Value], dict[str, Value], bool] | None:  # fmt: skip
        """What a decorator hands to a function in place of what that is called with, and whether there may be more."""

    def decorated(
        self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]], kwargs: Mapping[str, Value],
        frame: Frame, place: f.Place, star: bool,
    ) -> Value | None:  # fmt: skip
        """What a call of a decorated function gives, where it is not what its body does."""

    def enters(self, event: Event) -> str | None:
        """The context of the body of ``with``, where its manager was made by this call; empty: none in particular."""

    def counts_each_call(self, frame: Frame) -> bool:
        """Whether a call with these arguments counts, though one like it was seen before."""
        return False

    def invocation_context(self, event: Event, context: str) -> str | None:
        """The context in which a call runs a function that it is handed, where it is not ``context``."""

    def branch(self, interp: Interpreter, node: f.If, frame: Frame) -> None:
        """Looks at an ``if``."""

    def around_loop(
        self, interp: Interpreter, frame: Frame, place: f.Place, items: Sequence[Value]
    ) -> Callable[[], None] | None:
        """Looks at a loop before it runs; what it returns is called at its end."""

    def made(self, interp: Interpreter, event: Event, frame: Frame) -> None:
        """Looks at a call that may make something of its own."""

    def called(self, interp: Interpreter, event: Event, frame: Frame, place: f.Place) -> None:
        """Looks at a call after the functions handed to it have run."""

    def iterates(self, interp: Interpreter, value: Value, frame: Frame, place: f.Place) -> None:
        """Looks at a value that is gone through."""

    def handed(self, interp: Interpreter, instance: Inst, frame: Frame, place: f.Place) -> frozenset[str]:
        """Looks at an object handed to something outside; gives the methods of the protocol that run later."""
        return frozenset()

    def finish(self, interp: Interpreter) -> None:
        """Interprets what is left at the end of the program."""


class Hooks:
    """All frameworks together: what they list as one, and by the name of each hook those that have it."""

    packages: frozenset[str]
    variables: frozenset[str]
    protocol: frozenset[str]
    arrays: tuple[str, ...]
    parts_alike: frozenset[str]
    items_alike: frozenset[str]
    views: frozenset[str]
    persistent: tuple[str, ...]
    same_numbers: tuple[str, ...]
    numeric: tuple[str, ...]
    symbolic: tuple[str, ...]
    on_use: frozenset[str]
    rank_first: frozenset[str]
    never_text: frozenset[str]
    plain_bases: frozenset[str]
    network_bases: frozenset[str]
    asking: frozenset[str]
    dataclasses: frozenset[str]
    transformations: frozenset[str]
    layers: tuple[str, ...]
    runs: tuple[str, ...]
    attribute: Sequence[Callable[[Interpreter, Value, str], Value | None]]
    subscript: Sequence[Callable[[Value, Value], Value | None]]
    part: Sequence[Callable[[Value], Value | None]]
    arithmetic: Sequence[Callable[[Sequence[Value]], Value | None]]
    result: Sequence[Callable[[Event, frozenset[str]], Value | None]]
    method_of_unknown: Sequence[Callable[[str, Sequence[Value], Mapping[str, Value]], str | None]]
    constructs: Sequence[Callable[[Interpreter, Event, Frame], Value | None]]
    parameters: Sequence[Callable[[Interpreter, Func, Frame], None]]
    contexts: Sequence[Callable[[Interpreter, Func, Sequence[tuple[Value, str]]], Iterable[str]]]
    given: Sequence[Callable[..., tuple[list[Value], dict[str, Value], bool] | None]]
    decorated: Sequence[Callable[..., Value | None]]
    enters: Sequence[Callable[[Event], str | None]]
    counts_each_call: Sequence[Callable[[Frame], bool]]
    invocation_context: Sequence[Callable[[Event, str], str | None]]
    branch: Sequence[Callable[[Interpreter, f.If, Frame], None]]
    around_loop: Sequence[Callable[[Interpreter, Frame, f.Place, Sequence[Value]], Callable[[], None] | None]]
    made: Sequence[Callable[[Interpreter, Event, Frame], None]]
    called: Sequence[Callable[[Interpreter, Event, Frame, f.Place], None]]
    iterates: Sequence[Callable[[Interpreter, Value, Frame, f.Place], None]]
    handed: Sequence[Callable[[Interpreter, Inst, Frame, f.Place], frozenset[str]]]
    finish: Sequence[Callable[[Interpreter], None]]

    def __init__(self, frameworks: Sequence[Framework], transfer: Mapping[str, Transfer]) -> None:
        self.transfer = {**{k: v for one in frameworks for k, v in one.transfer.items()}, **transfer}
        """What the interpreter itself knows goes before what frameworks say."""
        for name, default in vars(Framework).items():
            found = [getattr(one, name) for one in frameworks]
            if isinstance(default, frozenset):
                setattr(self, name, default.union(*found))
            elif isinstance(default, tuple):
                setattr(self, name, tuple(x for each in found for x in each))
            elif callable(default):
                having = (getattr(type(one), name) is not default for one in frameworks)
                setattr(self, name, tuple(hook for hook, has in zip(found, having, strict=True) if has))
        self.items_alike |= self.parts_alike

    def is_array(self, value: Value) -> TypeGuard[Obj]:
        """Whether a value is an array of one of the frameworks."""
        return isinstance(value, Obj) and value.type.startswith(self.arrays)


def ask(hooks: Sequence[Callable[..., Any]], *arguments: Any) -> Any:
    """The first answer that is one."""
    for hook in hooks:
        found = hook(*arguments)
        if found is not None:
            return found
    return None
