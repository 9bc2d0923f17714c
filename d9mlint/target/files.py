"""Which pins and images the files of one folder state. Nothing is executed; links out of the tree are not followed."""

from __future__ import annotations

import ast
import configparser
import importlib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from d9mlint.model import Limit
from d9mlint.target import cuda
from d9mlint.target.known import COMPANIONS, KNOWN, package_name
from d9mlint.target.ngc import Image, read_dockerfile
from d9mlint.target.pins import Pin, from_conda, from_poetry, pin
from d9mlint.target.readme import README, named

_LIMIT = 1 << 20
"""Larger files are skipped: they are data or generated, and every entry of a tree would pay for them."""

_INCLUDES = 50
"""Requirements files that one may pull in."""

Stated = Iterator[tuple[int, str]]
"""Line (0: not known) and the requirement that stands there, as PEP 508 text."""


class Folder(NamedTuple):
    """What one folder states, strongest first."""

    pins: tuple[Pin, ...] = ()
    images: tuple[Image, ...] = ()
    named: tuple[Limit, ...] = ()
    """What its README says."""


class Tree(NamedTuple):
    """The part of the file system that may be read, and the folder that paths in reasons are relative to."""

    root: Path
    bound: Path

    def text(self, path: Path) -> str | None:
        """The text of a file; None when it is absent, not a plain file, too large, or outside of the tree."""
        try:
            real = path.resolve(strict=True)
            if not real.is_relative_to(self.bound) or not real.is_file():
                return None
            with real.open("rb") as file:
                data = file.read(_LIMIT + 1)
        except (OSError, RuntimeError, ValueError):  # RuntimeError: a loop of links; ValueError: a NUL in the name
            return None
        if len(data) > _LIMIT:
            return None
        # PowerShell's ">" writes UTF-16, so `pip freeze > requirements.txt` does on Windows.
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")

    def label(self, path: Path) -> str:
        """The path for people: relative to the root, with ``/``."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def read_folder(folder: Path, tree: Tree) -> Folder:
    """All pins of known packages, all images and what the README says, of the files right in ``folder``."""
    names = _names(folder)
    pins: list[Pin] = []
    for pattern, reader in _READERS:
        for name in filter(pattern.fullmatch, names):
            pins += _pins(folder / name, reader, tree)
        if reader is _conda:
            pins += _of_environments(folder, names, tree)
    readmes = [(tree.text(folder / name) or "", name) for name in names if README.fullmatch(name)]
    for path in dict.fromkeys(path for text, _ in readmes for path in _to_install(text)):
        pins += _pins(folder / path, None, tree)
    images: list[Image] = []
    for name in filter(_DOCKERFILE.fullmatch, names):
        text = tree.text(folder / name) or ""
        images += read_dockerfile(text, tree.label(folder / name))
        pins += cuda.of_dockerfile(text, tree.label(folder / name))
    said = (named(text, tree.label(folder / name)) for text, name in readmes)
    return Folder(tuple(pins), tuple(images), next((limits for one in said if (limits := tuple(one))), ()))


def _to_install(readme: str) -> Iterator[str]:
    """The requirements files of other folders that a README has people install: ``pip install -r docs/needs.txt``."""
    for found in _INSTALLS.finditer(readme):
        path = os.path.normpath(found[1])
        known = path.partition("/")[0] in _BELOW and path.count("/") == 1  # (they are read anyhow)
        if (
            "/" in path
            and not known
            and not path.startswith(("/", ".."))
            and _REQUIREMENTS.fullmatch(path.rpartition("/")[2])
        ):
            yield path


def _names(folder: Path) -> list[str]:
    """Names of the folder, then those of folders in it that state what it needs; shorter ones (the main file) first."""
    found: list[str] = []
    for prefix in ("", *(f"{name}/" for name in _BELOW)):
        try:
            inside = [path.name for path in (folder / prefix).iterdir()]
        except OSError:
            continue
        found += [prefix + name for name in sorted(inside, key=lambda name: (len(name), name))]
    return found


def _of_environments(folder: Path, names: Iterable[str], tree: Tree) -> list[Pin]:
    """What conda's environments under other names say (``linux_cuda10.yml``): of each package what all of them say."""
    files = [name for name in names if "/" not in name and _YAML.fullmatch(name) and not _ENVIRONMENT.fullmatch(name)]
    found = [list(_pins(folder / name, _conda, tree)) for name in files if _is_environment(tree.text(folder / name))]
    said: dict[tuple[str, str], set[str]] = {}
    for one in (one for pins in found for one in pins):
        said.setdefault((one.name, one.told_by), set()).add(str(one.specifier))
    return [one for pins in found for one in pins if len(said[one.name, one.told_by]) == 1]


def _is_environment(text: str | None) -> bool:
    """Whether a YAML file has the keys of a conda environment, and none besides."""
    keys = set(re.findall(r"^([A-Za-z_][\w.-]*)[ \t]*:", text or "", re.MULTILINE))
    return {"channels", "dependencies"} <= keys <= _KEYS


def _pins(path: Path, reader: Callable[[str], Stated] | None, tree: Tree) -> Iterator[Pin]:
    label = tree.label(path)
    stated = (
        _requirements(path, tree, set())
        if reader is None
        else ((label, line, requirement) for line, requirement in reader(tree.text(path) or ""))
    )
    for file, line, requirement in stated:
        where = f"{file}:{line}" if line else file
        found = pin(requirement, where, label) if _known(requirement) else None
        if found:
            yield found
        elif cuda.said_of(requirement):
            yield from cuda.pins(requirement, where, label)


def _requirements(path: Path, tree: Tree, seen: set[Path]) -> Iterator[tuple[str, int, str]]:
    """The lines of a pip requirements file and of those that it includes, each file once."""
    if path in seen or len(seen) >= _INCLUDES:  # the number also ends loops that links make
        return
    seen.add(path)
    text = tree.text(path) or ""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        joined += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        stated = re.sub(r"(^|\s)#.*", "", joined).strip()
        included = re.match(r"(?:-r|-c|--requirement|--constraint)[\s=]*([^\s=].*)", stated)
        if included:
            yield from _requirements(Path(os.path.normpath(path.parent / included[1])), tree, seen)
        elif stated.startswith("-") and cuda.said_of(stated):
            yield tree.label(path), first, stated
        elif stated and not stated.startswith("-"):
            yield tree.label(path), first, re.sub(r"\s--.*", "", stated)  # "--hash=..." belongs to pip
        joined, first = "", 0


def _lock(text: str) -> Stated:
    """``uv.lock``, ``poetry.lock``, ``pdm.lock``: machine-written, so a line reader does, and keeps the line."""
    versions: dict[str, tuple[int, str]] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("[["):
            name = ""
        elif found := re.match(r'(name|version) = "([^"]+)"', line):
            if found[1] == "name":
                name = found[2]
            elif name:
                versions[name] = (number, found[2])  # a forked lock lists the newest last
    for package, (number, version) in versions.items():
        yield number, f"{package}=={version}"


def _pipfile_lock(text: str) -> Stated:
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return
    for section in ("default", "develop"):
        for name, entry in _table(data, section).items():
            requirement = from_poetry(name, entry)
            if requirement and _known(name):
                yield _line(text, f'"{name}"'), requirement


def _toml(text: str) -> object:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data: object = toml.loads(text)
    except (ValueError, RecursionError):  # broken TOML is for its own tool to report
        return {}
    return data


def _table(data: object, *keys: str) -> dict[str, object]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _known(requirement: str) -> bool:
    """Whether it is about a package of interest: most lines of a project are not, and parsing them all would cost."""
    name = re.match(r"\s*([A-Za-z0-9][\w.-]*)", requirement[:100])
    return name is not None and (package_name(name[1]) in KNOWN or package_name(name[1]) in COMPANIONS)


def _listed(text: str, requirements: Iterable[str]) -> Stated:
    for requirement in filter(_known, requirements):
        yield _line(text, requirement), requirement


def _line(text: str, needle: str) -> int:
    at = text.find(needle)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _keyed(text: str, table: dict[str, object]) -> Stated:
    """Poetry's and Pipenv's way: the package is the key; several constraints may stand in a list."""
    for name, value in table.items():
        if not _known(name):
            continue
        at = re.search(rf"^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=", text, re.MULTILINE)
        for constraint in value if isinstance(value, list) else [value]:
            if requirement := from_poetry(name, constraint):
                yield text.count("\n", 0, at.start()) + 1 if at else 0, requirement


def _pyproject(text: str) -> Stated:
    if not any(word in text for word in ("dependenc", "requires-python")):  # spares most tool settings the parser
        return
    data = _toml(text)
    project = _table(data, "project")
    poetry = _table(data, "tool", "poetry")
    groups = (*_table(project, "optional-dependencies").values(), *_table(data, "dependency-groups").values())
    for requirements in (project.get("dependencies"), *groups):
        yield from _listed(text, _strings(requirements))
    if isinstance(python := project.get("requires-python"), str):
        yield _line(text, "requires-python"), f"python{python}"
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(poetry, "group", name, "dependencies") for name in _table(poetry, "group")]
    for table in tables:
        yield from _keyed(text, table)


def _pipfile(text: str) -> Stated:
    data = _toml(text)
    for section in ("packages", "dev-packages"):
        yield from _keyed(text, _table(data, section))
    requires = _table(data, "requires")
    for key, suffix in (("python_full_version", ""), ("python_version", ".*")):
        if isinstance(version := requires.get(key), str):
            yield _line(text, key), f"python=={version}{suffix}"


def _setup_cfg(text: str) -> Stated:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    options = dict(parser["options"]) if parser.has_section("options") else {}
    extras = dict(parser["options.extras_require"]) if parser.has_section("options.extras_require") else {}
    for value in (options.get("install_requires", ""), *extras.values()):
        yield from _listed(text, map(str.strip, value.splitlines()))
    if python := options.get("python_requires", "").strip():
        yield _line(text, "python_requires"), f"python{python}"


def _setup_py(text: str) -> Stated:
    """String literals of ``install_requires`` and friends, also by way of a module-level name; parsed, never run."""
    if "_require" not in text:  # install_requires, extras_require, python_requires
        return
    try:
        with warnings.catch_warnings():  # invalid escapes in other people's code
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # Python 2, NUL bytes, too deep
        return
    names = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    arguments = [node for node in ast.walk(module) if isinstance(node, ast.keyword)]
    for argument in ("install_requires", "extras_require", "python_requires"):
        for keyword in (node for node in arguments if node.arg == argument):
            for line, literal in _literals(keyword.value, names, 3):
                yield line, f"python{literal}" if argument == "python_requires" else literal


def _literals(value: ast.expr, names: dict[str, ast.expr], depth: int) -> Stated:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.Name) and depth and node.id in names:
            yield from _literals(names[node.id], names, depth - 1)


def _conda(text: str) -> Stated:
    """``dependencies:`` of a conda environment, with its ``pip:`` list; a line reader, as these files are flat."""
    inside, pip = False, -1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"[A-Za-z_]", line):
            inside, pip = line.startswith("dependencies:"), -1
        found = re.match(r"\s*- ", line)
        if not inside or not found:
            continue
        indent, item = found.end(), line[found.end() :].partition(" #")[0].strip(" \t\"'")
        if item == "pip:":
            pip = indent
        elif pip >= 0 and indent > pip:
            yield number, item
        elif requirement := from_conda(item):
            pip = -1
            yield number, requirement


_BELOW = ("requirements", "docker", "installation", "install", "environment")
"""Names of folders that hold what the folder around them needs."""
# Strongest first. None: pip's own format, which includes other files.
_REQUIREMENTS = re.compile(r"(?:[\w.-]+[_.-])?requirements?[^/]*\.txt")
_KEYS = {"name", "channels", "dependencies", "prefix", "variables", "platforms"}
_ENVIRONMENT, _YAML = re.compile(r"(?:conda|env)[\w.-]*\.ya?ml"), re.compile(r"[^/]+\.ya?ml")
_READERS: tuple[tuple[re.Pattern[str], Callable[[str], Stated] | None], ...] = (
    (re.compile(r"(?:uv|poetry|pdm)\.lock"), _lock),
    (re.compile(r"Pipfile\.lock"), _pipfile_lock),
    (re.compile(r"requirements\.txt"), None),
    (
        re.compile(
            rf"requirements/[^/]+\.txt|(?!requirements\.txt)(?:(?:{'|'.join(_BELOW)})/)?"
            r"(?:[\w.-]+[_.-])?requirements?[^/]*\.txt"
        ),
        None,
    ),
    (re.compile(r"pyproject\.toml"), _pyproject),
    (re.compile(r"setup\.cfg"), _setup_cfg),
    (re.compile(r"setup\.py"), _setup_py),
    (_ENVIRONMENT, _conda),
    (re.compile(r"Pipfile"), _pipfile),
)
_DOCKERFILE = re.compile(r"(?:docker/)?(?:[\w-]+\.)?Dockerfile(?:[._-][\w.-]*)?", re.IGNORECASE)
_INSTALLS = re.compile(r"\bpip3? install [^\n`]*?(?:-r|--requirement)[ =]+([\w./-]+)")
_CONSTRAINTS = re.compile(r"(?:requirements/)?[\w.-]*constraints?[^/]*\.txt|requirements/[^/]+\.in")
"""What requirements files include by convention."""


def is_requirements(path: str) -> bool:
    """Whether a file is one of pip's requirements."""
    return _REQUIREMENTS.fullmatch(path.rpartition("/")[2]) is not None or "/requirements/" in f"/{path}"


def holds_below(path: str) -> str | None:
    """The folder whose programs a file may state versions for, by the file's name; None where it states none.

    Conda's environments may have any name: of those what stands in the file decides, if it is still there.
    """
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    patterns = (*(pattern for pattern, _ in _READERS), _DOCKERFILE, _CONSTRAINTS, README)
    if last in _BELOW and any(one.fullmatch(f"{last}/{name}") for one in patterns):
        return above
    if any(one.fullmatch(name) for one in patterns):
        return folder
    return folder if _YAML.fullmatch(name) and _may_be_environment(Path(path)) else None


def _may_be_environment(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return _is_environment(file.read(_LIMIT))
    except OSError:
        return True
