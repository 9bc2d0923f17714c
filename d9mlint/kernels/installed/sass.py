"""The atomic instructions of a cubin: machine code of Volta (sm_70) and later, 16 bytes an instruction.

NVIDIA does not document the encoding. Sources: Mesa's assembler (``src/nouveau/compiler/nak/sm70_encode.rs``, OpAtom),
completed and checked against ``nvdisasm`` on the cubins of TensorFlow 2.21 (sm_70 to sm_90) and PyTorch 2.15 (sm_75 to
sm_120). The lowest nine bits name the instruction, bits 73-75 the type, from bit 87 on the operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.installed.atomic import Instruction, is_float
from d9mlint.kernels.installed.elf import Data, sections

OLDEST = 70
"""The first architecture with this encoding."""
_WIDTH = 16
_TEXT = ".text."
_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_TYPES = ("u32", "s32", "u64", "f32", "f16x2", "s64", "f64", "")
_FLOATS = ("f16x2", "f32", "", "bf16x2", "", "", "", "f64")
_EXCHANGE = 8
_COUNT = (10, 11)
"""ATOMS.POPC.INC: adds the number of threads that arrive."""
_NOWHERE = 255
"""RZ, the register that is always zero: an old value written there is not used."""
_BRANCH = 0x147
_LOADS = (0x180, 0x181, 0x182, 0x183, 0x184)
"""LD, LDG, LDC, LDL, LDS."""
_NEAR = 48
"""Instructions before a compare-and-swap among which the one that makes its new value is looked for."""
_ARITHMETIC = {
    0x009: "minmax.f32", 0x010: "add.s32", 0x017: "minmax.s32", 0x020: "mul.f32", 0x021: "add.f32", 0x023: "fma.f32",
    0x028: "mul.f64", 0x029: "add.f64", 0x02A: "minmax.f64", 0x02B: "fma.f64", 0x030: "add.f16", 0x031: "fma.f16",
    0x032: "mul.f16", 0x040: "minmax.f16", 0x048: "minmax.s32",
}  # fmt: skip


class _Form(NamedTuple):
    """One atomic instruction: its mnemonic, where the target lives, how operation and type are written."""

    mnemonic: str
    memory: str
    types: tuple[str, ...] = _TYPES
    returns: bool = True
    swap: bool = False
    exchange: bool = False
    """Whether four bits name the operation, exchange among them (else the fourth belongs to the address)."""


_FORMS = {
    0x18A: _Form("ATOM", "unknown", exchange=True),
    0x18B: _Form("ATOM.CAS", "unknown", swap=True),
    0x18C: _Form("ATOMS", "shared", exchange=True),
    0x18D: _Form("ATOMS.CAS", "shared", swap=True),
    0x18E: _Form("RED", "global", returns=False),
    0x1A2: _Form("ATOM", "unknown", _FLOATS),
    0x1A3: _Form("ATOMG", "global", _FLOATS),
    0x1A6: _Form("REDG", "global", _FLOATS, returns=False),
    0x1A8: _Form("ATOMG", "global", exchange=True),
    0x1A9: _Form("ATOMG.CAS", "global", swap=True),
}
_CANDIDATE = re.compile(b"[" + b"".join(re.escape(bytes([low])) for low in sorted({k & 0xFF for k in _FORMS})) + b"]")


def instructions(cubin: Data) -> Iterator[Instruction]:
    """The atomic instructions of a cubin, in its order; the line is the number of the 16 bytes in the file.

    Raises:
        Damaged: no ELF file, or one that is cut off.
    """
    for section in sections(cubin, _TEXT):
        code = cubin[section.offset : section.offset + section.size]
        lows = code[::_WIDTH]
        for match in _CANDIDATE.finditer(lows):
            at = match.start() * _WIDTH
            form = _FORMS.get(int.from_bytes(code[at : at + 2], "little") & 0x1FF)
            if form is not None and at + _WIDTH <= len(code):
                line = (section.offset + at) // _WIDTH + 1
                yield _read(code, at, form, section.name[len(_TEXT) :], line)


def _read(code: bytes, at: int, form: _Form, function: str, line: int) -> Instruction:
    word = int.from_bytes(code[at : at + _WIDTH], "little")
    operation, type_ = _meaning(word, form)
    name = ".".join(part for part in (form.mnemonic, "" if form.swap else operation.upper(), type_.upper()) if part)
    unused = not form.returns or (word >> 16) & 0xFF == _NOWHERE
    back = _jumps_back(code, at) if form.swap else None
    return Instruction(
        function=function, kernel=True, name=name, operation=operation, type=type_, memory=form.memory,
        scope="block" if form.memory == "shared" else "device", use="unused" if unused else "value",
        line=line, column=1, width=_WIDTH, loop=back is not None,
        computes=_computed(code, at, back) if back is not None else (),
    )  # fmt: skip


def _meaning(word: int, form: _Form) -> tuple[str, str]:
    """Operation and type."""
    type_ = form.types[(word >> 73) & 7]
    if form.swap:
        return "cas", "b64" if type_ == "u64" else "b32"
    number = (word >> 87) & 15
    if form.exchange and number in _COUNT:
        return "add", "u32"
    if form.exchange and number == _EXCHANGE:
        return "exch", type_.replace("u", "b")
    if form.exchange and number > _EXCHANGE:
        return "", type_
    return _OPERATIONS[number & 7], type_


def _jumps_back(code: bytes, at: int) -> int | None:
    """Where the loop around an instruction begins: the target of a near branch behind it that leads to before it."""
    for after in range(at + _WIDTH, min(at + 20 * _WIDTH, len(code) - _WIDTH + 1), _WIDTH):
        word = int.from_bytes(code[after : after + _WIDTH], "little")
        if word & 0x1FF == _BRANCH:
            high, low = _signed(word >> 34 & (1 << 48) - 1, 48), word >> 16 & 0xFF
            for offset in (high << 2, (high << 8 | low) << 2):  # until Ampere, since then; only one can be near
                target = after + _WIDTH + offset
                if target % _WIDTH == 0 and max(at - 16 * _NEAR * _WIDTH, 0) <= target <= at:
                    return target
    return None


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _computed(code: bytes, at: int, start: int) -> tuple[str, ...]:
    """The arithmetic that makes the new value of a compare-and-swap out of the expected one, within its loop."""
    swap = int.from_bytes(code[at : at + _WIDTH], "little")
    wanted, expected = {swap >> 64 & 0xFF}, swap >> 32 & 0xFF
    found: set[str] = set()
    for before in range(at - _WIDTH, max(start, at - _NEAR * _WIDTH) - 1, -_WIDTH):
        word = int.from_bytes(code[before : before + _WIDTH], "little")
        target = word >> 16 & 0xFF
        if target == _NOWHERE or not {target, target + 1} & wanted:
            continue
        if word & 0x1FF in _LOADS:
            continue  # what it loads is new; its registers are an address
        if word >> 24 & 0xFF != _NOWHERE:  # with zero for an operand it is a way to write a move or a constant
            found.add(_ARITHMETIC.get(word & 0x1FF, ""))
        sources = {word >> 24 & 0xFF, word >> 64 & 0xFF} | ({word >> 32 & 0xFF} if word >> 9 & 7 == 1 else set())
        wanted |= sources - {_NOWHERE}
    if expected not in wanted:
        return ()
    floats = {name for name in found if name and is_float(name.partition(".")[2])}
    return tuple(sorted(floats or found - {""}))
