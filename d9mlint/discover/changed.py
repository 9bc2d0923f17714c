"""Which files differ from a revision: asked of git, whose command is run (git-diff(1), git-ls-files(1))."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from d9mlint.discover.tracked import repository_of
from d9mlint.model import UsageError

_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What a hook of one repository has in its environment, and what would be wrong for another (githooks(5))."""

_PLAIN = ("-c", "core.fsmonitor=false")
"""What may be set in a repository and makes git run a program of its author's choice (git-config(1))."""


class Since(NamedTuple):
    """What files are compared with: a revision, or with ``staged`` what the next commit changes."""

    revision: str
    staged: bool = False


class Differing(NamedTuple):
    """The paths (absolute, ``/``-separated) of one repository that differ; a folder stands for all that it holds."""

    repository: Path
    base: str
    """The commit that they are compared with."""
    paths: tuple[str, ...]

    def before(self, paths: Iterable[str]) -> dict[str, bytes]:
        """What these files held at that commit, without those that were not there."""
        top = f"{_top(self.repository)}/"
        asked = [path for path in paths if path.startswith(top) and "\n" not in path]
        names = "".join(f"{self.base}:{path.removeprefix(top)}\n" for path in asked)
        done = _run(self.repository, "cat-file", "--batch", given=names.encode("utf-8", "surrogateescape"))
        return dict(_contents(asked, done.stdout))


def differing(folders: Iterable[Path], since: Since) -> tuple[Differing, ...]:
    """What differs in the repositories that ``folders`` lie in: changed, new, untracked and deleted files.

    A revision stands for the commit at which the branch that is checked out has left it (git-merge-base(1)), as
    what was done there meanwhile is none of its changes.

    Raises:
        UsageError: a folder lies in no repository, git is not installed, or there is no such revision.
    """
    found: dict[Path, Path] = {}
    for folder in folders:
        repository = repository_of(Path(os.path.realpath(folder)))
        if repository is None:
            raise UsageError(f"what has changed is known only in a git repository, and {folder} lies in none")
        found.setdefault(repository, folder)
    return tuple(_differing(repository, shown, since) for repository, shown in sorted(found.items()))


def _differing(repository: Path, shown: Path, since: Since) -> Differing:
    top = _top(repository)
    base = _commit(repository, shown, since)
    names = {*_names(repository, "diff", *(["--cached"] if since.staged else []), *_DIFF, base, "--")}
    if not since.staged:
        names |= {*_names(repository, "ls-files", "--others", "--exclude-standard", "-z")}
    return Differing(repository, base, tuple(f"{top}/{name.rstrip('/')}" for name in sorted(names)))


_DIFF = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")


def _top(repository: Path) -> str:
    return repository.as_posix().rstrip("/")


def _commit(repository: Path, shown: Path, since: Since) -> str:
    """The commit to compare with."""
    named = _run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since.revision}^{{commit}}")
    if named.returncode != 0:
        _refused("rev-parse", named)
        what = f"there is no revision {since.revision!r} in the git repository of {shown}"
        raise UsageError(f"{what} (`git fetch` brings it where the checkout is a shallow one)")
    commit = named.stdout.decode().strip()
    left = _run(repository, "merge-base", commit, "HEAD")
    return left.stdout.decode().strip() if left.returncode == 0 else commit


def has_commits(folder: Path) -> bool:
    """Whether the repository that a folder lies in has any commit; True where there is no repository.

    Raises:
        UsageError: git is not installed, or refuses to look at it.
    """
    repository = repository_of(Path(os.path.realpath(folder)))
    if repository is None:
        return True
    done = _run(repository, "rev-parse", "--verify", "--quiet", "HEAD")
    _refused("rev-parse", done)
    return done.returncode == 0


def _refused(command: str, done: subprocess.CompletedProcess[bytes]) -> None:
    """Raises UsageError with what git says where it cannot do something at all: a repository of somebody else, say."""
    told = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode != 0 and told:
        raise UsageError(f"`git {command}` failed: {told}")


def _names(repository: Path, *words: str) -> Iterator[str]:
    done = _run(repository, *words)
    _refused(words[0], done)
    if done.returncode != 0:
        raise UsageError(f"`git {words[0]}` failed with exit code {done.returncode}")
    yield from (name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name)


def _contents(paths: Iterable[str], told: bytes) -> Iterator[tuple[str, bytes]]:
    """The files among ``paths`` in an answer of git-cat-file(1): a line about each, then what it holds."""
    at = 0
    for path in paths:
        end = told.find(b"\n", at)
        if end < 0:
            return
        words = told[at:end].split(b" ")
        at = end + 1
        if words[-1].isdigit():
            size = int(words[-1])
            if words[-2] == b"blob":
                yield path, told[at : at + size]
            at += size + 1


def _run(repository: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    own = repository_of(Path.cwd()) == repository
    environment = {name: value for name, value in os.environ.items() if own or name not in _PLACES}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}  # nothing is written, also not the index anew
    try:
        return subprocess.run(
            ["git", *_PLAIN, *words], cwd=repository, env=environment, input=given, capture_output=True, check=False
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"what has changed is asked of git, which cannot be run: {error.strerror or error}") from error
