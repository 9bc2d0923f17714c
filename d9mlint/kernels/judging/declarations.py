"""Where a name is declared, seen from a place in a source."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_DECLARATIONS = ("declaration", "parameter_declaration", "optional_parameter_declaration", "field_declaration")
_BLOCKS = ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "linkage_specification", "declaration_list")
_SCOPES = frozenset(
    ("translation_unit", "compound_statement", "field_declaration_list", "function_definition", "lambda_expression",
     "for_statement", "for_range_loop", "if_statement", "while_statement", "condition_clause", "case_statement",
     "declaration", "ERROR", *_BLOCKS)
)  # fmt: skip
_ALIASES = ("alias_declaration", "type_definition")
STRUCTS = ("struct_specifier", "class_specifier", "union_specifier")
_MAX_LEVELS = 400
_MAX_DECLARATORS = 20


class Declared(NamedTuple):
    """A variable, parameter or member: its type as written, pointer levels, initial value."""

    type: str
    depth: int
    """How many ``*`` and ``[]`` stand around the name."""
    node: Node
    value: Node | None = None
    kind: str = "local"
    """``local``, ``parameter``, ``argument``, ``member``, ``range`` or ``global``.

    ``argument``: a parameter of a lambda or of a loop macro inside of a function, another value at every call.
    """
    prefix: str = ""
    """The words before the type: ``extern __shared__``."""


class TemplateParameter(NamedTuple):
    """A parameter of a template and the definition it belongs to."""

    name: str
    place: int
    typed: bool
    """Whether it stands for a type; else for a value."""
    owner: Node
    """The template_declaration."""


@functools.lru_cache(maxsize=4096)
def declared(node: Node, name: str, unit: Unit) -> Declared | None:
    """The declaration of ``name`` that is seen at ``node``; None where there is none in this file."""
    at: Node | None = node
    for _ in range(_MAX_LEVELS):
        parent = at.parent if at is not None else None
        if at is None or parent is None:
            return None
        found = _inside(parent, at, name, unit) if parent.type in _SCOPES else None
        if found is not None:
            return found
        at = parent
    return None


def _inside(parent: Node, at: Node, name: str, unit: Unit) -> Declared | None:
    whole = parent.type in ("field_declaration_list", "for_range_loop")
    if unit.data.find(name.encode(), parent.start_byte, parent.end_byte if whole else at.end_byte) < 0:
        return None
    if parent.type in ("function_definition", "lambda_expression"):
        return _parameter(parent, name, unit)
    if parent.type == "for_range_loop":
        return declaration(parent, name, unit, "range") if at == parent.child_by_field_name("body") else None
    outer = "global" if parent.type in ("translation_unit", "declaration_list") else "local"
    where = "member" if parent.type == "field_declaration_list" else outer
    for node in reversed(_declaring(parent, unit.data).get(name, ())):
        if where == "member" or node.start_byte <= at.start_byte:
            found = declaration(node, name, unit, where)
            if found is not None:
                return found
    return None


_NAMES = re.compile(rb"[A-Za-z_]\w*")
_MACRO_BEFORE = re.compile(r"([A-Z][A-Z_]{2,}) ((?:unsigned|signed|long|short)\b.*)")


@functools.lru_cache(maxsize=1024)
def _declaring(parent: Node, data: bytes) -> dict[str, tuple[Node, ...]]:
    """The declarations of a block by every word in their declarators."""
    found: dict[str, tuple[Node, ...]] = {}
    for node in flat(parent.named_children):
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            end = value.start_byte if value is not None else declarator.end_byte
            for word in dict.fromkeys(_NAMES.findall(data, declarator.start_byte, end)):
                name = word.decode("ascii", "replace")
                found[name] = (*found.get(name, ()), node)
    return found


def flat(nodes: list[Node]) -> Iterator[Node]:
    """Declarations among the nodes, also those in preprocessor branches, initialisers of loops."""
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if node.type in _DECLARATIONS:
            yield node
        elif node.type in _BLOCKS or node.type == "init_statement":
            pending.extend(reversed(node.named_children))


def parameters(function: Node) -> list[Node]:
    """The parameter declarations of a function definition or lambda."""
    declarator = function.child_by_field_name("declarator")
    for _ in range(_MAX_DECLARATORS):
        if declarator is None:
            return []
        listed = declarator.child_by_field_name("parameters")
        if listed is not None:
            return [c for c in listed.named_children if c.type in _DECLARATIONS]
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else next(iter(declarator.named_children), None)
    return []


def parameter_at(function: Node, place: int) -> Node | None:
    """The declarator of a parameter of a function, by its place."""
    listed = parameters(function)
    return listed[place].child_by_field_name("declarator") if 0 <= place < len(listed) else None


def parameter_place(function: Node, name: str, unit: Unit) -> int:
    """Which parameter of a function bears a name; -1 for none."""
    for place in range(len(parameters(function))):
        declarator = parameter_at(function, place)
        found = named(declarator, unit) if declarator is not None else None
        if found is not None and found[0] == name:
            return place
    return -1


@functools.lru_cache(maxsize=1024)
def _named_parameters(function: Node, data: bytes) -> dict[str, tuple[Node, ...]]:
    """The parameter declarations of a function by every word in their declarators."""
    found: dict[str, tuple[Node, ...]] = {}
    for node in parameters(function):
        for declarator in node.children_by_field_name("declarator"):
            for word in dict.fromkeys(_NAMES.findall(data, declarator.start_byte, declarator.end_byte)):
                name = word.decode("ascii", "replace")
                found[name] = (*found.get(name, ()), node)
    return found


def _parameter(function: Node, name: str, unit: Unit) -> Declared | None:
    for node in _named_parameters(function, unit.data).get(name, ()):
        around = unit.function(function)
        found = declaration(node, name, unit, "parameter" if around and around.node == function else "argument")
        if found is not None:
            return found
    return None


def declaration(node: Node, name: str, unit: Unit, where: str) -> Declared | None:
    typed = node.child_by_field_name("type")
    if typed is None:
        return None
    for declarator in node.children_by_field_name("declarator"):
        # `T x(y);` in a function is a variable, though the grammar takes it for a function.
        inner = declarator.child_by_field_name("declarator")
        found = named(inner if where == "local" and declarator.type == "function_declarator" and inner is not None
                      else declarator, unit)  # fmt: skip
        if found is None or found[0] != name:
            continue
        value = declarator.child_by_field_name("value") or node.child_by_field_name("default_value")
        if value is None and where == "range":
            value = node.child_by_field_name("right")
        before = node.prev_sibling.end_byte if node.prev_sibling is not None else max(0, node.start_byte - 80)
        prefix = unit.data[max(before, node.start_byte - 80) : typed.start_byte].decode("utf-8", "replace")
        text = typed_text(typed, unit)
        between = unit.data[typed.end_byte : declarator.start_byte].decode("utf-8", "replace").strip()
        macro = _MACRO_BEFORE.match(text)
        if macro is not None:
            # `SHARED unsigned n;`: taken for a part of the type.
            prefix, text = f"{prefix} {macro[1]}", macro[2]
        if text.isupper() and between.replace("_", "").isalnum():
            # `SHARED uint n;`: a macro before the type was taken for it.
            text, prefix = between, f"{prefix} {text}"
        return Declared(text, found[1], declarator, value, where, " ".join(prefix.split()))
    return None


def typed_text(node: Node, unit: Unit) -> str:
    """A type as written; long ones (a struct with its body) only by name."""
    if node.type in (*STRUCTS, "enum_specifier"):
        name = node.child_by_field_name("name")
        return unit.text(name) if name is not None else ""
    return " ".join(unit.text(node).split())


def named(declarator: Node, unit: Unit) -> tuple[str, int] | None:
    """The name that a declarator declares, and its pointer levels."""
    depth = 0
    at: Node | None = declarator
    for _ in range(_MAX_DECLARATORS):
        if at is None:
            return None
        if at.type in ("identifier", "field_identifier"):
            return unit.text(at), depth
        if at.type in ("pointer_declarator", "abstract_pointer_declarator", "array_declarator"):
            depth += 1
        if at.type == "function_declarator":
            return None
        inner = at.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in at.named_children if c.type.endswith(("declarator", "identifier"))), None)
        at = inner
    return None


@functools.lru_cache(maxsize=1024)
def alias(node: Node, name: str, unit: Unit) -> str | None:
    """What ``using name = X`` or ``typedef X name`` makes of a name, seen at ``node``; the innermost one."""
    found: tuple[int, int] | None = None
    meaning: str | None = None
    for start in _aliases(name.encode(), unit.data):
        at = unit.root.descendant_for_byte_range(start, start + 1)
        while at is not None and at.type not in _ALIASES:
            at = at.parent
        scope = at.parent if at is not None else None
        while scope is not None and scope.type in _BLOCKS:
            scope = scope.parent
        text = _alias(at, name, unit) if at is not None else None
        if at is None or scope is None or text is None or not scope.start_byte <= node.start_byte < scope.end_byte:
            continue
        if found is None or (scope.start_byte, at.start_byte) > found:
            found, meaning = (scope.start_byte, at.start_byte), text
    return meaning


def _aliases(name: bytes, data: bytes) -> Iterator[int]:
    """Where ``using name`` and ``typedef ... name;`` begin."""
    for opening in (b"using " + name, b"typedef "):
        at = data.find(opening)
        while at >= 0:
            if opening != b"typedef " or data.find(name, at, data.find(b";", at) + 1) >= 0:
                yield at
            at = data.find(opening, at + 1)


def _alias(node: Node, name: str, unit: Unit) -> str | None:
    typed = node.child_by_field_name("type")
    if typed is None:
        return None
    if node.type == "alias_declaration":
        called = node.child_by_field_name("name")
        return typed_text(typed, unit) if called is not None and unit.text(called) == name else None
    for declarator in node.children_by_field_name("declarator"):
        if unit.text(declarator).strip(" *&") == name:
            return typed_text(typed, unit)
    return None


@functools.lru_cache(maxsize=1024)
def template_parameter(node: Node, name: str, unit: Unit) -> TemplateParameter | None:
    """The template parameter that ``name`` means at ``node``; None where no template around has one of this name."""
    at: Node | None = node
    for _ in range(_MAX_LEVELS):
        at = at.parent if at is not None else None
        if at is None:
            return None
        if at.type == "template_declaration":
            listed = at.child_by_field_name("parameters")
            for index, child in enumerate(listed.named_children if listed is not None else ()):
                if parameter_name(child, unit) == name:
                    return TemplateParameter(name, index, "type_parameter" in child.type, at)
    return None


def default_type(parameter: TemplateParameter, unit: Unit) -> str:
    """The type that a template parameter has where none is given: ``typename Index = int``; empty for none."""
    listed = parameter.owner.child_by_field_name("parameters")
    named = (
        (c for c in listed.named_children if parameter_name(c, unit) == parameter.name) if listed is not None else ()
    )
    default = next((node.child_by_field_name("default_type") for node in named), None)
    return unit.text(default) if default is not None else ""


def parameter_name(node: Node, unit: Unit) -> str:
    """The name of one parameter in ``template <...>``."""
    called = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    if called is None:
        called = next((c for c in node.named_children if c.type == "type_identifier"), None)
    return unit.text(called).strip(" *&.") if called is not None else ""
