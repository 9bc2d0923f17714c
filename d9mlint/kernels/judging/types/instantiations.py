"""Which types a template parameter is given: explicit instantiations, calls, launches, registration macros."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.declarations import TemplateParameter
from d9mlint.kernels.judging.known import typelists
from d9mlint.kernels.judging.known.scalars import arguments, element, kind, named_float, plain, short, underlying
from d9mlint.kernels.judging.types import dispatch, given, lists, templates, users
from d9mlint.kernels.judging.types.expressions import type_of
from d9mlint.kernels.judging.types.nearby import included
from d9mlint.kernels.judging.types.selected import selected
from d9mlint.kernels.judging.types.templates import Used
from d9mlint.kernels.sites.wrappers import arity
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import Define, code, define_at, defines
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_STEPS = 400
_MAX_USES = 3_000
"""Mentions of names that one search follows: a name of thousands is one like `get`, and says nothing of the type."""
_MAX_LEVELS = 12
_BLANKS = re.compile(rb"\s*")
_MEMBER_TYPE = re.compile(r"(?:(?!std|thrust|cuda|cub|cute)\w+::)*\w+(?:<[^<>]*>)?::(?:template\s+)?(\w+)")
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
    generated = typelists.generated(unit.data) if not search.types else ()
    if generated:
        return Bindings(generated)
    own = selected(_without_specialised(tuple(search.types), parameter, unit), parameter, unit)
    return Bindings(own, search.open or not own)


def _without_specialised(types: tuple[str, ...], parameter: TemplateParameter, unit: Unit) -> tuple[str, ...]:
    """The types for which a template itself is instantiated; all of them where it seems to be for none."""
    listed = parameter.owner.child_by_field_name("parameters")
    if listed is None or len(listed.named_children) != 1:
        return types
    others = templates.specialised(templates.used_as(parameter, unit).name, unit)
    return tuple(t for t in types if t not in others) or types


def bound(text: str, node: Node, unit: Unit, repository: Repository) -> Bindings:
    """The types that a type name means at a node: itself, an alias, a template's or a dispatch macro's."""
    name = short(underlying(text))
    parameter = declarations.template_parameter(node, name, unit)
    if parameter is not None and declarations.alias(node, name, unit) is None and repository.unit(unit.path) is unit:
        # All sites of one template share the search.
        admitted = templates.asserted(name, parameter.owner, unit)
        if admitted:
            return Bindings(admitted)
        return repository.derived(_of_template, f"{unit.path}\0{parameter.owner.start_byte}\0{name}")
    if repository.unit(unit.path) is unit:  # the body of a wrapper is asked for at each of its uses
        return repository.derived(_of_name, f"{unit.path}\0{node.start_byte}\0{text}")
    return _meant(repository, unit.path, node.start_byte, text)


def _of_name(repository: Repository, key: str) -> Bindings:
    path, start, text = key.split("\0")
    return _meant(repository, path, int(start), text)


def _meant(repository: Repository, path: str, at: int, text: str) -> Bindings:
    search = _Search(repository)
    search.resolve(text, path, at, 0)
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


class _Search:
    def __init__(self, repository: Repository, seen: set[tuple[str, str, int]] | None = None) -> None:
        self.repository = repository
        self.types: dict[str, None] = {}
        self.open = False
        self.steps = 0
        self.followed = 0
        self.uses = 0
        self.seen: set[tuple[str, str, int]] = set() if seen is None else seen

    def _first(self, *key: object) -> bool:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            self.open = True
            return False
        known = (str(key[0]), str(key[1]), int(str(key[2])))
        if known in self.seen:
            return False
        self.seen.add(known)
        return True

    def parameter(self, parameter: TemplateParameter, unit: Unit, level: int) -> None:
        used = templates.used_as(parameter, unit)
        if not re.fullmatch(r"\w+", used.name) or used.name == "operator" or level > _MAX_LEVELS:
            self.open = True
            return
        pattern = used.given[used.place] if used.place < len(used.given) else parameter.name
        own = f"{unit.path} {parameter.owner.start_byte}"  # functions of one name call one another
        if not self._first("template " + pattern + "".join(used.given) + own, used.name, used.place):
            return
        if pattern != parameter.name:
            self._inside(pattern, used, parameter, unit, level)
            return
        self._uses(used, parameter, unit, level)

    def _uses(self, used: Used, parameter: TemplateParameter, unit: Unit, level: int) -> None:
        """Follows all mentions in the first group of files that has any."""
        for group in users.groups(self.repository, used.name, unit.path):
            before = self.followed
            for path in group:
                for at in lexical.word_places(code(self.repository, path), used.name.encode()):
                    self._use(used, parameter, unit, path, at, level)
                if self.uses > _MAX_USES:
                    return
            if self.followed > before:
                return
        for path, at in self.repository.derived(templates.pasted, f"{used.name}\0{unit.path}"):
            self._use(used, parameter, unit, path, at, level)

    def _inside(self, pattern: str, used: Used, parameter: TemplateParameter, unit: Unit, level: int) -> None:
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

    def _use(self, used: Used, parameter: TemplateParameter, unit: Unit, path: str, at: int, level: int) -> None:
        """Follows one mention of a template's name."""
        self.uses += 1
        if self.uses > _MAX_USES:
            self.open = True
            return
        data = code(self.repository, path)
        if path == unit.path and templates.heads(parameter.owner, at, unit):
            return
        following = _BLANKS.match(data, at + len(used.name))
        start = following.end() if following else at
        if data[start : start + 1] == b"<" and data[start : start + 3] != b"<<<":
            text = data[start : start + 2000].replace(b"\\", b" ").decode("utf-8", "replace")
            listed = arguments(text)
            if not used.fits(listed) or templates.specialises(data, at, start):
                return
            if used.place < len(listed):
                self.resolve(listed[used.place], path, at, level + 1)
                return
            default = declarations.default_type(parameter, unit) if used.function is None and not used.given else ""
            if default:  # of a class: those of functions are deduced
                self.resolve(default, unit.path, parameter.owner.start_byte, level + 1)
                return
            start = templates.after_arguments(data, start)
        if used.function is None:
            tested = lists.tested_with(self.repository, path, at)
            if tested:
                self.resolve(tested, path, at, level + 1)
            return
        if data[start : start + 1] in (b"(", b"<"):
            self._deduced(parameter, used.function, unit, path, at, level)
        elif data[start : start + 1] in (b",", b")"):  # a name with template arguments stands in parentheses
            self._launched(parameter, used.function, unit, path, at, level)

    def _launched(
        self, parameter: TemplateParameter, function: Node, unit: Unit, path: str, at: int, level: int
    ) -> None:
        """The type from an argument of a macro that launches the kernel: ``LAUNCH(kernel, blocks, threads, x, y)``."""
        data = code(self.repository, path)
        name, opening = next(dispatch.enclosing(data, at), ("", 0))
        first = dispatch.launching(self.repository, name, path) if name else None
        if first is None and name:
            for one in given.by_name(self.repository, path, at, (name, opening)):
                self._by_arguments(parameter, function, unit, one, level)
        for one in given.calls(self.repository, path, opening - len(name)) if first is not None else ():
            self._by_arguments(parameter, function, unit, one._replace(arguments=one.arguments[first:]), level)

    def _deduced(
        self, parameter: TemplateParameter, function: Node, unit: Unit, path: str, at: int, level: int
    ) -> None:
        """The type from an argument of a call without template arguments."""
        explicit = given.signature(self.repository, path, at)
        if explicit is not None:
            self._by_signature(parameter, function, unit, (path, at), explicit, level)
            return
        calls = [*given.calls(self.repository, path, at)]
        if not calls:
            # Another function of that name is defined there, or what it is given is not read.
            file = self.repository.unit(path)
            self.open = self.open or file is None or not templates.defines_there(file, at)
        for one in calls:
            self._by_arguments(parameter, function, unit, one, level)

    def _by_signature(
        self,
        parameter: TemplateParameter,
        function: Node,
        unit: Unit,
        where: tuple[str, int],
        explicit: list[str],
        level: int,
    ) -> None:
        """The type from the signature of an explicit instantiation: ``template void f<1>(float*, int);``."""
        low, high = arity(function)
        if not low <= len(explicit) <= high:
            return  # another function of that name
        for index, text in given.naming(parameter.name, function, unit):
            if index < len(explicit):
                name = templates.standing_for(parameter.name, text, explicit[index])
                if name:
                    self.resolve(name, *where, level + 1)
                    return
        self.open = True

    def _by_arguments(
        self, parameter: TemplateParameter, function: Node, unit: Unit, call: given.Given, level: int
    ) -> None:
        """The type from the first argument whose parameter names it; none where it takes fewer of them."""
        if len(call.arguments) > arity(function)[1]:
            return  # another function of that name
        for index, text in given.naming(parameter.name, function, unit):
            if index >= len(call.arguments) or given.null(call.arguments[index], index, function, call.unit):
                continue
            found = type_of(call.arguments[index], call.unit, self.repository, call.host)
            name = "" if found is None else found.name
            if name and plain(text) != parameter.name:
                name = templates.standing_for(parameter.name, plain(text), name)
            if name:
                self.resolve(name, call.unit.path, call.at, level + 1)
                return
        default = declarations.default_type(parameter, unit)
        if default:  # what cannot be deduced
            self.resolve(default, unit.path, parameter.owner.start_byte, level + 1)
        else:
            self.open = True

    def resolve(self, text: str, path: str, at: int, level: int) -> None:
        """Adds what a type name means at a byte of a file."""
        self.followed += 1
        text = re.sub(r"[*&\s]+\Z", "", plain(text))
        several = lists.alternatives(text) if level <= _MAX_LEVELS else []
        for one in several:
            self.resolve(one, path, at, level + 1)
        if several:
            return
        if kind(text):
            unnamed = "complex<" in text and not kind(element(text))
            self.types.setdefault("complex" if unnamed else short(text))
            return
        if text.endswith(">") and kind(element(text)):  # of a vector, the elements are added to
            self.types.setdefault(short(element(text)))
            return
        name = short(underlying(text))
        member = _MEMBER_TYPE.fullmatch(underlying(text))
        if member is not None and level <= _MAX_LEVELS:
            self._of_traits(member[1], underlying(text).partition("::" + member[1])[0], path, level)
            return
        if level > _MAX_LEVELS or not re.fullmatch(r"\w+", name) or self.steps > _MAX_STEPS:
            self.open = True
            return
        if not self._first(path, name, at):
            return  # a template that calls itself: what it means here is being looked for already
        if kind(name):
            self.types.setdefault(name)
            return
        define = define_at(self.repository, path, at)
        if define is not None:
            place = define.parameters.index(name) if name in define.parameters else -1
            self._macro(define, place, path, level, name)
            return
        tested = lists.of_test(self.repository, path, at) if name == lists.TESTED else []
        for listed, place in tested:
            self.resolve(listed, path, place, level + 1)
        unit = self.repository.unit(path)
        node = unit.root.descendant_for_byte_range(at, at + 1) if unit is not None else None
        if tested:
            return
        if unit is None or node is None:
            self.open = True
        else:
            self._named(name, node, unit, path, at, level)

    def _named(self, name: str, node: Node, unit: Unit, path: str, at: int, level: int) -> None:
        types = dispatch.around(self.repository, name, node, unit)
        meaning = declarations.alias(node, name, unit) if not types else None
        if types:
            self.types.update(dict.fromkeys(types))
        elif meaning is not None and short(underlying(meaning)) != name and "decltype" not in meaning:
            self.resolve(meaning, path, at, level + 1)
        else:
            parameter = declarations.template_parameter(node, name, unit)
            near = self.repository.derived(templates.aliases, f"{name}\0{path}") if parameter is None else ()
            if parameter is not None:
                self.parameter(parameter, unit, level + 1)
            elif near:
                for home, place, text in near:
                    self.resolve(text, home, place, level + 1)
            elif named_float(name):
                self.types.setdefault(name)
            else:
                self.open = True

    def _of_traits(self, name: str, owner: str, path: str, level: int) -> None:
        """The types of ``Traits::Name``: of the class of that name, else of all classes that have such a type."""
        found = self.repository.derived(templates.aliases, f"{name}\0{path}\0")
        owned = [one for one in found if templates.stands_in(one, owner, self.repository)] if len(found) > 1 else []
        found = tuple(owned) or found
        known = [one for one in found if short(underlying(one[2])) != name and "decltype" not in one[2]]
        if not known or not self._first(f"traits {name}", "", 0):
            self.open = True
            return
        for home, place, text in known:
            self.resolve(text, home, place, level + 1)

    def _macro(self, define: Define, place: int, path: str, level: int, name: str) -> None:
        """The values of a macro's parameter, from its expansions; a name of its body means what it means there."""
        macro = define.name
        others = self.repository.derived(defines, path).get(macro, ())
        first = define.start if len(others) > 1 else 0
        last = min((one.start for one in others if one.start > define.start), default=None)
        if not self._first(f"macro {name} {path} {first}", macro, place) or level > _MAX_LEVELS:
            return
        paths = [path]
        if path.endswith(users.HEADERS):
            paths += [p for p in self.repository.derived(users.kernels_mentioning, macro) if p != path]
        else:  # what it includes may use it: `#define EACH(T) template class F<T>;` before `#include "types.def"`
            held = (p for p in self.repository.derived(included, path) if macro.encode() in self.repository.data(p))
            paths += [p for p in held if macro not in self.repository.derived(defines, p)]
        for used in paths:
            data = code(self.repository, used)
            within = (first, last) if used == path else (0, None)  # until it is defined anew
            for at in lexical.word_places(data, macro.encode(), *within):
                line = data[data.rfind(b"\n", 0, at) + 1 : at].strip().removeprefix(b"#").strip()
                if line in (b"define", b"undef", b"ifdef", b"ifndef") or given.declares(data, at):
                    continue
                end = at + len(macro)
                if place < 0:
                    self.resolve(name, used, at, level + 1)
                elif data[end : end + 80].lstrip()[:1] == b"(":
                    self._expanded(data, data.find(b"(", end), place, used, at, level)
                else:
                    self._passed(data, place, used, at, level)

    def _expanded(self, data: bytes, opening: int, place: int, path: str, at: int, level: int) -> None:
        given = lexical.arguments(data, opening)
        if given is not None and place < len(given[0]):
            start, end = given[0][place]
            text = data[start:end].replace(b"\\", b" ").decode("utf-8", "replace")
            self.resolve(text.strip(), path, at, level + 1)

    def _passed(self, data: bytes, place: int, path: str, at: int, level: int) -> None:
        """A macro given to another by name: ``TF_CALL_float(DEFINE)``, ``FOR_ALL(DEFINE)``, which may hand it on."""
        match = re.search(rb"(\w+)\s*\((?:[^()]*,)?\s*\Z", data[max(0, at - 200) : at])
        caller = match[1].decode() if match else ""
        types = typelists.tensorflow_group(caller) if place == 0 else ()
        self.types.update(dict.fromkeys(short(t) if "complex" not in t else t for t in types))
        if types or match is None:
            return
        for home, inner, opening in dispatch.expansions(self.repository, caller, match[0].count(b","), path):
            self._expanded(code(self.repository, home), opening, place, home, inner, level + 1)
