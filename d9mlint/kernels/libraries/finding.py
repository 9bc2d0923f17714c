"""Calls of cuDNN, cuBLAS, cuSPARSE, CUB and Thrust whose results are documented to vary, or may."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from d9mlint.kernels.flow import Anchor
from d9mlint.kernels.guards import TENSORFLOW, TORCH, guard_before
from d9mlint.kernels.libraries import facts
from d9mlint.kernels.libraries.presence import LIBRARIES
from d9mlint.kernels.sites.calls import Call, call_at, name_node
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit, unparsed
from d9mlint.model import Guard, LibraryCall


def _any_of(names: Iterable[str]) -> tuple[re.Pattern[bytes], ...]:
    """Patterns that find the names: one for each pair of first letters, by which the search skips ahead.

    No word boundary in front, so that a wrapper's name (``CHECK_CUDNN_...``) counts, too.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(names, reverse=True):  # a longer name before what it begins with
        groups.setdefault(name[:2], []).append(name[2:])
    return tuple(re.compile(rf"{start}(?:{'|'.join(rest)})\b".encode()) for start, rest in groups.items())


_ROUTINES = {r.name: r for r in facts.ROUTINES}
_SPARSE = {s.name: s for s in facts.SPARSE}
# Names of C++ are common words, those of C are not.
_C_NAMES = _any_of([*facts.CONSTANTS, *_SPARSE, *(n for n in _ROUTINES if n.startswith("cu"))])
_CPP_NAMES = _any_of(n for n in _ROUTINES if not n.startswith("cu"))
_EXACT_OPERATOR = re.compile(r"\b(?:min|max|minimum|maximum)\b", re.IGNORECASE)
_POLICY = re.compile(
    r"\b(?:par|par_nosync|device|host|policy|seq|execution_policy|exec)\b|\bpar\w*\.|policy", re.IGNORECASE
)
_HANDLE = re.compile(rb"(?<![\w])(" + b"|".join(h.encode() for h in reversed(facts.HANDLES)) + rb")\s*\(")
_NO_CALL = re.compile(rb"^\s*(?:\*|/\*|#)|cublasStatus_t\s+(?:\w+\s+)*$")  # comments, directives, declarations
_HANDLE_REASON = (
    "`{}` makes a handle with a shared workspace: with more than one stream cuBLAS picks kernels by what is free, "
    "unless CUBLAS_WORKSPACE_CONFIG or `cublasSetWorkspace` sets one; neither is named in these sources"
)
_TABLE = 3
"""So many algorithms of one kind in one list are a table of all there are, not a choice."""


class Found(NamedTuple):
    """A call, with the guard in the function around it, and where it stands, for the way to the op."""

    call: LibraryCall
    anchor: Anchor | None
    """Where the way to its op starts; None for what is only told."""


def find(repository: Repository) -> list[Found]:
    """All such calls, by place. Exact ones (integers, documented algorithms) and names in comments are none."""
    sources = list(repository.looked(LIBRARIES))
    found: list[Found] = []
    for path in sources:
        names = list(_names(repository.data(path)))
        unit = repository.unit(path) if names else None
        if unit is not None:
            found += _in(unit, names, repository)
    made = [path for path in sources if facts.HANDLES[0].encode() in repository.data(path)]
    if made and not any(word in repository.data(path) for path in sources for word in facts.WORKSPACES):
        found += [one for path in made for one in _handles(path, repository.data(path))]
    return sorted(found, key=lambda one: (one.call.location, one.call.name))


def _names(data: bytes) -> Iterator[re.Match[bytes]]:
    cpp = b"cub::" in data or b"thrust::" in data
    for pattern in (*_C_NAMES, *(_CPP_NAMES if cpp else ())):
        yield from pattern.finditer(data)


def _in(unit: Unit, names: Iterable[re.Match[bytes]], repository: Repository) -> Iterator[Found]:
    for match in names:
        judged = _judged(unit, match.start(), match[0], repository)
        if judged is not None:
            node, verdict, reason = judged
            function = unit.function(node)
            location = unit.location(node)
            anchor, label, guard = Anchor(location), "", Guard()
            if function is not None:
                anchor, label = Anchor(location, function.name, function.scope), function.label
                guard = _guard(unit, function, match.start())
            call = LibraryCall(location, label, match[0].decode(), facts.LIBRARY_RULE, verdict, reason, guard)
            yield Found(call, anchor)


def _guard(unit: Unit, function: Function, place: int) -> Guard:
    """What the function around a call does in deterministic mode: libraries are called far from any registered op."""
    guards = (guard_before(unit, function.node, place, words) for words in (TENSORFLOW, TORCH))
    return next((guard for guard in guards if guard.level != "none"), Guard())


def _handles(path: str, data: bytes) -> Iterator[Found]:
    """Where cuBLAS handles are made: only told, not judged, so that no tree is needed for it."""
    for match in _HANDLE.finditer(data):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if b"//" in before or b'"' in before or _NO_CALL.search(before):
            continue
        location = unparsed(path, data).span(match.start(), match.end(1))
        name = match[1].decode()
        yield Found(
            LibraryCall(location, "", name, facts.WORKSPACE_RULE, "conditional", _HANDLE_REASON.format(name)),
            None,
        )


_Judged = tuple[Node, str, str]
"""Node, verdict and reason."""


def _judged(unit: Unit, start: int, word: bytes, repository: Repository) -> _Judged | None:
    name = word.decode()
    if name in facts.CONSTANTS:
        node = name_node(unit, start, start + len(word))
        return _constant(unit, node, facts.CONSTANTS[name]) if node is not None else None
    call = call_at(unit, start, word)
    if call is None:
        return None
    judged = _sparse(call, _SPARSE[name]) if name in _SPARSE else _routine(call, _ROUTINES[name], repository)
    return None if judged is None else (_name_in(call), *judged)


def _name_in(call: Call) -> Node:
    return call.node.child_by_field_name("function") or call.node


# -- constants -----------------------------------------------------------------------------------------------------


def _constant(unit: Unit, node: Node, fact: facts.Constant) -> _Judged | None:
    verdict, how = _role(unit, node, fact)
    if not verdict:
        return None
    about = fact.says
    if fact.backward:
        about = f"{about} in `{fact.backward}`"
        if verdict == "yes" and fact.backward.encode() not in unit.data:
            verdict, how = "depends", f"`{fact.backward}` is not called in this file"
    return node, verdict, f"`{fact.name}`: {about}; {how}"


def _role(unit: Unit, node: Node, fact: facts.Constant) -> tuple[str, str]:
    """What a constant does where it stands: verdict and words; an empty verdict where it is only declared."""
    at, child = node.parent, node
    while at is not None:
        if at.type in ("enumerator", "enumerator_list", "using_declaration"):
            return "", ""
        if at.type == "case_statement":
            labelled = at.child_by_field_name("value")
            label = labelled is not None and labelled.start_byte <= node.start_byte < labelled.end_byte
            what = "is only a case of a `switch`" if label else "is one of the cases of a table of names"
            return "depends", f"here it {what}"
        if at.type == "binary_expression" and _operator(at) in ("==", "!="):
            return "depends", "here something is only compared with it"
        if at.type == "initializer_list" and _same_kind(unit, at, fact.name) >= _TABLE:
            return "depends", "here it stands in a list of all algorithms"
        if at.type == "conditional_expression" and not _is_condition(at, child):
            condition = at.child_by_field_name("condition")
            text = " ".join(unit.text(condition).split())[:80] if condition is not None else ""
            return "conditional", f"here it is chosen depending on `{text}`"
        if at.type in ("function_definition", "lambda_expression"):
            break
        child, at = at, at.parent
    return "yes", "here it is chosen"


def _operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""


def _is_condition(node: Node, child: Node) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and condition.id == child.id


def _same_kind(unit: Unit, listing: Node, name: str) -> int:
    """How many constants of this kind (``CUDNN_CONVOLUTION_BWD_DATA_ALGO_...``) a list holds."""
    stem = re.sub(r"_(?:ALGO|ATOMICS|CSR_ALG|POOLING)_\w+$", "", name)
    return len(set(re.findall(rb"\b" + stem.encode() + rb"\w+", unit.data[listing.start_byte : listing.end_byte])))


# -- calls ---------------------------------------------------------------------------------------------------------


def _sparse(call: Call, fact: facts.Sparse) -> tuple[str, str] | None:
    given = [" ".join(call.unit.text(node).split()) for node in call.arguments]
    if len(given) <= fact.algorithm:
        return None
    operation, compute, algorithm = given[fact.operation], given[fact.compute], given[fact.algorithm]
    if compute in ("CUDA_R_32I", "CUDA_R_8I"):
        return None
    if re.fullmatch(r"CUSPARSE_OPERATION_(?:CONJUGATE_)?TRANSPOSE", operation):
        return "yes", f"`{fact.name}` with a transposed sparse matrix (`{operation}`) is documented to vary in each run"
    exact = ", ".join(fact.exact)
    if algorithm.rpartition("::")[2] in fact.exact:
        if operation == "CUSPARSE_OPERATION_NON_TRANSPOSE":
            return None
        return (
            "conditional",
            f"`{algorithm}` gives the same bits in each run unless `{operation}` transposes the matrix",
        )
    if re.search(r"\bCUSPARSE_\w+$", algorithm):
        return "yes", f"`{fact.name}` with `{algorithm}` may vary: only {exact} are documented to give the same bits"
    return "conditional", f"`{fact.name}` may vary unless `{algorithm}` is one of {exact}"


def _routine(call: Call, fact: facts.Routine, repository: Repository) -> tuple[str, str] | None:
    scopes = set(call.scopes)
    if fact.scopes and not scopes & set(fact.scopes):
        return None
    said = f"`{call.name}` {fact.says}" if not fact.says.startswith("cuDNN") else f"`{call.name}`: {fact.says}"
    if not fact.floats:
        return "yes", said
    arguments = _without_policy(call) if fact.scopes == ("thrust",) else list(call.arguments)
    if "run_to_run" in call.unit.text(call.node) or "gpu_to_gpu" in call.unit.text(call.node):
        return None  # cuda::execution::require(determinism::run_to_run)
    if fact.operator is not None and len(arguments) > fact.operator:
        operator = call.unit.text(arguments[fact.operator])
        if _EXACT_OPERATOR.search(operator):
            return None
    return _by_type(call, [arguments[n] for n in fact.values if n < len(arguments)], said, repository)


def _without_policy(call: Call) -> list[Node]:
    """The arguments without ``thrust::device``, ``thrust::cuda::par.on(stream)`` and the like in front."""
    given = list(call.arguments)
    return given[1:] if given and _POLICY.search(call.unit.text(given[0])) else given


def _by_type(call: Call, values: Iterable[Node], said: str, repository: Repository) -> tuple[str, str] | None:
    from d9mlint.kernels.libraries.types import element_kinds

    kinds = [element_kinds(node, call.unit, repository) for node in values]
    known = next((k for k in kinds if k is not None and k.names), None)
    if known is None:
        return "unknown", f"{said}; the type of its values cannot be told here (integers are exact)"
    names = ", ".join(known.names)
    if known.floats:
        exact = " (integers are exact)" if known.integers else ""
        return "yes", f"{said}; the values are `{names}`{exact}"
    if known.open:
        return "conditional", f"{said}; the values are `{names}`: it varies where that is floating point"
    return None
