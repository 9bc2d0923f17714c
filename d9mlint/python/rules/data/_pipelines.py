"""What the rules about stages of tf.data pipelines share."""

from __future__ import annotations

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, is_symbolic, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.pipelines import StageDraw
from d9mlint.python.judging.drafts import lower


def confidence(rule: Rule, event: Event, cond: Cond) -> str:
    """How sure a finding of ``rule`` under ``cond`` is; empty where the condition cannot hold."""
    if cond is False or truth(cond, event.guards) is False:
        return ""
    return rule.confidence if is_symbolic(cond) else lower(lower(rule.confidence))


def cause(rule: Rule, draw: StageDraw) -> str:
    """The cause of what a draw does in all stages that it is part of: one edit, where it stands, cures them."""
    return f"{rule.name}-{draw.name}-{draw.event.location.line}"
