"""A command whose last words are the arguments of a script."""

from __future__ import annotations

from pathlib import Path

import click

ARGV = "d9mlint.argv"


def launched(script: Path | None, module: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What follows ``--``: the program's arguments, or a launcher with its words and, after another ``--``, these."""
    argv: tuple[str, ...] = click.get_current_context().meta.get(ARGV, ())
    if script is not None or module is not None:
        return (), argv
    end = argv.index("--") if "--" in argv else len(argv)
    return argv[:end], argv[end + 1 :]


class WithArguments(click.Command):
    """Keeps the script's arguments (all that follows the first ``--``) from click, which would drop the ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            ctx.meta[ARGV] = tuple(args[args.index("--") + 1 :])
            args = args[: args.index("--")]
        return super().parse_args(ctx, args)
