"""Sources in memory, and the expected judgement written on the line of the site."""

from __future__ import annotations

import re

from d9mlint.kernels.judging.judge import Judgement, judge
from d9mlint.kernels.sites import atomics
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.repository import Repository

_MARK = re.compile(r"//\s*->\s*(.*)")


def repository(**sources: str) -> Repository:
    """A repository of these texts; `a_cu` stands for `a.cu`, `a_cu_h` for `a.cu.h`."""
    files = {name.replace("_", "."): text.encode() for name, text in sources.items()}
    return Repository(files, lambda path: files[path])


def judged(text: str, **others: str) -> list[tuple[Atomic, Judgement]]:
    """The sites of `a.cu` with their judgements."""
    tree = repository(a_cu=text, **others)
    return [(a, judge(a, tree)) for a in atomics.find(tree) if a.location.path == "a.cu"]


def only(text: str, **others: str) -> Judgement:
    """The judgement of the one site that is no definition."""
    found = [j for a, j in judged(text, **others) if a.form not in ("wrapper-def", "macro-def")]
    assert len(found) == 1, found
    return found[0]


def check(text: str, **others: str) -> None:
    """Every site has its mark, every mark its site: `// -> class verdict [implements=add] [return=index] [memory=shared]`.

    Several sites of one line are separated by `;`.
    """
    expected: list[tuple[int, tuple[str, ...]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _MARK.search(line)
        for mark in match[1].split(";") if match else ():
            expected.append((number, tuple(mark.split())))
    found = judged(text, **others)
    assert [a.location.line for a, _ in found] == [line for line, _ in expected]
    for (line, mark), (_, said) in zip(expected, found, strict=True):
        facts = {
            "implements": said.implements, "return": said.return_use, "memory": said.memory,
            "type": said.target_type.replace(" ", ""),
        }  # fmt: skip
        shown = (said.class_, said.verdict, *(f"{k}={facts[k]}" for k in (m.partition("=")[0] for m in mark[2:])))
        assert (line, shown) == (line, mark), said.reason
