"""The start of a new rule: a file that loads and whose examples pass, to be filled in."""

from __future__ import annotations

import re
from pathlib import Path

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.files import config_modules_folder, kernel_modules_folder, rules_folder
from d9mlint.model import CONFIGS, KERNELS, UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WORDS = """\
id: {id}
severity: warning
confidence: high
hazard: {hazard}
noise: algo
summary: One line; it is what `rules list` shows
why: |
  What goes wrong, in the user's words.
remedy: "what to write instead"
"""
_MATCH = """\
match:
  call: package.function
  when: {seed@0: absent}
message: "`{name}` ..."
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
_KERNEL = """\
message: "{reason}{ops}"
sources:
  - "doc:https://..."
examples:
  - bad:
      kernel.cu: |
        QUALIFIER void k(float* x, float* y) { ATOMIC(x, y[threadIdx.x]); }  // <-
    good:
      kernel.cu: |
        QUALIFIER void k(int* x) { ATOMIC(x, 1); }
""".replace("QUALIFIER", "__global__").replace("ATOMIC", "atomicAdd")  # no kernel of this file for who scans it
_CONFIG = """\
message: "`{key}` ..."
sources:
  - "doc:https://..."
examples:
  - bad:
      config.yaml: |
        seed_everything: 1
        trainer:
          max_epochs: 1
          some_key: true  # <-
    good:
      config.yaml: |
        seed_everything: 1
        trainer:
          max_epochs: 1
          some_key: false
"""
_KERNEL_MODULE = '''\
"""{name}: one line, as in the rule file."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.kernels.rules._drafts import finding
from d9mlint.model import Finding, KernelScan, Rule


def check_scan(scan: KernelScan, rule: Rule) -> Iterator[Finding]:
    """The sites that the rule is about."""
    for site in scan.sites:
        if site.can_vary:
            yield finding(scan, rule, site)
'''
_CONFIG_MODULE = '''\
"""{name}: one line, as in the rule file."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.kinds import LIGHTNING, ConfigFile
from d9mlint.configs.rules._drafts import finding, key_of
from d9mlint.model import Finding, Rule


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """The keys that the rule is about."""
    key = key_of(file.root, "trainer", "some_key")
    if file.kind == LIGHTNING and key is not None:
        yield finding(rule, key, key="trainer.some_key")
'''


def new_rule(catalogue: Catalogue, place: str) -> tuple[Path, ...]:
    """Writes ``rules/<family>/<name>.yaml`` with the next free id of the family, and returns the paths written.

    Rules about kernels and config files are judged by a module, whose start is written as well.

    Raises:
        UsageError: ``place`` is not ``family/name``, the rule exists, or this is not a checkout.
    """
    family, _, name = place.partition("/")
    if not (_NAME.fullmatch(family) and _NAME.fullmatch(name)):
        families = ", ".join(sorted({rule.family for rule in catalogue.rules.values()}))
        hint = f" (families: {families})" if families else ""
        raise UsageError(f"a new rule is named family/name in lower case with dashes, not {place!r}{hint}")
    if name in catalogue.rules:
        raise UsageError(f"there is a rule called {name!r} already: {catalogue.rules[name].family}/{name}.yaml")
    folder = rules_folder()
    if folder.name != "rules":
        raise UsageError("new rules are written in a checkout, not in an installed d9mlint")
    words = _WORDS.format(id=_free_id(catalogue, family), hazard=next(iter(catalogue.hazards)))
    rest, module = {KERNELS: (_KERNEL, _KERNEL_MODULE), CONFIGS: (_CONFIG, _CONFIG_MODULE)}.get(family, (_MATCH, ""))
    written = {folder / family / f"{name}.yaml": words + rest}
    if module:
        modules = kernel_modules_folder() if family == KERNELS else config_modules_folder()
        written[modules / f"{name.replace('-', '_')}.py"] = module.format(name=name)
    for path, text in written.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tuple(written)


def _free_id(catalogue: Catalogue, family: str) -> str:
    """One more than the family's highest id, or the next free hundred for a new family."""
    taken = {rule.id for rule in catalogue.rules.values()}
    own = [int(rule.id[3:]) for rule in catalogue.rules.values() if rule.family == family]
    start = max(own) + 1 if own else (max((int(i[3:]) for i in taken if i[3:] < "900"), default=0) // 100 + 1) * 100 + 1
    return next(f"D9M{n:03}" for n in range(start, 1000) if f"D9M{n:03}" not in taken)
