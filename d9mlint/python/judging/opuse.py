"""Where a program uses ops of the catalogue whose result or gradient can vary from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Location, Op, OpStatus, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Unknown
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.jax import ops as jaxops
from d9mlint.python.frameworks.tensorflow.determinism import on_gpu
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch import ops as torchops
from d9mlint.python.frameworks.used import frameworks_of, keras_backend
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, results
from d9mlint.python.judging.drafts import lower
from d9mlint.python.judging.gradients import IN_PIPELINE, learned, matters
from d9mlint.python.judging.indices import meets_each_index_once, unique
from d9mlint.python.source import facts as f

_DATA_DEPENDENT = re.compile(r"scatter|segment|confusion")
"""Ops that vary only for floating-point data with repeated indices, which a call does not show."""
_INDEXED = re.compile(r"gather|take")
"""Ops whose gradient matters only where the indexed data depend on weights."""

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
    likely: bool = True
    """Where the call does not show it: whether most uses of this kind matter."""
    wrapper: str = ""
    """The function or class of the project around the call, where that is a name of the op itself."""

    def confidence(self, rule: Rule) -> str:
        """The confidence of a finding of ``rule`` about this use; in code that nothing calls it is worth little."""
        if self.event.detached:
            return "low"
        if self.sure:
            return rule.confidence
        if self.op.framework == "jax":  # an index that is not known may be one number
            return "low"
        return lower(rule.confidence) if self.likely else lower(lower(rule.confidence))

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


def uses(program: Program) -> tuple[Use, ...]:
    """Uses of ops that this version knows as varying or raising, in order."""
    return program.once("uses-of-ops", lambda one: tuple(_uses(one)))


def _uses(program: Program) -> Iterator[Use]:
    gpus = {"jax": jaxmode.on_gpu(program)}
    if "torch" in frameworks_of(program):
        gpus["torch"] = torchgpu.on_gpu(program)
    gpu = on_gpu(program)
    makers = results(program)
    for event in program.events:
        if event.kind not in ("call", "unresolved"):
            continue
        for op in _met(program, event):
            if not _of_backend(program, event, op):
                continue
            status = op.at(program.target)
            device = _device(program, event)
            if status is None or device not in op.devices or not matters(program, event, op):
                continue
            if not op.sites and (_harmless(event, op, makers) or torchgpu.left_behind(program, event)):
                continue
            if op.framework == "torch":
                status = torchops.met(event, op, status, makers)
            its_gpu = gpu if op.sites else gpus.get(op.framework, gpu)
            cond = both(program.holds(event, op.when), its_gpu if device == "gpu" else True)
            if op.framework == "torch" and torchops.chosen_by_torch(op):
                cond = both(cond, negate(torchmode.plain_attention(program)))
            if cond is not False and is_symbolic(cond):
                likely = _likely(event, op, makers)
                yield Use(event, op, status, cond, likely and _sure(event, op, makers), likely, _wrapper(event, op))


def _met(program: Program, event: Event) -> tuple[Op, ...]:
    """The ops that a call stands for."""
    name = event.name.replace("().__call__", ".__call__")
    known = program.knowledge.ops.get(name) or program.knowledge.ops.get(f"{name.rpartition('.')[0]}.*", ())
    if known and event.name.startswith("?."):  # names that only tensors have, on a value that is not known
        known = tuple(op for op in known if op.framework in frameworks_of(program))
    own = _own_name(event)
    if not own:
        return known
    # What runs inside of `Function.apply` is not seen to be called; the call of `apply` is told instead. A module that
    # the program imports may hold more of them than it applies.
    mine = program.knowledge.ops.get(own, ())
    inside = event.detached and _in_function(event)
    return (*known, *(op for op in mine if not (inside and _told_at_apply(program, op))))


def _of_backend(program: Program, event: Event, op: Op) -> bool:
    """Whether a layer of Keras computes with the framework that the op is one of."""
    if not event.name.startswith("keras."):
        return True
    return (op.framework if op.framework in ("jax", "torch") else "tensorflow") == keras_backend(program)


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
    return "cpu" if event.inside("cpu", *IN_PIPELINE) else program.target.device


def _harmless(event: Event, op: Op, makers: Makers) -> bool:
    if op.framework == "torch":
        return torchops.harmless(event, op, makers)
    if op.framework == "jax":
        return jaxops.exact(event, lambda value: unique(value, makers))
    return meets_each_index_once(event, op, makers)


def _likely(event: Event, op: Op, makers: Makers) -> bool:
    if op.sites:
        return True
    if op.framework == "torch":
        return torchops.likely(event, op, makers)
    return not _INDEXED.search(op.name) or _sure(event, op, makers)


def _sure(event: Event, op: Op, makers: Makers) -> bool:
    if op.sites:  # the kernels were judged, types and all
        return True
    if op.framework == "torch":
        return torchops.sure(op)
    if op.framework == "jax":
        return jaxops.sure(event)
    if _INDEXED.search(op.name):
        return learned(event.args[0] if event.args else event.kwargs.get("params"), makers)
    return not _DATA_DEPENDENT.search(op.name)


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
    if head == "?":  # only tensors have methods of these names
        return f"Tensor.{rest}"
    return f"tf.{rest}" if head == "tensorflow" and rest else name
