"""Markdown as the catalogue writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars in cells are escaped."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def bullets(lines: Iterable[str]) -> str:
    """A list; what takes several lines is indented."""
    return "\n".join("- " + line.strip().replace("\n", "\n  ") for line in lines)


def indented(text: str) -> str:
    """What belongs to the item or the box above it; blank lines stay blank."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def page(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"
