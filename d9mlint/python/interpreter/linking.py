"""Imports: from a dotted name to a module of the program, or to something outside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import EnvironmentVariable, Target
from d9mlint.python.domain.conditions import LAUNCHER, Cond, either, flag_test, negate
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.values import STAR, UNKNOWN, Const, Dynamic, Module, Ref, Seq, Unknown, Value
from d9mlint.python.interpreter import lazymodules, missing, scopes
from d9mlint.python.interpreter.reuse.summaries import Summaries
from d9mlint.python.source import facts as f
from d9mlint.python.source.filenames import above, join
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def load_entry(interp: Interpreter, path: str) -> Module:
    """Runs the entry file as ``__main__``; where it cannot be read, the story says why."""
    module = Module("__main__", path, None)
    _run(interp, module)
    return module


def launch(interp: Interpreter, target: Target) -> None:
    """What stands in the environment before Python starts; what only some launchers set is set under a condition."""
    interp.contexts.append("launch")
    for variable in target.environment:
        interp.under(_started_by(variable, target), partial(_set, interp, variable))
    interp.contexts.pop()


def _set(interp: Interpreter, variable: EnvironmentVariable) -> None:
    at = variable.location
    frame = Frame(Module("environment", at.path, None), None, Path())
    value = Unknown(name=f"${variable.name}") if variable.value is None else Const(variable.value)
    interp.set_environment(
        Const(variable.name), value, frame, (at.line, at.column, at.end_line, at.end_column)
    )  # fmt: skip


def _started_by(variable: EnvironmentVariable, target: Target) -> Cond:
    """The condition that the program is started by one of those that set a variable so."""
    if not variable.launchers:
        return True
    others = [one for one in target.launchers if one not in variable.launchers]
    chosen = variable.launchers if len(variable.launchers) <= len(others) else others
    cond = either(*(flag_test(LAUNCHER, "==", one) for one in chosen))
    return cond if chosen == variable.launchers else negate(cond)


def import_module(
    interp: Interpreter, dotted: str, level: int, frame: Frame, place: f.Place, *, quiet: bool = False
) -> Value:
    """The value of ``import dotted`` (``from ..dotted import`` at level 2); runs its modules at their first import."""
    if level:
        start = above(frame.module.path, level)
        inside = _project_module(interp, dotted, (start,), frame, place)
        return inside or Unknown(name=f".{join(_dotted(interp, start), dotted).replace('/', '.')}")
    # In a checkout of such a library, its examples meet the library that the catalogue describes, not its sources.
    described = dotted.partition(".")[0] in interp.hooks.packages
    found = None if described else _project_module(interp, dotted, interp.roots, frame, place)
    if found is not None:
        return found
    if not quiet:
        interp.event("import", dotted, frame, place)
    return Ref(dotted)


def path_of(interp: Interpreter, dotted: str, frame: Frame) -> str | None:
    """The file of a module of the program, which may be named by dots that lead up; imports nothing."""
    inside = dotted.lstrip(".")
    level = len(dotted) - len(inside)
    roots = (above(frame.module.path, level),) if level else interp.roots
    base = interp.project.base_of(inside, roots, frame.module.path)
    return interp.project.module_at(base) if base is not None else None


def _project_module(
    interp: Interpreter, dotted: str, roots: tuple[str, ...], frame: Frame, place: f.Place
) -> Module | None:
    """The module, its parent packages imported first; None when no root has it."""
    parts = dotted.split(".") if dotted else []
    if not parts:
        package = join(roots[0], "__init__.py")
        name = _dotted(interp, roots[0])
        return (
            import_once(interp, name, package)
            if interp.project.exists(package)
            else Module(name, join(roots[0], ""), None)
        )
    found = interp.project.base_of(dotted, roots, frame.module.path)
    if roots is interp.roots:
        interp.linker.led(frame.module.path, dotted, found)
    if found is None:
        # A folder without __init__ is known once one of its modules was imported.
        return interp.linker.known_folder(join(root, "/".join(parts)) for root in roots)
    inside = "/".join(parts[1:])
    first = found[: len(found) - len(inside)].rstrip("/")  # not called like its name where it is the checkout itself
    module: Module | None = None
    for count in range(1, len(parts) + 1):
        base = join(first, "/".join(parts[1:count])) if count > 1 else first
        path = interp.project.module_at(base)
        name = max(".".join(parts[:count]), _dotted(interp, base), key=len)
        inner = import_once(interp, name, path) if path is not None else interp.linker.folder(base, name)
        if module is not None and module.frame is not None and parts[count - 1] not in module.frame.vars:
            interp.heap.set(module.frame, parts[count - 1], True, inner)
        module = inner
        if module.fails:
            break
    return module


def _dotted(interp: Interpreter, base: str) -> str:
    """The dotted name of a module or package by its path without an ending: the packages above it count."""
    above, _, last = base.rstrip("/").rpartition("/")
    parts = [last]
    while above and interp.project.exists(f"{above}/__init__.py"):
        above, _, last = above.rpartition("/")
        parts.append(last)
    return ".".join(reversed(parts))


def import_once(interp: Interpreter, name: str, path: str) -> Module:
    """The module of a file: that which is imported already, one that another entry ran, or it is run now."""
    known = interp.modules.get(path)
    if known is None:
        interp.importing += 1
        known = interp.linker.link(name, path) or _import(interp, name, path)
        interp.importing -= 1
    interp.linker.imported(known, name)
    return known


def _import(interp: Interpreter, name: str, path: str) -> Module:
    """Runs a module at its first import: out of all that holds just there, as it does the same everywhere."""
    scope = scopes.leave(interp)
    first = len(interp.story.events)
    module = Module(name, path, None)
    running = interp.linker.begin(module)
    asked, interp.project.asked = interp.project.asked, set()
    entered, interp.entered = interp.entered, set()
    summaries, interp.summaries = interp.summaries, Summaries()
    _run(interp, module)
    interp.summaries = summaries
    running.asked |= interp.project.asked
    running.entered |= interp.entered
    interp.project.asked |= asked
    interp.entered |= entered
    interp.linker.end(running, name, interp.story.unchecked.get(path, "") if module.frame is None else "")
    scopes.enter(interp, scope, interp.story.events[first:])
    return module


def _run(interp: Interpreter, module: Module) -> None:
    path = module.path
    interp.modules[path] = module
    try:
        facts = interp.project.facts(path)
    except CannotRead as error:
        interp.story.unchecked[path] = str(error)
        return
    if facts is None:
        return
    module.frame = Frame(module, None, interp.path)
    module.frame.vars["__name__"] = Const(module.name)
    module.frame.vars["__file__"] = Const(path)
    interp.story.modules.append(module)
    failures = len(interp.failures)
    stopped = interp.block(facts.body, module.frame)[2]
    module.fails = stopped is True and len(interp.failures) > failures
    module.done = not module.fails
    if module.fails and module.name == "__main__":
        interp.story.unchecked[path] = interp.failures[-1]


def import_from(interp: Interpreter, node: f.ImportFrom, frame: Frame) -> bool:
    """``from module import names``; whether that ends the program with ``ImportError``."""
    module = missing.stand_in(interp, import_module(interp, node.module, node.level, frame, node.place))
    if fails(interp, module):
        return True
    for name, alias in node.names:
        if name == "*":
            _star(interp, module, frame, node.place)
        elif isinstance(module, (Ref, Unknown)) and (inner := _submodule(interp, node, name, frame)) is not None:
            interp.store(alias, inner, frame)  # a folder without __init__: its modules can be imported all the same
        elif _is_lost(interp, node, module, found := member(interp, module, name, frame, node.place), name, frame):
            at = f"{frame.module.path}:{node.place[0]}"
            interp.failures.append(f"ends with ImportError: nothing is `{name}` in `{node.module}` ({at})")
            return True
        else:
            interp.store(alias, found, frame)
    return False


def _is_lost(interp: Interpreter, node: f.ImportFrom, module: Value, found: Value, name: str, frame: Frame) -> bool:
    """Whether a name that was not found is surely not there."""
    if not isinstance(found, (Unknown, Ref)) or node.module.partition(".")[0] in interp.hooks.packages:
        return False
    return missing.ends(interp, node, module, name, frame)


def fails(interp: Interpreter, module: Value) -> bool:
    """Whether the import of a module ends the program, as an import in it does."""
    return isinstance(module, Module) and module.fails and not interp.trials


def _submodule(interp: Interpreter, node: f.ImportFrom, name: str, frame: Frame) -> Module | None:
    dotted = f"{node.module}.{name}"
    if not node.level:
        if node.module.partition(".")[0] in interp.hooks.packages:
            return None
        return _project_module(interp, dotted, interp.roots, frame, node.place)
    return (
        _project_module(interp, dotted, (above(frame.module.path, node.level),), frame, node.place)
        if node.module
        else None
    )


def member(interp: Interpreter, module: Value, name: str, frame: Frame, place: f.Place) -> Value:
    """``module.name``: an attribute, else a submodule."""
    if isinstance(module, Module):
        if module.frame is not None:
            interp.heap.read(module.frame, name, module.frame.vars.get(name))
            if name in module.frame.vars:
                return interp.resolve(module.frame.vars[name])
            if (found := lazymodules.given(interp, module, name, frame, place)) is not None:
                return found
        inside = module.path.removesuffix("__init__.py").rstrip("/")
        if module.frame is None or module.path.endswith("__init__.py"):
            found = _project_module(interp, name, (inside,), frame, place)
            if found is not None:
                return found
        return Unknown(name=f"{module.name}.{name}")
    if isinstance(module, Ref):
        return interp.knowledge.constant(f"{module.name}.{name}", interp.target) or Ref(f"{module.name}.{name}")
    if isinstance(module, Dynamic):
        return Dynamic(module.reason, name=f"{module.name}.{name}")
    prefix = module.name if isinstance(module, Unknown) else ""
    return Unknown(name=f"{prefix}.{name}")


def _star(interp: Interpreter, module: Value, frame: Frame, place: f.Place) -> None:
    if isinstance(module, Module) and module.frame is not None:
        for name in _listed(module.frame.vars.get("__all__")):
            if name not in module.frame.vars:  # a module inside the package: it is imported for this
                interp.store(name, member(interp, module, name, frame, place), frame)
        for name, value in list(module.frame.vars.items()):
            if not name.startswith("_") or name == STAR:
                interp.heap.read(module.frame, name, value)
                interp.store(name, value, frame)
        return
    package = module.name if isinstance(module, Ref) else ""
    names = interp.knowledge.names_in(package) if package else []
    told = isinstance(frame.vars.get(STAR, module), Ref) and bool(names)
    interp.heap.set(frame, STAR, True, module if told else UNKNOWN)
    for name in names:
        if name not in frame.vars:
            interp.heap.set(frame, name, True, Ref(f"{package}.{name}"))


def _listed(names: Value | None) -> Iterator[str]:
    """The names in ``__all__``, as far as they are known."""
    for item in (names.items or ()) if isinstance(names, Seq) else ():
        if isinstance(item, Const) and isinstance(item.value, str):
            yield item.value
