"""Atomics of kernel languages that are Python (Triton, Numba, CuPy, Pallas, Warp, cuTile): each call, judged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.embedded import fetched, threads
from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.rows import owned
from d9mlint.kernels.embedded.types import Types
from d9mlint.kernels.embedded.uses import Use, use
from d9mlint.kernels.judging import gradients
from d9mlint.kernels.python.calls import argument, keyword, literal
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention

_TRITON = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
_NUMBA = (
    "add",
    "sub",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "and_",
    "or_",
    "xor",
    "inc",
    "dec",
    "exch",
    "compare_and_swap",
    "cas",
)
_CUPY = ("add", "sub", "max", "min", "and", "or", "xor", "inc", "dec", "exch", "cas")
_PALLAS = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
_WARP = ("add", "sub", "max", "min", "and", "or", "xor", "cas", "exch")
_INTRINSICS = {
    "add": "atomicAdd", "sub": "atomicSub", "max": "atomicMax", "min": "atomicMin", "and": "atomicAnd",
    "or": "atomicOr", "xor": "atomicXor", "inc": "atomicInc", "dec": "atomicDec", "exch": "atomicExch",
    "cas": "atomicCAS", "wait": "atomicCAS",
}  # fmt: skip
_LAST = -1
"""The position of the value in a call that has an argument for each dimension of an array."""
_CUTILE = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
_CUTE = ("add", "max", "min", "and", "or", "xor", "exch", "cas")
_CUTE_FLOAT = ("fmax", "fmin", "max_float32")
_CUTE_ORDERS = ("release_gpu_", "release_sys_", "relaxed_gpu_", "relaxed_sys_", "")
_CUTE_FLAGS = {f"multimem_red_{order}add1": "add" for order in _CUTE_ORDERS} | {
    "red_add1": "add",
    "spin_lock_atom_cas_relaxed_wait": "wait",
    "spin_lock_atom_cas_acquire_wait": "wait",
}
"""Flags by which blocks and devices wait for each other: ``cutlass/utils/distributed.py`` of nvidia-cutlass-dsl 4.8."""
_UNNAMED = re.compile(rb"scatter_|\.\s*at\b|red_\w*add1\b|spin_lock_atom")
"""What calls of the known functions hold that do not say "atomic"."""
_SAME = {"xchg": "exch", "compare_and_swap": "cas", "nanmax": "max", "nanmin": "min", "and_": "and", "or_": "or",
         "fmax": "max", "fmin": "min", "max_float32": "max", "addx2": "add", "addx4": "add"}  # fmt: skip
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_TARGETS = ("ptr", "pointer", "lock_ptr")
_SCOPES = {"cta": "block", "gpu": "device", "sys": "system"}


class Known(NamedTuple):
    """What a function is: the operation, and where its arguments stand."""

    operation: str
    value: int
    """The position of the value that is combined (of ``cas``, the new one)."""
    language: str
    kind: str = ""
    """``float`` or ``integer``, where the function works on no other type."""


def _known() -> dict[str, Known]:
    found: dict[str, Known] = {}
    pallas = ("jax.experimental.pallas", "jax.experimental.pallas.triton", "jax.experimental.pallas.mosaic_gpu")
    for names, places, value, language in (
        (_TRITON, ("triton.language.atomic_",), 1, "Triton"),
        (_NUMBA, ("numba.cuda.atomic.",), 2, "Numba"),
        (_CUPY, ("cupyx.jit.atomic_",), 2, "CuPy"),
        (("add", "max", "min"), ("cupyx.scatter_",), 2, "CuPy"),
        (_PALLAS, tuple(f"{module}.atomic_" for module in pallas), 2, "Pallas"),
        (_WARP, ("warp.atomic_",), _LAST, "Warp"),
        (("add",), ("warp.tile_atomic_",), 1, "Warp"),
        (("add", "max", "min", "addx2", "addx4"), ("tilelang.language.atomic_",), 1, "TileLang"),
        (_CUTILE, ("cuda.tile.atomic_",), 2, "cuTile"),
        (_CUTE, ("cutlass.cute.arch.atomic_",), 1, "CuTe"),
    ):
        for name in names:
            operation = _SAME.get(name, name)
            at = value + 1 if operation == "cas" and value > 0 and language != "Pallas" else value
            found |= {place + name: Known(operation, at, language) for place in places}
    for name in _CUTE_FLOAT:
        found[f"cutlass.cute.arch.atomic_{name}"] = Known(_SAME[name], 1, "CuTe", "float")
    for name, operation in _CUTE_FLAGS.items():
        found[f"cutlass.utils.distributed.{name}"] = Known(operation, 1, "CuTe", "integer")
    found["cutlass.utils.distributed.atomicAdd"] = Known("add", 1, "CuTe")
    return found | {"cupy.add.at": Known("add", 2, "CuPy"), "cupy.subtract.at": Known("sub", 2, "CuPy")}


KNOWN = _known()
"""By full name. https://triton-lang.org/main/python-api/triton.language.html#atomic-ops,
https://nvidia.github.io/numba-cuda/user/atomics.html, https://docs.cupy.dev/en/stable/reference/ext.html,
https://docs.jax.dev/en/latest/jax.experimental.pallas.triton.html,
https://nvidia.github.io/warp/modules/functions.html, https://docs.nvidia.com/cuda/cutile-python/operations.html"""
WORDS = frozenset(name.rpartition(".")[2] for name in KNOWN)
"""The last parts of these names."""


class Found(NamedTuple):
    """A call of one of the known functions, judged."""

    mention: Mention
    call: ast.expr | ast.stmt
    written: str
    intrinsic: str
    scope: str
    memory: str
    target_type: str
    use: Use
    class_: str
    verdict: str
    reason: str
    host: bool
    """Whether this is a call on the host, of a library that runs a kernel of its own."""
    form: str = "direct"


def may_call(data: bytes) -> bool:
    """Whether a file may call one of the known functions; cheap to ask."""
    return b"atomic" in data or _UNNAMED.search(data) is not None


def calls(file: PyFile) -> Iterator[Found]:
    """The atomic calls of a file, in no particular order."""
    if not may_call(file.data):
        return
    names = WORDS | {n for n, dotted in file.imports.items() if dotted in KNOWN}
    for word in sorted(names & file.mentions.keys()):
        for mention in file.mentions[word]:
            known = KNOWN.get(file.dotted(mention.node)) if not isinstance(mention.node, ast.Constant) else None
            for one, call in _called(file, mention) if known is not None else ():
                assert known is not None
                if call.args or keyword(call, *_TARGETS) is not None:
                    yield _judged(file, one, call, known)


def _called(file: PyFile, mention: Mention) -> Iterator[tuple[Mention, ast.Call]]:
    """The call of a function that is named here; those of ``own = partial(function, ...)`` in the same file."""
    call = mention.parents[-1] if mention.parents else None
    if not isinstance(call, ast.Call):
        return
    if call.func is mention.node:
        yield mention, call
        return
    made = mention.parents[-2] if len(mention.parents) > 1 else None
    bound = call.args[:1] == [mention.node] and file.dotted(call.func) == "functools.partial" and len(call.args) == 1
    if not bound or not isinstance(made, ast.Assign) or not isinstance(made.targets[0], ast.Name):
        return
    for one in file.mentions.get(made.targets[0].id, ()):
        if one.call is not None and isinstance(one.node, ast.Name):
            yield one, one.call


def _judged(file: PyFile, mention: Mention, call: ast.Call, known: Known) -> Found:
    types = Types(file, mention)
    target = keyword(call, *_TARGETS) or call.args[0]
    written, memory = types.target(target, known.language)
    at = len(call.args) - 1 if known.value == _LAST else known.value
    value = argument(call, at, "val", "value", "v", "slices", "b", "t", "update", "desired")
    kind = known.kind or plain_kind(written) or (types.kind(value) if value is not None else "")
    kind = kind or types.tested(mention, target)
    used = use(call, mention)
    scope = _SCOPES.get(literal(keyword(call, "scope")), "device")
    name = shown(call.func)
    what = f"`{name}` on `{_short(target)}`{' in shared memory' if memory == 'shared' else ''}"
    judged = _Judge(what, kind, used, value, types, _base(target)).verdict(known.operation)
    if judged[:2] == ("float-accumulate", "yes") and used.kind == "unused":
        if known.language == "Triton":
            judged = _of_own_rows(file, mention, target, what) or judged
        elif known.language == "Warp" and threads.owned(file, mention, call):
            reason = f"{what}: only one thread adds to the cell, so the order of the addends is that of one thread"
            judged = "float-accumulate", "no", reason
    if judged[0] == "order-dependent" and judged[1] != "no":
        judged = _alone(file, mention, call, known.operation, used, what) or judged
    typed = written or kind
    host = file.dotted(call.func).startswith(("cupyx.scatter_", "cupy."))
    return Found(mention, call, name, _INTRINSICS[known.operation], scope, memory, typed, used, *judged, host)


def _alone(
    file: PyFile, mention: Mention, call: ast.Call, operation: str, used: Use, what: str
) -> tuple[str, str, str] | None:
    """An old value of a Triton kernel, or the last that is stored, which is the same in any order."""
    if not file.dotted(call.func).startswith("triton.") or not call.args:
        return None
    operation = _SAME.get(operation, operation)
    numbers = operation in ("add", "sub") and (used.queue or used.kind == "index")
    if numbers and fetched.alike(file, mention, call, used.names, used.queue):
        return "order-dependent", "no", f"{what}: the old value is the piece of work that a program takes in " \
            f"`{used.text}`; nothing else tells programs apart, so that it is the same whoever takes it"  # fmt: skip
    if operation == "cas" and used.spins and len(call.args) > 2 and ast.dump(call.args[1]) == ast.dump(call.args[2]):
        return "order-dependent", "no", f"{what}: it changes nothing, and the old value only ends the wait"
    rows = owned(file, mention, call.args[0]) if operation == "exch" and used.kind == "unused" else None
    if rows is not None and not rows.assumed:
        return "order-dependent", "no", f"{what}: only one program of the grid writes the cell"
    return None


def _of_own_rows(file: PyFile, mention: Mention, target: ast.expr, what: str) -> tuple[str, str, str] | None:
    """A float addition to cells that one program of the grid owns."""
    rows = owned(file, mention, target)
    if rows is None:
        return None
    one = f"{what}: only one program of the grid writes the cell"
    if not rows.assumed:
        return "float-accumulate", "no", f"{one}, so the order of the addends is that of one program"
    return "float-accumulate", "conditional", f"{one} if {rows.assumed} long enough to keep the cells of different " \
        "programs apart; else the order of the addends changes from run to run"  # fmt: skip


def judged_call(
    file: PyFile,
    mention: Mention,
    call: ast.Call,
    operation: str,
    kind: str,
    target: ast.expr | None,
    value: ast.expr | None,
    *,
    returns: bool = True,
) -> Found:
    """A call whose operation and kind of type are known from elsewhere, judged; ``returns``: it gives the old value."""
    types = Types(file, mention)
    used = use(call, mention) if returns else Use("unused")
    name = shown(call.func)
    what = f"`{name}` on `{_short(target)}`" if target is not None else f"`{name}`"
    judged = _Judge(what, kind, used, value, types, _base(target)).verdict(operation)
    return Found(mention, call, name, intrinsic_of(operation), "device", "unknown", kind, used, *judged, False)


def judged_operation(
    file: PyFile, mention: Mention, target: ast.expr, operation: str, value: ast.expr, language: str, kind: str = ""
) -> Found:
    """An operation that is written as no call, judged: nothing sees the old value; ``kind``: that of the elements."""
    types = Types(file, mention)
    written, memory = types.target(target, language)
    kind = kind or plain_kind(written) or types.kind(value)
    name = f"{_SIGNS[operation]}="
    what = f"`{name}` on `{_short(target)}`"
    judged = _Judge(what, kind, Use("unused"), value, types, _base(target)).verdict(operation)
    return Found(
        mention, target, name, intrinsic_of(operation), "device", memory, written or kind, Use("unused"), *judged, False
    )


def intrinsic_of(operation: str) -> str:
    """The CUDA atomic that an operation is: ``atomicAdd`` of ``add``."""
    return _INTRINSICS.get(_SAME.get(operation, operation), "")


def _base(node: ast.expr | None) -> str:
    """The variable that an address starts from, without ``_ptr``."""
    at = node
    while isinstance(at, ast.BinOp | ast.Subscript | ast.Attribute):
        at = at.left if isinstance(at, ast.BinOp) else at.value
    return re.sub(r"_?(?:ptr|pointer)\Z", "", at.id, flags=re.IGNORECASE) if isinstance(at, ast.Name) else ""


def _short(node: ast.expr) -> str:
    return shown(node, 60)


class _Judge(NamedTuple):
    what: str
    kind: str
    use: Use
    value: ast.expr | None
    types: Types
    target: str = ""
    """The variable that the target is reached through."""

    def verdict(self, operation: str) -> tuple[str, str, str]:
        """Class, verdict and reason."""
        operation = _SAME.get(operation, operation)
        if operation == "wait":
            return "order-dependent", "no", f"{self.what}: a thread waits until the cell holds the number that it is " \
                "given; the order of the others changes only how long"  # fmt: skip
        if operation in ("exch", "cas"):
            return self._swapped(operation)
        if operation not in ("add", "sub", "mul"):
            signed = " (up to NaN and the sign of zero)" if self.kind == "float" else ""
            return self._exact(f"{self.what}: {operation} gives the same result in any order{signed}")
        constant = self.types.constant(self.value) if self.value is not None else ""
        parts = "factors" if operation == "mul" else "addends"
        order = f"{parts} from several threads meet in one cell in an order that changes from run to run"
        if self.kind == "integer":
            return self._exact(f"integer {self.what}: integers give the same result in any order")
        if self.use.kind != "unused":
            class_, verdict, reason = self._returned()
            return (class_, "yes", f"float {self.what}: {order}") if self.kind == "float" else (class_, verdict, reason)
        if constant:
            class_ = "float-accumulate" if self.kind == "float" else "commutative-exact"
            return class_, "no", f"{self.what}: the {parts} are all the same `{constant}`, so the order changes nothing"
        if self.kind == "float":
            return "float-accumulate", "yes", f"float {self.what}: {order}"
        name = self._gradient()
        if name:
            reason = f"{self.what}: `{name}` computes gradients, which are floating point; {order}"
            return "float-accumulate", "yes", reason
        seen = f"{self.what}: the type comes with the array that is handed in; with floats, {order}, integers are exact"
        return "unknown", "conditional", seen

    def _gradient(self) -> str:
        """The name of the kernel or of the target that says that gradients are added to; empty for none."""
        if gradients.counts(self.target):
            return ""
        names = (self.target, *(scope.name for scope in self.types.functions))
        return next((name for name in names if gradients.names(name)), "")

    def _exact(self, reason: str) -> tuple[str, str, str]:
        return ("commutative-exact", "no", reason) if self.use.kind == "unused" else self._returned()

    def _returned(self) -> tuple[str, str, str]:
        quoted = f" in `{self.use.text}`" if self.use.text else ""
        changes = "in an order that changes from run to run"
        known = {
            "index": ("yes", f"the old value becomes a position{quoted}, so threads take their places {changes}"),
            "ticket": ("no", f"the old value is only compared{quoted}, as a ticket"),
            "forwarded": ("depends", f"the old value goes back to the caller{quoted}; it depends on its use"),
        }
        if self.use.queue:
            seen = f"threads fetch their work by the old value{quoted}; who gets which changes from run to run, and " \
                "the result with it if it depends on who that is"  # fmt: skip
            return "order-dependent", "conditional", f"{self.what}: {seen}"
        other = ("yes", f"the old value is used{quoted}, and it depends on the order of the threads")
        verdict, seen = known.get(self.use.kind, other)
        return "order-dependent", verdict, f"{self.what}: {seen}"

    def _swapped(self, operation: str) -> tuple[str, str, str]:
        constant = self.types.constant(self.value) if self.value is not None else ""
        if operation == "exch" and self.use.kind == "unused" and constant:
            return "order-dependent", "no", f"{self.what}: every thread stores the same `{constant}`"
        if operation == "exch" and self.use.kind == "unused":
            return "order-dependent", "conditional", f"{self.what}: the last thread to store wins, so the result " \
                "changes where two store different values in one cell"  # fmt: skip
        if operation == "cas" and self.use.spins:
            return "order-dependent", "conditional", f"{self.what}: a lock; threads pass it in an order that changes " \
                "from run to run, and the result with it if what they do under it is not exact"  # fmt: skip
        if operation == "cas" and self.use.kind == "unused":
            return "order-dependent", "conditional", f"{self.what}: the first thread wins; the result varies if the " \
                "threads store different values"  # fmt: skip
        class_, verdict, reason = self._returned()
        return class_, "conditional" if verdict == "no" else verdict, reason
