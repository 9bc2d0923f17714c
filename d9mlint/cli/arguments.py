"""A command whose last words are the arguments of a script."""

from __future__ import annotations

import click

ARGV = "d9mlint.argv"


class WithArguments(click.Command):
    """Keeps the script's arguments (all that follows the first ``--``) from click, which would drop the ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            ctx.meta[ARGV] = tuple(args[args.index("--") + 1 :])
            args = args[: args.index("--")]
        return super().parse_args(ctx, args)
