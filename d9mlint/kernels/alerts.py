"""PyTorch's alert where a kernel that varies is launched: what to write where, and nothing where that is not certain.

https://docs.pytorch.org/docs/stable/notes/randomness.html; ``alertNotDeterministic`` is in aten/src/ATen/Context.h.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging.operations import ACCUMULATE
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit
from d9mlint.kernels.torch.presence import INCLUDING
from d9mlint.model import KernelOp, KernelScan, Location, Site, Step

_BRINGS = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch/(?:extension|torch|all|script)|ATen/(?:ATen|Context))\.h', re.MULTILINE
)
"""Headers with which ``at::globalContext()`` is there."""
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10)/[^\n]*\n', re.MULTILINE)
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


def alerts(scan: KernelScan, repository: Repository) -> tuple[list[Alert], dict[Location, str]]:
    """The alerts for unguarded sums of floats that reach ops of PyTorch; the sites without one, with the reason."""
    found: dict[tuple[str, int], Alert] = {}
    without: dict[Location, str] = {}
    for site in scan.sites:
        reaching = [op for op in scan.ops if site.location in op.sites]
        if not _sums(site) or not reaching:
            continue
        if any(op.framework != "torch" for op in reaching):
            without[site.location] = "it is no op of PyTorch alone"
            continue
        made = [_alert(op, site, repository) for op in reaching]
        if any(one is None for one in made):
            without[site.location] = "where the kernel is launched for a tensor is not certain"
            continue
        for one in made:
            if one is not None:
                known = found.get((one.path, one.place), one)
                found[one.path, one.place] = one._replace(sites=tuple(sorted({*known.sites, *one.sites})))
    return [found[key] for key in sorted(found)], without


def patched(data: Mapping[str, bytes], made: list[Alert]) -> dict[str, bytes]:
    """The files with the alerts in them, and with the header that they need."""
    out: dict[str, bytes] = {}
    for path in sorted({one.path for one in made}):
        text = data[path]
        newline = b"\r\n" if b"\r\n" in text else b"\n"
        for one in sorted((a for a in made if a.path == path), key=lambda a: -a.place):
            text = text[: one.place] + one.text.encode().replace(b"\n", newline) + text[one.place :]
        if _BRINGS.search(text) is None:
            last = [match.end() for match in _INCLUDE.finditer(text)][-1]
            text = text[:last] + b"#include <ATen/Context.h>" + newline + text[last:]
        out[path] = text
    return out


def _sums(site: Site) -> bool:
    """Whether a site adds floats for certain, and nothing stands before it."""
    adds = site.class_ == "float-accumulate" or (site.class_ == "cas-loop" and site.implements in ACCUMULATE)
    return site.verdict == "yes" and adds and site.guard.level == "none" and not site.guard.switch


def _alert(op: KernelOp, site: Site, repository: Repository) -> Alert | None:
    for step in op.chain_from(site.location):
        if step.text.startswith(_LAUNCHING) and (made := _at(step, site, repository)) is not None:
            return made
    return None


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
    statement = _statement(node, function.node)
    if "Tensor" not in unit.text(function.node) or "__global__" in function.qualifier or statement is None:
        return None
    start = unit.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = unit.data[start : statement.start_byte]
    if indent.strip():
        return None  # something else stands before it in its line
    text = f'{indent.decode()}at::globalContext().alertNotDeterministic("{function.name}");\n'
    return Alert(path, start, text, (site.location,), step.location)


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
