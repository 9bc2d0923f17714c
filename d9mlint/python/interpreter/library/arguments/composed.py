"""The config that Hydra composes and hands to a function: each constant in its files is the default of a setting.

What makes something of a class (``_target_``) is left to what config files name, as are keys that no file has.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import NONE, Const, Func, Obj, Seq, Unknown, Value
from d9mlint.python.interpreter.library import dispatch
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value
from d9mlint.python.source.composing import MISSING, Said, Tree, composed
from d9mlint.python.source.filenames import folder, join

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_MAIN = "hydra.main"
_TARGET = "_target_"
_NODE = "omegaconf.DictConfig"
_FOLDER, _NAME = Argument(0, "config_path"), Argument(1, "config_name")
_SETTINGS = (str, int, float, bool, type(None))
_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")
_MOST = 400
"""Settings in one config."""


def of_main(interp: Interpreter, func: Func, event: Event) -> dict[str, Value]:
    """What ``hydra.main(config_path="conf", config_name="config")`` hands to the function that it decorates.

    The path counts from the folder of the file that says it.
    """
    first = func.node.params[0] if func.node.params else None
    name = event.argument(_NAME)
    if event.name != _MAIN or first is None or not isinstance(name, Const) or not isinstance(name.value, str):
        return {}
    given = event.argument(_FOLDER) or NONE
    path = given.value or "" if isinstance(given, Const) else None
    if not isinstance(path, str) or path.startswith(("/", "pkg:")):
        return {}
    found = composed(interp.project.peek, join(folder(func.closure.module.path), path), name.value)
    return {} if found is None else {first.name: _Filler(interp, found, event).node(found, "")}


class _Filler:
    """Nodes of settings out of what the files say."""

    def __init__(self, interp: Interpreter, whole: Tree, event: Event) -> None:
        self._interp, self._whole, self._event = interp, whole, event
        self._count: Iterator[int] = itertools.count()

    def node(self, tree: Tree, prefix: str) -> Obj:
        made = Obj(_NODE, self._event)
        for name, held in tree.items():
            if isinstance(held, dict):
                if not _makes(held):
                    made.attrs[name] = self.node(held, f"{prefix}{name}.")
            elif next(self._count) < _MOST:
                made.attrs[name] = self._value(held, f"{prefix}{name}")
        return made

    def _value(self, said: Said, dotted: str) -> Value:
        if isinstance(said.value, str) and "${" in said.value:
            found = _REFERENCE.fullmatch(said.value)
            other = _at(self._whole, found[1]) if found is not None else None
            if found is None or other is None or (isinstance(other.value, str) and "${" in other.value):
                return Unknown()
            return self._value(other, found[1])
        if isinstance(said.value, _SETTINGS):
            location: Location = self._event.location
            missing = said.value == MISSING
            default = None if missing else said.value
            return flag_value(self._interp, flag_of(dotted, default, location, missing, f"{dotted} in {said.file}"))
        return Seq("list", None) if isinstance(said.value, list) else Unknown()


def _makes(tree: Tree) -> bool:
    """Whether a part of a config says of which class something is made."""
    named = {key: held.value for key, held in tree.items() if key in dispatch.TARGETS and isinstance(held, Said)}
    return any(isinstance(one, str) and (key == _TARGET or "." in one) for key, one in named.items())


def _at(tree: Tree, dotted: str) -> Said | None:
    """What stands under a dotted name."""
    found: Said | Tree | None = tree
    for name in dotted.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, Said) else None
