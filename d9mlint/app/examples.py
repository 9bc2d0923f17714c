"""The executed examples of the rule files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from d9mlint.app.besides import CONFIG_FILES
from d9mlint.catalogue import Catalogue, read_examples
from d9mlint.discover import KERNEL_SOURCES
from d9mlint.model import CONFIDENCES, CONFIGS, KERNELS, Example, Finding, Rule, Target

_BLANK = re.compile(r"\{\w+\}")
"""What a message has to be given: ``{name}``."""


class ExampleResult(NamedTuple):
    """What an example was expected to report and what it did, as ``(file, line)`` with duplicates."""

    rule: Rule
    example: Example
    expected: tuple[tuple[str, int], ...]
    found: tuple[tuple[str, int], ...]
    others: tuple[Finding, ...]
    problem: str = ""
    """What is wrong besides: with a ``fixed`` text, that the fixes of the bad one do not give it."""

    @property
    def passed(self) -> bool:
        """Whether the example still says the truth (a ``missed`` one: is still missed)."""
        if self.problem:
            return False
        if self.example.kind == "missed":
            return self.expected != self.found
        return self.expected == self.found


def run_examples(rules: Iterable[Rule], catalogue: Catalogue) -> list[ExampleResult]:
    """Runs the examples of rules, in memory; a ``fixed`` text must be what the safe fixes make of the bad one."""
    results: list[ExampleResult] = []
    for rule in rules:
        before: Example | None = None
        for example in read_examples(rule):
            results.append(run_example(rule, example, catalogue, before))
            before = example
    return results


def _fix_problem(rule: Rule, bad: Example, fixed: Example, catalogue: Catalogue) -> str:
    """What is wrong with a bad text and its fixed one; empty where all is well."""
    from d9mlint import fix

    before, after = ({name: text.encode() for name, text in unmarked(one).items()} for one in (bad, fixed))
    done = fix.apply(_own_findings(rule, bad, catalogue), before)
    if {**before, **done.sources} != after:
        return "the safe fixes of the bad text do not give the fixed one"
    again = fix.apply(_own_findings(rule, fixed, catalogue), after)
    return "a second run of the fixes changes the text again" if again.sources else ""


def _own_findings(rule: Rule, example: Example, catalogue: Catalogue) -> list[Finding]:
    return [f for f in _judge_example(example, catalogue) if f.rule == rule.name]


def run_example(rule: Rule, example: Example, catalogue: Catalogue, before: Example | None = None) -> ExampleResult:
    """Judges one example with all rules; the others' findings come back beside those of ``rule``.

    ``before`` stands before it in the file: the bad text of a fixed one.
    """
    from d9mlint.catalogue.schema.examples import MARK
    from d9mlint.python.source.reading import as_python

    expected = [
        (name, i)
        for name, text in example.files.items()
        for i, line in enumerate(as_python(name, text.encode()).decode().split("\n"), 1)
        if MARK.search(line)
    ]
    findings = _judge_example(example, catalogue)
    least = CONFIDENCES.index(min("medium", rule.confidence, key=CONFIDENCES.index))
    own = [f for f in findings if f.rule == rule.name and CONFIDENCES.index(f.confidence) >= least]
    found = sorted((f.location.path, f.location.line) for f in own)
    others = tuple(f for f in findings if f.rule != rule.name and f.confidence != "low")
    problem = _unfilled(rule, own)
    if example.kind == "fixed" and before is not None:
        problem = _fix_problem(rule, before, example, catalogue)
    return ExampleResult(rule, example, tuple(sorted(expected)), tuple(found), others, problem)


def _unfilled(rule: Rule, own: Iterable[Finding]) -> str:
    """Which placeholder of the message nothing was put into; empty where there is none."""
    blanks = _BLANK.findall(rule.message)
    left = sorted({blank for one in own for blank in blanks if blank in one.message})
    return f"nothing is put into {left[0]} of the message" if left else ""


def unmarked(example: Example) -> dict[str, str]:
    """The files of an example as a user would have them."""
    from d9mlint.catalogue.schema.examples import MARK

    def clean(line: str) -> str:
        return MARK.sub("", line).rstrip() if MARK.search(line) else line

    return {name: "\n".join(map(clean, text.split("\n"))) for name, text in example.files.items()}


def _judge_example(example: Example, catalogue: Catalogue) -> tuple[Finding, ...]:
    from d9mlint.python.source.reading import as_python

    data = {name: as_python(name, text.encode()) for name, text in unmarked(example).items()}
    if any(name.endswith(KERNEL_SOURCES) for name in data):
        return _judge_kernels(example, data, catalogue)
    if not any(name.endswith((".py", ".ipynb")) for name in data):
        return _judge_configs(example, data, catalogue)
    return _judge_program(example, data, catalogue)


def _judge_configs(example: Example, data: dict[str, bytes], catalogue: Catalogue) -> tuple[Finding, ...]:
    """An example without a program is one of config files and launchers."""
    from d9mlint.configs.judging import ENDINGS, command_findings, config, findings
    from d9mlint.configs.told import Launchers
    from d9mlint.python.batch.run import newest_target

    target = newest_target(example.target, example.device)
    rules, launchers = catalogue.rules.values(), Launchers(data.get)
    files = [config(name, text) for name, text in data.items() if name.endswith(ENDINGS)]
    found = [one for file in files if file is not None for one in findings(file, rules, target)]
    return (*found, *(one for name in data for one in command_findings(launchers(name).starts, rules, target)))


def _judge_kernels(example: Example, data: dict[str, bytes], catalogue: Catalogue) -> tuple[Finding, ...]:
    """An example with C++ or CUDA sources is a tree of kernel sources."""
    from d9mlint.kernels.findings import checks, findings
    from d9mlint.kernels.scan import scan
    from d9mlint.kernels.source.repository import Repository

    found = scan(Repository(data, data.__getitem__))
    if found.unchecked:
        raise AssertionError(f"line {example.line}: {found.unchecked}")
    return tuple(findings(found, checks(catalogue.rules.values())))


def _launched(target: Target, entry: str, data: dict[str, bytes]) -> Target:
    """The target with the environment that the other files of an example give its program."""
    others = tuple(name for name in data if not name.endswith((".py", ".ipynb")))
    if not others:
        return target
    from d9mlint.app.launches import Started
    from d9mlint.configs.launches import find, image_environments
    from d9mlint.configs.told import Launchers

    launchers = Launchers(data.get)
    return Started(find(others, data, launchers), image_environments(others, launchers)).target(target, entry)


def _judge_program(example: Example, data: dict[str, bytes], catalogue: Catalogue) -> tuple[Finding, ...]:
    from d9mlint.configs.targets import named
    from d9mlint.python.batch.run import newest_target
    from d9mlint.python.domain.knowledge import Knowledge
    from d9mlint.python.judging.judge import judge
    from d9mlint.python.project.files import Project
    from d9mlint.python.source.ginfiles import ENDING
    from d9mlint.python.source.reading import text_reader

    entry = "train.py" if "train.py" in data else next(name for name in data if name.endswith((".py", ".ipynb")))
    target = _launched(newest_target(example.target, example.device), entry, data)
    configs = [name for name in data if name.endswith(CONFIG_FILES)]
    by_name = [pair for name in configs for pair in named(name, data[name])]
    settings = [name for name in data if name.endswith((*CONFIG_FILES, ENDING))]
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target, catalogue.ops, by_name, settings)
    argv = None if example.args is None else list(example.args)
    judged = judge(
        Project(text_reader(data)),
        entry,
        ("", "src"),
        [r for r in catalogue.rules.values() if r.family not in (KERNELS, CONFIGS)],
        knowledge,
        target,
        argv,
    )
    if judged.unchecked:
        raise AssertionError(f"line {example.line}: {judged.unchecked}")
    return judged.findings
