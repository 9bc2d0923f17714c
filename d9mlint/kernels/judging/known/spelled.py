"""Types as sources spell them: a name and its pointers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from d9mlint.kernels.judging.known.scalars import element, kind, plain


class Type(NamedTuple):
    """A type: what is at the end of all pointers, and how many there are."""

    name: str
    depth: int = 0

    def pointee(self) -> Type | None:
        """What it points to, or holds when it is indexed."""
        if self.depth:
            return Type(self.name, self.depth - 1)
        inner = element(self.name)
        return spelled(inner) if inner else None


def spelled(text: str) -> Type:
    """A type as it is written: ``const float* const*``."""
    text = text.strip()
    outer = text if "<" not in text else text[text.rfind(">") + 1 :]
    return Type(plain(re.sub(r"[*&\s]+\Z", "", text)), outer.count("*"))


def part(whole: Type | None) -> Type | None:
    """What ``view(_, _, i)`` gives: a part with the same elements, also of a view that was made of a pointer."""
    if whole is None or (not whole.depth and (kind(whole.name) or "<" not in whole.name)):
        return whole
    return whole.pointee()


def depth_of(owner: Type | None) -> int:
    """The pointer levels of a type that may be missing."""
    return owner.depth if owner is not None else 0


def pointer_to(listed: Iterable[str]) -> Type | None:
    """The type of a pointer to the first of the types in a list."""
    first = next(iter(listed), "")
    return Type(spelled(first).name, 1) if first else None


class ClassName(NamedTuple):
    """The class that a type names, and those that it is a part of, where one of them is a template."""

    name: str
    around: tuple[str, ...] = ()


def class_named(text: str) -> ClassName:
    """``view_t`` in ``fj_t`` and ``part_t`` of ``fj_t<i_t, f_t>::part_t::view_t``; ``vec`` of ``math::vec<T>``."""
    opening = text.find("<")
    if opening < 0:
        return ClassName(text.rpartition("::")[2].strip())
    outer = text[:opening].rpartition("::")[2].strip()
    inner = [part.partition("<")[0].strip() for part in _after_arguments(text, opening).split("::")[1:]]
    inner = [part.removeprefix("template ").strip() for part in inner]
    return ClassName(inner[-1], (outer, *inner[:-1])) if inner else ClassName(outer)


def _after_arguments(text: str, opening: int) -> str:
    depth = 0
    for at in range(opening, len(text)):
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        if not depth:
            return text[at + 1 :]
    return ""
