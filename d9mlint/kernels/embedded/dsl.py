"""Kernels in the CuTe DSL (``cutlass.cute``): atomics by ``cute.arch``, by NVVM, by inline PTX, and through functions.

Also those of FlyDSL and others that build MLIR: ``llvm.AtomicRMWOp(llvm.AtomicBinOp.add, pointer, value, ...)``, and
``rocdl.raw_ptr_buffer_atomic_fadd(value, resource, offset, ...)`` of the dialect for AMD GPUs.

Inline PTX and the functions that hold it are read in Triton, too (``tl.inline_asm_elementwise``).

https://docs.nvidia.com/cutlass/media/docs/pythonDSL/cute_dsl.html; ``nvvm.atomicrmw`` is MLIR's NVVM dialect. A
function that applies one of them to a pointer that it is given is a wrapper: its calls are sites, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.embedded import methods
from d9mlint.kernels.embedded.calls import Found, judged_call
from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.uses import use
from d9mlint.kernels.python.calls import argument, decorators, keyword, last_name, positional
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.words import Mention, below

_MARKS = (b"cutlass", b"inline_asm_elementwise", b"AtomicRMWOp", b"AtomicCmpXchgOp", b"flydsl", b"rocdl")
_PREFIXES = {"inline_asm": "cutlass.", "inline_asm_elementwise": "triton."}
_BUILT = ("AtomicRMWOp", "AtomicCmpXchgOp")
"""Operations of MLIR's LLVM dialect: https://mlir.llvm.org/docs/Dialects/LLVM/."""
_BUFFERS = {
    f"raw_{pointer}buffer_atomic_{word}": (operation, kind)
    for pointer in ("", "ptr_")
    for word, operation, kind in (
        ("fadd", "add", "float"), ("fmax", "max", "float"), ("smax", "max", "integer"), ("umin", "min", "integer"),
        ("cmpswap", "cas", ""),
    )
}  # fmt: skip
"""Operations of MLIR's ROCDL dialect (https://mlir.llvm.org/docs/Dialects/ROCDLDialect/): value, resource, offsets."""
_PRIMITIVES = "cutlass.experimental.primitives."
_BULK = f"{_PRIMITIVES}cp_reduce_async_bulk_global_shared_cta"
_TENSOR = f"{_PRIMITIVES}cp_async_bulk_tensor_reduce"
_REDUCING = {
    "cutlass.cute.arch.red": (("op", None), ("dtype", None), ("ptr", 0), ("val", 1)),
    f"{_PRIMITIVES}red": (("op", 0), ("type_", 1), ("a", 2), ("b", 3)),
    _BULK: (("op", None), ("type", None), ("dst", 0), ("src", 1)),
    _TENSOR: (("red_kind", 2), ("", None), ("tma_descriptor", 0), ("src_mem", 1)),
}
"""Functions of nvidia-cutlass-dsl 4.8 that return nothing; operation, type, target, value: name and position."""
_REDUCES = frozenset(name.rpartition(".")[2] for name in _REDUCING)
_GIVEN_NONE = {_BULK: ("add", "bf16")}
"""The operation and the type where a call gives none."""
_PTX_TYPES = {"b": "int", "u": "int", "s": "int", "f": "float"}
_PTX = re.compile(r"[busf]\d+")
_INSERTED = "x"
_INTEGERS = re.compile(r"\A\S*\.[sub]x\s")
"""The type of an instruction where only its width is put in: ``add.u{bits}``."""
_MAX_ROUNDS = 6
_MAX_LINKS = 10


class Wrapper(NamedTuple):
    """A function that applies an atomic to what one of its parameters points to."""

    dotted: str
    name: str
    file: PyFile
    target: int
    """The position of that parameter."""
    operation: str
    kind: str
    """``float``, ``integer`` or empty: of what is combined."""
    within: ast.AST | None = None
    """The function that it is defined in; it is called there only."""


class _Site(NamedTuple):
    """An atomic in a file: the call, what it does, its target and the value that it brings."""

    mention: Mention
    call: ast.Call
    operation: str
    kind: str
    target: ast.expr | None
    value: ast.expr | None
    wrapped: bool = False
    returns: bool = True


def may_hold(data: bytes) -> bool:
    """Whether a file names the language, or inline PTX in Triton; cheap to ask."""
    named = b"tomic" in data or b"inline_asm" in data or b".red(" in data or b"_async_bulk_" in data
    return named and any(mark in data for mark in _MARKS)


def sites(files: PyFiles, paths: list[str]) -> Iterator[tuple[PyFile, Found]]:
    """The atomics in files that name the language, and the calls of the functions that wrap them."""
    named = [f for p in paths if may_hold(files.repository.data(p)) and (f := files.file(p)) is not None]
    waiting = [(file, site) for file in named for site in _direct(file)]
    known: dict[str, Wrapper] = {}
    told: set[tuple[str, str, str]] = set()
    seen: set[tuple[str, int, int, str]] = set()
    for _ in range(_MAX_ROUNDS):
        fresh: list[Wrapper] = []
        called: list[tuple[PyFile, _Site]] = []
        for file, site in waiting:
            key = (file.path, site.call.lineno, site.call.col_offset, site.operation)
            if key in seen:
                continue
            seen.add(key)
            wrapper = _wrapper(files, file, site)
            if wrapper is not None and wrapper.dotted not in known:
                known[wrapper.dotted] = wrapper
                fresh.append(wrapper)
            method = _method(file, site) if wrapper is None else None
            if method is not None and method.key not in told:
                told.add(method.key)
                called += _calls(files, method, site)
            yield file, _found(file, site, wrapper is not None)
        waiting = [*called, *(one for wrapper in fresh for one in _uses(files, wrapper))]
        if not waiting:
            return


def _direct(file: PyFile) -> Iterator[_Site]:
    for mention in file.mentions.get("atomicrmw", ()):
        call = mention.call
        operation = keyword(call, "op") if call is not None else None
        if call is None or not isinstance(operation, ast.Attribute):
            continue
        word = operation.attr.lower()
        kind = "float" if word.startswith("f") else "integer"
        value = keyword(call, "a")
        yield _Site(mention, call, word.removeprefix("f").lstrip("u"), kind, keyword(call, "ptr"), value)
    for mention in (one for name in sorted(_REDUCES) for one in file.mentions.get(name, ())):
        call = mention.call
        if call is not None and file.dotted(call.func) in _REDUCING:
            yield _reduced(file, mention, call)
    for name in _BUILT:
        for mention in file.mentions.get(name, ()):
            call = mention.call
            if call is not None and "llvm" in file.dotted(call.func):
                yield from _built(mention, call)
    for name, (word, kind) in _BUFFERS.items():
        for mention in file.mentions.get(name, ()):
            call = mention.call
            if call is not None and "rocdl" in file.dotted(call.func):
                at = 2 if word == "cas" else 1
                target, value = argument(call, at, "rsrc"), argument(call, 0, "vdata", "src")
                yield _Site(mention, call, word, kind, target, value, returns=word == "cas")
    for word, prefix in _PREFIXES.items():
        for mention in file.mentions.get(word, ()):
            call = mention.call
            if call is not None and file.dotted(call.func).startswith(prefix):
                yield from _assembled(mention, call)


def _reduced(file: PyFile, mention: Mention, call: ast.Call) -> _Site:
    """``cute.arch.red(ptr, val, op="add", dtype="f32")``; ``primitives.red(ReductionOp.ADD, ReductionType.F32, ...)``.

    What a function picks by its own parameters, or where it is not seen, is an addition where it may be one.
    """
    name = file.dotted(call.func)
    operation, typed, target, value = (
        keyword(call, word) if at is None else argument(call, at, word) for word, at in _REDUCING[name]
    )
    usual = _GIVEN_NONE.get(name, ("add", ""))
    words = _words(mention, operation) or [usual[0]]
    word = "add" if "add" in words else words[0].lstrip("u")
    written = _words(mention, typed) if typed is not None else [usual[1]]
    kinds = {_kind(mention, one.removesuffix("x2")) for one in written}
    return _Site(mention, call, word, kinds.pop() if len(kinds) == 1 else "", target, value, returns=False)


def _kind(mention: Mention, name: str) -> str:
    """Of a type of PTX, of Python's name for it, or of an attribute that the class asserts to be a type."""
    return plain_kind(name) or plain_kind(_PTX_TYPES.get(name[:1], "") if _PTX.fullmatch(name) else "")


def _words(mention: Mention, node: ast.expr | None) -> list[str]:
    """What names an operation or a type: a text, the last part of a name, or all that a variable may be of these."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value.lower()]
    if isinstance(node, ast.Attribute):
        return (_of_object(mention, node.attr) if _own(node) else []) or [node.attr.lower()]
    if not isinstance(node, ast.Name):
        return []
    given = (
        s.value
        for scope in mention.scopes
        for s in below(scope)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and s.targets[0].id == node.id
    )
    return [word for value in given if not isinstance(value, ast.Name) for word in _words(mention, value)]


def _of_object(mention: Mention, attribute: str) -> list[str]:
    """What an attribute of the object is: by what its class sets it to, else by what the class asserts."""
    owner = next((s for s in mention.scopes if isinstance(s, ast.ClassDef)), None)
    nodes = below(owner) if owner is not None else []
    sets = [n.value for n in nodes if isinstance(n, ast.Assign) and any(_own(t) == attribute for t in n.targets)]
    tests = [n.test for n in nodes if isinstance(n, ast.Assert) and isinstance(n.test, ast.Compare)]
    asserts = [t.comparators[0] for t in tests if _own(t.left) == attribute and isinstance(t.ops[0], ast.Eq | ast.Is)]
    found = [[w for one in every if not _own(one) for w in _words(mention, one)] for every in (sets, asserts)]
    return found[0] or found[1]


def _own(node: ast.expr) -> str:
    """The name of an attribute of the object itself; empty for any other expression."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return ""
    return node.attr if node.value.id == "self" else ""


def _built(mention: Mention, call: ast.Call) -> Iterator[_Site]:
    """``AtomicRMWOp(kind, pointer, value, ordering)`` and ``AtomicCmpXchgOp(pointer, expected, value, ...)``."""
    names = ("bin_op", "ptr", "val") if last_name(call.func) == _BUILT[0] else ("ptr", "cmp", "val")
    given = [argument(call, at, name) for at, name in enumerate(names)]
    if names[0] == "ptr":
        yield _Site(mention, call, "cas", "", given[0], given[2])
    elif isinstance(given[0], ast.Attribute):
        word = given[0].attr.lower().strip("_")
        kind = "float" if word.startswith("f") else "integer" if word != "xchg" else ""
        yield _Site(mention, call, word.removeprefix("f").lstrip("u"), kind, given[1], given[2])


def _assembled(mention: Mention, call: ast.Call) -> Iterator[_Site]:
    from d9mlint.kernels.judging.opcodes import opcode  # few files hold assembler
    from d9mlint.kernels.sites.ptx import instructions

    given = [*call.args, *(k.value for k in call.keywords if k.arg in ("asm", "args"))]
    operands = next((n.elts for n in given if isinstance(n, ast.List | ast.Tuple)), [])
    for text in (_text(n) for n in given):
        for one in instructions(text.replace("$", "%").encode("utf-8", "replace")):
            code = opcode(one.text)
            if code is not None and code.operation:
                whole = code.type or _INTEGERS.search(one.text) is not None
                kind = "float" if code.float else "integer" if whole else ""
                target = operands[0] if operands else None
                yield _Site(mention, call, code.operation, kind, target, None, returns=code.returns)


def _text(node: ast.expr) -> str:
    """The text of a string, each value that is put into it as one letter."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = (_part(part) for part in parts)
    return "".join(t for t in texts if isinstance(t, str)) if isinstance(node, ast.JoinedStr | ast.Constant) else ""


def _part(node: ast.expr) -> object:
    """A piece of a string; of ``{"s" if signed else "u"}`` one of the two."""
    at = node.value if isinstance(node, ast.FormattedValue) else node
    at = at.body if isinstance(at, ast.IfExp) else at
    return at.value if isinstance(at, ast.Constant) else _INSERTED


def _launched(files: PyFiles, name: str) -> bool:
    """Whether a function is launched anywhere (``f[grid](...)``): a kernel."""
    found = (files.file(path) for path in files.mentioning(name.encode() + b"["))
    return any(
        m.parents and isinstance(m.parents[-1], ast.Subscript) and m.parents[-1].value is m.node
        for file in found
        if file is not None
        for m in file.mentions.get(name, ())
    )


def _wrapper(files: PyFiles, file: PyFile, site: _Site) -> Wrapper | None:
    """The function around an atomic, where its target is reached through a parameter of it; a kernel is none."""
    scopes = [s for s in site.mention.scopes if isinstance(s, ast.FunctionDef)]
    if len(site.mention.scopes) != len(scopes) or not scopes or site.target is None:
        return None
    function = scopes[-1]
    names = [a.arg for a in positional(function)]
    kernel = any(file.dotted(d).endswith(".kernel") for d in decorators(function))
    root = _root(site.target, function, file)
    if kernel or root not in names or _launched(files, function.name):
        return None
    dotted = f"{file.module}.{function.name}" if file.module else function.name
    within = scopes[-2] if len(scopes) > 1 else None
    if within is not None:
        dotted = ".".join((file.module, *(scope.name for scope in scopes), str(function.lineno)))
    return Wrapper(dotted, function.name, file, names.index(root), site.operation, site.kind, within)


def _root(node: ast.expr, function: ast.FunctionDef, file: PyFile) -> str:
    """The name that an address is made of, through the simple assignments of the function."""
    assigned = {
        s.targets[0].id: s.value
        for s in below(function)
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
    }
    at: ast.expr = node
    for _ in range(_MAX_LINKS):
        while isinstance(at, ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
            inner = at.func if isinstance(at, ast.Call) else at.left if isinstance(at, ast.BinOp) else at.value
            if isinstance(at, ast.Call) and (not isinstance(at.func, ast.Attribute) or _of_module(at.func, file)):
                inner = at.args[0] if at.args else inner
            at = inner
        if not isinstance(at, ast.Name) or at.id not in assigned:
            break
        at = assigned[at.id]
    return at.id if isinstance(at, ast.Name) else ""


def _of_module(called: ast.Attribute, file: PyFile) -> bool:
    """Whether a function of an imported module is called, not a method."""
    at: ast.expr = called
    while isinstance(at, ast.Attribute):
        at = at.value
    return isinstance(at, ast.Name) and at.id in file.imports


def _uses(files: PyFiles, wrapper: Wrapper) -> Iterator[tuple[PyFile, _Site]]:
    """The calls of a wrapper in all files."""
    names = set(files.names(wrapper.file.module, wrapper.name)) | {wrapper.dotted}
    for path in files.mentioning(wrapper.name.encode()):
        file = files.file(path)
        for mention in _mentions(file, wrapper.name) if file is not None else ():
            assert file is not None
            call = mention.call
            own = file is wrapper.file and isinstance(mention.node, ast.Name)
            if wrapper.within is not None and (not own or wrapper.within not in mention.scopes):
                continue
            if call is None or not (own or _named(file.dotted(mention.node), names, wrapper)):
                continue
            target = call.args[wrapper.target] if wrapper.target < len(call.args) else None
            yield file, _Site(mention, call, wrapper.operation, wrapper.kind, target, None, True)


def _method(file: PyFile, site: _Site) -> methods.Method | None:
    """The method around an atomic on what its object holds."""
    function = site.mention.scopes[-1] if site.mention.scopes else None
    if site.target is None or not isinstance(function, ast.FunctionDef):
        return None
    return methods.around(file, site.mention, _root(site.target, function, file))


def _calls(files: PyFiles, method: methods.Method, site: _Site) -> Iterator[tuple[PyFile, _Site]]:
    """The calls of a method that wraps an atomic; it gives the old value where that goes back to the caller."""
    returns = site.returns and use(site.call, site.mention).kind == "forwarded"
    for file, mention, call in methods.calls(files, method):
        held = mention.node.value if isinstance(mention.node, ast.Attribute) else None
        yield file, _Site(mention, call, site.operation, site.kind, held, None, True, returns)


def _mentions(file: PyFile, name: str) -> list[Mention]:
    """The mentions of a name, also by the names under which the file imports it."""
    local = {alias for alias, dotted in file.imports.items() if dotted.rpartition(".")[2] == name}
    return [mention for one in sorted({name} | local) for mention in file.mentions.get(one, ())]


def _named(dotted: str, names: set[str], wrapper: Wrapper) -> bool:
    """Whether a dotted name is that of a wrapper: by its packages, or by folders without ``__init__``."""
    module, _, name = dotted.rpartition(".")
    ending = f"/{module.replace('.', '/')}.py"
    if dotted in names or ("." in module and name == wrapper.name and f"/{wrapper.file.path}".endswith(ending)):
        return True
    # A package that is installed under another name than its folder's (`flux.triton.extra` of `flux_triton/extra`).
    own, package = wrapper.file.module.rpartition(".")[0], module.rpartition(".")[2]
    return name == wrapper.name and "tomic" in name and "." in module and own.rpartition(".")[2] == package


def _found(file: PyFile, site: _Site, defines: bool) -> Found:
    found = judged_call(
        file, site.mention, site.call, site.operation, site.kind, site.target, site.value, returns=site.returns
    )
    form = "wrapper-def" if defines else "wrapper" if site.wrapped else "direct"
    typed = found.target_type if plain_kind(found.target_type) else site.kind
    found = found._replace(form=form, target_type=typed)
    if not defines or found.verdict == "no":
        return found
    return found._replace(verdict="depends", reason=f"{found.reason}; it depends on what the callers hand in")
