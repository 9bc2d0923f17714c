"""Where a program uses ops of the catalogue whose result or gradient can vary from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from d9mlint.model import Argument, Location, Op, OpStatus, Related, Rule
from d9mlint.python import facts as f
from d9mlint.python.calling import INFERENCE
from d9mlint.python.determinism import on_gpu, trains
from d9mlint.python.guards import All, AnyOf, Cond, FlagTest, Not, OpaqueTest, both
from d9mlint.python.program import Program, lower
from d9mlint.python.story import Event
from d9mlint.python.values import Class, Const, Func, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.wording import is_symbolic

_IN_PIPELINE = ("tfdata", "tfdata-parallel", "py_function", "generator")
"""tf.data runs its functions on the CPU, and no gradient goes through them."""
_ONLY_FORWARD = re.compile(
    r"(^|_)(eval|evaluate|evaluation|predict|prediction|predictions|infer|inference|postprocess|post|metric|metrics|"
    r"accuracy|visualize|summary|decode|parse|parser|preprocess|preprocessing|augment|augmentation|load|read|input|"
    r"dataset|label|labels|target|targets|assign|sample|anchors|export|serving)(_|$)"
)
"""Names of functions through which no gradient goes."""
_INFERS = re.compile(
    r"(mode|phase)\w* (==|is) ('(infer|inference|predict|prediction|eval|evaluate|evaluation|export|serving|test)'|"
    r"\S*\bModeKeys\.(PREDICT|EVAL|INFER))$|(^|\.)(do_)?(infer|predict|eval|evaluate|export)(_only)?$",
    re.IGNORECASE,
)
"""Conditions on the way to code that trains nothing, as they are written."""
_TRAINS = re.compile(
    r"(mode|phase)\w* (==|is) ('(train|training)'|\S*\bModeKeys\.TRAIN)$|(^|\.)_?(is_|in_)?(training|train)$",
    re.IGNORECASE,
)
"""Conditions that hold where something is trained."""
_ABOUT_DATA = re.compile(r"(^|_)(parse|parser|preprocess|preprocessing|augment|load|read|input|dataset|decode)(_|$)")
_DATA_DEPENDENT = re.compile(r"scatter|segment|confusion")
"""Ops that vary only for floating-point data with repeated indices, which a call does not show."""
_INDEXED = re.compile(r"gather|take")
"""Ops whose gradient matters only where the indexed data depend on weights."""
_LEARNED = re.compile(
    r"(layers\.\w+\(\)\.__call__|Model\.__call__|get_variable|add_weight|Variable|matmul|conv\dd|dense)\(\)$"
)
_RESHAPES = re.compile(r"\.(reshape|squeeze|expand_dims|transpose|identity|cast|concat|stack)\(\)$")
_PLACES = ("tensorflow.where", "tensorflow.compat.v1.where", "tensorflow.where_v2")
_RANGES = ("tensorflow.range", "numpy.arange", "builtins.range", "tensorflow.argsort", "numpy.argsort")
_SPARSE_INDICES = ("SparseTensor.indices", "SparseTensor().indices")
_RESHAPES_ONE = re.compile(r"\.(reshape|squeeze|expand_dims)\(\)$")
_INDICES = (
    (re.compile("tensor_scatter"), Argument(1, "indices")), (re.compile("scatter_nd"), Argument(0, "indices")),
    (re.compile("gather"), Argument(1, "indices")), (re.compile("embedding_lookup"), Argument(1, "ids")),
)  # fmt: skip
"""Where an op takes its indices; equal ones are added up, in the op or in its gradient."""
_CASTS = re.compile(r"\.(cast|to_int32|to_int64|identity)\(\)$")
_DATA_FILES = re.compile(r"preprocess|dataset|dataloader|data_loader|input_pipeline|augment|[^/]*_reader")


_MOST_SITES = 3


@dataclass(frozen=True, slots=True)
class Use:
    """A call that is (or makes) an op of the catalogue, its status in the target's version, and when that holds."""

    event: Event
    op: Op
    status: OpStatus
    cond: Cond
    sure: bool
    """The call itself shows that the op matters; else it depends on data types, indices or what is learned."""
    wrapper: str = ""
    """The function or class of the project around the call, where that is a name of the op itself."""

    def confidence(self, rule: Rule) -> str:
        """The confidence of a finding of ``rule`` about this use; in code that nothing calls it is worth little."""
        if self.event.detached:
            return "low"
        if self.sure:
            return rule.confidence
        return lower(lower(rule.confidence)) if _INDEXED.search(self.op.name) else lower(rule.confidence)

    @property
    def location(self) -> Location:
        """Where the program meets the op: the call, or that of the wrapper that stands for it."""
        return self.event.stack[-1] if self.wrapper else self.event.location

    @property
    def at(self) -> Event | Location:
        """What a finding about it is drafted at."""
        return self.location if self.wrapper else self.event

    @property
    def name(self) -> str:
        """The name under which the program meets it."""
        return self.wrapper or shown(self.event)

    @property
    def effect(self) -> str:
        """What varies."""
        return "gradient" if self.op.direction == "backward" else "result"


def uses(program: Program, *, common: bool | None = None) -> Iterator[Use]:
    """Uses of ops that this version knows as varying or raising, in order."""
    gpu = on_gpu(program)
    makers = {id(e.result): e for e in program.events if e.kind == "call" and e.result is not None}
    for event in program.events:
        if event.kind not in ("call", "unresolved"):
            continue
        for op in _met(program, event):
            if common is not None and op.common is not common:
                continue
            status = op.at(program.target)
            device = _device(program, event)
            if status is None or device not in op.devices or not _matters(program, event, op):
                continue
            if not op.sites and _meets_each_index_once(event, op, makers):
                continue
            cond = both(program.holds(event, op.when), gpu if device == "gpu" else True)
            if cond is not False and is_symbolic(cond):
                yield Use(event, op, status, cond, _sure(event, op, makers), _wrapper(event, op))


def _met(program: Program, event: Event) -> tuple[Op, ...]:
    """The ops that a call stands for."""
    known = program.ops.get(event.name.replace("().__call__", ".__call__"), ())
    own = _own_name(event)
    if not own:
        return known
    # What runs inside of `Function.apply` is not seen to be called; the call of `apply` is told instead. A module that
    # the program imports may hold more of them than it applies.
    mine = program.ops.get(own, ())
    inside = event.detached and _in_function(event)
    return (*known, *(op for op in mine if not (inside and _told_at_apply(program, op))))


def _own_name(event: Event) -> str:
    """The dotted name of a call that leaves the program through one of its own packages or classes.

    ``_C.f`` after ``from package import _C`` (a compiled module is no file of the program), ``MyFunction.apply``.
    """
    receiver, last = event.receiver, event.name.rpartition(".")[2]
    if event.kind == "unresolved":  # `f` after `from .compiled import f`: a name that begins with a dot
        return event.name.lstrip(".") if event.name.startswith(".") else ""
    if isinstance(receiver, Unknown) and receiver.name and event.name.startswith("?."):
        return f"{receiver.name.lstrip('.')}.{last}"
    if isinstance(receiver, Class):
        return f"{receiver.frame.module.name}.{receiver.node.name}.{last}"
    return ""


def _wrapper(event: Event, op: Op) -> str:
    """The function or class, called from another file, that the call stands in, if it is one of the op's names.

    So the finding stands where it would if the package were installed instead of being a part of the project.
    """
    func = event.func
    if not op.sites or func is None or event.detached or not event.stack or event.stack[-1].path == event.location.path:
        return ""
    node = func.owner.node if func.owner is not None else func.node
    name = f"{func.closure.module.name}.{node.name}" if isinstance(node, (f.Def, f.Class)) else ""
    return name if name in op.calls else ""


def _in_function(event: Event) -> bool:
    """Whether this happens in a method of an autograd Function, which only ``apply`` runs."""
    owner = event.func.owner if event.func is not None else None
    return owner is not None and any(base.endswith(".Function") for base in owner.external())


def _told_at_apply(program: Program, op: Op) -> bool:
    names = [name for name in op.calls if name.endswith(".apply")]
    if not names or not program.story.local:
        return bool(names)
    return any(e.kind == "call" and _own_name(e) in names for e in program.events)


def _device(program: Program, event: Event) -> str:
    return "cpu" if event.inside("cpu", *_IN_PIPELINE) else program.target.device


def _matters(program: Program, event: Event, op: Op) -> bool:
    name = event.func.name.lower() if isinstance(event.func, Func) else ""
    if event.detached and (_ABOUT_DATA.search(name) or _DATA_FILES.search(event.location.path.rpartition("/")[2])):
        return False
    if op.direction != "backward":
        return True
    if op.sites:  # the user's own: other frameworks train by calling `backward`
        return bool(trains(program)) or any(e.name.endswith(".backward") for e in program.events)
    if not trains(program) or event.inside(*_IN_PIPELINE) or _ONLY_FORWARD.search(name):
        return False
    if _DATA_FILES.search(event.location.path.rpartition("/")[2]):  # no gradient goes back into the input pipeline
        return False
    return not _only_infers(program, event)


def _only_infers(program: Program, event: Event) -> bool:
    """Whether what happens there is part of an evaluation, a prediction or an export, by guards or names on the way."""
    if any(_inferring(part) for guard in event.guards for part in (guard.of if isinstance(guard, All) else (guard,))):
        return True
    return event.inside(INFERENCE) and not program.once("trains-in-inference", _trains_in_inference)


def _trains_in_inference(program: Program) -> bool:
    """Whether a function that is named after evaluation trains all the same, as a search for parameters does."""
    return any(e.inside(INFERENCE) for e in program.trains)


def _inferring(cond: Cond) -> bool:
    """Whether a condition holds only where nothing is trained: ``mode == "infer"``, not ``mode == "train"``."""
    if isinstance(cond, AnyOf):
        return all(_inferring(part) for part in cond.of)
    if isinstance(cond, All):
        return any(_inferring(part) for part in cond.of)
    positive = not isinstance(cond, Not)
    atom = cond if positive else cond.of  # type: ignore[union-attr]
    if isinstance(atom, FlagTest):
        if atom.op == "==" and isinstance(atom.value, str):
            text = f"{atom.flag.name} == {atom.value!r}"
        else:
            text = atom.flag.name if atom.op == "truthy" else ""
    else:
        text = atom.text if isinstance(atom, OpaqueTest) else ""
    return bool((_INFERS if positive else _TRAINS).search(text))


def _sure(event: Event, op: Op, makers: Mapping[int, Event]) -> bool:
    if op.sites:  # the kernels were judged, types and all
        return True
    if _INDEXED.search(op.name):
        return _learned(event.args[0] if event.args else event.kwargs.get("params"), makers)
    return not _DATA_DEPENDENT.search(op.name)


def _learned(value: Value | None, makers: Mapping[int, Event], depth: int = 4) -> bool:
    """Whether a value surely is a weight or was computed by a layer, so that a gradient goes through it."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
        if made is None:
            continue
        if _LEARNED.search(f"{made.name}()"):
            return True
        if depth and made.args and _RESHAPES.search(f"{made.name}()") and _learned(made.args[0], makers, depth - 1):
            return True
    return False


def _meets_each_index_once(event: Event, op: Op, makers: Mapping[int, Event]) -> bool:
    """Whether the indices surely do not repeat, so that nothing is added up."""
    for words, wanted in _INDICES:
        if words.search(op.name):
            value = event.argument(wanted)
            if "update" in op.name and isinstance(value, Ref) and value.name.endswith(".indices"):
                return True  # of a SparseTensor; those of IndexedSlices are for adding up
            return value is not None and _unique(value, makers)
    return False


def _unique(indices: Value, makers: Mapping[int, Event], depth: int = 4) -> bool:
    """Whether indices surely do not repeat: a range, different numbers, or the places where a mask holds."""
    if isinstance(indices, Seq) and indices.items is not None:
        known = [item.value for item in indices.items if isinstance(item, Const)]
        return len(known) == len(indices.items) and len(set(map(repr, known))) == len(known)
    if isinstance(indices, Ref) and indices.name.endswith(_SPARSE_INDICES):
        return True
    made = indices.event if isinstance(indices, Obj) else makers.get(id(indices))
    if made is None:
        return False
    if made.name in _PLACES:
        return len(made.args) + len(made.kwargs.keys() - {"name"}) == 1
    if made.name in _RANGES:
        return True
    shaped = _CASTS.search(f"{made.name}()") or _RESHAPES_ONE.search(f"{made.name}()")
    return bool(depth and made.args and shaped and _unique(made.args[0], makers, depth - 1))


def related(use: Use) -> list[Related]:
    """The user's own kernels that make an op vary, and from where another file calls it."""
    found = []
    for site in use.op.sites[:_MOST_SITES]:
        path, _, line = site.rpartition(":")
        found.append(Related(Location(path, int(line), 1, int(line), 1), f"the kernel of `{use.op.name}` varies here"))
    if not found:
        return []
    caller = next((place for place in reversed(use.event.stack) if place.path != use.location.path), None)
    if use.wrapper:
        found.append(Related(use.event.location, f"`{use.wrapper}` calls `{shown(use.event)}` here"))
    elif caller is not None:
        found.append(Related(caller, "called from here"))
    return found


def shown(event: Event) -> str:
    """The called name as people write it: ``tf.nn.conv2d``, ``Conv2D`` for what Keras makes."""
    name = _own_name(event) or event.raw.replace("().__call__", "")
    if re.match(r"(tensorflow\.)?(tf_)?keras\.(layers|losses|applications|metrics)\.", name):
        return name.rpartition(".")[2]
    head, _, rest = name.partition(".")
    return f"tf.{rest}" if head == "tensorflow" and rest else name
