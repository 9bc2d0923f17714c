"""When a use of a PyTorch op cannot vary after all, and how sure a call makes it that it does."""

from __future__ import annotations

import re

from d9mlint.model import Argument, Op, OpStatus
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, Const, FlagValue, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.torch.ops import images, messages, places
from d9mlint.python.frameworks.torch.tensors import LOADING, PLAIN_ATTENTION, TENSOR
from d9mlint.python.interpreter.provenance import Makers, calls_of
from d9mlint.python.interpreter.provenance import made_of as _made

_TO_CPU = ("cpu", "numpy", "tolist", "from_numpy")
_INTEGERS = re.compile(
    r"long|int|bool|byte|short|char|ne|eq|gt|lt|ge|le|arg(max|min|sort)|nonzero|bincount|logical_(not|and|or)"
)
"""Last names of calls that make integers or truth values, whose sums are exact."""
_INTEGER_TYPES = re.compile(r"torch\.(u?int\d*|long|short|bool)")
_DISTINCT = re.compile(r"arange|randperm|nonzero|unique|topk|where|arg(max|min|sort)")
"""Last names of calls whose result has no index twice."""
_ROWS = re.compile(r"arange|randperm")
"""Last names of calls whose result has no number twice, whatever it is made of."""
_EMBEDDING = "torch.nn.functional.embedding"
_TOLD = (Const, FlagValue)
_MANY_ROWS = 1024
"""Rows from which on the kernel with atomics is not taken, whatever the GPU: four to a multiprocessor are too many."""
COMPILED = "torch.nn.functional.embedding under torch.compile"
"""Where Inductor makes the kernel of the gradient (`embedding_dense_backward` of its decompositions)."""
OF_TRANSFORMERS = "attention of transformers"
"""What its models call scaled_dot_product_attention for, from 4.36 on."""
_CTC = "torch.nn.functional.ctc_loss"
_FLOATS = frozenset(
    {
        "exp", "log", "sqrt", "softmax", "log_softmax", "sigmoid", "tanh", "rand", "randn", "rand_like", "randn_like",
        "float", "half", "bfloat16", "normal", "linspace",
    }
)  # fmt: skip
"""Last names of calls whose result holds floats."""
_ONES = frozenset({"ones", "ones_like", "new_ones"})
_OF_NUMBERS = ("torch.tensor", "torch.arange", "torch.linspace")
_DEFAULTS = ("torch.set_default_device", "torch.set_default_tensor_type")
_KEEPS = frozenset(
    {"to", "cuda", "view", "reshape", "contiguous", "clone", "squeeze", "unsqueeze", "flatten", "detach", "float"}
)
_INDEX_OF = re.compile(r"index_add|index_select|index_copy|scatter|gather")
_SUMS = re.compile(r"cumsum")
_COUNTS = re.compile(r"cumsum|bincount with")
_ADDS = re.compile(r"index_add|scatter_add|scatter_reduce|torch_scatter\.scatter$")
_REFLECTS = re.compile(r"functional\.pad with mode=reflect")
_OF_ONE_AXIS, _OF_TWO_AXES = 2, 4
"""How many sides are padded: those of one axis, or of the two axes of images."""
_BY_HAND = "Pad with zeros or by hand: `torch.cat` with flipped slices."
"""What to do about reflections along one axis or three, for which no release has a deterministic kernel."""
_CHOSEN = re.compile(r"scaled_dot_product|attention of transformers$|torch\.nn\.(Transformer|MultiheadAttention)\b")
_POOLS = re.compile(r"adaptive_(avg|max)_pool\dd$")
_MEANS = re.compile(r"adaptive_avg_pool\dd$")
_OTHER = "a size that is not known"
_UNLIKELY = re.compile(r"index_copy|accumulate=False|scatter_ with a tensor|median|kthvalue|gather|take")
"""Ops that vary only where indices or values repeat, which most programs see to."""
_VIEWS_OF_ROWS = frozenset({"expand", "expand_as"})
"""What shows the same rows again for each of several that look them up, as neighbours in a cloud of points do."""
_READS = re.compile(r"index_select|repeat_interleave")
_WINDOWS = "torch.as_strided"
"""A view that may have an element in several places; diagonals, which it is used for as well, have each in one."""
_IMAGES = re.compile(r"torch\.nn\.functional\.(interpolate|upsample\w*|grid_sample|pad|\w+_pool\dd)$")
"""Functions that are used on data as well as in networks."""
_LAYERS = re.compile(r"torch\.nn\.(?!init|functional\.(pad|one_hot|interpolate|upsample))")


def harmless(event: Event, op: Op, makers: Makers) -> bool:
    """Whether this use surely does not vary: on the CPU, integers, indices that do not repeat, a plain mean."""
    if event.inside(LOADING) or _only_on_cpu(event, makers):
        return True
    if chosen_by_torch(op) and event.inside(PLAIN_ATTENTION):
        return True
    receiver = event.receiver if _is_method(event) else None
    operands = [v for v in (receiver, *event.args, *event.kwargs.values()) if v is not None]
    made = event.name.rpartition(".")[2][:1].isupper()  # what a layer is made with moves to the GPU with it
    if not made and any(_last(v, makers) in _TO_CPU for v in operands):
        return True
    if event.name == "?.gather" and len(event.args) + len(event.kwargs) < 2:
        return True  # gathering from several processes
    if event.name == "?.gather" and event.kwargs.keys() & {"root", "dst", "group"}:
        return True
    if _MEANS.search(op.name):
        return _sizes(event) == {1}
    if _COUNTS.search(op.name) and (_of_integers(event, receiver, makers) or _of_numbers(event, makers)):
        return True
    if op.name == images.LOSS:
        return not images.sums_pixels(event, makers)
    if op.name == messages.OP:
        return not messages.from_nodes(event)
    if op.name == places.PUT:
        return places.each_place_once(event, makers)
    if op.name in (_EMBEDDING, COMPILED):
        return _each_row_once(event, makers) or (op.name == _EMBEDDING and _rows(event) >= _MANY_ROWS)
    if _ADDS.search(op.name) and _last(_source(event), makers) in _ONES:
        return True
    return bool(_INDEX_OF.search(op.name)) and (_distinct(_index(event), makers) or _one_a_row(event, makers))


def _only_on_cpu(made: Event, makers: Makers) -> bool:
    """Whether a layer or loss gets what it computes from on the CPU, wherever it is called as far as is seen."""
    calls = list(calls_of(made, makers))
    return bool(calls) and all(any(_last(v, makers) in _TO_CPU for v in e.args) for e in calls)


def met(event: Event, op: Op, status: OpStatus, makers: Makers) -> OpStatus:
    """The status at this use, which may be exact though the switch makes the op raise all the same.

    A reflection along one axis sums up two values at most, a CTC loss one value for each label that occurs once, and
    windows along axes that are pooled to one value, or not at all, do not overlap. A reflection along two axes alone
    has a deterministic kernel, from PyTorch 2.7 on.
    """
    if _POOLS.search(op.name) and _sizes(event) <= {1, None}:
        return status._replace(default="same")
    if op.name == _CTC and _each_label_once(event, makers):
        return status._replace(default="same")
    pads = event.argument(Argument(1, "pad")) if _REFLECTS.search(op.name) else None
    sides = len(pads.items) if isinstance(pads, Seq) and pads.items is not None else _OF_TWO_AXES
    if sides != _OF_TWO_AXES and status.deterministic_mode != "varies":
        status = status._replace(deterministic_mode="raises", remedy=_BY_HAND)
    return status._replace(default="same") if sides == _OF_ONE_AXIS else status


def chosen_by_torch(op: Op) -> bool:
    """Whether only some of the kernels vary that PyTorch chooses from by type, shape and device."""
    return bool(_CHOSEN.search(op.name))


FUSED = "where PyTorch computes attention over long sequences by a fused kernel"
"""When such ops vary, in words."""


def of_unknown_table(event: Event, op: Op) -> bool:
    """Whether an embedding has a table of which nobody knows how many rows it has: mostly thousands."""
    return op.name == _EMBEDDING and not _rows(event)


def _rows(event: Event) -> int:
    """How many rows the table of an embedding has, of several the smallest; 0 where that is not known."""
    value = event.argument(Argument(0, "num_embeddings")) if event.name.endswith(".Embedding") else None
    leaves = [leaf for _, leaf in alternatives(value)]
    given = [one.value if isinstance(one, Const) else one.flag.default for one in leaves if isinstance(one, _TOLD)]
    numbers = [one for one in given if isinstance(one, int)]
    return min(numbers) if 0 < len(numbers) == len(leaves) else 0


def _each_row_once(event: Event, makers: Makers) -> bool:
    """Whether an embedding is given a range of rows wherever it is called, so that no gradients are added up."""
    calls = [event] if event.name.islower() else list(calls_of(event, makers))
    return bool(calls) and all(_distinct(e.argument(Argument(0, "input")), makers, rows=_ROWS) for e in calls)


def _each_label_once(event: Event, makers: Makers) -> bool:
    """Whether the targets of a CTC loss are a range in each row, so that every label gets one gradient."""
    calls = [event] if event.name.islower() else list(calls_of(event, makers))
    return bool(calls) and all(
        _distinct(_row(e.argument(Argument(1, "targets")), makers), makers, rows=_ROWS) for e in calls
    )


def _row(value: Value | None, makers: Makers) -> Value | None:
    """What ``x.repeat(n, 1)`` and ``x.expand(n, -1)`` repeat as whole rows; else the value itself."""
    for made in _made(value, makers):
        kept = made.args[-1] if made.name.endswith((".repeat", ".expand")) and len(made.args) > 1 else None
        if isinstance(kept, Const) and kept.value in (1, -1):
            return made.receiver
    return value


def sure(op: Op) -> bool:
    """Whether the call itself shows that the op varies, whatever the types of the data and their indices."""
    return op.name not in (_EMBEDDING, _WINDOWS) and not (
        _UNLIKELY.search(op.name) or _READS.search(op.name) or _SUMS.search(op.name) or "scatter" in op.name
    )


def likely(event: Event, op: Op, makers: Makers) -> bool:
    """Whether most uses of this kind do vary: a gradient goes through them, values are floats, indices repeat."""
    if op.name == places.PUT:
        return places.may_repeat(event, makers)
    if op.name == _WINDOWS:
        return _in_module(event) or given_by_layer(event, makers)
    if _UNLIKELY.search(op.name):
        return op.name == "torch.gather" and _last(_read(event), makers) in _VIEWS_OF_ROWS
    if _SUMS.search(op.name) and _has_rows(event, makers):
        return False
    if _SUMS.search(op.name) and _floats_on_gpu(_read(event), makers):
        return True
    if _READS.search(op.name) or _SUMS.search(op.name) or (_IMAGES.search(event.name) and not _in_module(event)):
        return given_by_layer(event, makers)
    return True


def of_data(event: Event, makers: Makers) -> bool:
    """Whether a function for images is given some, outside of networks, that no gradient is seen to go back to."""
    return bool(_IMAGES.search(event.name)) and not _in_module(event) and not given_by_layer(event, makers)


def given_by_layer(event: Event, makers: Makers) -> bool:
    """Whether the tensor that a function or method reads surely was computed by a layer, or is a weight."""
    return _learned(_read(event), makers)


def _has_rows(event: Event, makers: Makers) -> bool:
    """Whether a tensor is seen to have several axes, so that each row of it is summed by one block.

    By the axis, or as it is divided by the sums of its rows: ``pdf = w / w.sum(-1, keepdim=True)``
    (aten/src/ATen/native/cuda/ScanUtils.cuh: only a tensor of one axis is scanned by several blocks).
    """
    axis = _argument(event, 0, "dim")
    if isinstance(axis, Const) and isinstance(axis.value, int) and axis.value not in (0, -1):
        return True
    read = _read(event)
    others = read.attrs.get(OPERANDS) if isinstance(read, Obj) else None
    return isinstance(others, Seq) and any(_keeps_axes(one, makers) for one in others.items or ())


def _keeps_axes(value: Value, makers: Makers) -> bool:
    """Whether a call made a value that reduces one axis of several, and keeps it."""
    given = (made.kwargs.get("keepdim", made.kwargs.get("keepdims")) for made in _made(value, makers))
    return any(isinstance(one, Const) and bool(one.value) for one in given)


def _floats_on_gpu(value: Value | None, makers: Makers, depth: int = 6) -> bool:
    """Whether the calls that made a tensor show that it holds floats and lies on a GPU."""
    floats = gpu = False
    for _ in range(depth):
        made = next(_made(value, makers), None)
        if made is None:
            break
        last = made.name.rpartition(".")[2]
        floats = floats or last in _FLOATS
        devices = [made.kwargs.get("device"), *(made.args[:1] if last == "to" else ())]
        gpu = gpu or last == "cuda" or any(isinstance(d, Const) and str(d.value).startswith("cuda") for d in devices)
        value = made.receiver if _is_method(made) else (made.args[0] if made.args else None)
    return floats and gpu


def _in_module(event: Event) -> bool:
    """Whether a call stands in a method of a module, or in what one calls."""
    owners = [func.owner for func in (event.func, *event.callers) if func is not None and func.owner is not None]
    return any(base.endswith("Module") for owner in owners for base in owner.external())


def _is_method(event: Event) -> bool:
    return event.name.startswith((f"{TENSOR}.", "?."))


def _argument(event: Event, position: int, keyword: str) -> Value | None:
    """An argument at its place in the method, which is one later in the function of the same name."""
    return event.argument(Argument(position + (0 if _is_method(event) else 1), keyword))


def _index(event: Event) -> Value | None:
    return _argument(event, 1, "index")


def _source(event: Event) -> Value | None:
    if event.name.startswith("torch_scatter."):  # functions, whose first argument is what is added up
        return event.argument(Argument(0, "src"))
    return event.kwargs.get("source") or _argument(event, 2, "src")


def _read(event: Event) -> Value | None:
    """The tensor whose elements are read."""
    return event.receiver if _is_method(event) else event.argument(Argument(0, "input"))


def _last(value: Value | None, makers: Makers) -> str:
    """The last name of the call that made a value; empty where that is not known."""
    return next((made.name.rpartition(".")[2] for made in _made(value, makers)), "")


def _of_integers(event: Event, receiver: Value | None, makers: Makers) -> bool:
    """Whether all that is summed up are integers."""
    wanted = event.kwargs.get("dtype")
    if isinstance(wanted, Ref):
        return bool(_INTEGER_TYPES.fullmatch(wanted.name))
    summed = event.argument(Argument(0, "weights")) if receiver is not None else None
    value = receiver if receiver is not None else event.argument(Argument(0, "input"))
    value = summed if summed is not None and event.name.endswith("bincount") else value
    for made in _made(value, makers):
        typed = made.kwargs.get("dtype") or (
            made.args[0] if made.args and made.name.endswith((".to", ".type")) else None
        )
        if isinstance(typed, Ref) and _INTEGER_TYPES.fullmatch(typed.name):
            return True
    return _INTEGERS.fullmatch(_last(value, makers)) is not None


def _of_numbers(event: Event, makers: Makers) -> bool:
    """Whether what is summed up was just made of numbers of Python, on the CPU as long as no device is the default."""
    made = list(_made(_read(event), makers))
    here = bool(made) and all(e.name in _OF_NUMBERS and "device" not in e.kwargs for e in made)
    return here and not any(e.name in _DEFAULTS for e in makers.values())


def _distinct(index: Value | None, makers: Makers, depth: int = 4, rows: re.Pattern[str] = _DISTINCT) -> bool:
    """Whether indices surely do not repeat where they are added up."""
    for made in _made(index, makers):
        last = made.name.rpartition(".")[2]
        if rows.fullmatch(last):
            return True
        inner = made.receiver if _is_method(made) else (made.args[0] if made.args else None)
        if depth and last in _KEEPS and _distinct(inner, makers, depth - 1, rows):
            return True
    return False


def _one_a_row(event: Event, makers: Makers) -> bool:
    """Whether each row has one index along the axis in question: ``x.scatter_add_(1, labels.unsqueeze(1), y)``."""
    axis = _argument(event, 0, "dim")
    for made in _made(_index(event), makers):
        added = made.args[0] if made.args and made.name.endswith(".unsqueeze") else None
        if isinstance(axis, Const) and isinstance(added, Const) and axis.value == added.value:
            return True
    return False


def _sizes(pools: Event) -> frozenset[object]:
    """The sizes that adaptive pooling is given: 1 for ``1`` and ``(1, 1)``; None keeps an axis as it is."""
    size = pools.argument(Argument(0 if ".nn.functional." not in pools.name else 1, "output_size"))
    if isinstance(size, Const):
        return frozenset(size.value if isinstance(size.value, tuple) else [size.value])
    if isinstance(size, Seq) and size.items:
        return frozenset(item.value if isinstance(item, Const) else _OTHER for item in size.items)
    return frozenset([_OTHER])


def _learned(value: Value | None, makers: Makers, depth: int = 4) -> bool:
    """Whether a value surely was computed by a layer, or is a weight, so that a gradient goes through it."""
    if isinstance(value, Ref) and value.name.endswith(".weight"):
        return True
    for made in _made(value, makers):
        if made.name.endswith("nn.Parameter") or _LAYERS.match(made.name):
            return True
        inner = made.receiver if _is_method(made) else (made.args[0] if made.args else None)
        if depth and made.name.startswith("torch.") and _learned(inner, makers, depth - 1):
            return True
    return False
