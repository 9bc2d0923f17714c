"""Which types a template parameter is given: explicit instantiations, calls, launches, registration macros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations, typelists
from d9mlint.kernels.judging.declarations import TemplateParameter
from d9mlint.kernels.judging.scalars import arguments, element, kind, plain, short, underlying
from d9mlint.kernels.judging.types import type_of
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import code, define_at, defines
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_KERNELS = (".cu", ".cu.cc", ".cuh", ".cu.h", ".hip", ".cu.cpp")
_HEADERS = (".h", ".hpp", ".cuh", ".hh", ".hxx", ".inl", ".inc", ".tpp")
_MAX_STEPS = 3000
_MAX_FILES = 60
_MAX_LEVELS = 12
_BLANKS = re.compile(rb"\s*")
_COMPLEX = {"complex64": "float", "complex128": "double"}


class Bindings(NamedTuple):
    """The types found for a template parameter, in the order found."""

    types: tuple[str, ...] = ()
    open: bool = False
    """Some use could not be resolved: there may be more types."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the types: ``float``, ``integer``."""
        return frozenset(kind(t) for t in self.types)


def bindings(parameter: TemplateParameter, unit: Unit, repository: Repository) -> Bindings:
    """The types that a template parameter of a definition in ``unit`` is given anywhere in the repository."""
    search = _Search(repository)
    search.parameter(parameter, unit, 0)
    return Bindings(tuple(search.types), search.open or not search.types)


def bound(text: str, node: Node, unit: Unit, repository: Repository) -> Bindings:
    """The types that a type name means at a node: itself, an alias, a template's or a dispatch macro's."""
    name = short(underlying(text))
    parameter = declarations.template_parameter(node, name, unit)
    if parameter is not None and declarations.alias(node, name, unit) is None and repository.unit(unit.path) is unit:
        # All sites of one template share the search.
        return repository.derived(_of_template, f"{unit.path}\0{parameter.owner.start_byte}\0{name}")
    search = _Search(repository)
    search.resolve(text, unit.path, node.start_byte, 0)
    return Bindings(tuple(search.types), search.open or not search.types)


def _of_template(repository: Repository, key: str) -> Bindings:
    path, start, name = key.split("\0")
    unit = repository.unit(path)
    node = unit.root.descendant_for_byte_range(int(start), int(start) + 1) if unit is not None else None
    while node is not None and node.type != "template_declaration":
        node = node.parent
    listed = node.child_by_field_name("parameters") if node is not None else None
    parameter = declarations.template_parameter(listed, name, unit) if listed is not None and unit is not None else None
    return bindings(parameter, unit, repository) if parameter is not None and unit is not None else Bindings((), True)


class _Used(NamedTuple):
    """How a template is used: its name, and which of the arguments given to it is the parameter."""

    name: str = ""
    place: int = 0
    function: Node | None = None
    given: tuple[str, ...] = ()
    """The arguments of a specialisation: ``GPUDevice``, ``std::complex<T>``."""

    def fits(self, arguments: list[str]) -> bool:
        """Whether arguments can mean this specialisation: devices and enumerators must be the same."""
        for own, other in zip(self.given, arguments, strict=False):
            fixed = all(re.search(r"Device\Z|^\w+(?:::\w+)+\Z", text) and text != "Device" for text in (own, other))
            if fixed and short(own) != short(other):
                return False
        return True


def _used(parameter: TemplateParameter, unit: Unit) -> _Used:
    """The name under which the template of a parameter is used, the parameter's place there, and its function.

    For ``template <typename T> struct F<GPU, T>`` the place is 1, the one in the arguments of the specialisation.
    """
    for child in parameter.owner.named_children:
        if child.type in ("struct_specifier", "class_specifier"):
            name = child.child_by_field_name("name")
            return _placed(unit.text(name), parameter, None) if name is not None else _Used()
        if child.type in ("function_definition", "declaration"):
            declarator = child.child_by_field_name("declarator")
            for _ in range(_MAX_LEVELS):
                if declarator is None or declarator.type == "function_declarator":
                    break
                inner = declarator.child_by_field_name("declarator")
                declarator = inner or next((c for c in declarator.named_children if "declarator" in c.type), None)
            named = declarator.child_by_field_name("declarator") if declarator is not None else None
            if named is None:
                continue
            scope = named.child_by_field_name("scope") if named.type == "qualified_identifier" else None
            if scope is not None and scope.type == "template_type":
                return _placed(unit.text(scope), parameter, None)
            return _placed(unit.text(named), parameter, child)
    return _Used()


def _placed(text: str, parameter: TemplateParameter, function: Node | None) -> _Used:
    name = short(text.partition("<")[0])
    given = arguments(text[text.find("<") :]) if "<" in text else []
    for index, argument in enumerate(given):
        if re.search(rf"\b{re.escape(parameter.name)}\b", argument):
            return _Used(name, index, function, tuple(given))
    return _Used(name, parameter.place, function, tuple(given))


def kernel_sources(repository: Repository, _: str) -> tuple[str, ...]:
    """The CUDA and HIP sources among the files."""
    return tuple(p for p in repository.sources if p.endswith(_KERNELS))


def _kernels_mentioning(repository: Repository, name: str) -> tuple[str, ...]:
    wanted = name.encode()
    return tuple(p for p in repository.derived(kernel_sources, "") if wanted in repository.data(p))[:_MAX_FILES]


def _folders(repository: Repository, _: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in repository.sources:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found


class _Search:
    def __init__(self, repository: Repository, seen: set[tuple[str, str, int]] | None = None) -> None:
        self.repository = repository
        self.types: dict[str, None] = {}
        self.open = False
        self.steps = 0
        self.followed = 0
        self.seen: set[tuple[str, str, int]] = set() if seen is None else seen

    def _first(self, *key: object) -> bool:
        self.steps += 1
        known = (str(key[0]), str(key[1]), int(str(key[2])))
        if known in self.seen or self.steps > _MAX_STEPS:
            return False
        self.seen.add(known)
        return True

    def parameter(self, parameter: TemplateParameter, unit: Unit, level: int) -> None:
        used = _used(parameter, unit)
        if not re.fullmatch(r"\w+", used.name) or used.name == "operator" or level > _MAX_LEVELS:
            self.open = True
            return
        pattern = used.given[used.place] if used.place < len(used.given) else parameter.name
        if not self._first("template " + pattern + "".join(used.given), used.name, used.place):
            return
        if pattern != parameter.name:
            self._inside(pattern, used, parameter, unit, level)
            return
        self._uses(used, parameter, unit, level)

    def _uses(self, used: _Used, parameter: TemplateParameter, unit: Unit, level: int) -> None:
        """Follows all mentions in the first group of files that has any."""
        for group in self._places(used.name, unit.path):
            before = self.followed
            for path in group:
                for at in lexical.word_places(code(self.repository, path), used.name.encode()):
                    self._use(used, parameter, unit, path, at, level)
            if self.followed > before:
                return

    def _inside(self, pattern: str, used: _Used, parameter: TemplateParameter, unit: Unit, level: int) -> None:
        """The types of T where the template is specialised for ``std::complex<T>``."""
        if not re.match(r"(?:\w+::)*complex<", pattern):
            self.open = True
            return
        whole = _Search(self.repository, seen=self.seen)
        whole._uses(used, parameter, unit, level)
        for typed in whole.types:
            inner = _COMPLEX.get(short(typed)) or element(typed)
            if inner and "complex" in typed and kind(inner):
                self.types.setdefault(inner)

    def _places(self, name: str, path: str) -> Iterator[list[str]]:
        """Groups of files that may use a template, the likely ones first."""
        if not path.endswith(_HEADERS):
            yield [path]
        others = [p for p in self.repository.derived(_kernels_mentioning, name) if p != path]
        yield [path, *others] if path.endswith(_HEADERS) else others
        beside = self.repository.derived(_folders, "").get(path.rpartition("/")[0], ())
        wanted = name.encode()
        yield [p for p in beside if p != path and p not in others and wanted in self.repository.data(p)][:_MAX_FILES]

    def _use(self, used: _Used, parameter: TemplateParameter, unit: Unit, path: str, at: int, level: int) -> None:
        """Follows one mention of a template's name."""
        data = code(self.repository, path)
        if path == unit.path and _heads(parameter.owner, at, unit):
            return
        following = _BLANKS.match(data, at + len(used.name))
        start = following.end() if following else at
        if data[start : start + 1] == b"<" and data[start : start + 3] != b"<<<":
            text = data[start : start + 2000].replace(b"\\", b" ").decode("utf-8", "replace")
            given = arguments(text)
            if not used.fits(given) or _specialises(data, at, start):
                return
            if used.place < len(given):
                self.resolve(given[used.place], path, at, level + 1)
                return
            start += 1
        if used.function is not None and data[start : start + 1] in (b"(", b"<"):
            self._deduced(parameter, used.function, unit, path, at, level)

    def _deduced(
        self, parameter: TemplateParameter, function: Node, unit: Unit, path: str, at: int, level: int
    ) -> None:
        """The type from an argument of a call without template arguments."""
        used = self.repository.unit(path)
        if used is None or define_at(self.repository, path, at) is not None:
            self.open = True
            return
        call = _call_at(used, at)
        listed = call.child_by_field_name("arguments") if call is not None else None
        given = listed.named_children if listed is not None else []
        for index, declared in enumerate(declarations.parameters(function)):
            typed = declared.child_by_field_name("type")
            text = unit.text(typed) if typed is not None else ""
            if index >= len(given) or not re.search(rf"\b{re.escape(parameter.name)}\b", text):
                continue
            found = type_of(given[index], used, self.repository)
            name = "" if found is None else found.name
            if name and plain(text) != parameter.name and not kind(name):
                name = element(name)
            if name:
                self.resolve(name, path, at, level + 1)
                return
        self.open = True

    def resolve(self, text: str, path: str, at: int, level: int) -> None:
        """Adds what a type name means at a byte of a file."""
        self.followed += 1
        text = re.sub(r"[*&\s]+\Z", "", plain(text))
        if kind(text):
            unnamed = "complex<" in text and not kind(element(text))
            self.types.setdefault("complex" if unnamed else short(text))
            return
        name = short(underlying(text))
        if level > _MAX_LEVELS or not re.fullmatch(r"\w+", name) or not self._first(path, name, at):
            self.open = True
            return
        if kind(name):
            self.types.setdefault(name)
            return
        define = define_at(self.repository, path, at)
        if define is not None:
            place = define.parameters.index(name) if name in define.parameters else -1
            self._macro(define.name, place, path, level, name)
            return
        unit = self.repository.unit(path)
        node = unit.root.descendant_for_byte_range(at, at + 1) if unit is not None else None
        if unit is None or node is None:
            self.open = True
        else:
            self._named(name, node, unit, path, at, level)

    def _named(self, name: str, node: Node, unit: Unit, path: str, at: int, level: int) -> None:
        types = self._dispatched(name, node, unit)
        meaning = declarations.alias(node, name, unit) if not types else None
        if types:
            self.types.update(dict.fromkeys(types))
        elif meaning is not None and short(underlying(meaning)) != name and "decltype" not in meaning:
            self.resolve(meaning, path, at, level + 1)
        else:
            parameter = declarations.template_parameter(node, name, unit)
            if parameter is not None:
                self.parameter(parameter, unit, level + 1)
            else:
                self.open = True

    def _dispatched(self, name: str, node: Node, unit: Unit) -> tuple[str, ...]:
        """The types of the dispatch macro around a node, where that binds ``name``."""
        at: Node | None = node
        while at is not None and at.type != "function_definition":
            called = at.child_by_field_name("function") if at.type == "call_expression" else None
            if called is not None and typelists.is_dispatch(unit.text(called)):
                text = unit.text(at)
                head = text[: text.find("[") if "[" in text else 400]
                index = "INDEX" in unit.text(called)
                if index == name.startswith("index") and (name in ("scalar_t", "index_t", "data_t") or name in head):
                    types = typelists.dispatched(unit.text(called), head) or self._own_dispatch(unit.text(called), unit)
                    if types:
                        return types
            at = at.parent
        return ()

    def _own_dispatch(self, macro: str, unit: Unit) -> tuple[str, ...]:
        """The types that a dispatch macro of the repository names in its body."""
        for path in (unit.path, *self.repository.derived(kernel_sources, "")):
            if b"#define" in self.repository.data(path) and macro.encode() in self.repository.data(path):
                for define in self.repository.derived(defines, path).get(macro, ()):
                    body = code(self.repository, path)[define.start : define.end].decode("utf-8", "replace")
                    return typelists.scalar_types(body) or typelists.dispatched(body, "")
        return ()

    def _macro(self, macro: str, place: int, path: str, level: int, name: str) -> None:
        """The values of a macro's parameter, from its expansions; a name of its body means what it means there."""
        if not self._first(f"macro {name} {path}", macro, place) or level > _MAX_LEVELS:
            return
        paths = [path]
        if path.endswith(_HEADERS):
            paths += [p for p in self.repository.derived(_kernels_mentioning, macro) if p != path]
        for used in paths:
            data = code(self.repository, used)
            for at in lexical.word_places(data, macro.encode()):
                line = data[data.rfind(b"\n", 0, at) + 1 : at].strip().removeprefix(b"#").strip()
                if line in (b"define", b"undef", b"ifdef", b"ifndef"):
                    continue
                end = at + len(macro)
                if place < 0:
                    self.resolve(name, used, at, level + 1)
                elif data[end : end + 80].lstrip()[:1] == b"(":
                    self._expanded(data, data.find(b"(", end), place, used, at, level)
                else:
                    self._passed(data, macro, place, used, at, level)

    def _expanded(self, data: bytes, opening: int, place: int, path: str, at: int, level: int) -> None:
        given = lexical.arguments(data, opening)
        if given is not None and place < len(given[0]):
            start, end = given[0][place]
            self.resolve(data[start:end].decode("utf-8", "replace").strip(), path, at, level + 1)

    def _passed(self, data: bytes, macro: str, place: int, path: str, at: int, level: int) -> None:
        """A macro given to another by name: ``TF_CALL_float(DEFINE)``, ``FOR_ALL(DEFINE)``."""
        match = re.search(rb"(\w+)\s*\((?:[^()]*,)?\s*\Z", data[max(0, at - 200) : at])
        caller = match[1].decode() if match else ""
        types = typelists.tensorflow_group(caller) if place == 0 else ()
        self.types.update(dict.fromkeys(short(t) if "complex" not in t else t for t in types))
        if types or match is None:
            return
        index = match[0].count(b",")
        for define in self.repository.derived(defines, path).get(caller, ()):
            if index < len(define.parameters):
                body = data[define.start : define.end]
                parameter = define.parameters[index].encode()
                for inner in lexical.word_places(body, parameter):
                    opening = body.find(b"(", inner)
                    if opening >= 0 and not body[inner + len(parameter) : opening].strip():
                        self._expanded(data, define.start + opening, place, path, define.start + inner, level + 1)


def _heads(owner: Node, at: int, unit: Unit) -> bool:
    """Whether a byte is in the head of a template's definition (its own name)."""
    if not owner.start_byte <= at < owner.end_byte:
        return False
    body = unit.data.find(b"{", owner.start_byte, owner.end_byte)
    return body < 0 or at < body


def _specialises(data: bytes, at: int, start: int) -> bool:
    """Whether a name with template arguments heads the definition of another specialisation."""
    if not re.search(rb"\b(?:struct|class)\s+(?:\w+::)*\Z", data[max(0, at - 80) : at]):
        return False
    depth = 0
    for end in range(start, min(len(data), start + 1000)):
        depth += (data[end] == 60) - (data[end] == 62)
        if depth == 0:
            return data[end + 1 : end + 200].lstrip()[:1] in (b"{", b":")
    return False


def _call_at(unit: Unit, at: int) -> Node | None:
    """The call whose function is named at a byte."""
    node: Node | None = unit.root.descendant_for_byte_range(at, at + 1)
    for _ in range(6):
        if node is None or node.type == "call_expression":
            return node
        node = node.parent
    return None
