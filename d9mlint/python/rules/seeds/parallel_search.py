"""Parallel searches for hyperparameters, whose workers are seeded anew, or whose order of results is that of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results
from d9mlint.python.judging.drafts import Draft, draft, lower, short_name
from d9mlint.python.judging.ops import varies

_RESEEDS = "seeds the sampler anew in each thread, from operating-system entropy: its own seed is ignored"
_LEARNS = (
    "tells it of trials in the order in which they end, which timing decides: what it suggests next depends on that"
)
_ONE_BY_ONE = (
    "let one trial run at a time (`max_concurrent_trials=1`; in old releases `ConcurrencyLimiter(search, "
    "max_concurrent=1)`, or `max_concurrent=1` of the search itself), or draw all settings beforehand "
    "(`BasicVariantGenerator(random_state=1)`)"
)
_SEARCHES = ("ray.tune.run", "ray.tune.run_experiments", "ray.tune.TuneConfig")
_LOCAL = ("ray.init", "local_mode")
"""What runs everything in the process of the program, one after the other (ray/tune/tune.py of 2.9.3)."""
_LIMITER, _REPEATER = "ray.tune.search.ConcurrencyLimiter", "ray.tune.search.Repeater"
_LEARNERS = frozenset(
    f"ray.tune.search.{name}"
    for name in (
        "hyperopt.HyperOptSearch", "optuna.OptunaSearch", "bayesopt.BayesOptSearch", "bohb.TuneBOHB",
        "skopt.SkOptSearch", "hebo.HEBOSearch", "ax.AxSearch", "nevergrad.NevergradSearch",
        "zoopt.ZOOptSearch", "dragonfly.DragonflySearch",
    )
)  # fmt: skip
"""Searches that suggest settings by the results of earlier trials (``on_trial_complete``, ray/tune/search of 2.9.3)."""
_NAMED = frozenset(name.split(".")[-2] for name in _LEARNERS)
"""The same by their names: ``search_alg="hyperopt"``."""
_SEARCH, _SCHEDULER = "search_alg", "scheduler"
_SCHEDULERS = "ray.tune.schedulers."
_STOPPING = ("AsyncHyperBandScheduler", "ASHAScheduler", "MedianStoppingRule", "PopulationBasedTraining", "PB2")
"""Schedulers that hold each result against those that have come before (tune/schedulers of 2.9.3)."""
_SCHEDULES = ("async_hyperband", "asynchyperband", "median_stopping_rule", "medianstopping", "pbt", "pb2")
"""The same by their names: ``scheduler="pbt"`` (tune/schedulers/__init__.py of 2.9.3)."""
_STOPS = (
    "stops trials, or gives them new settings, by the results that have come so far: timing decides which trials go on"
)
_REPORTS = ("ray.tune.report", "ray.train.report", "ray.air.session.report")
"""What a trial tells its scheduler by, which may stop it then."""
_TRIALS, _LIMIT, _WIDTH = "num_samples", Argument(None, "max_concurrent_trials"), Argument(1, "max_concurrent")
_KEPT = "what it learns is kept here"
_Part = tuple[Cond, Event | None, str]
"""When a search, or a scheduler, goes by results; where it is made, and its name."""
_AT_ONCE_TRIALS = {"max_concurrent_trials": {"not": [1]}}
_AT_ONCE = {"max_concurrent@1": {"not": [1]}}
_LIMITED = {**_AT_ONCE, "batch@2": {"not": [True]}}
"""Results are told together when all trials of a batch have ended (tune/search/concurrency_limiter.py of 2.9.3)."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls."""
    yield from varies.check(program, rule, "search", lambda effect: _RESEEDS)
    asked = [one for one in program.calls(*_SEARCHES) if not one.detached]
    searches = [one for one in asked if not one.kwargs.keys().isdisjoint((_SEARCH, _SCHEDULER))]
    if not searches or any(_is_local(one) for one in program.calls(_LOCAL[0])):
        return
    makers = results(program)
    for event in searches:
        if event.name == _SEARCHES[0] and _TRIALS not in event.kwargs and not event.star:
            continue  # one trial
        found = _learning(program, rule, event, makers) or _stopping(program, rule, event, makers)
        if found is not None:
            yield found


def _learning(program: Program, rule: Rule, event: Event, makers: Makers) -> Draft | None:
    """What is told of a search that learns; two trials that run at once are both suggested before any has ended."""
    if _all_start(event, makers):
        return None
    learners = _learners(program, event.kwargs.get(_SEARCH), makers)
    return _by_timing(program, rule, event, learners, _several(program, event, (1, 2)), _KEPT, _LEARNS)


def _stopping(program: Program, rule: Rule, event: Event, makers: Makers) -> Draft | None:
    """The same of one whose scheduler stops or changes trials, where these tell of more than how they have ended."""
    reports = [one for one in program.calls(*_REPORTS) if not one.detached]
    if reports and not any(one.loops for one in reports):
        return None
    schedulers = _schedulers(program, event, makers)
    return _by_timing(program, rule, event, schedulers, _several(program, event, (1,)), "made here", _STOPS)


def _by_timing(
    program: Program, rule: Rule, event: Event, found: Iterable[_Part], several: Cond, kept: str, then: str
) -> Draft | None:  # fmt: skip
    """At a search: which of its parts go by what several trials at once have told so far; None where none does."""
    able = [one for one in found if truth(both(one[0], several), event.guards) is not False]
    at_once = both(several, either(*(cond for cond, _, _ in able)))
    if at_once is False:
        return None
    made = [where.location for _, where, _ in able if where is not None]
    return draft(
        program, rule, event, cond=at_once, remedy=_ONE_BY_ONE, name=short_name(event), then=then,
        related=[Related(location, kept) for location in dict.fromkeys(made)],
        setting=" or ".join(dict.fromkeys(f"`{name}`" for _, _, name in able)),
        confidence="medium" if is_symbolic(at_once) else lower("medium"),
    )  # fmt: skip


def _schedulers(program: Program, event: Event, makers: Makers) -> Iterator[_Part]:
    """The schedulers of a search that stop or change trials by the results of others, and when they do."""
    for cond, leaf in alternatives(event.kwargs.get(_SCHEDULER)):
        if isinstance(leaf, Const) and isinstance(leaf.value, str) and leaf.value.lower() in _SCHEDULES:
            yield cond, None, leaf.value
        for made in made_of(leaf, makers):
            if made.name.startswith(_SCHEDULERS) and (last := made.name.rpartition(".")[2]) in _STOPPING:
                yield both(cond, program.holds(made, {"synch": {"not": [True]}})), made, last


def _several(program: Program, event: Event, few: Sequence[int]) -> Cond:
    """When more trials than a few run at once; a number that only the settings tell is taken for more."""
    number = program.holds(event, {_TRIALS: {"not": [*few]}})
    return both(number if is_symbolic(number) else True, program.holds(event, _AT_ONCE_TRIALS))


def _is_local(event: Event) -> bool:
    given = event.kwargs.get(_LOCAL[1])
    return isinstance(given, Const) and given.value is True


def _all_start(event: Event, makers: Makers) -> bool:
    """Whether as many trials run at once as there are: each is suggested before any has ended."""
    limiters = (made for made in made_of(event.kwargs.get(_SEARCH), makers) if made.name == _LIMITER)
    widths = [_number(event.argument(_LIMIT)), *(_number(made.argument(_WIDTH)) for made in limiters)]
    trials, known = _number(event.kwargs.get(_TRIALS)), [one for one in widths if one is not None]
    return trials is not None and bool(known) and trials <= min(known)


def _number(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def _learners(program: Program, value: Value | None, makers: Makers) -> Iterator[_Part]:
    """The searches that learn among what a value may be, and when several of their trials run at once."""
    for cond, leaf in alternatives(value):
        if isinstance(leaf, Const) and leaf.value in _NAMED:
            yield cond, None, str(leaf.value)
        for made in made_of(leaf, makers):
            if made.name in _LEARNERS:
                yield both(cond, program.holds(made, _AT_ONCE)), made, made.raw.rpartition(".")[2]
            elif made.name in (_LIMITER, _REPEATER) and made.args:
                limits = {} if made.name == _REPEATER else _LIMITED
                for inner, search, name in _learners(program, made.args[0], makers):
                    yield both(cond, program.holds(made, limits), inner), search, name
