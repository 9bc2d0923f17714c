"""A minimal call of an op as a program: ``make`` gives made-up inputs like those of a recorded call, ``run`` calls."""

from __future__ import annotations

import math
from typing import Any

from d9mlint.model import Culprit
from d9mlint.trace.recording import MAIN, Recording

_SEED = 1


def with_call(found: Culprit, recording: Recording) -> Culprit:
    """The culprit with a program that calls its op, where the call was recorded."""
    for name, events in recording.events:
        for event in events if name == MAIN else ():
            if event.kind == "call" and event.place[:2] == (found.path, found.line):
                op, direction, function, arguments = event.fields
                if (op, direction) == (found.op, found.direction):
                    return found._replace(call=_program(found, function, arguments))
    return found


class _Unknown(Exception):
    """An argument that cannot be made again."""


class _Writer:
    """The inputs that ``make`` gives, by name, and the expressions of the call."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}
        self.devices: set[str] = set()

    def expression(self, name: str, told: Any, written: bool) -> str:
        """What stands for an argument in the call."""
        if isinstance(told, list):
            inner = [self.expression(f"{name}_{number}", one, written) for number, one in enumerate(told)]
            return f"[{', '.join(inner)}]"
        if "tensor" in told:
            key = name if name not in ("self", "from") else "input"
            while key in self.inputs:
                key += "_"
            self.inputs[key] = _tensor(told)
            self.devices.add(told["device"])
            return f"{key}.clone()" if written else key
        if "code" in told:
            return str(told["code"])
        if "value" in told:
            return _literal(told["value"])
        raise _Unknown


def _literal(value: Any) -> str:
    finite = not isinstance(value, float) or math.isfinite(value)
    return repr(value) if finite else f'float("{value}")'


def _tensor(told: dict[str, Any]) -> str:
    """An expression that draws a tensor of this type and shape."""
    shape, dtype = told["shape"], f"torch.{told['tensor']}"
    if "range" in told:
        low, high = told["range"]
        made = f"torch.randint({low}, {high + 1}, {shape}, generator=g, dtype={dtype})"
    elif told["tensor"] == "bool":
        made = f"torch.randint(0, 2, {shape}, generator=g).bool()"
    elif told["tensor"].startswith(("float", "bfloat", "complex")):
        exact = told["tensor"] in ("float32", "float64", "complex64", "complex128")
        made = f"torch.randn({shape}, generator=g" + (f", dtype={dtype})" if exact else f").to({dtype})")
    else:
        made = f"torch.zeros({shape}, dtype={dtype})"
    if told["stride"] is not None:
        made = f"torch.empty_strided({shape}, {told['stride']}, dtype={dtype}).copy_({made})"
    return made


def _program(found: Culprit, function: str, arguments: list[Any]) -> str:
    """The text of the program; empty where an argument cannot be made again."""
    writer = _Writer()
    words = []
    try:
        for name, keyword, written, told in arguments:
            expression = writer.expression(name, told, written)
            words.append(f"{name}={expression}" if keyword else expression)
    except _Unknown:
        return ""
    devices = '\nDEVICES = ["gpu"]' if writer.devices == {"cuda"} else ""
    inputs = "".join(f'        "{name}": {made},\n' for name, made in writer.inputs.items())
    space = function.partition(".")[0]
    own = "" if space == "aten" else f"# Import the package that registers torch.ops.{space} here.\n"
    call = f"torch.ops.{function}({', '.join(words)})"
    return f'''\
"""A call of {found.op} as a program makes it ({found.direction or "forward"}): its shapes and types, other numbers."""

import torch
{own}{devices}

def make():
    g = torch.Generator().manual_seed({_SEED})
    return {{
{inputs}    }}


def run({", ".join(writer.inputs)}):
    return {call}
'''
