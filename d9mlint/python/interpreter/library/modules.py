"""Modules whose names or paths are put together at run time: ``import_module("models." + args.model)``.

Each module of the program that the name fits is followed under the condition that its part of the name is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.choices import MAX_THINGS, choose
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Cond, Flag, by_default, either, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.reflected import AnyModule
from d9mlint.python.domain.respelling import respelled
from d9mlint.python.domain.tellable import ONE_OF_FILES
from d9mlint.python.domain.values import (
    ABSENT,
    ClassName,
    Const,
    Dynamic,
    FlagValue,
    Module,
    Obj,
    Ref,
    Text,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, linking
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import configured, dispatch, environment, members
from d9mlint.python.interpreter.library.covering import covering
from d9mlint.python.source import facts as f
from d9mlint.python.source.filenames import above, join, module_name

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_NAMED, _HOLE = "named", "\0"
_MAX_NAMES, _MOST_ASKED = 64, 512
_MOST_ELSEWHERE = 4
_SCRIPT = re.compile(rb"__main__|^(?!def )(?:[\w, ]+=\s*)?[\w.() ]*\bparse_(?:known_)?args\(", re.MULTILINE)
"""In a script: the guard of one, or what reads the command line as soon as the file is run."""
_PACKAGE = "__init__"
_SPEC, _LOCATION = "importlib.util.spec_from_file_location", Argument(1, "location")
_FILE = re.compile(r"[\w./]+\.py").fullmatch
_SOME_MODULE = "the module"
_ANY = "any-module"


# -- names of modules ----------------------------------------------------------------------------------------------


def _import_module(interp: Interpreter, event: Event, frame: Frame) -> Value:
    names = alternatives(environment.first(event))
    return choose([(c, interp.under(c, partial(_load, interp, event, name, frame)) or ABSENT) for c, name in names])


def _load(interp: Interpreter, event: Event, name: Value, frame: Frame) -> Value:
    if isinstance(name, Const) and isinstance(name.value, str):
        return _imported(interp, event, name.value, frame)
    if isinstance(name, FlagValue):
        known = name.flag.choices or (name.flag.default,)
        names = {text: text for text in known if isinstance(text, str) and text != UNKNOWN_DEFAULT}
        return _one_of(interp, event, name, names, frame, open_=True)
    if isinstance(name, Text) and (hole := members.hole_of(name)) is not None:
        fitting = _by_value(interp, event, name, hole, frame)
        return _one_of(interp, event, hole, fitting, frame) if fitting else _any(event, _flag(hole, event), hole)
    if isinstance(name, Text) and (names := {dotted: dotted for _, dotted in _fitting(interp, event, name, frame)}):
        return _one_of(interp, event, name, names, frame)  # it has several holes
    if isinstance(name, ClassName):
        return Dynamic(dispatch.BY_MODULE, name=name.name)
    return _any(event, _flag(name, event), name)


def _of_spec(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``module_from_spec(spec)``, where ``spec_from_file_location("config", path)`` has made the spec."""
    spec = environment.first(event)
    made = spec.event if isinstance(spec, Obj) else None
    return _at_path(interp, made, event, frame) if made is not None and made.name == _SPEC else None


def _of_loader(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``SourceFileLoader("config", path).load_module()``."""
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    return None if made is None else _at_path(interp, made, event, frame)


def _of_source(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``imp.load_source("config", path)``."""
    return _at_path(interp, event, event, frame)


def _at_path(interp: Interpreter, made: Event, event: Event, frame: Frame) -> Value | None:
    """The module that a file is, by the path that a call is handed: one of the program, which a flag may name."""
    path = made.argument(_LOCATION)
    if isinstance(path, Const):
        dotted = _dotted(path.value)
        return _imported(interp, event, dotted, frame) if dotted else None
    if path is None:
        return None
    flag = path.flag if isinstance(path, FlagValue) else _flag(path, event)
    dotted, usual = _dotted(flag.default), flag_test(flag, "==", flag.default)
    own = interp.under(usual, partial(_imported, interp, event, dotted, frame)) if dotted else None
    others = _any(event, flag, path, by_path=True)
    return others if own is None else choose([(usual, own), (negate(usual), others)])


def _dotted(path: object) -> str:
    """The name of the module at a path; empty where it is none."""
    return module_name(path) if isinstance(path, str) and _FILE(path) else ""


def _find_spec(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``importlib.util.find_spec("models." + args.model)``: None where the program has no module of the name."""
    name = environment.first(event)
    hole = members.hole_of(name) if isinstance(name, Text) else None
    flag = _asked(hole) if hole is not None else None
    if not isinstance(name, Text) or hole is None or flag is None:
        return None
    there = either(*(flag_test(flag, "==", value) for value in _by_value(interp, event, name, hole, frame)))
    return choose([(there, Obj("importlib.machinery.ModuleSpec", event)), (negate(there), Const(None))])


def _asked(hole: Value) -> Flag | None:
    """The flag that gives what fills the hole in the name of a module."""
    made = respelled(hole)
    return hole.flag if isinstance(hole, FlagValue) else made.flag if made is not None else None


def _by_value(interp: Interpreter, event: Event, name: Text, hole: Value, frame: Frame) -> dict[str, str]:
    """The modules that a name with a hole fits, by what gives their names.

    Of a flag in another spelling it is most likely what the module defines: ``nets.resnet`` has ``ResNet``.
    """
    fitting = dict(_fitting(interp, event, name, frame))
    made = respelled(hole)
    if made is None:
        return fitting
    return {made.value_for(text, _defined(interp, dotted, frame)): dotted for text, dotted in fitting.items()}


def _defined(interp: Interpreter, dotted: str, frame: Frame) -> list[str]:
    """The names of the classes and functions that a module of the program defines."""
    path = linking.path_of(interp, dotted, frame)
    return configured.defined_in(interp, path) if path is not None else []


def _flag(name: Value, event: Event, known: Sequence[str] = ()) -> Flag:
    """What a condition on a name that is not known asks for; by default it is that which flags are left at."""
    spelled = dispatch.told(dispatch.called(name)) or _SOME_MODULE
    default = _left(name) if isinstance(name, Text) else ""
    if default not in known:
        return Flag(spelled, spelled, UNKNOWN_DEFAULT, "value", event.location, True, tuple(known))
    return Flag(spelled, spelled, default, "value", event.location, False, tuple(known))


def _left(name: Text) -> str:
    """A name all of whose parts are known where no flag is given; else empty."""
    found: list[str] = []
    for part in name.parts:
        leaf = next((leaf for cond, leaf in alternatives(part) if by_default(cond) is True), None)
        text = leaf.flag.default if isinstance(leaf, FlagValue) else leaf.value if isinstance(leaf, Const) else None
        if not isinstance(text, str) or text == UNKNOWN_DEFAULT:
            return ""
        found.append(text)
    return "".join(found)


def _any(event: Event, flag: Flag, given: Value, *, by_path: bool = False) -> Value:
    """A module of the program under a name, or at a path, that is not known (``given``)."""
    return AnyModule(dispatch.BY_MODULE, partial(_held_by_any, event, flag, given, by_path))


def _held_by_any(
    event: Event, flag: Flag, given: Value, by_path: bool, interp: Interpreter, name: str, frame: Frame,
    place: f.Place,
) -> Value | None:  # fmt: skip
    """What the modules of the program hold under a name, each under the condition that it is imported.

    Those that config files name, where they do. Else only modules that stand where the import looks for them and that
    define the name by themselves; no scripts.
    """
    named = configured.modules_with(interp, given, name, frame)
    holders = named or _holders(interp, flag, name) or _elsewhere(interp, name, frame)
    if not 0 < len(holders) <= MAX_THINGS:
        return None
    if len(named) == 1:  # all config files have the same one (which needs no condition)
        only = _imported(interp, event, named[0], frame)
        return attributes.attribute(interp, only, name, frame, place) if isinstance(only, Module) else None
    found: list[tuple[Cond, Value]] = []
    for dotted in holders:
        cond = flag_test(flag, "==", linking.path_of(interp, dotted, frame) or dotted if by_path else dotted)
        module = interp.under(cond, partial(_imported, interp, event, dotted, frame))
        if isinstance(module, Module):
            found.append((cond, attributes.attribute(interp, module, name, frame, place)))
    other = (negate(either(*(cond for cond, _ in found))), Dynamic(dispatch.BY_MODULE))
    return Dynamic(dispatch.BY_MODULE, options=(*found, other)) if found else None


def _holders(interp: Interpreter, flag: Flag, name: str) -> list[str]:
    """The modules that define a name: those of which others were found that this one has too, else those nearest."""
    package = flag.default.rpartition(".")[0] if isinstance(flag.default, str) else ""  # (others stand beside it)
    inside, before = package.replace(".", "/"), f"{package}." if package else ""
    folders = [join(root, inside) if inside else root for root in interp.roots]
    known: list[str] = interp.noted((_ANY, flag)) or []
    near = [f"{before}{one}" for folder in folders for one in _defining(interp, folder, name)]
    if near and not set(known).difference(near):
        found = near
    else:
        far = [f"{before}{one}" for folder in folders for one in _defining_inside(interp, folder, name)]
        found = [one for one in (*near, *far) if one in known] or near or far
    found = list(dict.fromkeys(found))
    interp.note((_ANY, flag), found)
    return found


def _elsewhere(interp: Interpreter, name: str, frame: Frame) -> list[str]:
    """Modules in folders where no import looks, for the file that a user names (``-f exps/yolox_s.py``): a few of them.

    Each of them is run with all of the program: those that name different ops and draws are.
    """
    found: list[str] = []
    left, asked = interp.project.names_in(""), 0
    while left and asked < _MOST_ASKED:
        package, *left = left
        folder = package.replace(".", "/")
        names = interp.project.names_in(folder)
        found += [f"{package}.{one}" for one in _defining(interp, folder, name)]
        left += [f"{package}.{one}" for one in names[:_MAX_NAMES] if one.isidentifier()]
        asked += 1
    return covering(interp, found, lambda one: linking.path_of(interp, one, frame), _MOST_ELSEWHERE)


def _defining(interp: Interpreter, folder: str, name: str) -> Iterator[str]:
    """The modules in a folder that define a function or class."""
    defines = re.compile(rb"^(?:def|class)\s+" + re.escape(name.encode()) + rb"\b", re.MULTILINE)
    for one in interp.project.names_in(folder)[:_MAX_NAMES]:
        path = interp.project.module_at(join(folder, one)) if one.isidentifier() and one != _PACKAGE else None
        data = interp.project.peek(path) if path is not None else None
        if data is not None and defines.search(data) and not _SCRIPT.search(data):
            yield one


def _defining_inside(interp: Interpreter, folder: str, name: str) -> Iterator[str]:
    """The modules in the packages of a folder that define a function or class."""
    for package in interp.project.names_in(folder)[:_MAX_NAMES]:
        inside = join(folder, package)
        if package.isidentifier() and interp.project.exists(f"{inside}/__init__.py"):
            yield from (f"{package}.{one}" for one in _defining(interp, inside, name))


def _imported(interp: Interpreter, event: Event, name: str, frame: Frame) -> Value:
    """What ``import_module`` gives for one name."""
    level, dotted = _absolute(event, name)
    found = linking.import_module(interp, dotted, level, frame, environment.place_of(event))
    if interp.trials and not level and isinstance(found, Ref) and _is_own(interp, dotted.partition(".")[0], frame):
        interp.stopped = True  # the handler goes on without it, as with a shorter name
    return found


def _is_own(interp: Interpreter, name: str, frame: Frame) -> bool:
    """Whether a module or package of the program has a name."""
    if name in interp.hooks.packages:
        return False
    return interp.project.base_of(name, interp.roots, frame.module.path) is not None


def _absolute(event: Event, name: str) -> tuple[int, str]:
    """How many dots a name begins with, and the rest; none where its package is given."""
    plain = name.lstrip(".")
    level = len(name) - len(plain)
    package = event.args[1] if len(event.args) > 1 else event.kwargs.get("package")
    if level == 1 and isinstance(package, Const) and isinstance(package.value, str):
        return 0, f"{package.value}.{plain}"
    return level, plain


def _one_of(
    interp: Interpreter, event: Event, hole: Value, names: dict[str, str], frame: Frame, *, open_: bool = False
) -> Value:  # fmt: skip
    """One of several modules, by the text that fills the hole in its name."""
    flag = _asked(hole)
    if flag is not None:
        names = {text: dotted for text, dotted in names.items() if not flag.choices or text in flag.choices}
        if not open_:
            interp.note((_NAMED, flag.name), tuple(names))
    else:
        flag = _flag(hole, event, tuple(names))
        if event.func is None and flag.spelled == _SOME_MODULE and flag.required:  # one after the other, all of them
            flag = flag._replace(name=ONE_OF_FILES, spelled=ONE_OF_FILES)
    if not names:
        return Dynamic(dispatch.BY_MODULE)
    many = len(names) > MAX_THINGS
    likely = {text: many and _is_named(interp, dotted, frame) for text, dotted in names.items()}
    ranked = sorted(names.items(), key=lambda one: (one[0] != flag.default, not likely[one[0]]))
    told = min(sum(text == flag.default or likely[text] for text in names), MAX_THINGS)
    others = covering(interp, ranked[told:], lambda one: linking.path_of(interp, one[1], frame), MAX_THINGS - told)
    first = [*ranked[:told], *others]
    options: list[tuple[Cond, Value]] = []
    for text, dotted in first:
        cond = flag_test(flag, "==", text)
        module = interp.under(cond, partial(_imported, interp, event, dotted, frame))
        if module is not None:
            options.append((cond, module))
    no_other = negate(either(*(cond for cond, _ in options)))
    if open_:
        options.append((no_other, _any(event, flag, hole)))
    elif len(first) < len(names):
        options.append((no_other, Dynamic(dispatch.BY_MODULE)))
    else:
        interp.stopped = either(interp.stopped, no_other)  # it raises ModuleNotFoundError
    return choose(options)


def _is_named(interp: Interpreter, dotted: str, frame: Frame) -> bool:
    """Whether config files name a class that a module of the program defines."""
    path = linking.path_of(interp, dotted, frame)
    return path is not None and configured.defines_any(interp, path)


def texts_named(interp: Interpreter, flag: Flag) -> tuple[str, ...]:
    """The values of a flag by which the program has modules."""
    return interp.noted((_NAMED, flag.name)) or ()


def _fitting(interp: Interpreter, event: Event, name: Text, frame: Frame) -> Iterator[tuple[str, str]]:
    """The texts that fill the (first) hole in a name, each with the name of the module that there is.

    What a package imports by itself, one by one, are the files beside it, and no packages.
    """
    written = "".join(str(part.value) if isinstance(part, Const) else _HOLE for part in name.parts)
    level, dotted = _absolute(event, written)
    segments = dotted.split(".")
    if dotted == _HOLE or not all(segment.replace(_HOLE, "x").isidentifier() for segment in segments):
        return
    hole = members.hole_of(name)
    files = event.func is None and _asked(hole or name) is None
    again = r"\1" if hole is not None else r"\w+"
    pattern = re.compile(re.escape(dotted).replace(_HOLE, r"(\w+)", 1).replace(_HOLE, again))
    for root in (above(frame.module.path, level),) if level else interp.roots:
        fitting = (pattern.fullmatch(one) for one in _modules(interp, root, segments, files))
        found = [(fits[pattern.groups], fits[0]) for fits in fitting if fits]  # (all of a name without a hole)
        yield from ((text, "." * level + one) for text, one in found)
        if found:
            return


def _modules(interp: Interpreter, folder: str, segments: Sequence[str], files: bool) -> Iterator[str]:
    """The dotted names of modules of the program at a path whose segments may have holes; ``files``: no packages."""
    names = [segments[0]]
    if _HOLE in names[0]:
        fits = re.compile(re.escape(names[0]).replace(_HOLE, r"\w+"))
        found = (one for one in interp.project.names_in(folder) if fits.fullmatch(one) and one != _PACKAGE)
        names = [*islice(found, _MAX_NAMES)]
    for name in names:
        base = join(folder, name)
        if len(segments) > 1:
            yield from (f"{name}.{rest}" for rest in _modules(interp, base, segments[1:], files))
        elif (path := interp.project.module_at(base)) is not None and not (files and path.endswith(f"/{_PACKAGE}.py")):
            yield name


TRANSFER: dict[str, Transfer] = {
    "importlib.import_module": _import_module, "builtins.__import__": _import_module,
    "importlib.util.find_spec": _find_spec, "importlib.util.module_from_spec": _of_spec,
    "importlib.machinery.SourceFileLoader().load_module": _of_loader, "imp.load_source": _of_source,
}  # fmt: skip
