"""Functions of a module of TVM's FFI, which Python compiles and loads when it runs: ``get_module().f(...)``.

The function that loads it may hand out functions of its own that call them: ``SimpleNamespace(f=f)``. Those who call
these are the users, not whoever asks for the module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9mlint.kernels.python.entities import Entity, entity_of
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention
from d9mlint.kernels.torch.python import Binder

_MACRO = b"TVM_FFI_DLL_EXPORT_TYPED_FUNC"
_MODULE = re.compile(r"mod(?:ule)?(?:\Z|[^a-z])|(?:\A|_|\.)(?:lib|ffi|ext|ops|_C)(?:\Z|[^a-z])|load")
"""In what stands before the dot: a module that was compiled and loaded (``get_comm_module().f``, ``tvm_ffi.f``)."""


def callers(word: str, binder: Binder) -> list[Entity]:
    """What calls a function by the name under which it is exported; nothing where several modules export the name."""
    exporting = re.compile(rb"\b" + _MACRO + rb"\s*\(\s*" + re.escape(word.encode()) + rb"\s*,")
    paths = binder.repository.holding(_MACRO)
    if sum(exporting.search(binder.repository.data(path)) is not None for path in paths) > 1:
        return []
    found = []
    for file in binder.files.readers(word):
        places = [m for m in _called(file, word) if _of_module(file, m, binder)]
        entities = (entity_of(file, user) for place in places for user in _users(file, place))
        found += [entity for entity in entities if entity is not None]
    return found


def _called(file: PyFile, word: str) -> Iterator[Mention]:
    """The places where an attribute of a name is called."""
    for mention in file.mentions.get(word, ()):
        if isinstance(mention.node, ast.Attribute) and mention.call is not None:
            yield mention


def _of_module(file: PyFile, mention: Mention, binder: Binder) -> bool:
    """Whether what stands before the dot may be a compiled module, not one of Python."""
    base = mention.node.value if isinstance(mention.node, ast.Attribute) else None
    if base is None or binder.files.modules.get(file.dotted(base)):
        return False
    return _MODULE.search(shown(base)) is not None


def _users(file: PyFile, place: Mention) -> Iterator[Mention]:
    """The place itself, or, in a function that another one makes and hands out, the calls of that function."""
    scopes = place.scopes
    if len(scopes) < 2 or any(isinstance(scope, ast.ClassDef) for scope in scopes):
        yield place
        return
    inner = scopes[-1].name
    names = {inner: None} | {
        mention.parents[-1].arg: None
        for mention in file.mentions.get(inner, ())
        if mention.parents and isinstance(mention.parents[-1], ast.keyword) and mention.parents[-1].arg is not None
    }
    for name in names:
        yield from (m for m in _called(file, name) if m.scopes and m.scopes[0] is not scopes[0])
