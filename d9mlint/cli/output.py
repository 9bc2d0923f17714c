"""Where a report goes, and how it looks there."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

import click

from d9mlint.writing import replaced


def tried(*paths: object) -> None:
    """Refuses paths that cannot be written, before the work whose report they are for is done.

    Raises:
        click.UsageError: with the path and the reason.
    """
    for path in paths:
        if not isinstance(path, Path):
            continue
        folder = path.parent
        if path.is_dir():
            reason = os.strerror(errno.EISDIR)
        elif not folder.is_dir():
            reason = os.strerror(errno.ENOENT)
        elif not os.access(path if path.exists() else folder, os.W_OK):
            reason = os.strerror(errno.EACCES)
        else:
            continue
        raise click.UsageError(f"cannot write {path}: {reason}")


def show(text: str, options: Mapping[str, object]) -> None:
    """Writes a report to ``--output`` or to the standard output, byte for byte."""
    output = options["output"]
    if isinstance(output, Path):
        try:
            replaced(output, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise click.UsageError(f"cannot write {output}: {error.strerror}") from error
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()


WIDTH = 100
"""Columns of a report that goes to no terminal, so that it is the same everywhere."""
_WIDEST = 120
"""Columns beyond which lines are hard to read."""
_NO_SEQUENCES = ("dumb", "unknown")
"""Values of TERM of terminals that show escape sequences as text."""

color_option = click.option(
    "--color/--no-color", default=None, help="Colours (default: on a terminal, unless NO_COLOR is set)."
)


class Look(TypedDict):
    """How text is shown."""

    color: bool
    width: int


def look(options: Mapping[str, object]) -> Look:
    """Colours where they are asked for, or a terminal takes them (https://no-color.org), and the terminal's width."""
    terminal = options["output"] is None and sys.stdout.isatty()
    asked = options["color"]
    color = bool(asked) if asked is not None else terminal and not os.environ.get("NO_COLOR") and _takes_sequences()
    width = min(shutil.get_terminal_size((WIDTH, 24)).columns, _WIDEST) if terminal else WIDTH
    return Look(color=color and options["format_"] == "text", width=width)


def links(options: Mapping[str, object]) -> bool:
    """Whether text may hold links: on a terminal that takes colours, but for the console of Linux, which shows them."""
    terminal = options["output"] is None and sys.stdout.isatty()
    return terminal and look(options)["color"] and os.environ.get("TERM") != "linux"


def _takes_sequences() -> bool:
    return os.name == "nt" or os.environ.get("TERM", "") not in _NO_SEQUENCES
