"""Small Python programs with kernels in them, and what is found there."""

from __future__ import annotations

import textwrap

from d9mlint.kernels.embedded.finding import Embedded, find
from d9mlint.kernels.source.repository import Repository
from d9mlint.model.kernel import Site


def scan(package: dict[str, str] | None = None, **files: str) -> Embedded:
    """What is found in files given by path, or by module."""
    named = {**(package or {}), **{f"{name}.py": text for name, text in files.items()}}
    texts = {path: textwrap.dedent(text).encode() for path, text in named.items()}
    return find(Repository(texts, lambda path: texts[path]))


def only(text: str) -> Site:
    """The one site of a file."""
    found = scan(kernels=text).sites
    assert len(found) == 1, found
    return found[0]
