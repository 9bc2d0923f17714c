"""What every test gets: a cache of its own, and a way to run the command line in this process."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)  # a loaded machine makes nothing wrong
settings.load_profile("no clock")
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@cache
def _validator(name: str) -> Any:
    from jsonschema.validators import validator_for

    schema = json.loads((ROOT / "tests" / f"{name}.schema.json").read_text(encoding="utf-8"))
    kind = validator_for(schema)
    kind.check_schema(schema)  # which takes longer than most reports
    return kind(schema)


def validate(report: object, schema: str) -> None:
    """Fails where a report does not follow ``tests/SCHEMA.schema.json``, or that is no schema."""
    _validator(schema).validate(report)


def read_yaml(path: Path) -> Any:
    """A YAML file, read with libyaml where it is there: every process of the tests reads long ones."""
    import yaml

    return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def until_there(path: Path, seconds: float = 60.0) -> None:
    """Waits for a file by which another process tells how far it is."""
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear within {seconds:g} s"
        time.sleep(0.02)


def pytest_configure(config: pytest.Config) -> None:
    """Before test modules are imported, as some of them read the rules then.

    Tests neither read nor write the user's cache, and subprocesses inherit that. Bytecode is kept, also where the
    environment forbids it (images do): hundreds of processes import the same.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    folder = tempfile.TemporaryDirectory(prefix="d9mlint-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    os.environ["XDG_CACHE_HOME"] = folder.name
    _read_rules_once(Path(folder.name) / "d9mlint")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One more than there are cores: many tests wait for processes that they have started."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look at thousands of tests again."""
    gc.collect()
    gc.freeze()


def _read_rules_once(kept: Path) -> None:
    """The rules stay as they are while tests run: they are read, compiled without a cache, or checked once a process."""
    import d9mlint.catalogue as catalogue
    from d9mlint.catalogue.files import rules_folder

    home = sys.modules[catalogue.load.__module__]
    load_from, built_in = home.load_from, (rules_folder(), ())
    known: dict[bool, Any] = {}

    def once(folder: Path, extra: Sequence[Path] = (), **options: Any) -> Any:
        if (folder, tuple(extra)) != built_in or options.get("cache") not in (kept, None) or "modules" not in options:
            return load_from(folder, extra, **options)
        full = options.get("full", False)
        if full not in known:
            known[full] = load_from(folder, extra, **options)
        return known[full]

    home.load_from = once


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Programs that a shell starts in the background ignore Ctrl-C, and so would all that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def with_compiled_rules() -> Callable[[Path], None]:
    """Puts the compiled rules into another cache: processes need not compile them where that is not what is tested."""
    from d9mlint.catalogue import load, store

    own = Path(os.environ["XDG_CACHE_HOME"]) / "d9mlint"
    store.write(own, load())

    def others(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if not name.startswith("catalogue-")]

    def fill(cache: Path) -> None:
        shutil.copytree(own, cache / "d9mlint", ignore=others)

    return fill


@pytest.fixture
def d9mlint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Ran]:
    """Runs the command line in this process, in an empty folder."""
    from d9mlint.cli import main

    (tmp_path / ".git").mkdir()  # no configuration above it counts
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Ran:
        with pytest.raises(SystemExit) as left:
            main(list(args))
        out, err = capfdbinary.readouterr()
        code = left.value.code
        return Ran(code if isinstance(code, int) else 0, out.decode(), err.decode())

    return run
