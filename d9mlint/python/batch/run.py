"""Many entries: what earlier runs found out is taken from the cache, the rest is spread over worker processes.

A program's findings depend on the files that its story asked for (also on those that were not there), on the
catalogue and on the target; the cache keeps them under exactly that.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint import __version__
from d9mlint.model import Coverage, D9mlintError, Effect, Finding, Op, PlanRow, Rule, Target
from d9mlint.python.batch.closures import imported, quiet_files, reached_before
from d9mlint.python.batch.portions import Dealer
from d9mlint.python.batch.screen import Screen
from d9mlint.python.batch.store import Store, Unit, content_hash, own_code
from d9mlint.python.judging.merging import combine
from d9mlint.python.project.reach import Reach
from d9mlint.python.source.reading import CannotRead, Reader, disk_reader, overlaid

if TYPE_CHECKING:
    from d9mlint.python.domain.knowledge import Knowledge
    from d9mlint.python.interpreter.reuse.sharing import Shared
    from d9mlint.python.project.files import Project

Watch = Callable[[int, int, str], None]
"""Is told how many are done, of how many, and the one that is looked at now (with several processes: that was)."""
SCREEN = re.compile(
    rb"tensorflow|keras|torch|numpy|\brandom\b|environ|getenv|horovod|listdir|scandir|\bglob\b|iterdir|as_completed|imap_unordered"
)
"""A file that no entry reaches and that holds none of these words has nothing that a local rule could report."""
_GARBAGE = 2_000_000
"""Facts and stories are many small objects that live long; looking for garbage among them often only costs time."""


@dataclass(frozen=True)
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
    timeout: float | None = None
    """Seconds of CPU time that an entry may take."""
    plan: bool = False
    """The determinism plan of each program is asked for."""
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    """Contents that files would have after a patch, by path; all others are those on disk."""
    named: tuple[tuple[str, str], ...] = ()
    """Classes and functions that config files name: the key that each stands under, and its dotted name."""
    settings: tuple[str, ...] = ()
    """Config files that may hold settings of programs."""
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By entry, the functions of it that console scripts call."""
    elsewhere: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By entry, the files that an entry before it reaches too: what nothing calls in them is told there."""
    imported: frozenset[str] = frozenset()
    """Entries that another entry reaches."""
    idle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Entries that reach nothing which any rule is about, with the files that they reach."""
    quiet: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By other entry, the files that it reaches of which the same is true."""

    def reader(self) -> Reader:
        """What reads the files of the run."""
        return overlaid(disk_reader(self.root, self.cwd), self.overlay)

    def key(self, name: str, local: bool) -> str:
        """Where the unit of a file is kept: everything that it depends on besides the contents of files."""
        target = self.targets[name]
        packages = sorted((k, p.version, p.reason) for k, p in target.packages.items())
        elsewhere = sorted(self.elsewhere.get(name, ()))
        text = repr(
            (
                self._common, name, local, packages, target.device, target.environment, target.launchers,
                self.roots[name], elsewhere, self.idle.get(name), sorted(self.quiet.get(name, ())), self.named,
                self.settings, self.starts.get(name), name in self.imported,
            )
        )  # fmt: skip
        return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    @cached_property
    def _common(self) -> str:
        rules = tuple(r.name for r in self.rules)
        return repr((__version__, own_code(), self.digest, str(self.cwd), str(self.root), rules, self.argv, self.plan))


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Findings of all entries, merged and sorted; what could not be checked; the files that were looked at."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    coverage: Mapping[str, Coverage]
    """By program."""
    programs: tuple[str, ...]
    """The entries, and the files that no entry reaches and that were seen to train by themselves; sorted."""
    plans: Mapping[str, tuple[PlanRow, ...]] = field(default_factory=dict)
    """By program, what it does about its determinism."""


class Whole(NamedTuple):
    """All entries and files that there are: what is told of code that entries share depends on all of them."""

    entries: Sequence[str]
    files: Sequence[str]


def run(
    job: BatchJob, entries: Sequence[str], files: Sequence[str], jobs: int = 0, reach: Reach | None = None,
    watch: Watch | None = None, whole: Whole | None = None,
) -> BatchResult:  # fmt: skip
    """Judges the entries, then the files that none of them reaches, each by itself.

    ``reach`` is what the caller already knows of the import lines; ``whole`` is what there is, where only a part of
    it is judged.
    """
    whole = whole or Whole(entries, files)
    watch = watch or (lambda done, total, name: None)
    reach = reach or Reach(job.reader(), job.cwd)
    screen = Screen(job.effects, job.ops, job.aliases, job.rules, reach.read)
    closures = {entry: reach.files(entry, job.roots[entry]) for entry in sorted(whole.entries)}
    # With arguments it is to be told whether a program takes them, whatever it is about.
    own = {entry: closures[entry] for entry in entries}
    idle = screen.idle(own, (*whole.entries, *whole.files), named=bool(job.named)) if job.argv is None else {}
    quiet = quiet_files(screen, reach, {entry: paths for entry, paths in own.items() if entry not in idle}, job.roots)
    job = replace(job, elsewhere=reached_before(closures), imported=imported(closures), idle=idle, quiet=quiet)
    past = _Past(job, reach.read)
    dealer = Dealer(reach.read, own, idle, jobs)
    with _seldom_collected():
        judge = _Judge(job)
        first = _units(job, past, judge, sorted(entries), False, dealer, watch)
        reached = {path for unit in first for path in unit.files} | set(entries)
        rest = [path for path in files if path not in reached]
        alone = [path for path in rest if past.matters(path)]
        second = _units(job, past, judge, alone, True, dealer, watch)
    units = [*first, *second]
    programs = dict(zip(sorted(entries), first, strict=True))
    programs |= {path: unit for path, unit in zip(alone, second, strict=True) if unit.runs}
    reaching: dict[str, list[str]] = {path: [] for path in entries}
    for entry, unit in programs.items():
        for path in unit.files:
            reaching.setdefault(path, []).append(entry)
    findings = combine(
        (f for unit in units for f in unit.findings if f.entries or f.location.path not in reaching), reaching
    )
    unchecked = sorted({pair for unit in units for pair in unit.unchecked})
    seen = sorted(reached | set(rest) | {path for unit in units for path in unit.files})
    coverage = {path: unit.coverage for path, unit in sorted(programs.items()) if unit.coverage is not None}
    plans = {path: unit.plan for path, unit in sorted(programs.items())}
    return BatchResult(tuple(findings), tuple(unchecked), tuple(seen), coverage, tuple(sorted(programs)), plans)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_GARBAGE, *before[1:])
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def _clear() -> None:
    """Frees what only the entry before needed; the rest (facts, modules) is needed to the end, and not looked at."""
    gc.collect()
    gc.freeze()


def _units(
    job: BatchJob, past: _Past, judge: _Judge, names: Sequence[str], local: bool, dealer: Dealer, watch: Watch
) -> list[Unit]:  # fmt: skip
    """The units of files, in their order."""
    found = {name: unit for name in names if (unit := past.unit(name, local)) is not None}
    missing = [name for name in names if name not in found]
    workers = dealer.workers(missing)
    if workers > 1:
        _prepare()
        from d9mlint.python.batch import workers as processes

        for name, result in processes.spread(_work, (job, local), dealer.deal(missing, workers), workers):
            if isinstance(result, D9mlintError):
                raise result
            found[name] = _dead(name, result.code) if isinstance(result, processes.Died) else result
            watch(len(found), len(names), name)
    else:
        for name in missing:
            watch(len(found), len(names), name)
            found[name] = judge.unit(name, local)
    if missing and past.store is not None:
        past.store.prune()
        if (facts := Store.open("facts")) is not None:
            facts.prune()
    return [found[name] for name in names]


def _passes(reason: str) -> bool:
    """Whether another run may not meet what kept this one from looking at everything."""
    from d9mlint.python.interpreter.extent.bounds import TIMED_OUT

    return reason.startswith(("internal-error", TIMED_OUT))


def _dead(name: str, code: int | None) -> Unit:
    reason = f"internal-error: the process that checked it ended with code {code}"
    return Unit((), ((name, reason),), (name,), ())


def _prepare() -> None:
    """Imports here, once, what every forked worker needs; a run that finds all in the cache never comes here."""
    import libcst  # noqa: F401

    import d9mlint.python.judging.judge
    import d9mlint.python.source.lowering  # noqa: F401

    gc.collect()
    gc.freeze()


class _Work:
    """What a worker process does with a name; an error of the user's is handed on as a result."""

    def __init__(self, job: BatchJob, local: bool) -> None:
        self._judge = _Judge(job)
        self._local = local

    def __call__(self, name: str) -> Unit | D9mlintError:
        try:
            return self._judge.unit(name, self._local)
        except D9mlintError as error:
            return error


def _work(arguments: tuple[BatchJob, bool]) -> _Work:
    gc.set_threshold(_GARBAGE)
    return _Work(*arguments)


class _Past:
    """What earlier runs know; every file is read once, however many programs rest on it."""

    def __init__(self, job: BatchJob, read: Reader) -> None:
        self._job = job
        self._reader = read
        self._hashes: dict[str, str | None] = {}
        self.store = Store.open("units") if job.cache else None

    def matters(self, path: str) -> bool:
        """Whether a local rule could report anything in the file (or it cannot be read, which is to be told)."""
        try:
            data = self._reader(path)
        except CannotRead:
            return True
        if data is not None and self.store is not None:
            self._hashes[path] = content_hash(data)
        return data is not None and SCREEN.search(data) is not None

    def unit(self, name: str, local: bool) -> Unit | None:
        """What an earlier run found, where all that it rests on is as it was."""
        if self.store is None:
            return None
        known = self.store.load(self._job.key(name, local), Unit)
        if known is None or any(self._hash(path) != digest for path, digest in known.asked):
            return None
        return known

    def _hash(self, path: str) -> str | None:
        if path not in self._hashes:
            try:
                data = self._reader(path)
            except CannotRead as error:
                data = str(error).encode()
            self._hashes[path] = None if data is None else content_hash(data)
        return self._hashes[path]


class _Judge:
    """Judges entries, and keeps what it finds; each file is read and parsed once for all of them."""

    def __init__(self, job: BatchJob) -> None:
        self._job = job
        self._knowledge: dict[str, Knowledge] = {}
        self._shared: dict[tuple[str, str], Shared] = {}
        self._hashes: dict[str, str | None] = {}
        self._store = Store.open("units") if job.cache else None

    @cached_property
    def _project(self) -> Project:
        """The files, made when the first entry is judged: a run that finds all in the cache judges none."""
        from d9mlint.python.project.files import Project

        quiet = frozenset[str]().union(*self._job.quiet.values())
        return Project(self._job.reader(), Store.open("facts") if self._job.cache else None, quiet)

    def unit(self, name: str, local: bool) -> Unit:
        """The findings of one entry or local file; a crash on it is told and takes nothing else down."""
        self._project.asked.clear()
        try:
            unit = self._idle(name) if name in self._job.idle else self._judged(name, local)
        except D9mlintError:
            raise
        except CannotRead as error:
            unit = Unit((), ((name, str(error)),), (name,), self._asked([name]))
        except Exception as error:  # noqa: BLE001 - also MemoryError and RecursionError: the other files still count
            reason = f"internal-error: {type(error).__name__}: {error}".rstrip(": ")
            return Unit((), ((name, reason),), (name,), ())
        if self._store is not None and not any(map(_passes, (reason for _, reason in unit.unchecked))):
            self._store.save(self._job.key(name, local), unit)
        return unit

    def _idle(self, name: str) -> Unit:
        """An entry that has nothing to be judged: its files are only looked at for what cannot be read."""
        files = self._job.idle[name]
        reasons = {path: self._project.unreadable(path) for path in files}
        if reasons[name]:
            raise CannotRead(reasons[name])
        unchecked = tuple((path, reason) for path, reason in sorted(reasons.items()) if reason)
        return Unit((), unchecked, files, self._asked(files), Coverage(len(files), 0, {}, interpreted=False), True)

    def _judged(self, name: str, local: bool) -> Unit:
        from d9mlint.python.domain.conditions import forget
        from d9mlint.python.interpreter.reuse.sharing import Shared
        from d9mlint.python.judging.judge import judge

        forget()
        if self._shared:
            _clear()
        job = self._job
        target = job.targets[name]
        label = self._label(target)
        shared = self._shared.pop(label, None) or Shared()
        judged = judge(
            self._project, name, job.roots[name], job.rules, self._knowing(target), target, job.argv,
            local=local, elsewhere=job.elsewhere.get(name, frozenset()), shared=shared, imported=name in job.imported,
            seconds=job.timeout, planned=job.plan, starts=job.starts.get(name, ()),
        )  # fmt: skip
        self._shared[label] = shared  # (what an error interrupted is not in order)
        asked = self._asked(sorted(self._project.asked))
        return Unit(judged.findings, judged.unchecked, judged.files, asked, judged.coverage, judged.runs, judged.plan)

    def _label(self, target: Target) -> tuple[str, str]:
        """What decides, besides the files, what modules do when they are imported."""
        return repr(sorted((k, p.version) for k, p in target.packages.items())), target.device

    def _knowing(self, target: Target) -> Knowledge:
        from d9mlint.python.domain.knowledge import Knowledge

        label = self._label(target)[0]
        if label not in self._knowledge:
            job = self._job
            self._knowledge[label] = Knowledge(job.aliases, job.effects, target, job.ops, job.named, job.settings)
        return self._knowledge[label]

    def _asked(self, paths: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
        return tuple((path, self._hash(path)) for path in paths) if self._store is not None else ()

    def _hash(self, path: str) -> str | None:
        if path not in self._hashes:
            try:
                data = self._project.data(path)
            except CannotRead as error:
                data = str(error).encode()
            self._hashes[path] = None if data is None else content_hash(data)
        return self._hashes[path]


def newest_target(requirements: Sequence[str], device: str) -> Target:
    """The target of an example: what it asks for, else the newest known releases."""
    return _newest_target(tuple(requirements), device)


@cache
def _newest_target(requirements: tuple[str, ...], device: str) -> Target:
    from d9mlint.target import Resolver

    nowhere = Path(os.devnull).parent
    return Resolver(requirements, (), nowhere, device).target(nowhere / "train.py")
