"""Executes what the README and the documentation show: files, commands and what they print, findings in programs.

Comments before a fence say what it is:

- ``<!-- file: train.py -->``: the file holds this from here on;
- ``<!-- prints: `d9mlint train.py` -> 1 -->``: the command prints this and leaves with this code;
- ``<!-- holds: train.py -->``: the file holds this by now;

and one that stands alone says which rules have findings:

- ``<!-- finds: `d9mlint train.py --target torch==2.4.1` -> unseeded-torch, set-order -->`` (or ``nothing``);
- ``<!-- runs: `python train.py` -> differs -->`` (or ``agrees``): two runs print different things; slow.

Each page has a folder of its own, in which all of it happens in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from conftest import ROOT, Ran

DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_STEP = re.compile(
    r"<!-- (?P<kind>file|prints|holds|finds|runs): (?P<what>.*?) -->(?P<before>\n+```\w*[^\n]*\n)?(?(before)(?P<text>.*?)```)",
    re.DOTALL,
)
_WITH_RESULT = re.compile(r"`(?P<command>[^`]+)` -> (?P<result>.+)")


class Step(NamedTuple):
    """One thing that a page shows; ``start`` and ``end`` are where its text stands."""

    kind: str
    what: str
    text: str
    start: int
    end: int

    def command(self) -> tuple[list[str], str]:
        """The words of a command and what is said of it."""
        import shlex

        told = _WITH_RESULT.fullmatch(self.what)
        assert told is not None, f"write `command` -> result, not {self.what}"
        return shlex.split(told["command"]), told["result"]


def steps(text: str) -> Iterator[Step]:
    """What a page shows, in order."""
    for found in _STEP.finditer(text):
        shown = found["text"]
        assert (shown is not None) is (found["kind"] in ("file", "prints", "holds")), found[0][:80]
        yield Step(found["kind"], found["what"], shown or "", *found.span("text"))


def execute(text: str, run: Callable[..., Ran], twice: Callable[[list[str]], list[str]] | None = None) -> str:
    """Executes a page in the working directory, and gives it back with what commands and files really hold.

    ``run`` runs the command line, ``twice`` a Python program; without it programs are not run.
    """
    pieces, last = [], 0
    for step in steps(text):
        new = step.text
        if step.kind == "file":
            path = Path(step.what)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
        elif step.kind == "holds":
            new = Path(step.what).read_text(encoding="utf-8")
        elif step.kind == "prints":
            words, code = step.command()
            ran = run(*words[1:])
            assert ran.code == int(code), (step.what, ran.out, ran.err)
            new = ran.out
        elif step.kind == "finds":
            words, rules = step.command()
            found = run(*words[1:], "--format", "json").json
            assert {one["rule"] for one in found["findings"]} == _set(rules), step.what
            assert not found["unchecked"], step.what
        elif twice is not None:
            words, verdict = step.command()
            first, second = twice(words[1:])
            assert (first == second) is (verdict == "agrees"), (step.what, first, second)
        if step.end > 0:  # there is a text
            pieces += [text[last : step.start], new]
            last = step.end
    return "".join([*pieces, text[last:]])


def _set(rules: str) -> set[str]:
    return set() if rules == "nothing" else set(rules.split(", "))
