"""Specifications of kernels to be run: YAML to ``KernelLaunch``, every value checked.

Imports yaml: only ``d9mlint verify --kernels`` imports this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d9mlint.catalogue.files import read
from d9mlint.catalogue.schema.cases import number_of, shape_of
from d9mlint.catalogue.schema.nodes import Item, parse
from d9mlint.model.case import VALUES
from d9mlint.model.kernel_launch import ELEMENTS, KernelLaunch, Operand

_KEYS = ("name", "kernel", "source", "template", "include", "define", "grid", "block", "shared", "arguments")
_BUFFER = ("dtype", "shape", "values", "below", "low", "high", "output", "passed")
_SCALAR = ("dtype", "value")
_KERNEL = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEFINE = re.compile(r"[A-Za-z_]\w*(?:=[^\r\n]*)?", re.ASCII)
_TEXT = re.compile(r"[^\r\n;{}#]+")
_MOST_THREADS = 1024
_MOST_BLOCKS = 65536
_MOST_SHARED = 228 * 1024
"""Limits of a block and of its shared memory: CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability"; that of blocks keeps an emulated grid small."""


def read_launches(path: Path) -> tuple[KernelLaunch, ...]:
    """The kernels of a specification; paths in it are relative to its folder.

    Raises:
        CatalogueError: with file:line of the first thing that is wrong.
    """
    file = read(path, "", True)
    root = parse(file.shown, file.text()).mapping(("kernels",), ("kernels",))
    found: list[KernelLaunch] = []
    for item in root["kernels"].items():
        one = _launch(item, path.parent)
        if any(one.name == other.name for other in found):
            raise item.error(f"two kernels are called `{one.name}`; give them different names")
        found.append(one)
    return tuple(found)


def _launch(item: Item, folder: Path) -> KernelLaunch:
    values = item.mapping(_KEYS, ("kernel", "source", "grid", "block", "arguments"))
    kernel = values["kernel"].like(_KERNEL, "the name of a kernel, without template arguments")
    template = _texts(values, "template", _TEXT, "C++ template arguments, one each")
    arguments = tuple(_argument(name, value) for name, (_, value) in values["arguments"].pairs().items())
    if not any(one.output for one in arguments):
        raise values["arguments"].error("no buffer has `output: true`: there is nothing to compare")
    default = f"{kernel}<{', '.join(template)}>" if template else kernel
    return KernelLaunch(
        name=values["name"].prose() if "name" in values else default, kernel=kernel,
        source=_source(values["source"], folder), template=template,
        include=tuple(str(folder / one) for one in _texts(values, "include", re.compile(r"[^\r\n]+"), "a folder")),
        define=_texts(values, "define", _DEFINE, "NAME or NAME=VALUE"),
        grid=_extent(values["grid"], _MOST_BLOCKS, "blocks"), block=_extent(values["block"], _MOST_THREADS, "threads"),
        shared=_shared(values), arguments=arguments,
    )  # fmt: skip


def _texts(values: Mapping[str, Item], key: str, pattern: re.Pattern[str], wanted: str) -> tuple[str, ...]:
    found = []
    for item in values[key].several() if key in values else ():
        text = item.literal().strip()
        if not pattern.fullmatch(text):
            raise item.error(f"{item.key} must be {wanted}, not `{text}`")
        found.append(text)
    return tuple(found)


def _source(item: Item, folder: Path) -> str:
    path = folder / item.prose()
    if not path.is_file():
        raise item.error(f"source not found: {path.as_posix()}")
    return str(path)


def _shared(values: Mapping[str, Item]) -> int:
    size = int(number_of(values["shared"], whole=True)) if "shared" in values else 0
    if not 0 <= size <= _MOST_SHARED:
        raise values["shared"].error(f"`shared` is a number of bytes up to {_MOST_SHARED}")
    return size


def _extent(item: Item, most: int, what: str) -> tuple[int, ...]:
    sizes = [int(number_of(one, whole=True)) for one in item.several()]
    total = 1
    for size in sizes:
        total *= size
    if len(sizes) > 3 or min(sizes) < 1 or total > most:
        raise item.error(f"{item.key} has one to three sizes of at least 1, and {most} {what} at most")
    return tuple(sizes)


def _argument(name: str, item: Item) -> Operand:
    if not _PARAMETER.fullmatch(name):
        raise item.error(f"an argument needs a name as in C++, not `{name}`")
    keys = item.pairs()
    if "code" in keys:
        return Operand(name, code=item.mapping(("code",))["code"].like(_TEXT, "a C++ expression"))
    if "value" in keys:
        return _scalar(name, item)
    values = item.mapping(_BUFFER, ("dtype", "shape"))
    kind = values["values"].one_of(VALUES) if "values" in values else "normal"
    indexed = kind in ("index", "sorted-index")
    if indexed != ("below" in values) or (indexed and number_of(values["below"], whole=True) < 1):
        raise item.error("`below` (at least 1) goes with `values: index` and `sorted-index`, and only with these")
    return Operand(
        name, dtype=values["dtype"].one_of(tuple(ELEMENTS)), shape=shape_of(values["shape"]), values=kind,
        low=number_of(values["low"]) if "low" in values else 0.0,
        high=number_of(values["below" if indexed else "high"]) if indexed or "high" in values else 1.0,
        output="output" in values and values["output"].flag(),
        passed="passed" not in values or values["passed"].flag(),
    )  # fmt: skip


def _scalar(name: str, item: Item) -> Operand:
    values = item.mapping(_SCALAR, _SCALAR)
    dtype = values["dtype"].one_of(tuple(ELEMENTS))
    value: Any = values["value"].scalar()
    if isinstance(value, bool) != (dtype == "bool") or isinstance(value, str) or value is None:
        raise values["value"].error(f"the value of `{name}` is no {dtype}")
    if isinstance(value, float) and not dtype.startswith("float"):
        raise values["value"].error(f"the value of `{name}` is no {dtype}")
    return Operand(name, dtype=dtype, value=value)
