"""Threads and processes that draw from one generator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Seq, Value, alternatives
from d9mlint.python.frameworks.kerasfit import data_of
from d9mlint.python.frameworks.tensorflow.pipelines import OWN_GENERATORS, draws_on_host
from d9mlint.python.frameworks.torch.loaders import WORKER
from d9mlint.python.frameworks.used import keras_backend
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.tasks import of_tasks
from d9mlint.python.rules.host._replicas import of_replicas
from d9mlint.python.source.facts import Def

_THREAD = "threading.Thread"
_FITS = ("keras.Model.fit", "keras.Model.fit_generator")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the call that starts the workers, where Keras fetches ahead what a generator draws, and in replicas."""
    for start, draws in of_tasks(program):
        if _is_only(program, start, draws):
            continue
        related = [Related(d.location, "draws here") for d in draws]
        name = start.raw.rpartition(".")[2]
        first = min(d.location for d in draws)
        yield draft(
            program, rule, start, cond=either(*(both(*draw.guards) for draw in draws)), related=dict.fromkeys(related),
            who=f"the workers of `{name}` draw", draw=draws[0].raw,
            which="thread" if start.name == _THREAD else "task", remedy=_remedy(program, rule, start, draws[0]),
            cause=f"{rule.name}-{first.file.replace('/', '.')}-{first.line}",  # wherever such workers are started
        )  # fmt: skip
    yield from _fetched_ahead(program, rule)
    yield from of_replicas(program, rule)


_RNG = re.compile(r"`rng = [^`]+`")
_OF_PYTHON = '`rng = random.Random(f"{seed} {index}")`'
"""A generator for what draws from Python's; for NumPy's the rule names it."""
_OF_TORCH = (
    "hand each task a number of its own, and call `torch.manual_seed(seed + index)` with it where the task begins"
)
"""What to do about draws of PyTorch, which a loader takes the seeds of its workers from."""
_OF_TASKS = "each task its own generator made from a number of the task"
_OF_THREADS = "each thread its own generator made from the number of the thread"


def _remedy(program: Program, rule: Rule, start: Event, draw: Event) -> str:
    """The remedy for tasks, or for threads that are started one by one and have none; in the kind of their draws."""
    text = rule.remedy(program.target, ("numpy",))
    if start.name == _THREAD:
        text = text.replace(_OF_TASKS, _OF_THREADS)
    drawn = {generator for effect in draw.effects for generator in effect.draws}
    if "torch" in drawn:
        return _OF_TORCH
    return _RNG.sub(_OF_PYTHON, text) if "python" in drawn else text


def _is_only(program: Program, start: Event, draws: Sequence[Event]) -> bool:
    """Whether one thread alone draws from a generator once it is started: in its own order, whatever the timing.

    Each worker process of a loader has a state of its own, which threads that the others start do not meet.
    """
    in_worker = start.inside(WORKER)
    if start.name != _THREAD or (start.loops and not in_worker):
        return False
    states = {_state(one) for one in draws}
    others = (e for e in program.events if e.index > start.index and e.kind == "call" and not e.detached)
    if in_worker:
        others = (e for e in others if e.inside(WORKER) and not e.inside("thread"))
    return not any(draws_on_host(e) and e not in draws and _state(e) in states for e in others)


def _state(draw: Event) -> tuple[object, ...]:
    """The state that a call draws from: that of Python or NumPy, or of an object, by the calls that make it."""
    if draw.name.startswith(OWN_GENERATORS):
        return tuple(made.index for made in made_by(draw.receiver))
    return tuple(g for effect in draw.effects for g in effect.draws if g in ("python", "numpy"))


# -- Keras ---------------------------------------------------------------------------------------------------------


def _fetched_ahead(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where Keras runs a generator in a thread ahead of the training, and a callback or the validation draws, too.

    Source: keras/src/trainers/data_adapters/generator_data_adapter.py (3.x) and keras/src/engine/data_adapter.py
    (2.x): ``Dataset.from_generator`` with ``prefetch``, in 2.x unless ``workers=0``.
    """
    if keras_backend(program) != "tensorflow":
        return
    for fit in program.calls(*_FITS):
        data = data_of(fit)
        if (
            fit.detached
            or "steps_per_epoch" not in fit.kwargs
            or not _is_generator(data)
            or program.holds(fit, {"workers": 0}) is True
        ):
            continue
        host = [e for e in program.events if e.kind == "call" and not e.detached and draws_on_host(e)]
        ahead = [e for e in host if e.func is not None and isinstance(e.func.node, Def) and e.func.node.generator]
        ahead = [e for e in ahead if e.loops and e.index < fit.index]
        beside = [e for e in host if e.inside("callback") and fit.location in e.stack and e not in ahead]
        met = [e for e in beside if any(_state(e) == _state(one) and e.meets(one, fit) for one in ahead)]
        if met:
            same = next(one for one in ahead if _state(one) == _state(met[0]))
            related = [Related(met[0].location, "a callback draws here"), Related(same.location, "draws ahead here")]
            yield draft(
                program, rule, fit, related=related, which="batch or callback", draw=same.raw,
                who="a thread that runs the generator of `fit` ahead of the training, and a callback draw",
                remedy="draw the batches with a generator of their own, made in the function that gives them: "
                "`rng = np.random.default_rng(seed)`",
            )  # fmt: skip


def _is_generator(data: Value | None) -> bool:
    return any(isinstance(leaf, Seq) and leaf.kind == "generator" for _, leaf in alternatives(data))
