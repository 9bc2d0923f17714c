"""What the rules on unseeded tf.data draws share: each place is reported."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.program import Draft, Program, lower
from d9mlint.python.randomness import uncovered


def check(program: Program, rule: Rule, *names: str) -> Iterator[Draft]:
    """Each draw of these names that no seed covers."""
    if program.story.local:
        return
    for found in uncovered(program):
        event = found.draw.event
        if event.name not in names:
            continue
        related = [Related(found.late.event.location, "seeds TensorFlow, too late for this")] if found.late else []
        confidence = rule.confidence if found.sure else lower(lower(rule.confidence))
        late = "; the seed comes later" if found.late else ""
        yield program.draft(
            rule, event, cond=found.cond, related=related, confidence=confidence,
            name=event.raw, last=event.name.rpartition(".")[2], late=late,
        )  # fmt: skip
