"""Prints what whole trees cost, in loops: one loop is ``libcst.parse_module`` over all files of the tree, nothing else.

    python benchmarks/trees.py TREE... [--repeat 1] [--growth 1,10,100]

For each tree, in CPU seconds of one process (``-j1``): cold, that above 0.7 s in loops (budget: 2 in the median, 3 at
most), the largest process in MB (400), warm in ``ast.parse`` loops (1, or 0.5 s), and by the clock how much faster two
processes are (1.7 on trees over 10 s). Without trees only the growth: a package of 200 modules that N scripts import,
where 100 scripts may cost three times what one costs. Fetch the trees yourself; d9mlint never executes them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from run import AST_LOOP, CST_LOOP, Bench, Side, measure

_START = 0.7
_MODULES = 200
_MODULE = """\
import torch
from torch import nn
{imports}

class Layer{n}(nn.Module):
    def __init__(self, width={n}, bias=True):
        super().__init__()
        self.width = width
        self.linear = nn.Linear(width, width, bias=bias)
        self.scale = nn.Parameter(torch.ones(width)) if bias else None

    def forward(self, x):
        if self.scale is not None:
            x = x * self.scale
        return self.linear(x)


def make_{n}(width=8, depth=2):
    layers = []
    for i in range(depth):
        layers.append(Layer{n}(width * (i + 1)))
    return nn.Sequential(*layers)
"""
_SCRIPT = """\
import torch
import package
from package.module_{n} import make_{n}

if __name__ == "__main__":
    torch.manual_seed({n})
    net = make_{n}()
    net(torch.randn(4, 8)).sum().backward()
"""


def tree(bench: Bench, path: Path, repeat: int) -> float:
    """Prints the figures of one tree; gives its cost in loops."""
    sides = [
        Side("libcst", [sys.executable, "-c", CST_LOOP, str(path)]),
        Side("ast", [sys.executable, "-c", AST_LOOP, str(path)]),
        Side("two", bench.lint(path, "-j2"), bench.forget),
        Side("cold", bench.lint(path, "-j1"), bench.forget),
        Side("warm", bench.lint(path, "-j1")),
    ]
    took = measure(sides, repeat, bench.environment)
    cold, loop, warm = took["cold"].cpu, took["libcst"].cpu, took["warm"].cpu
    loops = (cold - _START) / loop
    faster = took["cold"].wall / took["two"].wall
    print(
        f"{path.name[:32]:32} {cold:8.1f} {loop:8.2f} {loops:8.1f} {took['cold'].memory:8.0f} "
        f"{warm:8.2f} {warm / took['ast'].cpu:8.2f} {faster:8.2f}",
        flush=True,
    )
    return loops


def growth(bench: Bench, folder: Path, counts: list[int], repeat: int) -> None:
    """Prints what scripts cost that import the same package."""
    first = None
    for count in counts:
        place = folder / f"growth-{count}"
        (place / "package").mkdir(parents=True)
        imports = "".join(f"from package import module_{n}\n" for n in range(_MODULES))
        (place / "package" / "__init__.py").write_text(imports)
        for n in range(_MODULES):
            others = "".join(f"from package.module_{m} import Layer{m}\n" for m in (n // 2, n // 3) if 0 < m < n)
            (place / "package" / f"module_{n}.py").write_text(_MODULE.format(n=n, imports=others))
        for n in range(count):
            (place / f"script_{n}.py").write_text(_SCRIPT.format(n=n))
        took = measure([Side("cold", bench.lint(place, "-j1"), bench.forget)], repeat, bench.environment)["cold"]
        first = first or took.cpu
        ratio = took.cpu / first
        print(f"{count:4} scripts, one package of {_MODULES} modules: {took.cpu:7.1f} s, {ratio:5.2f} times one")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, help="folders of Python code")
    parser.add_argument("--repeat", type=int, default=1, help="turns; the best of them counts (default 1)")
    parser.add_argument("--growth", default="1,10,100", help="numbers of scripts (default 1,10,100; empty: none)")
    options = parser.parse_args()
    for path in options.trees:
        if not path.exists():
            parser.error(f"path not found: {path}")
    with tempfile.TemporaryDirectory(prefix="d9mlint-trees-") as name:
        bench = Bench(Path(name), options)
        measure([Side("first", bench.lint(Path(__file__), "-j1"))], 1, bench.environment)  # bytecode, the catalogue
        if options.trees:
            heads = ("cold s", "loop s", "loops", "MB", "warm s", "ast", "-j2")
            print(f"{'':32} " + " ".join(f"{head:>8}" for head in heads))
            found = [tree(bench, path, options.repeat) for path in options.trees]
            print(f"loops: {statistics.median(found):.1f} in the median (budget 2.0), {max(found):.1f} at most (3.0)")
        if options.growth:
            growth(bench, Path(name), [int(count) for count in options.growth.split(",")], options.repeat)


if __name__ == "__main__":
    main()
