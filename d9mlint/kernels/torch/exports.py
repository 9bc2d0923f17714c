"""Statements that register kernels with the registries of other frameworks: by a macro, under the name of an op."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.sites.macros import Macro, defined_around, use_at
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.unit import Unit

EXPORTING = re.compile(
    rb"\b(NNVM_REGISTER_OP|MXNET_(?:REGISTER_OP_PROPERTY|OPERATOR_REGISTER_\w+)|DGL_REGISTER_GLOBAL|TVM_REGISTER_GLOBAL"
    rb"|XLA_FFI_DEFINE_HANDLER(?:_SYMBOL)?|XLA_REGISTER_CUSTOM_CALL_TARGET(?:_WITH_SYM)?"
    rb"|PD_BUILD_(?:DOUBLE_GRAD_|GRAD_)?OP|TVM_FFI_DLL_EXPORT_TYPED_FUNC"
    rb"|PD_REGISTER_(?:STRUCT_)?KERNEL|REGISTER_USER_KERNEL|MS_REG_GPU_KERNEL(?:_\w+)?|MS_KERNEL_FACTORY_REG"
    rb"|ONNX_OPERATOR_(?:\w+_)?KERNEL_EX|REGISTER_CUDA_OPERATOR(?:_WITH_ENGINE)?)"
    rb"\s*\((?:\\?\s)*(?:NativeGpuKernelMod\s*,\s*)?\"?([\w.]+)"
)
"""nnvm/op.h, mxnet/operator.h, dgl/runtime/registry.h, xla/ffi/api/ffi.h, paddle/extension.h, tvm/ffi/function.h;
paddle/phi/core/kernel_registry.h, oneflow/core/framework/user_op_kernel_registry.h, MindSpore's gpu_kernel_factory.h
and factory/ms_factory.h, onnxruntime's core/framework/op_kernel.h, caffe2/core/operator.h."""
_WHOLE = ("MS_", "PD_REGISTER_", "ONNX_", "REGISTER_CUDA_", "REGISTER_USER_")
"""They end with their parentheses, unless a chain of ``.Set(...)`` goes on; a semicolon need not follow."""
_GRADIENT = {"PD_BUILD_GRAD_OP": "_grad", "PD_BUILD_DOUBLE_GRAD_OP": "_grad_grad"}
"""How Paddle calls the gradient of an op (paddle/phi/api/ext/op_meta_info.h, ``OpMetaInfoBuilder``)."""
_GOES_ON = re.compile(rb"(?:\\?\s)*\.")
_MAX_USES = 200


class Statement(NamedTuple):
    """A registration: the macro, the name of the op, its place, and the ranges that name what is registered."""

    macro: str
    name: str
    start: int
    end: int
    mentions: tuple[tuple[int, int], ...]


def statements(unit: Unit) -> Iterator[Statement]:
    """The registrations in a source; one in the body of a macro, which is given the name, once a use of the macro."""
    data = unit.data
    for match in EXPORTING.finditer(data):
        word, name = match[1].decode(), match[2].decode()
        around = defined_around(unit.path, data, match.start())
        if around is not None and (not word.startswith(_WHOLE) or around.name == match[1]):
            continue
        if around is None and data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip().startswith(b"#"):
            continue
        behind = match.end() + (data[match.end() : match.end() + 1] == b'"')
        end = _end(data, match, behind, word.startswith(_WHOLE))
        itself = word.startswith("XLA_REGISTER")  # the name is that of the function
        said = (match.start(2) if itself else behind, end)
        if around is None or match[2] not in (around.parameters or ()):
            if word == "REGISTER_USER_KERNEL" and data[match.start(2) - 1 : match.start(2)] != b'"':
                continue  # a variable
            yield Statement(word, name + _GRADIENT.get(word, ""), match.start(), end, (said,))
        else:
            yield from _uses(unit, around, word, match[2], said)


def _end(data: bytes, match: re.Match[bytes], behind: int, whole: bool) -> int:
    """The end of a registration whose name ends before a byte: of the statement, or (``whole``) of its parentheses."""
    listed = lexical.arguments(data, data.find(b"(", match.end(1))) if whole else None
    if listed is not None and _GOES_ON.match(data, listed[1]) is None:
        return listed[1]
    return lexical.semicolon(data, behind)


def _uses(unit: Unit, macro: Macro, word: str, parameter: bytes, said: tuple[int, int]) -> Iterator[Statement]:
    """``#define REGISTER(x, T) KERNEL_EX(x, domain, T, x<T>)`` with ``REGISTER(Gelu, float)``."""
    at = (macro.parameters or ()).index(parameter)
    for count, start in enumerate(lexical.word_places(unit.data, macro.name)):
        own = macro.start <= start < macro.body_start
        used = use_at(unit.data, start, [macro]) if count < _MAX_USES and not own else None
        if used is None or defined_around(unit.path, unit.data, start) is not None or at >= len(used[2]):
            continue
        name = used[2][at].strip().strip(b'"').decode("utf-8", "replace")
        if re.fullmatch(r"[\w.]+", name):
            yield Statement(word, name, start, used[1], (said, (start, used[1])))
