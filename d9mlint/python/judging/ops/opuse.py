"""Where a program uses ops of the catalogue whose result or gradient can vary from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Location, Op, OpStatus, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, negate, stated
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Unknown, alternatives
from d9mlint.python.frameworks.registry import OP_USES, judged_as
from d9mlint.python.frameworks.torch.modules.functions import APPLY
from d9mlint.python.frameworks.used import frameworks_of, keras_backend
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import results
from d9mlint.python.judging.counting import only_counted
from d9mlint.python.judging.drafts import lower
from d9mlint.python.judging.ops.gradients import IN_PIPELINE, doubtful, gets_gradients, matters
from d9mlint.python.source import facts as f

_MOST_SITES = 3
_SETS, _TENSOR = ".__setitem__", "torch.Tensor."


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
    taken: Cond = True
    """When the framework takes the kernel that varies, and the weights of the layer are trained that it makes."""

    @property
    def runs(self) -> Cond:
        """When it happens, and computes gradients where those are what varies."""
        return both(*self.event.guards, self.taken)

    def confidence(self, rule: Rule) -> str:
        """The confidence of a finding of ``rule`` about this use; in code that nothing calls it is worth little."""
        if self.event.detached:
            return "low"
        if self.sure:
            return rule.confidence
        if OP_USES[judged_as(self.op)].shows_nothing:
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
    gpus = {name: known.on_gpu(program) for name, known in OP_USES.items()}
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
            known = OP_USES[judged_as(op)]
            if not op.sites and known.harmless(program, event, op, makers):
                continue
            if event.deferred and only_counted(program, event):
                continue  # of a network that is made, and never run
            gpu = gpus["tensorflow" if op.sites else judged_as(op)]
            elsewhere = known.elsewhere(program, event, op, makers) if device == "gpu" else False
            if elsewhere is not False:
                gpu = both(gpu, negate(elsewhere))
                if both(*event.guards, gpu) is False:
                    continue
            taken = both(known.chosen(program, op), gets_gradients(program, event, op))
            cond = both(program.holds(event, op.when), gpu if device == "gpu" else True, taken)
            cond = both(cond, stated(op.where)) if op.where else cond
            if cond is not False and is_symbolic(cond):
                own = bool(op.sites)  # their kernels were judged, types and all
                likely = own or (known.likely(event, op, makers) and not doubtful(program, event, op))
                sure = own or (likely and known.sure(event, op, makers))
                status = known.status(event, op, status, makers)
                yield Use(event, op, status, cond, sure, likely, _wrapper(event, op), taken)


def _met(program: Program, event: Event) -> tuple[Op, ...]:
    """The ops that a call stands for."""
    name = event.name.replace("().__call__", ".__call__")
    known = program.knowledge.ops.get(name) or program.knowledge.ops.get(f"{name.rpartition('.')[0]}.*", ())
    if known and event.name.startswith("?."):  # names that only tensors have, on a value that is not known
        known = tuple(op for op in known if op.framework in frameworks_of(program))
    if event.name == APPLY and not event.detached:
        known = (*known, *_applied(program, event))
    own = _own_name(event)
    if not own:
        return () if known and _is_compiled(event.name) and _in_function(event) else known
    # What runs inside of `Function.apply` is told at the call of `apply`. A module that the program imports may hold
    # more of them than it applies.
    mine = program.knowledge.ops.get(own, ())
    inside = _in_function(event)
    return (*known, *(op for op in mine if not (inside and _told_at_apply(program, op))))


def _applied(program: Program, event: Event) -> Iterator[Op]:
    """The ops that an autograd Function of the program has from packages and compiled modules, told at ``apply``."""
    inside = program.once("ops-in-functions", _in_functions)
    found = (op for _, leaf in alternatives(event.receiver) for op in inside.get(id(leaf), ()))
    yield from {op.name: op for op in found}.values()


def _in_functions(program: Program) -> dict[int, list[Op]]:
    """What methods of each autograd Function call of other packages than PyTorch, by the ``id`` of its class."""
    found: dict[int, list[Op]] = {}
    for event in program.events:
        owner = event.func.owner if event.func is not None else None
        if owner is not None and event.kind == "call" and _is_compiled(event.name) and _in_function(event):
            # What the gradient of a function computes is not differentiated itself.
            of_gradient = event.func is not None and event.func.name == "backward"
            named = (op for op in program.knowledge.ops.get(event.name, ()) if not op.when)
            known = (op for op in named if not (of_gradient and op.direction == "backward"))
            found.setdefault(id(owner), []).extend(known)
    return found


def _is_compiled(name: str) -> bool:
    """Whether a name is one of another package than PyTorch, as those of compiled modules are."""
    return name.partition(".")[0] not in ("torch", "?", "")


def _of_backend(program: Program, event: Event, op: Op) -> bool:
    """Whether a layer of Keras computes with the framework that the op is one of."""
    if not event.name.startswith("keras."):
        return True
    return judged_as(op) == keras_backend(program)


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
    return "cpu" if event.on_cpu() or event.inside(*IN_PIPELINE) else program.target.device


def related(use: Use) -> list[Related]:
    """The user's own kernels that make an op vary, and from where another file calls it, or what only wraps it."""
    found = []
    for site in use.op.sites[:_MOST_SITES]:
        path, _, line = site.rpartition(":")
        found.append(Related(Location(path, int(line), 1, int(line), 1), f"the kernel of `{use.op.name}` varies here"))
    if not found and not _wraps(use.event):
        return []
    caller = next((place for place in reversed(use.event.stack) if place.path != use.location.path), None)
    if use.wrapper:
        found.append(Related(use.event.location, f"`{use.wrapper}` calls `{shown(use.event)}` here"))
    elif caller is not None:
        found.append(Related(caller, "called from here"))
    return found


def _wraps(event: Event) -> bool:
    """Whether a call stands in a function of its own name: ``def interpolate(...): return F.interpolate(...)``."""
    return event.func is not None and event.func.name == event.name.rpartition(".")[2]


def shown(event: Event) -> str:
    """The called name as people write it: ``tf.nn.conv2d``, ``Conv2D`` for what Keras makes."""
    if event.name.endswith(_SETS):
        return "tensor[index] = values"
    name = _own_name(event) or event.raw.replace("().__call__", "").removesuffix(".__init__")
    if name.startswith(_TENSOR) and not event.name.startswith(_TENSOR):  # a method that no tensor has
        name = event.name
    if re.match(r"(tensorflow\.)?(tf_)?keras\.(layers|losses|applications|metrics)\.", name):
        return name.rpartition(".")[2]
    head, _, rest = name.partition(".")
    if head == "?":  # only tensors have methods of these names
        return f"Tensor.{rest}"
    return f"tf.{rest}" if head == "tensorflow" and rest else name
