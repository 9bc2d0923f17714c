"""From a TensorFlow op to the Python names under which a user meets it, and to the ops whose gradient it computes.

Names come from ``api_def/*/api_def_X.pbtxt`` (endpoints, visibility; tensorflow/core/framework/api_def.proto), from
``tf_export``'ed functions that call the generated wrapper (``gen_image_ops.crop_and_resize``), and for op libraries
outside of TensorFlow from the module that calls it; gradients from functions under ``RegisterGradient``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from d9mlint.kernels.flow import location_in
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.tensorflow.blocks import Block, PythonFiles, called
from d9mlint.model.kernel import Step

_ENDPOINT = re.compile(rb"endpoint\s*\{[^{}]*?\bname:\s*\"([^\"\n]+)\"[^{}]*\}")
_HIDDEN = re.compile(rb"^\s*visibility:\s*(?:HIDDEN|SKIP)\b", re.MULTILINE)
_GRADIENT_NAME = re.compile(r"Grad(?:ient)?(?![a-z])|Backprop")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")
_GENERATED = re.compile(rb"gen_\w+\Z")
_MODULE = re.compile(rb"\w\Z")
_LIBRARY = re.compile(rb"(?:ops|impl|lib)\w*\Z")


class PythonApi(NamedTuple):
    """How Python meets an op; ``names`` of a gradient op are, after its own, those of the ops in ``gradient_of``."""

    names: tuple[str, ...]
    direction: str
    gradient_of: tuple[str, ...]
    steps: tuple[Step, ...]


class _Found(NamedTuple):
    names: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


def snake(op: str) -> str:
    """The name of the generated wrapper (GenerateLowerCaseOpName in tensorflow/python/framework/python_op_gen)."""
    return _BOUNDARY.sub("_", op).lower()


class PythonIndex:
    """The Python side of a repository, read on demand."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._files = PythonFiles(repository)
        self._definitions: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], _Found] = {}
        self._apis: dict[tuple[str, str], PythonApi] = {}
        for path in repository.paths:
            if path.endswith(".pbtxt") and "/api_def_" in path:
                self._definitions.setdefault(path.rsplit("/api_def_", 1)[1][: -len(".pbtxt")], []).append(path)

    def api(self, op: str, source: str) -> PythonApi:
        """How Python meets an op that ``source`` registers."""
        key = op, source.rpartition("/")[0]
        if key not in self._apis:
            self._apis[key] = self._api(op, source)
        return self._apis[key]

    def _api(self, op: str, source: str) -> PythonApi:
        own = self._forward(op, source)
        gradients = self._gradients(op, source)
        forward = tuple(sorted({fwd for block in gradients for fwd in block.gradients}))
        if not forward:
            direction = "backward" if _GRADIENT_NAME.search(op) else "forward"
            return PythonApi(own.names, direction, (), own.steps)
        names, steps = self._of_forward(forward, source, {op})
        if own.names and not _GRADIENT_NAME.search(op):
            return PythonApi(own.names, "both", forward, own.steps)
        block = min(gradients, key=lambda b: (b.path, b.start))
        text = "gradient of " + ", ".join(f"`{f}`" for f in forward)
        registered = Step(location_in(block.path, self._repository.data(block.path), block.start, block.start), text)
        return PythonApi(_unique((*own.names, *names)), "backward", forward, (*own.steps, registered, *steps))

    def _of_forward(self, ops: Iterable[str], source: str, seen: set[str]) -> tuple[tuple[str, ...], tuple[Step, ...]]:
        """The names of ops, or of the ops whose gradient they are."""
        names: list[str] = []
        steps: list[Step] = []
        for op in ops:
            if op in seen:
                continue
            seen.add(op)
            found = self._forward(op, source)
            if not found.names:
                above = sorted({f for block in self._gradients(op, source) for f in block.gradients})
                found = _Found(*self._of_forward(above, source, seen))
            names += found.names
            steps += found.steps
        return _unique(names), tuple(steps[:1])

    def _forward(self, op: str, source: str) -> _Found:
        """The names of an op itself."""
        key = op, source.rpartition("/")[0]
        if key not in self._known:
            self._known[key] = self._named(op, source)
        return self._known[key]

    def _named(self, op: str, source: str) -> _Found:
        path = _nearest(self._definitions.get(op, ()), source, "/python_api/")
        base = _nearest(self._definitions.get(op, ()), source, "/base_api/")
        if not path and not base:
            exported = self._exported(op, source, False)
            return exported if exported.names else self._library(op, source)
        hidden = op.startswith("_") or any(p and _HIDDEN.search(self._repository.data(p)) for p in (path, base))
        exported = self._exported(op, source, not hidden)
        if hidden:
            return exported
        shown = path if path and _ENDPOINT.search(self._repository.data(path)) else base
        if not shown:
            return exported
        data = self._repository.data(shown)
        endpoints = list(_ENDPOINT.finditer(data)) if shown == path else []
        names = [f"tf.{m[1].decode('utf-8', 'replace')}" for m in endpoints] or [f"tf.{snake(op)}"]
        start = endpoints[0].start(1) if endpoints else 0
        step = Step(location_in(shown, data, start, start), f"`{names[0]}`")
        return _Found(_unique((*names, *exported.names)), (step,))

    def _exported(self, op: str, source: str, visible: bool) -> _Found:
        """The exported functions that call the wrapper, themselves or through others of their file.

        A wrapper that is visible itself is also called through the module that takes it over: ``nn_ops.wrapper``.
        """
        word = snake(op).encode()
        names: list[str] = []
        steps: list[Step] = []
        for path in self._files.naming(source, word) if visible else self._files.calling(source, word):
            data = self._repository.data(path)
            reaching = self._files.reaching(path, called(data, word, _LIBRARY if visible else _GENERATED))
            found = [(block.exported(at), block.start) for block, at in reaching]
            found += self._files.applied(path, {word, *(b.name.encode() for b, _ in reaching)})
            for exports, start in found:
                if exports:
                    names += exports
                    steps.append(Step(location_in(path, data, start, start), f"`{exports[0]}`"))
        return _Found(_unique(names), tuple(steps[:1]))

    def _library(self, op: str, source: str) -> _Found:
        """For an op of a library that Python loads itself, the function of the module that calls it."""
        word = snake(op).encode()
        for path in self._files.holding(source, word):
            data = self._repository.data(path)
            if not any(w in data for w in (b"load_op_library", b"load_library", b"gen_")):
                continue
            calls = called(data, word, _MODULE)
            found = [(b, at) for b, at in self._files.reaching(path, calls) if not b.gradients]
            public = [(b, at) for b, at in found if not b.name.startswith("_")] or found
            blocks = self._files.blocks(path)
            outside = [at for at in calls if not any(b.start < at < b.end for b in blocks)]
            if not public and not outside:
                continue
            inner = _unique(b.qualified(at) for b, at in public) or (word.decode(),)
            at = public[0][0].start if public else outside[0]
            names = tuple(self._files.dotted(path, name) for name in inner)
            return _Found(names, (Step(location_in(path, data, at, at), f"`{names[0]}`"),))
        return _Found()

    def _gradients(self, op: str, source: str) -> list[Block]:
        """The gradient functions that compute the op, through its wrapper or a function around that."""
        word = snake(op).encode()
        found: dict[tuple[str, int], Block] = {}
        words = {word}
        for path in self._files.calling(source, word):
            direct = called(self._repository.data(path), word, _GENERATED)
            words |= {b.name.encode() for b, _ in self._files.reaching(path, direct) if not b.name.startswith("_")}
        for path in self._files.gradients(source, word, words):
            data = self._repository.data(path)
            calls = [at for w in sorted(words) if w in data for at in called(data, w, _LIBRARY)]
            for block, _ in self._files.reaching(path, sorted(calls)) if calls else ():
                if block.gradients:
                    found[path, block.start] = block
        return [found[key] for key in sorted(found)]


def _nearest(paths: Iterable[str], source: str, folder: str) -> str:
    """Of several files, the one of the same checkout."""

    def shared(path: str) -> int:
        pairs = zip(path.split("/"), source.split("/"), strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), 0)

    return max(sorted(p for p in paths if folder in p), key=shared, default="")


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
