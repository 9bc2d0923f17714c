"""Many entries: the cache is right whatever changes, and worker processes change nothing but the time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from d9mlint.python.batch import portions, store, workers
from d9mlint.python.batch.store import Store, Unit

ROOT = Path(__file__).resolve().parent.parent
TRAIN = """\
import tensorflow as tf
import helper
helper.prepare()
dataset = tf.data.Dataset.range(10).shuffle(10)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(dataset)
"""
SEEDS = "import tensorflow as tf\ndef prepare():\n    tf.keras.utils.set_random_seed(1)\n"
NOTHING = "def prepare():\n    pass\n"


def write_tree(project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of two files, in which the test stands, and a cache of its own."""
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    (project / "helper.py").write_text(SEEDS)
    (project / "pyproject.toml").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(project)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program and its empty cache."""
    write_tree(tmp_path / "project", tmp_path / "cache", monkeypatch)
    return tmp_path / "project"


@pytest.fixture
def compiled(tree: Path, tmp_path: Path, with_compiled_rules: Callable[[Path], None]) -> Path:
    """The same with compiled rules in that cache, and nothing else."""
    with_compiled_rules(tmp_path / "cache")
    return tree


def check(*arguments: str, code: tuple[int, ...] = (0, 1)) -> str:
    """The JSON report of a new process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "d9mlint", "check", *arguments, "--format", "json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in code, done.stderr
    return done.stdout


@pytest.fixture
def checked(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    with_compiled_rules: Callable[[Path], None],
) -> Callable[..., str]:  # fmt: skip
    """The JSON report of this process on that program, whose cache holds compiled rules at first."""
    write_tree(tmp_path / "project", tmp_path / "cache", monkeypatch)
    with_compiled_rules(tmp_path / "cache")

    def run(*arguments: str) -> str:
        ran = d9mlint("check", *arguments, "--format", "json")
        assert ran.code in (0, 1), ran.err
        return ran.out

    return run


def rules_in(report: str) -> set[str]:
    """The rules that report anything."""
    return {found["rule"] for found in json.loads(report)["findings"]}


def units(tmp_path: Path) -> list[Path]:
    """The units kept in the cache."""
    return sorted((tmp_path / "cache" / "d9mlint" / "units").glob("*/*"))


def test_a_second_run_says_the_same(compiled: Path, tmp_path: Path) -> None:
    cold = check("train.py")
    assert units(tmp_path)
    assert check("train.py") == cold == check("train.py", "--no-cache")


def test_an_edit_of_an_imported_module_counts(checked: Callable[..., str]) -> None:
    seeded = rules_in(checked("train.py"))
    Path("helper.py").write_text(NOTHING)
    unseeded = rules_in(checked("train.py"))
    assert unseeded - seeded
    Path("helper.py").write_text(SEEDS)
    assert rules_in(checked("train.py")) == seeded


def test_a_module_that_appears_counts(checked: Callable[..., str]) -> None:
    seeded = rules_in(checked("train.py"))
    Path("helper.py").unlink()
    without = checked("train.py")
    assert checked("train.py") == without
    Path("helper").mkdir()
    Path("helper/__init__.py").write_text(SEEDS)
    assert rules_in(checked("train.py")) == seeded


def test_no_cache_neither_reads_nor_writes(tree: Path, tmp_path: Path) -> None:
    check("train.py", "--no-cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("garbage", [b"", b"garbage", b"\x80\x05N."])
def test_a_damaged_unit_is_made_again(compiled: Path, tmp_path: Path, garbage: bytes) -> None:
    cold = check("train.py")
    compiled_rules = set((tmp_path / "cache").rglob("catalogue-*"))  # (`test_damaged_cache_is_rebuilt` is about these)
    for unit in set((tmp_path / "cache").rglob("*")) - compiled_rules:
        if unit.is_file() and unit.suffix != ".json":
            unit.write_bytes(garbage)
    assert check("train.py") == cold
    assert all(unit.read_bytes() != garbage for unit in units(tmp_path))


def test_a_cache_that_cannot_be_written_is_only_slower(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert rules_in(check("train.py")) == rules_in(check("train.py", "--no-cache"))


@pytest.mark.skipif(os.name != "posix", reason="the system knows no owners")
def test_a_folder_that_others_can_write_to_is_not_trusted(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "d9mlint" / "units"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert Store.open("units") is None
    check("train.py")
    assert not units(tmp_path)
    folder.chmod(0o700)
    assert Store.open("units") is not None


@pytest.mark.skipif(os.name != "posix", reason="the system knows no owners")
def test_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    assert not store.is_private(tmp_path)


def test_what_is_kept_is_what_comes_back(tmp_path: Path) -> None:
    kept, unit = Store(tmp_path), Unit((), (("a.py", "reason"),), ("a.py",), (("a.py", "0"), ("b.py", None)))
    kept.save("ab12", unit)
    assert kept.load("ab12", Unit) == unit
    assert kept.load("ab12", dict) is None
    assert kept.load("cd34", Unit) is None
    kept.prune()
    assert kept.load("ab12", Unit) == unit


def test_what_is_old_is_dropped_once_a_day(tmp_path: Path) -> None:
    import time

    kept, long_ago = Store(tmp_path), time.time() - 40 * 86_400
    for key in ("ab12", "cd34"):
        kept.save(key, {})
    os.utime(tmp_path / "ab" / "ab12", (long_ago, long_ago))
    kept.prune()
    assert (kept.load("ab12", dict), kept.load("cd34", dict)) == (None, {})
    os.utime(tmp_path / "cd" / "cd34", (long_ago, long_ago))
    kept.prune()
    assert kept.load("cd34", dict) == {}
    os.utime(tmp_path / "pruned", (long_ago, long_ago))
    kept.prune()
    assert kept.load("cd34", dict) is None


def test_the_number_of_processes_changes_nothing(checked: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []

    def spread(start: Callable[..., object], job: object, chunks: list[tuple[str, ...]], processes: int) -> object:
        numbers.append(processes)
        return real(start, job, chunks, processes)

    real = workers.spread
    monkeypatch.setattr(workers, "spread", spread)
    monkeypatch.setattr(portions, "_LITTLE", 0)
    monkeypatch.chdir(ROOT / "tests" / "projects")
    folders = sorted(path.name for path in Path().iterdir() if path.is_dir())[:8]
    alone = checked(*folders, "-j1", "--no-cache", "--min-confidence", "low")
    assert json.loads(alone)["findings"]
    assert numbers == []
    assert checked(*folders, "-j2", "--no-cache", "--min-confidence", "low") == alone
    assert checked(*folders, "-j3", "--min-confidence", "low") == alone
    assert len(numbers) == 2
    assert checked(*folders, "-j2", "--min-confidence", "low") == alone


def test_what_nothing_calls_is_told_once_for_all_entries(checked: Callable[..., str]) -> None:
    listing = "import os\nimport numpy as np\ndef load():\n    return np.array([np.load(f) for f in os.listdir('.')])\n"
    Path("helper.py").write_text(SEEDS + listing)
    Path("later.py").write_text(TRAIN + "if __name__ == '__main__':\n    loader = helper.load\n")
    Path("train.py").write_text(TRAIN + "if __name__ == '__main__':\n    loader = helper.load\n")
    both = [f for f in json.loads(checked("."))["findings"] if f["rule"] == "unsorted-listing"]
    assert [(f["path"], f["entries"]) for f in both] == [("helper.py", ["later.py"])]
    alone = [f for f in json.loads(checked("train.py"))["findings"] if f["rule"] == "unsorted-listing"]
    assert [(f["path"], f["entries"]) for f in alone] == [("helper.py", ["train.py"])]


def test_what_an_entry_reaches_and_never_makes_is_told_for_no_other_file(checked: Callable[..., str]) -> None:
    Path("data.py").write_text(
        "import numpy as np\nWIDTH = 3\nclass Data:\n    def __init__(self):\n        self.rng = np.random.default_rng()\n"
    )
    Path("other.py").write_text(
        "import data\nimport numpy as np\nnp.random.default_rng(1)\ndef make():\n    return data.Data()\n"
    )
    assert "entropy-seed" in rules_in(checked("data.py", "other.py", "--no-cache"))
    Path("train.py").write_text("from data import WIDTH\nif __name__ == '__main__':\n    print(WIDTH)\n")
    assert "entropy-seed" not in rules_in(checked(".", "--no-cache"))


def test_seeds_that_nothing_calls_are_told_for_each_entry(checked: Callable[..., str]) -> None:
    for name in ("one.py", "two.py"):
        text = TRAIN.replace("helper.prepare()\n", "") + "if __name__ == '__main__':\n    pass\n"
        Path(name).write_text(text)
    found = [f for f in json.loads(checked("one.py", "two.py"))["findings"] if f["rule"].startswith("unseeded-")]
    notes = {f["path"]: [f["message"], *(r["note"] for r in f["related"])] for f in found}
    for name in ("one.py", "two.py"):
        assert any("no call of the function that seeds it" in note for note in notes[name])
        assert "seeds it, but no call of it was found in this program" in notes[name]


def test_a_warm_run_imports_neither_libcst_nor_yaml(tree: Path) -> None:
    script = (
        "import sys\nfrom d9mlint.cli import main\n"
        "try:\n    main(['check', 'train.py', '--format', 'json'])\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'libcst', 'yaml'}), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
        ).stderr.strip()
        for _ in range(2)
    ]
    assert told == ["['libcst', 'yaml']", "[]"]


def test_large_entries_go_first_and_neighbours_stay_together() -> None:
    sizes = dict.fromkeys("abcdefgh", 10) | {"g": 900_000, "package": 50_000}
    reached = {name: (name, "package") for name in "abcdefgh"} | {"h": ("h",)}
    dealer = portions.Dealer(lambda path: b" " * sizes[path], reached, {"b"}, 2)
    assert dealer.deal([*"abcdefgh"], 2) == [("g",), ("a",), ("c",), ("d",), ("e",), ("f",), ("h",), ("b",)]
    assert dealer.deal([*"abcdefgh"] * 4, 2)[0] == ("g", "h")
    assert dealer.workers([*"abcdefgh"]) == 2
    assert dealer.workers([*"abcdef", "h"]) == 1  # 50,060 bytes are soon read
    assert dealer.workers([*"agh"]) == 1


# -- what happens when something dies ------------------------------------------------------------------------------


def _start(job: object) -> workers.Work:
    def work(name: str) -> str:
        if name.startswith("dies"):
            os._exit(7)
        return name.upper()

    return work


@pytest.mark.skipif(os.name != "posix", reason="a local function does not travel to a spawned process")
def test_a_process_that_dies_takes_only_its_own_name() -> None:
    chunks = [("a", "dies", "b"), ("c", "d"), ("dies too",), ("e",)]
    found = dict(workers.spread(_start, None, chunks, 2))
    assert found == {
        "a": "A", "b": "B", "c": "C", "d": "D", "e": "E", "dies": workers.Died(7), "dies too": workers.Died(7),
    }  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="needs fork")
def test_workers_end_with_whoever_asked_them() -> None:
    results = workers.spread(_start, None, [("a",), ("b",), ("c", "d")], 2)
    next(results)
    results.close()
    from multiprocessing import active_children

    assert not active_children()


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), KeyError("bug")])
def test_a_crash_on_one_file_is_told_and_the_rest_goes_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from d9mlint import app
    from d9mlint.python.judging import judge as engine

    (tree / "other.py").write_text("if __name__ == '__main__':\n    import random\n    print(random.random())\n")
    real = engine.judge

    def judge(project: object, entry: str, *more: object, **options: object) -> object:
        if entry == "train.py":
            raise error
        return real(project, entry, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "judge", judge)
    outcome = app.check(app.Options(paths=(Path("train.py"), Path("other.py")), jobs=1))
    assert outcome.code == 3
    assert {found.location.path for found in outcome.report.findings} == {"other.py"}
    (unchecked,) = outcome.report.unchecked
    assert unchecked.path == "train.py"
    assert unchecked.reason.startswith(f"internal-error: {type(error).__name__}")
