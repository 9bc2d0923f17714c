"""A source of a PyTorch extension in blocks that can mention others: functions, macros, registrations."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites.macros import Macro
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.unit import Function, Unit
from d9mlint.kernels.torch import exports, pasted
from d9mlint.kernels.torch.tables import tables
from d9mlint.model import Location

MAX_BROKEN = 50
"""After so many parentheses that do not close, a file is no source worth reading on."""
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".H", ".cuh", ".inc", ".inl", ".tpp", ".ipp", ".tcc", ".txx", ".hu", ".muh")
_TOKEN = re.compile(
    rb'//[^\n]*|/\*.*?(?:\*/|\Z)|R"([^\s()\\]{0,16})\(.*?(?:\)\1"|\Z)|"((?:[^"\\\n]|\\.)*)"'
    rb"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*",
    re.DOTALL,
)
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\r\n|\\.)*)", re.MULTILINE | re.DOTALL)
_DEFINES = re.compile(
    rb"(?:\\?\s)*(?:template\s*<[^<>]*>(?:\\?\s)*)?(?:(?:inline|static)\s+)?[A-Za-z_][\w:]*(?:<[^<>;{}()]*>)?[\s*&]+(\w+)\s*\([^;{}#]*\)"
    rb"[^;{}()#]*\{"
)
"""A macro's body that begins with the definition of a function, whose name it does not put together."""
_STATEMENTS = (b"if", b"for", b"while", b"switch", b"catch")
_REGISTER = re.compile(rb"\bREGISTER_\w+[ \t]*(?=\()")
_OPERATORS = re.compile(rb"\bRegisterOperators\s*(?=\()|\b(?:torch|jit)::(class_)\s*(?=<)")
_INSTANCE = re.compile(rb"(?:\w+::)*(\w+)<[^<>;()\"]*>")
"""A string that is the name of a template's instance: a program has it compiled when it runs (NVRTC)."""
_OP_NAME = re.compile(rb"\w+::\w+(?:\.\w+)?\Z")
_CLASS = re.compile(rb"\b(?:class|struct)\s+(?=(\w+)(?:\s+(\w+))?)")
_NAMESPACE = re.compile(rb"\bnamespace[ \t]+((?:\w+::)*\w+)")
_WRAPPED = re.compile(r"[A-Z][A-Z0-9_]*\s*\(\s*(\w+)\s*\)?")
_LIBRARY = re.compile(r"(?:\w+_)?(?:PYBIND11_MODULE|NB_MODULE|TORCH_LIBRARY)(?:_[A-Z_]+)?\Z")
_AT_TOP = re.compile(
    rb"^((?:\w+_)?(?:PYBIND11_MODULE|NB_MODULE|TORCH_LIBRARY)(?:_[A-Z_]+)?)[ \t]*\(([^(){};]*)\)\s*(?=\{)", re.MULTILINE
)
"""A library that begins a line, outside of everything."""
_LIBRARIES = (b"PYBIND11_MODULE", b"NB_MODULE", b"TORCH_LIBRARY")
_FILLING = re.compile(rb"\[[^\[\]\n]{0,40}\]\s*\(\s*(?:py|pybind11|nb|nanobind)\s*::\s*module_?\s*&\s*\w+\s*\)")
_BY_BUILD = "TORCH_EXTENSION_NAME"
"""In place of the name of a module that the source does not say."""
_NONE: Mapping[bytes, list[Macro]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A piece of a source that has a name and mentions others.

    ``kind`` is ``function``, ``macro``, ``library`` (``PYBIND11_MODULE(...) {...}`` and its kin), ``operators``
    (``RegisterOperators().op(...)``, ``torch::class_<T>("ns", "Name").def(...)``), ``export`` (``NNVM_REGISTER_OP(x)``
    and its kin, named after it), ``register`` (``REGISTER_DISPATCH(stub, &fn)``: named after the stub, mentions the
    rest), ``table`` (of functions, outside of functions) or ``op`` (a registered operator, which other code can call by
    its name).
    """

    unit: Unit
    kind: str
    name: str
    start: int
    end: int
    words: Mapping[bytes, tuple[int, ...]]
    """Identifiers, and strings that name an operator (``ns::op``), with their places; not those in comments."""
    function: Function | None = None
    scope: str = ""
    """Its class; empty for a free function, also one that is defined as ``ns::f``."""
    arguments: tuple[str, ...] = ()
    """Of a library: ``TORCH_EXTENSION_NAME``, or the namespace and the dispatch key."""

    @property
    def label(self) -> str:
        """As reports name it."""
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def location(self) -> Location:
        """Its name's line, or its first."""
        node = self.function.node.child_by_field_name("declarator") if self.function is not None else None
        return self.unit.location(node) if node is not None else self.unit.span(self.start, self.end)

    def is_parameter(self, word: bytes) -> bool:
        """Whether a word is a type parameter of a template that this function or its class is."""
        node = self.function.node if self.function is not None else None
        kind = re.compile(rb"\b(?:typename|class)\s+(?:\.\.\.\s*)?" + re.escape(word) + rb"\b")
        while node is not None:
            if node.type == "template_declaration":
                listed = node.child_by_field_name("parameters")
                if listed is not None and kind.search(self.unit.data, listed.start_byte, listed.end_byte):
                    return True
            node = node.parent
        return False

    @property
    def template(self) -> bool:
        """Whether it is a function template outside of classes."""
        above = self.function.node.parent if self.function is not None and not self.scope else None
        return self.kind == "function" and above is not None and above.type == "template_declaration"

    @property
    def linked(self) -> bool:
        """Whether it is a kernel or a function of the host that a library exports as C does (``extern "C"``)."""
        if self.kind != "function" or self.function is None or self.scope or not _links(self.unit.data):
            return False
        if "__device__" in self.function.qualifier:
            return False
        node: tree_sitter.Node | None = self.function.node
        while node is not None:
            if node.type == "linkage_specification":
                return True
            node = node.parent
        return False

    @property
    def in_c(self) -> bool:
        """Whether it is a function in C that others can call."""
        return self.kind == "function" and self.unit.path.endswith(".c") and not self.internal

    @property
    def internal(self) -> bool:
        """Whether no other file can call it by its name."""
        if self.unit.path.endswith(HEADERS) or self.kind in ("register", "op"):
            return False
        if self.function is None:
            return self.kind == "macro"
        if "__global__" in self.function.qualifier:
            return True
        node: tree_sitter.Node | None = self.function.node
        if self.unit.data[self.function.node.start_byte :].startswith(b"static ") and not self.scope:
            return True
        while node is not None:
            if node.type == "namespace_definition" and node.child_by_field_name("name") is None:
                return True
            node = node.parent
        return False


@functools.lru_cache(maxsize=256)
def _links(data: bytes) -> bool:
    """Whether a source exports anything as C does; it is asked for each function in it."""
    return b'extern "C"' in data


class Blocks(NamedTuple):
    """All blocks of a source, and the names it defines: of functions and of classes that hold functions."""

    blocks: tuple[Block, ...]
    defined: Mapping[bytes, frozenset[str]] = {}
    """For each such name the methods (for a function, nothing)."""
    users: Mapping[bytes, tuple[int, ...]] = {}
    """For each word the blocks that mention it, by their place in ``blocks``."""

    def mentioning(self, *words: bytes) -> list[Block]:
        """The blocks that mention one of the words, in order."""
        return [self.blocks[at] for at in sorted({at for word in words for at in self.users.get(word, ())})]


def blocks(unit: Unit, libraries: Mapping[bytes, list[Macro]] = _NONE) -> Blocks:
    """Splits a source; ``libraries`` are macros of the repository that register (``pasted.registering``)."""
    found = [
        *_apart(unit, list(_functions(unit))),
        *_macros(unit),
        *_registrations(unit),
        *_operators(unit),
        *_exported(unit),
    ]
    found += _filled_later(unit)
    found += [block for made in pasted.units(unit, libraries) for block in _functions(made)]
    found += [Block(unit, "table", t.name, t.start, t.end, words(unit.data, t.start, t.end)) for t in tables(unit)]
    defined: dict[bytes, set[str]] = {}
    for block in found:
        if block.kind in ("function", "macro"):
            defined.setdefault((block.scope or block.name).encode(), set()).update([block.name] if block.scope else [])
    users: dict[bytes, list[int]] = {}
    for at, block in enumerate(found):
        for word in block.words:
            users.setdefault(word, []).append(at)
    return Blocks(
        tuple(found),
        {name: frozenset(methods) for name, methods in defined.items()},
        {word: tuple(places) for word, places in users.items()},
    )


def words(data: bytes, start: int, end: int) -> dict[bytes, tuple[int, ...]]:
    """The identifiers of a range and the strings in it that name an operator or an instance, with their places."""
    found: dict[bytes, list[int]] = {}
    for match in _TOKEN.finditer(data, start, end):
        text = match[2] if match[2] is not None else match[0]
        quoted = match[2] is not None
        instance = _INSTANCE.fullmatch(text) if quoted else None
        plain = not quoted and (text[:1].isalpha() or text[:1] == b"_") and not text.startswith(b'R"')
        if instance is not None:
            found.setdefault(instance[1], []).append(match.start(2) + instance.start(1))
        elif plain or (quoted and _OP_NAME.match(text)):
            found.setdefault(text, []).append(match.start())
    return {word: tuple(places) for word, places in found.items()}


def _functions(unit: Unit) -> Iterator[Block]:
    for function in unit.functions():
        node = function.node
        parameters = _parameters(node)
        start = parameters.start_byte if parameters is not None else node.start_byte
        name, scope, kind = function.name, function.scope, "function"
        arguments: tuple[str, ...] = ()
        head = unit.text(parameters)[1:-1] if parameters is not None else ""
        if " " in name or "\n" in name:  # an unknown macro before the type: the grammar takes the type for a scope
            name, scope = name.split()[-1], ""
        if _LIBRARY.match(name):
            kind, arguments = "library", tuple(part.strip() for part in head.split(","))
        elif wrapped := _WRAPPED.match(name):
            name = wrapped[1]  # TORCH_IMPL_FUNC(name)(...) {...}
        if scope and not in_class(node) and _is_namespace(unit, scope):
            scope = ""
        yield Block(
            unit, kind, name, start, node.end_byte, words(unit.data, start, node.end_byte), function, scope, arguments
        )


def _apart(unit: Unit, functions: list[Block]) -> Iterator[Block]:
    """The functions, and the libraries that a function of which the parser found no end seems to hold."""
    if not any(word in unit.data for word in _LIBRARIES):
        yield from functions
        return
    begun = {block.start for block in functions if block.kind == "library"}
    ends: dict[int, int] = {}
    for match in _AT_TOP.finditer(unit.data):
        if match.start(2) - 1 in begun:
            continue
        around = [at for at, block in enumerate(functions) if block.start < match.start() < block.end]
        closed = lexical.arguments(unit.data, match.end()) if around else None
        if closed is None:
            continue
        ends |= {at: min(match.start(), ends.get(at, match.start())) for at in around}
        arguments = tuple(part.strip() for part in match[2].decode("utf-8", "replace").split(","))
        start = match.start(2) - 1
        found = words(unit.data, start, closed[1])
        yield Block(unit, "library", match[1].decode(), start, closed[1], found, arguments=arguments)
    for at, block in enumerate(functions):
        cut = ends.get(at, block.end)
        yield block if cut == block.end else replace(block, end=cut, words=words(unit.data, block.start, cut))


def _parameters(node: tree_sitter.Node) -> tree_sitter.Node | None:
    at = node.child_by_field_name("declarator")
    for _ in range(20):
        if at is None or at.type == "function_declarator":
            break
        inner = at.child_by_field_name("declarator")
        at = inner if inner is not None else next(iter(at.named_children), None)
    return at.child_by_field_name("parameters") if at is not None else None


def in_class(node: tree_sitter.Node) -> bool:
    """Whether a definition stands within a class."""
    at = node.parent
    while at is not None:
        if at.type in ("class_specifier", "struct_specifier"):
            return True
        at = at.parent
    return False


def _is_namespace(unit: Unit, scope: str) -> bool:
    """Whether ``scope`` of ``scope::f`` is a namespace: nothing here uses it as a class, or it is opened here."""
    classes, namespaces = _named(unit.data)
    name = scope.encode()
    return name not in classes and (scope[:1].islower() or name in namespaces)


@functools.lru_cache(maxsize=256)
def _named(data: bytes) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """The words that may name a class in a source, and those of namespaces; it is asked for each function in it."""
    classes = (word for words in _CLASS.findall(data) for word in words)
    namespaces = (part for name in _NAMESPACE.findall(data) for part in name.split(b"::"))
    return frozenset(classes), frozenset(namespaces)


def _macros(unit: Unit) -> Iterator[Block]:
    if b"define" not in unit.data:
        return
    for match in _MACRO.finditer(unit.data):
        found = words(unit.data, match.start(2), match.end(2))
        if found:
            yield Block(unit, "macro", match[1].decode(), match.start(2), match.end(2), found)
            yield from _defined_by(unit, match, found)


def _defined_by(unit: Unit, macro: re.Match[bytes], found: dict[bytes, tuple[int, ...]]) -> Iterator[Block]:
    """The function that a macro defines under one name: ``#define RUN_FOR(T) void run(const P<T>& p) { f<T>(p); }``."""
    after = macro[2].find(b")") + 1 if macro[2][:1] == b"(" else 0
    defined = _DEFINES.match(unit.data, macro.start(2) + after, macro.end(2)) if b"{" in macro[2] else None
    parameters = macro[2][:after]
    if defined is None or defined[1] in _STATEMENTS:
        return
    if re.search(rb"\b" + defined[1] + rb"\b", parameters) is None:
        yield Block(unit, "function", defined[1].decode(), macro.start(2), macro.end(2), found)


def _registrations(unit: Unit) -> Iterator[Block]:
    broken = 0
    for match in _REGISTER.finditer(unit.data):
        if unit.data[unit.data.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip().startswith(b"#"):
            continue
        listed = lexical.arguments(unit.data, match.end()) if broken < MAX_BROKEN else None
        if listed is None or len(listed[0]) < 2:
            broken += listed is None
            continue
        (first, last), end = listed[0][0], listed[1]
        stub = re.search(rb"(\w+)\s*\Z", unit.data[first:last])
        if stub is not None:
            yield Block(unit, "register", stub[1].decode(), match.start(), end, words(unit.data, last, end))


def _exported(unit: Unit) -> Iterator[Block]:
    """The statements that register an op by a macro, with its name as an identifier or a string."""
    for one in exports.statements(unit):
        found: dict[bytes, tuple[int, ...]] = {}
        for first, last in one.mentions:
            for word, places in words(unit.data, first, last).items():
                found[word] = (*found.get(word, ()), *places)
        yield Block(unit, "export", one.name, one.start, one.end, found, arguments=(one.macro,))


def _filled_later(unit: Unit) -> Iterator[Block]:
    """The functions without a name outside of others that are given a module, which a registry calls with its own.

    ``static int done = [] { Registry::get().add("ops", [](py::module& m) { m.def("f", &f); }); return 0; }();``
    """
    if b"module" not in unit.data or b"[" not in unit.data:
        return
    for match in _FILLING.finditer(unit.data):
        at: tree_sitter.Node | None = unit.root.descendant_for_byte_range(match.start(), match.start() + 1)
        while at is not None and at.type != "lambda_expression":
            at = at.parent
        if at is not None and unit.function(at) is None:
            found = words(unit.data, at.start_byte, at.end_byte)
            yield Block(unit, "library", "PYBIND11_MODULE", at.start_byte, at.end_byte, found, arguments=(_BY_BUILD,))


def _operators(unit: Unit) -> Iterator[Block]:
    if b"RegisterOperators" not in unit.data and b"::class_" not in unit.data:
        return
    end = 0
    for match in _OPERATORS.finditer(unit.data):
        at = match.end()
        if at < end:
            continue  # within the statement before
        end = lexical.semicolon(unit.data, at)
        name, start = "RegisterOperators", at
        if match[1] is not None:
            node = unit.root.descendant_for_byte_range(match.start(), match.end())
            if node is not None and unit.function(node) is not None:
                continue  # a class of TorchScript that a function registers, which is a block itself
            name, start = "class_", match.start(1)
        yield Block(unit, "operators", name, start, end, words(unit.data, at, end))
