"""From a registered function to the Python names under which a user meets it, by the Python files beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from d9mlint.kernels.flow import weakest
from d9mlint.kernels.python import keyed, registered
from d9mlint.kernels.python.composed import Composed, closest, composed
from d9mlint.kernels.python.entities import (
    GRADIENT_WORD,
    Entity,
    Key,
    alias_of,
    asks_about,
    asks_for_keys,
    built,
    entity_of,
    internal,
    kernel_of,
    tabled,
)
from d9mlint.kernels.python.files import PyFile, PyFiles, shown
from d9mlint.kernels.python.files import base as variable
from d9mlint.kernels.python.guards import defaults
from d9mlint.kernels.python.words import Mention
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.switches import with_default
from d9mlint.kernels.torch.builds.extensions import Extension, bound, extensions, of_source
from d9mlint.kernels.torch.routes import Export
from d9mlint.model.kernel import Guard, Step

_MODULE_WORD = re.compile(r"(?:\A_|_C\Z|ext|cuda|csrc|backend|kernel|ops\Z|lib)", re.IGNORECASE)
_COMMON = frozenset(
    ("forward", "backward", "apply", "call", "run", "init", "sort", "sum", "add", "copy", "get", "set", "index", "load")
)
_MAX_ROUNDS = 4
"""How many Python functions may stand between the compiled function and its public name."""


class Met(NamedTuple):
    """How Python meets an export."""

    name: str
    """The export's full name: ``pkg._C.f``, ``ns::op``."""
    python: tuple[str, ...]
    direction: str
    gradient_of: tuple[str, ...]
    chain: tuple[Step, ...]
    guard: Guard = Guard()
    """What stands before it on all ways through Python; ``handed``: what all of these give it as an argument."""
    handed: Guard = Guard()
    nearest: str = ""
    """The first Python name on the way up."""
    defaults: Mapping[str, str] = {}
    """The defaults of the public functions' arguments that speak of determinism."""


class Binder:
    """Finds the Python names of exports; what it draws from a repository is drawn once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.files = PyFiles.of(repository)

    @property
    def extensions(self) -> list[Extension]:
        """The compiled modules that the repository names."""
        return extensions(self.repository)

    @cached_property
    def composed(self) -> list[Composed]:
        """The look-ups of functions by names that the repository puts together."""
        return list(composed(self.files))

    def _extensions_of(self, export: Export) -> list[Extension]:
        """The compiled modules that may hold an export.

        ``TORCH_EXTENSION_NAME`` is set by ``torch.utils.cpp_extension``, by CMake only where its files say so.
        """
        if export.operator:
            return []
        known = of_source(self.extensions, export.path)
        named = export.module or export.framework != "torch" or self.repository.derived(_cmake_names, "")
        return known if named else [e for e in known if not e.cmake]

    def met(self, export: Export) -> Met:
        """The Python names of an export, the direction that its users show, and the way to the first of them."""
        word = export.name.rpartition("::")[2].partition(".")[0]  # of a method, its class
        known = self._extensions_of(export)
        own: set[str] = set()
        first: list[Entity] = []
        for file in self.files.readers(word):
            for mention, dotted in self._uses(file, word, export, known):
                if dotted:
                    own.add(dotted + export.name.rpartition("::")[2][len(word) :])
                entity = entity_of(file, mention)
                if entity is not None:
                    first.append(entity)
        looked_up = (self._composing(one, word, export, known) for one in closest(self.composed, word))
        first += [entity for entity in looked_up if entity is not None]
        return self._met(export, own or _own_names(export, known), first)

    def public(self, dotted: str) -> tuple[str, ...]:
        """The names of the Python functions that call something by its full name; empty where no file here does."""
        word = dotted.rpartition(".")[2]
        first = [
            entity
            for file in self.files.readers(word)
            for mention in file.mentions.get(word, ())
            if not isinstance(mention.node, ast.Constant) and file.dotted(mention.node) == dotted
            if (entity := entity_of(file, mention)) is not None
        ]
        return self.python(self.users(first))

    def _of_name(self, export: Export) -> Met | None:
        """How Python meets the operator that another is the gradient of, by their names (``f``, ``f_backward``)."""
        forward = re.sub(r"_(?:backward|bwd)\Z", "", export.name) if export.operator else export.name
        name = forward.rpartition("::")[2].encode()
        if forward == export.name or not self.repository.mentioning(b'"' + name + b'"', b'"' + name + b"("):
            return None
        found = self.met(Export(forward, True, export.module, export.path))
        return found if found.chain else None

    def _met(self, export: Export, own: set[str], first: list[Entity]) -> Met:
        if not first and (forward := self._of_name(export)) is not None:
            python = (*forward.python, *sorted(own, key=_depth))
            return Met(export.name, python, "backward", (forward.name,), forward.chain)
        entities = self.users(first)
        names = sorted(own, key=_depth)
        name = export.name if export.operator or not names else names[-1]
        gradients = {e.gradient_of or e.dotted for e in entities if e.backward and (e.in_function or e.gradient_of)}
        direction = _direction(export, entities)
        return Met(
            name,
            (*self.python(entities), *names),
            direction,
            tuple(sorted(gradients)),
            self.chain(entities),
            self.guard(entities),
            weakest(e.handed for e in first),
            self.nearest(entities),
            defaults(e.node for e in entities),
        )

    def guard(self, entities: list[Entity]) -> Guard:
        """What protects an export on all ways by which a user comes to it through these, with defaults of switches."""
        public = self._public(entities) or entities
        nodes = [e.node for e in entities]
        return weakest(with_default(e.guard, defaults([e.node]) or defaults(nodes)) for e in public)

    def _public(self, entities: list[Entity]) -> list[Entity]:
        """What users call by a name of Python's."""
        return [e for e in entities if not e.in_function and e.kind != "operator" and self._names(e)]

    def python(self, entities: list[Entity]) -> tuple[str, ...]:
        """The dotted names of entities.

        What users call, the shortest first, then ``apply`` of autograd Functions, then operators of the dispatcher.
        """
        ranks: tuple[list[str], list[str], list[str]] = ([], [], [])
        for entity in entities:
            ranks[2 if entity.kind == "operator" else 1 if entity.in_function else 0].extend(self._names(entity))
        return tuple(dict.fromkeys(name for names in ranks for name in sorted(names, key=_depth)))

    def _names(self, entity: Entity) -> list[str]:
        if entity.in_function:
            return [f"{entity.dotted}.apply"]
        if entity.kind == "operator":
            return [f"torch.ops.{entity.name.replace('::', '.')}"]
        if entity.name.startswith("_") or entity.kind in ("kernel", "table"):
            return []
        return self.files.names(entity.file.module, entity.name)

    def _uses(self, file: PyFile, word: str, export: Export, known: list[Extension]) -> Iterator[tuple[Mention, str]]:
        """The places of a file that mean the export, each with its full name where the place tells it."""
        local = {n for n, d in file.imports.items() if d.rpartition(".")[2] == word and n != word}
        for name in (word, *sorted(local)):
            for mention in file.mentions.get(name, ()):
                dotted = self._meaning(file, mention, word, export, known)
                if dotted is not None:
                    yield mention, dotted
        if export.operator:
            for mention in file.mentions.get(export.name, ()):
                if _argument_of_getter(mention):
                    yield mention, ""

    def _meaning(self, file: PyFile, mention: Mention, word: str, export: Export, known: list[Extension]) -> str | None:
        node = mention.node
        if isinstance(node, ast.Constant):
            getter = word not in _COMMON and _argument_of_getter(mention) and self._gets(file, mention, export)
            return "" if getter else None
        base = node.value if isinstance(node, ast.Attribute) else None
        dotted = file.dotted(base) if base is not None else file.imports.get(_id(node), "").rpartition(".")[0]
        if export.operator:
            namespace = export.name.rpartition("::")[0]
            right = dotted == f"torch.ops.{namespace}" if namespace else dotted.startswith("torch.ops.")
            return f"{dotted}.{word}" if right else None
        if dotted.startswith("torch.ops") or (not dotted and base is None):
            return None
        return self._in_module(file, base, dotted, word, known, export)

    def _composing(self, one: Composed, word: str, export: Export, known: list[Extension]) -> Entity | None:
        """The function that looks an export up by a name of which only parts are known."""
        dotted = one.file.dotted(one.base)
        namespace = export.name.rpartition("::")[0]
        if export.operator:
            meant = dotted == f"torch.ops.{namespace}"
        else:
            meant = self._in_module(one.file, one.base, dotted, word, known, export) is not None
        return entity_of(one.file, one.mention) if meant else None

    def _gets(self, file: PyFile, mention: Mention, export: Export) -> bool:
        """Whether the function that is given a name looks it up by ``getattr``, here or where it is defined."""
        call = mention.parents[-1]
        called = file.dotted(call.func) if isinstance(call, ast.Call) else ""
        home = self.files.modules.get(called.rpartition(".")[0], file.path)
        for data in (file.data, self.repository.data(home)):
            if b"getattr" in data and (b"torch.ops" in data or not export.operator):
                return True
        return False

    def _in_module(
        self, file: PyFile, base: ast.expr | None, dotted: str, word: str, known: list[Extension], export: Export
    ) -> str | None:
        """The full name, where the thing before the dot is (or may be) a compiled module; else None."""
        if export.within:
            above = dotted.removesuffix(f".{export.within}")
            right = any(_is(above, e) for e in known) if known else _MODULE_WORD.search(above.rpartition(".")[2])
            return f"{dotted}.{word}" if above != dotted and right else None
        if known and any(dotted == e.name for e in self.extensions if e not in known):
            return None  # another compiled module has a function of that name, too
        last = dotted.rpartition(".")[2]
        for extension in known:
            if dotted and (dotted == extension.name or last == extension.last):
                return f"{extension.name if '.' in extension.name else dotted}.{word}"
        if export.module and last == export.module:
            return f"{dotted}.{word}"
        if export.module and last in bound(self.repository):
            return None  # a module of another library here
        base = _followed(file, base)
        value = file.assigned.get(base.id) if isinstance(base, ast.Name) else base
        if isinstance(value, ast.Call) and not (isinstance(base, ast.Name) and base.id in file.imports):
            named = _named(value, known)
            if named:
                return f"{named}.{word}"
            loads = re.search(r"load|import|backend|ext|_C\b|cuda", shown(value, 300))
            return "" if word not in _COMMON and loads else None
        if word in _COMMON or not dotted or self.files.modules.get(dotted):
            return None
        inside = dotted.partition(".")[0] in self.files.packages
        if known and not inside and "." not in dotted:
            return None  # another top-level module than those that the build files name
        plain = base is None or variable(base) in file.imports
        return f"{dotted}.{word}" if plain and _MODULE_WORD.search(last) and (inside or "." not in dotted) else None

    def users(self, first: list[Entity]) -> list[Entity]:
        """The entities that use an export and, where those are not what a user calls, those that use them."""
        found: dict[Key, Entity] = {}
        pending = list(first)
        for _ in range(_MAX_ROUNDS):
            fresh = [e for e in dict.fromkeys(pending) if e.key not in found or _bares(e, found[e.key])]
            for entity in fresh:
                if entity.key not in found or _bares(entity, found[entity.key]):
                    found[entity.key] = entity
            pending = [user for entity in fresh for user in self._users_of(entity)]
        return list(found.values())

    def nearest(self, entities: list[Entity]) -> str:
        """The first name on the way up; empty where there is none."""
        return next((name for e in self._public(entities) for name in self._names(e)), "")

    def chain(self, entities: list[Entity]) -> tuple[Step, ...]:
        """The steps from the first user to the first name that is a user's."""
        at = next(iter([*self._public(entities), *entities]), None)
        steps: list[Step] = []
        while at is not None:
            steps.append(Step(at.location, at.text))
            at = at.uses
        return tuple(reversed(steps))

    def _users_of(self, entity: Entity) -> Iterator[Entity]:
        if entity.kind == "module-class":
            return
        if entity.kind == "operator":
            yield from self._users_of_operator(entity)
            return
        file = entity.file
        yield from self._operators(entity, registered.operators(self.files, file, entity.node))
        if entity.unnamed:
            return
        names = set(self.files.names(file.module, entity.name))
        far = entity.in_function or entity.kind in ("builder", "kernel", "table") or internal(entity.name)
        # A user calls a public function, but where it is the gradient of another one, that is what he calls.
        wide = far or entity.name not in _COMMON
        for other in self.files.readers(entity.name) if wide else [file]:
            forward = registered.gradients(self.files, other).get(entity.name) if other is file else None
            if forward:
                yield Entity(file, entity.name, "backward", True, entity.node, forward, entity)
            for mention in other.mentions.get(entity.name, ()):
                above = mention.parents[-1] if mention.parents else None
                helper = entity.in_function and isinstance(above, ast.Attribute) and above.attr != "apply"
                asked = (entity.kind == "table" and asks_for_keys(mention)) or asks_about(entity, mention)
                if isinstance(mention.node, ast.Constant) or helper or asked or mention.hidden:
                    continue
                if other.dotted(mention.node) in names or (other is file and isinstance(mention.node, ast.Name)):
                    yield from self._operators(entity, registered.given(self.files, other, mention))
                    yield from keyed.kept(self.files, entity, other, mention)
                    user = alias_of(other, mention, entity) or entity_of(other, mention)
                    if entity.kind == "kernel":
                        user = kernel_of(other, user) if user is not None else tabled(other, mention)
                    user = built(user, entity) if user is not None else None
                    near = far or other is file or (user is not None and user.in_function)
                    if user is not None and near and (user.file is not file or user.name != entity.name):
                        yield user.above(entity)

    def _operators(self, entity: Entity, names: list[str]) -> Iterator[Entity]:
        """The operators that a function implements."""
        for name in names:
            yield Entity(entity.file, name, "operator", False, entity.node).above(entity)

    def _users_of_operator(self, entity: Entity) -> Iterator[Entity]:
        """The entities that call an operator which Python registers."""
        export = Export(entity.name, True, "", "")
        word = entity.name.rpartition("::")[2]
        for file in self.files.readers(word):
            for mention, _ in self._uses(file, word, export, []):
                user = entity_of(file, mention)
                if user is not None:
                    yield user.above(entity)


def _cmake_names(repository: Repository, _: str) -> bool:
    """Whether the files of CMake set the name of PyTorch's extensions."""
    paths = (p for p in repository.paths if p.endswith((".cmake", "CMakeLists.txt")))
    return any(b"TORCH_EXTENSION_NAME" in repository.data(path) for path in paths)


def _bares(one: Entity, other: Entity) -> bool:
    """Whether a way protects less than another one to the same function."""
    return one.guard != other.guard and weakest((one.guard, other.guard)) == one.guard


def _direction(export: Export, entities: list[Entity]) -> str:
    """What those who use an export show; its name where nobody uses it, or only helpers that say "gradient" too."""
    ways = {e.backward for e in entities if e.uses is None and "." not in export.name}
    if len(ways) == 2:
        return "both"
    if any(e.in_function for e in entities) or not GRADIENT_WORD.search(export.name):
        return "backward" if ways == {True} else "forward"
    plain = any(e.uses is None and not GRADIENT_WORD.search(e.name) for e in entities)
    return "forward" if plain and ways else "backward"


def _depth(dotted: str) -> tuple[int, str]:
    return dotted.count("."), dotted


def _id(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _followed(file: PyFile, node: ast.expr | None) -> ast.expr | None:
    """What a name stands for that is set to another name: ``module`` after ``module = loaded_module``."""
    for _ in range(_MAX_ROUNDS):
        value = file.assigned.get(node.id) if isinstance(node, ast.Name) and node.id not in file.imports else None
        if not isinstance(value, ast.Name):
            break
        node = value
    return node


def _argument_of_getter(mention: Mention) -> bool:
    """Whether a string is itself an argument of a call (``getattr(ops, "f")``), outside of a decorator."""
    parent = mention.parents[-1] if mention.parents else None
    return isinstance(parent, ast.Call) and mention.node in parent.args and bool(mention.scopes)


def _named(call: ast.Call, known: list[Extension]) -> str:
    """The extension that a loading call names by a string."""
    given = {n.value for n in [*call.args, *(k.value for k in call.keywords)] if isinstance(n, ast.Constant)}
    return next((e.name for e in known if e.name in given or e.last in given), "")


def _own_names(export: Export, known: list[Extension]) -> set[str]:
    if export.operator:
        namespace, _, name = export.name.rpartition("::")
        return {f"torch.ops.{namespace}.{name}"} if namespace else set()
    names = {e.name for e in known} if len({e.name for e in known}) == 1 else {export.module} - {""}
    inside = f"{export.within}.{export.name}" if export.within else export.name
    return {f"{name}.{inside}" for name in names}


def _is(dotted: str, extension: Extension) -> bool:
    return dotted in (extension.name, extension.last) or dotted.endswith(f".{extension.last}")
