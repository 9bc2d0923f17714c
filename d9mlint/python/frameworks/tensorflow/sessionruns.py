"""What a session of TensorFlow 1 is asked for: a training step, something computed of gradients, or only variables."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.graphs import VARIABLES, origins
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of

SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession")
RUN = "tensorflow.Session.run"
FETCHES = Argument(0, "fetches")
INITIALIZERS = ("_initializer()", "_initializers()")
"""How the types of ops end that give variables their first values."""
_VARIABLES = ("tensorflow.Variable", "tensorflow.get_variable", *VARIABLES)
_CONTAINERS = "collections."
_RUNS_ITSELF = ".run"


def fetched(run: Event) -> Iterator[Value]:
    """What ``Session.run`` is asked for, each item of a list or dict."""
    value = run.argument(FETCHES)
    return inside(value) if value is not None else iter(())


def inside(value: Value) -> Iterator[Value]:
    """A value, and the items of a list or dict."""
    for _, leaf in alternatives(value):
        yield leaf
        if isinstance(leaf, Seq):
            for item in (*(leaf.items or ()), *((leaf.element,) if leaf.element is not None else ())):
                yield from (inner for _, inner in alternatives(item))
        elif isinstance(leaf, Dict):  # `session.run({"step": train, "loss": loss})`
            for item in leaf.items.values():
                yield from (inner for _, inner in alternatives(item))


def asks_for(run: Event, made: Collection[int], makers: Makers) -> bool:
    """Whether it is asked for what one of these calls made, by the ``id`` of the calls."""
    return any(id(one) in made for value in fetched(run) for one in made_of(value, makers))


def steps_run(program: Program, made: Collection[int], makers: Makers) -> list[Event]:
    """Calls by which the default session runs a step: ``step.run(feed_dict)`` (framework/ops.py, ``Operation``)."""
    methods = (e for e in program.ending(_RUNS_ITSELF, "call", "unresolved") if e.receiver is not None)
    return [
        e for e in methods
        if any(id(one) in made for _, leaf in alternatives(e.receiver) for one in made_of(leaf, makers))
    ]  # fmt: skip


def computes_of(program: Program, run: Event, made: Collection[int]) -> bool:
    """Whether what it is asked for is computed of what one of these calls made: a norm of gradients, say."""
    return any(one in made for one in origins(program, run.argument(FETCHES)))


def computes(run: Event, makers: Makers) -> bool:
    """Whether it computes anything, as far as is seen: it is asked for more than variables and their first values."""
    asked = (value for value in fetched(run) if isinstance(value, Obj) and not value.type.startswith(_CONTAINERS))
    return any(not value.type.endswith(INITIALIZERS) and not is_variable(value, makers) for value in asked)


def is_variable(value: Value, makers: Makers) -> bool:
    """Whether a value is a variable, or one of those of the graph; what is computed of one is none."""
    made = list(made_of(value, makers))
    return bool(made) and all(one.name in _VARIABLES and _gives(one, value) for one in made)


def _gives(made: Event, value: Value) -> bool:
    """Whether a call gives just this value, alone or in a list."""
    given = made.result
    return given is value or (isinstance(given, Seq) and given.element is value)
