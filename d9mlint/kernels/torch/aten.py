"""PyTorch's own operators: ``native_functions.yaml`` and ``derivatives.yaml``, read line by line.

Formats: aten/src/ATen/native/README.md and tools/autograd/derivatives.yaml of pytorch/pytorch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from d9mlint.kernels.source.repository import Repository

_KEY = re.compile(rb"^(\s*)(?:-\s+)?([A-Za-z_][\w, ]*):(?:\s+(.*?))?\s*$")
_CALL = re.compile(rb"\b([a-z_]\w{3,})\s*\(")
_GPU = frozenset((b"CUDA", b"CompositeExplicitAutograd", b"CompositeImplicitAutograd", b"SparseCUDA", b"SparseCsrCUDA"))
FUNCTIONAL = "torch.nn.functional"
_MODULES = {"nn": FUNCTIONAL, "linalg": "torch.linalg", "fft": "torch.fft", "special": "torch.special"}


class Aten(NamedTuple):
    """The operators of ATen."""

    functions: Mapping[str, tuple[str, ...]] = {}
    """For each C++ function, the operators it implements on the GPU."""
    python: Mapping[str, tuple[str, ...]] = {}
    """The dotted Python names of each operator that has some."""
    gradients: Mapping[str, tuple[str, ...]] = {}
    """For each operator that derivative formulas call, the operators whose gradient they are."""

    def met(self, name: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Direction, Python names and what it is a gradient of."""
        python = self.python.get(name, ())
        forward = self.gradients.get(name, ())
        if "backward" in name:
            forward = forward or self._forward(name)
            return "backward", self._python_of(forward), _named(forward)
        if not forward:
            return "forward", python, ()
        names = dict.fromkeys((*python, *self._python_of(forward)))
        return "both" if python else "backward", tuple(names), _named(forward)

    def _forward(self, name: str) -> tuple[str, ...]:
        """The operator that a gradient is named after: ``f_backward``, ``_f_dense_backward``."""
        words = name.partition("_backward")[0].strip("_").split("_")
        names = ("_".join(words[:count]) for count in range(len(words), max(0, len(words) - 3), -1))
        return next(((found,) for found in names if self.python.get(found)), ())

    def _python_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dotted for name in names for dotted in self.python.get(name, ()))


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"aten::{name}" for name in names)


def read(repository: Repository) -> Aten:
    """The operators that the repository declares; nothing where it is not PyTorch."""
    functions: dict[str, list[str]] = {}
    python: dict[str, tuple[str, ...]] = {}
    delegates: dict[str, list[str]] = {}
    for path in repository.paths:
        if path.rpartition("/")[2] == "native_functions.yaml":
            for native in _entries(repository.data(path), b"func"):
                _native(native, functions, python, delegates)
    for ops in functions.values():
        ops.extend([user for op in ops for user in delegates.get(op, [])])
    gradients: dict[str, list[str]] = {}
    if functions:
        for path in repository.paths:
            if path.rpartition("/")[2] == "derivatives.yaml":
                for formula in _entries(repository.data(path), b"name"):
                    _derivative(formula, gradients)
    return Aten({f: tuple(dict.fromkeys(ops)) for f, ops in functions.items()}, python,
                {f: tuple(dict.fromkeys(ops)) for f, ops in gradients.items()})  # fmt: skip


def _entries(data: bytes, first: bytes) -> Iterator[list[tuple[int, bytes, bytes]]]:
    """The items of a list of mappings: for each the keys with their indentation and their text."""
    entry: list[tuple[int, bytes, bytes]] = []
    for line in data.splitlines():
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        starts = re.match(rb"-\s+" + first + rb":\s*(.*)", line)
        if starts is not None:
            if entry:
                yield entry
            entry = [(0, first, starts[1].strip())]
        elif entry and (match := _KEY.match(line[:4000])) is not None:
            entry.append((len(match[1]), match[2], match[3] or b""))
        elif entry:  # a text that goes on
            indent, key, text = entry[-1]
            entry[-1] = (indent, key, text + b" " + line.strip()[:4000])
    if entry:
        yield entry


def _native(
    entry: list[tuple[int, bytes, bytes]],
    functions: dict[str, list[str]],
    python: dict[str, tuple[str, ...]],
    delegates: dict[str, list[str]],
) -> None:
    schema = entry[0][2].decode("utf-8", "replace")
    name = schema.partition("(")[0].partition(".")[0].strip()
    if not name.isidentifier():
        return
    keys = {key: text for _, key, text in entry}
    python[name] = tuple(dict.fromkeys((*python.get(name, ()), *_python(name, keys))))
    delegate = keys.get(b"structured_delegate", b"").decode("utf-8", "replace").partition(".")[0].strip()
    if delegate and delegate != name:
        delegates.setdefault(delegate, []).append(name)
    level = next((indent for indent, key, _ in entry if key == b"dispatch"), None)
    inside = False
    for indent, key, text in entry[1:]:
        if level is not None and indent <= level:
            inside = key == b"dispatch"
        elif inside and {k.strip() for k in key.split(b",")} & _GPU and text:
            function = re.sub(r"\s*#.*", "", text.decode("utf-8", "replace")).rpartition("::")[2]
            functions.setdefault(function, []).append(name)
    if level is None and b"structured_delegate" not in keys:  # no dispatch: one function of that name for all devices
        functions.setdefault(name, []).append(name)


def _python(name: str, keys: Mapping[bytes, bytes]) -> tuple[str, ...]:
    """Where Python meets it: ``variants`` and ``python_module`` (README, "variants", "python_module")."""
    if name.startswith("_") or "backward" in name:
        return ()
    module = keys.get(b"python_module", b"").decode("utf-8", "replace").strip()
    if module:
        prefix = _MODULES.get(module, f"torch.{module}")
        return (f"{prefix}.{name.removeprefix(module + '_')}",)
    variants = keys.get(b"variants", b"function").decode("utf-8", "replace")
    found = [f"torch.{name}"] if "function" in variants else []
    return (*found, *([f"torch.Tensor.{name}"] if "method" in variants else []))


def _derivative(entry: list[tuple[int, bytes, bytes]], gradients: dict[str, list[str]]) -> None:
    forward = entry[0][2].decode("utf-8", "replace").partition("(")[0].partition(".")[0].strip()
    for _, key, text in entry[1:]:
        if key == b"result" or key in (b"dispatch", b"output_differentiability"):
            continue
        for match in _CALL.finditer(text[:8000]):
            name = match[1].decode()
            if name != forward:
                gradients.setdefault(name, []).append(forward)
