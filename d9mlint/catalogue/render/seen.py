"""What executing ops has shown, in the words of ``d9mlint explain`` and of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from d9mlint.catalogue.observed import about
from d9mlint.catalogue.render.markdown import bullets, table
from d9mlint.model import ABOUT_OPS, Op, Record, Rule

_TITLE = "## Seen by `d9mlint verify`"
_RAISES = "det-mode-raises"


def of_op(op: Op, records: Sequence[Record]) -> list[str]:
    """A section with every verdict on the op, the user's before the project's own; nothing where there is none."""
    lines = [f"{one.told()} [{one.file}]" for one in about(op.name, records)]
    return [_TITLE, bullets(lines)] if lines else []


def of_rule(rule: Rule, records: Sequence[Record]) -> list[str]:
    """A section with what was seen most clearly of each op of the kind that the rule is about."""
    if rule.name not in ABOUT_OPS:
        return []
    executed = sorted((one for one in records if one.executed), key=lambda one: (one.op, one.own, one.strength))
    shown, equal = [], []
    for op, several in groupby(executed, key=lambda one: one.op):
        telling = [one for one in several if _tells(rule, one)]
        if telling:
            shown.append(telling[0])
        else:
            equal.append(op)
    if not executed:
        return []
    blocks = [_TITLE]
    if shown:
        rows = [(f"`{one.op}`", one.told(), one.file) for one in sorted(shown, key=lambda one: one.strength)]
        blocks.append(table(("op", "strongest observation", "file"), rows))
    if equal:
        blocks.append(f"Nothing of the kind was seen with {len(equal)} other ops; `d9mlint explain OP` tells of each.")
    return blocks


def _tells(rule: Rule, one: Record) -> bool:
    return one.deterministic_mode == _RAISES if rule.name == "op-raises" else one.varied or one.leaks


def _source(one: Record) -> tuple[str, str]:
    return (one.file, one.framework)


def evidence_table(records: Sequence[Record]) -> str:
    """The files of evidence as a Markdown table: machine, versions, and how many verdicts of which kind."""
    rows = []
    for (file, _), group in groupby(sorted(records, key=_source), key=_source):
        ran = [one for one in group if one.executed]
        if not ran:
            continue
        first = ran[0]
        others = ", ".join(f"{name} {value}" for name, value in first.versions if name != first.framework)
        rows.append((
            f"`{file}`", first.device.upper(),
            f"{first.hardware}, {first.cores} cores" if first.device == "cpu" else first.hardware,
            f"{first.framework} {first.version}{f' ({others})' if others else ''}", first.date, str(len(ran)),
            *(str(sum(test)) for test in (
                (one.varied for one in ran), (one.leaks for one in ran),
                (one.deterministic_mode == _RAISES for one in ran),
            )),
        ))  # fmt: skip
    titles = (
        "file",
        "device",
        "machine",
        "versions",
        "date",
        "cases",
        "vary",
        "vary in deterministic mode",
        "raise in it",
    )
    return table(titles, rows)
