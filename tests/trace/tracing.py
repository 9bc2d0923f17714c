"""Programs and a command line for the tests of trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import validate

PROGRAMS = Path(__file__).with_name("programs")


def traced(d9mlint: Callable[..., Any], source: str, *words: str) -> Any:
    """The JSON report on a program that is written to ``program.py``, with the exit code as ``code``."""
    Path("program.py").write_text(source, encoding="utf-8")
    ran = d9mlint("trace", "--format", "json", *words[: words.index("--")] if "--" in words else words, "program.py",
                  *(words[words.index("--") :] if "--" in words else ()))  # fmt: skip
    report = ran.json
    validate(report, "trace")
    return {**report, "code": ran.code}
