"""Atomic instructions in strings that are no inline assembler: a program that writes PTX while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.sites.ptx import INTRINSICS, NAMES
from d9mlint.kernels.sites.sightings import Sighting
from d9mlint.kernels.sites.strings import string_around
from d9mlint.kernels.source.unit import Unit

_LEFT_OPEN = rb"(?:[$%]\w?|\{[\w:.]{0,40}\}?)"
"""What stands in a pattern for a word that is put in later: ``$s``, ``%s``, ``{}``."""
_WRITTEN = re.compile(
    rb"(?<![\w.%$])(?:multimem\.)?(?:atom|red)\.(?:global|shared|relaxed|acquire|release|acq_rel|async|gpu|cta)\b"
    rb"(?:\.(?:[\w:]+|" + _LEFT_OPEN + rb")|" + _LEFT_OPEN + rb")*"
)


def written(file: Unit) -> Iterator[tuple[int, Sighting]]:
    """The instructions in the strings of a source, with the byte where each begins."""
    for match in _WRITTEN.finditer(file.data):
        text = string_around(file, match.start())
        if text is None or _assembled(file.root.descendant_for_byte_range(match.start(), match.end())):
            continue
        begin = text.offset(match.start())
        line = text.data[begin:].partition(b";")[0].split(b"\n")[0]
        name = match[0].decode("ascii", "replace")
        words = name.split(".")
        if len(words) < 3:
            continue  # prose
        operation = next((w for w in reversed(words) if w in NAMES), "")
        scope = "system" if "sys" in words else "block" if {"cta", "cluster"} & set(words) else "device"
        yield match.start(), Sighting(
            file.span(match.start(), match.end()), name, INTRINSICS.get(operation, ""), scope, "ptx-string", file,
            None, None, assembler=" ".join(line.decode("utf-8", "replace").split()),
        )  # fmt: skip


def _assembled(node: tree_sitter.Node | None) -> bool:
    while node is not None:
        if node.type == "gnu_asm_expression":
            return True
        node = node.parent
    return False
