"""``d9mlint server``."""

from __future__ import annotations

import click


@click.command()
@click.option("--stdio", is_flag=True, help="Speak on standard input and output, as always (editors may say so).")
def server(stdio: bool) -> None:
    """Serve editors: findings, pages of rules and ops, fixes, by the language server protocol.

    An editor starts it; the documentation (docs/editors.md) says how. Needs the extra `server`.
    """
    try:
        from d9mlint.server.serve import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.UsageError("the language server needs pygls: pip install 'd9mlint[server]'") from error
    serve()
