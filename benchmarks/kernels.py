"""Prints the budgets of `d9mlint kernels` as ratios to a word search, measured here and now.

    python benchmarks/kernels.py TREE [--repeat 5]

TREE is a folder of C++ and CUDA sources, such as a TensorFlow checkout. The other side is `rg -l atomic TREE` (`grep`
where there is no ripgrep, which is slower). Start-up counts on both sides; the best of several turns counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from run import ROOT, Side, Taken, measure

_COLD, _WARM, _MEMORY = 10.0, 5.0, 300.0


def compared(tree: Path, repeat: int) -> tuple[str, dict[str, Taken]]:
    """The name of the word search, and what each side took."""
    search = "rg" if shutil.which("rg") else "grep"
    words = ["rg", "-l", "atomic"] if search == "rg" else ["grep", "-rlI", "atomic"]
    with tempfile.TemporaryDirectory(prefix="d9mlint-bench-") as folder:
        cache = Path(folder) / "cache"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {
            "XDG_CACHE_HOME": str(cache),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
        }
        scan = [sys.executable, "-m", "d9mlint", "kernels", str(tree), "--format", "json"]

        def forget() -> None:
            """Drops the scans; the compiled catalogue stays, as after any first run."""
            shutil.rmtree(cache / "d9mlint" / "kernels", ignore_errors=True)

        sides = [Side("search", [*words, str(tree)]), Side("cold", scan, forget), Side("warm", scan)]
        measure(sides, 1, environment)  # bytecode and the catalogue are made once, not in the measurement
        return search, measure(sides, repeat, environment)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="a folder of C++ and CUDA sources")
    parser.add_argument("--repeat", type=int, default=5, help="turns; the best of them counts (default 5)")
    options = parser.parse_args()
    if not options.tree.is_dir():
        parser.error(f"no such folder: {options.tree}")
    search, took = compared(options.tree, options.repeat)
    rows = [
        (f"kernels, cold / {search} -l atomic", took["cold"].wall / took["search"].wall, _COLD),
        (f"kernels, warm / {search} -l atomic", took["warm"].wall / took["search"].wall, _WARM),
        ("kernels, cold, memory in MB", took["cold"].memory, _MEMORY),
        ("kernels, warm, memory in MB", took["warm"].memory, _MEMORY),
    ]
    print(f"{'':40} {'measured':>9} {'budget':>8}")
    for name, value, budget in rows:
        print(f"{name:40} {value:>9.2f} {budget:>8.1f}  {'met' if value <= budget else 'MISSED'}")
    for side in ("search", "cold", "warm"):
        print(f"{side:40} {took[side].wall:>8.3f}s on the clock, {took[side].cpu:.3f}s CPU")


if __name__ == "__main__":
    main()
