"""The types that the dispatch and registration macros of frameworks stand for. Data only."""

from __future__ import annotations

import re

_INTEGRAL = ("int64", "int32", "uint16", "int16", "uint8", "int8")
_FLOAT = ("Eigen::half", "bfloat16", "float", "double")
_GPU = ("Eigen::half", "float", "double")
_COMPLEX = ("complex64", "complex128")

_TF_GROUPS: dict[str, tuple[str, ...]] = {
    "INTEGRAL_TYPES": _INTEGRAL,
    "INTEGRAL_TYPES_NO_INT32": tuple(t for t in _INTEGRAL if t != "int32"),
    "SIGNED_INTEGRAL_TYPES": ("int64", "int32", "int16", "int8"),
    "UNSIGNED_TYPES": ("uint64", "uint32", "uint16", "uint8"),
    "FLOAT_TYPES": _FLOAT,
    "REAL_NUMBER_TYPES": _INTEGRAL + _FLOAT,
    "REAL_NUMBER_TYPES_NO_BFLOAT16": _INTEGRAL + _GPU,
    "REAL_NUMBER_TYPES_NO_INT32": tuple(t for t in _INTEGRAL if t != "int32") + _FLOAT,
    "COMPLEX_TYPES": _COMPLEX,
    "NUMBER_TYPES": _INTEGRAL + _FLOAT + _COMPLEX,
    "NUMBER_TYPES_NO_INT32": tuple(t for t in _INTEGRAL if t != "int32") + _FLOAT + _COMPLEX,
    "POD_TYPES": (*_INTEGRAL, *_FLOAT, *_COMPLEX, "bool"),
    "ALL_TYPES": (*_INTEGRAL, *_FLOAT, *_COMPLEX, "bool"),
    "GPU_NUMBER_TYPES": _GPU,
    "GPU_NUMBER_TYPES_NO_HALF": ("float", "double"),
    "GPU_ALL_TYPES": (*_GPU, "bool", *_COMPLEX),
    "GPU_PROXY_TYPES": ("float", "int64"),
    "QUANTIZED_TYPES": ("qint8", "quint8", "qint32"),
}
"""tensorflow/core/framework/register_types.h, TF 1.12. Later: ``GPU_ALL_TYPES`` also holds the complex types only
through ``TF_CALL_COMPLEX_TYPES``, ``INTEGRAL_TYPES`` also uint32 and uint64 (2.3), ``GPU_NUMBER_TYPES`` also bfloat16
(2.12): in none of them does a group of floats become one of integers or the reverse."""

_INTS = ("uint8_t", "int8_t", "int16_t", "int32_t", "int64_t")
_AT = ("float", "double")
_AT_COMPLEX = ("c10::complex<float>", "c10::complex<double>")
_AT_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("FLOATING_AND_COMPLEX_TYPES", _AT + _AT_COMPLEX),
    ("ALL_TYPES_AND_COMPLEX", _INTS + _AT + _AT_COMPLEX),
    ("COMPLEX_TYPES", _AT_COMPLEX),
    ("FLOATING_TYPES", _AT),
    ("INTEGRAL_TYPES", _INTS),
    ("ALL_TYPES", _INTS + _AT),
    ("INDEX_TYPES", ("int32_t", "int64_t")),
    ("REDUCED_FLOATING_TYPES", ("at::Half", "at::BFloat16")),
)
"""aten/src/ATen/Dispatch.h: what stands after ``AT_DISPATCH_`` and the types, the longer names first."""
_SCALAR_TYPES = {
    "Half": "at::Half", "BFloat16": "at::BFloat16", "Float": "float", "Double": "double", "Bool": "bool",
    "Byte": "uint8_t", "Char": "int8_t", "Short": "int16_t", "Int": "int32_t", "Long": "int64_t",
    "ComplexHalf": "c10::complex<at::Half>", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>", "UInt16": "uint16_t", "UInt32": "uint32_t", "UInt64": "uint64_t",
    "FLOAT32": "float", "FLOAT64": "double", "FLOAT16": "half", "INT32": "int32_t", "INT64": "int64_t",
}  # fmt: skip
"""c10/core/ScalarType.h (``at::kHalf``, ``at::ScalarType::Half``); paddle's ``DataType::FLOAT32``."""
_SCALAR = re.compile(r"(?:\bk|ScalarType::|DataType::)([A-Z]\w*)")
_DISPATCH = re.compile(r"\w*(?:DISPATCH|SWITCH)\w*\Z")


def tensorflow_group(name: str) -> tuple[str, ...]:
    """The types on which ``TF_CALL_x(m)`` calls m; empty for other names."""
    if not name.startswith("TF_CALL_"):
        return ()
    rest = name.removeprefix("TF_CALL_")
    if rest in _TF_GROUPS:
        return _TF_GROUPS[rest]
    return ("Eigen::half" if rest == "half" else rest,) if rest.islower() or rest[-1:].isdigit() else ()


def is_dispatch(name: str) -> bool:
    """Whether a macro is called like one that binds ``scalar_t`` for the code in its last argument."""
    return bool(_DISPATCH.match(name))


def dispatched(name: str, arguments: str) -> tuple[str, ...]:
    """The types of a dispatch macro (PyTorch's, or a repository's own called after it); empty where not known.

    ``arguments`` is the text before its code: scalar types named there are dispatched, too
    (``AT_DISPATCH_FLOATING_TYPES_AND(at::kHalf, ...)``).
    """
    found: list[str] = [s for word in _SCALAR.findall(arguments) if (s := _SCALAR_TYPES.get(word, ""))]
    for group, types in _AT_GROUPS:
        if group in name or f"AT_{group}" in arguments:
            found = [*types, *found]
            break
    else:
        if "FLOAT" in name and "INT" not in name:
            found = [*_AT, *found]
        elif not found:
            return ()
    if re.search(r"AND_HALF|_HALF\b", name):
        found.append("at::Half")
    return tuple(dict.fromkeys(found))


def scalar_types(text: str) -> tuple[str, ...]:
    """The C++ types of all scalar type names in the body of a repository's own dispatch macro."""
    return tuple(dict.fromkeys(s for word in _SCALAR.findall(text) if (s := _SCALAR_TYPES.get(word, ""))))


_GENERATED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<](?:[\w/]*/)?THC?Generate(\w+?)Types?\.h[">]', re.MULTILINE)
_GENERATORS = {
    "Float": ("half", "float", "double"), "Double": ("double",), "Half": ("half",), "Complex": ("c10::complex<float>",),
    "All": (*_INTS, "half", "float", "double"), "Int": _INTS,
}  # fmt: skip


def generated(data: bytes) -> tuple[str, ...]:
    """The types for which a header of Torch compiles ``generic/X.cu`` behind the kernels of a file.

    https://github.com/torch/cutorch/blob/master/lib/THC/THCGenerateFloatTypes.h

    >>> generated(b'#include "generic/X.cu"\\n#include "THCGenerateFloatTypes.h"\\n')
    ('half', 'float', 'double')
    """
    if b"Generate" not in data:
        return ()
    found = (t for m in _GENERATED.findall(data) for t in _GENERATORS.get(m.decode(), ()))
    return tuple(dict.fromkeys(found))
