"""cublas-workspace-config: deterministic mode wants a variable of cuBLAS that is not set, or set to something else."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate, truth
from d9mlint.python.domain.values import Const, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch.mode import SETS_WORKSPACE, WORKSPACE, WORKSPACES, Asked, torch_mode
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the switch where the variable is missing, at the variable where its value does not count."""
    asked = [a for a in torch_mode(program).asked if a.on is not False]
    if not asked or program.story.local:
        return
    written = [e for e in program.env(WORKSPACE) if not e.detached]
    for event in written:
        wrong = _wrong(event.args[0] if event.args else None)
        cond = both(wrong, either(*(both(*a.event.guards, a.on) for a in asked)), torchgpu.on_gpu(program))
        if truth(cond, event.guards) is not False and is_symbolic(cond):
            value = next(v.value for _, v in alternatives(event.args[0]) if isinstance(v, Const))
            yield draft(program, rule, event, cond=cond, state=f"is set to {value!r}", confidence="high")
    if not written and not program.calls(*SETS_WORKSPACE) and not _read(program):
        yield from _missing(program, rule, asked)


def _missing(program: Program, rule: Rule, asked: list[Asked]) -> Iterator[Draft]:
    for one in asked:
        cond = both(one.on, torchgpu.on_gpu(program))
        if truth(cond, one.event.guards) is False or not is_symbolic(cond):
            continue
        mild = negate(one.raises)
        severity = "info" if truth(mild, one.event.guards) is True else ""
        yield draft(program, rule, one.event, cond=cond, severity=severity, state="is not set by the program")
        return


def _wrong(value: object) -> Cond:
    if not isinstance(value, Const):
        return False
    return negate(matches(value, list(WORKSPACES)))


def _read(program: Program) -> bool:
    """Whether the program looks at the variable itself, so that it is thought of."""
    reads = program.calls("os.getenv", "os.environ.get", "os.environ.setdefault")
    return any(e.args and isinstance(e.args[0], Const) and e.args[0].value == WORKSPACE for e in reads)
