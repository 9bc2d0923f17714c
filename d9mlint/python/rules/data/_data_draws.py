"""What the rules on unseeded draws of data pipelines share: each place is reported."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow import estimators
from d9mlint.python.interpreter.program import Program, is_none, matches
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.processes import of_ranks, remedy_there
from d9mlint.python.judging.randomness import uncovered
from d9mlint.python.rules.seeds import _unseeded

_SAMPLERS = "torch.utils.data"
_CHOOSING = (Argument(1, "replacement"), Argument(2, "num_samples"))
"""With these a ``RandomSampler`` may leave elements out (torch/utils/data/sampler.py)."""


def check(program: Program, rule: Rule, *names: str) -> Iterator[Draft]:
    """Each draw of these names that no seed covers."""
    if program.story.local:
        return
    for found in uncovered(program):
        event = found.draw.event
        torch = event.name.startswith("torch.")
        if event.name not in names or (torch and _unseeded.kind(program, found) in _unseeded.LATE):
            continue
        library = "PyTorch" if torch else "TensorFlow"
        related = [Related(found.late.event.location, f"seeds {library}, too late for this")] if found.late else []
        related += [] if torch else estimators.places(program)
        confidence = rule.confidence if found.sure else lower(lower(rule.confidence))
        late = "; the seed comes later" if found.late else ""
        told = "" if torch else estimators.remedy(program)
        if not told and (torch or of_ranks(program)):
            told = rule.remedy(program.target, ("torch" if torch else "tensorflow",)) + of_ranks(program)
        yield draft(
            program,
            rule, event, cond=found.cond, related=related, confidence=confidence,
            remedy=remedy_there(program, event, told) if torch else told,
            name=event.raw, last=_last(event), does=_does(event), late=late, library=library,
            cause=f"{rule.cause}/{found.draw.generator}",
        )  # fmt: skip


def _does(event: Event) -> str:
    """What differs: a sampler that takes each element once only puts them in another order."""
    given = [value for one in _CHOOSING if (value := event.argument(one)) is not None]
    whole = event.name == f"{_SAMPLERS}.RandomSampler.__iter__" and all(
        is_none(value) is True or matches(value, False) is True for value in given
    )
    permutes = whole or event.name == f"{_SAMPLERS}.SubsetRandomSampler.__iter__"
    return "takes the elements in a different order" if permutes else "chooses different elements"


def _last(event: Event) -> str:
    """What the program calls it: an iterator draws for the loader or the sampler that it comes from."""
    return event.name.removesuffix(".__iter__").rpartition(".")[2]
