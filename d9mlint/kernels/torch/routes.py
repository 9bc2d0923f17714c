"""From the function around a site up to the names under which a library registers what calls it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from d9mlint.kernels.flow import strongest, weakest
from d9mlint.kernels.sites.wrappers import arity
from d9mlint.kernels.source import lexical
from d9mlint.kernels.switches import with_default
from d9mlint.kernels.torch import classes, cython
from d9mlint.kernels.torch.bindings import Binding, dotted, holders
from d9mlint.kernels.torch.blocks import Block
from d9mlint.kernels.torch.callers import Callers
from d9mlint.kernels.torch.calls import naming
from d9mlint.kernels.torch.cases import Case, case
from d9mlint.kernels.torch.presence import binds_c, compiles_by_name
from d9mlint.model.kernel import GUARD_LEVELS, Guard, Step

_NONE = Guard()
C_FUNCTION = "c"
"""The framework of a function that a shared library exports under its plain name."""
LOADED = "module"
"""That of a kernel in ``extern "C"``, which CuPy and PyCUDA take out of a module by its name."""
EXPRESSED = "expression"
"""That of a kernel which Python has compiled by its name in C++: ``ns::k<float>``."""
TVM_FFI = "tvm-ffi"
"""That of a function that a module exports by ``TVM_FFI_DLL_EXPORT_TYPED_FUNC``: an attribute of what Python loads."""
CYTHON = "cython"
"""That of a function that a source of Cython calls: the export is the function or class in that source."""
PHI = "paddle phi"
"""The registry of Paddle's own kernels."""
_FRAMEWORKS = (("NNVM", "mxnet"), ("MXNET", "mxnet"), ("DGL", "dgl"), ("TVM_FFI", TVM_FFI), ("TVM", "tvm"),
               ("XLA", "jax"), ("PD_REGISTER_", PHI), ("PD_", "paddle"), ("MS_", "mindspore"),
               ("ONNX", "onnxruntime"), ("REGISTER_USER_", "oneflow"), ("REGISTER_CUDA_", "caffe2"))  # fmt: skip
_QUERY = re.compile(r"workspace_?sizes?\Z|(?:\A|_)get_(?:max|min|num)_|_tactic_num\Z", re.IGNORECASE)
"""A function of such a name asks how much memory is needed, how large a block may be, how many kernels there are."""
_CHOICE = re.compile(
    rb'"(a?max|a?min|sum|add|mean|mul|prod)"|(?:\w+\s*::\s*)+k?(MAX|MIN|Max|Min|SUM|Sum|MUL|Mul|PROD|Prod|MEAN|Mean)'
)
"""An argument that chooses an operation."""
_SAME = {"amax": "max", "amin": "min", "sum": "add", "mean": "add", "prod": "mul"}
_OPENING = re.compile(rb"\s*(?:<[^;{}()]*>\s*)?\(")
_DEFAULT = re.compile(rb"(?:\"(\w*eterminis\w*)\"(?:_a)?\s*\)?|\bbool (\w*eterminis\w*))\s*=\s*(true|false|True|False)")
_ASSERTS = re.compile(r"(?:\A|_)(?:ASSERT|D?CHECK)(?:_|\Z)")
_GIVEN = re.compile(rb"\s*\(\s*(\w+)\s*[,)]")
_MAX_LEVELS = 8
"""Functions that hand a module on to others that register."""
_MAX_STATES = 1500
"""How many functions one way may pass; beyond that the names mean nothing."""


class Export(NamedTuple):
    """What a library registers: an operator of the dispatcher (``ns::op``) or a function of a compiled module."""

    name: str
    operator: bool
    module: str
    """The module as ``PYBIND11_MODULE`` names it; empty for ``TORCH_EXTENSION_NAME``, which the build sets."""
    path: str
    """The source that registers it; empty for an operator, which has one name everywhere."""
    framework: str = "torch"
    """Or that of another registry: ``mxnet``, ``dgl``, ``tvm``, ``jax``, ``paddle``."""
    within: str = ""
    """The submodules of the compiled module in which it is."""


class Route(NamedTuple):
    """A way to an export; ``backward``: through ``backward`` of a C++ ``torch::autograd::Function``."""

    export: Export
    backward: bool
    through: str
    """That function's class; empty where there is none."""
    guard: Guard
    chain: tuple[Step, ...]
    only: str = ""
    """The one operation that is asked for on the way (``max`` of ``reduce(x, "max")``); empty for any."""


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    block: Block
    backward: bool
    through: str
    guard: Guard
    step: Step
    before: _State | None
    length: int
    only: str = ""
    case: Case | None = None
    """Which instances of the block, a template, lead on."""

    def chain(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        at: _State | None = self
        while at is not None:
            steps.append(at.step)
            at = at.before
        return tuple(reversed(steps))


def routes(
    callers: Callers,
    start: Block,
    natives: Mapping[str, tuple[str, ...]],
    guarded: Callable[[Block, int], Guard],
    before: Guard = _NONE,
) -> Iterator[Route]:
    """The ways from a block to all exports, the least guarded first, then the shortest; each export and direction once.

    ``natives`` are the operators that a C++ function of a certain name implements, ``guarded`` says what deterministic
    mode does in a block before one of its places, ``before`` what it does in the first one.
    """
    walk = _Walk(callers, guarded)
    walk.push(start, Step(start.location, _introduced(start)), None, before)
    seen: set[tuple[Block, bool, Case | None]] = set()
    done: set[tuple[Export, bool]] = set()
    free = True
    while walk.waiting and len(seen) < _MAX_STATES:
        state = heapq.heappop(walk.waiting)[-1]
        key = (state.block, state.backward, state.case)
        if key in seen or (state.block, state.backward, None) in seen:
            continue
        seen.add(key)
        if state.block in callers.barren:
            continue
        # An operator of ATen is what users meet: what is composed of it calls it by its name.
        found = [*_native(state, natives)] or [*walk.step(state), *_linked(callers, state), *_by_cython(callers, state)]
        for export, step in found:
            if (export, state.backward) not in done:
                done.add((export, state.backward))
                guard = with_default(state.guard, walk.defaults.get(export, {})) if state.guard.switch else state.guard
                yield Route(export, state.backward, state.through, guard, (*state.chain(), step), state.only)
            if export.operator and not export.name.startswith("aten::"):
                walk.push(callers.operator(export.name, state.block), step, state, _NONE)
        free = free and not state.only and state.case is None
    if not done:
        yield from walk.of_classes()
    if not done and not walk.classes and not walk.waiting and free:
        callers.barren.update(block for block, _, _ in seen)


class _Walk:
    """The blocks that wait to be looked at: the least guarded first, then the nearest, then the first found."""

    def __init__(self, callers: Callers, guarded: Callable[[Block, int], Guard]) -> None:
        self.waiting: list[tuple[int, int, int, _State]] = []
        self.defaults: dict[Export, Mapping[str, str]] = {}
        """What registrations say of the arguments of what they export."""
        self.classes: dict[Export, tuple[_State, Step]] = {}
        """The classes of the methods that were passed, where a module exports them; the first way to each."""
        self._callers = callers
        self._guarded = guarded
        self._count = 0

    def push(
        self, block: Block, step: Step, below: _State | None, within: Guard, only: str = "", at: Case | None = None
    ) -> None:
        """Adds a block that mentions the one ``below``, behind a guard; ``only``: with this operation alone.

        ``at``: in which of its instances.
        """
        self._count += 1
        autograd = self._callers.autograd(block)
        gradient = autograd == "backward" or (block.name == "Backward" and block.scope != "")
        backward = (below is not None and below.backward) or gradient
        through = (below.through if below is not None else "") or (block.scope if autograd else "")
        guard = strongest([below.guard, within] if below is not None else [within])
        length = below.length + 1 if below is not None else 0
        only = only or (below.only if below is not None else "")
        state = _State(block, backward, through, guard, step, below, length, only, at)
        heapq.heappush(self.waiting, (GUARD_LEVELS.index(guard.level), length, self._count, state))

    def step(self, state: _State) -> list[tuple[Export, Step]]:
        """Adds the callers of a block; those that register it give what they export."""
        found: list[tuple[Export, Step]] = []
        if state.block.kind == "macro" and _ASSERTS.search(state.block.name):
            return found  # what is done where an assertion fails is no result
        for other, places in self._callers.callers(state.block):
            rest = []
            width = len(state.block.scope or state.block.name)
            for place in places:
                if state.case is not None and not state.case.admits(other, place + width):
                    continue
                bound = self._callers.binding(other, place)
                exports = _exports(self._callers, other, bound) if bound is not None else []
                if bound is not None and _QUERY.search(bound.name):
                    continue  # it launches nothing
                if bound is not None and _called_in(
                    state.block, other, bound, bool(self._callers.autograd(state.block))
                ):
                    found += [(export, Step(bound.location, text)) for export, text in exports]
                    self.defaults |= {export: _defaults(bound) for export, _ in exports}
                if bound is None:
                    self._note_classes(state, other, place)
                if not exports and other.kind not in ("library", "operators", "export"):
                    rest.append((self._guarded(other, place), place))
            if rest:
                within = weakest(guard for guard, _ in rest)
                at = [place for guard, place in rest if guard == within]
                place = next((p for p in at if self._callers.is_launch(other, state.block, p)), at[0])
                text = _mentioned(state.block, other)
                only = _chosen(other, [place + width for _, place in rest])
                cases = {case(other, place) for _, place in rest}
                instance = cases.pop() if len(cases) == 1 else None
                self.push(other, Step(other.unit.span(place, place + width), text), state, within, only, instance)
        return found

    def of_classes(self) -> Iterator[Route]:
        """The ways to the classes that were met: for who meets nothing that runs a method of theirs by its name."""
        for export, (state, step) in self.classes.items():
            yield Route(export, state.backward, state.through, state.guard, (*state.chain(), step), state.only)

    def _note_classes(self, state: _State, other: Block, place: int) -> None:
        for block, bound in classes.exported(self._callers, state.block, other, place):
            for export, text in _exports(self._callers, block, bound):
                self.classes.setdefault(export, (state, Step(bound.location, text)))


def _defaults(bound: Binding) -> Mapping[str, str]:
    """``py::arg("deterministic") = false``, or ``bool deterministic=False`` of a schema."""
    found = _DEFAULT.finditer(bound.block.unit.data, bound.start, bound.end)
    return {(m[1] or m[2]).decode(): m[3].decode().capitalize() for m in found}


def _chosen(other: Block, ends: list[int]) -> str:
    """The operation (``max``, ``add``, ...) that every call of a name, which ends there, asks for; else nothing."""
    found = set()
    for end in ends:
        opening = _OPENING.match(other.unit.data, end, end + 400)
        listed = lexical.arguments(other.unit.data, opening.end() - 1) if opening is not None else None
        given = [other.unit.data[first:last].strip() for first, last in listed[0]] if listed is not None else []
        matches = [match for one in given if (match := _CHOICE.fullmatch(one)) is not None]
        found.add((matches[0][1] or matches[0][2]).decode().lower() if len(matches) == 1 else "")
    words = {_SAME.get(word, word) for word in found}
    return words.pop() if len(words) == 1 else ""


def _native(state: _State, natives: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Export, Step]]:
    if state.block.kind == "function":
        for name in natives.get(state.block.name, ()):
            yield Export(f"aten::{name}", True, "", ""), Step(state.block.location, f"operator `aten::{name}`")


def _linked(callers: Callers, state: _State) -> Iterator[tuple[Export, Step]]:
    """What Python finds by its name: in a library (``ctypes``, ``cffi``) or module (CuPy) or by compiling it."""
    block = state.block
    kernel = block.function is not None and "__global__" in block.function.qualifier
    if block.linked:
        step = Step(block.location, f"exported as `{block.name}`")
        yield Export(block.name, False, "", block.unit.path, LOADED if kernel else C_FUNCTION), step
    elif kernel and compiles_by_name(callers.repository):
        step = Step(block.location, f"compiled by the name `{block.name}`")
        yield Export(block.name, False, "", block.unit.path, EXPRESSED), step
    elif block.in_c and binds_c(callers.repository):
        yield Export(block.name, False, "", block.unit.path), Step(block.location, f"exported as `{block.name}`")


def _by_cython(callers: Callers, state: _State) -> Iterator[tuple[Export, Step]]:
    """The functions and classes of Cython that call a function of the host."""
    block = state.block
    if block.kind == "function" and not state.only:
        name = block.label  # a method is called by its class
        takes = arity(block.function.node)[1] if block.function is not None and not block.template else None
        for call in cython.of_function(callers.repository, name, block.unit.path, naming.namespaces(block), takes):
            yield Export(".".join(call.scope), False, "", call.path, CYTHON), cython.step(call)


def _called_in(block: Block, other: Block, bound: Binding, autograd: bool) -> bool:
    """Whether a registration that mentions the class of a method can run the method: it names it, too.

    Those of an autograd Function are run by its ``apply``: ``m.impl("f", [](...) { return Fold::apply(...); })``.
    """
    if not block.scope or block.name.startswith("operator") or other.kind == "export":
        return True
    if block.name == block.scope:
        return "." not in bound.name  # another method of the class that is exported
    names = (block.name.encode(), b"apply") if autograd else (block.name.encode(),)
    return any(bound.start <= place < bound.end for name in names for place in other.words.get(name, ()))


def _exports(callers: Callers, block: Block, bound: Binding) -> list[tuple[Export, str]]:
    """What a registration exports, by the library it stands in or the libraries that call the function around it.

    Each with how a chain says it: the dispatch key is the device, or ``Autograd...``.
    """
    if block.kind == "export":
        framework = next(name for mark, name in _FRAMEWORKS if block.arguments[0].startswith(mark))
        return [(Export(bound.name, False, "", block.unit.path, framework), f"registered as `{bound.name}`")]
    if block.name == "class_":
        module = dotted("torch.classes", bound.within)
        return [(Export(bound.name, False, module, block.unit.path), f"bound as `{module}.{bound.name}`")]
    if block.kind == "operators":
        return [(_operator("", bound.name), f"bound as `{bound.name}`")]
    found = []
    for library, within in _libraries(callers, block):
        key = f" for {library.arguments[1]}" if library.name.endswith("IMPL") and len(library.arguments) > 2 else ""
        inside = bound._replace(within=dotted(within, bound.within))
        found.append((_in_library(library, inside), f"bound as `{bound.name}`{key}"))
    return found


def _libraries(callers: Callers, block: Block) -> list[tuple[Block, str]]:
    """The libraries that a registering function is part of, each with the submodule that it is handed there.

    ``PYBIND11_MODULE(pkg, m) { bind_ops(m); }``, and ``bind_ops`` hands on ``m.def_submodule("ops")``.
    """
    found: list[tuple[Block, str]] = []
    pending = [(block, "")]
    seen = {block}
    for _ in range(_MAX_LEVELS):
        at, pending = pending, []
        for inner, within in at:
            if inner.kind == "library":
                found.append((inner, within))
                continue
            for other, places in callers.callers(inner) if inner.kind in ("function", "macro") else ():
                if other in seen or other.kind not in ("library", "function", "macro"):
                    continue
                seen.add(other)
                pending.append((other, dotted(_handed(other, places[0] + len(inner.name)), within)))
    return found


def _handed(block: Block, end: int) -> str:
    """The submodule that a call, whose name ends there, is given."""
    given = _GIVEN.match(block.unit.data, end, end + 200)
    holder = holders(block).get(given[1]) if given is not None else None
    return holder.within if holder is not None else ""


def _in_library(library: Block, bound: Binding) -> Export:
    first = library.arguments[0] if library.arguments else ""
    macro = first.isupper() and len(first.strip("_")) > 2  # `_C` is a module
    name = "" if "EXTENSION_NAME" in first or macro or not first.isidentifier() else first
    if "TORCH_LIBRARY" in library.name:
        return _operator(name, bound.name)
    return Export(bound.name, False, name, library.unit.path, within=bound.within)


def _operator(namespace: str, name: str) -> Export:
    name = name.partition(".")[0]
    return Export(name if "::" in name or not namespace else f"{namespace}::{name}", True, "", "")


def _introduced(block: Block) -> str:
    if block.kind == "macro":
        return f"macro `{block.name}`"
    kernel = block.function is not None and "__global__" in block.function.qualifier
    return f"kernel `{block.label}`" if kernel else f"function `{block.label}`"


def _mentioned(block: Block, other: Block) -> str:
    if other.kind == "register":
        return f"registered for `{other.name}`"
    if other.kind in ("macro", "table"):
        return f"in {other.kind} `{other.name}`"
    kernel = block.function is not None and "__global__" in block.function.qualifier
    return f"launched in `{other.label}`" if kernel else f"called in `{other.label}`"
