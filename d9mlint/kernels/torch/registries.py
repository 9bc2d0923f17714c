"""How Python meets the ops of other registries than PyTorch's: MXNet, DGL, TVM, XLA's foreign functions."""

from __future__ import annotations

import ast

from d9mlint.kernels.torch.entities import Entity, entity_of
from d9mlint.kernels.torch.python import Binder, Met
from d9mlint.kernels.torch.routes import Export

_MXNET = {"_contrib_": "mx.nd.contrib.", "_linalg_": "mx.nd.linalg.", "_image_": "mx.nd.image.",
          "_random_": "mx.nd.random.", "_sparse_": "mx.nd.sparse.", "_npi_": "mx.np.", "_np_": "mx.np.",
          "_npx_": "mx.npx."}  # fmt: skip
"""python/mxnet/base.py, ``_OP_NAME_PREFIX_LIST``: where an op of such a name is put."""
_BACKWARD = "_backward_"


def met(export: Export, binder: Binder) -> Met:
    """The Python names and the direction of an op of another registry."""
    if export.framework == "mxnet":
        forward = export.name.removeprefix(_BACKWARD)
        if forward != export.name:
            named = _mxnet(f"_{forward}") or _mxnet(forward)
            return Met(export.name, named, "backward", (named[0].rpartition(".")[2] if named else forward,), ())
        return Met(export.name, _mxnet(export.name), "forward", (), ())
    users = binder.users(_mentioned(export.name.rpartition(".")[2], binder))
    backward = {entity.backward for entity in users if entity.uses is None}
    gradients = {e.dotted for e in users if e.backward and e.in_function}
    direction = "both" if len(backward) == 2 else "backward" if backward == {True} else "forward"
    return Met(export.name, binder.python(users), direction, tuple(sorted(gradients)), binder.chain(users))


def _mxnet(name: str) -> tuple[str, ...]:
    for prefix, module in _MXNET.items():
        if name.startswith(prefix):
            return (module + name.removeprefix(prefix),)
    return () if name.startswith("_") else (f"mx.nd.{name}",)


def _mentioned(word: str, binder: Binder) -> list[Entity]:
    """What calls a function by its registered name, which a package binds (``_CAPI_...``), or names it in a string."""
    found = []
    for file in binder.readers(word):
        for mention in file.mentions.get(word, ()):
            called = mention.parents and isinstance(mention.parents[-1], ast.Call)
            entity = entity_of(file, mention) if called or isinstance(mention.node, ast.Constant) else None
            if entity is not None:
                found.append(entity)
    return found
