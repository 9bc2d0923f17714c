"""A traced program in words: what the text report and the page say alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from d9mlint.model import Comparison, Culprit, Shadowed, SwitchTried, TracedRun, TraceReport
from d9mlint.model.trace import EQUAL, FAILED, PART, UNTRIED
from d9mlint.report.words import count, one_line, printable, share

_GENERATORS = {
    "python": "Python's generator", "numpy": "NumPy's generator", "torch": "PyTorch's generator",
    "torch-device": "the GPU's generator", "tensorflow": "TensorFlow's generator",
}  # fmt: skip


def headline(report: TraceReport) -> str:
    """The verdict."""
    found = report.comparison
    if found.verdict == EQUAL:
        if not found.steps:
            return "equal: the runs have the same losses" if found.what else "equal: the runs wrote the same"
        cut = " (the first ones: --steps)" if report.asked and found.steps >= report.asked else ""
        return f"equal for {count(found.steps, 'step')}{cut}"
    if found.verdict == PART:
        return f"the runs part at step {found.step}" if found.step else "the runs part"
    return "no verdict"


def bound(report: TraceReport) -> str:
    """What equal runs leave possible; empty for others."""
    if report.bound is None:
        return ""
    of, alike = ("of steps", ", if all steps are alike") if report.comparison.steps else ("of further runs", "")
    return f"at most {share(report.bound)} {of} may part (95 % confidence{alike})"


def where(one: Culprit) -> str:
    """The line of a culprit."""
    return f"{printable(one.path)}:{one.line}" if one.path else "no line of the program's own"


def op(one: Culprit) -> str:
    """The op, and whether it is one of a gradient."""
    return printable(one.op) + (f" ({one.direction})" if one.direction else "")


def known(one: Culprit) -> str:
    """The finding that explains a culprit."""
    return one_line(one.finding) or "`d9mlint check` did not know this"


def tried(one: SwitchTried) -> str:
    """What runs under a switch did."""
    found = one.comparison
    told = {EQUAL: "equal", PART: f"part at step {found.step}" if found.step else "part", UNTRIED: "not tried"}
    return told.get(found.verdict, "failed")


def cured(found: Comparison) -> str:
    """Whether the patches make the runs equal."""
    if found.verdict == EQUAL:
        return f"yes: equal for {count(found.steps, 'step')}" if found.steps else "yes: the runs are equal"
    if found.verdict == PART:
        return f"no: with the patches the runs part at step {found.step}" if found.step else "no: the runs still part"
    return f"not tried: {one_line(found.what)}" if found.verdict == UNTRIED else "no verdict"


def unexplained(found: Comparison) -> str:
    """What is to be said about a verdict that does not say all."""
    return one_line(found.what) if found.verdict in (FAILED, UNTRIED) else ""


def shadow(one: Shadowed) -> str:
    """The verdict on ops that were repeated."""
    if one.what:
        return f"no verdict: {one_line(one.what)}"
    of = f"{count(one.ops, 'op')} in {count(one.steps, 'step')}, each {one.repeats} times on the same inputs"
    if not one.varying:
        return f"none varies ({of})"
    return f"{count(len(one.varying), 'op')} by line (of {of})"


def draws(report: TraceReport) -> list[str]:
    """The lines that draw from a generator before it is seeded."""
    return [
        f"{printable(one.path)}:{one.line}: {printable(one.op)}, {_GENERATORS.get(one.generator, one.generator)}: "
        + (f"seeded later, on line {one.seeded}" if one.seeded else "not seeded")
        for one in report.draws
    ]


def switched(report: TraceReport) -> list[str]:
    """Who has set which switch, or read a variable, and when."""
    found = report.environment.get("switched")
    return [_switched(one) for one in found] if isinstance(found, list) else []


def _switched(one: Mapping[str, object]) -> str:
    name, value, step = (printable(str(one[key])) for key in ("name", "value", "step"))
    when = f"after step {step}" if one["step"] else "before the first step"
    what = {
        "set": f"sets {name} = {value}",
        "read": f"reads {name}: {'not set' if one['value'] is None else value}",
        "called": f"calls {name}({value})",
    }[str(one["how"])]
    return f"{printable(str(one['path']))}:{one['line']}: {what}, {when}"


def setup(report: TraceReport) -> list[tuple[str, str]]:
    """Variables at the start and the settings of each framework at the end, by whose they are."""
    variables, settings = (report.environment.get(key) for key in ("variables", "settings"))
    several = {"variables": variables, **(settings if isinstance(settings, Mapping) else {})}
    return [
        (
            printable(name),
            ", ".join(f"{printable(key)}={printable(str(value))}" for key, value in one.items() if value is not None),
        )
        for name, one in several.items()
        if isinstance(one, Mapping) and one
    ]


def runs(report: TraceReport) -> list[tuple[str, int, str]]:
    """Runs under the same conditions: which, how many, how they ended."""
    groups: dict[tuple[str, str], list[TracedRun]] = {}
    for one in report.runs:
        groups.setdefault((one.stage, one.switch), []).append(one)
    return [
        (" / ".join(key), len(several), "; ".join(dict.fromkeys(one_line(one.ended) for one in several)))
        for key, several in groups.items()
    ]


def listed(texts: Sequence[str], most: int) -> str:
    """At most so many texts, and how many more there are."""
    more = f"; ... and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(map(one_line, texts[:most])) + more
