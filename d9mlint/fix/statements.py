"""The statements that a remedy names for the start of a program: seeds and switches.

A remedy is what the catalogue says for the version at hand, so a patch is made of its code: nothing is known twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from d9mlint.fix import remedies
from d9mlint.fix.remedies import ROOTS

_SEED = re.compile(
    r"(random|np\.random|torch|paddle|tf\.random|tf|tf\.keras\.utils|keras\.utils)\.(seed|manual_seed|set_seed|set_random_seed)\(\d+\)"
    r"|tf\.random\.set_global_generator\(tf\.random\.Generator\.from_seed\(\d+\)\)"
)
_SWITCH = re.compile(
    r"os\.environ\[[\"']\w+[\"']\] = [^`\n]+|torch\.(use_deterministic_algorithms|set_deterministic)\(True\)|"
    r"torch\.backends\.cudnn\.(deterministic = True|benchmark = False)|"
    r"tf\.config\.experimental\.enable_op_determinism\(\)"
)
_SEEDING = re.compile(r"seed(_everything)?\(")
_VALUE = re.compile(r"\] = (?![\"'][^\"']*[\"']$)")
"""A variable of the environment that is set to something else than a plain text."""
_EVERYWHERE = ("random", "os", "numpy")
_SEEDS = (
    (re.compile(r"random\."), ("python",)),
    (re.compile(r"np\."), ("numpy",)),
    (re.compile(r"torch\."), ("torch", "torch-device")),
    (re.compile(r"paddle\."), ("paddle",)),
    (re.compile(r"(tf\.)?keras\.utils\.set_random_seed"), ("tensorflow", "keras", "python", "numpy")),
    (re.compile(r"tf\."), ("tensorflow", "keras")),
)
"""What a statement seeds, by how it begins."""
OF = {
    "python": "random.seed(1)", "numpy": "np.random.seed(1)", "torch": "torch.manual_seed(1)",
    "paddle": "paddle.seed(1)",
}  # fmt: skip
"""What seeds a generator in all versions."""
GRAPH = frozenset({"tensorflow", "keras"})
"""The generators of ops in a graph."""


class Block(NamedTuple):
    """Statements for one program, in order, and whether the program computes the same with them, only repeatably."""

    statements: tuple[str, ...]
    safe: bool


def block(remedy: str, generators: Sequence[str] = ()) -> Block | None:
    """The statements of a remedy that a program can start with; None where it names none.

    ``generators`` are those that a seed is missing for: what seeds others only is for other programs.
    """
    chosen = _enough(seeds(remedy), generators)
    switches = [one for one in remedies.code(remedy) if _SWITCH.fullmatch(one)]
    found = [*(one for one in switches if one.startswith("os.")), *chosen]
    found += [one for one in switches if not one.startswith("os.")]
    return Block(tuple(found), not switches) if found else None


def seeds(remedy: str) -> list[str]:
    """The seeds that a remedy names."""
    return [one for one in remedies.code(remedy) if _SEED.fullmatch(one)]


def is_seed(statement: str) -> bool:
    """Whether a statement seeds."""
    return _SEEDING.search(statement) is not None


def fits(statement: str, sources: Iterable[bytes]) -> bool:
    """Whether a program with these sources has what a statement is about: NumPy and what Python brings always count."""
    package = ROOTS.get(statement.partition(".")[0], "")
    return package in _EVERYWHERE or any(package.encode() in source for source in sources)


def stands_alone(statement: str) -> bool:
    """Whether a statement of a program means the same at its start: a seed or a switch with nothing but constants."""
    constant = _SEED.fullmatch(statement) or (_SWITCH.fullmatch(statement) and not _VALUE.search(statement))
    return bool(constant) and statement.partition(".")[0] in ROOTS


def _enough(seeds: Sequence[str], generators: Sequence[str]) -> list[str]:
    """The fewest of these statements that seed all of ``generators``; all of them where none is named."""
    if not generators:
        return list(seeds)
    keras = bool(GRAPH.intersection(generators))  # what seeds these is for programs that use them
    plain = [one for one in seeds if keras is bool(GRAPH.intersection(_seeded(one)))]
    first = _covering(plain, generators)
    return first if first else _covering(seeds, generators)


def _covering(seeds: Sequence[str], generators: Sequence[str]) -> list[str]:
    """Statements that seed all of ``generators``, those first that seed most of them; none where they cannot."""
    chosen: list[str] = []
    missing = set(generators)
    for one in sorted(seeds, key=lambda one: -len(missing.intersection(_seeded(one)))):
        if missing.intersection(_seeded(one)):
            chosen.append(one)
            missing.difference_update(_seeded(one))
    return [] if missing else [one for one in seeds if one in chosen]


def _seeded(statement: str) -> tuple[str, ...]:
    return next((generators for pattern, generators in _SEEDS if pattern.match(statement)), ())
