"""How Python meets the ops of other registries than PyTorch's: MXNet, DGL, TVM, Paddle, XLA's foreign functions."""

from __future__ import annotations

import ast
import re

from d9mlint.kernels.python.calls import last_name
from d9mlint.kernels.python.composed import closest
from d9mlint.kernels.python.entities import Entity, entity_of, tabled
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.guards import defaults
from d9mlint.kernels.python.words import Mention
from d9mlint.kernels.torch import loaded
from d9mlint.kernels.torch.presence import LOADING, MODULES
from d9mlint.kernels.torch.python import Binder, Met
from d9mlint.kernels.torch.routes import C_FUNCTION, CYTHON, EXPRESSED, LOADED, PHI, TVM_FFI, Export

_MXNET = {"_contrib_": "mx.nd.contrib.", "_linalg_": "mx.nd.linalg.", "_image_": "mx.nd.image.",
          "_random_": "mx.nd.random.", "_sparse_": "mx.nd.sparse.", "_npi_": "mx.np.", "_np_": "mx.np.",
          "_npx_": "mx.npx."}  # fmt: skip
"""python/mxnet/base.py, ``_OP_NAME_PREFIX_LIST``: where an op of such a name is put."""
_BACKWARD = "_backward_"
_BY_NAME = frozenset((PHI, "mindspore", "onnxruntime", "oneflow", "caffe2"))
"""Registries whose ops generated code, or a graph, calls by their names."""
_TARGETS = ("register_ffi_target", "register_custom_call_target")
"""jax/_src/ffi.py, jaxlib's xla_client: the name by which calls mean a handler, and the handler."""


def met(export: Export, binder: Binder) -> Met:
    """The Python names and the direction of an op of another registry."""
    if export.framework == "mxnet":
        forward = export.name.removeprefix(_BACKWARD)
        if forward != export.name:
            named = _mxnet(f"_{forward}") or _mxnet(forward)
            return Met(export.name, named, "backward", (named[0].rpartition(".")[2] if named else forward,), ())
        return Met(export.name, _mxnet(export.name), "forward", (), ())
    if export.framework == CYTHON:
        return _of_cython(export, binder)
    if export.framework in _BY_NAME:
        forward = re.sub(r"_?[gG]rad(?:ient)?\Z", "", export.name)
        gradient = forward != export.name
        return Met(export.name, (), "backward" if gradient else "forward", (forward,) if gradient else (), ())
    word = export.name.rpartition(".")[2]
    if export.framework == "paddle":
        return _paddle(export, binder)
    if export.framework == C_FUNCTION:
        users = binder.users(_of_library(word, binder))
    elif export.framework == LOADED:
        users = binder.users(_of_module(word, binder))
    elif export.framework == EXPRESSED:
        users = binder.users(_of_expression(word, binder))
    elif export.framework == TVM_FFI:
        users = binder.users(loaded.callers(word, binder))
    else:
        names = [word, *(_targets(word, binder) if export.framework == "jax" else ())]
        users = binder.users([entity for name in names for entity in _mentioned(name, binder)])
    backward = {entity.backward for entity in users if entity.uses is None}
    gradients = {e.dotted for e in users if e.backward and e.in_function}
    direction = "both" if len(backward) == 2 else "backward" if backward == {True} else "forward"
    return Met(
        export.name, binder.python(users), direction, tuple(sorted(gradients)), binder.chain(users),
        binder.guard(users), nearest=binder.nearest(users), defaults=defaults(e.node for e in users),
    )  # fmt: skip


def _of_cython(export: Export, binder: Binder) -> Met:
    """The names of a function, or of a class with its method, that a source of Cython defines."""
    module = binder.files.module(export.path.removesuffix(".pyx") + ".py")
    outer, _, inner = export.name.partition(".")
    method = f".{inner.partition('.')[0]}" if inner and not inner.startswith("_") and outer[:1].isupper() else ""
    named = tuple(name + method for name in binder.files.names(module, outer))
    return Met(named[-1], () if outer.startswith("_") else named, "forward", (), ())


def _paddle(export: Export, binder: Binder) -> Met:
    """The Python names of an op of Paddle, of whose gradient those that call the op itself."""
    forward = re.sub(r"(?:_grad)+\Z", "", export.name) if export.name.endswith("_grad") else export.name
    gradient = forward != export.name
    users = binder.users(_mentioned(forward, binder))
    return Met(
        export.name, binder.python(users), "backward" if gradient else "forward", (forward,) if gradient else (),
        binder.chain(users), binder.guard(users), nearest=binder.nearest(users),
    )  # fmt: skip


def _mxnet(name: str) -> tuple[str, ...]:
    for prefix, module in _MXNET.items():
        if name.startswith(prefix):
            return (module + name.removeprefix(prefix),)
    return () if name.startswith("_") else (f"mx.nd.{name}",)


def _targets(word: str, binder: Binder) -> list[str]:
    """The names under which Python registers a handler of XLA's: ``register_ffi_target("f", capsule(lib.Handler))``."""
    found = []
    for file in binder.files.readers(word):
        for mention in file.mentions.get(word, ()):
            for call in mention.parents:
                called = call.func if isinstance(call, ast.Call) else None
                name = last_name(called)
                if isinstance(call, ast.Call) and name in _TARGETS:
                    first = call.args[0] if call.args else None
                    found += [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return list(dict.fromkeys(found))


def _of_library(word: str, binder: Binder) -> list[Entity]:
    """What calls a function of a shared library: ``lib.f(...)`` or ``lib["f"]``, in a package that loads one."""
    found = []
    for file in binder.files.readers(word):
        mentions = [m for m in file.mentions.get(word, ()) if isinstance(m.node, ast.Attribute) or _item(m)]
        if not mentions or not _loads(file, binder):
            continue
        entities = (entity_of(file, mention) or tabled(file, mention) for mention in mentions)
        found += [entity for entity in entities if entity is not None]
    return found


def _of_module(word: str, binder: Binder) -> list[Entity]:
    """What takes a kernel out of a module: ``RawModule(code=...).get_function("f")``, ``RawKernel(code, "f")``."""
    found = []
    for file in binder.files.readers(word):
        for mention in file.mentions.get(word, ()) if MODULES.search(file.data) else ():
            call = mention.parents[-1] if mention.parents else None
            called = call.func if isinstance(call, ast.Call) else None
            name = last_name(called)
            entity = entity_of(file, mention) if name in ("get_function", "RawKernel") else None
            found += [entity] if entity is not None else []
    for one in closest([c for c in binder.composed if c.kernel], word) if not found else ():
        entity = entity_of(one.file, one.mention)
        found += [entity] if entity is not None else []
    return found


def _of_expression(word: str, binder: Binder) -> list[Entity]:
    """What names a kernel as C++ does, with its namespace or template arguments: ``f"ns::k<{n}>"``."""
    name = re.compile(rf"(?:\w*::)+{re.escape(word)}(?:<.*)?|{re.escape(word)}<.*", re.DOTALL)
    found = []
    for file in binder.files.readers(word):
        for text in [text for text in file.mentions if word in text and name.fullmatch(text) is not None]:
            entities = (entity_of(file, mention) for mention in file.mentions[text])
            found += [entity for entity in entities if entity is not None]
    return found


def _item(mention: Mention) -> bool:
    """Whether a string is a key (``lib["f"]``) or the name that ``getattr`` is given."""
    parent = mention.parents[-1] if mention.parents else None
    asks = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "getattr"
    return isinstance(mention.node, ast.Constant) and (isinstance(parent, ast.Subscript) or asks)


def _loads(file: PyFile, binder: Binder) -> bool:
    """Whether a file, or a module of the project that it imports a name from, loads a shared library."""
    if LOADING.search(file.data):
        return True
    modules = {name for dotted in file.imports.values() for name in (dotted, dotted.rpartition(".")[0])}
    paths = {path for name in modules if (path := binder.files.modules.get(name))}
    return any(LOADING.search(binder.repository.data(path)) for path in sorted(paths))


def _mentioned(word: str, binder: Binder) -> list[Entity]:
    """What calls a function by its registered name, which a package binds (``_CAPI_...``), or names it in a string."""
    found = []
    for file in binder.files.readers(word):
        for mention in file.mentions.get(word, ()):
            called = mention.parents and isinstance(mention.parents[-1], ast.Call)
            entity = entity_of(file, mention) if called or isinstance(mention.node, ast.Constant) else None
            if entity is not None:
                found.append(entity)
    return found
