"""What a program sees of itself: the names of a function, the attributes of an object, the parameters of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from d9mlint.python.domain.values import Dict, Dynamic, Inst, Seq, Value


class Names(Dict):
    """``locals()``: what the names of a function stand for when it asks; ``sure`` are those that are surely bound."""

    __slots__ = ("sure",)

    def __init__(self, names: dict[str, Value], sure: frozenset[str], open_: bool) -> None:
        super().__init__(dict(names), open_)
        self.sure = sure


class Attributes(Dict):
    """``vars(holder)``: the attributes of an object of the program, the very same. Who changes them sets attributes."""

    __slots__ = ("holder",)

    def __init__(self, holder: Inst) -> None:
        super().__init__(holder.attrs, holder.open)
        self.holder = holder


class Fields(Seq):
    """A named tuple of the standard library."""

    __slots__ = ("names",)

    def __init__(self, fields: Mapping[str, Value]) -> None:
        super().__init__("tuple", list(fields.values()))
        self.names: Sequence[str] = tuple(fields)


class AnyModule(Dynamic):
    """One of the modules of the program, imported by a name that is not known."""

    __slots__ = ("member",)

    def __init__(self, reason: str, member: Callable[..., Value | None]) -> None:
        super().__init__(reason)
        self.member = member
        """What they hold under a name, to an interpreter, in a frame and at a place; None where none does."""
