"""Libraries of one tree, each built for itself: of two functions of one name, a file means that of its headers."""

from __future__ import annotations

from collections.abc import Collection

from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.builds.extensions import apart

_BUILDS = ("CMakeLists.txt", "setup.py", "pyproject.toml")


def of_another(path: str, home: str, owners: Collection[str], word: bytes, repository: Repository) -> bool:
    """Whether a file that names a function means that of another library than its ``home``.

    So where no extension is built of both, and where all headers that it includes and that name the function lie in
    the library of one of the ``owners``, files that define one of this name, too.
    """
    if apart(repository, path, home):
        return True
    own = _library(home, repository)
    others = {_library(owner, repository) for owner in owners} - {own, ""}
    if not own or not others or _library(path, repository) == own:
        return False
    headers = (one for one in repository.reachable(path) if one != path and word in repository.data(one))
    found = {_library(one, repository) for one in headers}
    return bool(found) and found <= others


def _library(path: str, repository: Repository) -> str:
    """The outermost folder around a file, below that of the tree, that is built for itself; empty for none."""
    built = repository.derived(_built, "")
    parts = path.split("/")[:-1]
    folders = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((folder for folder in folders if folder in built), "")


def _built(repository: Repository, _: str) -> frozenset[str]:
    """The folders with a file of a build system."""
    folders = (path.rpartition("/") for path in repository.paths)
    return frozenset(folder for folder, _, name in folders if name in _BUILDS and folder)
