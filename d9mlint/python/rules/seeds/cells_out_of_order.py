"""cells-out-of-order: a notebook was run in another order than its cells stand in, and a seed on the wrong side."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.source.notebooks import Cell, cell_at


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Once, at the first draw whose seed stands before it and was run after it, or the other way round."""
    if not program.story.cells:
        return
    seeds = [(event, cell) for event in program.events if (cell := _cell(program, event)) and _generators(event, True)]
    for event in program.events if seeds else ():
        cell = _cell(program, event)
        drawn = _generators(event, False)
        if cell is None or not drawn:
            continue
        for seed, other in seeds:
            both = sorted(drawn & _generators(seed, True))
            if both and other.number != cell.number and (other.run < cell.run) != (other.number < cell.number):
                related = Related(seed.location, f"seeded in cell {other.number}, run as [{other.run}]")
                yield draft(
            program,
                    rule, event, related=[related], name=event.raw, cell=cell.number, run=cell.run,
                    seed=seed.raw, other=other.number, order="after" if other.run > cell.run else "before",
                )  # fmt: skip
                return


def _cell(program: Program, event: Event) -> Cell | None:
    """The cell of the notebook, with a number that it was run as, in which something happens."""
    at = (*event.stack, event.location)[0]
    if event.detached or at.path != program.story.entry:
        return None
    cell = cell_at(program.story.cells, at.line)
    return cell if cell is not None and cell.run else None


def _generators(event: Event, seeded: bool) -> frozenset[str]:
    return frozenset(name for effect in event.effects for name in (effect.seeds if seeded else effect.draws))
