"""tf.data asked to return elements in the order in which they are ready."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.guards import Cond, both
from d9mlint.python.pipelines import STAGES, confidence, disorder, is_parallel
from d9mlint.python.program import Draft, Program, lower, matches
from d9mlint.python.story import Event

_SLOPPY = {
    "tensorflow.data.experimental.parallel_interleave": "sloppy@3",
    "tensorflow.data.experimental.make_csv_dataset": "sloppy",
    "tensorflow.data.experimental.make_batched_features_dataset": "sloppy_ordering",
}
_OPTIONS = (
    "tensorflow.data.Options.deterministic", "tensorflow.data.Options.experimental_deterministic",
    "?.experimental_deterministic",
)  # fmt: skip


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call and each option that gives up the order."""
    disordered = disorder(program)
    for event, cond, what, sure in _asked(program, rule):
        both_ = both(cond, disordered)
        known = confidence(rule, event, both_)
        if known:
            yield program.draft(
                rule, event, cond=both_, confidence=sure if known == rule.confidence else known, what=what
            )


def _asked(program: Program, rule: Rule) -> Iterator[tuple[Event, Cond, str, str]]:
    for event in program.events:
        if event.kind == "call" and event.name.startswith("tensorflow.data.Dataset.") and is_parallel(event):
            yield event, program.holds(event, {"deterministic": False}), "deterministic=False", rule.confidence
        elif event.kind == "call" and event.name in _SLOPPY:
            keyword = _SLOPPY[event.name]
            yield event, program.holds(event, {keyword: True}), f"{keyword.partition('@')[0]}=True", rule.confidence
        elif event.kind == "set" and event.name in _OPTIONS and event.args:
            # Without a parallel stage the option changes nothing; one may hide in a helper that is not followed.
            seen = any(is_parallel(e) for e in program.calls(*STAGES))
            what = f"{event.name.rpartition('.')[2]} = False"
            yield event, matches(event.args[0], False), what, rule.confidence if seen else lower(lower(rule.confidence))
