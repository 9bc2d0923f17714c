"""determinism-not-called: the switch is named, but nothing calls it."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.values import Ref
from d9mlint.python.frameworks.tensorflow.determinism import ENABLE, FWR13Y, PATCHES, patchable
from d9mlint.python.frameworks.torch.mode import SWITCH
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, insertion


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every bare mention, and an import whose name nothing calls (``torch`` is imported for other things)."""
    names = [FWR13Y]
    if program.target.fits("tensorflow", ">=2.8"):
        names.append(ENABLE)
    if patchable(program):
        names += PATCHES
    if program.target.fits("torch", ">=1.8"):
        names.append(SWITCH)
    for event in program.find("mention", *names):
        last = event.name.rpartition(".")[2]
        call = "(True)" if event.name == SWITCH else "()"
        fix = insertion(event.location, call, f"call `{last}{call}`")
        yield draft(program, rule, event, fixes=[fix], name=last, done="named but not called")
    if program.story.local:
        return
    for name in names:
        if name != SWITCH and not program.calls(name) and not program.find("mention", name):
            yield from _imported(program, rule, name)


def _imported(program: Program, rule: Rule, name: str) -> Iterator[Draft]:
    package, _, last = name.rpartition(".")
    paths = {
        m.path for m in program.story.modules if m.frame is not None
        and any(isinstance(v, Ref) and program.knowledge.canonical(v.name) == name for v in m.frame.vars.values())
    }  # fmt: skip
    for event in program.find("import", *{package, *(e.name for e in program.imports(package))}):
        if event.location.path in paths and program.knowledge.canonical(event.raw) == package:
            yield draft(program, rule, event, name=last, done="imported but never called")
            return
