"""What docker-compose files, GitHub workflows and Makefiles start, and with which environment.

Sources: docs.docker.com/reference/compose-file/services (environment, env_file, command, entrypoint);
docs.github.com/actions/reference/workflow-syntax-for-github-actions (env, run, working-directory);
gnu.org/software/make/manual (recipes, export, target-specific variables).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from d9mlint.configs.documents import Node
from d9mlint.configs.shell import Command, Read, Shell
from d9mlint.configs.starts import started, starts
from d9mlint.configs.told import Start, Text
from d9mlint.configs.words import Fixed, Lines, Places
from d9mlint.model import EnvironmentVariable

Environment = dict[str, EnvironmentVariable]
_DEFAULT = re.compile(r"\$\{\w+:?-([^${}]*)\}")
_MAKE_VARIABLE = re.compile(r"(?:[\w./-]+\s*:\s*)?(export\s+)?([A-Za-z_]\w*)\s*(?::{0,3}|\?|\+)=\s*(.*)")
_MAKE_EXPORT = re.compile(r"export\s+([A-Za-z_]\w*)\s*$")
_MAKE_NAME = re.compile(r"\$\((\w+)\)")
_RECIPE = re.compile(r"\t[ \t]*[@+-]*")


# -- compose -------------------------------------------------------------------------------------------------------


def compose(root: Node, read: Read) -> Iterator[Start]:
    """The Python scripts that the services of a compose file start."""
    services = root.get("services")
    for _, service in services.pairs() if services is not None else ():
        environment = _files(service.get("env_file"), read)
        environment |= _variables(service.get("environment"))
        found: list[Text] = []
        for name in ("entrypoint", "command"):
            node = service.get(name)
            if node is None:
                continue
            if node.kind == "scalar" and isinstance(node.value, str):
                yield from starts(node.value, Fixed(node.location), environment)
            else:
                found += [_text(item) for item in node.items]
        if found:
            yield from started(Command(tuple(found), environment, found[0].location))


def _files(node: Node | None, read: Read) -> Environment:
    found: Environment = {}
    for item in (node.items or [node]) if node is not None else ():
        name = item.text("path") if item.kind == "map" else item.value
        file = read(name) if isinstance(name, str) else None
        if file is not None:
            found |= dotenv(file[1], file[0])
    return found


def dotenv(text: str, path: str) -> Environment:
    """The variables of an ``.env`` file."""
    shell = Shell()
    for number, line in enumerate(text.split("\n"), 1):
        name, equals, _ = line.partition("=")
        if equals and not name.lstrip().startswith("#"):
            blank = re.sub(r"^(\s*)export ", r"\1       ", line)
            shell.assign(blank, Lines(path, blank, number), exported=True)
    return shell.environment()


def _variables(node: Node | None) -> Environment:
    """``environment`` as a map or as a list of ``NAME=VALUE``."""
    found: Environment = {}
    if node is None:
        return found
    for key, value in node.pairs():
        if value.kind == "scalar":
            known = None if value.value is None else _value(value.value)
            found[str(key.value)] = EnvironmentVariable(str(key.value), known, key.location)
    for item in node.items:
        name, equals, text = str(item.value).partition("=")
        found[name] = EnvironmentVariable(name, _value(text) if equals else None, item.location)
    return found


def _value(value: object) -> str | None:
    """The text that a scalar becomes in the environment; None where it depends on something else."""
    if isinstance(value, bool):
        return str(value).lower()
    text = _DEFAULT.sub(r"\1", str(value))
    return None if "$" in text else text


def _text(item: Node) -> Text:
    value = _value(item.value)
    return Text(str(item.value) if value is None else value, value is not None, item.location)


# -- workflows -----------------------------------------------------------------------------------------------------


def workflow(root: Node, text: str, path: str, read: Read) -> Iterator[Start]:
    """The Python scripts that the steps of a GitHub workflow run."""
    jobs = root.get("jobs")
    for _, job in jobs.pairs() if jobs is not None else ():
        shared = _variables(root.get("env")) | _variables(job.get("env"))
        steps = job.get("steps")
        for step in steps.items if steps is not None else ():
            run = step.get("run")
            if run is None or not isinstance(run.value, str):
                continue
            environment = shared | _variables(step.get("env"))
            folder = step.text("working-directory") or job.text("defaults", "run", "working-directory") or ""
            # `${{ matrix.x }}` is filled in before the shell sees the text
            script = re.sub(r"\$\{\{.*?\}\}", lambda match: "$" + "_" * (len(match[0]) - 1), run.value)
            for one in starts(script, _block(run, text, path), environment, read):
                yield Start(
                    one.script, one.module, one.known, one.arguments, one.environment, one.location,
                    f"{folder}/{one.folder}".strip("/"),
                )  # fmt: skip


def _block(node: Node, text: str, path: str) -> Places:
    """Where the lines of a scalar stand: those of a literal block are lines of the file."""
    if node.style != "|":
        return Fixed(node.location)
    lines = text.split("\n")
    first = node.location.line + 1
    line = next((one for one in lines[first - 1 :] if one.strip()), "")
    return Lines(path, str(node.value), first, len(line) - len(line.lstrip(" ")))


# -- make ----------------------------------------------------------------------------------------------------------


def makefile(text: str, path: str, read: Read) -> Iterator[Start]:
    """The Python scripts that the recipes of a Makefile run; each line of a recipe is a shell of its own."""
    shell = Shell()
    exported: set[str] = set()
    for number, line in _logical(text):
        if line.startswith("\t"):
            script = _MAKE_NAME.sub(r"${\1}", _RECIPE.sub(lambda match: " " * len(match[0]), line, count=1))
            yield from starts(script, Lines(path, script, number), _known(shell, exported), read, shell.state)
        elif match := _MAKE_VARIABLE.match(line):
            value = _MAKE_NAME.sub(r"${\1}", match[3]).strip()
            quoted = match[2] + "='" + value + "'" if "'" not in value and "$" not in value else match[2] + "=" + value
            place = Lines(path, line, number).location(match.start(2), match.end(3))
            shell.assign(quoted, Fixed(place), exported=bool(match[1]))
            exported |= {match[2]} if match[1] else set()
        elif match := _MAKE_EXPORT.match(line):
            exported.add(match[1])


def _known(shell: Shell, exported: set[str]) -> Mapping[str, EnvironmentVariable]:
    variables = shell.state.items()
    return {n: EnvironmentVariable(n, v.value, v.location) for n, v in variables if v.exported or n in exported}


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """First line and text of each line, continued ones together."""
    first = 0
    lines: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        first = first or number
        lines.append(line)
        if not line.endswith("\\"):
            yield first, "\n".join(lines)
            first, lines = 0, []
    if lines:
        yield first, "\n".join(lines)
