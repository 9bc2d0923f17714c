"""How templates and type names are used: under which name, by which call, and what aliases make of a name."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.declarations import TemplateParameter
from d9mlint.kernels.judging.known.scalars import arguments, element, kind, plain, short
from d9mlint.kernels.judging.known.spelled import Type
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import code
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_FILES = 60
_MAX_LEVELS = 12
_PIECES = (".inl", ".inc", ".tpp", ".ipp", ".tcc", ".txx")
"""Sources that see what the files that include them see."""
_MAX_ARGUMENTS = 2000
_BLANK = re.compile(rb"[\s\\]*")
_ALIAS = rb"\busing\s+%s\s*=\s*([^;{}]{1,300});|\btypedef\s+([^;{}]{1,200}?)\s+%s\s*;"


class Used(NamedTuple):
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


def used_as(parameter: TemplateParameter, unit: Unit) -> Used:
    """The name under which the template of a parameter is used, the parameter's place there, and its function.

    For ``template <typename T> struct F<GPU, T>`` the place is 1, the one in the arguments of the specialisation.
    """
    for child in parameter.owner.named_children:
        if child.type in ("struct_specifier", "class_specifier"):
            name = child.child_by_field_name("name")
            return _placed(unit.text(name), parameter, None) if name is not None else Used()
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
    return Used()


def _placed(text: str, parameter: TemplateParameter, function: Node | None) -> Used:
    name = short(text.partition("<")[0])
    given = arguments(text[text.find("<") :]) if "<" in text else []
    for index, argument in enumerate(given):
        if re.search(rf"\b{re.escape(parameter.name)}\b", argument):
            return Used(name, index, function, tuple(given))
    return Used(name, parameter.place, function, tuple(given))


def aliases(repository: Repository, key: str) -> tuple[tuple[str, int, str], ...]:
    """What ``using name = X`` and ``typedef X name`` make of a name in the files that a file sees: file, byte and X.

    ``key`` is the name and the file, with a NUL between them; with one more behind, those that see the file count, too.
    """
    name, seeing, *wide = key.split("\0")
    paths = seen_from(repository, seeing) | (repository.users(seeing) if wide else frozenset())
    wanted = name.encode()
    pattern = re.compile(_ALIAS % (re.escape(wanted), re.escape(wanted)))
    found = [
        (path, match.start(), " ".join((match[1] or match[2]).decode("utf-8", "replace").split()))
        for path in repository.holding(wanted)
        if path in paths
        for match in pattern.finditer(code(repository, path))
    ]
    return tuple(found[:_MAX_FILES])


def stands_in(alias: tuple[str, int, str], owner: str, repository: Repository) -> bool:
    """Whether an alias, by file and byte, stands in the class of a name."""
    unit = repository.unit(alias[0])
    node = unit.root.descendant_for_byte_range(alias[1], alias[1] + 1) if unit is not None else None
    while node is not None and node.type not in ("struct_specifier", "class_specifier"):
        node = node.parent
    named = node.child_by_field_name("name") if node is not None else None
    return unit is not None and named is not None and short(unit.text(named)) == short(owner)


def seen_from(repository: Repository, path: str) -> frozenset[str]:
    """The files whose definitions a file sees; a piece of source sees what those that include it see."""
    pieces = repository.users(path) if path.endswith(_PIECES) else frozenset()
    return repository.reachable(path).union(*(repository.reachable(user) for user in pieces))


def after_arguments(data: bytes, opening: int) -> int:
    """The first byte that is no blank behind the template arguments that open here; the opening where none close."""
    depth = 0
    for at in range(opening, min(len(data), opening + _MAX_ARGUMENTS)):
        depth += {60: 1, 62: -1, 40: 1, 41: -1}.get(data[at], 0)  # < > ( )
        if depth == 0:
            blank = _BLANK.match(data, at + 1)
            return blank.end() if blank is not None else at + 1
    return opening


def heads(owner: Node, at: int, unit: Unit) -> bool:
    """Whether a byte is in the head of a template's definition (its own name)."""
    if not owner.start_byte <= at < owner.end_byte:
        return False
    body = unit.data.find(b"{", owner.start_byte, owner.end_byte)
    return body < 0 or at < body


def specialises(data: bytes, at: int, start: int) -> bool:
    """Whether a name with template arguments heads the definition of another specialisation."""
    if not re.search(rb"\b(?:struct|class)\s+(?:\w+::)*\Z", data[max(0, at - 80) : at]):
        return False
    depth = 0
    for end in range(start, min(len(data), start + 1000)):
        depth += (data[end] == 60) - (data[end] == 62)
        if depth == 0:
            return data[end + 1 : end + 200].lstrip()[:1] in (b"{", b":")
    return False


def specialised(name: str, unit: Unit) -> frozenset[str]:
    """The types for which a source has full specialisations of a template: ``template <> void f<int>(...)``."""
    if b"template" not in unit.data:
        return frozenset()
    given = rb"\s*<\s*([\w:]+(?:\s+\w+)*)\s*>(?=\s*(?:[({;]|:(?!:)|final\b))"
    head = rb"\btemplate\s*<\s*>\s[^;{}()<>]*?\b" + re.escape(name.encode()) + given
    return frozenset(short(match[1].decode("utf-8", "replace")) for match in re.finditer(head, unit.data))


def defines_there(unit: Unit, at: int) -> bool:
    """Whether a name is that of a function that is defined or declared there."""
    node: Node | None = unit.root.descendant_for_byte_range(at, at + 1)
    while node is not None and node.type in ("identifier", "qualified_identifier", "template_function"):
        node = node.parent
    return node is not None and node.type == "function_declarator"


def call_at(unit: Unit, at: int, levels: int = 6) -> Node | None:
    """The call whose function, or a macro's argument, is named at a byte."""
    node: Node | None = unit.root.descendant_for_byte_range(at, at + 1)
    for _ in range(levels):
        if node is None or node.type == "call_expression":
            return node
        node = node.parent
    return None


def pasted(repository: Repository, key: str) -> tuple[tuple[str, int], ...]:
    """Where macros put a name together whose end they write: ``name##NCHW<T>`` for ``_Im2ColNCHW``.

    By file and the byte at which the name would begin; the file of the template has to hold the first part as a word.
    """
    name, path = (part.encode() for part in key.split("\0"))
    data = code(repository, path.decode()) if b"##" in repository.data(path.decode()) else b""
    places = [m for m in re.finditer(rb"\w##(\w+)", data) if name.endswith(m[1]) and len(m[1]) < len(name)]
    held = [m for m in places if next(lexical.word_places(data, name[: -len(m[1])]), None) is not None]
    return tuple((path.decode(), m.end() - len(name)) for m in held)


def standing_for(parameter: str, declared: str, given: str) -> str:
    """What stands in ``View<int, float>`` where ``View<I, T>`` names a parameter, also deeper inside.

    Of another class it is the element type, where the parameter is that of the first; empty where nothing is certain.
    """
    found = _matched(parameter, declared, given)
    return found or (element(given) if element(declared) == parameter else "")


def _matched(parameter: str, declared: str, given: str, levels: int = 6) -> str:
    if plain(declared) == parameter:
        return plain(given)
    own, other = (arguments(text[text.find("<") :]) if "<" in text else [] for text in (declared, given))
    heads_ = {short(text.partition("<")[0]) for text in (declared, given)}
    if not levels or len(heads_) > 1 or len(own) != len(other):
        return ""
    found = (_matched(parameter, one, that, levels - 1) for one, that in zip(own, other, strict=True))
    return next((one for one in found if one), "")


def asserted(name: str, owner: Node, unit: Unit) -> tuple[str, ...]:
    """The scalars that a ``static_assert`` of a template admits: ``std::is_same<T, int>::value || ...``."""
    if unit.data.find(b"static_assert", owner.start_byte, owner.end_byte) < 0:
        return ()
    same = re.compile(rf"(!\s*)?(?:std::)?is_same(?:_v)?\s*<\s*{re.escape(name)}\s*,\s*([\w:]+(?: \w+)*)\s*>")
    for clause in re.findall(r"static_assert\s*\(([^;]{1,1500});", unit.text(owner)):
        found = same.findall(clause)
        if found and all(not negated and kind(typed) for negated, typed in found):
            return tuple(dict.fromkeys(short(typed) for _, typed in found))
    return ()


def substituted(found: Type, struct: str, body: Node, unit: Unit) -> Type:
    """A member's type with the template arguments of ``Struct<float>`` put in."""
    parameter = declarations.template_parameter(body, found.name, unit)
    if parameter is None or "<" not in struct:
        return found
    given = arguments(struct[struct.find("<") :])
    return Type(plain(given[parameter.place]), found.depth) if parameter.place < len(given) else found
