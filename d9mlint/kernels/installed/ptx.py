"""The atomic instructions of a PTX text, with what its registers show: is the old value used, what does a loop compute.

Source: PTX ISA, https://docs.nvidia.com/cuda/parallel-thread-execution/.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.installed.atomic import Instruction, is_float
from d9mlint.kernels.judging.opcodes import Opcode, opcode
from d9mlint.kernels.sites import ptx

_HEADS = (b".entry ", b".func ")
_WORDS = (b"atom.", b"red.", b"cp.reduce.async.bulk")
_BEFORE = frozenset((b"", b" ", b"\t", b"\n", b"\r", b"{", b";", b"."))
"""What may stand before such a word (a dot: ``multimem.red``); most others are the end of ``shared.``."""
_REGISTER = re.compile(r"%[A-Za-z_]\w*")
_DEFINITION = re.compile(
    r"^[ \t{]*(?:@!?%\w+[ \t]+)?([a-z][\w.:]*)[ \t]+(%\w+)(?:\|%\w+)?[ \t]*,([^;\n]*);", re.MULTILINE
)
_COMPARISON = re.compile(r"^[ \t{]*(?:@!?%\w+[ \t]+)?setp\.(?:eq|ne)\.[^;\n]*;", re.MULTILINE)
_OPERAND = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^,\s]+")
_ARITHMETIC = ("add", "sub", "mul", "div", "fma", "mad", "min", "max")
_MOST_STEPS = 400


class _Definition(NamedTuple):
    opcode: str
    operands: tuple[str, ...]
    start: int


class _Function(NamedTuple):
    """A function with its text, and what its registers are made of (only looked up where something asks)."""

    name: str
    kernel: bool
    text: str
    made: dict[str, list[_Definition]]
    uses: Counter[str]
    compared: Counter[str]
    labels: dict[str, int]


def instructions(data: bytes) -> Iterator[Instruction]:
    """The atomic instructions of a PTX text, in its order; lines and columns are those of the text."""
    hits = sorted(at for word in _WORDS for at in _places(data, word) if data[at - 1 : at] in _BEFORE)
    if not hits:
        return
    heads = sorted(at for head in _HEADS for at in _places(data, head))
    lines = [-1, *_places(data, b"\n")]
    done = -1
    for hit in hits:
        if hit < done:
            continue
        number = bisect_right(heads, hit)
        start = heads[number - 1] if number else 0
        done = heads[number] if number < len(heads) else len(data)
        text = data[start:done]
        function = _function(text)
        for one in ptx.instructions(text):
            line = bisect_right(lines, start + one.start - 1)
            yield _read(one, function, line, start + one.start - lines[line - 1])


def _places(data: bytes, word: bytes) -> Iterator[int]:
    """Where a word stands."""
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 1)


def _function(data: bytes) -> _Function:
    text = data.decode("latin-1")  # one character a byte: places stay
    name, kernel = ptx.function_before(data, len(data))
    made: dict[str, list[_Definition]] = {}
    for match in _DEFINITION.finditer(text):
        operands = tuple(_OPERAND.findall(match[3]))
        made.setdefault(match[2], []).append(_Definition(match[1], operands, match.start()))
    compared = Counter(r for match in _COMPARISON.finditer(text) for r in _REGISTER.findall(match[0]))
    labels = {match[1]: match.start() for match in re.finditer(r"^(\$?\w+):", text, re.MULTILINE)}
    return _Function(name, kernel, text, made, Counter(_REGISTER.findall(text)), compared, labels)


def _read(one: ptx.Instruction, function: _Function, line: int, column: int) -> Instruction:
    seen = opcode(one.name) or Opcode(one.name.split(".")[-2] if "." in one.name else "", "", "unknown", False)
    operands = _OPERAND.findall(one.text[len(one.name) :])
    use = _use(operands[0], function) if seen.returns and operands else "unused"
    values = operands[2:] if seen.returns else operands[1:]
    swaps = seen.operation == "cas" and len(values) > 1
    return Instruction(
        function=function.name, kernel=function.kernel, name=one.name, operation=seen.operation, type=seen.type,
        memory=seen.memory, scope=one.scope, use=use, line=line, column=column, width=len(one.name),
        loop=swaps and _repeated(one, function),
        computes=_computed(values[0], values[1], function) if swaps else (),
        operand=_operand(values[1:] if swaps else values, function),
    )  # fmt: skip


def _use(result: str, function: _Function) -> str:
    """How the old value is used: each register is written once, so one mention is the instruction itself."""
    if result == "_":
        return "unused"
    registers = _REGISTER.findall(result)
    others = [function.uses[register] - 1 for register in registers]
    if not any(others):
        return "unused"
    return "ticket" if all(function.compared[r] == n for r, n in zip(registers, others, strict=True)) else "value"


def _repeated(one: ptx.Instruction, function: _Function) -> bool:
    """Whether the code after it may jump back to before it."""
    after = re.finditer(r"\bbra(?:\.uni)?[ \t]+(\$?\w+)", function.text[one.end : one.end + 4000])
    return any(function.labels.get(match[1], one.end) < one.start for match in after)


def _computed(old: str, new: str, function: _Function) -> tuple[str, ...]:
    """The arithmetic on the way from the expected value to the one that replaces it."""
    visited: dict[str, list[_Definition]] = {}
    pending = [new]
    while pending and len(visited) < _MOST_STEPS:
        register = pending.pop()
        if register in visited or register == old or not register.startswith("%"):
            continue
        visited[register] = [d for d in function.made.get(register, ()) if not d.opcode.startswith(("ld", "atom"))]
        pending.extend(operand for definition in visited[register] for operand in definition.operands)
    reached = {old}
    while True:
        more = {r for r, made in visited.items() if r not in reached and any(reached & set(d.operands) for d in made)}
        if not more:
            break
        reached |= more
    found = {
        _short(d.opcode)
        for register in reached & visited.keys() for d in visited[register] if reached & set(d.operands)
    }  # fmt: skip
    return tuple(sorted(found - {""}))


def _short(name: str) -> str:
    """``add.f32`` of ``add.rn.ftz.f32``; empty for what is no arithmetic."""
    words = name.split(".")
    return f"{words[0]}.{words[-1]}" if words[0] in _ARITHMETIC else ""


def _operand(values: list[str], function: _Function) -> str:
    """What is known of the value that is brought."""
    if not values:
        return ""
    value = values[0]
    for _ in range(8):
        if not value.startswith("%"):
            return _constant(value)
        made = function.made.get(value, [])
        if len(made) != 1:
            return ""
        words = made[0].opcode.split(".")
        if words[0] == "cvt" and is_float(words[-2]) and not is_float(words[-1]):
            return "whole"
        if words[0] != "mov" or not made[0].operands:
            return ""
        value = made[0].operands[0]
    return ""


def _constant(text: str) -> str:
    """``nan`` for a NaN, ``whole`` for a float without a fraction, ``same`` for any other constant."""
    if not re.fullmatch(r"0[fFdD][0-9A-Fa-f]+|-?\d+[uU]?|-?0[xX][0-9A-Fa-f]+[uU]?", text):
        return ""
    format_ = {"0f": ">f", "0d": ">d"}.get(text[:2].lower(), "")
    if not format_ or len(text) != 2 + 2 * struct.calcsize(format_):
        return "same"
    value = float(struct.unpack(format_, bytes.fromhex(text[2:]))[0])
    return "nan" if math.isnan(value) else "whole" if value.is_integer() else "same"
