"""Many entries: spread over worker processes, with what earlier runs learned.

A program's findings depend on the files that its story asked for (also on those that were not there), on the
catalogue and on the target; the cache keeps them under exactly that.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from d9mlint import __version__
from d9mlint.model import Effect, Finding, Op, Rule, Target
from d9mlint.python.project import CannotRead, disk_reader

SCREEN = re.compile(
    rb"tensorflow|keras|numpy|\brandom\b|environ|getenv|horovod|listdir|scandir|\bglob\b|iterdir|as_completed|imap_unordered"
)
"""A file that no entry reaches and that holds none of these words has nothing that a local rule could report."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """What all entries of a run have in common."""

    root: Path
    cwd: Path
    digest: str
    aliases: Mapping[str, str]
    effects: tuple[Effect, ...]
    ops: tuple[Op, ...]
    rules: tuple[Rule, ...]
    targets: Mapping[str, Target]
    roots: Mapping[str, tuple[str, ...]]
    argv: tuple[str, ...] | None
    cache: bool


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Findings of all entries, merged and sorted; what could not be checked; the files that were looked at."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What one entry yields, and what that rests on: content hashes by path, None for a file that was not there."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    asked: tuple[tuple[str, str | None], ...]


def run(job: BatchJob, entries: Sequence[str], files: Sequence[str], jobs: int = 0) -> BatchResult:
    """Judges the entries, then the files that none of them reaches, each by itself."""
    from d9mlint.python.engine import combine

    first = _spread(job, sorted(entries), False, jobs)
    reached = {path for unit in first for path in unit.files} | set(entries)
    rest = [path for path in files if path not in reached]
    second = _spread(job, rest, True, jobs)
    units = [*first, *second]
    findings = combine(f for unit in units for f in unit.findings)
    unchecked = sorted({pair for unit in units for pair in unit.unchecked})
    seen = sorted(reached | set(rest) | {path for unit in units for path in unit.files})
    return BatchResult(tuple(findings), tuple(unchecked), tuple(seen))


def _spread(job: BatchJob, names: Sequence[str], local: bool, jobs: int) -> list[_Unit]:
    workers = min(jobs or os.cpu_count() or 1, max(1, len(names) // 4))
    if workers <= 1:
        return _work(job, names, local)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    chunks = _chunks(names, workers)
    with ProcessPoolExecutor(workers, mp_context=get_context("fork" if os.name == "posix" else "spawn")) as pool:
        done = list(pool.map(_work, [job] * len(chunks), chunks, [local] * len(chunks)))
    return [unit for units in done for unit in units]


def _chunks(names: Sequence[str], workers: int) -> list[list[str]]:
    """Neighbours stay together, as they share modules; several chunks a worker even out their sizes."""
    size = max(1, -(-len(names) // (workers * 8)))
    return [list(names[i : i + size]) for i in range(0, len(names), size)]


def _work(job: BatchJob, names: Sequence[str], local: bool) -> list[_Unit]:
    worker = _Worker(job)
    return [unit for name in names if (unit := worker.unit(name, local)) is not None]


class _Worker:
    """Reads each file once for all its entries."""

    def __init__(self, job: BatchJob) -> None:
        self._job = job
        self._reader = disk_reader(job.root, job.cwd)
        self._project: object = None
        self._knowledge: dict[str, object] = {}
        self._hashes: dict[str, str | None] = {}
        self._store = _Store(job) if job.cache else None

    def unit(self, name: str, local: bool) -> _Unit | None:
        """The findings of one entry or local file; None for a local file that the screen rules out."""
        if local:
            try:
                data = self._reader(name)
            except CannotRead as error:
                return _Unit((), ((name, str(error)),), (name,), ())
            if data is None or not SCREEN.search(data):
                return None
        key = ""
        if self._store is not None:
            key = self._store.key(name, local)
            known = self._store.load(key)
            if known is not None and all(self._hash(path) == digest for path, digest in known.asked):
                return known
        unit = self._judge(name, local)
        if self._store is not None:
            self._store.save(key, unit)
        return unit

    def _hash(self, path: str) -> str | None:
        if path not in self._hashes:
            try:
                data = self._reader(path)
            except CannotRead as error:
                data = str(error).encode()
            self._hashes[path] = None if data is None else hashlib.blake2b(data, digest_size=12).hexdigest()
        return self._hashes[path]

    def _judge(self, name: str, local: bool) -> _Unit:
        from d9mlint.python.engine import judge
        from d9mlint.python.knowledge import Knowledge
        from d9mlint.python.project import Project

        job = self._job
        if self._project is None:
            self._project = Project(self._reader)
        project = self._project
        assert isinstance(project, Project)
        target = job.targets[name]
        label = repr(sorted((k, p.version) for k, p in target.packages.items()))
        if label not in self._knowledge:
            self._knowledge[label] = Knowledge(job.aliases, job.effects, target)
        knowledge = self._knowledge[label]
        assert isinstance(knowledge, Knowledge)
        project.asked.clear()
        try:
            judged = judge(project, name, job.roots[name], job.rules, job.ops, knowledge, target, job.argv, local=local)
        except CannotRead as error:
            return _Unit((), ((name, str(error)),), (name,), self._asked([name]))
        return _Unit(judged.findings, judged.unchecked, judged.files, self._asked(sorted(project.asked)))

    def _asked(self, paths: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
        return tuple((path, self._hash(path)) for path in paths)


class _Store:
    """Units of earlier runs in the user's cache folder; one that cannot be read or written is only slower."""

    def __init__(self, job: BatchJob) -> None:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self._folder = Path(base) / "d9mlint" / "units"
        rules = tuple(r.name for r in job.rules)
        common = (__version__, job.digest, str(job.cwd), str(job.root), rules, job.argv)
        self._common = repr(common)
        self._job = job

    def key(self, name: str, local: bool) -> str:
        """Where the unit of an entry is kept."""
        target = self._job.targets[name]
        packages = sorted((k, p.version, p.reason) for k, p in target.packages.items())
        text = repr((self._common, name, local, packages, target.device, self._job.roots[name]))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def load(self, key: str) -> _Unit | None:
        """The unit kept under ``key``, if it can be read."""
        try:
            with (self._folder / key[:2] / key).open("rb") as file:
                found = pickle.load(file)
        except (OSError, pickle.PickleError, EOFError, AttributeError, ImportError, IndexError, TypeError, ValueError):
            return None
        return found if isinstance(found, _Unit) else None

    def save(self, key: str, unit: _Unit) -> None:
        """Keeps ``unit`` under ``key``."""
        path = self._folder / key[:2] / key
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{os.getpid()}")
            temporary.write_bytes(pickle.dumps(unit, 5))
            temporary.replace(path)
        except OSError:
            return


def newest_target(requirements: Sequence[str], device: str) -> Target:
    """The target of an example: what it asks for, else the newest known releases."""
    from d9mlint.target import Resolver

    nowhere = Path(os.devnull).parent
    return Resolver(requirements, (), nowhere, device).target(nowhere / "train.py")
