"""Checks that no input takes d9mlint down: every Python file of a tree, and mutations of them.

    python benchmarks/robustness.py TREE... [--mutations 5000] [--seed 1] [--seconds 60]

Each tree is checked as a whole in a process of its own, then mutated files (lines doubled, dropped and swapped, bytes
changed, brackets opened) in batches. Printed are internal errors, processes that ended by a signal, entries over the
limit of CPU time, and the largest process; the exit code is 1 where there is any.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from run import ran

_BATCH = 100


def check(path: Path, seconds: float) -> tuple[list[str], float]:
    """What went wrong in one run, and the memory that it took in MB."""
    with tempfile.TemporaryDirectory(prefix="d9mlint-report-") as name:
        report = Path(name) / "report.json"
        words = ["--no-cache", "-j1", "--format", "json", "--output", str(report), "--timeout", str(seconds)]
        # A package's own `types.py` or `random.py` must not be taken for Python's.
        environment = {**os.environ, "PYTHONSAFEPATH": "1"}
        code, _, taken = ran([sys.executable, "-m", "d9mlint", "check", str(path), *words], environment, path)
        if code not in (0, 1, 3) or not report.exists():
            return [f"{path}: ended with {code}"], taken.memory
        unchecked = json.loads(report.read_text(encoding="utf-8"))["unchecked"]
    wrong = [one for one in unchecked if any(word in one["reason"] for word in ("internal-error", "timed out"))]
    return [f"{path}: {one['path']}: {one['reason']}" for one in wrong], taken.memory


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A source with one to four small changes."""
    for _ in range(rng.randint(1, 4)):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            lines.insert(at, lines[at])
        elif kind == 1:
            del lines[at]
        elif kind == 2:
            other = rng.randrange(len(lines)) if lines else 0
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines[at] += rng.choice((b"(", b")", b"[", b"]", b"{", b":", b"'", b'"""', b"\\", b","))
        elif kind == 4:
            lines[at] = b"    " * rng.randint(0, 3) + lines[at].lstrip()
        data = b"\n".join(lines)
        if kind == 5 and data:
            place = rng.randrange(len(data))
            data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    return data


def main() -> None:
    """Prints what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--mutations", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    wrong: list[str] = []
    for tree in options.trees:
        found, size = check(tree.resolve(), options.seconds)
        wrong += found
        print(f"{tree.name}: {len(found)} wrong, {size:.0f} MB", flush=True)
    rng = random.Random(options.seed)
    sources = sorted(path for tree in options.trees for path in tree.resolve().rglob("*.py"))
    done = 0
    while done < options.mutations and sources:
        with tempfile.TemporaryDirectory(prefix="d9mlint-mutated-") as name:
            for number in range(min(_BATCH, options.mutations - done)):
                (Path(name) / f"m{number}.py").write_bytes(mutated(rng.choice(sources).read_bytes(), rng))
                done += 1
            wrong += check(Path(name), options.seconds)[0]
    print(f"{done} mutated files; in all {len(wrong)} wrong")
    print("\n".join(wrong))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
