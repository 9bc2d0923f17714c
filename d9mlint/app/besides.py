"""What files that are no programs add to a check: kernel sources and config files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.app.configreaders import ConfigReaders
from d9mlint.app.options import Options, shown
from d9mlint.discover import Discovery
from d9mlint.model import Finding, Rule, Unchecked
from d9mlint.target import Resolver

if TYPE_CHECKING:
    from d9mlint.configs.told import Reader, Start

CONFIG_FILES = (".json", ".yaml", ".yml")
_LAUNCHERS = ("compose", "workflow")


class Besides(NamedTuple):
    """Findings about such files, those that could not be checked, their texts, and the rules that were run."""

    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    sources: Mapping[str, str] = {}
    rules: tuple[Rule, ...] = ()


def _given(options: Options) -> Iterator[Path]:
    """The config files that the program is judged with: those among its arguments (``-- --config run.yaml``)."""
    for word in options.argv or ():
        path = Path(word.rpartition("=")[2])
        if path.name.endswith(CONFIG_FILES) and path.is_file():
            yield path


def judge_configs(
    options: Options, resolver: Resolver, rules: tuple[Rule, ...], found: Discovery, reader: Reader,
    programs: ConfigReaders,
) -> Besides:  # fmt: skip
    """The findings in config files; one that cannot be read is told of where it was named, others may be templates."""
    cwd = Path.cwd()
    beside = (path for path in found.beside if path.name.endswith(CONFIG_FILES))
    files = {shown(path, cwd): path for path in (*_given(options), *beside)}
    if not files:
        return Besides()
    from d9mlint.configs.documents import NotReadable
    from d9mlint.configs.files import text_of
    from d9mlint.configs.hydra import primary_configs
    from d9mlint.configs.judging import config as read
    from d9mlint.configs.judging import findings

    primary = primary_configs((shown(path, cwd) for path in found.entries), reader)
    raised: list[Finding] = []
    unchecked: list[Unchecked] = []
    sources: dict[str, str] = {}
    for name, path in files.items():
        data = reader(name)
        try:
            file = read(name, data, primary) if data is not None else None
        except NotReadable as error:
            if path in options.paths:
                unchecked.append(Unchecked(name, str(error)))
            continue
        if file is not None and data is not None:
            raised += programs.as_loaded(file, findings(file, rules, resolver.target(path)))
            sources[name] = text_of(data).replace("\r\n", "\n")
    return Besides(tuple(raised), tuple(unchecked), sources, rules)


def kinds(found: Discovery, reader: Reader) -> Iterator[tuple[str, str]]:
    """The config files in the folders that are of a known kind, each with the kind."""
    from d9mlint.configs.documents import NotReadable
    from d9mlint.configs.judging import config as read

    cwd = Path.cwd()
    for path in found.beside:
        data = reader(shown(path, cwd)) if path.name.endswith(CONFIG_FILES) else None
        with suppress(NotReadable):
            if data is not None and (file := read(shown(path, cwd), data)) is not None:
                yield file.path, file.kind


def named_in(found: Discovery, reader: Reader) -> tuple[tuple[str, str], ...]:
    """What config files name that programs may make objects of: keys and dotted names, sorted."""
    files = sorted({shown(p, Path.cwd()) for p in (*found.beside, *found.near) if p.name.endswith(CONFIG_FILES)})
    if not files:
        return ()
    from d9mlint.configs.targets import named

    return tuple(sorted({pair for name in files for pair in named(name, reader(name) or b"")}))


def settings_files(found: Discovery, reader: Reader) -> tuple[str, ...]:
    """The config files that hold settings of programs, as far as their names and sizes tell, sorted."""
    from d9mlint.configs.files import kind
    from d9mlint.python.source.ginfiles import ENDING
    from d9mlint.python.source.settingsfiles import MAX_BYTES

    endings = (*CONFIG_FILES, ENDING)
    names = sorted({shown(p, Path.cwd()) for p in (*found.beside, *found.near) if p.name.endswith(endings)})
    small = (name for name in names if len(reader(name) or b"") <= MAX_BYTES)
    return tuple(name for name in small if kind(name) not in _LAUNCHERS)


def judge_commands(
    resolver: Resolver, rules: tuple[Rule, ...], found: Discovery, commands: Mapping[str, tuple[Start, ...]],
    reader: Reader,
) -> Besides:  # fmt: skip
    """The findings about the commands of launchers that stand in the checked folders or were named."""
    cwd = Path.cwd()
    files = {name: path for path in found.beside if (name := shown(path, cwd)) in commands}
    if not files:
        return Besides()
    from d9mlint.configs.files import text_of
    from d9mlint.configs.judging import ABOUT_COMMANDS, command_findings

    own = tuple(rule for rule in rules if rule.name in ABOUT_COMMANDS)
    raised = [
        one for name, path in files.items() for one in command_findings(commands[name], own, resolver.target(path))
    ]
    sources = {
        path: text_of(data).replace("\r\n", "\n")
        for path in sorted(
            {one.location.path for one in raised} | {n for n in files if any(s.program for s in commands[n])}
        )
        if (data := reader(path)) is not None
    }
    return Besides(tuple(raised), (), sources, own)
