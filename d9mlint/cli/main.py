"""The ``d9mlint`` command: ``d9mlint train.py`` is ``d9mlint check train.py``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from d9mlint import __version__
from d9mlint.cli.check import check
from d9mlint.cli.kernels import kernels
from d9mlint.cli.rules import explain, rules
from d9mlint.cli.verify import verify
from d9mlint.model import D9mlintError

USAGE, FAILED = 2, 3


class _Default(click.Group):
    """A group whose first word may be left out: what is no command is something to check."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Default, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="d9mlint")
def cli() -> None:
    """Finds what makes two runs of a deep-learning training program differ.

    `d9mlint train.py` lints a training program; `d9mlint explain NAME` tells about a rule or an op.
    """


cli.add_command(check)
cli.add_command(kernels)
cli.add_command(explain)
cli.add_command(rules)
cli.add_command(verify)


def main(args: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves with the exit code of the contract."""
    try:
        code = cli.main(args=list(sys.argv[1:] if args is None else args), standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = USAGE
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
