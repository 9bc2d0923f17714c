"""Python files that stand beside kernels, read with ``ast`` (never imported): names, imports, who mentions what."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from d9mlint.kernels.python.calls import last_name, literal
from d9mlint.kernels.python.words import Mentions, Scope, Walked, children, walked
from d9mlint.kernels.source.repository import MAX_BYTES, Repository
from d9mlint.kernels.source.vocabulary import Vocabulary
from d9mlint.model import Location

_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_MAX_LINKS = 20
_TESTS = frozenset(
    ("test", "tests", "testing", "benchmark", "benchmarks", "example", "examples", "docs", "demo", "demos", "profiling")
)
_LANGUAGE = re.compile(
    rb"^[ \t]*import[ \t]+((?:triton|numba|cupy|cupyx|warp|tilelang|cutlass|(?:gs)?taichi)\b[\w.]*)"
    rb"(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:#|$)",
    re.MULTILINE,
)
MODES = frozenset((
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "_get_deterministic_algorithms",
    "is_op_determinism_enabled",
))  # fmt: skip
"""What tells whether deterministic mode is on, in PyTorch and TensorFlow."""
_TEST = re.compile(r"(?:test_|conftest|setup\.py)|.*_test\.py")


@dataclass(frozen=True)
class PyFile:
    """A parsed Python file."""

    path: str
    module: str
    """Dotted name by the layout of the repository: packages are folders with ``__init__.py``."""
    data: bytes
    tree: ast.Module
    _lines: list[bytes] = field(default_factory=list)
    outside: Callable[[str, str], str] = field(default=lambda module, name: "", compare=False, repr=False)
    """What a name is that a module of the project imports from elsewhere and hands on; empty for other names."""

    @cached_property
    def _walked(self) -> Walked:
        return walked(self.tree)

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """What each imported name stands for, dotted; those of the module before those inside functions."""
        found: dict[str, str] = {}
        for node in self._walked.imports:
            if isinstance(node, ast.Import):
                for name in node.names:
                    first = name.name.partition(".")[0]
                    found.setdefault(name.asname or first, name.name if name.asname else first)
            else:
                base = self.absolute(node)
                for name in node.names:
                    if name.name != "*":
                        own = f"{base}.{name.name}" if base else name.name
                        found.setdefault(name.asname or name.name, self.outside(base, name.name) or own)
        return found

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules of ``from x import *``."""
        return tuple(
            self.absolute(node)
            for node in self._walked.imports
            if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names)
        )

    @cached_property
    def assigned(self) -> Mapping[str, ast.expr]:
        """What each name is set to by a simple assignment: at the top of the file, else anywhere (the first)."""
        found: dict[str, ast.expr] = {}
        for node in self.assignments:
            if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, node.value)
        return found

    @cached_property
    def defined(self) -> Mapping[str, ast.stmt]:
        """The functions, classes and simple assignments at the top of the file (also below ``if`` and ``try``)."""
        found: dict[str, ast.stmt] = {}
        pending: list[ast.stmt] = list(reversed(self.tree.body))
        while pending:
            node = pending.pop()
            if isinstance(node, _SCOPES):
                found.setdefault(node.name, node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, node)
            elif isinstance(node, ast.If | ast.Try):
                handlers = [s for h in node.handlers for s in h.body] if isinstance(node, ast.Try) else []
                pending.extend(reversed([*node.body, *handlers, *node.orelse]))
        return found

    @property
    def mentions(self) -> Mentions:
        """All attributes, names that are read, and strings without blanks, in order."""
        return self._walked.mentions

    @property
    def assignments(self) -> tuple[ast.Assign, ...]:
        """All assignments without an operator or annotation, the outermost first."""
        return self._walked.assignments

    @property
    def functions(self) -> tuple[ast.FunctionDef, ...]:
        """All functions and methods, the outermost first."""
        return self._walked.functions

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module that a ``from ... import`` names."""
        if not node.level:
            return node.module or ""
        parts = self.module.split(".") if self.module else []
        up = node.level - 1 if self.path.endswith("__init__.py") else node.level
        base = parts[: len(parts) - up] if up <= len(parts) else []
        return ".".join([*base, *([node.module] if node.module else [])])

    def dotted(self, node: ast.AST) -> str:
        """The dotted name of an expression, imports and simple assignments resolved; empty for anything else."""
        tail: list[str] = []
        seen: set[str] = set()
        at: ast.AST = node
        for _ in range(_MAX_LINKS):
            while isinstance(at, ast.Attribute):
                tail.append(at.attr)
                at = at.value
            if not isinstance(at, ast.Name):
                return ""
            if at.id in self.imports:
                return ".".join([self.imports[at.id], *reversed(tail)])
            value = self.assigned.get(at.id)
            module = _imported(value) if isinstance(value, ast.Call) else ""
            if module:
                return ".".join([module, *reversed(tail)])
            if at.id in seen or not isinstance(value, ast.Attribute | ast.Name):
                own = f"{self.module}.{at.id}" if self.module and at.id in self.defined else at.id
                return ".".join([own, *reversed(tail)])
            seen.add(at.id)
            at = value
        return ""

    def place(self, node: ast.AST) -> Location:
        """The place of a node; columns count characters."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end, last = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
        return Location(self.path, line, self._column(line, column), end, self._column(end, last))

    def head(self, node: Scope) -> Location:
        """The line of a ``def`` or ``class``, not its body."""
        place = self.place(node)
        return Location(self.path, place.line, place.column, place.line, place.column + len(node.name) + 4)

    def _column(self, line: int, column: int) -> int:
        if not self._lines:
            self._lines.extend(self.data.splitlines() or [b""])
        text = self._lines[line - 1][:column] if line <= len(self._lines) else b""
        return len(text.decode("utf-8", "replace")) + 1 if len(text) == column else column + 1


class PyFiles:
    """The Python files of a repository by path and by module, each parsed at most once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.paths = tuple(p for p in repository.paths if p.endswith(".py"))
        self._files: dict[str, PyFile | None] = {}
        self._known = frozenset(self.paths)
        self._packages: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of(cls, repository: Repository) -> PyFiles:
        """Those of a repository; all who ask for them share what was parsed."""
        return repository.derived(_of_repository, "")

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The path of each module."""
        found: dict[str, str] = {}
        for path in self.paths:
            found.setdefault(self.module(path), path)
        return found

    @cached_property
    def packages(self) -> frozenset[str]:
        """The first parts of the names of all modules."""
        return frozenset(name.partition(".")[0] for name in self.modules)

    def module(self, path: str) -> str:
        """The dotted name of a file by the packages around it."""
        folder, _, name = path.rpartition("/")
        own = () if name == "__init__.py" else (name.removesuffix(".py"),)
        return ".".join((*self._package(folder), *own))

    def _package(self, folder: str) -> tuple[str, ...]:
        """The parts of a package's name: of folders with ``__init__.py``, and of those without right inside of one."""
        if folder not in self._packages:
            outer, _, last = folder.rpartition("/")
            around = f"{outer}/__init__.py" in self._known and last.isidentifier()
            within = bool(folder) and (around or f"{folder}/__init__.py" in self._known)
            self._packages[folder] = (*self._package(outer), last) if within else ()
        return self._packages[folder]

    def file(self, path: str) -> PyFile | None:
        """The parsed file; None where it is no Python that can be parsed."""
        if path not in self._files:
            data = self.repository.data(path)
            tree = _parsed(data)
            made = None if tree is None else PyFile(path, self.module(path), data, tree, outside=self._outside)
            self._files[path] = made
        return self._files[path]

    def _outside(self, module: str, name: str) -> str:
        path = self.modules.get(module, "")
        return self.repository.derived(_handed_on, path).get(name, "") if path else ""

    def mentioning(self, *words: bytes) -> list[str]:
        """The Python files whose bytes hold one of the words."""
        return [p for p in self.paths if any(w in self.repository.data(p) for w in words)]

    def holding(self, word: str) -> list[str]:
        """The Python files without tests and examples in which a word stands as a whole."""
        return self.repository.derived(_vocabulary, "").holding(word.encode())

    def readers(self, word: str) -> Iterator[PyFile]:
        """What ``holding`` gives, parsed."""
        return (file for path in self.holding(word) if (file := self.file(path)) is not None)

    def names(self, module: str, name: str) -> list[str]:
        """All dotted names of what a module defines: re-exports of the packages above it (shortest first), its own."""
        found = [f"{module}.{name}" if module else name]
        parts = module.split(".")
        for count in range(len(parts), 0, -1):
            package = ".".join(parts[:count])
            path = self.modules.get(package, "")
            if not path.endswith("__init__.py") or f"{package}.{name}" in found:
                continue
            file = self.file(path)
            if file is None or name.startswith("_"):
                continue
            stars = [f"{star}.{name}" for star in file.stars]
            if file.imports.get(name) in found or any(star in found for star in stars):
                found.append(f"{package}.{name}")
        return sorted(found, key=lambda dotted: (dotted.count("."), dotted))


def _of_repository(repository: Repository, _: str) -> PyFiles:
    return PyFiles(repository)


def _handed_on(repository: Repository, path: str) -> Mapping[str, str]:
    """What a module has for others to import from it: kernel languages (``tl`` of Triton's), deterministic mode."""
    data = repository.data(path)
    found = {(m[2] or m[1]).decode(): m[1].decode() for m in _LANGUAGE.finditer(data)}
    tree = _parsed(data) if any(mode.encode() in data for mode in MODES) else None
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef)) if tree is not None else ()
    return found | {function.name: f"torch.{mode}" for function in functions if (mode := mode_given(function))}


def mode_given(function: ast.FunctionDef) -> str:
    """By which function another one ends with giving deterministic mode, where nothing overrides that; else empty."""
    last = function.body[-1]
    called = last.value.func if isinstance(last, ast.Return) and isinstance(last.value, ast.Call) else None
    name = last_name(called)
    return name if name in MODES else ""


def _vocabulary(repository: Repository, _: str) -> Vocabulary:
    root = len(_shared_folders(repository.paths))
    return Vocabulary([p for p in repository.paths if p.endswith(".py") and not _tests(p[root:])], repository.data)


def _tests(path: str) -> bool:
    """Whether a file is a test, a benchmark or an example by its path in the tree."""
    *folders, name = path.split("/")
    return not _TESTS.isdisjoint(folders) or _TEST.match(name) is not None


def _shared_folders(paths: tuple[str, ...]) -> str:
    """The folders that all files share, with the last ``/``: of a tree given on the command line, its root."""
    if not paths:
        return ""
    low, high = paths[0].split("/")[:-1], paths[-1].split("/")[:-1]  # paths are sorted
    shared = [a for a, b in zip(low, high, strict=False)]
    count = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(shared))
    return "".join(f"{part}/" for part in low[:count])


def _imported(call: ast.Call) -> str:
    """The module that ``importlib.import_module("a.b")`` gives, or a function like it: ``OptionalImport("a.b")``."""
    name = literal(call.args[0]) if len(call.args) == 1 else ""
    known = "import" in last_name(call.func).lower() and all(part.isidentifier() for part in name.split("."))
    return name if known else ""


def _parsed(data: bytes) -> ast.Module | None:
    if not data or len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        with warnings.catch_warnings():  # of invalid escapes in others' strings
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def texts(node: ast.AST) -> Iterator[ast.Constant]:
    """The string constants of an expression, in order."""
    pending: list[ast.AST] = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.Constant) and isinstance(at.value, str):
            yield at
        pending += reversed(children(at))


def base(node: ast.AST) -> str:
    """The variable that a cell or member is reached through: ``a`` of ``a.b[i]``; empty for other expressions."""
    at = node
    while isinstance(at, ast.Subscript | ast.Attribute):
        at = at.value
    return at.id if isinstance(at, ast.Name) else ""


def shown(node: ast.AST, limit: int = 2000) -> str:
    """The first line of a node's code, cut to ``limit`` characters; empty for one that is nested too deeply."""
    try:
        text = ast.unparse(node).partition("\n")[0]
    except RecursionError:
        return ""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
