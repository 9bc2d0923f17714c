"""What the ``.gin`` files of a project, and texts in its programs, bind to parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from d9mlint.python.source import ginfiles

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_Bound: TypeAlias = dict[str, dict[str, list[Any]]]
_MOST_LEVELS = 8
"""Macros that stand for each other."""


class Bindings:
    """What is bound to what a program has made configurable, by its name."""

    def __init__(self) -> None:
        self._files: _Bound | None = None
        self._told: _Bound = {}

    def tell(self, text: str) -> None:
        """Takes what a text in the program binds, which holds whatever the files say."""
        for one in ginfiles.read(text.encode()):
            self._told.setdefault(_owner(one), {})[one.parameter] = [one.value]

    def look(self, interp: Interpreter) -> None:
        """Takes what the files of the project bind: which of them a run is given is not known."""
        if self._files is None:
            self._files = {}
            for one in _all_bindings(interp):
                if isinstance(one.value, ginfiles.Macro) and one.parameter == one.value.name:
                    continue  # (a file hands on what another one says)
                values = self._files.setdefault(_owner(one), {}).setdefault(one.parameter, [])
                if one.value not in values:
                    values.append(one.value)

    def of(self, owner: str) -> dict[str, list[Any]]:
        """The different values that each parameter of an owner is given; of "" the macros."""
        return {**(self._files or {}).get(owner, {}), **self._told.get(owner, {})}

    def plain(self, value: Any) -> Any:
        """What stands for a macro, where all files say the same; everything else is itself."""
        for _ in range(_MOST_LEVELS):
            found = self.of("").get(value.name, ()) if isinstance(value, ginfiles.Macro) else ()
            if len(found) != 1:
                break
            value = found[0]
        return value


def _owner(one: ginfiles.Binding) -> str:
    return one.owner.rpartition(".")[2]


def _all_bindings(interp: Interpreter) -> Iterator[ginfiles.Binding]:
    for path in interp.knowledge.settings_files:
        if path.endswith(ginfiles.ENDING):
            yield from ginfiles.read(interp.project.peek(path) or b"")
