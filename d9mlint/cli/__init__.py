"""The command line: words in, exit code out."""

from d9mlint.cli.main import entry, main

__all__ = ["entry", "main"]
