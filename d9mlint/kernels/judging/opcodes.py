"""What the opcode of a PTX atomic says: operation, type, memory space.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red, red.async, multimem.red" and "Data
Movement and Conversion Instructions: cp.reduce.async.bulk". Of AMD GPUs, LLVM's intrinsics (IntrinsicsAMDGPU.td).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
_OPCODE = re.compile(r"\b(atom|red|cp\.reduce\.async\.bulk)((?:\.\w+(?:::\w+)*)+)")
_TYPE = re.compile(r"(?:f(?:16|32|64)|bf16|f16x2|bf16x2|[sub](?:8|16|32|64|128)|tensor)\Z")
"""``tensor`` stands for the type of a tensor map's elements, which the opcode does not say."""
_SINK = re.compile(r"\s*_\s*,")
"""In place of a register for the old value, which nothing needs."""
_NUMBER = re.compile(r"-?(?:0[xX][0-9A-Fa-f]+|0[fFdD][0-9A-Fa-f]+|\d+)U?")
_AMD = re.compile(r"llvm\.amdgcn\.[\w.]*?\batomic\.(\w+)(?:\.(\w+))?")
_AMD_OPERATIONS = {
    "fadd": "add", "fmin": "min", "smin": "min", "umin": "min", "fmax": "max", "smax": "max", "umax": "max",
    "swap": "exch", "cmpswap": "cas",
}  # fmt: skip


class Opcode(NamedTuple):
    """A PTX atomic; ``returns``: ``atom`` gives the old value, ``red`` does not."""

    operation: str
    type: str
    memory: str
    returns: bool

    @property
    def float(self) -> bool:
        """Whether it works on floating point values."""
        return "f" in self.type


def opcode(text: str) -> Opcode | None:
    """The instruction in a piece of assembler, or an intrinsic of LLVM's; None where there is no atomic.

    >>> opcode("red.global.add.noftz.f16x2 [%0], %1;")
    Opcode(operation='add', type='f16x2', memory='global', returns=False)
    >>> opcode("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;")
    Opcode(operation='add', type='f32', memory='global', returns=False)
    """
    match = _OPCODE.search(text[:500])
    if match is None:
        return _of_llvm(text)
    words = [p.split("::")[0] for p in match[2].lstrip(".").split(".")]
    operation = next((w for w in words if w in _OPERATIONS), "")
    typed = next((w for w in reversed(words) if _TYPE.match(w)), "")
    memory = next((w for w in words if w in ("global", "shared")), "unknown")
    dropped = _SINK.match(text, match.end()) is not None
    return Opcode(operation, typed, memory, match[1] == "atom" and not dropped)


def _of_llvm(text: str) -> Opcode | None:
    """An intrinsic of LLVM; the call in which it stands says what becomes of the old value."""
    match = _AMD.match(text)
    if match is None:
        return None
    word = _AMD_OPERATIONS.get(match[1], match[1])
    typed = match[2] or ("f32" if match[1].startswith("f") else "i32")
    return Opcode(word if word in _OPERATIONS else "", typed, "global", False)


def literals(text: str) -> tuple[str, ...]:
    """The operands behind the address of an instruction, where all of them are numbers.

    >>> literals("atom.global.cas.b32 %0, [%1], 0, 1;"), literals("red.add.f32 [%0], %1;")
    (('0', '1'), ())
    """
    given = [one.strip() for one in text.partition("]")[2].rstrip("; \t\n").lstrip(" ,").split(",")]
    return tuple(given) if all(_NUMBER.fullmatch(one) for one in given) else ()
