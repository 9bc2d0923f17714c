"""Sums whose order on a GPU changes nothing: of few addends, of zeros and ones, or such as nothing is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from d9mlint.model import Argument, Op
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, CondValue, Const, FlagValue, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import trains
from d9mlint.python.frameworks.tensorflow.graphs import COLLECTION, origins
from d9mlint.python.frameworks.tensorflow.sessionruns import FETCHES, RUN
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers

_SUMS = re.compile(r"^tf\.reduce_sum")
_OF_TRAINING = re.compile(r"^tf\.nn\.moments on|of moments$")
"""Ops that scale batches or gradients; what only evaluates takes averages that were kept."""
_OF_ITEMS = ".layer_norm"
"""What scales each item by its own sums, there, too."""
_COLLECTS, _COLLECTED, _NAME = "tensorflow.add_to_collection", Argument(1, "value"), Argument(0, "name")
_READS = re.compile(
    r"tensorflow\.(get_collection\w*|((contrib\.(slim\.)?)?losses|contrib\.slim|contrib\.framework)\.get_\w+)"
)
"""Calls that read collections, some of them without a name."""
_KEYS = "tensorflow.GraphKeys."
_SUMMARIES = re.compile(r"tensorflow\.summary\.(scalar|histogram|image|audio|text|tensor_summary)")
_REDUCED = Argument(0, "input_tensor")
_WARP = 32
"""Addends that one warp adds in a fixed order: the atomics of all others add zero (Eigen's TensorReductionCuda.h)."""
_BOOLEAN = re.compile(
    r"tensorflow\.(math\.)?(equal|not_equal|greater|greater_equal|less|less_equal|logical_\w+|is_finite|is_nan|is_inf|"
    r"nn\.in_top_k|sequence_mask)"
)
_COUNTS = re.compile(
    r"tensorflow\.(cast|to_float|to_double|reshape|transpose|squeeze|expand_dims|identity|stop_gradient)"
)
"""Ops that leave zeros and ones what they are."""
_ELEMENTWISE = re.compile(
    r"tensorflow\.(cast|to_float|to_double|identity|square|abs|negative|exp|log|sqrt|sigmoid|tanh|stop_gradient|squeeze|"
    r"expand_dims|nn\.(relu|sigmoid|tanh|softplus))"
)
_FEEDS, _TYPE, _SHAPE = "tensorflow.placeholder", Argument(0, "dtype"), Argument(1, "shape")
_TRUTH = ("tensorflow.bool", "bool", "numpy.bool_", "builtins.bool")
_PER_ITEM, _LABELS = "tensorflow.nn.sparse_softmax_cross_entropy_with_logits", Argument(1, "labels")
_DEPTH = 6


def harmless(program: Program, event: Event, op: Op, makers: Makers) -> bool:
    """Whether a sum surely is the same in any order, or nothing is made of it."""
    if _OF_TRAINING.search(op.name):
        return not trains(program) and not event.name.endswith(_OF_ITEMS)
    if not _SUMS.match(op.name):
        return False
    if id(event) in program.once("unread-sums", _unread):
        return True
    reduced = event.argument(_REDUCED)
    count = _count(reduced, makers, by_default=False)
    return _are_bits(reduced, makers, _DEPTH) or (count is not None and count <= _WARP)


def likely_few(event: Event, op: Op, makers: Makers) -> bool:
    """Whether a sum has so few addends while flags have their defaults."""
    count = _count(event.argument(_REDUCED), makers, by_default=True) if _SUMS.match(op.name) else None
    return count is not None and count <= _WARP


def _unread(program: Program) -> frozenset[int]:
    """The ``id`` of each op of which only a collection is made that nothing reads, or a summary that none asks for.

    What trains may write all summaries by itself.
    """
    kept = program.calls(_COLLECTS)
    readers = program.named(_READS.fullmatch, "call", "unresolved")
    read = [_names(e.argument(_NAME)) if e.name == COLLECTION else None for e in readers]
    known = None if None in read else {name for names in read for name in names or ()}
    unread = [e.argument(_COLLECTED) for e in kept if _is_unread(_names(e.argument(_NAME)), known)]
    others = [e.argument(_COLLECTED) for e in kept if e.argument(_COLLECTED) not in unread]
    trained = trains(program)
    told = [] if trained else program.named(_SUMMARIES.fullmatch, "call", "unresolved")
    # (code that nothing calls may hand what it summarizes to somebody who trains)
    unread += [value for e in told if not e.detached for value in (*e.args, *e.kwargs.values())]
    if not unread:
        return frozenset()
    given = [value for e in trained for value in (*e.args, *e.kwargs.values())]
    fetched = [e.argument(FETCHES) for e in program.calls(RUN)]
    return frozenset(origins(program, *unread).keys() - origins(program, *given, *fetched, *others).keys())


def _is_unread(names: frozenset[str] | None, read: set[str] | None) -> bool:
    """Whether none of the collections that something is kept in is read, for all that is known."""
    return names is not None and read is not None and read.isdisjoint(names)


def _names(value: Value | None) -> frozenset[str] | None:
    """The names of the collections that a value may stand for; None where one is not known."""
    found = {_text(leaf) for _, leaf in alternatives(value)}
    return frozenset(name for name in found if name) if found and None not in found else None


def _text(value: Value) -> str | None:
    """The name of a collection; the keys of graphs are spelled like what they stand for."""
    if isinstance(value, Ref) and value.name.startswith(_KEYS):
        return value.name.removeprefix(_KEYS).lower()
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def _made(value: Value | None, makers: Makers) -> Iterator[Event | None]:
    """The call that made a value, in each way that leads there; None where something else did, such as `a * b`."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj):
            yield None if OPERANDS in leaf.attrs else leaf.event
        else:
            yield makers.get(id(leaf))


def _are_bits(value: Value | None, makers: Makers, depth: int) -> bool:
    """Whether all elements are zero or one: what a comparison gives (``x > 0.0``), as numbers."""
    leaves = [leaf for _, leaf in alternatives(value) if not isinstance(leaf, CondValue)]
    made = [one for leaf in leaves for one in _made(leaf, makers)]
    return value is not None and all(one is not None and _gives_bits(one, makers, depth) for one in made)


def _gives_bits(event: Event, makers: Makers, depth: int) -> bool:
    if _BOOLEAN.fullmatch(event.name) or (event.name == _FEEDS and _is_truth(event.argument(_TYPE))):
        return True
    kept = depth > 0 and bool(event.args) and _COUNTS.fullmatch(event.name) is not None
    return kept and _are_bits(event.args[0], makers, depth - 1)


def _is_truth(dtype: Value | None) -> bool:
    """Whether a type is that of true and false, which TensorFlow takes by its name, too."""
    return (dtype.value if isinstance(dtype, Const) else dtype.name if isinstance(dtype, Ref) else "") in _TRUTH


def _count(value: Value | None, makers: Makers, *, by_default: bool) -> int | None:
    """How many elements a tensor has at most; None where that is not known."""
    return _largest(_elements(one, makers, by_default, _DEPTH) for one in _made(value, makers))


def _elements(event: Event | None, makers: Makers, by_default: bool, depth: int) -> int | None:
    if event is None or not depth:
        return None
    if event.name == _FEEDS:
        return _product(event.argument(_SHAPE), by_default)
    inner = None
    if event.name == _PER_ITEM:
        inner = event.argument(_LABELS)
    elif event.args and _ELEMENTWISE.fullmatch(event.name):
        inner = event.args[0]
    return _largest(_elements(one, makers, by_default, depth - 1) for one in _made(inner, makers))


def _product(shape: Value | None, by_default: bool) -> int | None:
    """The product of the sizes of a shape."""
    if isinstance(shape, Seq):
        sizes = [_size(one, by_default) for one in shape.items] if shape.items is not None else [None]
    else:
        sizes = [_size(shape, by_default)]
    product = 1
    for one in sizes:
        if one is None:
            return None
        product *= one
    return product


def _size(value: Value | None, by_default: bool) -> int | None:
    """One size; where ``by_default``, that of a flag left alone, too."""
    return _largest(_number(leaf, by_default) for _, leaf in alternatives(value))


def _number(leaf: Value, by_default: bool) -> int | None:
    given = leaf.value if isinstance(leaf, Const) else None
    if by_default and isinstance(leaf, FlagValue):
        given = leaf.flag.default
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _largest(numbers: Iterable[int | None]) -> int | None:
    """The largest number; None where one of them is not known, or there is none."""
    known: list[int] = []
    for one in numbers:
        if one is None:
            return None
        known.append(one)
    return max(known, default=None)
