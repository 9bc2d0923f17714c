"""Objects whose call operator is a wrapper: where they are called, by themselves or through a template parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.sites.calls import Call, call_of, full_name, name_node
from d9mlint.kernels.sites.macros import defined_around
from d9mlint.kernels.sites.sightings import Knowledge, of_functor
from d9mlint.kernels.sites.wrappers import Definition
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, Repository
from d9mlint.kernels.source.unit import Unit

_TEMPLATE = re.compile(rb"\btemplate\s*<([^{};]{0,600}?)>\s*(?=[\w\[:_])")
_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)\s+(?:\.\.\.\s*)?(\w+)")
_MADE_AND_CALLED = re.compile(rb"\s*(?:\(\s*\)|\{\s*\})\s*\(")
_OBJECT = re.compile(rb"(?:\s+const\b)?[\s&*]+(\w+)\s*[,;=)({]")
_CALLED = re.compile(rb"\s*\(\s*[^)\s]")
_DECLARATIONS = (
    "declaration", "parameter_declaration", "optional_parameter_declaration", "init_declarator", "field_declaration",
)  # fmt: skip
_ADDRESSES = ("pointer_expression", "binary_expression", "cast_expression")
_POINTER = re.compile(rb"\w[\w:<>]*(?:\s+const)?\s*\*\s*(?:const\b|__restrict__)?\s*\Z")
_NAMED = re.compile(rb"\batomic_ref\b")
_VARIABLE = re.compile(rb"\s*(?:<[^;(){}]{0,200}>)?[\s&]+(\w+)\s*[({;,)=]")
_REFERENCE = re.compile(rb"(?:::)?(?:\w+::)*\w*atomic_ref\b\s*[<({][^;]*[)}]\Z")
_MAX_TEXT = 100_000
_MAX_PLACES = 2_000


def follow(known: Knowledge, name: str, path: str) -> None:
    """Notes the calls of a functor class in a file that names it, and in the templates there that may get it."""
    unit = known.repository.unit(path)
    if unit is None:
        return
    definitions = known.functors[name]
    mentioned = False
    for start in list(word_places(unit.data, name.encode()))[:_MAX_PLACES]:
        node = name_node(unit, start, start + len(name))
        if node is None:
            # The body of a macro that instantiates templates is no code to the parser.
            mentioned = mentioned or defined_around(path, unit.data, start) is not None
            continue
        if _is_head(node):
            continue
        mentioned = True
        through = _handed_to(full_name(node))
        if through is not None and _makes(known, path, through):
            continue
        for call in _calls_of_type(unit, node, start):
            _note(known, call, unit, path, definitions, sure=through is None)
    if mentioned:
        for where in _templates(known, path):
            _through_parameters(known, where, definitions)


def _is_head(node: tree_sitter.Node) -> bool:
    """Whether this names the class in its own definition."""
    full = full_name(node)
    parent = full.parent
    return parent is not None and parent.type in ("struct_specifier", "class_specifier")


def _templates(known: Knowledge, path: str) -> list[str]:
    """The file and the device sources it includes: templates that it may instantiate."""
    seen = known.repository.reachable(path)
    data = known.repository.data
    return [p for p in sorted(seen) if p == path or (p.endswith(KERNEL_SUFFIXES) and b"template" in data(p))]


def _through_parameters(known: Knowledge, path: str, definitions: list[Definition]) -> None:
    data = known.repository.data(path)
    names = {n for t in _TEMPLATE.finditer(data) for n in _TYPE_PARAMETER.findall(t[1])}
    called = [n for n in sorted(names) if _may_be_called(data, n)]
    unit = known.repository.unit(path) if called else None
    if unit is None:
        return
    for name in called:
        for start in list(word_places(data, name))[:_MAX_PLACES]:
            node = name_node(unit, start, start + len(name))
            if node is None:
                continue
            through = _handed_to(full_name(node))
            if through is None or not _makes(known, path, through):
                for call in _calls_of_type(unit, node, start):
                    _note(known, call, unit, path, definitions, sure=False)


def _makes(known: Knowledge, path: str, called: tree_sitter.Node) -> bool:
    """Whether ``complex<T>`` of ``complex<T>(x, y)`` is a class that the file sees, of which an object is made."""
    name = (called.text or b"").partition(b"<")[0].rpartition(b"::")[2].strip()
    return known.repository.derived(_sees_class, f"{path}\0{name.decode('latin-1')}")


def _sees_class(repository: Repository, key: str) -> bool:
    path, name = key.split("\0")
    heads = tuple(f"{word} {name}".encode("latin-1") for word in ("struct", "class"))
    texts = (repository.data(source) for source in repository.reachable(path))
    return any(head in text and re.search(head + rb"\b", text) is not None for text in texts for head in heads)


def _may_be_called(data: bytes, parameter: bytes) -> bool:
    """Whether an object of this type is made and called, or declared and called."""
    objects: set[bytes] = set()
    for start in word_places(data, parameter):
        end = start + len(parameter)
        if _MADE_AND_CALLED.match(data, end):
            return True
        declared = _OBJECT.match(data, end, end + 200)
        if declared is not None:
            objects.add(declared[1])
    return any(_CALLED.match(data, at + len(name)) for name in sorted(objects) for at in word_places(data, name))


def _note(known: Knowledge, call: Call, unit: Unit, path: str, definitions: list[Definition], *, sure: bool) -> None:
    """Notes a call of a functor; through a template parameter only where the first argument is an address."""
    fitting = [d for d in definitions if d.takes(len(call.arguments)) and (not d.refers or _refers(call))]
    if not fitting or not call.arguments or not (sure or _is_address(call)):
        return
    key = (path, call.start)
    noted = known.functor_calls[key]
    noted += [d for d in fitting if d not in noted]
    found = of_functor(call, unit)
    if not any(found.owner == d for d in fitting):
        known.add(key, found)


def _refers(call: Call) -> bool:
    """Whether the first argument is an ``atomic_ref``: made there, or a variable that is declared as one."""
    first = call.arguments[0] if call.arguments else None
    if is_reference(first) or first is None or first.type != "identifier" or call.function is None:
        return is_reference(first)
    text = (call.function.node.text or b"")[:_MAX_TEXT]
    return re.search(rb"atomic_ref\b[^;()]{0,200}[\s>&]" + re.escape(first.text or b"?") + rb"\b", text) is not None


def _is_address(call: Call) -> bool:
    """Whether the first argument is an address: by its form, or as a name that is declared a pointer."""
    first = call.arguments[0]
    if first.type == "binary_expression":
        while first.type == "binary_expression" and first.named_children:
            first = first.named_children[0]
        if first.type != "identifier" or not _local(call, first.text or b"?"):
            return True
    if first.type in _ADDRESSES or _refers(call):
        return True
    if first.type != "identifier" or call.function is None:
        return False
    text = (call.function.node.text or b"")[:_MAX_TEXT]
    return any(_POINTER.search(text, max(0, at - 60), at) is not None for at in word_places(text, first.text or b"?"))


def handed(unit: Unit, named: bool = False) -> Iterator[Call]:
    """The calls of objects on the device that are handed a reference: ``op(cuda::atomic_ref<T>{x}, v)``.

    What they do to the cell is up to their class. ``named``: also those that are handed a variable of that type.
    """
    for node in _references(unit, named):
        at: tree_sitter.Node | None = node
        while at is not None and (at.parent is None or at.parent.type != "argument_list"):
            at = at.parent
        listed = at.parent if at is not None and (is_reference(at) or at == node) else None
        callee = listed.parent.child_by_field_name("function") if listed is not None and listed.parent else None
        if callee is None or callee.type != "identifier" or not unit.on_device(callee):
            continue
        call = call_of(unit, callee, callee.start_byte, unit.text(callee))
        if call is not None and call.arguments[0] == at and _refers(call) and _local(call, callee.text or b"?"):
            yield call


def _references(unit: Unit, named: bool) -> Iterator[tree_sitter.Node]:
    """Where an ``atomic_ref`` stands; ``named``: also where the variables of that type do."""
    for match in _NAMED.finditer(unit.data):
        node = unit.root.descendant_for_byte_range(match.start(), match.end())
        if node is None:
            continue
        yield node
        declared = _VARIABLE.match(unit.data, match.end()) if named else None
        function = unit.function(node) if declared is not None else None
        if declared is None or function is None:
            continue
        for start in word_places(unit.data[: function.node.end_byte], declared[1]):
            used = name_node(unit, start, start + len(declared[1])) if start > match.end() else None
            if used is not None:
                yield used


def is_reference(node: tree_sitter.Node | None) -> bool:
    """Whether an expression makes an ``atomic_ref``: ``cuda::atomic_ref<T>{x}``."""
    if node is None:
        return False
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    made = node.type == "compound_literal_expression" or (called is not None and called.type != "field_expression")
    return made and _REFERENCE.match(node.text or b"") is not None


def _local(call: Call, name: bytes) -> bool:
    """Whether the function around a call declares a name."""
    text = (call.function.node.text or b"")[:_MAX_TEXT] if call.function is not None else b""
    return re.search(rb"[\w>][\s*&]+" + re.escape(name) + rb"\s*[=,;:)({\[]", text) is not None


def _calls_of_type(unit: Unit, node: tree_sitter.Node, start: int) -> Iterator[Call]:
    """``F()(x)``, ``F{}(x)``, and ``f(x)`` for an ``f`` declared as an ``F`` here."""
    full = full_name(node)
    made = full.parent
    if made is None:
        return
    through = _handed_to(full)
    if through is not None:
        call = call_of(unit, through, start, unit.text(node))
        if call is not None:
            yield call
        return
    if made.type in ("call_expression", "compound_literal_expression"):
        call = call_of(unit, made, start, unit.text(node))
        if call is not None:
            yield call
            return
        made = made.parent
    name = _declared(made)
    if name is not None:
        yield from _calls_of_variable(unit, name)


def _handed_to(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """``run<F>`` of ``run<F>(p, x)``, where the class stands among the arguments of a function that is called."""
    at = node.parent if node.parent is not None and node.parent.type == "type_descriptor" else node
    listed = at.parent if at.parent is not None and at.parent.type == "template_argument_list" else None
    named = listed.parent if listed is not None else None
    if named is not None and (named.text or b"").split(b"<", 1)[0].endswith(b"_cast"):
        return None
    while named is not None and named.type in ("template_function", "qualified_identifier"):
        if named.parent is not None and named.parent.type == "call_expression":
            return named
        named = named.parent
    return None


def _declared(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """The name that a declaration with this type, or with this as its value, introduces."""
    if node is None or node.type not in _DECLARATIONS:
        return None
    inner: tree_sitter.Node | None = node.child_by_field_name("declarator")
    while inner is not None and inner.type not in ("identifier", "field_identifier"):
        deeper = inner.child_by_field_name("declarator")
        inner = deeper if deeper is not None else next(iter(inner.named_children), None)
    return inner


def _calls_of_variable(unit: Unit, name: tree_sitter.Node) -> Iterator[Call]:
    written = name.text or b""
    function = unit.function(name)
    first, last = (function.node.start_byte, function.node.end_byte) if function else (0, len(unit.data))
    for start in word_places(unit.data[:last], written) if written else ():
        node = name_node(unit, start, start + len(written)) if start >= first else None
        if node is not None and node.type in ("identifier", "field_identifier"):
            call = call_of(unit, node, start, unit.text(node))
            if call is not None:
                yield call
