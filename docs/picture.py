"""Draws the report in the README: `python docs/picture.py` runs d9mlint and writes docs/assets/report.svg."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "assets" / "report.svg"
WORDS = ("examples/train.py", "--target", "tensorflow==2.9.1")
_FONTS = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)
"""Rich has fonts fetched from a content network; a picture that stands alone takes the reader's own."""
_LINE = re.compile(r'<text [^>]*?\by="([\d.]+)"[^>]*>(.*?)</text>')


def report(*more: str) -> str:
    """What d9mlint prints, run in the root of the checkout."""
    run = [sys.executable, "-m", "d9mlint", *WORDS, *more]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 1:
        raise SystemExit(f"expected findings, got exit code {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def svg() -> str:
    """The report with its colours."""
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(report("--color")), soft_wrap=False)
    drawn = console.export_svg(title=f"d9mlint {' '.join(WORDS)}", theme=MONOKAI, unique_id="report")
    return _FONTS.sub("\n", drawn)


def shown(drawn: str) -> str:
    """The text in a picture of this kind, without its title and without spaces, which are not drawn."""
    rows: dict[float, list[str]] = {}
    for y, text in _LINE.findall(drawn.partition('-matrix">')[2]):
        rows.setdefault(float(y), []).append(unescape(text))
    return "".join("".join(part for y in sorted(rows) for part in rows[y]).split())


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
