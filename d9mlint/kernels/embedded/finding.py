"""Kernels written inside Python files: their atomics, judged, and the functions that launch them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from d9mlint.kernels.embedded import dsl
from d9mlint.kernels.embedded import sources as embedded_sources
from d9mlint.kernels.embedded.adjoints import gradients
from d9mlint.kernels.embedded.augmented import additions, may_add
from d9mlint.kernels.embedded.calls import Found, calls, may_call
from d9mlint.kernels.embedded.presence import IN_PYTHON, Embedded
from d9mlint.kernels.embedded.taichi import changes, is_kernel, may_change
from d9mlint.kernels.embedded.unread import may_be_unread, unread
from d9mlint.kernels.python.calls import decorators
from d9mlint.kernels.python.entities import Entity, Key, builds, entity_of
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.registered import operators
from d9mlint.kernels.python.words import below
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.python import Binder
from d9mlint.model import Location
from d9mlint.model.kernel import KernelOp, Site

_GETTER = b"get_function("


def find(repository: Repository) -> Embedded:
    """The atomics in the Python files of a repository, and the Python functions that launch their kernels."""
    files = PyFiles.of(repository)
    found: list[tuple[Site, Entity | None]] = []
    read = 0
    paths = list(repository.looked(IN_PYTHON))
    for path in paths:
        if not _speaks(repository.data(path)):
            read += 1
            continue
        file = files.file(path)
        if file is None:
            repository.unchecked.setdefault(path, "no Python that can be parsed")
            continue
        read += 1
        found += _of_file(file)
    for file, call in dsl.sites(files, paths):
        entity = _builder(entity_of(file, call.mention)) if call.form != "wrapper-def" else None
        found.append((_site(file, call), entity))
    _account(repository, files, paths, {(site.location.path, site.location.line) for site, _ in found})
    sites = sorted((site for site, _ in found), key=lambda s: (s.location, s.atomic))
    return Embedded(tuple(sites), _ops(repository, files, found) if found else (), read)


def _account(repository: Repository, files: PyFiles, paths: list[str], shown: set[tuple[str, int]]) -> None:
    """Tells the calls in kernels that are named like atomics and are no sites: of a language that is not read."""
    for path in paths:
        if not may_be_unread(repository.data(path)):
            continue
        file = files.file(path)
        lines = sorted(unread(file, {line for at, line in shown if at == path})) if file is not None else []
        if lines:
            count = f"{len(lines)} calls of atomics" if len(lines) > 1 else "a call of an atomic"
            repository.unchecked.setdefault(path, f"{count} could not be read, the first in line {lines[0]}")


def _speaks(data: bytes) -> bool:
    """Whether a file holds words of any atomic, so that it has to be parsed: that it imports CuPy is not enough."""
    return may_call(data) or may_add(data) or may_change(data) or embedded_sources.may_hold(data) or dsl.may_hold(data)


def _of_file(file: PyFile) -> Iterator[tuple[Site, Entity | None]]:
    for call in (*calls(file), *additions(file)):
        entity = entity_of(file, call.mention)
        if entity is not None and not call.host and _kernel(entity, call):
            entity = replace(entity, kind="kernel")
        scopes = call.mention.scopes
        yield _site(file, call), _builder(entity, scopes[1].name if len(scopes) > 1 else "")
    yield from ((_site(file, call), _of_taichi(file, call)) for call in changes(file))
    yield from ((_site(file, call), _of_gradient(file, call)) for call in gradients(file))
    inside = list(embedded_sources.sites(file))
    yield from ((site, entity_of(file, mention)) for site, mention in inside)
    if embedded_sources.may_hold(file.data):
        from d9mlint.kernels.embedded import fragments  # few programs put their kernels together

        yield from ((site, None) for site in fragments.sites(file, [site for site, _ in inside]))


def _of_taichi(file: PyFile, call: Found) -> Entity | None:
    """A kernel of Taichi's is called by its own name, also as a method; a function of it by kernels."""
    entity = entity_of(file, call.mention)
    inner = call.mention.scopes[-1]
    if entity is None or not is_kernel(file, inner):
        return replace(entity, kind="kernel") if entity is not None and entity.kind == "function" else entity
    method = isinstance(entity.node, ast.ClassDef)
    return replace(entity, name=f"{entity.name}.{inner.name}") if method else entity


def _of_gradient(file: PyFile, call: Found) -> Entity | None:
    """The gradient of a kernel of Taichi's: ``kernel.grad``."""
    entity = _of_taichi(file, call)
    return replace(entity, name=f"{entity.name}.grad", backward=True) if entity is not None else None


def _kernel(entity: Entity, call: Found) -> bool:
    """Whether the outermost function around an atomic is a kernel: not one that hands on a function inside of it.

    Nor one that is called like any other function: ``@tilelang.jit`` compiles and launches it.
    """
    if entity.kind != "function" or _called_itself(entity):
        return False
    inner = {scope.name for scope in call.mention.scopes[1:]}
    return not any(isinstance(n, ast.Name) and n.id in inner for n in below(entity.node))


def _builder(entity: Entity | None, part: str = "") -> Entity | None:
    """The function around a kernel as one that builds it, where it gives back a function inside of it (``part``)."""
    if entity is None or entity.kind != "function" or not isinstance(entity.node, ast.FunctionDef):
        return entity
    return replace(entity, kind="builder", part=part) if builds(entity.file, entity.node) else entity


def _called_itself(entity: Entity) -> bool:
    """Whether a function is decorated by TileLang's ``jit``."""
    node = entity.node
    heads = decorators(node) if isinstance(node, ast.FunctionDef) else ()
    return any(entity.file.dotted(head) in ("tilelang.jit", "tilelang.lazy_jit") for head in heads)


def _site(file: PyFile, found: Found) -> Site:
    place = file.place(found.call)
    function = ".".join(s.name for s in found.mention.scopes)
    return Site(
        Location(file.path, place.line, place.column, place.end_line, place.end_column), function, found.written,
        found.intrinsic, found.form, "", found.memory, found.target_type, found.use.kind, found.class_, found.verdict,
        found.reason, found.scope,
    )  # fmt: skip


def _ops(repository: Repository, files: PyFiles, found: list[tuple[Site, Entity | None]]) -> tuple[KernelOp, ...]:
    """One op for each function, class or name from which a kernel with an atomic is launched."""
    kernels: dict[Key, tuple[Entity, list[Location]]] = {}
    for site, entity in found:
        if entity is not None:
            kernels.setdefault(entity.key, (entity, []))[1].append(site.location)
    binder = Binder(repository)
    grouped: dict[tuple[str, bool], list[tuple[Entity, list[Location]]]] = {}
    launched = _Launched(found)
    for kernel, places in kernels.values():
        every = binder.users([kernel])
        callers = [user for one in every if _launches(one) and one.kind != "builder" for user in _functions_with(one)]
        alone = [one for one in every if one is kernel and _launches(one)]
        for launcher in callers or (alone if not _made(every) else []):
            here = launched.places(kernel, launcher, places)
            if here:
                grouped.setdefault((_shown(files, launcher), launcher.backward), []).append((launcher, here))
    return tuple(_op(binder, name, backward, group) for (name, backward), group in sorted(grouped.items()))


def _shown(files: PyFiles, launcher: Entity) -> str:
    """How an op is named after who launches it: a function that cannot be called by its name by its operator."""
    names = operators(files, launcher.file, launcher.node) if launcher.unnamed else []
    return names[0] if names else launcher.dotted


def _made(users: list[Entity]) -> bool:
    """Whether a builder is called at the top of a file: who launches what it makes is not the builder."""
    return any(one.kind == "kernel" and one.uses is not None and one.uses.kind == "builder" for one in users)


def _launches(user: Entity) -> bool:
    """Whether a user of a kernel launches it, or calls what was built of it: not one that calls such a user."""
    held = user.uses is None or user.uses.kind in ("builder", "kernel", "table")
    return held and user.kind not in ("kernel", "table")


def _functions_with(user: Entity) -> list[Entity]:
    """The autograd Functions of its file that make an object of a plain class to get kernels; else the user itself."""
    plain = isinstance(user.node, ast.ClassDef) and not user.node.bases and user.kind == "module-class"
    if not plain or _GETTER not in user.file.data:
        return [user]
    from d9mlint.kernels.embedded import modules  # few programs have modules of several kernels

    calls = (m for m in user.file.mentions.get(user.name, ()) if m.call is not None)
    found = [one for m in calls if (one := entity_of(user.file, m)) is not None and one.in_function]
    return [one.above(user) for one in found] if found and modules.asked_for(user) is not None else [user]


class _Launched:
    """Which places of a module's source the kernels come to that a function takes out of it."""

    def __init__(self, found: list[tuple[Site, Entity | None]]) -> None:
        self._functions = {site.location: site.function.rpartition("::")[2] for site, _ in found}
        self._entries: dict[str, Mapping[str, frozenset[str]]] = {}

    def places(self, kernel: Entity, launcher: Entity, places: list[Location]) -> list[Location]:
        """Those of the places that a function launches; all, where it does not say by name what it launches."""
        if _GETTER not in launcher.file.data:
            return places
        from d9mlint.kernels.embedded import modules  # few programs have modules of several kernels

        asked = modules.asked_for(launcher)
        if asked is None:
            return places
        if kernel.file.path not in self._entries:
            self._entries[kernel.file.path] = modules.entries(kernel.file)
        entries = self._entries[kernel.file.path]
        return [at for at in places if (entries.get(self._functions[at]) or asked) & asked]


def _op(binder: Binder, name: str, backward: bool, group: list[tuple[Entity, list[Location]]]) -> KernelOp:
    launcher = group[0][0]
    above = binder.users([launcher])
    gradients = {e.gradient_of or e.dotted for e in above if e.backward and (e.in_function or e.gradient_of)}
    direction = "backward" if any(e.backward for e in above) else "forward"
    if any(e.in_function and not e.backward for e in above) and direction == "backward":
        direction = "both"
    sites = sorted({place for _, places in group for place in places})
    shown = f"{name}.backward" if backward and launcher.in_function else name
    python = binder.python(above)
    return KernelOp(
        shown, "", python, direction, tuple(sorted(gradients)), tuple(sites), binder.guard(above), binder.chain(above)
    )  # fmt: skip
