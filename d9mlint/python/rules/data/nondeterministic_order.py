"""tf.data asked to return elements in the order in which they are ready."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Value, alternatives
from d9mlint.python.frameworks.tensorflow.pipelines import STAGES, disorder, is_parallel
from d9mlint.python.interpreter.program import Program, is_none, matches
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.rules.data._pipelines import confidence

_SLOPPY = {
    "tensorflow.data.experimental.parallel_interleave": "sloppy@3",
    "tensorflow.data.experimental.make_csv_dataset": "sloppy",
    "tensorflow.data.experimental.make_batched_features_dataset": "sloppy_ordering",
}
_OPTIONS = (
    "tensorflow.data.Options.deterministic", "tensorflow.data.Options.experimental_deterministic",
    "?.experimental_deterministic",
)  # fmt: skip

_LOADS = ("tensorflow_datasets.load", "tensorflow_datasets.core.DatasetBuilder.as_dataset")
_CONFIG = "tensorflow_datasets.ReadConfig"
_FILES = "files"
"""The part of the cause whose remedy is a seed for the order of the files."""
_DETERMINISTIC = frozenset({"deterministic", "experimental_deterministic"})
_SEED_FILES = "pass `read_config=tfds.ReadConfig(shuffle_seed=1)`: without a seed tfds does not keep the order"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call and each option that gives up the order."""
    disordered = disorder(program)
    for event, cond, what, sure in (*_asked(program, rule), *_datasets(program, rule)):
        both_ = both(cond, disordered)
        known = confidence(rule, event, both_)
        if known:
            yield draft(
            program,
                rule, event, cond=both_, confidence=sure if known == rule.confidence else known, what=what,
                remedy=_SEED_FILES if event.name in _LOADS else "",
                cause=f"{rule.cause}/{_FILES}" if event.name in _LOADS else "",
            )  # fmt: skip


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


def _datasets(program: Program, rule: Rule) -> Iterator[tuple[Event, Cond, str, str]]:
    """``tfds`` interleaves shuffled files in any order unless a seed is given (core/reader.py, ``_read_files``)."""
    for event in program.calls(*_LOADS):
        cond = program.holds(event, {"shuffle_files": True})
        unseeded = True if "read_config" not in event.kwargs else _without_seed(event)
        if cond is not False:
            # A data set in one file, as the small ones are, has nothing to shuffle.
            yield event, both(cond, unseeded), "shuffle_files=True", lower(rule.confidence)


def _without_seed(event: Event) -> Cond:
    """When the ``ReadConfig`` surely names neither a seed nor options nor one file at a time."""
    found: list[Cond] = []
    for cond, leaf in alternatives(event.kwargs["read_config"]):
        if isinstance(leaf, Const):
            found.append(both(cond, leaf.value is None))
        elif isinstance(leaf, Obj) and leaf.type == _CONFIG and leaf.event is not None:
            given = {**leaf.event.kwargs, **leaf.attrs}
            alone = _may_be_one(given.get("interleave_cycle_length"))
            kept = alone or _may_keep(given.get("options")) or leaf.event.star
            seed = given.get("shuffle_seed")
            found.append(both(cond, not kept, True if seed is None else is_none(seed)))
    return either(*found)


def _may_be_one(number: Value | None) -> bool:
    """Whether files may be read one by one; where nothing is said of it, sixteen are read at a time."""
    return number is not None and any(not isinstance(one, Const) or one.value == 1 for _, one in alternatives(number))


def _may_keep(options: Value | None) -> bool:
    """Whether options may say that the order is kept; where they say nothing of it, tfds decides."""
    return options is not None and not (isinstance(options, Obj) and not _DETERMINISTIC & options.attrs.keys())
