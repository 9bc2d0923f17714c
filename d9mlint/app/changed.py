"""``--changed-since``: which entries a change concerns, told by import lines and names alone.

An entry reaches the files that its import lines lead to, deleted ones among them; the launchers that start it, as they
are and as they were, with what they source; the config files beside it; and the files beside and above it that say
which versions it runs with. Where a program works out the names of modules, it may reach any changed module, and any
config file may name one. So more may be judged than a change concerns, which costs time; what is left out is not
concerned.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.app.besides import CONFIG_FILES
from d9mlint.app.launches import Started
from d9mlint.app.options import Options, shown
from d9mlint.config import OWN_FILE, Config
from d9mlint.discover import KERNEL_SOURCES, Discovery
from d9mlint.discover.beside import is_beside
from d9mlint.discover.changed import Differing, Since, differing, has_commits
from d9mlint.model import Changed
from d9mlint.target.files import holds_below

if TYPE_CHECKING:
    from d9mlint.python.project.reach import Reach

_COMPUTED = re.compile(
    rb"__import__|import_module|spec_from_file|exec_module|load_source|(?:walk|iter)_(?:packages|modules)|entry_points"
    rb"|\brunpy\b|\binstantiate\("
)
"""Words by which a program imports what its import lines do not name."""
_PYTHON = (".py", ".ipynb")
_ANYTHING = Since("")
"""Files that are named are compared with nothing."""


class Program(NamedTuple):
    """What is asked of each entry: what its import lines reach, and who starts it."""

    reach: Reach
    roots: Mapping[str, tuple[str, ...]]
    launched: Started


class Change:
    """The files that differ: on disk from a revision, or by contents that they would have (``overlay``)."""

    def __init__(self, repositories: Sequence[Differing], overlay: Iterable[str], cwd: Path) -> None:
        self._cwd = cwd
        self._repositories = repositories
        self._differing = frozenset(path for one in repositories for path in one.paths)
        self.paths = self._differing.union(os.path.abspath(cwd / name) for name in overlay)  # noqa: PTH100
        self._folders = tuple(f"{path}/" for path in self._differing if os.path.isdir(path))  # noqa: PTH112
        self._known: dict[str, bool] = {}

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files, as reports show them; a folder (a submodule, another repository) stands for what it holds."""
        return tuple(sorted(shown(Path(path), self._cwd) for path in self.paths))

    def holds(self, name: str) -> bool:
        """Whether a file is among them, by its own path or by that of the file that a link leads to."""
        if name not in self._known:
            path = os.path.abspath(self._cwd / name)  # noqa: PTH100
            self._known[name] = self._has(path) or self._has(os.path.realpath(path))
        return self._known[name]

    def _has(self, path: str) -> bool:
        return path in self.paths or path.startswith(self._folders)

    def gone(self) -> Iterator[str]:
        """Those that are no longer there."""
        yield from (name for name in self.files if not os.path.lexists(self._cwd / name))

    def before(self, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """What those that are ``wanted`` held before, without those that were not there."""
        paths = sorted(filter(wanted, self._differing))
        contents = [one.before(paths) for one in self._repositories] if paths else []
        return {shown(Path(path), self._cwd): data for one in contents for path, data in one.items()}


def limited(
    options: Options, config: Config, found: Discovery, program: Program, overlay: Iterable[str]
) -> tuple[Discovery, Changed | None]:
    """What of all that was found is to be judged; None where nothing is left out because nothing was asked for.

    Raises:
        UsageError: git cannot tell what has changed.
    """
    cwd = Path.cwd()
    if options.concerning:
        return _limited(found, program, Change((), (shown(path, cwd) for path in options.concerning), cwd))
    if options.since is None:
        return found, None
    folders = [path if path.is_dir() else path.parent for path in options.paths]
    if options.since.staged and not all(map(has_commits, folders)):
        return found, Changed("", True, (), len(found.entries), 0)
    change = Change(differing(folders, options.since), overlay, cwd)
    if options.since.staged and not change.paths:
        return found, Changed("", True, (), len(found.entries), 0)
    if _settings(options, config, change):
        return found, _told(found, change, options.since)
    return _limited(found, program, change, options.since)


def _told(found: Discovery, change: Change, since: Since, left_out: int = 0) -> Changed:
    return Changed(since.revision, since.staged, change.files, len(found.entries), left_out)


def _limited(
    found: Discovery, program: Program, change: Change, since: Since = _ANYTHING
) -> tuple[Discovery, Changed | None]:
    cwd = Path.cwd()
    concerns = _concerned(change, program, [shown(path, cwd) for path in found.files])
    entries = tuple(path for path in found.entries if concerns(shown(path, cwd)))
    left_out = len(found.entries) - len(entries)
    return _kept(found, entries, change, program.launched), _told(found, change, since, left_out)


def _settings(options: Options, config: Config, change: Change) -> bool:
    """Whether a file differs that decides about all findings."""
    files = (config.path, options.baseline or config.baseline, *config.catalogues, *options.evidence)
    return any(path is not None and change.holds(str(path)) for path in files) or any(
        path.endswith(f"/{OWN_FILE}") for path in change.paths
    )


def _kept(found: Discovery, entries: tuple[Path, ...], change: Change, launched: Started) -> Discovery:
    """The entries, what stands beside them or starts them, and all that differs by itself."""
    cwd = Path.cwd()
    own = {shown(path.parent, cwd) for path in entries}
    starting = {one.location.path for path in entries for one in launched.launches.get(shown(path, cwd), ())}

    def judged(path: Path) -> bool:
        name = shown(path, cwd)
        return name in starting or shown(path.parent, cwd) in own or change.holds(name)

    kernels = any(change.holds(shown(path, cwd)) for path in found.kernels)
    return found._replace(
        entries=entries,
        files=tuple(path for path in found.files if path in {*entries} or change.holds(shown(path, cwd))),
        beside=tuple(filter(judged, found.beside)),
        kernels=found.kernels if kernels or any(p.endswith(KERNEL_SOURCES) for p in change.paths) else (),
    )


def _concerned(change: Change, program: Program, scripts: Iterable[str]) -> Callable[[str], bool]:
    """Tells of an entry whether it reaches a file that differs."""
    reach, roots, launched = program
    reaches = [reach, *_before(change, program)]
    started = _started_before(change, reach, frozenset(scripts))
    beside = {os.path.dirname(path) for path in change.paths if is_beside(os.path.basename(path))}  # noqa: PTH119, PTH120
    below = tuple(f"{folder}/" for path in change.paths if (folder := holds_below(path)) is not None)
    modules = tuple(path for path in change.paths if path.endswith((*_PYTHON, *CONFIG_FILES)))

    def launches(entry: str) -> Iterator[str]:
        for launch in launched.launches.get(entry, ()):
            yield launch.location.path
            yield from launched.sourced.get(launch.location.path, ())

    def concerns(entry: str) -> bool:
        folder = os.path.dirname(os.path.realpath(entry))  # noqa: PTH120
        if entry in started or folder in beside or f"{folder}/".startswith(below):
            return True
        files = [path for one in reaches for path in one.files(entry, roots[entry])]
        if any(map(change.holds, files)) or any(map(change.holds, launches(entry))):
            return True
        return bool(modules) and any(_computes(reach, path) for path in files) and _below(modules, roots[entry])

    return concerns


def _before(change: Change, program: Program) -> Iterator[Reach]:
    """The import lines as they led to modules that are no longer there; nothing where all are."""
    from d9mlint.python.project.reach import Reach

    gone = [name for name in change.gone() if name.endswith(_PYTHON)]
    if gone:
        yield Reach(program.reach.read, Path.cwd(), gone)


def _computes(reach: Reach, path: str) -> bool:
    return _COMPUTED.search(reach.peek(path) or b"") is not None


def _below(modules: Iterable[str], roots: Iterable[str]) -> bool:
    """Whether one of the modules lies below a folder that imports start from."""
    tops = tuple(os.path.join(os.path.realpath(root or "."), "") for root in roots)  # noqa: PTH118
    return any(path.startswith(tops) for path in modules)


def _started_before(change: Change, reach: Reach, scripts: frozenset[str]) -> frozenset[str]:
    """The scripts that launchers started which are now others or gone."""
    from d9mlint.configs.files import kind
    from d9mlint.configs.launches import find
    from d9mlint.configs.told import Launchers

    before = change.before(lambda path: bool(kind(path)))

    def read(name: str) -> bytes | None:
        return before.get(name) if change.holds(name) else reach.peek(name)

    return frozenset(find(before, scripts, Launchers(read)))
