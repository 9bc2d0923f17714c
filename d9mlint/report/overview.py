"""What a folder holds for d9mlint, and the commands to type next."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Overview, Report
from d9mlint.report.lines import NARROWEST, Line, item, joined
from d9mlint.report.targets import groups
from d9mlint.report.text import launches, not_checked, targets
from d9mlint.report.words import count, listing, printable, shell_word

_MOST = 5


def render(overview: Overview, *, color: bool = False, width: int = 100) -> str:
    """The text; colours change nothing else."""
    return joined([*_found(overview, max(width, NARROWEST)), *_commands(overview)], color=color)


def _found(overview: Overview, width: int) -> Iterator[Line]:
    report = overview.report
    yield (("What `d9mlint check .` would look at here; nothing has been checked yet.", "bold"),)
    number = f"{len(report.entries)}: " if len(report.entries) > 1 else ""
    entries = number + listing(report.entries, _MOST) if report.entries else _none(report)
    yield from item("entries", entries, width)
    yield from item("files", str(report.files), width)
    yield from launches(report, width)
    yield from item("configs", listing([f"{path} ({kind})" for path, kind in overview.configs], _MOST), width)
    yield from item("kernels", _kernels(overview), width)
    yield from targets(groups(report), width)
    yield from item("settings", printable(overview.settings) or "none ([tool.d9mlint] in pyproject.toml)", width)
    yield from not_checked(report, width)


def _none(report: Report) -> str:
    if not report.files:
        return ""
    return "none: no file has a main guard or is started by a launcher; name the script that trains"


def _kernels(overview: Overview) -> str:
    parts = [count(overview.sources, "C++ or CUDA source")] if overview.sources else []
    if overview.kernels:
        parts.append(f"Python files that may hold some: {listing(overview.kernels, _MOST)}")
    return "; ".join(parts)


def _commands(overview: Overview) -> Iterator[Line]:
    yield ()
    yield (("What to type:", "bold"),)
    told = list(_wanted(overview))
    room = max(len(command) for command, _ in told) + 2
    for command, what in told:
        yield ("  ", ""), (command.ljust(room), "bold cyan"), (f"# {what}", "dim")


def _wanted(overview: Overview) -> Iterator[tuple[str, str]]:
    entries = overview.report.entries
    if len(entries) != 1:
        yield "d9mlint .", "check all of this"
    if entries:
        script = shell_word(_first(overview.report))
        yield f"d9mlint {script}", "check this program" if len(entries) == 1 else "check one program"
        yield f"d9mlint {script} --diff", "show what --fix would change"
    if overview.sources or overview.kernels:
        yield "d9mlint kernels .", "judge the atomic operations in kernels"
    yield "d9mlint --help", "all commands"


def _first(report: Report) -> str:
    """The entry that is most likely the one that matters: one that a launcher starts, one that says it trains."""
    return min(report.entries, key=lambda name: (name not in report.launches, "train" not in name, len(name), name))
