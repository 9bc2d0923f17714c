"""Names, numbers, texts and operators, as libcst has them and as facts tell them."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern

import libcst as cst

from d9mlint.python.source import facts as f

NUMBERS: dict[type, Callable[[str], complex]] = {
    cst.Integer: lambda text: int(text, 0), cst.Float: float, cst.Imaginary: complex,
}  # fmt: skip
"""By kind, what reads a number as Python does, without a compiler's help."""
KEYWORDS = {"True": True, "False": False, "None": None}
OPERATORS = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "MatrixMultiply": "@", "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
    "Not": "not", "Minus": "neg", "Plus": "pos", "BitInvert": "~",
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
}  # fmt: skip


def word(node: cst.Name | cst.BaseNumber | cst.SimpleString) -> f.Expr:
    """A name or a constant."""
    try:
        if isinstance(node, cst.Name):
            return f.Const(KEYWORDS[node.value]) if node.value in KEYWORDS else f.Name(intern(node.value))
        if isinstance(node, cst.SimpleString):
            return f.Const(_value(node))
        return f.Const(NUMBERS[type(node)](node.value))  # type: ignore[attr-defined]
    except (ValueError, SyntaxError):
        return f.Opaque(())


def _value(node: cst.SimpleString) -> str | bytes:
    text = node.value
    if text[0] in "\"'" and "\\" not in text and "\r" not in text:  # most are, and `literal_eval` takes its time
        quotes = 3 if text[:3] == text[0] * 3 and len(text) > 5 else 1
        return text[quotes:-quotes]
    return node.evaluated_value
