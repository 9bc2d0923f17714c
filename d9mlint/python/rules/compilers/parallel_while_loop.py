"""Random or stateful ops in a TF1 loop whose iterations run in parallel."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, flag_test, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Value, alternatives
from d9mlint.python.frameworks.tensorflow.devices import on_tpu
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.compilers._turns import awaited

DEFAULT = 10
_LOOPS = {"tensorflow.while_loop": 4, "tensorflow.map_fn": 3}
_DRAWS = (
    "tensorflow.random.",
    "tensorflow.image.",
    "tensorflow.nn.",
    "tensorflow.layers.dropout",
    "keras.layers.Dropout",
)
_WRITES = frozenset({"assign", "assign_add", "assign_sub", "scatter_update", "scatter_add", "scatter_sub"})


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each loop with more than one iteration in flight whose body draws or writes a variable."""
    elsewhere = True if program.target.device == "tpu" else on_tpu(program)  # XLA runs the iterations in order
    for loop in program.calls(*_LOOPS):
        value = loop.argument(Argument(_LOOPS[loop.name], "parallel_iterations"))
        cond = True if value is None else either(*(both(c, _many(leaf)) for c, leaf in alternatives(value)))
        cond = both(cond, negate(elsewhere))
        if truth(cond, loop.guards) is False:
            continue
        racing = _racing(program, loop) if cond is not False else None
        if racing is not None:
            how_many = value.value if isinstance(value, Const) else "several" if value is not None else DEFAULT
            yield draft(
            program,
                rule, loop, cond=cond, last=loop.raw.rpartition(".")[2], count=how_many,
                op=racing.raw.rpartition(".")[2],
                related=[Related(racing.location, "its order over the iterations is not fixed")],
            )  # fmt: skip


def _many(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return isinstance(leaf.value, int) and leaf.value > 1
    return negate(flag_test(leaf.flag, "==", 1)) if isinstance(leaf, FlagValue) else False


def _racing(program: Program, loop: Event) -> Event | None:
    for event in program.events[loop.index + 1 :]:
        if loop.location not in event.stack:
            return None
        draws = any(e.draws for e in event.effects) and event.name.startswith(_DRAWS)
        writes = event.name.rpartition(".")[2] in _WRITES and event.name.startswith(("tensorflow.", "?."))
        if event.kind == "call" and (draws or writes) and not awaited(loop, event):
            return event
    return None
