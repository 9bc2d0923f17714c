"""Reports as one HTML file, from the templates beside the modules that fill them.

A page needs no server and no network: what it is filled with is escaped, and it may load nothing. All share
``base.html.j2``: the look, and a table of rows that sorts, filters and unfolds.
"""

from __future__ import annotations

import re
from pathlib import Path

import jinja2

from d9mlint import __version__
from d9mlint.report.words import encodable

_CODE = re.compile(r"`([^`\n]+)`")


def render(template: str, **values: object) -> str:
    """The page that ``template`` (a path below this folder) gives with these values."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["parted"] = parted
    return encodable(environment.get_template(template).render(version=__version__, **values))


def parted(text: str) -> list[str]:
    """``text`` in parts, every second of which stands between backticks and is code."""
    return _CODE.split(text)
