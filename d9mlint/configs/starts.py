"""Which Python scripts a command starts: by the interpreter, or by a launcher of distributed runs.

Sources: docs of torchrun, accelerate launch, deepspeed, horovodrun, mpirun(1) (-x), srun(1) and sbatch(1) (--export),
docker run (-e, --env), env(1), python(1).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from d9mlint.configs.shell import Command, Read, State, commands
from d9mlint.configs.told import Start, Text
from d9mlint.configs.words import Fixed, Places
from d9mlint.model import EnvironmentVariable, Location

MAX_SHELLS = 3
"""Depth of ``bash -c`` within each other."""
MAX_LAUNCHERS = 3
"""Launchers that start launchers."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_VALUED = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_LAUNCHERS = ("torchrun", "deepspeed", "accelerate", "accelerate-launch", "composer", "colossalai", "ipexrun")
_LAUNCHING = re.compile(
    r"launch|multiproc|distrib|runner|torch\.distributed|horovod|deepspeed|accelerate|coverage|bind"
)
"""Names of modules and scripts that start another script, which stands among their arguments."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_ISOLATED = re.compile(r"-[a-zA-Z]*[EI]")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_EXPORTS = ("-x", "-e", "--env")
_ENV_VALUED = ("-u", "--unset", "-C", "--chdir")
"""Options of env that take a value."""
_CONTAINERS = frozenset({"docker", "podman", "nvidia-docker", "singularity", "apptainer", "kubectl"})
_MODULE = ("-m", "--module")
_PROGRAMS = frozenset({"trtexec", "vllm"})
"""Programs that rules about commands know."""


def starts(
    text: str, places: Places, environment: Mapping[str, EnvironmentVariable] | None = None, read: Read | None = None,
    state: State | None = None,
) -> Iterator[Start]:  # fmt: skip
    """The Python scripts that a shell text starts, in order; arguments as those of `commands`."""
    for command in commands(text, places, environment, read, state):
        yield from started(command)


def started(command: Command, depth: int = 0) -> Iterator[Start]:
    """The Python scripts that one command starts."""
    words = command.words
    for index, word in enumerate(words):
        name = posixpath.basename(word.text)
        if name in _SHELLS and depth < MAX_SHELLS and (inner := _inner(words[index + 1 :])) is not None:
            given = _environment(command, index)
            for one in commands(inner.text, Fixed(command.location), given):
                yield from started(replace(one, folder=command.folder), depth + 1)
            return
        if _PYTHON.fullmatch(name):
            yield from _python(command, index, words[index + 1 :])
            return
        if name in _LAUNCHERS:
            yield from _launcher(command, index, words[index + 1 :])
            return
        if name in _PROGRAMS and not word.text.startswith("-"):
            started_by = _start(command, index, word, words[index + 1 :], False)
            yield replace(started_by, script=name, program=True)
            return
        if index == 0 and name.endswith(".py"):
            yield _start(command, index, word, words[1:], False)
            return


def _inner(words: Sequence[Text]) -> Text | None:
    """The text of ``bash -c TEXT``."""
    for index, word in enumerate(words):
        if not word.text.startswith("-"):
            return None
        if word.text.endswith("c") and not word.text.startswith("--"):
            return words[index + 1] if index + 1 < len(words) else None
    return None


def _python(command: Command, index: int, words: Sequence[Text], depth: int = 0) -> Iterator[Start]:
    """``python [OPTIONS] SCRIPT | -m MODULE``."""
    at, isolated = 0, False
    while at < len(words) and words[at].text.startswith("-"):
        option = words[at].text
        isolated = isolated or _ISOLATED.fullmatch(option) is not None
        if option == "-c" or option == "-":
            return
        if option == "-m":
            at += 1
            break
        at += 2 if option in _VALUED else 1
    if at >= len(words) or not words[at].text:  # `python ""`, or nothing
        return
    module = at > 0 and words[at - 1].text == "-m"
    name, rest = words[at], words[at + 1 :]
    launches = _LAUNCHING.search(posixpath.basename(name.text)) or not (name.known or name.text.endswith(".py"))
    if depth < MAX_LAUNCHERS and launches:
        yield from _launcher(command, index, rest, depth + 1)
    yield _start(command, index, name, rest, module, isolated)


def _launcher(command: Command, index: int, words: Sequence[Text], depth: int = 0) -> Iterator[Start]:
    """The script among the words after a launcher: the first that is a file of Python, or follows ``-m``."""
    for at, word in enumerate(words):
        if word.text in _MODULE and words[at + 1 : at + 2] and words[at + 1].text[:1] not in ("", "-"):
            yield _start(command, index, words[at + 1], words[at + 2 :], not words[at + 1].text.endswith(".py"))
            return
        if _PYTHON.fullmatch(posixpath.basename(word.text)):
            yield from _python(command, index, words[at + 1 :], depth)
            return
        if word.text.endswith(".py") and not word.text.startswith("-"):
            if depth < MAX_LAUNCHERS and _LAUNCHING.search(posixpath.basename(word.text)):
                yield from _launcher(command, index, words[at + 1 :], depth + 1)
            yield _start(command, index, word, words[at + 1 :], False)
            return


def _start(
    command: Command, index: int, name: Text, arguments: Sequence[Text], module: bool, isolated: bool = False
) -> Start:  # fmt: skip
    environment = _environment(command, index)
    if isolated:  # python -E and -I ignore what is for Python itself
        environment = {n: one for n, one in environment.items() if not n.startswith("PYTHON")}
    return Start(name.text, module, name.known, tuple(arguments), environment, command.location, command.folder)


def _environment(command: Command, index: int) -> dict[str, EnvironmentVariable]:
    """The environment that the words before the interpreter leave: ``env X=1``, ``mpirun -x X=1``, ``docker -e``."""
    before = command.words[:index]
    contained = bool(before) and posixpath.basename(before[0].text) in _CONTAINERS
    found = {} if contained else dict(command.environment)
    options = _horovodrun(before) if before and posixpath.basename(before[0].text) == "horovodrun" else ()
    found |= {one.name: one for one in options}
    previous, env = "", False
    for word in before:
        assigned = _ASSIGNMENT.fullmatch(word.text.removeprefix("--env="))
        if assigned and (previous in _EXPORTS or env or word.text.startswith("--env=")):
            name = assigned[1]
            found[name] = EnvironmentVariable(name, assigned[2] if word.known else None, word.location)
        elif word.text.startswith("--export="):
            found = exported(word.text.removeprefix("--export="), found, word.location)
        elif contained and previous in _EXPORTS and word.text in command.environment:
            found[word.text] = command.environment[word.text]
        elif previous in ("-u", "--unset"):
            found.pop(word.text, None)
        elif word.text in ("-i", "--ignore-environment") and env:
            found = {}
        own = word.text.startswith("-") or previous in _ENV_VALUED or assigned is not None
        env = posixpath.basename(word.text) == "env" or (env and own)
        previous = word.text
    return found


def _horovodrun(words: Sequence[Text]) -> Iterator[EnvironmentVariable]:
    """What options of horovodrun set (horovod 0.28.1: runner/common/util/config_parser.py, set_env_from_args)."""
    for at, word in enumerate(words):
        option, equals, value = word.text.partition("=")
        following = words[at + 1] if at + 1 < len(words) else word
        text, known = (value, word.known) if equals else (following.text, following.known)
        if option == "--autotune":
            yield EnvironmentVariable("HOROVOD_AUTOTUNE", "1", word.location)
        elif option == "--fusion-threshold-mb":
            size = str(int(text) * 1024 * 1024) if known and text.isdecimal() and len(text) < 9 else None
            yield EnvironmentVariable("HOROVOD_FUSION_THRESHOLD", size, word.location)


def exported(
    text: str, inherited: Mapping[str, EnvironmentVariable], place: Location
) -> dict[str, EnvironmentVariable]:
    """The environment after SLURM's ``--export=ALL,X=1``; a list without ``ALL`` keeps only what it names."""
    items = text.split(",")
    found = dict(inherited) if "ALL" in items else {n: inherited[n] for n in items if n in inherited}
    for item in items:
        if match := _ASSIGNMENT.fullmatch(item):
            found[match[1]] = EnvironmentVariable(match[1], match[2], place)
    return found
