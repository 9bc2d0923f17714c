"""What a Dockerfile sets and starts: ``ENV``, ``ARG``, ``ENTRYPOINT``, ``CMD``.

Source: docs.docker.com/reference/dockerfile (ENV, multi-stage builds, exec and shell form).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from d9mlint.configs.documents import NotReadable, read_json
from d9mlint.configs.shell import Command, Shell, State
from d9mlint.configs.starts import started, starts
from d9mlint.configs.told import Start, Text, Told
from d9mlint.configs.words import Lines
from d9mlint.model import EnvironmentVariable, Location

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s")
_STAGE = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)


def read(text: str, path: str) -> Told:
    """The scripts that the image of a Dockerfile starts, and the environment of its last stage."""
    shell = Shell()
    stages: dict[str, State] = {}
    name = ""
    commands: dict[str, tuple[str, int]] = {}
    for line, instruction in _instructions(text):
        kind = _INSTRUCTION.match(instruction)
        word = kind[1].upper() if kind else ""
        if word == "FROM" and (stage := _STAGE.match(instruction)):
            stages[name] = shell.state
            name = stage[2] or str(len(stages))
            shell.state = dict(stages.get(stage[1], {}))
            commands = {}
        elif kind and word in ("ENV", "ARG"):
            rest = " " * kind.end() + instruction[kind.end() :]
            shell.assign(rest, Lines(path, rest, line), exported=word == "ENV")
        elif kind and word in ("CMD", "ENTRYPOINT"):
            commands[word] = (" " * kind.end() + instruction[kind.end() :], line)
    environment = shell.environment()
    return Told(tuple(_started(commands, path, environment)), tuple(environment.values()))


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each instruction; continued lines belong to it, comments within them are blanked."""
    first = 0
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        first = first or number
        comment = line.lstrip().startswith("#")
        lines.append(" \\" if comment and lines else "" if comment else line)
        if not lines[-1].rstrip("\r").rstrip().endswith("\\"):
            yield first, "\n".join(lines)
            first, lines = 0, []
    if lines:
        yield first, "\n".join(lines)


def _started(
    commands: Mapping[str, tuple[str, int]], path: str, environment: Mapping[str, EnvironmentVariable]
) -> Iterator[Start]:
    """``CMD`` alone, or after ``ENTRYPOINT`` as its arguments."""
    found: list[Text] = []
    for kind in ("ENTRYPOINT", "CMD"):
        if kind not in commands:
            continue
        text, line = commands[kind]
        text = text.replace("\\\n", " \n")
        listed = _listed(text, path, line)
        if listed is None:  # the shell form: an entry point like that takes no arguments
            yield from starts(text, Lines(path, text, line), environment)
            return
        found += listed
    if found:
        yield from started(Command(tuple(found), environment, found[0].location))


def _listed(text: str, path: str, line: int) -> list[Text] | None:
    """The words of the exec form (a JSON list); None for the shell form."""
    if not text.lstrip().startswith("["):
        return None
    try:
        node = read_json(text, path)
    except NotReadable:
        return None
    words = []
    for item in node.items:
        at = item.location
        place = Location(path, at.line + line - 1, at.column, at.end_line + line - 1, at.end_column)
        words.append(Text(str(item.value), True, place))
    return words
