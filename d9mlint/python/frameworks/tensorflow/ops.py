"""Uses of TensorFlow's ops: whether indices repeat, and whether a gradient goes through what is indexed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Op
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Const, FlagValue, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.indices import INDEXED, meets_each_index_once, of_neighbours
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.frameworks.tensorflow import estimators, reductions
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.frameworks.tensorflow.placement import looked_up_on_cpu
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, calls_of, made_of

_DATA_DEPENDENT = re.compile(r"scatter|segment|confusion")
"""Ops that vary only for floating-point data with repeated indices, which a call does not show."""
_UNTOLD = "tf.keras.layers.BatchNormalization in an Estimator"
_LEARNED = re.compile(
    r"(layers\.\w+\(\)\.__call__|Model\.__call__|get_variable|add_weight|Variable|matmul|conv\dd|dense)\(\)$"
)
_REDUCED = Argument(0, "input_tensor")
_ADDED = (
    (re.compile("tensor_scatter"), Argument(2, "updates")), (re.compile("scatter_nd"), Argument(1, "updates")),
    (re.compile("segment"), Argument(0, "data")), (re.compile("bincount with weights"), Argument(1, "weights")),
    (re.compile(r"tf\.reduce_sum"), _REDUCED),
)  # fmt: skip
"""Where an op takes what it adds up."""
_SIZES = ("tensorflow.shape", "tensorflow.size", "tensorflow.rank")
"""Calls that give integers, unless they are asked for others."""
_KEEPS_KIND = tuple(f"tensorflow.{m}reduce_{name}" for m in ("", "math.") for name in ("prod", "sum", "max", "min"))
_INTEGER = re.compile(r"((tensorflow|numpy)(\.compat\.v1)?\.)?u?int\d+")
"""Types of integers; TensorFlow takes their names as text, too."""
_MAX_POOL = re.compile("max_?pool", re.IGNORECASE)
_POOLS = (
    (re.compile(r"slim|contrib\.layers"), (Argument(1, "kernel_size"), Argument(2, "stride"), 2)),
    (re.compile(r"tensorflow\.layers\.max_pooling"), (Argument(1, "pool_size"), Argument(2, "strides"), None)),
    (re.compile(r"ayers\."), (Argument(0, "pool_size"), Argument(1, "strides"), 2)),
    (re.compile(""), (Argument(1, "ksize"), Argument(2, "strides"), None)),
)
"""Where max-pooling is given its window and how far it moves, and the size of the window where there is none."""
_CROSS_ENTROPY = re.compile("softmax_cross_entropy|categorical_?crossentropy", re.IGNORECASE)
_LOSS, _PREDICTED = re.compile(r"keras\.losses\.\w+Crossentropy"), Argument(1, "y_pred")
_COMPILES, _STACK, _OUTPUTS = "keras.Model.compile", "keras.Sequential", Argument(1, "outputs")
_DENSE, _OF_DENSE = "keras.layers.Dense", Argument(0, "units")
_LOGITS = Argument(1, "logits")
_UNITS = (
    (re.compile(r"tensorflow\.(layers\.|keras\.layers\.Dense)|keras\.layers\.Dense"), Argument(1, "units")),
    (re.compile(r"slim\.fully_connected|contrib\.layers\.(fully_connected|linear)"), Argument(1, "num_outputs")),
)
"""Layers that end a network, and where they are given how many numbers they make."""
_PRODUCT, _TURNED = "tensorflow.matmul", Argument(3, "transpose_b")
_PRODUCTS, _WEIGHTS = (_PRODUCT, "tensorflow.nn.xw_plus_b"), Argument(1, "b")
_BIAS_ADDS, _BIAS, _CONSTANT = (".bias_add", ".BiasAdd"), Argument(1, "bias"), "tensorflow.constant"
_SHIFTS = ("tensorflow.add", "tensorflow.nn.bias_add", "tensorflow.identity")
"""Ops whose result has as many columns as what they are given first."""
_GETS, _VARIABLE, _FIRST_VALUES = "tensorflow.get_variable", "tensorflow.Variable", Argument(0, "initial_value")
_FILLS = (
    (
        re.compile(r"tensorflow\.random\.\w+|tensorflow\.(zeros|ones|random_normal|random_uniform)"),
        Argument(0, "shape"),
    ),
    (re.compile(r"tensorflow\.constant"), Argument(2, "shape")),
)
"""Calls that make the first values of a variable, and where they are given its shape."""
_CONVOLUTION, _INPUT, _FILTERS = "tensorflow.nn.conv", Argument(0, "input"), Argument(1, "filters")
_OF_WORDS = re.compile(r"vocab|words|tokens|chars", re.IGNORECASE)
_LABELS, _SPREAD, _SPREAD_OVER = Argument(0, "labels"), "tensorflow.one_hot", Argument(1, "depth")
_DEPTH = 4
"""Ops through which labels are followed back."""
_RESHAPE, _SHAPE = "tensorflow.reshape", Argument(1, "shape")
_FEW_CLASSES = 32
"""Eigen's InnerReducer leaves up to 32 values (128 in newer versions) to one thread (TensorReductionGpu.h)."""
_FUSED_FOR_IMAGES = (
    "tf.compat.v1.layers.batch_normalization", "tf.contrib.layers.batch_norm", "tf.keras.layers.BatchNormalization",
)  # fmt: skip
"""Layers that take the fused kernel where their input has four dimensions (tensorflow 1.15.5, normalization.py)."""
_IMAGES = re.compile(
    r"^(tensorflow|keras|tf_slim|\?)\b.*(conv(?!ert)|pool|image|applications)|^tensorflow_hub", re.IGNORECASE
)
"""What names of calls say that compute with images, or with what comes out of convolutions."""
_RESHAPES = re.compile(r"\.(reshape|squeeze|expand_dims|transpose|identity|cast|concat|stack)\(\)$")

_COMPUTES = re.compile(
    r"\.(reshape|squeeze|expand_dims|transpose|identity|cast|concat|stack|reduce_(max|mean|sum|min)|relu|leaky_relu|elu|"
    r"tanh|sigmoid|maximum|dropout|bias_add|batch_normalization)\(\)$"
)
"""The same with activations, sums and normalizations."""
_FAR = 12
"""How many of these lie between a layer and what is read far behind it."""
_INDICES = Argument(1, "indices")


class TensorFlowOps(OpUses):
    """Those of TensorFlow, and of what names no framework that is known."""

    def on_gpu(self, program: Program) -> Cond:
        return on_gpu(program)

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        exact = _adds_integers(event, op, makers) or _adds_constants(event, makers) or _filters_data(event, makers)
        exact = exact or reductions.harmless(program, event, op, makers)
        apart = meets_each_index_once(event, op, makers) or _pools_apart(event, op)
        told = op.name == _UNTOLD and not estimators.untold(program, event)
        return exact or apart or told or (op.name in _FUSED_FOR_IMAGES and not program.once("images", _has_images))

    def elsewhere(self, program: Program, event: Event, op: Op, makers: Makers) -> Cond:
        return looked_up_on_cpu(program, event, op, makers)

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        if _has_few_classes(event, op, makers) or reductions.likely_few(event, op, makers):
            return False
        return not INDEXED.search(op.name) or self.sure(event, op, makers)

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        if INDEXED.search(op.name):
            read = event.args[0] if event.args else event.kwargs.get("params")
            shared = of_neighbours(event.argument(_INDICES))
            return learned(read, makers) or (shared and learned(read, makers, _FAR, _COMPUTES))
        if op.where:
            return _CROSS_ENTROPY.search(op.name) is not None and _has_many_classes(event, makers)
        return not _DATA_DEPENDENT.search(op.name)


def _has_images(program: Program) -> bool:
    """Whether the program computes with images, as far as the names of what it calls tell."""
    return any(e.kind in ("call", "unresolved") and _IMAGES.search(e.name) is not None for e in program.events)


def _adds_constants(event: Event, makers: Makers) -> bool:
    """Whether a bias is a constant: what varies is its gradient, which nothing asks for."""
    if not event.name.endswith(_BIAS_ADDS):
        return False
    return _is_constant(event.argument(_BIAS), makers)


def _filters_data(event: Event, makers: Makers) -> bool:
    """Whether a constant filter goes over what no call of the program has computed: nothing there has a gradient."""
    if not event.name.startswith(_CONVOLUTION) or not _is_constant(event.argument(_FILTERS), makers):
        return False
    given = alternatives(event.argument(_INPUT))
    return bool(given) and all(isinstance(leaf, Unknown) and not list(made_of(leaf, makers)) for _, leaf in given)


def _is_constant(value: Value | None, makers: Makers) -> bool:
    made = [list(made_of(leaf, makers)) for _, leaf in alternatives(value)]
    return bool(made) and all(one and all(e.name == _CONSTANT for e in one) for one in made)


def _adds_integers(event: Event, op: Op, makers: Makers) -> bool:
    """Whether what is added up are integers, whose sums are exact in any order."""
    for words, wanted in _ADDED:
        if words.search(op.name):
            return _are_integers(event.argument(wanted), makers)
    return False


def _are_integers(value: Value | None, makers: Makers, depth: int = _DEPTH) -> bool:
    """Whether a value, or each in a list, surely is an integer: a size, say, or the product of sizes."""
    leaves = [leaf for _, leaf in alternatives(value)]
    lists = [leaf for leaf in leaves if isinstance(leaf, Seq)]
    parts = [part for leaf in lists for part in (*(leaf.items or ()), leaf.element) if part is not None]
    if parts and len(lists) == len(leaves) and depth:
        return all(_are_integers(part, makers, depth - 1) for part in parts)
    made = list(made_of(value, makers))
    return bool(made) and all(_makes_integers(one) or _keeps_integers(one, makers, depth) for one in made)


def _keeps_integers(event: Event, makers: Makers, depth: int) -> bool:
    if event.name in _SIZES:
        return "out_type" not in event.kwargs
    return event.name in _KEEPS_KIND and depth > 0 and _are_integers(event.argument(_REDUCED), makers, depth - 1)


def _pools_apart(event: Event, op: Op) -> bool:
    """Whether the windows of a max-pooling do not overlap, so that each cell of its gradient is one value."""
    if not _MAX_POOL.search(op.name):
        return False
    window, step, otherwise = next(given for words, given in _POOLS if words.search(event.name))
    if _alike(event.argument(window), event.argument(step)):
        return True
    windows, steps = _sizes(event.argument(window), otherwise), _sizes(event.argument(step), None)
    if windows is None:
        return False
    if steps is None:
        return event.argument(step) is None and otherwise is not None  # then it moves on by its own size
    most = max(len(windows), len(steps))
    pairs = zip(
        windows * most if len(windows) == 1 else windows, steps * most if len(steps) == 1 else steps, strict=False
    )
    return all(size <= by for size, by in pairs)


def _alike(window: Value | None, step: Value | None) -> bool:
    """Whether a window moves on by its own size, whatever that is: ``ksize=[1, p, 1, 1], strides=[1, p, 1, 1]``."""
    pairs: list[tuple[Value | None, Value | None]] = [(window, step)]
    if isinstance(window, Seq) and isinstance(step, Seq) and window.items and step.items:
        if len(window.items) != len(step.items):
            return False
        pairs = list(zip(window.items, step.items, strict=True))
    return all(_is_same_size(one, other) for one, other in pairs)


def _is_same_size(one: Value | None, other: Value | None) -> bool:
    """Whether two values are the same number, though it may not be known (of what nothing is known, nobody can say)."""
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    return one is other and one is not None and one is not UNKNOWN


def _has_few_classes(event: Event, op: Op, makers: Makers) -> bool:
    """Whether the last layer, or shape, before a cross entropy has so few numbers that one thread adds them up."""
    if not _CROSS_ENTROPY.search(op.name):
        return False
    sizes = list(_classes(event, makers))
    return bool(sizes) and all(
        isinstance(one, Const) and _is_number(one) and one.value <= _FEW_CLASSES for one in sizes
    )


def _has_many_classes(event: Event, makers: Makers) -> bool:
    """Whether there surely are more: a number, one by whose name words are counted, or rows of a table."""
    for _, leaf in alternatives(event.argument(_LOGITS)):
        made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
        turned = made.argument(_TURNED) if made is not None and made.name == _PRODUCT else None
        if isinstance(turned, Const) and turned.value is True:  # the table in which words are looked up, once more
            return True
    sizes = [*_classes(event, makers), *_depths(event.argument(_LABELS), makers, _DEPTH)]
    return any(map(_is_many, sizes))


def _depths(value: Value | None, makers: Makers, depth: int) -> Iterator[Value | None]:
    """How many classes the labels are spread over, where they are."""
    for made in made_of(value, makers):
        if made.name == _SPREAD:
            yield made.argument(_SPREAD_OVER)
        elif depth:
            for given in (*made.args, *made.kwargs.values()):
                yield from _depths(given, makers, depth - 1)


def _is_many(size: Value | None) -> bool:
    if isinstance(size, Const):
        return _is_number(size) and bool(size.value > _FEW_CLASSES)
    name = size.flag.name if isinstance(size, FlagValue) else size.name if isinstance(size, (Ref, Unknown)) else ""
    return _OF_WORDS.search(name) is not None


def _is_number(size: Const) -> bool:
    return isinstance(size.value, int) and not isinstance(size.value, bool)


def _scored(event: Event, makers: Makers) -> Iterator[Value | None]:
    """What a cross entropy is computed of: its logits, or what a model gives, or the last layer of one."""
    if not _LOSS.fullmatch(event.name):
        yield event.argument(_LOGITS) or event.argument(_PREDICTED)
        return
    yield from (call.argument(_PREDICTED) for call in calls_of(event, makers))
    for one in makers.by_name.get(_COMPILES, ()):
        if any(made is event for value in (*one.args, *one.kwargs.values()) for made in made_of(value, makers)):
            for model in made_of(one.receiver, makers):
                layers = model.args[0] if model.name == _STACK and model.args else None
                items = layers.items if isinstance(layers, Seq) else None
                yield items[-1] if items else model.argument(_OUTPUTS)


def _classes(event: Event, makers: Makers) -> Iterator[Value | None]:
    """How many numbers the last layer, or shape, before a cross entropy has, in each way that leads there."""
    for scored in _scored(event, makers):
        for _, leaf in alternatives(scored):
            yield _width(leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf)), makers)


def _width(made: Event | None, makers: Makers) -> Value | None:
    """How many numbers a call gives in each row, where it says so."""
    for _ in range(_DEPTH):
        if made is None or made.name not in _SHIFTS:
            break
        made = next(made_of(made.args[0] if made.args else None, makers), None)
    if made is not None and made.name == f"{_DENSE}().__call__":
        made = next(made_of(made.receiver, makers), None)
    if made is None or made.name == _DENSE:
        return made.argument(_OF_DENSE) if made is not None else None
    wanted = next((given for words, given in _UNITS if words.search(made.name)), None)
    return made.argument(wanted) if wanted is not None else _last_size(made, makers)


def _last_size(made: Event, makers: Makers) -> Value | None:
    """The last size of the shape that a tensor is given, where it is, or of the weights that it is multiplied with."""
    if made.name in _PRODUCTS:
        turned = made.argument(_TURNED) if made.name == _PRODUCT else None
        weights = [_shape(one) for one in made_of(made.argument(_WEIGHTS), makers)]
        known = weights and not turned and all(shape == weights[0] for shape in weights)
        shape = weights[0] if known else None
    else:
        shape = made.argument(_SHAPE) if made.name == _RESHAPE else None
    return shape.items[-1] if isinstance(shape, Seq) and shape.items else None


def _shape(variable: Event) -> Value | None:
    """The shape that a variable is made with, its own or that of its first values."""
    if variable.name == _GETS:
        return variable.argument(_SHAPE)
    first = variable.argument(_FIRST_VALUES) if variable.name == _VARIABLE else None
    made = first.event if isinstance(first, Obj) else None
    wanted = next((given for words, given in _FILLS if made is not None and words.fullmatch(made.name)), None)
    return made.argument(wanted) if made is not None and wanted is not None else None


def _sizes(value: Value | None, otherwise: int | None) -> list[int] | None:
    """A number or those of a list; None where they are not known."""
    if value is None:
        return None if otherwise is None else [otherwise]
    if isinstance(value, Const):
        return [value.value] if isinstance(value.value, int) else None
    items = value.items if isinstance(value, Seq) and value.items else []
    numbers = [item.value for item in items if isinstance(item, Const) and isinstance(item.value, int)]
    return numbers if numbers and len(numbers) == len(items) else None


def _makes_integers(event: Event) -> bool:
    given = (*event.args, *event.kwargs.values())
    types = [str(x.value) if isinstance(x, Const) else x.name for x in given if isinstance(x, (Const, Ref))]
    return any(map(_INTEGER.fullmatch, types)) or event.name.endswith((".to_int32", ".to_int64", ".argmax", ".range"))


def learned(value: Value | None, makers: Makers, depth: int = 4, through: re.Pattern[str] = _RESHAPES) -> bool:
    """Whether a value surely is a weight or was computed by a layer, so that a gradient goes ``through`` ops to it."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
        if made is None:
            continue
        if _LEARNED.search(f"{made.name}()"):
            return True
        follows = depth and made.args and through.search(f"{made.name}()")
        if follows and learned(made.args[0], makers, depth - 1, through):
            return True
    return False
