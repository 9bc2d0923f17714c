"""The catalogue in words: ``d9mlint explain`` and ``d9mlint rules list``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.load import read_examples
from d9mlint.catalogue.lookup import ops_called
from d9mlint.catalogue.render import seen
from d9mlint.catalogue.render.markdown import bullets, page, table
from d9mlint.model import KERNELS, Example, Op, OpStatus, Record, Remedy, Rule, Target, UsageError

_DEFAULT = {"varies": "may differ from run to run", "same": "the same in every run"}
_DETERMINISTIC = {"same": "the same in every run", "raises": "raises an error", "varies": "may still differ"}
_GAPS = {"missed": "Not found although it should be", "false-alarm": "Reported although it is fine"}
_FENCES = {"yaml": "yaml", "yml": "yaml", "json": "json", "sh": "sh", "toml": "toml", "py": "python"}
_FENCES |= dict.fromkeys(("cu", "cuh", "cc", "cpp", "h"), "cpp")


def explain(name: str, catalogue: Catalogue, target: Target | None = None, records: Sequence[Record] = ()) -> str:
    """What is known about a rule (by name or id) or an op; with a target only what holds for its versions.

    ``records`` are what executing ops has shown.
    """
    for rule in catalogue.rules.values():
        if name in (rule.name, rule.id):
            return of_rule(rule, catalogue, target, records)
    ops = ops_called(name, catalogue.ops, catalogue.aliases)
    if not ops:  # one that no rule judges, but that `verify` can execute
        from d9mlint.catalogue.schema.cases import read_cases  # imports yaml

        ops = ops_called(name, (one.op for one in read_cases()), catalogue.aliases)
    if ops:
        return "\n".join(of_op(op, target, records) for op in ops)
    known = {*catalogue.rules, *(rule.id for rule in catalogue.rules.values())}
    known |= {call for op in catalogue.ops for call in (op.name, *op.calls)}
    close = get_close_matches(name, sorted(known), n=3)
    hint = f"; did you mean {' or '.join(f'`{word}`' for word in close)}?" if close else ""
    raise UsageError(f"no rule or op is named `{name}`{hint}")


def of_rule(rule: Rule, catalogue: Catalogue, target: Target | None, records: Sequence[Record]) -> str:
    """What is known about a rule."""
    hazard = catalogue.hazards.get(rule.hazard, "")
    facts = [
        f"severity: {rule.severity}",
        f"confidence: {rule.confidence}",
        f"noise: {rule.noise}",
        f"hazard: {rule.hazard}" + (f" ({hazard})" if hazard else ""),
    ]
    applies = " ".join(part for part in (rule.framework, rule.versions, rule.device and f"on {rule.device}") if part)
    if applies:
        facts.append(f"applies to: {applies}")
    blocks = [f"# {rule.name} ({rule.id})", rule.summary, bullets(facts), "## What goes wrong", rule.why]
    blocks += ["## What to do", *_remedies(rule, target)]
    blocks += seen.of_rule(rule, records)
    examples = read_examples(rule) if rule.path else ()
    blocks += _first_example(examples) + _gaps(examples)
    mark = "//" if rule.family == KERNELS else "#"
    blocks += ["## How to silence it", f"`{mark} d9m: ignore[{rule.name}] the reason`"]
    return page([*blocks, "## Sources", bullets(rule.sources)])


def _remedies(rule: Rule, target: Target | None) -> list[str]:
    if target is not None:
        version = target.version(rule.framework)
        known = f"{rule.framework} {version}" if version else "this target"
        if not rule.applies(target):
            return [f"The rule is not about {known} on {target.device}."]
        return [rule.remedy(target) or f"No remedy is known for {known}."]
    return [": ".join(filter(None, (_scope(rule, remedy), remedy.text))) for remedy in rule.remedies]


def _scope(rule: Rule, remedy: Remedy) -> str:
    """``tensorflow >=2.8``, ``torch``; nothing where it holds for all that the rule is about."""
    framework = remedy.framework or (rule.framework if remedy.versions else "")
    named = f"{framework} {remedy.versions}".strip(), remedy.needs.replace(">=", " >=")
    return " with ".join(filter(None, named))


def _first_example(examples: Sequence[Example]) -> list[str]:
    """The first bad example and the good or fixed text beside it."""
    blocks = []
    bad = next((example for example in examples if example.kind == "bad"), None)
    if bad:
        blocks += ["## Example", *code(bad)]
        rest = examples[list(examples).index(bad) + 1 :]
        good = next((example for example in rest if example.kind in ("good", "fixed")), None)
        if good:
            blocks += ["Use instead:", *code(good)]
    return blocks


def _gaps(examples: Sequence[Example]) -> list[str]:
    blocks: list[str] = []
    for kind, title in _GAPS.items():
        for example in examples:
            if example.kind == kind:
                blocks += [f"{title}:", *code(example)]
    return ["## Known gaps", *blocks] if blocks else []


def code(example: Example) -> list[str]:
    """A fence a file, with its name where there are several, and the circumstances that differ from the usual."""
    facts = circumstances(example)
    blocks = [f"({facts})"] if facts else []
    for name, text in example.files.items():
        fence = _FENCES.get(name.rpartition(".")[2], "")
        title = f"`{name}`\n" if len(example.files) > 1 else ""
        blocks.append(f"{title}```{fence}\n{text.rstrip()}\n```")
    return blocks


def circumstances(example: Example) -> str:
    """The target, the device and the arguments of an example, where they are not the usual ones."""
    facts = [*example.target, *([f"device {example.device}"] if example.device != "gpu" else [])]
    if example.args is not None:
        facts.append(f"arguments `{' '.join(example.args)}`" if example.args else "no arguments")
    return ", ".join(facts)


def of_op(op: Op, target: Target | None, records: Sequence[Record]) -> str:
    """What is known about an op."""
    facts = [
        f"framework: {op.framework}",
        f"direction: {'forward and backward' if op.direction == 'both' else op.direction}",
        f"device: {', '.join(op.devices)}",
        f"called as: {', '.join(f'`{call}`' for call in op.calls)}",
    ]
    facts += [f"when: `{keyword}` {_test(test)}" for keyword, test in op.when.items()]
    if op.common:
        facts.append("reported through the missing switch for determinism, not on its own")
    blocks = [f"# {op.name} (op)", *([op.why] if op.why else []), bullets(facts), "## Status by version"]
    blocks.append(_status_table(op.status))
    if target is not None:
        blocks.append(_status_at(op, target))
    remedies = [f"{status.versions or 'all versions'}: {status.remedy}" for status in op.status if status.remedy]
    if target is None and remedies:
        blocks += ["## What to do", bullets(remedies)]
    blocks += seen.of_op(op, records)
    return page([*blocks, "## Sources", bullets(op.sources)])


def _status_table(status: Iterable[OpStatus]) -> str:
    rows = [(one.versions or "all", _DEFAULT[one.default], _DETERMINISTIC[one.deterministic_mode]) for one in status]
    return table(("versions", "by default", "in deterministic mode"), rows)


def _status_at(op: Op, target: Target) -> str:
    version = target.version(op.framework)
    if version is None:
        return f"The target's version of {op.framework} is unknown."
    status = op.at(target)
    if status is None:
        return f"With {op.framework} {version} the op is not known to be affected."
    text = f"With {op.framework} {version} ({status.versions}) the result is: {_DEFAULT[status.default]};"
    text += f" in deterministic mode: {_DETERMINISTIC[status.deterministic_mode]}."
    return f"{text}\n\n## What to do\n\n{status.remedy}" if status.remedy else text


def _test(test: Any) -> str:
    """A keyword test in words."""
    if isinstance(test, dict):
        ((name, value),) = test.items()
        if name == "not":
            return f"is not {_alternatives(value)}"
        return f"is greater than {value}" if name == "gt" else f"contains `{value}`"
    return f"is {_alternatives(test)}"


def _alternatives(test: Any) -> str:
    values = test if isinstance(test, list) else [test]
    return " or ".join(value if value in ("absent", "present") else f"`{value}`" for value in values)


def rules_table(catalogue: Catalogue) -> str:
    """One line a rule, in aligned columns."""
    rows = [
        (rule.name, rule.id, rule.severity, rule.confidence, rule.noise, rule.summary)
        for rule in catalogue.rules.values()
    ]
    if not rows:
        return "no rules\n"
    titled = [("name", "id", "severity", "confidence", "noise", "summary"), *rows]
    widths = [max(len(row[column]) for row in titled) for column in range(len(titled[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in titled)
    return "\n".join(lines) + "\n"
