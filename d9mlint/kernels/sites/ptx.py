"""Atomic instructions of PTX: in inline assembler, in strings, in ``.ptx`` files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.source.unit import Unit

# PTX ISA, "Parallel Synchronization and Communication Instructions" (atom, red, red.async, multimem.red) and
# "Data Movement" (cp.reduce.async.bulk).
INSTRUCTION = re.compile(
    rb"(?<![\w.%$])(?:multimem\.)?(?:atom|red)(?:\.[\w:]+)*\.(?:add|and|or|xor|cas|exch|inc|dec|min|max)\b(?:\.[\w:]+)*"
    rb"|(?<![\w.%$])cp\.reduce\.async\.bulk(?:\.[\w:]+)*\.(?:add|and|or|xor|inc|dec|min|max)\b(?:\.[\w:]+)*"
)
_ANY = re.compile(INSTRUCTION.pattern + rb"|(?<![\w.%$])(?:atom|red)(?:\.[\w:]+)+")
_FUNCTION = re.compile(rb"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
INTRINSICS = {
    "add": "atomicAdd", "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor", "cas": "atomicCAS",
    "exch": "atomicExch", "inc": "atomicInc", "dec": "atomicDec", "min": "atomicMin", "max": "atomicMax",
}  # fmt: skip
NAMES = frozenset(INTRINSICS)
_OPERAND = re.compile(r"%(\d+|\[\w+\])")
_TARGET = re.compile(r"\[\s*%(\d+|\[\w+\])")
_ESCAPE = re.compile(rb"\\[nrt]|\\\r?\n")


class Instruction(NamedTuple):
    """One atomic instruction: ``name`` with its modifiers, ``text`` up to the semicolon."""

    name: str
    intrinsic: str
    scope: str
    text: str
    start: int
    """Where it stands in the text that was read."""
    end: int


def instructions(text: bytes, loose: bool = False) -> Iterator[Instruction]:
    """The atomic instructions in PTX, without those in comments.

    ``loose`` takes those whose operation is not known yet, too: a parameter of the macro they stand in.
    """
    clean = re.sub(rb"//[^\n]*|/\*.*?\*/", lambda m: b" " * len(m[0]), text, flags=re.DOTALL)
    for match in (_ANY if loose else INSTRUCTION).finditer(clean):
        name = match[0].decode("ascii", "replace")
        end = min(n for n in (clean.find(b";", match.end()), match.end() + 300, len(clean)) if n >= 0)
        words = set(name.split("."))
        scope = "system" if "sys" in words else "block" if words & {"cta", "cluster"} else "device"
        operation = next((w for w in reversed(name.split(".")) if w in INTRINSICS), "")
        body = " ".join(clean[match.start() : end].decode("utf-8", "replace").split())
        yield Instruction(name, INTRINSICS.get(operation, ""), scope, body, match.start(), match.end())


def function_before(text: bytes, at: int) -> tuple[str, bool]:
    """The name of the PTX function around a byte, and whether it is a kernel."""
    name, kernel = "", False
    for match in _FUNCTION.finditer(text, 0, at):
        name, kernel = match[1].decode("ascii", "replace"), match[0].startswith(b".entry")
    return name, kernel


def statement(unit: Unit, start: int, word: bytes) -> tree_sitter.Node | None:
    """The inline assembler whose keyword stands at a byte."""
    node = unit.root.descendant_for_byte_range(start, start + len(word))
    while node is not None and node.type != "gnu_asm_expression":
        if node.start_byte < start:
            return None
        node = node.parent
    return node


def template(unit: Unit, node: tree_sitter.Node) -> bytes:
    """The text that inline assembler passes on: its strings joined, escapes blank, words between them kept."""
    code = node.child_by_field_name("assembly_code")
    if code is None:
        return b""
    out: list[bytes] = []
    pending = [code]
    while pending:
        at = pending.pop()
        if at.type in ("string_content", "raw_string_content"):
            out.append(unit.data[at.start_byte : at.end_byte])
        elif at.type == "escape_sequence":
            out.append(b"\n")
        elif at.type == "identifier":
            out.append(at.text or b"")
        pending.extend(reversed(at.named_children))
    return _ESCAPE.sub(b"\n", b"".join(out))


def operands(node: tree_sitter.Node, text: str) -> tuple[tree_sitter.Node, ...]:
    """The C++ expressions an instruction works on: the address first, then the values in order."""
    listed: list[tree_sitter.Node] = []
    symbols: dict[str, int] = {}
    for name, kind in (("output_operands", "gnu_asm_output_operand"), ("input_operands", "gnu_asm_input_operand")):
        operand_list = node.child_by_field_name(name)
        for operand in operand_list.named_children if operand_list is not None else []:
            value = operand.child_by_field_name("value")
            if operand.type == kind and value is not None:
                symbol = operand.child_by_field_name("symbol")
                if symbol is not None and symbol.text:
                    symbols[f"[{symbol.text.decode('utf-8', 'replace')}]"] = len(listed)
                listed.append(value)
    target = _TARGET.search(text)
    if target is None:
        return ()
    order = [target[1], *(m[1] for m in _OPERAND.finditer(text, target.end()))]
    numbers = [int(o) if o.isdigit() else symbols.get(o, -1) for o in order]
    return tuple(listed[n] for n in numbers if 0 <= n < len(listed))
