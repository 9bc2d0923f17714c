"""Methods of texts, and of paths that are put together first and filled in later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from d9mlint.python.domain.choices import MAX_ALTERNATIVES, choose
from d9mlint.python.domain.conditions import either, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.respelling import METHODS, Respelled
from d9mlint.python.domain.taint import filled_in, mixed, taint, text_of
from d9mlint.python.domain.values import UNKNOWN, Const, FlagValue, Obj, Seq, Text, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment, modules

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_PURE_TEXT = frozenset(
    {
        "lower", "upper", "strip", "split", "startswith", "endswith", "replace", "lstrip", "rstrip", "rsplit",
        "partition", "isdigit", "title", "capitalize",
    }
)  # fmt: skip


def _text_method(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = event.name.rpartition(".")[2]
    if isinstance(event.receiver, FlagValue):
        flag = event.receiver.flag
        named = modules.texts_named(interp, flag)
        texts = dict.fromkeys((flag.default, *(named if len(named) < MAX_ALTERNATIVES else ())))
        known = [(flag_test(flag, "==", text), _of_text(event, name, Const(text))) for text in texts]
        other = Respelled(flag, name) if name in METHODS and not event.args else UNKNOWN
        return choose([*known, (negate(either(*(cond for cond, _ in known))), other)])
    return _of_text(event, name, event.receiver)


def _of_text(event: Event, name: str, receiver: Value | None) -> Value:
    if name in _PURE_TEXT and isinstance(receiver, Const) and all(isinstance(a, Const) for a in event.args):
        try:
            found = getattr(receiver.value, name)(*(a.value for a in event.args))  # type: ignore[union-attr]
        except (TypeError, ValueError):
            return UNKNOWN
        return Seq("list", [Const(part) for part in found]) if isinstance(found, (list, tuple)) else Const(found)
    if name == "format" and isinstance(receiver, Const) and isinstance(receiver.value, str):
        return filled_in(receiver.value, "{", [*event.args, *event.kwargs.values()])
    given = environment.first(event)
    if name == "join" and isinstance(receiver, Const) and isinstance(given, Seq) and given.items and not given.order:
        parts = [part for item in given.items for part in (receiver, item)][1:]
        texts = [part.value for part in parts if isinstance(part, Const) and isinstance(part.value, str)]
        return Const("".join(texts)) if len(texts) == len(parts) else text_of(parts)
    return mixed(event.args)


_SIMPLE = re.compile(r"\^?[\w .:/-]*\$?")
"""Patterns without a repetition or a group, which take no time on any text."""


def _substituted(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``re.sub("^np.", "numpy.", name)``, by a simple pattern."""
    texts = [str(value.value) for value in event.args[:2] if _is_text(value)]
    if len(event.args) != 3 or len(texts) != 2 or event.kwargs:
        return None
    pattern, word = texts
    if not _SIMPLE.fullmatch(pattern) or "\\" in word:
        return None
    changed = partial(re.sub, pattern, word)
    return choose(
        [
            (cond, Const(changed(leaf.value)) if _is_text(leaf) else mixed([leaf]))
            for cond, leaf in alternatives(event.args[2])
        ]
    )


# -- templates in paths --------------------------------------------------------------------------------------------

_JOIN = "os.path.join"


def _formatted(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``(folder + "/{}.pt").format(step)``, ``os.path.join(folder, "{}.pt").format(step)``: still a path in there."""
    given = [*event.args, *event.kwargs.values()]
    template = event.receiver
    if isinstance(template, Text):
        return text_of(_filled(template.parts, given), template.path)
    made = template.event if isinstance(template, Obj) else None
    if not isinstance(template, Obj) or made is None or made.name != _JOIN:
        return None
    origins, _, sources = taint([template, *given])
    joined = replace(made, args=tuple(_filled(made.args, given)))
    return Obj(template.type, joined, origins, template.order, sources)


def _filled(parts: Sequence[Value], given: Sequence[Value]) -> list[Value]:
    """The parts of a template with its places filled; where none is seen, the last part may have them."""
    if any(map(_has_places, parts)):
        return [filled_in(part.value, "{", given) if _has_places(part) else part for part in parts]
    return [*parts[:-1], text_of([parts[-1], *given])] if parts else []


def _has_places(part: Value) -> TypeGuard[Const]:
    return _is_text(part) and "{" in part.value


def _is_text(value: Value) -> TypeGuard[Const]:
    return isinstance(value, Const) and isinstance(value.value, str)


def _version(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """The version that a text says."""
    from packaging.version import InvalidVersion, Version

    value = environment.first(event)
    if isinstance(value, Const) and isinstance(value.value, str):
        try:
            return Const(Version(value.value))
        except InvalidVersion:
            return UNKNOWN
    return UNKNOWN


TRANSFER: dict[str, Transfer] = {
    "packaging.version.parse": _version, "packaging.version.Version": _version,
    "distutils.version.LooseVersion": _version, "distutils.version.StrictVersion": _version,
    "pkg_resources.parse_version": _version,
    **{f"builtins.str.{name}": _text_method for name in (*_PURE_TEXT, "join", "format")},
    "re.sub": _substituted, "?.format": _formatted, f"{_JOIN}().format": _formatted,
}  # fmt: skip
