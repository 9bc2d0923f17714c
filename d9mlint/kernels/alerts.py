"""PyTorch's alert, or TensorFlow's or Python's test, before a kernel that varies; nothing where that is not certain.

https://docs.pytorch.org/docs/stable/notes/randomness.html; ``alertNotDeterministic`` is in aten/src/ATen/Context.h,
``OpDeterminismRequired`` in tensorflow/core/util/determinism.h.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.pyalerts import before_launches
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit
from d9mlint.kernels.torch.presence import INCLUDING
from d9mlint.model import KernelOp, KernelScan, Location, Site, Step

_BRINGS = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch/(?:extension|torch|all|script)|ATen/(?:ATen|Context))\.h', re.MULTILINE
)
"""Headers with which ``at::globalContext()`` is there."""
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10)/[^\n]*\n', re.MULTILINE)
_OF_TENSORFLOW = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"tensorflow/[^\n]*\n', re.MULTILINE)
_TENSORFLOW = "tensorflow/core/util/determinism.h"
_CONTEXT = re.compile(r"\bOpKernelContext\s*\*\s*(?:const\s+)?(\w+)")
_DEVICE = re.compile(r"\b(?:typename|class)\s+Device\b")
_GPU = re.compile(rb"\b(?:using\s+GPUDevice\s*=|typedef\s+(?:\w+::)*GpuDevice\s+GPUDevice\s*;)")
_BLOCKS = ("compound_statement",)
_LAUNCHING = ("launched in", "called in")
_MAX_LEVELS = 200


class Alert(NamedTuple):
    """Lines to insert into a file, and the sites that are behind them then."""

    path: str
    place: int
    """The byte before which they go: the first of a line."""
    text: str
    sites: tuple[Location, ...]
    where: Location
    """The launch."""
    framework: str = "torch"
    """``torch``, ``tensorflow``; ``python`` where nothing is to be included."""


def alerts(scan: KernelScan, repository: Repository) -> tuple[list[Alert], dict[Location, str]]:
    """The alerts for unguarded sums of floats that reach ops of a framework; the sites without one, with the reason."""
    found: dict[tuple[str, int], Alert] = {}
    without: dict[Location, str] = {}
    for site in scan.sites:
        reaching = [op for op in scan.ops if site.location in op.sites]
        if not _sums(site) or not reaching:
            continue
        if site.location.path.endswith(".py"):
            made = _in_python(site, repository)
            without |= {} if made else {site.location: "no function was found that has PyTorch and launches the kernel"}
            _add(made, found)
            continue
        if {op.framework for op in reaching} not in ({"torch"}, {"tensorflow"}):
            without[site.location] = "it is no op of PyTorch or of TensorFlow alone"
            continue
        launches = [_alert(op, site, repository) for op in reaching]
        if any(one is None for one in launches):
            without[site.location] = "where the kernel is launched for a tensor is not certain"
            continue
        _add([one for one in launches if one is not None], found)
    return [found[key] for key in sorted(found)], without


def _add(made: list[Alert], found: dict[tuple[str, int], Alert]) -> None:
    """Alerts at one place are one, for all their sites."""
    for one in made:
        known = found.get((one.path, one.place), one)
        found[one.path, one.place] = one._replace(sites=tuple(sorted({*known.sites, *one.sites})))


def patched(data: Mapping[str, bytes], made: list[Alert]) -> dict[str, bytes]:
    """The files with the alerts in them, and with the header that they need."""
    out: dict[str, bytes] = {}
    for path in sorted({one.path for one in made}):
        text = data[path]
        newline = b"\r\n" if b"\r\n" in text else b"\n"
        for one in sorted((a for a in made if a.path == path), key=lambda a: -a.place):
            text = text[: one.place] + one.text.encode().replace(b"\n", newline) + text[one.place :]
        for framework in sorted({a.framework for a in made if a.path == path} - {"python"}):
            text = _with_header(text, framework, newline)
        out[path] = text
    return out


def _with_header(text: bytes, framework: str, newline: bytes) -> bytes:
    """The source with the header that the alert of a framework needs."""
    if framework == "torch":
        there, beside, line = _BRINGS.search(text) is not None, _INCLUDE, "#include <ATen/Context.h>"
    else:
        there, beside, line = _TENSORFLOW.encode() in text, _OF_TENSORFLOW, f'#include "{_TENSORFLOW}"'
    last = [match.end() for match in beside.finditer(text)][-1]
    return text if there else text[:last] + line.encode() + newline + text[last:]


def _sums(site: Site) -> bool:
    """Whether a site adds floats for certain, and nothing stands before it."""
    adds = site.class_ == "float-accumulate" or (site.class_ == "cas-loop" and site.implements in ACCUMULATE)
    return site.verdict == "yes" and adds and site.guard.level == "none" and not site.guard.switch


def _alert(op: KernelOp, site: Site, repository: Repository) -> Alert | None:
    if op.framework == "tensorflow":
        found = (_in_kernel(step, site, repository) for step in op.chain_from(site.location))
        return next((made for made in found if made is not None), None)
    for step in op.chain_from(site.location):
        if step.text.startswith(_LAUNCHING) and (made := _at(step, site, repository)) is not None:
            return made
    return None


def _in_python(site: Site, repository: Repository) -> list[Alert]:
    """The tests before the launches of a kernel in the file that it stands in; a scan shows whether these are all."""
    path = site.location.path
    kernel = site.function.rpartition("::")[2].rpartition(".")[2]
    return [
        Alert(path, one.place, one.text, (site.location,), Location(path, one.line, 1, one.line, 1), "python")
        for one in before_launches(repository.data(path), kernel)
    ]


def _at(step: Step, site: Site, repository: Repository) -> Alert | None:
    """The alert before the statement with a launch, in a function of a source of PyTorch that is given tensors."""
    path = step.location.path
    unit = repository.unit(path) if repository.looked(INCLUDING).get(path) == "torch" else None
    if unit is None or _INCLUDE.search(unit.data) is None:
        return None
    node = unit.root.descendant_for_byte_range(*_bytes(unit, step.location))
    function = unit.function(node) if node is not None else None
    if node is None or function is None or function.name not in step.text:
        return None
    start, indent = _line(unit, _statement(node, function.node))
    if "Tensor" not in unit.text(function.node) or "__global__" in function.qualifier or start is None:
        return None
    text = f'{indent}at::globalContext().alertNotDeterministic("{function.name}");\n'
    return Alert(path, start, text, (site.location,), step.location)


def _in_kernel(step: Step, site: Site, repository: Repository) -> Alert | None:
    """TensorFlow's test before the statement that leads on, in ``Compute`` of an op's kernel.

    A kernel for several devices refuses on the GPU alone.
    """
    unit = repository.unit(step.location.path) if step.text.startswith("method") else None
    if unit is None or _OF_TENSORFLOW.search(unit.data) is None:
        return None
    node = unit.root.descendant_for_byte_range(*_bytes(unit, step.location))
    function = unit.function(node) if node is not None else None
    if node is None or function is None or function.name != "Compute":
        return None
    context = _CONTEXT.search(unit.text(function.node))
    start, indent = _line(unit, _statement(node, function.node))
    several = _is_for_devices(function.node)
    if context is None or start is None or (several and _GPU.search(unit.data) is None):
        return None
    test = "tensorflow::OpDeterminismRequired()"
    test = f"!(std::is_same<Device, GPUDevice>::value && {test})" if several else f"!{test}"
    says = f'"`{function.scope}` has no deterministic implementation on the GPU."'
    first = f"{indent}OP_REQUIRES({context[1]}, {test},"
    text = f"{first}\n{indent}            tensorflow::errors::Unimplemented({says}));\n"
    return Alert(step.location.path, start, text, (site.location,), step.location, "tensorflow")


def _is_for_devices(function: tree_sitter.Node) -> bool:
    """Whether the class around a method is a template over devices."""
    at: tree_sitter.Node | None = function
    while at is not None:
        listed = at.child_by_field_name("parameters") if at.type == "template_declaration" else None
        if listed is not None and _DEVICE.search((listed.text or b"").decode("utf-8", "replace")):
            return True
        at = at.parent
    return False


def _line(unit: Unit, statement: tree_sitter.Node | None) -> tuple[int | None, str]:
    """Where the line of a statement begins, and what it is indented by; no place where something stands before it."""
    if statement is None:
        return None, ""
    start = unit.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = unit.data[start : statement.start_byte]
    return (start, indent.decode()) if not indent.strip() else (None, "")


def _statement(node: tree_sitter.Node, function: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statement that holds a node, directly in a block of the function and not in a lambda of it."""
    above: list[tree_sitter.Node] = []
    at: tree_sitter.Node | None = node
    while at is not None and at != function and len(above) < _MAX_LEVELS:
        above.append(at)
        at = at.parent
    if at != function or any(one.type == "ERROR" for one in above):
        return None
    outside = next((n for n in range(len(above) - 1, -1, -1) if above[n].type == "lambda_expression"), 0)
    return next(iter(_in_blocks(above[outside:])), None)


def _in_blocks(chain: list[tree_sitter.Node]) -> Iterator[tree_sitter.Node]:
    for inner, outer in itertools.pairwise(chain):
        if outer.type in _BLOCKS and inner.type != "comment":
            yield inner


def _bytes(unit: Unit, at: Location) -> tuple[int, int]:
    rows = unit.data.split(b"\n", at.line)
    start = sum(len(row) + 1 for row in rows[: at.line - 1])
    first = start + len(rows[at.line - 1].decode("utf-8", "replace")[: at.column - 1].encode())
    return first, first + 1
