"""Values in an order that nothing promises (listings, sets, completion) and the places where that order counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from d9mlint.model import Effect, Related, Rule
from d9mlint.python.domain.conditions import both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint, taint_of
from d9mlint.python.domain.values import Const, Dict, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks import kerasfit, tables
from d9mlint.python.frameworks.torch import evaluating
from d9mlint.python.frameworks.torch.loaders import CONTEXTS
from d9mlint.python.interpreter.callbacks import COMPLETED
from d9mlint.python.interpreter.library import streams
from d9mlint.python.interpreter.library.containers.sets import held, untold
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging import flows
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.order import picking, steps
from d9mlint.python.source import facts as f

_PRINTS, _STREAMS = "builtins.print", ("sys.stderr", "sys.stdout")
_OWN_PYTHON = "python-generator"
_NUMERIC = (
    "tensorflow", "keras", "tf_keras", "numpy", "torch", "jax", "pandas", "sklearn", "datasets", "transformers",
)  # fmt: skip
_WALKS = ("os.walk", "tensorflow.io.gfile.walk", "tensorflow.gfile.Walk")
_SORTS_TABLE = ("pandas.DataFrame.sort_values", "pandas.DataFrame.sort_index", "pandas.Series.sort_values")
_SINKS = {
    "item": "code that picks items by their number", "slice": "code that takes the first or last items",
    "numbering": "code that numbers the items", "pop": "`pop`", "written": "a file that is written",
    "sum": "a sum, which rounds in the order of its parts",
}  # fmt: skip
_NAMED = "the name of a file that is written"
_OF_EACH = "what it makes of them in turn"
"""What is said of a part of each item: it picks none by its number."""
_TABLES, _NAMES = ("pandas.", "numpy."), ".columns"
_ORDERS = ("listing", "set", "completion")
_WEAK = ("item", "enumerate")
"""Sinks that may be harmless: any element will do, or the number is only shown."""


def _always(source: Event, sink: Event) -> bool:
    return True


def check(
    program: Program, rule: Rule, order: str, of_tables: bool = False,
    remedy: Callable[[Event], str] | None = None, counts: Callable[[Event, Event], bool] = _always,
    takes_one: tuple[str, ...] = (),
) -> Iterator[Draft]:  # fmt: skip
    """At each source of ``order`` whose values reach a place where the order counts.

    ``remedy``: what to do about a source, where that is not what the rule says; ``counts``: whether a source does for a
    sink; ``takes_one``: how the names of sources end that give one item each. Rows out of tables that several tasks
    work on are judged ``of_tables`` only, by how the table was made.
    """
    trained = {id(one.event): one for one in steps.in_loops(program)}
    for source, sinks in reached(program, order, of_tables, counts):
        if is_looped(program, source) and _sorted_inside(program, source):
            continue
        rows = tables.disorder(program, source) if of_tables else None
        if of_tables and rows is None:
            continue
        strong = [e for e in sinks if not (e.kind == "sink" and e.name in _WEAK) and _is_sure(trained.get(id(e)))]
        first = min(strong or sinks, key=_opens_to_write)  # (what a file holds says more than what it is called)
        related = [
            Related(e.location, "here the order matters") for e in sinks if e.location[:2] != source.location[:2]
        ]
        yield draft(
            program,
            rule, source, cond=both(rows.cond if rows else True, either(*(both(*e.guards) for e in strong or sinks))),
            severity="info" if all(map(_on_terminal, sinks)) or _only_served(program, sinks) else "",
            confidence=_confidence(rule, source, strong) if rows is None or rows.sure else lower(rule.confidence),
            related=dict.fromkeys(related), name=_name(source, of_tables),
            sink=_OF_EACH if source.name.endswith(takes_one) and _takes_part(first, source) else
            _sink(first, trained.get(id(first))),
            remedy=remedy(source) if remedy else "",
        )  # fmt: skip


def reached(
    program: Program, order: str, of_tables: bool = False,
    counts: Callable[[Event, Event], bool] = _always,
) -> list[tuple[Event, list[Event]]]:  # fmt: skip
    """Each source of ``order`` with the places that its values reach and where the order counts."""
    found = _direct(program, order, of_tables, counts)
    for event in program.events:
        if event.kind == "together":
            sources = [source for value in event.args for source in _sources(value, order)]
            if sources:
                _share(found, event, sources, _others(program, event, order), counts)
    return [*found.values()]


def _direct(
    program: Program, order: str, of_tables: bool, counts: Callable[[Event, Event], bool]
) -> dict[int, tuple[Event, list[Event]]]:
    """The same by the numbers of the sources, each for itself."""
    numeric = is_numeric(program)
    found: dict[int, tuple[Event, list[Event]]] = {}
    trained = {id(one.event) for one in steps.in_loops(program)}
    for event, value in program.once("ordered-inputs", _ordered_inputs):
        sources = [
            one for one in _sources(value, order) if (one.name in tables.LISTS) is of_tables and counts(one, event)
        ]
        if not sources:
            continue
        if _only_sorted(program, event) or not (numeric or _is_written(event)):
            continue
        if event.kind == "sink" and flows.in_message(program, event):
            continue
        if id(event) in trained or not picking.asks_no_order(program, event):
            for source in sources:
                found.setdefault(source.index, (source, []))[1].append(event)
    return found


def _others(program: Program, together: Event, order: str) -> list[Event]:
    """Where an order of another kind counts that something is filled in as well: names in a listing for each of a set.

    What is filled has the order of the innermost loop alone.
    """
    sinks: list[Event] = []
    for other in _ORDERS:
        sources = [] if other == order else [one for value in together.args for one in _sources(value, other)]
        if sources:
            reach = program.once(f"reached-{other}", partial(_direct, order=other, of_tables=False, counts=_always))
            sinks += [sink for source in sources for sink in reach.get(source.index, (source, ()))[1]]
    return sinks


def _share(
    found: dict[int, tuple[Event, list[Event]]], together: Event, sources: Sequence[Event], others: Sequence[Event],
    counts: Callable[[Event, Event], bool],
) -> None:  # fmt: skip
    """Where the order of one source counts after something is filled in those of all, those of the others do, too.

    What is done in each turn of the loop around them is about the items of one turn.
    """
    around = together.kwargs["around"]
    reached_by_one = [sink for source in sources for sink in found.get(source.index, (source, ()))[1]]
    sinks = {
        sink.index: sink
        for sink in (*reached_by_one, *others)
        if sink.index > together.index and not (isinstance(around, Const) and around.value in sink.loops)
    }
    for source in sources if sinks else ():
        known = [sink.index for sink in found.get(source.index, (source, ()))[1]]
        more = [sink for index, sink in sinks.items() if index not in known and counts(source, sink)]
        if more:
            found.setdefault(source.index, (source, []))[1].extend(more)


def _confidence(rule: Rule, source: Event, strong: list[Event]) -> str:
    if source.name == "builtins.set.pop" and all(e.name == "pop" for e in strong) and _only_tells(source):
        return "low"
    return rule.confidence if strong and not _of_table(source) else lower(rule.confidence)


def _only_served(program: Program, sinks: Sequence[Event]) -> bool:
    """Whether a program that only evaluates picks items for a loader alone, and in the loop over it those that it gave.

    Most results bear the names of their items then: ``for i, batch in enumerate(loader): save(net(batch), names[i])``.
    """
    by_number = all(e.kind == "sink" and e.name == "item" and (e.loops or e.inside(*CONTEXTS)) for e in sinks)
    return by_number and any(e.inside(*CONTEXTS) for e in sinks) and bool(evaluating.evaluations(program))


def _on_terminal(sink: Event) -> bool:
    """Whether an order is only seen in what is printed: ``print(names, file=sys.stderr)``."""
    file = sink.kwargs.get("file")
    return sink.name == _PRINTS and isinstance(file, Ref) and file.name in _STREAMS


def _of_table(source: Event) -> bool:
    """Whether a set whose order is used is made of a table or an array: it may hold numbers, which keep theirs."""
    pending: list[Value | None] = [source.receiver, *source.args]
    seen: set[int] = set()
    while pending:
        for _, leaf in alternatives(pending.pop()):
            if isinstance(leaf, Obj) and leaf.type.startswith(_TABLES):
                return True
            if isinstance(leaf, Seq) and id(leaf) not in seen and all(map(untold, held(leaf))):
                seen.add(id(leaf))
                pending += [part for made in leaf.sources for part in (made.receiver, *made.args)]
            elif isinstance(leaf, Ref) and not leaf.name.endswith(_NAMES):
                pending.append(leaf.receiver)
    return False


def _only_tells(event: Event) -> bool:
    """Whether the function that an event is in answers yes or no and stores nothing: any item may do for that."""
    node = event.func.node if event.func is not None else None
    if not isinstance(node, f.Def) or node.generator:
        return False
    pending: list[Any] = [*node.body]
    answers = 0
    while pending:
        one = pending.pop()
        if isinstance(one, f.Return):
            if not isinstance(one.value, f.Const) or not isinstance(one.value.value, bool):
                return False
            answers += 1
        elif isinstance(one, f.Scope) or (isinstance(one, f.Assign) and not _binds_names(one)):
            return False
        pending += [part for part in one if isinstance(part, tuple) and part]
    return answers > 0


def _binds_names(node: f.Assign) -> bool:
    return all(isinstance(target, f.Name) for target in node.targets)


def is_numeric(program: Program) -> bool:
    """Whether a program computes with numbers, or is meant to draw the same in each run."""
    return bool(program.imports(*_NUMERIC)) or (bool(program.imports("random")) and _seeds(program))


def _is_written(event: Event) -> bool:
    """Whether the order counts because a file gets it: all that counts in a program that computes nothing."""
    return streams.writes(event) or _opens_to_write(event) or (event.kind == "sink" and event.name == streams.WRITTEN)


def _seeds(program: Program) -> bool:
    """Whether the program is meant to draw the same in each run."""
    return any(
        not event.detached and (effect.seeds or (effect.creates == _OWN_PYTHON and bool(event.args or event.kwargs)))
        for event in program.events for effect in event.effects
    )  # fmt: skip


def is_looped(program: Program, source: Event) -> bool:
    """Whether it is a walk, and not only its first folder is looked at."""
    if source.name not in _WALKS:
        return False
    return not any(e.args and e.args[0] is source.result for e in program.calls("builtins.next"))


def _sorted_inside(program: Program, walk: Event) -> bool:
    """Whether the loop over a walk sorts what it gets: ``dirs.sort()`` puts the folders to come in order, too.

    What another function sorts (labels, say) came out of the files later.
    """
    for event in program.calls("?.sort", "builtins.list.sort", "builtins.sorted"):
        values = [*event.args, *([event.receiver] if event.receiver is not None else [])]
        if event.func is walk.func and walk in taint(values)[2]:
            return True
    return False


def _only_sorted(program: Program, event: Event) -> bool:
    """Whether what a call makes is sorted: at once (``np.sort(np.array(names))``), or a table by its method."""
    if any(e.receiver is event.result for e in program.calls(*_SORTS_TABLE)):
        return True
    if event.kind != "call" or event.index + 1 >= len(program.events):
        return False
    after = program.events[event.index + 1]
    inner, outer = event.location, after.location
    within = (outer.line, outer.column) < (inner.line, inner.column) < (outer.end_line, outer.end_column)
    given = within and any(value is event.result for value in after.args)
    return given and after.kind == "call" and any(x.order == "sorted" for x in after.effects)


def _ordered_inputs(program: Program) -> list[tuple[Event, Value]]:
    """What goes in no promised order to where an order counts."""
    takers = (e for e in program.events if e.effects or e.kind == "sink" or e.name in kerasfit.CALLS)
    found = [(event, value) for event in takers for value in _inputs(event) if taint([value])[1]]
    return found + [(one.event, one.order) for one in steps.in_loops(program)]


def _inputs(event: Event) -> Iterator[Value]:
    if event.kind == "sink":
        yield from () if event.discarded else event.args
    elif event.kind == "call":
        given = (*event.args, *event.kwargs.values())
        if any(x.orders_data for x in event.effects):
            parts = [leaf for value in given for _, leaf in alternatives(value)]
            yield from (column for leaf in parts if isinstance(leaf, Dict) for column in _columns(leaf))
            by_key = event.name in tables.BY_KEY
            yield from [leaf for leaf in parts if not isinstance(leaf, Dict)] if by_key else given
        elif event.name in kerasfit.CALLS:
            data = kerasfit.data_of(event)
            if data is not None:
                yield data
        elif _opens_to_write(event):
            yield from event.args[:1]
        elif streams.writes(event):
            # What a mapping holds under each of its keys does not depend on their order; a list there has its own.
            leaves = (leaf for value in given for _, leaf in alternatives(value))
            yield from (one for leaf in leaves for one in streams.ordered(leaf, event))


def _columns(table: Dict) -> Iterator[Value]:
    """What a dict holds under its keys, also what stands for all that it holds under keys that are not known."""
    yield from table.items.values()
    if table.element is not None:
        yield table.element


def _opens_to_write(event: Event) -> bool:
    """Whether a call begins a file, the name of which may be made of a number that has an order."""
    return any(effect.opens and streams.for_writing(event, effect) for effect in event.effects)


def _sources(value: Value, order: str) -> list[Event]:
    """Where values in this order come from: the listings, or the places that go through the sets."""
    found: list[Event] = []
    for _, leaf in alternatives(value):
        parts = [leaf, *leaf.items] if isinstance(leaf, Seq) and leaf.items else [leaf]
        for part in parts:
            _, its_order, sources = taint_of(part)
            if isinstance(part, Seq) and _together(part):
                sources = part.sources  # (what it holds comes from lists that are sorted, too)
            wanted = [e for e in sources if _makes(e, order)] if its_order == order else []
            told = wanted if _together(part) else [e for e in wanted if e.location == wanted[0].location]
            found += [e for e in told if e not in found]  # (a call has a source in each turn of a loop around it)
    return found


def _together(value: Value) -> bool:
    """Whether a list takes its items from several others in turn, each of which has its order in it: ``zip``."""
    return isinstance(value, Seq) and isinstance(value.element, Seq) and value.element.items is not None


def _makes(event: Event, order: str) -> bool:
    if order == "set":
        return (event.kind, event.name) in (("iterate", "set"), ("call", "builtins.set.pop"))
    return event.kind == "call" and any(x.order == order or _calls_back(x, order) for x in event.effects)


def _calls_back(effect: Effect, order: str) -> bool:
    """Whether a call hands each result over as it becomes ready, or starts a thread that does."""
    return order == "completion" and any(one.context in (COMPLETED, "thread") for one in effect.invokes)


def _name(source: Event, last: bool = False) -> str:
    return source.raw.rpartition(".")[2] if last else source.raw.removeprefix("?.")


def _is_sure(step: steps.Step | None) -> bool:
    return step is None or step.sure


def _takes_part(sink: Event, source: Event) -> bool:
    """Whether what a source gives is taken apart."""
    return sink.kind == "sink" and any(one is source.result for one in sink.args)


def _sink(event: Event, step: steps.Step | None) -> str:
    if step is not None:
        return step.sink
    if event.kind == "sink":
        return _SINKS.get(event.name, "`enumerate`")
    if _opens_to_write(event):
        return _NAMED
    return f"`{event.raw.removeprefix('?.').removeprefix('builtins.')}`"
