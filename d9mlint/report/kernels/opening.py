"""How a site begins in the text for people: where, what, in which function, and the source around it."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import LibraryCall, Site
from d9mlint.report.kernels.words import VERDICT_WORDS, kind_of
from d9mlint.report.lines import Line, excerpted, place
from d9mlint.report.words import one_line

_STYLES = {"yes": "bold yellow", "conditional": "yellow", "unknown": "bold cyan", "depends": "cyan", "no": "green"}


def opening(one: Site | LibraryCall, lines: list[str], width: int, *, silenced: bool) -> Iterator[Line]:
    """The first lines about a site or call; ``lines`` are those of its file."""
    style = _STYLES.get(one.verdict, "")
    name = one.atomic if isinstance(one, Site) else one.name
    inside = f" in `{one_line(one.function)}`" if one.function else ""
    yield (
        (f"{place(one.location)}:{one.location.column}: ", ""),
        (VERDICT_WORDS[one.verdict], style),
        (f": `{one_line(name)}`{inside}", ""),
        (f" [{kind_of(one)}]", "dim"),
        (" (silenced)" if silenced else "", "dim"),
    )
    yield from excerpted(one.location, lines, width, style)
