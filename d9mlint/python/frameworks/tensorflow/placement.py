"""Where graphs of TensorFlow 1 put tables of rows: what updates a few rows of a table has kernels on some devices only.

Such an update is one group with its variable, the lookups in it and the sums of rows that were looked up more than
once (training/optimizer.py, `colocate_with(var)`): all of them go to the CPU where the update has no kernel for GPUs.
Source: core/kernels/training_ops.cc before 2.0; Adam and gradient descent take scatter ops instead, which have one.
"""

from __future__ import annotations

from d9mlint.model import Argument, Op
from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of

_SPARSE_ON_CPU = frozenset(
    f"tensorflow.train.{name}Optimizer"
    for name in (
        "Adagrad", "AdagradDA", "ProximalAdagrad", "ProximalGradientDescent", "Adadelta", "Ftrl", "Momentum", "RMSProp",
    )
)  # fmt: skip
"""Optimizers whose updates of a few rows have kernels for the CPU only: ``SparseApplyAdagrad`` and its kin."""
_UPDATES = (
    "tensorflow.train.Optimizer.minimize", "tensorflow.train.Optimizer.apply_gradients", "?.minimize",
    "?.apply_gradients", "keras.Model.compile", "keras.Model.fit", "?.compile",
    "tensorflow.contrib.slim.learning.train",
)  # fmt: skip
_DENSE = ("tensorflow.clip_by_norm", "tensorflow.clip_by_value", "tensorflow.clip_by_average_norm")
"""Calls that make a gradient of the whole table out of that of a few rows, where gradients are seen on their way."""
_LOOKUP = "tf.nn.embedding_lookup"
_LOOKUPS = frozenset({_LOOKUP, "tf.gather"})
_TABLE = Argument(0, "params")
_VARIABLES = frozenset({"tensorflow.Variable", "tensorflow.get_variable"})


def looked_up_on_cpu(program: Program, event: Event, op: Op, makers: Makers) -> Cond:
    """When a lookup is on the CPU: the table was made there, or the only optimizers that train update it there."""
    if op.name not in _LOOKUPS or not program.target.fits("tensorflow", "<2.0"):
        return False
    if program.target.version("ngc") is not None:
        return False
    tables = list(made_of(event.argument(_TABLE), makers))
    plain = bool(tables) and all(made.name in _VARIABLES for made in tables)
    # (`embedding_lookup` is placed with its table, `tf.gather` with a variable that it is handed by reference.)
    if tables and (plain or op.name == _LOOKUP) and all(made.on_cpu() for made in tables):
        return not program.calls(*_DENSE)
    if not plain:
        return False
    return program.once("sparse-updates-on-cpu", _only_on_cpu)


def _only_on_cpu(program: Program) -> Cond:
    """When all that trains are optimizers of this kind."""
    here: list[Cond] = []
    elsewhere: list[Cond] = []
    for event in program.calls(*_UPDATES):
        if event.detached:
            continue
        for cond, leaf in alternatives(event.receiver) or ((True, None),):
            made = leaf.event if isinstance(leaf, Obj) else None
            on_cpu = made is not None and made.name in _SPARSE_ON_CPU
            on_cpu = on_cpu and (event.name.endswith(".minimize") or not program.calls(*_DENSE))
            (here if on_cpu else elsewhere).append(both(*event.guards, cond))
    return both(either(*here), negate(either(*elsewhere)))
