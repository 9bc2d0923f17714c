"""How the entries are started: which launchers there are, what their environments and arguments mean for a check."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.app.options import Options, shown
from d9mlint.discover import Discovery
from d9mlint.model import EnvironmentVariable, Launch, Target, UsageError

if TYPE_CHECKING:
    from d9mlint.configs.told import Reader, Start


class Started(NamedTuple):
    """The launches of scripts, and what is needed to say what an entry's environment is."""

    launches: Mapping[str, tuple[Launch, ...]] = {}
    images: Mapping[str, tuple[EnvironmentVariable, ...]] = {}
    """By folder, what its Dockerfile sets."""
    commands: Mapping[str, tuple[Start, ...]] = {}
    """By launcher, what it starts."""
    sourced: Mapping[str, tuple[str, ...]] = {}
    """By launcher, the files that it sources, there or not."""

    def target(self, target: Target, entry: str) -> Target:
        """The target with the environment that the entry's launchers and image give it."""
        if not self.images and entry not in self.launches:
            return target
        from d9mlint.configs.launches import environment, image_environment

        base = image_environment(entry, self.images)
        variables, launchers = environment(self.launches.get(entry, ()), base)
        return target._replace(environment=variables, launchers=launchers)


def started(found: Discovery, options: Options, reader: Reader, cwd: Path) -> tuple[Started, Discovery]:
    """Who starts what; scripts that something starts are entries, too.

    Raises:
        UsageError: ``--launcher`` names a file that starts none of the scripts, or several ways to start them.
    """
    files = tuple(dict.fromkeys(shown(path, cwd) for path in (*found.beside, *found.near)))
    if options.launcher is not None:
        files = tuple(dict.fromkeys((*files, _launcher(options.launcher, cwd)[0])))
    if not files:
        return Started(), found
    from d9mlint.configs.launches import find, image_environments
    from d9mlint.configs.told import Launchers

    launchers = Launchers(reader, cache=options.cache)
    scripts = {shown(path, cwd): path for path in found.files}
    named = [shown(path, cwd) for path in options.paths if path in found.beside]
    for name in find(named, _Readable(reader), launchers):  # whoever names a launcher means what it starts
        scripts.setdefault(name, Path(name))
    found = found._replace(files=tuple(sorted(scripts.values(), key=lambda path: path.parts)))
    launches: Mapping[str, tuple[Launch, ...]] = find(files, scripts.keys(), launchers)
    images = image_environments(files, launchers)
    launchers.keep()
    commands = {name: told.starts for name in files if (told := launchers(name)).starts}
    sourced = {name: launchers.sourced(name) for name in commands}
    if options.launcher is not None:
        launches = _only(launches, *_launcher(options.launcher, cwd))
        entries = tuple(path for path in found.entries if shown(path, cwd) in launches) or tuple(
            scripts[name] for name in launches
        )
        return Started(launches, images, commands, sourced), found._replace(entries=entries)
    entries = tuple(sorted({*found.entries, *(scripts[name] for name in launches)}, key=lambda path: path.parts))
    return Started(launches, images, commands, sourced), found._replace(entries=entries)


class _Readable(Container[str]):
    """All files that can be read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._reader(path) is not None


def _launcher(text: str, cwd: Path) -> tuple[str, int]:
    """``path`` or ``path:line``."""
    path, _, line = text.rpartition(":")
    if not path or not line.isdigit():
        path, line = text, "0"
    if not Path(path).is_file():
        raise UsageError(f"--launcher: file not found: {path}")
    return shown(Path(path), cwd), int(line)


def _only(launches: Mapping[str, tuple[Launch, ...]], path: str, line: int) -> dict[str, tuple[Launch, ...]]:
    """The launches from one file (and line)."""
    found = {
        script: kept
        for script, them in launches.items()
        if (kept := tuple(x for x in them if x.location.path == path and line in (0, x.location.line)))
    }
    if not found:
        raise UsageError(f"--launcher: {path}{f':{line}' if line else ''} starts none of the scripts to check")
    return found


def arguments(options: Options, entries: Collection[str], launches: Mapping[str, Sequence[Launch]]) -> tuple[str, ...]:
    """The script's arguments that ``--launcher`` gives it.

    Raises:
        UsageError: they differ, or depend on what is not known.
    """
    found = [launch for entry in sorted(entries) for launch in launches.get(entry, ())]
    if len({launch.arguments for launch in found}) != 1 or len(entries) != 1:
        places = ", ".join(dict.fromkeys(launch.place for launch in found))
        raise UsageError(f"--launcher: more than one way to start a script ({places}); give one, as {found[0].place}")
    if found[0].unknown:
        listed = ", ".join(f"`{text}`" for text in found[0].unknown)
        raise UsageError(f"--launcher: {found[0].place}: {listed} not known here; give the script's arguments after --")
    return found[0].arguments
