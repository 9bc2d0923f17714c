"""The start of a new rule file."""

from __future__ import annotations

import re
from pathlib import Path

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.files import rules_folder
from d9mlint.model import KERNELS, UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEXT = """\
id: {id}
severity: warning
confidence: high
hazard: {hazard}
noise: algo
summary: One line; it is what `rules list` shows
why: |
  What goes wrong, in the user's words.
remedy: "what to write instead"
match:
  call: package.function
  when: {{seed@0: absent}}
message: "`{{name}}` ..."
sources:
  - "doc:https://..."
examples:
  - bad: |
      import package

      package.function()  # <-
    good: |
      import package

      package.function(1)
"""


_KERNELS = """\
message: "{{reason}}{{ops}}"  # judged by `check_scan` in d9mlint/kernels/rules/{module}.py
sources:
  - "doc:https://..."
examples:
  - bad:
      kernel.cu: |
        {kernel} void k(float* x) {{ atomicAdd(x, 1.5f); }}  // <-
    good:
      kernel.cu: |
        {kernel} void k(int* x) {{ atomicAdd(x, 1); }}
"""


def new_rule(catalogue: Catalogue, place: str) -> Path:
    """Writes ``rules/<family>/<name>.yaml`` with the next free id of the family; returns its path.

    Raises:
        UsageError: ``place`` is not ``family/name``, the rule exists, or this is not a checkout.
    """
    family, _, name = place.partition("/")
    if not (_NAME.fullmatch(family) and _NAME.fullmatch(name)):
        raise UsageError(f"a new rule is named family/name in lower case with dashes, not {place!r}")
    if name in catalogue.rules:
        raise UsageError(f"there is a rule called {name!r} already: {catalogue.rules[name].family}/{name}.yaml")
    folder = rules_folder()
    if folder.name != "rules":
        raise UsageError("new rules are written in a checkout, not in an installed d9mlint")
    path = folder / family / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    text = _TEXT.format(id=_free_id(catalogue, family), hazard=next(iter(catalogue.hazards)))
    if family == KERNELS:  # no `match` there: a module judges
        text = text[: text.index("match:")] + _KERNELS.format(module=name.replace("-", "_"), kernel="__global__")
    path.write_text(text, encoding="utf-8")
    return path


def _free_id(catalogue: Catalogue, family: str) -> str:
    """One more than the family's highest id, or the next free hundred for a new family."""
    taken = {rule.id for rule in catalogue.rules.values()}
    own = [int(rule.id[3:]) for rule in catalogue.rules.values() if rule.family == family]
    start = max(own) + 1 if own else (max((int(i[3:]) for i in taken if i[3:] < "900"), default=0) // 100 + 1) * 100 + 1
    return next(f"D9M{n:03}" for n in range(start, 1000) if f"D9M{n:03}" not in taken)
