"""The command line: words in, exit code out."""

from d9mlint.cli.main import main

__all__ = ["main"]
