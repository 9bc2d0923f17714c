"""Where a report goes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click


def show(text: str, options: Mapping[str, object]) -> None:
    """Writes a report to ``--output`` or to the standard output, byte for byte."""
    output = options["output"]
    if isinstance(output, Path):
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise click.UsageError(f"cannot write {output}: {error.strerror}") from error
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
