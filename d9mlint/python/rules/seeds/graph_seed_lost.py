"""TF1 graph-level seeds set before another graph becomes the default."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.determinism import trainings, trains
from d9mlint.python.frameworks.tensorflow.estimators import places, remedy
from d9mlint.python.frameworks.tensorflow.sessions import NEW_GRAPH
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.seedings import seedings

TF1 = "tensorflow.random.set_random_seed"
ESTIMATOR = "tensorflow.estimator.Estimator"
CONFIG = "tensorflow.estimator.RunConfig"
TRAIN = (f"{ESTIMATOR}.train", "tensorflow.estimator.train_and_evaluate")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At a seed whose graph is left before any random op, with no seed in the new graph."""
    seeds = [s.event for s in seedings(program) if s.event.name == TF1 and s.event.certain]
    graphs = [e for e in program.calls(*NEW_GRAPH) if e.certain and _resets(program, e)]
    drawn = [d for d in draws(program) if d.generator == "tensorflow" and not d.event.detached]
    for graph in graphs:
        before = [s for s in seeds if s.index < graph.index and s.meets(graph)]
        counts = [d.event for d in drawn if not d.implicit or _trained(program, graph)]
        after = [d for d in counts if d.index > graph.index and d.meets(graph)]
        reseeded = any(graph.index < s.index < (after[0].index if after else graph.index) for s in seeds)
        if before and after and not reseeded:
            yield _draft(program, rule, before[-1], graph, after[0])
            return
    yield from _estimators(program, rule, seeds)


def _trained(program: Program, graph: Event) -> bool:
    """Whether something is trained after a graph has begun, or nothing is seen to be: else its weights are loaded."""
    steps = [e for e in (*program.trains, *trainings(program), *trains(program)) if not e.detached]
    return not steps or any(e.index > graph.index and e.meets(graph) for e in steps)


def _estimators(program: Program, rule: Rule, seeds: list[Event]) -> Iterator[Draft]:
    """An Estimator builds in a graph of its own, seeded with its ``RunConfig`` alone (estimator.py, _train_model)."""
    configured = [s for s in seedings(program) if s.event.name.startswith(CONFIG)]
    trained = [e for e in program.calls(*TRAIN) if e.certain]
    if not seeds or not trained or any(s.fixes is not False for s in configured):
        return
    made = {e.location for e in (*program.calls(ESTIMATOR), *trained)}
    drawn = (d.event for d in draws(program) if d.generator == "tensorflow" and made.intersection(d.event.stack))
    first = next(drawn, None)
    for training in trained if first is not None else ():
        before = [s for s in seeds if s.index < training.index and s.meets(training)]
        if before and first is not None:
            yield _draft(program, rule, before[-1], training, first, estimators=True)
            return


def _resets(program: Program, event: Event) -> bool:
    """``clear_session`` makes a new graph only where Keras builds graphs (TF 1)."""
    return event.name != "keras.backend.clear_session" or program.target.fits("tensorflow", "<2.0")


def _draft(program: Program, rule: Rule, seed: Event, graph: Event, draw: Event, *, estimators: bool = False) -> Draft:
    related = [Related(graph.location, "a new default graph"), Related(draw.location, "draws without a seed")]
    related += places(program) if estimators else []
    return draft(
        program, rule, seed, related=related, name=seed.raw, line=graph.location.line,
        remedy=remedy(program) if estimators else "",
    )  # fmt: skip
