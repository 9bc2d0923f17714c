"""What config files beside a program name: the classes that its objects are made of, by dotted names or plain ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.tellable import name_of_setting
from d9mlint.python.domain.values import STAR, UNKNOWN, Class, Func, Module, Ref, Setting, Unknown, Value
from d9mlint.python.interpreter import attributes, linking
from d9mlint.python.interpreter.library import dispatch, members
from d9mlint.python.source import facts as f
from d9mlint.python.source.filenames import join

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_BY_CONFIG = "its class is named in a config file"
_DEFINED = re.compile(rb"^(?:class|def)\s+(\w+)", re.MULTILINE)
_NAMED = "named-files"


def named_in_configs(interp: Interpreter, config: Value | None, frame: Frame, place: f.Place) -> Value | None:
    """What of the program an object may be made of whose class stands in a config file; None where none does.

    ``config`` is the part of the configuration: ``cfg.model`` is what stands there under the key ``model``. Where all
    files name one and the same class of a library that is known, it is that one.
    """
    key = config.key if isinstance(config, Unknown) else ""
    if not key and isinstance(config, (Ref, Unknown)):
        key = (name_of_setting(config.name) or config.name).rpartition(".")[2]
    found: dict[str, Value] = {}
    others: dict[str, Value] = {}
    for dotted in interp.knowledge.named_in_configs(key):
        value = by_dotted_name(interp, dotted, frame, place)
        if isinstance(value, (Class, Func)):
            found[dotted] = value
        elif isinstance(value, Ref) and value.name.partition(".")[0] in interp.hooks.packages:
            others[interp.knowledge.canonical(value.name)] = value
    if not found:
        return next(iter(others.values())) if key and len(others) == 1 else None
    at = Location(frame.module.path, *place)
    spelled = f"the config's `{key}`" if key else "what the config names"
    return dispatch.chosen(found, UNKNOWN, spelled, _BY_CONFIG, at)


def in_named_files(interp: Interpreter, name: Value, at: Location) -> Value | None:
    """What the config files name, under the key of ``name``, in the Python files that they name; None for nothing.

    ``fn: nets/small.py`` beside ``name: Small``, where the program imports the one and takes the other out of it.
    """
    if not interp.knowledge.files_in_configs:
        return None
    known: dict[str, str] | None = interp.noted(_NAMED)
    if known is None:
        known = _named_files(interp)
        interp.note(_NAMED, known)
    wanted = interp.knowledge.classes_under(name.key if isinstance(name, Unknown) else "")
    found: dict[str, Value] = {}
    for path, dotted in known.items():
        module = linking.import_once(interp, dotted, path)
        inside = members.functions(module).items()
        found.update((f"{dotted}.{member}", value) for member, value in inside if member in wanted)
    return dispatch.chosen(found, UNKNOWN, "", _BY_CONFIG, at) if found else None


def of_library(interp: Interpreter, holder: Value, name: Value) -> dict[str, Value]:
    """What config files name, under the key of ``name``, of what the catalogue knows in a module of a library.

    So of a module of the program that has taken over all names of one: ``from monai.networks.nets import *``.
    """
    module = holder.frame.vars.get(STAR) if isinstance(holder, Module) and holder.frame is not None else holder
    if not isinstance(module, Ref) or not isinstance(name, Unknown) or not name.key:
        return {}
    known = (
        one
        for one in sorted(interp.knowledge.classes_under(name.key))
        if interp.knowledge.knows(f"{module.name}.{one}")
    )
    return {one: Ref(f"{module.name}.{one}", module) for one in known}


def modules_with(interp: Interpreter, name: Value, member: str, frame: Frame) -> list[str]:
    """The modules of the program that config files name where it takes ``name`` from, and that define a member."""
    found: list[str] = []
    for dotted in interp.knowledge.modules_under(_key_of(name)):
        path = linking.path_of(interp, dotted, frame)
        if path is not None and member in defined_in(interp, path):
            found.append(dotted)
    return found


def _key_of(name: Value) -> str:
    """The key that a setting stands under in its file, and the one above it: ``trainer.type``."""
    spelled = name.spelled if isinstance(name, Setting) else name.name if isinstance(name, (Ref, Unknown)) else ""
    return ".".join((name_of_setting(spelled) or spelled).split(".")[-2:])


def _named_files(interp: Interpreter) -> dict[str, str]:
    """The files below a folder that the program starts in which config files name, if a class in them, too."""
    found: dict[str, str] = {}
    for name in interp.knowledge.files_in_configs:
        for root in interp.roots:
            path = join(root, name.removeprefix("./"))
            if defines_any(interp, path):
                found[path] = name.removeprefix("./").removesuffix(".py").replace("/", ".")
                break
    return found


def defines_any(interp: Interpreter, path: str) -> bool:
    """Whether a file defines a class that config files name."""
    wanted = interp.knowledge.classes_in_configs
    return bool(wanted) and not wanted.isdisjoint(defined_in(interp, path))


def defined_in(interp: Interpreter, path: str) -> list[str]:
    """The names of the classes and functions that a file defines, in order."""
    data = interp.project.peek(path) or b""
    return [name.decode() for name in _DEFINED.findall(data)]  # (in bytes, these are letters of ASCII)


def by_dotted_name(interp: Interpreter, dotted: str, frame: Frame, place: f.Place) -> Value:
    """What a dotted name stands for: a member of a module of the program, or of a library."""
    module, _, last = dotted.rpartition(".")
    if not module:
        return UNKNOWN
    holder = linking.import_module(interp, module, 0, frame, place, quiet=True)
    return attributes.attribute(interp, holder, last, frame, place)
