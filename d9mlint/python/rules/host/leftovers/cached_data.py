"""Elements of a dataset that TensorFlow keeps in a file for later runs, after something has been drawn for them.

Source: tf.data.Dataset.cache of 2.16: with a ``filename`` the cache lives on, and what is before it is not run again.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.pipelines import DATASET, STAGES, generator_of, stage_draws, upstream
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.calls import told
from d9mlint.python.judging.files.places import lasting
from d9mlint.python.judging.randomness import draws

_CACHE, _FILE = f"{DATASET}.cache", Argument(0, "filename")
_SHUFFLE, _GENERATOR = f"{DATASET}.shuffle", f"{DATASET}.from_generator"
_WHAT = (
    "keeps in {} what the first run draws for the elements: the same command a second time reads that and draws nothing"
)
_REMEDY = (
    "cache before anything is drawn (`dataset.cache(path).map(augment)`), or in a folder of this run that is empty as "
    "it begins"
)


def cached_data(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``cache(path)`` of a dataset for whose elements something is drawn before."""
    for cache in program.calls(_CACHE):
        path = cache.argument(_FILE)
        found = [*_before(program, cache)] if path is not None and not cache.detached else []
        if path is None or not found:
            continue
        when = both(negate(is_none(path)), lasting(path), either(*(symbolic_part(cond) for _, cond in found)))
        if when is not False:
            related = [Related(found[0][0].location, "draws for the elements before they are kept")]
            yield draft(
                program, rule, cache, cond=when, related=related, remedy=_REMEDY, name=short_name(cache),
                what=_WHAT.format(told(path)),
            )  # fmt: skip


def _before(program: Program, cache: Event) -> Iterator[tuple[Event, Cond]]:
    """What draws for the elements of a dataset before they are kept, and when: their order is kept as well."""
    stages = stage_draws(program)
    for stage in upstream(program, cache, *STAGES):
        yield from ((one.event, both(*one.event.guards)) for one in stages[stage.index] if one.kind != "frozen")
    yield from ((one, both(*one.guards)) for one in upstream(program, cache, _SHUFFLE))
    sources = {id(one) for one in upstream(program, cache, _GENERATOR)}
    for drawn in draws(program) if sources else ():
        made = generator_of(program, drawn.event)
        if made is not None and id(made) in sources:
            yield drawn.event, drawn.cond
