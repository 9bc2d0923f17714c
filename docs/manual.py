"""Writes the manual pages: `python docs/manual.py` makes docs/man/*.1 of the help texts (needs the extra `docs`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from d9mlint import __version__
from d9mlint.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "man"
_OPTION = re.compile(r"^\\fB(\\-(?:\\-|\w)+)", re.MULTILINE)


def groups(context: click.Context) -> Iterator[click.Context]:
    """All commands, each with the way to it; those of a group that are imported late are put into it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None and not command.hidden:
                context.command.commands[name] = command
                yield from groups(click.Context(command, info_name=name, parent=context))


def page(context: click.Context) -> Path:
    """The file of a command's page."""
    return PAGES / f"{context.command_path.replace(' ', '-')}.1"


def options(text: str) -> set[str]:
    """The options that a page describes, each by its first name."""
    return {name.replace("\\", "") for name in _OPTION.findall(text)}


def _date() -> str:
    """When this version was released, by the changelog."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(__version__)}\] - (\S+)", changelog, re.MULTILINE)
    return found[1] if found else "unreleased"


def main() -> None:
    """Writes the pages anew."""
    from click_man.core import generate_man_page

    PAGES.mkdir(exist_ok=True)
    for old in PAGES.glob("*.1"):
        old.unlink()
    for context in list(groups(click.Context(cli, info_name="d9mlint"))):
        page(context).write_text(generate_man_page(context, version=__version__, date=_date()), encoding="utf-8")


if __name__ == "__main__":
    main()
