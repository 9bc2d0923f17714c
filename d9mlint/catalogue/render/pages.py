"""The catalogue as pages of the documentation: a page a rule, a page an op, and their tables of contents.

They are made when the documentation is built (``docs/hooks.py``) or by ``d9mlint rules docs FOLDER``, and kept in no
repository. What is said of a rule or an op is what ``d9mlint explain`` says, and more of the examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.load import read_examples
from d9mlint.catalogue.render.explain import circumstances, code, of_op, of_rule
from d9mlint.catalogue.render.markdown import indented, page, table
from d9mlint.catalogue.render.seen import evidence_table
from d9mlint.model import Example, Op, Record, Rule

_SILENCE = "\n## How to silence it"
_CODE = re.compile(r"(?m)(?:^  .*\n)+")
"""Indented lines of prose in the catalogue are code."""
_MODES = {"same": "same results", "raises": "raises", "varies": "may still differ"}


def pages(catalogue: Catalogue, records: Sequence[Record]) -> dict[str, str]:
    """All pages: a path below the folder of the documentation, and its Markdown."""
    ops = all_ops(catalogue)
    made = {"rules/index.md": rules_index(catalogue), "ops/index.md": ops_index(ops, records)}
    for rule in catalogue.rules.values():
        made[f"rules/{rule.name}.md"] = rule_page(rule, catalogue, records)
    for name, op in ops.items():
        made[f"ops/{op_file(name)}"] = _fenced(of_op(op, None, records))
    return made


def all_ops(catalogue: Catalogue) -> dict[str, Op]:
    """Ops by name: those that rules judge, and those that only ``d9mlint verify`` can execute."""
    from d9mlint.catalogue.schema.cases import read_cases  # imports yaml

    found: dict[str, Op] = {}
    for op in (*catalogue.ops, *(one.op for one in read_cases())):
        found.setdefault(op.name, op)
    return dict(sorted(found.items()))


def op_file(name: str) -> str:
    """The file of an op's page."""
    return re.sub(r"[^\w.]+", "-", name).strip("-") + ".md"


def rule_page(rule: Rule, catalogue: Catalogue, records: Sequence[Record]) -> str:
    """What ``explain`` says of a rule, with its other examples before the way to silence it."""
    text = of_rule(rule, catalogue, None, records)
    head, mark, tail = text.partition(_SILENCE)
    more = "\n\n".join(_more(read_examples(rule) if rule.path else ()))
    return _fenced(head) + (f"\n## More examples\n\n{more}\n" if more else "") + mark + tail


def _more(examples: Sequence[Example]) -> Iterable[str]:
    """Each bad example but the first one, with what cures it, folded up."""
    bad = [(one, after) for one, after in pairwise((*examples, None)) if one is not None and one.kind == "bad"]
    for number, (one, after) in enumerate(bad[1:], 2):
        blocks = list(code(one))
        if after is not None and after.kind in ("good", "fixed"):
            blocks += ["Use instead:", *code(after)]
        facts = circumstances(one)
        title = f"Example {number}" + (f" ({facts})" if facts else "")
        yield f'??? example "{title.replace(chr(34), chr(39))}"\n\n{indented(chr(10).join([*_spaced(blocks)]))}'


def _spaced(blocks: Iterable[str]) -> Iterable[str]:
    for block in blocks:
        yield from (block, "")


def _fenced(text: str) -> str:
    """The text with indented code in fences, and with lists as every Markdown takes them."""
    parts = re.split(r"(?ms)(^```.*?^```\n)", text)
    return "".join(part if part.startswith("```") else _CODE.sub(_fence, part) for part in parts)


def _fence(lines: re.Match[str]) -> str:
    code_ = "".join(line[2:] for line in lines[0].splitlines(keepends=True))
    return f"\n```python\n{code_}```\n\n"


def rules_index(catalogue: Catalogue) -> str:
    """All rules, a table a family."""
    rules = sorted(catalogue.rules.values(), key=lambda rule: (rule.family, rule.name))
    blocks = ["# Rules", "What a rule is called is what `--select`, `--ignore`, `explain` and comments call it."]
    for family, group in groupby(rules, key=lambda rule: rule.family):
        rows = [(f"[`{r.name}`]({r.name}.md)", r.id, r.severity, r.noise, r.summary) for r in group]
        blocks += [f"## {family}", table(("rule", "id", "severity", "noise", "summary"), rows)]
    return page(blocks)


def ops_index(ops: Mapping[str, Op], records: Sequence[Record]) -> str:
    """All ops, a table a framework, and which evidence the project keeps."""
    by_framework = sorted(ops.values(), key=lambda op: (op.framework, op.name))
    blocks = ["# Ops", "Ops whose result or gradient is known to vary, and those that `d9mlint verify` can execute."]
    for framework, group in groupby(by_framework, key=lambda op: op.framework):
        rows = [(f"[{op.name}]({op_file(op.name)})", op.direction, ", ".join(op.devices), _modes(op)) for op in group]
        blocks += [f"## {framework}", table(("op", "direction", "device", "in deterministic mode"), rows)]
    blocks += ["## Evidence that the project keeps", "Written by `python benchmarks/evidence.py`, a file a machine."]
    return page([*blocks, evidence_table(records)])


def _modes(op: Op) -> str:
    return "; ".join(f"{one.versions or 'all versions'}: {_MODES[one.deterministic_mode]}" for one in op.status)
