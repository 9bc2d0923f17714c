"""Data of Keras that are changed at the end of an epoch while workers still read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Func, Inst, alternatives
from d9mlint.python.frameworks import kerasfit
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

_END, _READ = "on_epoch_end", "__getitem__"
_IN_PLACE = (".shuffle", ".sort", ".reverse")
"""How the names of calls end that change the list or array that they are given, or that they are called on."""
_RACES = (
    "`{name}` changes here what the workers of `{fit}` still read: Keras before 2.1 does not wait for the last batches "
    "of an epoch, and timing decides which of them get the new order, whatever the seed"
)
_WAITS = (
    "upgrade to Keras 2.1, which waits for the workers before it calls `on_epoch_end`; before, leave the order of the "
    "batches to `fit_generator`, and what they are made of as it is"
)


def check(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each such call in a method of the data that a model is fitted to.

    Source: keras/utils/data_utils.py (``OrderedEnqueuer._run``) of 2.0.8, 2.0.9 and 2.1.0 (``_wait_queue``).
    """
    if not program.target.fits("keras", "<2.1"):
        return
    for fit in program.calls(*kerasfit.CALLS):
        for _, data in alternatives(kerasfit.data_of(fit)) if not fit.detached else ():
            if isinstance(data, Inst) and kerasfit.is_indexed(data):
                for event in _changes(program, data):
                    yield draft(
                        program, rule._replace(message=_RACES), event, name=short_name(event), fit=short_name(fit),
                        remedy=_WAITS, related=[Related(fit.location, "the workers are started here")],
                    )  # fmt: skip
                    return


def _changes(program: Program, data: Inst) -> Iterator[Event]:
    """The calls in ``on_epoch_end`` that change in place what ``__getitem__`` reads of an object."""
    for event in program.ending(_IN_PLACE, "call"):
        func = event.func
        own = func is not None and func.name == _END and any(func.owner is cls for cls in data.cls.line())
        if func is None or not own or not isinstance(func.node, f.Def):
            continue
        changed = {name for call in queries.inside(func.node.body, f.Call) for name in _changed(call)}
        if changed & _read(data):
            yield event


def _changed(call: f.Call) -> Iterator[str]:
    """The attributes of the object itself that a call may change in place."""
    if isinstance(call.func, f.Attr) and f".{call.func.name}".endswith(_IN_PLACE):
        yield from _attributes((call.func.value, *(arg.value for arg in call.args[:1])))


def _read(data: Inst) -> set[str]:
    """The attributes of an object that its ``__getitem__`` reads."""
    methods = (cls.frame.vars[_READ] for cls in data.cls.line() if _READ in cls.frame.vars)
    first = next(methods, None)
    return set(_attributes(queries.inside(first.node, f.Attr))) if isinstance(first, Func) else set()


def _attributes(nodes: Iterable[f.Expr]) -> Iterator[str]:
    """The names of those that are attributes of the object itself."""
    for node in nodes:
        if isinstance(node, f.Attr) and isinstance(node.value, f.Name) and node.value.id == "self":
            yield node.name
