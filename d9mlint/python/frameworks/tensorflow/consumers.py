"""What is made of a tensor: whether a gradient can come back to it, and whether its value is only reported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from d9mlint.model import Op
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.determinism import trains
from d9mlint.python.frameworks.tensorflow.graphs import made_in
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import results

_STOPS = re.compile(
    r"tensorflow\.((math\.)?(arg_?(max|min)|equal|not_equal|greater|greater_equal|less|less_equal|logical_\w+)|"
    r"stop_gradient|py_func|numpy_function|shape|size|rank|nn\.in_top_k|summary\.(scalar|histogram|image|audio|text)|"
    r"Session\.run)"
)
"""Ops behind which no gradient comes back: their results are numbers of classes, true and false, or pictures."""
_PASSES = re.compile(
    r"tensorflow\.(?!(train|contrib|estimator|gradients|GradientTape|while_loop|cond|scan|map_fn)\b).+"
)
"""Ops whose result is made of their arguments alone."""
_SUMS = re.compile(r"^tf\.(reduce_(sum|mean)|nn\.l2_loss)")
_ADDS = re.compile(
    r"tensorflow\.((math\.)?(reduce_(sum|mean)|add|add_n|subtract|sub|negative|neg|multiply|mul|scalar_mul|div|divide|"
    r"truediv)|identity|Print|stack|pack|convert_to_tensor)"
)
"""Ops of which a loss is put together: their gradients do not ask for its value."""
_REPORTS = re.compile(
    r".*\.(minimize|compute_gradients|gradients|Session\.run|Tensor\.eval|add_loss|add_to_collection)|"
    r"tensorflow\.(summary\.\w+|merge_summary|\w+_summary)|builtins\.print"
)
"""Where the value of a loss ends: as a number that is told, and as what gradients are computed of."""
_MOST = 500


def gives_no_gradient(program: Program, event: Event) -> bool:
    """Whether all that is seen to be made of what a call gives ends where no gradient comes back: ``tf.argmax``."""
    return _ends(program, event, _STOPS, _PASSES)


def only_reported(program: Program, event: Event, op: Op) -> bool:
    """Whether a sum is a loss, or a part of it: training asks for its gradient, and only reports its value."""
    return bool(_SUMS.match(op.name)) and bool(trains(program)) and _ends(program, event, _REPORTS, _ADDS)


def _ends(program: Program, event: Event, ends: re.Pattern[str], passes: re.Pattern[str]) -> bool:
    """Whether all calls that are given something made of ``event``, through some ops, are ``ends``; some are."""
    takers = program.once("takers-of-tensors", _takers)
    todo, seen = [event], {id(event)}
    while todo:
        taken = takers.get(id(todo.pop()), ())
        if not taken:
            return False
        for one in taken:
            if id(one) in seen or ends.fullmatch(one.name):
                continue
            if one.kind != "call" or not passes.fullmatch(one.name) or len(seen) > _MOST:
                return False
            seen.add(id(one))
            todo.append(one)
    return True


def _takers(program: Program) -> Mapping[int, Sequence[Event]]:
    """The calls that are given what each call has made, or a sum or list with it, by the ``id`` of that call."""
    makers = results(program)
    found: dict[int, dict[int, Event]] = {}
    for event in program.events:
        if event.kind not in ("call", "unresolved"):
            continue
        for value in (event.receiver, *event.args, *event.kwargs.values()):
            for made in made_in(value, makers) if value is not None else ():
                if made is not event:
                    found.setdefault(id(made), {})[id(event)] = event
    return {made: list(events.values()) for made, events in found.items()}
