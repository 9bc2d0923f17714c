"""What an expression may stand for while a program is told as a story."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

from d9mlint.python.domain.conditions import Cond, Flag
from d9mlint.python.domain.linearization import merged
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Event, Frame

born = itertools.count(1).__next__
"""Gives each thing that can change a number, in the order in which they are made."""
NO_ORIGINS: frozenset[str] = frozenset()


class Unknown:
    """Not known. ``origins`` says what it was made from (``clock``, ``pid``, ``hash``, ``rank`` ...).

    ``order`` names a source of unstable order, ``sources`` the events that the origins and the order come from.
    ``name`` is what the program calls it, for messages and for methods of unknown receivers. ``key`` is that in which
    it stands in a configuration, where the config files beside the program name classes under it (``generator.name``).
    """

    __slots__ = ("key", "name", "order", "origins", "sources")

    def __init__(
        self, origins: frozenset[str] = NO_ORIGINS, order: str = "", sources: tuple[Event, ...] = (), name: str = ""
    ) -> None:
        self.origins = origins
        self.order = order
        self.sources = sources
        self.name = name
        self.key = ""


class Optional(Unknown):
    """A parameter whose default is None, where settings that are not known (``**config``) may give something else."""

    __slots__ = ()


class ClassName(Unknown):
    """The dotted name of a class in a part of a configuration, or a part of it: ``config.model["target"]``.

    Its ``name`` is what the program calls that part (``config.model``).
    """

    __slots__ = ()


class Text(Unknown):
    """A text or path that is not known as a whole: ``folder / "last.pth"``, ``f"{folder}/{step}.pth"``."""

    __slots__ = ("parts", "path")

    def __init__(self, parts: tuple[Value, ...], like: Unknown, path: bool = False) -> None:
        super().__init__(like.origins, like.order, like.sources)
        self.parts = parts
        """What it is joined from."""
        self.path = path
        """It is a path, of which an absolute part takes the place of those before it."""

    @property
    def first(self) -> Value:
        """What it begins with."""
        return self.parts[0]


class Dynamic(Unknown):
    """Something of the program, or of a module, that is found by a name or key which is only known at run time."""

    __slots__ = ("by_flag", "open", "options", "reason")

    def __init__(
        self, reason: str, name: str = "", options: tuple[tuple[Cond, Value], ...] = (), open: bool = False,
        by_flag: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name=name)
        self.reason = reason
        self.options = options
        """What it may be, each under the condition that this name or key is given."""
        self.open = open
        """It may be something else, too."""
        self.by_flag = by_flag
        """The name or key is what a flag gives."""


class Const:
    """A known Python constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Ref:
    """Something outside the program, by dotted name; ``receiver`` for a method taken off an object."""

    __slots__ = ("name", "receiver")

    def __init__(self, name: str, receiver: Value | None = None) -> None:
        self.name = name
        self.receiver = receiver


class Setting(Ref):
    """A setting of a config that is handed to a function, and how the program spells it there."""

    __slots__ = ("spelled",)

    def __init__(self, name: str, receiver: Value | None, spelled: str) -> None:
        super().__init__(name, receiver)
        self.spelled = spelled


class Obj:
    """The result of a call outside the program: its dotted type and the event that made it.

    ``sources`` are the other events that its numbers come from (the right side of a sum).
    """

    __slots__ = ("attrs", "event", "order", "origins", "sources", "tick", "type")

    def __init__(
        self, type_: str, event: Event | None, origins: frozenset[str] = NO_ORIGINS, order: str = "",
        sources: tuple[Event, ...] = (),
    ) -> None:  # fmt: skip
        self.type = type_
        self.event = event
        self.origins = origins
        self.order = order
        self.sources = sources
        self.attrs: dict[str, Value] = {}
        self.tick = born()


class Joined(Obj):
    """A path with more joined to it: ``folder / name``; ``parts`` is what follows the path that was made."""

    __slots__ = ("parts",)

    def __init__(
        self, path: Obj, parts: tuple[Value, ...], origins: frozenset[str], sources: tuple[Event, ...]
    ) -> None:  # fmt: skip
        super().__init__(path.type, path.event, origins, path.order, sources)
        self.parts = parts


STATE = "@state"
"""The attribute of an object whose calls change it, such as a parser of arguments: one made alike is another one."""
OPERANDS = "@operands"
"""The attribute under which what an operator makes of tensors keeps the other operands."""


class FlagValue:
    """The value of a command-line flag that the user has not fixed."""

    __slots__ = ("flag",)

    def __init__(self, flag: Flag) -> None:
        self.flag = flag


class CondValue:
    """The truth value of a condition."""

    __slots__ = ("cond",)

    def __init__(self, cond: Cond) -> None:
        self.cond = cond


class Func:
    """A function of the program: its facts, the frame it closes over, its evaluated defaults and decorators."""

    __slots__ = ("closure", "decorators", "defaults", "node", "owner", "setter")

    def __init__(
        self, node: f.Def | f.Lambda, closure: Frame, defaults: dict[str, Value], decorators: tuple[Value, ...] = (),
        owner: Class | None = None,
    ) -> None:  # fmt: skip
        self.node = node
        self.closure = closure
        self.defaults = defaults
        self.decorators = decorators
        self.owner = owner
        self.setter: Func | None = None
        """Of a property what runs where it is assigned to: ``@name.setter``."""

    @property
    def tick(self) -> int:
        """The number of the frame that it was defined in: it belongs to the same module."""
        return self.closure.tick

    @property
    def name(self) -> str:
        """The name it was defined with."""
        return self.node.name if isinstance(self.node, f.Def) else "<lambda>"


class Bound:
    """A function with its first argument."""

    __slots__ = ("func", "receiver")

    def __init__(self, func: Func, receiver: Value) -> None:
        self.func = func
        self.receiver = receiver


class Partial:
    """``functools.partial`` of a value."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs


class Class:
    """A class of the program; ``bases`` are values, ``frame`` holds its attributes."""

    __slots__ = ("_line", "bases", "decorators", "frame", "node", "setters")

    def __init__(self, node: f.Class, bases: tuple[Value, ...], frame: Frame) -> None:
        self.node = node
        self.bases = bases
        self.frame = frame
        self.decorators: tuple[Value, ...] = ()
        self._line = _line(self)
        self.setters: dict[str, Func] = {}
        """What runs where a property of its objects is assigned to."""

    @property
    def dotted(self) -> str:
        """The name by which others find it."""
        return f"{self.frame.module.name}.{self.node.name}"

    def line(self) -> tuple[Class, ...]:
        """The class and those of the program that it is derived of, in the order in which Python looks for a name."""
        return self._line

    def external(self) -> tuple[str, ...]:
        """Dotted names of the bases outside the program."""
        return tuple(b.name for c in self.line() for b in c.bases if isinstance(b, Ref))


def _line(cls: Class) -> tuple[Class, ...]:
    """The order of a class and of those of the program above it (C3); where there is none, depth first."""
    above = [base.line() for base in cls.bases if isinstance(base, Class)]
    found = merged([*above, tuple(line[0] for line in above)]) if len(above) > 1 else list(*above)
    return (cls, *(dict.fromkeys(one for line in above for one in line) if found is None else found))


class Inst:
    """An instance of a class of the program."""

    __slots__ = ("attrs", "born", "cls", "like", "made", "open", "tick")

    def __init__(self, cls: Class, path: tuple[Cond, ...]) -> None:
        self.cls = cls
        self.attrs: dict[str, Value] = {}
        self.born = path
        self.tick = born()
        self.like = self.tick
        """The same for objects that were made alike and not changed since."""
        self.made = False
        """Its constructor has run to its end."""
        self.open = False
        """It may have more attributes than are known: set by a name that is only known at run time."""


STAR = "*"
"""The name under which a module keeps the package whose names it took by a star; unknown where that is not told."""


class Module:
    """A module of the program (or a namespace package, whose frame stays empty)."""

    __slots__ = ("done", "fails", "frame", "name", "path")

    def __init__(self, name: str, path: str, frame: Frame | None) -> None:
        self.name = name
        self.path = path
        self.frame = frame
        self.done = False
        """Whether it has run to its end."""
        self.fails = False
        """Whether importing it raises ``ImportError``."""


class Seq:
    """A tuple, list, set or iterator; where its length is unknown, ``items`` is None and ``element`` stands for all."""

    __slots__ = ("born", "element", "items", "kind", "order", "sources", "tick")
    born: object
    """The loop in no promised order whose turn made it: what that turn adds is in no order of that loop."""

    def __init__(
        self,
        kind: str,
        items: list[Value] | None,
        element: Value | None = None,
        order: str = "",
        sources: tuple[Event, ...] = (),
    ) -> None:
        self.born = None
        self.tick = born()
        self.kind = kind
        self.items = items
        self.element = element
        self.order = order
        self.sources = sources


class Members(Seq):
    """What a dict holds, or what was sorted: it has an order of its own, whatever lists are among its items."""

    __slots__ = ()


class Dict:
    """A dict; ``open`` when it may hold more than is known; ``order`` is that in which its keys come out.

    Where no key is known, ``element`` stands for what all of them are bound to.
    """

    __slots__ = ("element", "items", "open", "order", "sources", "tick")

    def __init__(
        self, items: dict[Any, Value], open_: bool = False, order: str = "", sources: tuple[Event, ...] = (),
        element: Value | None = None,
    ) -> None:  # fmt: skip
        self.element = element
        self.items = items
        self.tick = born()
        self.open = open_
        self.order = order
        self.sources = sources


class Record(Dict):
    """A dict of a class of the program whose items are its attributes, too (``EasyDict``, ``AttrDict``)."""

    __slots__ = ("cls",)

    def __init__(self, cls: Class) -> None:
        super().__init__({})
        self.cls = cls


class Super:
    """``super()`` inside a method."""

    __slots__ = ("cls", "receiver")

    def __init__(self, cls: Class, receiver: Value) -> None:
        self.cls = cls
        self.receiver = receiver


class Phi:
    """One of several values, each under its conditions; the alternatives exclude each other."""

    __slots__ = ("alternatives", "asked", "left")

    def __init__(self, alternatives: tuple[tuple[Cond, Value], ...]) -> None:
        self.alternatives = alternatives
        self.asked = 0
        """The number of the path on which it was last asked what is ``left`` of it."""
        self.left: Value | None = None
        """That; None where it is all."""


Value: TypeAlias = (
    Unknown | Const | Ref | Obj | FlagValue | CondValue | Func | Bound | Partial | Class | Inst | Module | Seq | Dict
    | Super | Phi
)  # fmt: skip
UNKNOWN = Unknown()
NONE = Const(None)
ABSENT = Const(None)
"""What stands for an item of a list or dict under the conditions under which it has none; an argument is not given."""
CALLABLE = (Func, Bound, Partial)


def alternatives(value: Value | None) -> tuple[tuple[Cond, Value], ...]:
    """The alternatives of a value; a plain value is its own only one."""
    if value is None:
        return ()
    return value.alternatives if isinstance(value, Phi) else ((True, value),)
