"""Variables of the environment, set where a program is started: scripts, images, compose files, Makefiles, workflows.

Sources: horovod.readthedocs.io (running with MPI: ``-x NAME``), mpirun(1) of Open MPI, docs.docker.com (``run -e``,
``ENV``, ``environment``), POSIX shell (assignments before a command).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import yaml

from d9mlint.fix.edits import NEWLINE
from d9mlint.model import Edit, Location

_VARIABLE = re.compile(r"os\.environ\[[\"'](HOROVOD_\w+)[\"']\] = [\"']([\w.:-]*)[\"']")
_FIRST = re.compile(r"[\w./-]+(?=\s|$)")
_ELSEWHERE = frozenset({"sudo", "ssh", "singularity", "apptainer", "kubectl", "mpiexec", "mpiexec.hydra"})
"""Commands that give their own environment to what they start, in ways of their own."""
_CONTAINER = re.compile(r"(?:docker|podman|nvidia-docker)\s+(?:container\s+)?run(?=\s)")
_MPIRUN = re.compile(r"[\w./-]*\bmpirun(?=\s)")
_INSTRUCTION = re.compile(r"\s*(?:CMD|ENTRYPOINT)\b", re.IGNORECASE)


class Launcher(NamedTuple):
    """A place that an entry is started from, and what kind of file that is."""

    kind: str
    location: Location


def variable(statement: str) -> tuple[str, str] | None:
    """The variable that a statement sets and that belongs to who starts the processes, with its value."""
    match = _VARIABLE.fullmatch(statement)
    return (match[1], match[2]) if match else None


def edits(launcher: Launcher, variables: Sequence[tuple[str, str]], source: bytes) -> list[Edit]:
    """The edits that set ``variables`` for what is started there; none where it is written in another way."""
    lines = NEWLINE.split(source.decode("utf-8", "replace").removeprefix("\ufeff"))
    way = _WAYS.get(launcher.kind)
    if way is None or launcher.location.line > len(lines):
        return []
    return way(launcher.location, variables, lines)


def _in_command(at: Location, variables: Sequence[tuple[str, str]], lines: Sequence[str]) -> list[Edit]:
    """Before the command, or as an option of what starts the processes."""
    line, column = lines[at.line - 1], at.column - 1
    rest = line[column:]
    first = _FIRST.match(rest)
    if first is None or first[0].rpartition("/")[2] in _ELSEWHERE:
        return []
    for option, pattern in (("-x", _MPIRUN), ("-e", _CONTAINER)):
        if match := pattern.match(rest):
            told = "".join(f" {option} {name}={value}" for name, value in variables)
            return [_insertion(at, column + match.end(), told)]
    return [_insertion(at, column, "".join(f"{name}={value} " for name, value in variables))]


def _in_script(at: Location, variables: Sequence[tuple[str, str]], lines: Sequence[str]) -> list[Edit]:
    """As above; where a command begins its line, by an ``export`` above it."""
    line = lines[at.line - 1]
    found = _in_command(at, variables, lines)
    goes_on = at.line > 1 and lines[at.line - 2].rstrip().endswith(("\\", "|", "&&", "||"))
    if not found or line[: at.column - 1].strip() or goes_on or found[0].location.column != at.column:
        return found
    indent = line[: at.column - 1]
    return [Edit(Location(at.path, at.line, 1, at.line, 1), "".join(f"{indent}export {n}={v}\n" for n, v in variables))]


def _in_image(at: Location, variables: Sequence[tuple[str, str]], lines: Sequence[str]) -> list[Edit]:
    line = next((n for n in range(at.line, 0, -1) if _INSTRUCTION.match(lines[n - 1])), 0)
    if not line:
        return []
    return [Edit(Location(at.path, line, 1, line, 1), "".join(f"ENV {name}={value}\n" for name, value in variables))]


def _in_services(at: Location, variables: Sequence[tuple[str, str]], lines: Sequence[str]) -> list[Edit]:
    """In the ``environment`` of the service that the command belongs to; with a new one above the command."""
    try:
        root = yaml.compose("\n".join(lines), Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return []
    services = _values(_value(root, "services"))
    return next((made for service in services if (made := _in_service(service, at, variables, lines))), [])


def _in_service(
    service: yaml.Node, at: Location, variables: Sequence[tuple[str, str]], lines: Sequence[str]
) -> list[Edit]:
    commands = ("command", "entrypoint")
    command = next((key for key, value in _pairs(service) if key.value in commands and _is_at(value, at)), None)
    environment = _value(service, "environment")
    if command is None or not isinstance(service, yaml.MappingNode) or service.flow_style:
        return []
    if environment is None:
        indent = " " * command.start_mark.column
        told = "".join(f'{indent}  {name}: "{value}"\n' for name, value in variables)
        return [_line(at.path, command.start_mark.line + 1, f"{indent}environment:\n{told}")]
    if not isinstance(environment, yaml.CollectionNode) or environment.flow_style or not environment.value:
        return []
    first = environment.value[0]
    listed = isinstance(environment, yaml.SequenceNode)
    line = (first if listed else first[0]).start_mark.line
    indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    entry = "{}- {}={}\n" if listed else '{}{}: "{}"\n'
    return [_line(at.path, line + 1, "".join(entry.format(indent, name, value) for name, value in variables))]


def _line(path: str, line: int, text: str) -> Edit:
    return Edit(Location(path, line, 1, line, 1), text)


def _is_at(node: yaml.Node, at: Location) -> bool:
    first, last = node.start_mark, node.end_mark
    return bool((first.line, first.column) <= (at.line - 1, at.column - 1) <= (last.line, last.column))


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _values(node: yaml.Node | None) -> list[yaml.Node]:
    return [value for _, value in _pairs(node)]


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return next((value for name, value in _pairs(node) if name.value == key), None)


def _insertion(at: Location, column: int, text: str) -> Edit:
    return Edit(Location(at.path, at.line, column + 1, at.line, column + 1), text)


_WAYS: dict[str, Callable[[Location, Sequence[tuple[str, str]], Sequence[str]], list[Edit]]] = {
    "shell": _in_script, "make": _in_command, "workflow": _in_command, "image": _in_image, "compose": _in_services,
}  # fmt: skip
