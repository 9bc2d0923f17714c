"""Colours that are drawn for what a program paints: ``class_to_color = {c: np.random.rand(3) for c in classes}``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import plain_names

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_COLOURS = re.compile(r"(\w*_)?(colou?rs?|palette)(_(bar|list|map|mask|table|idx|index))?|colou?r_?map", re.IGNORECASE)
_BEHIND = re.compile(r"(^|_)(bg|back|background)", re.IGNORECASE)
"""In names of colours that networks are trained with."""
_PLAIN = ("random.", "numpy.random.")


def assigned(interp: Interpreter, targets: tuple[f.Expr, ...], start: int) -> None:
    """Marks what was drawn from event ``start`` on where names get it that say it is a colour."""
    names = [name for target in targets for name in _names(target)]
    if not names or not all(name and _COLOURS.fullmatch(name) and not _BEHIND.search(name) for name in names):
        return
    for event in interp.story.events[start:]:
        if event.kind == "call" and event.name.startswith(_PLAIN) and any(effect.draws for effect in event.effects):
            interp.heap.mark(event, colours=True)


def _names(target: f.Expr) -> list[str | None]:
    """The names that a target gives a value; of an attribute or an item that of what holds it."""
    if isinstance(target, f.Attr):
        return [target.name]
    return _names(target.value) if isinstance(target, f.Sub) else list(plain_names(target))
