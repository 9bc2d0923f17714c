"""What happens when mkdocs builds the documentation: pages of rules and ops are made, and their names become links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from posixpath import relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from d9mlint.app.documentation import documented, made
from d9mlint.catalogue.render.pages import all_ops, op_file

_FENCED = re.compile(r"(?ms)(^ *```.*?^ *```$)")
_NAMED = re.compile(r"(?<![\[`])`([\w.-]+)`(?![\]`])")
"""A name in code, which no link is around."""


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Adds the pages that are made of the catalogue."""
    for path, text in made().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Makes the names of rules and ops links to their pages."""
    here = page.file.src_uri
    known = _known()

    def linked(name: re.Match[str]) -> str:
        path = known.get(name[1])
        return f"[{name[0]}]({relpath(path, here.rpartition('/')[0] or '.')})" if path not in (None, here) else name[0]

    parts = _FENCED.split(markdown)
    return "".join(part if part.lstrip().startswith("```") else _lines(part, linked) for part in parts)


def _lines(text: str, linked: Any) -> str:
    """The text with links in it; headings and lines that are links already stay as they are."""
    lines = text.splitlines(keepends=True)
    return "".join(line if line.startswith("#") else _NAMED.sub(linked, line) for line in lines)


@lru_cache(maxsize=1)
def _known() -> Mapping[str, str]:
    """The page of each name."""
    catalogue = documented()
    rules = {rule.name: f"rules/{rule.name}.md" for rule in catalogue.rules.values()}
    return {**{name: f"ops/{op_file(name)}" for name in all_ops(catalogue)}, **rules}
