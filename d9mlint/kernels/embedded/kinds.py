"""Which names of types mean floats, and which integers, in all languages of kernels that are Python."""

from __future__ import annotations

import re

_FLOAT = re.compile(
    r"(?:float(?:8|16|32|64)?(?:_?e\dm\d\w*)?|bfloat16|half|double|f(?:p)?(?:8|16|32|64)|bf16|complex(?:64|128))\Z",
    re.IGNORECASE,
)
_INTEGER = re.compile(r"(?:u?int(?:8|16|32|64|c|p)?|[iu](?:1|8|16|32|64)|bool_?|long|uint)\Z", re.IGNORECASE)
_VECTOR = re.compile(r"(?:vec\d?|mat\d\d|quat|transform|spatial_vector)([fdhiu]?)\w*\Z")


def plain_kind(name: str) -> str:
    """``float``, ``integer`` or empty, by the last part of a type's name.

    >>> plain_kind("tl.float32"), plain_kind("wp.vec2i"), plain_kind("T")
    ('float', 'integer', '')
    """
    last = re.sub(r"\[.*", "", name).rpartition(".")[2].strip()
    vector = _VECTOR.match(last)
    if vector is not None:
        return "integer" if vector[1] in ("i", "u") else "float"
    return "float" if _FLOAT.match(last) else "integer" if _INTEGER.match(last) else ""
