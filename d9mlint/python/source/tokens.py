"""Numbers, keywords and operators, as libcst names them and as facts tell them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

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
