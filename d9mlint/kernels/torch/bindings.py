"""The registrations in a block of C++: ``m.def("name", &fn)``, ``m.impl("name", ...)``, and those by macros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.source import lexical
from d9mlint.kernels.torch.blocks import MAX_BROKEN, Block
from d9mlint.model import Location

_DEFINE = re.compile(rb"\.\s*(?:def|def_static|def_readwrite|impl|op)\s*(?=\()")
_DEFINE_BY_MACRO = re.compile(_DEFINE.pattern + rb"|\b[A-Z][A-Z0-9_]{3,}\s*(?=\()")
"""In a library also a macro that is given a name and a function: ``DISPATCH_TO_CUDA("name", function)``."""
_NAMING = re.compile(
    rb"#[ \t]*define[ \t]+(\w+)\(\s*(\w+)\s*\)(?:[^\n\\]|\\\r?\n)*?\.\s*(?:def|impl)\s*\("
    rb"\s*(?:#\s*|\w*STR\w*\s*\(\s*)\2\b"
)
"""A macro that registers a function under its own name: ``#define REG(f) m.def(#f, &f)``, ``m.def(STR(f), &f)``."""
_STRING = re.compile(rb'"((?:[^"\\\n]|\\.)*)"')
_OWNER = re.compile(rb'class_\s*<.{0,300}?>\s*\(\s*(?:\w+\s*,\s*)?"(\w+)"', re.DOTALL)
_SCRIPTED = re.compile(rb'class_\s*<.{0,300}?>\s*\(\s*"(\w+)"\s*,\s*"(\w+)"', re.DOTALL)
"""A class of TorchScript, with its namespace (torch/custom_class.h)."""
_HOLDERS = re.compile(
    rb"\b(\w+)\s*=\s*(?:(?:py::|pybind11::|nb::)?(static_cast|reinterpret_borrow|cast)\s*<([^;]{0,600}?)>\s*\(\s*)?"
    rb'(\w+)\s*\.\s*(?:attr|def_submodule)\s*\(\s*"(\w+)"'
    rb'|\bclass_\s*<[^;(){}]{0,600}>\s*(\w+)\s*[({]\s*(\w+)\s*,\s*"(\w+)"'
)
"""Variables that stand for a submodule or a class of a module: ``auto sub = m.def_submodule("ops")``,
``auto shape = static_cast<py::class_<Shape>>(m.attr("Shape"))``, ``py::class_<Shape> shape(m, "Shape")``."""
_RECEIVER = re.compile(rb"(?<![\w.>])(\w+)\s*\.\s*(?:def\w*|impl|op)\s*\(")
_CODE = re.compile(rb"[\[{]|\binit\b")
"""Before a string in a first argument: that is a constructor or a function itself, not a name."""
_PIECE = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)|[(){}\[\];]', re.DOTALL)


class Binding(NamedTuple):
    """A name under which a library registers a function: ``m.def("name", &fn)``, ``m.impl("name", ...)``."""

    name: str
    start: int
    end: int
    block: Block
    within: str = ""
    """The submodules of the library in which it is registered, dotted."""

    @property
    def location(self) -> Location:
        """Where it is registered."""
        return self.block.unit.span(self.start, self.end)


def _statement_end(data: bytes, start: int, end: int) -> int:
    """The byte of the ``;`` that ends a statement begun before ``start``, outside of its brackets."""
    depth = 0
    for match in _PIECE.finditer(data, start, end):
        piece = match[0]
        if piece in (b"(", b"{", b"["):
            depth += 1
        elif piece in (b")", b"}", b"]"):
            depth -= 1
        elif piece == b";" and depth <= 0:
            return match.start()
    return end


def bindings(block: Block) -> list[Binding]:
    """The registrations in a block; an exported function is one itself."""
    if block.kind == "export":
        return [Binding(block.name, block.start, block.end, block)]
    found: list[Binding] = []
    broken = 0
    data = block.unit.data
    owners = [
        (_statement_end(data, m.end(), block.end), m.start(), m[1].decode())
        for m in (_OWNER.finditer(data, block.start, block.end) if b"class_" in data else ())
    ]
    if b"define" in data:
        found += _named_by_macros(block)
    statements = list(_of_holders(block))
    scripted = _SCRIPTED.match(data, block.start) if block.name == "class_" else None
    if scripted is not None:
        owners, statements = [], [(block.start, block.end, Holder(scripted[1].decode(), scripted[2].decode()))]
    defining = _DEFINE_BY_MACRO if block.kind == "library" else _DEFINE
    for match in defining.finditer(data, block.start, block.end):
        if lexical.in_line_comment(data, match.start()):
            continue
        listed = lexical.arguments(data, match.end()) if broken < MAX_BROKEN else None
        if listed is None or not listed[0]:
            broken += listed is None
            continue
        name = _STRING.search(data, *listed[0][0])
        if (
            name is None
            or _CODE.search(data, listed[0][0][0], name.start()) is not None
            or (match[0][:1] != b"." and len(listed[0]) < 2)
        ):
            continue
        text = name[1].decode("utf-8", "replace").partition("(")[0].strip()
        owner = next((name for end, start, name in reversed(owners) if start < match.start() < end), "")
        receivers = (at for start, end, at in reversed(statements) if start <= match.start() < end)
        holder = next(receivers, _NO_HOLDER)
        owner = owner or holder.owner
        text = f"{owner}.{text}" if owner else text
        found.append(Binding(text, match.start(), listed[1], block, holder.within))
    return found


def _named_by_macros(block: Block) -> Iterator[Binding]:
    data = block.unit.data
    for macro in _NAMING.finditer(data):
        for place in block.words.get(macro[1], ()):
            given = re.compile(rb"\s*\(\s*(\w+)\s*\)").match(data, place + len(macro[1]))
            if given is not None and not macro.start() <= place < macro.end():
                yield Binding(given[1].decode(), place, given.end(), block)


class Holder(NamedTuple):
    """What a variable in a registering function stands for: submodules, dotted, and a class in them."""

    within: str = ""
    owner: str = ""


_NO_HOLDER = Holder()


def _of_holders(block: Block) -> Iterator[tuple[int, int, Holder]]:
    """The statements that define things in a submodule or class, which chains of ``.def(...)`` go on with."""
    data, held = block.unit.data, holders(block)
    for match in _RECEIVER.finditer(data, block.start, block.end) if held else ():
        if match[1] in held:
            yield match.start(), _statement_end(data, match.start(), block.end), held[match[1]]


def holders(block: Block) -> dict[bytes, Holder]:
    """The variables of a block that stand for submodules and classes of the module that it is given."""
    found: dict[bytes, Holder] = {}
    if not {b"def_submodule", b"attr", b"class_"}.isdisjoint(block.words):
        for match in _HOLDERS.finditer(block.unit.data, block.start, block.end):
            variable, above, name = (match[1], match[4], match[5]) if match[1] else (match[6], match[7], match[8])
            outer = found.get(above, _NO_HOLDER).within
            of_class = match[6] or b"class_" in (match[3] or b"")
            named = name.decode()
            found[variable] = Holder(outer, named) if of_class else Holder(dotted(outer, named))
    return found


def dotted(*modules: str) -> str:
    """The name of a module that stands in others; those without a name are left out."""
    return ".".join(module for module in modules if module)
