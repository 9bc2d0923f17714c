"""Whether a program computes only with ops that give the same bits in each run, on a GPU, too."""

from __future__ import annotations

import re
import sys

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import fitted
from d9mlint.python.interpreter.program import Program

_OURS = ("tensorflow.", "keras.", "sonnet.", "tf_slim.", "?.")
_EXACT = re.compile(
    r"(\?|tensorflow\.Session\.run\(\))(\.(reshape|astype|copy)\(\))*\.(copy|astype|tolist|append|items|keys|values|format|split|strip|flatten|"
    r"ravel|reshape|item|pop|reset|step|render|seed|lower|upper|startswith|endswith|join|replace|zfill|ljust|rjust|"
    r"(arg)?(min|max|sort)|mean|sum|std|var|cumsum|clip|transpose|dot|nonzero|repeat|round|squeeze|all|any|take|tobytes|"
    r"imshow|savefig|legend|add_subplot|subplots_adjust|set_(axis_off|title|[xyz](label|lim|ticks|ticklabels)|aspect))|"
    r"tensorflow\.examples\.tutorials\.mnist\..+|"
    r"tensorflow\.(matmul|squared_difference|get_collection|clip_by_\w+|(contrib\.layers\.)?\w+_initializer|(io\.)?gfile\.\w+|"
    r"multiply|add|subtract|divide|negative|square|sqrt|pow|exp|log|abs|maximum|minimum|sign|"
    r"transpose|reshape|squeeze|expand_dims|cast|identity|constant|zeros|ones|zeros_like|ones_like|fill|placeholder|"
    r"Variable|get_variable|variable_scope|name_scope|assign|assign_add|assign_sub|equal|greater|less|argmax|"
    r"reduce_(sum|mean|max|min)|(global|local)_variables_initializer|initialize_all_variables|trainable_variables|"
    r"Graph|Session|InteractiveSession|ConfigProto|get_default_graph|reset_default_graph|set_random_seed|"
    r"math\.\w+|nn\.(l2_loss|relu|sigmoid|tanh|elu|softplus|softmax|log_softmax|(weighted|sigmoid)_cross_entropy_with_logits)|(sigmoid|tanh)|random\.\w+|logging\.\w+|"
    r"train\.(GradientDescent|Momentum|Adam|Adagrad|RMSProp)?Optimizer|summary\.\w+|Tensor\.(eval|get_shape|set_shape|assign|assign_add|assign_sub)|"
    r"train\.Optimizer|train\.((Singular)?Monitored(Training)?Session|CheckpointSaverHook)|gradients|random_(normal|uniform)|truncated_normal|train\.Saver|"
    r"nn\.(max_pool|dropout|leaky_relu|selu|relu6|softsign|l2_normalize)|add_n|rsqrt|reciprocal|floor|round|stop_gradient|"
    r"tile|slice|pad|one_hot|range|eye|rank|not_equal|(greater|less)_equal|logical_\w+|placeholder_with_default|"
    r"contrib\.opt\.(Scipy|External)OptimizerInterface|"
    r"train\.(exponential_decay|get_or_create_global_step|latest_checkpoint|get_checkpoint_state|write_graph)|"
    r"concat|split|stack|unstack|shape|is_tensor|while_loop|control_dependencies|group|nn\.(static|dynamic)_rnn)"
    r"(\(\))?(\.(run|eval|close|minimize|compute_gradients|apply_gradients|as_default|save|restore|get_shape|size)(\(\))?)*|"
    r"(keras\.(Model(\.(add|compile|fit|summary|predict|evaluate|save|save_weights|load_weights))?|Sequential|version|"
    r"backend\.backend|callbacks\.\w+|utils\.(custom_object_scope|get_file|set_random_seed)|"
    r"(initializers|regularizers|constraints|optimizers)\.\w+|layers\.Layer\.(__init__|add_weight|build|get_config)|"
    r"layers\.(Dense|Activation|Flatten|Dropout|Reshape|Input|Add|add|Concatenate|concatenate|merge))|"
    r"sonnet\.(Linear|LSTM|GRU|VanillaRNN|DeepRNN|AddBias|BatchFlatten|Sequential|nets\.MLP|(AbstractModule|RNNCore)\.__init__))"
    r"(\(\)\.\w+)*"
)
"""Products of matrices, sums along a whole axis and what works element by element: no atomics, no choice by time.

(A `Dense` with a bias, and pooling whose windows overlap, are ops of the catalogue, and are asked for before.)

Methods of arrays, lists, environments and plots, which tensors do not have, are none of TensorFlow's.

(tensorflow/core/kernels: matmul_op_impl.h takes cuBLAS, which is deterministic on one stream; the reductions of
reduction_gpu_kernels.cu.h have no atomics since 1.4; Sonnet 1.36 adds biases with `+`: modules/basic.py, gated_rnn.py;
SciPy's optimizers work on the host, with gradients of a session: contrib/opt/python/training/external_optimizer.py)
"""
_TENSORS = ("tensorflow.Tensor", "tensorflow.Variable", "tensorflow.placeholder", "tensorflow.nn.")
_PLAIN = frozenset(
    {"builtins", "numpy", "scipy", "matplotlib", "PIL", "cv2", "skimage", "imageio", "pandas", "sklearn", "tqdm"}
)
"""Packages that compute nothing of a graph, beside what Python brings."""


def exact(program: Program) -> bool:
    """Whether every call of TensorFlow that is seen is one of these, and nothing is called that is not known."""
    if fitted(program):
        return False
    for event in program.events:
        if event.detached or event.kind not in ("unresolved", "call"):
            continue
        ours = event.kind == "unresolved" or event.name.startswith(_OURS)
        if not _EXACT.fullmatch(event.name) if ours else _computes(event):
            return False
    return True


def _computes(event: Event) -> bool:
    """Whether a package that is not known is given a tensor of a graph, of which it may make another."""
    root = event.name.partition(".")[0]
    if root in _PLAIN or root in sys.stdlib_module_names:
        return False
    given = (leaf for value in (*event.args, *event.kwargs.values()) for _, leaf in alternatives(value))
    return any(isinstance(leaf, Obj) and leaf.type.startswith(_TENSORS) for leaf in given)
