"""What import lines alone tell, before anything is parsed: which files an entry reaches, and which releases it fits.

A screen, not an analysis: an import that only a program can work out is missed, and then costs time, not findings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from d9mlint.discover.percent import is_percent
from d9mlint.model import Limit
from d9mlint.python.source.filenames import LANDMARK, above, belongs_to, folder, join
from d9mlint.python.source.reading import NOTEBOOK, CannotRead, Reader, remembering

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]{0,4000}\)|[^\n#]+)|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[\w.]+")


@dataclass(frozen=True, slots=True)
class _Sign:
    package: str
    specifier: str
    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...]
    """One of them is in each file that has it: a quick look before the slow one."""
    needs: bytes = b""
    """In the file, too."""
    without: bytes = b""
    """Not in the file."""


def _module(specifier: str, *names: bytes) -> _Sign:
    """A module of Keras that is imported."""
    any_of = b"|".join(map(re.escape, names))
    pattern = re.compile(rb"^[ \t]*(?:from|import)[ \t]+((?:tensorflow\.)?keras\.(?:" + any_of + rb"))\b", re.M)
    return _Sign("tensorflow", specifier, pattern, words=tuple(b"keras." + name for name in names))


_PYTHON2 = re.compile(rb"^[ \t]*(print)[ \t]+[\"'\w]|^[ \t]*(except[ \t]+[\w.]+[ \t]*,[ \t]*\w+)[ \t]*:", re.M)
"""Statements that only Python 2 has; a text in quotes may have such a line, too."""
_GONE_IN_2 = (
    b"ConfigProto", b"InteractiveSession", b"Session", b"assign", b"decode_raw", b"div", b"get_collection",
    b"get_default_graph", b"get_variable", b"global_variables", b"global_variables_initializer",
    b"initialize_all_variables", b"is_nan", b"log", b"matrix_inverse", b"multinomial", b"nn.bidirectional_dynamic_rnn",
    b"nn.dynamic_rnn", b"parse_single_example", b"placeholder", b"placeholder_with_default", b"py_func", b"random_crop",
    b"random_normal", b"random_shuffle", b"random_uniform", b"read_file", b"reset_default_graph", b"set_random_seed",
    b"sparse_placeholder", b"sparse_tensor_dense_matmul", b"sparse_tensor_to_dense", b"sparse_to_dense",
    b"summary.FileWriter", b"summary.merge_all", b"to_float", b"to_int32", b"to_int64", b"train.Saver",
    b"train.Supervisor", b"trainable_variables", b"truncated_normal", b"truncated_normal_initializer",
    b"variable_scope",
)  # fmt: skip
"""Functions of ``tf`` that are in ``tf.compat.v1`` alone since 2.0 (seen in the names of both in 2.21)."""
_SIGNS = (
    # Names that 2.0 moved to tf.compat.v1 or dropped (github.com/tensorflow/tensorflow/releases/tag/v2.0.0).
    _Sign(
        "tensorflow", "<2.0", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(tensorflow\.(?:contrib|app|flags))\b", re.M),
        words=(b"tensorflow.contrib", b"tensorflow.app", b"tensorflow.flags"),
    ),
    _Sign(
        "tensorflow", "<2.0",
        re.compile(
            rb"^[^#\n\"']*\b(tf\.(?:contrib\.\w+|app\.run|flags\.\w+|train\.\w+Optimizer(?=\()|(?:"
            + b"|".join(map(re.escape, _GONE_IN_2)) + rb")(?=\()))", re.M,
        ),
        words=(
            b"tf.contrib.", b"tf.app.run", b"tf.flags.", b"Optimizer(", *(b"tf." + name + b"(" for name in _GONE_IN_2),
        ), needs=b"import tensorflow as tf", without=b"compat",
    ),
    # Modules that the keras wheels of these minor versions no longer hold (tf.keras is the keras of the same minor
    # version from 2.6 on; before, keras 2.3 was the last with modules of its own).
    _module("<2.4", b"objectives", b"legacy", b"backend.tensorflow_backend"),
    _module("<2.6", b"layers.normalization"),
    _module("<2.9", b"layers.advanced_activations", b"layers.recurrent", b"layers.merge", b"layers.embeddings"),
    _module("<2.13", b"engine", b"utils.np_utils", b"layers.core", b"layers.convolutional", b"layers.pooling"),
    # Keras took `input=` and `output=` of Keras 1 until 2.3 (keras==2.3.1:keras/legacy/interfaces.py).
    _Sign(
        "tensorflow", "<2.4", re.compile(rb"\bModel\([^()\n]*?\b((?:in|out)put[ ]?=)(?=[^=])"),
        words=(b"Model(",), needs=b"keras", without=b"torch",
    ),
    # `lr` became `learning_rate` in 2.2.5 and went with Keras 3, that is TF 2.16 (keras==3.0.0:keras/optimizers).
    _Sign(
        "tensorflow", "<2.16",
        re.compile(rb"\b(?:Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam)\((?:[^()\n]*,[ ]?)?(lr[ ]?=)(?=[^=])"),
        words=(b"lr=", b"lr ="), needs=b"keras", without=b"torch",
    ),
    # TensorFlow Addons ended with TF 2.15 (github.com/tensorflow/addons, readme); Keras 3 came with TF 2.16.
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(tensorflow_addons)\b", re.M),
        words=(b"tensorflow_addons",),
    ),
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[^#\n\"']*\b(fit_generator|multi_gpu_model)(?=\()", re.M),
        words=(b"fit_generator(", b"multi_gpu_model("),
    ),
    # Gone with PyTorch 2.0, 1.8 and 0.5 (github.com/pytorch/pytorch, release notes of 2.0.0, 1.8.0 and 1.0.0).
    _Sign(
        "torch", "<2.0", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torch\._six)\b", re.M), words=(b"torch._six",),
    ),
    _Sign(
        "torch", "<2.0", re.compile(rb"^[^#\n\"']*\b(torch\.(?:symeig|eig|lstsq|matrix_rank|solve))(?=\()", re.M),
        words=(b"torch.symeig(", b"torch.eig(", b"torch.lstsq(", b"torch.matrix_rank(", b"torch.solve("),
    ),
    _Sign(
        "torch", "<1.8", re.compile(rb"^[^#\n\"']*\b(torch\.(?:rfft|irfft|fft|ifft))(?=\()", re.M),
        words=(b"torch.rfft(", b"torch.irfft(", b"torch.fft(", b"torch.ifft("),
    ),
    _Sign(
        "torch", "<1.0", re.compile(rb"^[^#\n\"']*\b(\w*loss\w*\.data\[0\]|volatile=True)", re.M),
        words=(b".data[0]", b"volatile=True"), needs=b"torch",
    ),
    # torchtext ended with 0.18, built for PyTorch 2.3; its 0.12 dropped `legacy` (github.com/pytorch/text, readme).
    _Sign(
        "torch", "<1.11", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torchtext\.legacy)\b", re.M),
        words=(b"torchtext.legacy",),
    ),
    _Sign(
        "torch", "<2.4", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torchtext)\b", re.M), words=(b"torchtext",),
    ),
    # tensorflow/estimator was taken out of TensorFlow in 2.16 (release notes of 2.16).
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[^#\n\"']*\b(tf\.(?:compat\.v1\.)?estimator\.\w+)(?=\()", re.M),
        words=(b".estimator.",),
    ),
)  # fmt: skip
_ROOTS = (b"tensorflow", b"keras", b"torch", b"fit_generator(", b"multi_gpu_model(", b".estimator.")
"""One of them is in each file that has any of the signs: a quicker look than one for all their words."""


class Reach:
    """The files of entries, by import lines; each file is read once, each folder listed once."""

    def __init__(self, read: Reader, cwd: Path, gone: Iterable[str] = ()) -> None:
        """``gone`` are files that are taken to be there: who asks what reached them before they were deleted."""
        self.read = remembering(read)
        self._cwd = cwd
        self._gone: dict[str, set[str]] = {}
        for path in gone:
            parts = path.split("/")
            for number, name in enumerate(parts):
                self._gone.setdefault("/".join(parts[:number]), set()).add(name)
        self._names: dict[str, frozenset[str]] = {}
        self._imports: dict[str, tuple[tuple[int, str, tuple[str, ...]], ...]] = {}
        self._packages: dict[str, frozenset[str]] = {}
        self._firsts: dict[str, frozenset[str]] = {}
        """By file, what a root has to hold for one of its absolute imports to lead there."""
        self._found: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._limits: dict[str, tuple[Limit, ...]] = {}
        self._installs: dict[str, tuple[Limit, ...]] = {}

    def files(self, entry: str, roots: Sequence[str]) -> tuple[str, ...]:
        """The entry and what it imports, directly or not, in the order of discovery."""
        seen = {entry: None}
        pending = [entry]
        while pending:
            for path in self._next(pending.pop(), tuple(roots)):
                if path not in seen:
                    seen[path] = None
                    pending.append(path)
        return tuple(seen)

    def packages(self, files: Iterable[str]) -> frozenset[str]:
        """The top-level packages that these files import by absolute names."""
        return frozenset().union(*map(self._packages_of, files))

    def _packages_of(self, path: str) -> frozenset[str]:
        if path not in self._packages:
            imports = self._imports_of(path)
            self._packages[path] = frozenset(module.partition(".")[0] for level, module, _ in imports if not level)
        return self._packages[path]

    def limits(self, files: Collection[str]) -> list[Limit]:
        """What the names used in these files say about releases, the tightest first."""
        found: dict[tuple[str, str], Limit] = {}
        for path in files:
            if path not in self._limits:
                self._limits[path] = tuple(_limits(path, self.peek(path) or b""))
            for limit in self._limits[path]:
                found.setdefault((limit.package, limit.specifier), limit)
        keys = [("python", "<3"), *((sign.package, sign.specifier) for sign in _SIGNS)]
        shown = [found[key] for key in dict.fromkeys(keys) if key in found]
        return [*(limit for path in files for limit in self._installed(path)), *shown]

    def _installed(self, path: str) -> tuple[Limit, ...]:
        """What a notebook or a script in percent format installs."""
        if path not in self._installs:
            data = self.peek(path) or b""
            if path.endswith(NOTEBOOK) or (b"pip" in data and is_percent(data)):
                from d9mlint.python.source.notebooks import installed

                self._installs[path] = tuple(installed(data.decode("utf-8", "replace"), path))
            else:
                self._installs[path] = ()
        return self._installs[path]

    def _next(self, path: str, roots: tuple[str, ...]) -> tuple[str, ...]:
        # As much of the roots as matters: each folder of a tree has its own.
        if path not in self._firsts:
            names = (f"{package}{ending}" for package in self._packages_of(path) for ending in ("", ".py"))
            self._firsts[path] = frozenset(names)
        near = tuple(root for root in roots if not self._listed(root).isdisjoint(self._firsts[path]))
        key = (path, near)
        if key not in self._found:
            self._found[key] = tuple(dict.fromkeys(self._resolved(path, near)))
        return self._found[key]

    def _resolved(self, path: str, roots: tuple[str, ...]) -> Iterator[str]:
        for level, module, names in self._imports_of(path):
            bases = (above(path, level),) if level else roots
            parts = module.split(".") if module else []
            for base in bases:
                if parts and self._listed(base).isdisjoint((parts[0], f"{parts[0]}.py")):
                    continue  # most imports are of what is installed
                if not level and LANDMARK in self._listed(base) and not belongs_to(parts[0], base, path):
                    continue
                reached = [self._module(join(base, "/".join(parts[:i]))) for i in range(1, len(parts) + 1)]
                inner = [self._module(join(base, "/".join([*parts, name]))) for name in names]
                found = [p for p in (*reached, *inner) if p is not None]
                yield from found
                if found and (not parts or reached[-1] is not None or any(inner)):
                    break

    def _imports_of(self, path: str) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        if path not in self._imports:
            self._imports[path] = tuple(_import_lines(self.peek(path) or b""))
        return self._imports[path]

    def _module(self, base: str) -> str | None:
        name = base.rpartition("/")[2]
        beside = self._listed(folder(base))
        if name in beside and "__init__.py" in self._listed(base):
            return base + "/__init__.py"
        return base + ".py" if name + ".py" in beside else None

    def _listed(self, path: str) -> frozenset[str]:
        if path not in self._names:
            try:
                self._names[path] = frozenset(os.listdir(os.path.join(self._cwd, path)))  # noqa: PTH118, PTH208
            except (OSError, ValueError):
                self._names[path] = frozenset()
            self._names[path] |= self._gone.get(path, set())
        return self._names[path]

    def peek(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none, or where it cannot be read."""
        try:
            return self.read(path)
        except CannotRead:
            return None


def _limits(path: str, data: bytes) -> Iterator[Limit]:
    """What the names used in one file, and its Python, say about releases."""
    yield from _of_python2(path, data)
    if not any(word in data for word in _ROOTS):
        return
    for sign in _SIGNS:
        if sign.needs not in data or (sign.without and sign.without in data):
            continue
        if not any(word in data for word in sign.words):
            continue
        match = sign.pattern.search(data)
        if match is not None:
            line = data.count(b"\n", 0, match.start(1)) + 1
            reason = f"newest release with `{match[1].decode()}` ({path}:{line})"
            yield Limit(sign.package, sign.specifier, reason)


def _of_python2(path: str, data: bytes) -> Iterator[Limit]:
    statement = _PYTHON2.search(data) if b"print " in data or b"except " in data else None
    if statement is None or path.endswith(NOTEBOOK):
        return
    from d9mlint.python.source.parsing import is_python2

    if is_python2(data):
        shown = (statement[1] or statement[2]).decode("utf-8", "replace")
        line = data.count(b"\n", 0, statement.start()) + 1
        yield Limit("python", "<3", f"`{shown}` without parentheses ({path}:{line})")


def _import_lines(data: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for dots, module, names, plain in _IMPORT.findall(data):
        if plain:
            for one in plain.split(b","):
                word = _WORD.search(one)
                if word:
                    yield 0, word[0].decode("utf-8", "replace"), ()
        else:
            words = (_WORD.search(one) for one in names.split(b","))
            yield (
                len(dots),
                module.decode("utf-8", "replace"),
                tuple(w[0].decode("utf-8", "replace") for w in words if w),
            )
