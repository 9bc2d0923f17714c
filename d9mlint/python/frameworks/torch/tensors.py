"""Which values are PyTorch's tensors, so that a method's name says which op it is.

Tensors are: results of ``torch`` functions (``rules/effects/torch-tensors.yaml``), what layers and arithmetic make of
tensors, parameters annotated so, and what ``forward`` of a module is given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import OPERANDS, UNKNOWN, Const, Func, Obj, Ref, Seq, Unknown, Value
from d9mlint.python.interpreter import expressions
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

TENSOR = "torch.Tensor"
"""The attribute of what arithmetic makes of tensors that holds those besides the first."""
IN_PLACE = frozenset(
    {
        *("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"),
        *("index_add_", "index_copy_", "index_put_", "scatter_", "scatter_add_", "scatter_reduce_"),
    }
)
"""Methods that only tensors have, whatever they are called on."""
GIVEN = "@given"
"""The attribute under which a parameter that is taken for a tensor keeps what it was given."""
NO_GRAD = "no-grad"
"""The context of code through which no gradient goes."""
MAX_SOURCES = 8
"""Calls that the result of arithmetic remembers having come from."""
EVALUATIONS = ("validation_step", "test_step", "predict_step")
"""Hooks that Lightning runs without gradients (lightning/pytorch/loops/evaluation_loop.py, prediction_loop.py)."""
LOADING = "loading"
"""The context of code that makes the items of a dataset, on the CPU and without gradients."""
_LOADERS = re.compile(r"(^|\.)(\w*Dataset|\w*Sampler|\w*DataLoader|\w*Transform|\w*Collator)$")
"""Bases of classes whose methods prepare data."""
_COLLATES = re.compile(r"(^|_)collate(_|$)")
NO_GRADIENTS = ("torch.no_grad", "torch.inference_mode")
PLAIN_ATTENTION = "plain-attention"
"""The context of code in which attention takes the kernel that does not vary."""
AUTOCAST = "autocast-"
"""How the context begins of code that autocast is on in; the type it computes in follows."""
AUTOCASTS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
CHOOSING_ATTENTION = ("torch.nn.attention.sdpa_kernel", "torch.backends.cuda.sdp_kernel")
_MADE = re.compile(
    r"torch\.(nn\.(parallel\.)?[A-Z]\w*|distributed\.(fsdp|nn)\.[A-Z]\w*|compile|"
    r"distributed\.tensor\.parallel\.parallelize_module)"
)
"""Calls that make a module, whatever numbers they are given: one of a rank or of the environment is a module too."""
_LAYER = re.compile(r"torch\.nn\.[A-Z]\w*\(\)\.__call__")
_SAME = re.compile(
    r"torch\.(nn\.[A-Z]\w*|compile)\(\)\."
    r"(cuda|to|cpu|train|eval|float|half|double|bfloat16|requires_grad_|apply|share_memory)"
)
"""Methods of a layer that hand it back."""
_PAIRS = re.compile(r"torch\.nn\.(RNN|LSTM|GRU|MultiheadAttention)\(\)")
"""Layers that return a tensor and something else."""
_OTHERS = re.compile(r"torch\.nn\.(LSTMCell|AdaptiveLogSoftmaxWithLoss|Module\w*|Parameter\w*)\(\)")
_TORCH, _NETWORKS = "torch.", "torch.nn."
_STATE, _KEPT = ".state_dict", "keep_vars"
"""The method that gives the weights of a network, and what leaves their gradients on (torch/nn/modules/module.py)."""


def is_tensor(value: Value) -> bool:
    """Whether a value surely is a tensor."""
    return isinstance(value, Obj) and value.type == TENSOR


def gives_state(event: Event) -> bool:
    """Whether a call gives the weights of a network without their gradients: ``net.state_dict()``."""
    return event.name.endswith(_STATE) and event.receiver is not None and _KEPT not in event.kwargs


def of_state(holder: Value) -> Value | None:
    """One of the weights in the state of a network that another package has made: ``state["embedding.weight"]``."""
    if not isinstance(holder, Obj) or holder.event is None or not gives_state(holder.event):
        return None
    return Obj(TENSOR, holder.event, holder.origins, "", holder.sources)


def of_layer(event: Event, origins: frozenset[str]) -> Value | None:
    """What making or calling a layer of ``torch.nn``, or one of its methods, returns, where that is known."""
    if not event.name.startswith(_TORCH):
        return None
    if gives_state(event) and event.name.startswith(_NETWORKS):
        return Obj(f"{event.name}()", event, origins, "", taint([event.receiver])[2])
    if _MADE.fullmatch(event.name):
        return Obj(f"{event.name}()", event, origins)
    if event.receiver is not None and _SAME.fullmatch(event.name):
        return event.receiver
    if not _LAYER.fullmatch(event.name) or _OTHERS.match(event.name):
        return None
    tensor = Obj(TENSOR, event, origins)
    return Seq("tuple", [tensor, UNKNOWN]) if _PAIRS.match(event.name) else tensor


def autocast(entered: Event) -> str:
    """The context of a ``with`` on autocast; empty where it is switched off or its type is not known."""
    enabled = entered.kwargs.get("enabled")
    if isinstance(enabled, Const) and not enabled.value:
        return ""
    given = entered.kwargs.get("dtype", entered.args[1] if len(entered.args) > 1 else None)
    if isinstance(given, Ref):
        return AUTOCAST + given.name.removeprefix("torch.")
    device = entered.args[0] if entered.args else entered.kwargs.get("device_type")
    on_cpu = ".cpu." in entered.name or (isinstance(device, Const) and device.value == "cpu")
    return "" if given is not None else AUTOCAST + ("bfloat16" if on_cpu else "float16")


def attention(chosen: Event) -> str:
    """The context of a ``with`` on kernels of attention, if only the plain one is left."""
    if chosen.name == CHOOSING_ATTENTION[0]:
        given = chosen.args[0] if chosen.args else chosen.kwargs.get("backends")
        kernels = given.items or [] if isinstance(given, Seq) else [given]
        plain = bool(kernels) and all(isinstance(k, Ref) and k.name.endswith(".MATH") for k in kernels)
    else:
        fused = [chosen.kwargs.get(name) for name in ("enable_flash", "enable_mem_efficient")]
        plain = all(isinstance(value, Const) and value.value is False for value in fused)
    return PLAIN_ATTENTION if plain else ""


def computed(operands: Sequence[Value]) -> Value | None:
    """What arithmetic on values makes, if one of them is a tensor."""
    first = next((v for v in operands if isinstance(v, Obj) and v.type == TENSOR), None)
    if first is None:
        return None
    origins, order, sources = taint(operands)
    made = Obj(TENSOR, first.event, origins, order, tuple(e for e in sources if e is not first.event)[-MAX_SOURCES:])
    before = first.attrs.get(OPERANDS)
    others = [*(before.items or () if isinstance(before, Seq) else ()), *(o for o in operands if _is_other(o, first))]
    if others:
        made.attrs[OPERANDS] = Seq("tuple", others[-MAX_SOURCES:])
    return made


def _is_other(operand: Value, first: Obj) -> bool:
    if operand is first or not isinstance(operand, Obj) or operand.type != TENSOR:
        return False
    return operand.event is not None or GIVEN in operand.attrs


def loads(func: Func) -> bool:
    """Whether a function prepares data for training."""
    if func.owner is None:
        return bool(_COLLATES.search(func.name))
    return any(map(_LOADERS.search, func.owner.external()))


def type_parameters(interp: Interpreter, func: Func, inner: Frame) -> None:
    """Makes parameters that nothing is known of tensors, where the program says so."""
    of_module = func.name == "forward" and func.owner is not None and _is_module(func.owner.external())
    for number, param in enumerate(func.node.params):
        value = inner.vars[param.name]
        if not isinstance(value, Unknown) or value.origins or value.order:
            continue
        given = of_module and number > 0 and param.kind == "pos" and param.default is None
        if given or (param.annotation is not None and _means_tensor(interp, param.annotation, func)):
            tensor = inner.vars[param.name] = Obj(TENSOR, None)
            tensor.attrs[GIVEN] = value


def _is_module(bases: Sequence[str]) -> bool:
    return any(base.endswith("nn.Module") for base in bases)


def _means_tensor(interp: Interpreter, annotation: f.Expr, func: Func) -> bool:
    named = annotation.name if isinstance(annotation, f.Attr) else getattr(annotation, "id", "")
    if not (named.endswith("Tensor") or func.decorators):
        return False  # (nearly all: no other name of it is in use)
    value = expressions.evaluate(interp, annotation, func.closure)
    return isinstance(value, Ref) and interp.knowledge.canonical(value.name) == TENSOR
