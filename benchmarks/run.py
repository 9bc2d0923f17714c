"""Prints the budgets of d9mlint as ratios, measured here and now.

    python benchmarks/run.py [--script train.py] [--tree FOLDER] [--repeat 3]

Each ratio compares d9mlint with something everybody has: importing its libraries, or parsing the same files. All
sides are separate processes that take turns, and the best of several turns counts, so that a busy machine disturbs
them alike. CPU time is that of the process and its children, and the fairer one where others use the machine too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from d9mlint.python.batch.store import Store, Unit  # noqa: E402

_NO_RULES = ("effects", "ops", "probes", "builds", "evidence")
_TREE = ROOT / "tests" / "projects"
_IMPORTS = "import libcst, click, yaml"
_PARSE = """
import sys
from pathlib import Path
{imports}
for path in sorted(Path(sys.argv[1]).rglob("*.py")) if Path(sys.argv[1]).is_dir() else map(Path, sys.argv[1:]):
    try:
        {parse}(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, {error}):
        pass
"""
CST_LOOP = _PARSE.format(imports=_IMPORTS, parse="libcst.parse_module", error="libcst.ParserSyntaxError")
AST_LOOP = _PARSE.format(
    imports="import ast, warnings; warnings.simplefilter('ignore')", parse="ast.parse", error="MemoryError"
)


@dataclass(frozen=True)
class Side:
    """One command to measure; ``before`` runs each time before it, unmeasured."""

    name: str
    command: Sequence[str]
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Taken:
    """The least that a side took: seconds on the clock, CPU seconds, and the largest memory of a process in MB."""

    wall: float
    cpu: float
    memory: float


def measure(sides: Sequence[Side], repeat: int, environment: Mapping[str, str]) -> dict[str, Taken]:
    """Runs all sides in turn, ``repeat`` times."""
    best: dict[str, Taken] = {}
    for _ in range(repeat):
        for side in sides:
            side.before()
            one = _once(side.command, environment)
            known = best.get(side.name, one)
            best[side.name] = Taken(
                min(one.wall, known.wall), min(one.cpu, known.cpu), max(one.memory, known.memory)
            )  # fmt: skip
    return best


def _once(command: Sequence[str], environment: Mapping[str, str]) -> Taken:
    code, told, taken = ran(command, environment)
    if code not in (0, 1, 3):
        raise SystemExit(f"{' '.join(command)[:200]}\nended with {code}: {told}")
    return taken


def ran(command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> tuple[int, str, Taken]:
    """The exit code of a process (negative: a signal), what it said on the error stream, and what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=dict(environment), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)  # with its own children, once they are waited for
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    size = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return process.returncode, told, Taken(wall, usage.ru_utime + usage.ru_stime, size)


class Bench:
    """A cache folder of its own, and the commands that use it."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self._cache = folder / "cache"
        self._options = options
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {
            "XDG_CACHE_HOME": str(self._cache),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        }

    def forget(self) -> None:
        """Drops what is known about files; the compiled catalogue stays, as after any first run."""
        for kind in ("units", "facts"):
            shutil.rmtree(self._cache / "d9mlint" / kind, ignore_errors=True)

    def lint(self, path: Path, *more: str) -> list[str]:
        """d9mlint as a command."""
        return [sys.executable, "-m", "d9mlint", "check", str(path), "--format", "json", *more]

    def script(self, script: Path) -> list[tuple[str, float, float, float | None]]:
        """The budget of one script."""
        lint = self.lint(script, "-j1")
        sides = [
            Side("imports", [sys.executable, "-c", _IMPORTS]),
            Side("parse", [sys.executable, "-c", CST_LOOP, *self._program(script)]),
            Side("cold", lint, self.forget),
            Side("warm", lint),
        ]
        self._warm_up(sides)
        took = measure(sides, max(3, self._options.repeat), self.environment)

        def bound(kind: str) -> float:
            """Twice the imports, plus a parse of the program's files (whose process imports, too)."""
            imports = float(getattr(took["imports"], kind))
            return imports + max(imports, float(getattr(took["parse"], kind)))

        return [
            ("one program, cold / (2x imports + its parse)", took["cold"].wall / bound("wall"),
             took["cold"].cpu / bound("cpu"), 1.0),
            ("one program, warm / imports", took["warm"].wall / took["imports"].wall,
             took["warm"].cpu / took["imports"].cpu, None),
        ]  # fmt: skip

    def _program(self, script: Path) -> list[str]:
        """The files that d9mlint reads for a script: the script and the modules that it imports."""
        self.forget()
        _once(self.lint(script, "-j1"), self.environment)
        kept = self._cache / "d9mlint" / "units"
        found = [Store(kept).load(path.name, Unit) for path in sorted(kept.glob("*/*"))]
        return sorted({path for unit in found if unit is not None for path in unit.files}) or [str(script)]

    def tree(self, tree: Path) -> list[tuple[str, float, float, float | None]]:
        """The budgets of a tree."""
        half = max(1, len(_rules()) // 2)
        sides = [
            Side("libcst", [sys.executable, "-c", CST_LOOP, str(tree)]),
            Side("ast", [sys.executable, "-c", AST_LOOP, str(tree)]),
            Side("half", self.lint(tree, "-j2", "--ignore", ",".join(_rules()[half:])), self.forget),
            Side("cold", self.lint(tree, "-j2"), self.forget),
            Side("warm", self.lint(tree, "-j2")),
        ]
        self._warm_up(sides[:2])
        took = measure(sides, self._options.repeat, self.environment)
        return [
            ("tree, cold, -j2 / libcst.parse_module loop", took["cold"].wall / took["libcst"].wall,
             took["cold"].cpu / took["libcst"].cpu, 0.5),
            ("tree, cold, -j2 / ast.parse loop", took["cold"].wall / took["ast"].wall,
             took["cold"].cpu / took["ast"].cpu, None),
            ("tree, warm / ast.parse loop", took["warm"].wall / took["ast"].wall,
             took["warm"].cpu / took["ast"].cpu, 1.0),
            ("tree, all rules / half of them", took["cold"].wall / took["half"].wall,
             took["cold"].cpu / took["half"].cpu, 1.1),
            ("tree, largest process in MB (cold, then warm)", took["cold"].memory, took["warm"].memory, None),
        ]  # fmt: skip

    def _warm_up(self, sides: Sequence[Side]) -> None:
        """Bytecode and the catalogue are made once, not in the measurement."""
        measure(sides, 1, self.environment)


def _rules() -> list[str]:
    return sorted(path.stem for path in (ROOT / "rules").glob("*/*.yaml") if path.parent.name not in _NO_RULES)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", type=Path, default=_TREE / "det-ops-late" / "train.py", help="a training script")
    parser.add_argument("--tree", type=Path, default=_TREE, help="a folder of training code")
    parser.add_argument("--repeat", type=int, default=3, help="turns; the best of them counts (default 3)")
    options = parser.parse_args()
    for path in (options.script, options.tree):
        if not path.exists():
            parser.error(f"path not found: {path}")
    print(f"{'':48} {'clock':>8} {'CPU':>8} {'budget':>8}")
    with tempfile.TemporaryDirectory(prefix="d9mlint-bench-") as folder:
        bench = Bench(Path(folder), options)
        for measured in (bench.script, bench.tree):
            for name, wall, cpu, budget in measured(options.script if measured == bench.script else options.tree):
                verdict = "" if budget is None else f"{budget:>8.2f}  {'met' if wall <= budget else 'MISSED'}"
                print(f"{name:48} {wall:>8.2f} {cpu:>8.2f} {verdict}", flush=True)


if __name__ == "__main__":
    main()
