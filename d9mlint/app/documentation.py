"""The documentation that is made of the catalogue, and whether the rest of it names what there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from d9mlint import suppress
from d9mlint.catalogue import Catalogue, load
from d9mlint.catalogue.observed import own_records
from d9mlint.catalogue.render.pages import all_ops, pages
from d9mlint.catalogue.spelling import misspelt
from d9mlint.model import UsageError


def documented() -> Catalogue:
    """The catalogue with the rules about comments, which no file describes."""
    catalogue = load()
    return catalogue._replace(rules={**catalogue.rules, **{rule.name: rule for rule in suppress.RULES}})


def made() -> dict[str, str]:
    """The pages of rules and ops: a path below the folder of the documentation, and its Markdown."""
    return pages(documented(), own_records())


def written(folder: Path) -> int:
    """Writes the pages of rules and ops below ``folder``, and returns how many there are.

    Raises:
        UsageError: a page cannot be written.
    """
    found = made()
    for name, text in found.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return len(found)


def wrong_names(paths: Iterable[Path]) -> Iterator[str]:
    """A line for each name of a rule or an op that is none, in Markdown files and those in folders.

    Raises:
        UsageError: a path does not exist.
    """
    catalogue = documented()
    ops = tuple(all_ops(catalogue).values())
    for path in _markdown(paths):
        for one in misspelt(path.read_text(encoding="utf-8"), catalogue, ops):
            hint = f"; did you mean `{one.meant}`?" if one.meant else ""
            yield f"{path.as_posix()}:{one.line}: no rule or op is named `{one.name}`{hint}"


def _markdown(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise UsageError(f"path not found: {path}")
        yield from sorted(path.rglob("*.md")) if path.is_dir() else (path,)
