"""What the compiled modules of a PyTorch extension are called: by ``setup.py``, by calls that load, by CMake."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d9mlint.kernels.python.files import PyFile, PyFiles, texts
from d9mlint.kernels.python.words import below, children
from d9mlint.kernels.source.repository import Repository, shared_folders
from d9mlint.kernels.torch.builds import cmake

_MAKERS = re.compile(r"(?:\w*(?:Extension|extension)|load|load_inline|make_cuda_ext)\Z")
_HOLE = "{}"
"""In the name of a source, what is put in when the program runs: ``f"kernel_v{VERSION}.cu"``."""
_BOUND = re.compile(rb"\b(?:PYBIND11_MODULE|NB_MODULE)\s*\(\s*(\w+)\s*,")
_CPLUSPLUS = (".cpp", ".cu", ".cc", ".cxx")


class Extension(NamedTuple):
    """A compiled module: its dotted name as far as it can be read, and the sources named beside it."""

    name: str
    sources: tuple[str, ...]
    path: str
    """The file that says so."""
    cmake: bool = False
    """Whether CMake builds it."""

    @property
    def last(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def extensions(repository: Repository) -> list[Extension]:
    """All compiled modules that the build files and ``load(...)`` calls of a repository name; by file and place.

    ``CUDAExtension`` and its kin: https://docs.pytorch.org/docs/stable/cpp_extension.html
    """
    return repository.derived(_every, "")


def _every(repository: Repository, _: str) -> list[Extension]:
    files = PyFiles.of(repository)
    found = [
        extension
        for path in files.mentioning(b"Extension(", b"extension(", b"cpp_extension", b"make_cuda_ext(")
        if (file := files.file(path)) is not None
        for extension in _of_file(file)
    ]
    return found + [Extension(one.name, one.sources, one.path, True) for one in cmake.modules(repository)]


def bound(repository: Repository) -> frozenset[str]:
    """The modules that sources name themselves: ``PYBIND11_MODULE(_core, m)``."""
    return repository.derived(_bound, "")


def _bound(repository: Repository, _: str) -> frozenset[str]:
    paths = {path for word in (b"PYBIND11_MODULE", b"NB_MODULE") for path in repository.holding(word)}
    return frozenset(name.decode() for path in paths for name in _BOUND.findall(repository.data(path)))


def of_source(all_: list[Extension], path: str) -> list[Extension]:
    """The extensions that a C++ source can belong to: those that name it, else those of the nearest build file."""
    named = _naming(all_, path)
    if named:
        return named
    above = [e for e in all_ if (e.cmake or not _literal(e)) and f"{path}/".startswith(e.path.rpartition("/")[0])]
    depth = max((e.path.count("/") for e in above), default=0)
    return [e for e in above if e.path.count("/") == depth]


def _naming(all_: list[Extension], path: str) -> list[Extension]:
    """The extensions that name a source, in the nearest files: each folder may build a source of that name."""
    named = [e for e in all_ if _names(e, path)]
    whole = [e for e in named if any(path.endswith(source.lstrip("./")) for source in e.sources)] or named
    folders = {e: f"/{e.name.rpartition('.')[0].replace('.', '/')}/" for e in whole if "." in e.name}
    within = [e for e in whole if folders.get(e, "//") in f"/{path}"] or whole  # the sources lie in the package
    nearest = max((shared_folders(e.path, path) for e in within), default=0)
    return [e for e in within if shared_folders(e.path, path) == nearest]


def apart(repository: Repository, path: str, other: str) -> bool:
    """Whether two sources are named by extensions, and no extension is made of both."""
    one, two = (repository.derived(_made_of, at) for at in (path, other))
    return bool(one and two) and one.isdisjoint(two)


def _made_of(repository: Repository, path: str) -> frozenset[Extension]:
    return frozenset(_naming(extensions(repository), path))


def _names(extension: Extension, path: str) -> bool:
    """Whether an extension names a source of this name."""
    name = path.rpartition("/")[2]
    return any(_fits(source.rpartition("/")[2], name) for source in extension.sources)


def _fits(written: str, name: str) -> bool:
    if _HOLE not in written:
        return written == name
    parts = written.split(_HOLE)
    return len(name) >= sum(map(len, parts)) and name.startswith(parts[0]) and name.endswith(parts[-1])


def _literal(extension: Extension) -> bool:
    return any(source.endswith(_CPLUSPLUS) and "*" not in source for source in extension.sources)


def _of_file(file: PyFile) -> Iterator[Extension]:
    for node in below(file.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if not _MAKERS.match(called) or (called == "load" and b"cpp_extension" not in file.data):
            continue
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        given = keywords.get("name") or (node.args[0] if node.args else None)
        name = _text(file, given)
        if not name or not re.fullmatch(r"[A-Za-z_][\w.]*", name):
            continue
        module = _text(file, keywords.get("module"))
        sources = keywords.get("sources") or (node.args[1] if len(node.args) > 1 else None)
        listed = (*_listed(file, sources), *_compiled(_listed(file, keywords.get("extra_objects"))))
        yield Extension(f"{module}.{name}" if module else name, listed, file.path, "cmake" in called.lower())


def _listed(file: PyFile, node: ast.expr | None) -> Iterator[str]:
    """The strings of a list, with those that are added to it by its name: ``sources += ["kernel.cu"]``."""
    if node is None:
        return
    yield from _written(_value(file, node))
    added = node.id if isinstance(node, ast.Name) else ""
    for one in below(file.tree) if added else ():
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name) and one.target.id == added:
            yield from _written(one.value)


def _compiled(objects: Iterable[str]) -> Iterator[str]:
    """The sources whose objects are linked to a module; a compiler calls them ``kernel.cu.o``."""
    return (one.removesuffix(".o") for one in objects if one.removesuffix(".o").endswith(cmake.SOURCES))


def _written(node: ast.expr) -> Iterator[str]:
    """The strings of an expression; of an f-string that names a source what stands in it, with holes in its name."""
    pending: list[ast.AST] = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in at.values]
            folder, _, name = "".join(parts).rpartition("/")
            if _HOLE in name and name.strip(".{}") and name.endswith(cmake.SOURCES):
                yield f"{folder}/{name}"
            else:
                yield from (str(text.value) for text in texts(at))
        elif isinstance(at, ast.Constant):
            yield from [at.value] if isinstance(at.value, str) else []
        else:
            pending += reversed(children(at))


def _value(file: PyFile, node: ast.expr) -> ast.expr:
    for _ in range(5):
        if not isinstance(node, ast.Name) or node.id not in file.assigned:
            break
        node = file.assigned[node.id]
    return node


def _text(file: PyFile, node: ast.expr | None) -> str:
    """The text of a constant, of a name set to one, of an f-string or sum that ends in a constant without blanks."""
    if node is None:
        return ""
    value = _value(file, node)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return ""
