"""Imports of what the project's own package does not have: where that is sure, the program ends there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Dynamic, Module, Ref, Value
from d9mlint.python.source import facts as f
from d9mlint.python.source.filenames import join

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_DYNAMIC = re.compile(
    rb"__getattr__|import \*|(?<![\w.])(?:globals|locals|vars|exec|eval|setattr)\(|sys\.modules|"
    rb"__dict__|__path__|[Ll]azy|pkgutil"
)
"""What gives a module names, or a package modules, that are not written down in it."""
_ELSEWHERE = re.compile(rb"sys\.path|addsitedir|importlib|suppress|sys\.modules")
"""What lets an import find something else, or catches its error."""
_MADE = re.compile(r"_|.*(?:version|pb2|generated|_ext$|_C$|cuda)")
"""Modules that a build makes, by their names."""
_BUILT = (".pyx", ".pyi", ".c", ".cc", ".cpp", ".cu", ".proto", ".py.in")


def stand_in(interp: Interpreter, module: Value) -> Value:
    """What stands for an imported module: calls into one that the project's own package lacks are told."""
    if not isinstance(module, Ref):
        return module
    package, _, inside = module.name.partition(".")
    if not inside or package in interp.hooks.packages or any(map(_MADE.match, inside.split("."))):
        return module
    if not _roots_of(interp, package):
        return module
    return Dynamic(f"the package `{package}` of the program has no module `{inside}` here", name=module.name)


def ends(interp: Interpreter, node: f.ImportFrom, module: Value, name: str, frame: Frame) -> bool:
    """Whether ``from module import name`` surely raises ``ImportError`` (``module``: what was found for it).

    Only where nothing catches it and the project alone decides.
    """
    if node.level or interp.trials or interp.story.truncated or "." not in node.module:
        return False
    if isinstance(module, Module):
        lacks = _has_no(interp, node.module, module, name)
    else:
        lacks = _is_no_module(interp, node.module, _data(interp, frame.module.path))
    return lacks and not any(_ELSEWHERE.search(_data(interp, p)) for p in (frame.module.path, interp.story.entry))


def _roots_of(interp: Interpreter, dotted: str) -> list[str]:
    """The folders that a program starts in below which there is a module or a package."""
    inside = dotted.replace(".", "/")
    return [root for root in interp.roots if interp.project.module_at(join(root, inside)) is not None]


def _data(interp: Interpreter, path: str) -> bytes:
    return interp.project.peek(path) or b""


def _has_no(interp: Interpreter, dotted: str, module: Module, name: str) -> bool:
    """Whether a module that has run to its end nowhere names ``name``."""
    if module.frame is None or not module.done or module.path.endswith("__init__.py"):
        return False
    if name in module.frame.vars or module.path in interp.story.unchecked:
        return False
    data = _data(interp, module.path)
    return len(_roots_of(interp, dotted)) == 1 and name.encode() not in data and not _DYNAMIC.search(data)


def _is_no_module(interp: Interpreter, dotted: str, importer: bytes) -> bool:
    """Whether a package of the project lacks a module, while the importing file takes others from it."""
    package, _, last = dotted.rpartition(".")
    homes = _roots_of(interp, package)
    if len(homes) != 1 or _roots_of(interp, dotted) or _MADE.match(last):
        return False
    base = join(homes[0], package.replace(".", "/"))
    others = re.findall(rb"^\s*from %s\.(\w+) import" % re.escape(package.encode()), importer, re.MULTILINE)
    own = any(interp.project.module_at(f"{base}/{other.decode()}") is not None for other in others)
    beside = [*(f"{base}/{last}{ending}" for ending in _BUILT), join(homes[0], "setup.py")]
    return (
        own
        and interp.project.exists(f"{base}/__init__.py")
        and not any(map(interp.project.exists, beside))
        and not _DYNAMIC.search(_data(interp, f"{base}/__init__.py"))
    )
