"""The way back to the linter: which finding of ``d9mlint check`` explains where two runs part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from d9mlint.app.options import Options
from d9mlint.model import Culprit, D9mlintError, Finding, Location
from d9mlint.model import trace as kinds

_HAZARDS = {
    kinds.OP: {
        "nondet-op", "nondet-op-raises", "attn-nondet-backward", "cudnn-benchmark", "cudnn-nondeterministic",
        "compile-autotune", "det-mode-missing", "cpu-threads", "xla-nondet",
    },
    kinds.DRAW: {
        "unseeded-rng", "partial-seed", "seed-after-use", "shuffle-no-seed", "worker-rng", "own-rng-unseeded",
        "os-entropy", "parallel-map-rng", "rank-seed",
    },
    kinds.ORDER: {
        "unordered-iteration", "unsorted-listing", "completion-order", "dataloader-out-of-order", "cpu-threads",
        "worker-rng",
    },
    kinds.MEMORY: {"uninitialized-memory"},
    kinds.EXTERNAL: {"builtin-hash", "time-based-seed", "leftover-state", "os-entropy", "unordered-iteration"},
    kinds.TIME: {"time-based-seed", "time-dependent-control"},
}  # fmt: skip
"""The kinds of trouble that a culprit of each kind can come from."""


def explained(culprits: Sequence[Culprit], script: Path, config: Path | None) -> tuple[Culprit, ...]:
    """The culprits, each with the finding about its line that is of its kind.

    The script is linted as run with any arguments; where it cannot be, nothing is explained.
    """
    from d9mlint.app.programs import checked

    try:
        found = checked(Options((script,), config=config, min_confidence="low")).report.findings
    except D9mlintError:
        return tuple(culprits)
    return tuple(one._replace(finding=_explaining(one, found)) for one in culprits)


def _explaining(culprit: Culprit, findings: Sequence[Finding]) -> str:
    """``path:line rule``; empty where no finding fits."""
    for finding in findings:
        if finding.hazard in _HAZARDS[culprit.kind] and any(
            place.path == culprit.path and place.line <= culprit.line <= place.end_line for place in _places(finding)
        ):
            return f"{finding.location.path}:{finding.location.line} {finding.rule}"
    return ""


def _places(finding: Finding) -> Iterator[Location]:
    yield finding.location
    yield from (one.location for one in finding.related)
