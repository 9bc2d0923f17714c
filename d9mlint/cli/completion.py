"""What a shell completes besides options and paths: names of rules and ops."""

from __future__ import annotations

import click


def rule_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Rules and families; of several with commas the last one is completed."""
    from d9mlint.app.documentation import documented

    done, comma, last = incomplete.rpartition(",")
    rules = documented().rules.values()
    names = sorted({rule.name for rule in rules} | {rule.family for rule in rules})
    return [done + comma + name for name in names if name.startswith(last)]


def explained_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Rules and ops that `explain` tells about."""
    from d9mlint.app.documentation import documented

    known = documented()
    names = {*known.rules, *(op.name for op in known.ops)}
    return sorted(name for name in names if name.startswith(incomplete))
