"""The ``d9mlint`` command: ``d9mlint train.py`` is ``d9mlint check train.py``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from d9mlint import __version__
from d9mlint.model import D9mlintError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

USAGE, FAILED = 2, 3


_HOMES = {
    "check": "check", "explain": "rules", "kernels": "kernels", "rules": "rules", "server": "server", "study": "study",
    "trace": "trace", "verify": "verify",
}  # fmt: skip
"""The commands, each with the module that it is imported from when it is asked for (all of them take a while)."""


class _Default(click.Group):
    """A group whose first word may be left out: what is no command is something to check."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help text."""
        return sorted(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now ("Lazily Loading Subcommands" in click's documentation)."""
        home = _HOMES.get(cmd_name)
        if home is None:
            return None
        command: click.Command = getattr(import_module(f"d9mlint.cli.{home}"), cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with ``check`` in front of what is no command."""
        if args and args[0] not in _HOMES and args[0] not in ("--help", "-h", "--version"):
            _refuse_misspelt(ctx, args[0])
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, and the paths that `check` would take."""
        from click.shell_completion import CompletionItem  # imported where a shell asks

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]


def _refuse_misspelt(ctx: click.Context, word: str) -> None:
    """Ends with the name of the command that was meant, where a word is nearly one and no path."""
    if word.startswith("-") or os.path.lexists(word):
        return
    from difflib import get_close_matches

    for meant in get_close_matches(word, _HOMES, 1):
        ctx.fail(f"no command or path is called {word!r}; did you mean `d9mlint {meant}`?")


@click.group(
    cls=_Default, invoke_without_command=True, no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, prog_name="d9mlint")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Finds what makes two runs of a deep-learning training program differ.

    `d9mlint train.py` lints a training program; `d9mlint explain NAME` tells about a rule or an op. Without a word,
    `d9mlint` tells what there is to check in this folder.
    """
    if ctx.invoked_subcommand is None:
        _overview()


def _overview() -> None:
    """Shows what there is to check here."""
    from pathlib import Path

    from d9mlint.app.options import Options
    from d9mlint.app.overview import overview
    from d9mlint.cli.output import look, show
    from d9mlint.report.overview import render

    options = {"output": None, "color": None, "format_": "text"}
    try:
        found = overview(Options(paths=(Path(),)))
    except UsageError as error:
        raise UsageError(f"{error}; `d9mlint --help` lists the commands") from None
    show(render(found, **look(options)), options)


def main(args: Sequence[str] | None = None, begun: object = None) -> NoReturn:
    """Runs the command line and leaves with the exit code of the contract.

    ``begun`` is what was begun for a command before, see ``d9mlint.__main__``.
    """
    try:
        code = cli.main(args=list(sys.argv[1:] if args is None else args), standalone_mode=False, obj=begun)
    except click.ClickException as error:
        error.show()
        code = USAGE
    except click.exceptions.Exit as error:
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = FAILED
    except D9mlintError as error:
        click.echo(f"d9mlint: {error}", err=True)
        code = USAGE
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"d9mlint: internal error: {type(error).__name__}: {error}", err=True)
        code = FAILED
    sys.exit(code if isinstance(code, int) else 0)
