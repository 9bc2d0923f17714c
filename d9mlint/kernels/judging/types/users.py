"""The files that may use a template, the likely ones first."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.judging.types import dispatch
from d9mlint.kernels.source.repository import Repository

HEADERS = (".h", ".hpp", ".cuh", ".hh", ".hxx", ".H", ".inl", ".inc", ".tpp", ".ipp", ".tcc", ".txx", ".hu", ".muh")
_MAX_FILES = 60


def groups(repository: Repository, name: str, path: str) -> Iterator[list[str]]:
    """Groups of files that may use a template of a file, the likely ones first."""
    if not path.endswith(HEADERS):
        yield [path]
    others = [p for p in repository.derived(kernels_mentioning, name) if p != path]
    yield [path, *others] if path.endswith(HEADERS) else others
    beside = repository.derived(_folders, "").get(path.rpartition("/")[0], ())
    wanted = name.encode()
    near = [p for p in beside if p != path and p not in others and wanted in repository.data(p)][:_MAX_FILES]
    yield near
    users = sorted(repository.users(path).difference(others, near, [path]))
    yield [p for p in users if wanted in repository.data(p)][:_MAX_FILES]


def kernels_mentioning(repository: Repository, name: str) -> tuple[str, ...]:
    """The sources of kernels that hold a name."""
    kernels = frozenset(repository.derived(dispatch.kernel_sources, ""))
    return tuple(p for p in repository.holding(name.encode()) if p in kernels)[:_MAX_FILES]


def _folders(repository: Repository, _: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in repository.sources:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found
