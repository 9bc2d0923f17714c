"""What to check: the Python files under the given paths, the entry scripts among them, and where imports start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from d9mlint.discover.beside import is_beside, near
from d9mlint.discover.patterns import holds_no_code
from d9mlint.discover.percent import is_percent
from d9mlint.discover.roots import PROJECT_MARKERS, added_roots, import_roots, is_member
from d9mlint.discover.scripts import METADATA, SETUP, console_scripts
from d9mlint.discover.searched import searched_roots
from d9mlint.discover.settings import Settings, is_file, unreadable
from d9mlint.discover.walk import KERNEL_SOURCES, PYTHON, File, left_out, walk
from d9mlint.model import Unchecked, UsageError

__all__ = [
    "KERNEL_SOURCES", "PROJECT_MARKERS", "Discovery", "added_roots", "discover",
    "has_main_guard", "holds_no_code", "import_roots", "is_member", "left_out", "may_hold_kernels", "searched_roots",
]  # fmt: skip

MAX_FILES = 50_000
"""More Python files than in any training repository: beyond it a wrong folder was named."""
_KERNEL_LANGUAGES = (
    b"triton", b"numba", b" cupy", b"cpp_extension", b"pycuda", b"pallas", b"warp as", b"import warp", b"from warp",
    b"__global__", b"_compile_kernel", b"elementwise(", b"cutlass", b"tilelang", b"cuda_src",
    b"cuda.tile", b"flydsl", b"pccm", b"taichi",
)  # fmt: skip
_WARP = re.compile(rb"^(?:import warp|from warp)\b", re.MULTILINE)
_TAICHI = re.compile(rb"^(?:import|from) (?:gs)?taichi\b", re.MULTILINE)
_TOP = 4000
"""Bytes of a file in which its first imports stand."""
MAIN_GUARD = rb"""(?m)^(?:el)?if\b[^\n#]*?(?:__name__\s*==\s*['"]__main__['"]|['"]__main__['"]\s*==\s*__name__)"""


class Discovery(NamedTuple):
    """The files to check, spelled as the user spelled the paths, sorted and each once; the entries are among them."""

    files: tuple[Path, ...]
    entries: tuple[Path, ...]
    unchecked: tuple[Unchecked, ...] = ()
    kernels: tuple[Path, ...] = ()
    """C++ and CUDA sources in the folders (not counted among ``files``), and Python files that may hold kernels."""
    beside: tuple[Path, ...] = ()
    """Files in the folders whose names say that they may start or configure a program."""
    near: tuple[Path, ...] = ()
    """The same beside, and in folders above, what was named: they are asked only who starts it."""
    starts: Mapping[Path, tuple[str, ...]] = MappingProxyType({})
    """By file, the functions of it that console scripts call."""


def discover(paths: Sequence[Path], config: Settings) -> Discovery:
    """The Python files that ``paths`` stand for; a file that is named is always an entry.

    What cannot be read is listed in ``unchecked``. Raises UsageError for a path that does not exist or when there is
    nothing to check, ConfigError for a bad ``exclude`` pattern.
    """
    folders = sorted({path for path in paths if _is_folder(path)}, key=lambda path: path.parts)
    named, unchecked = _named(path for path in paths if path not in folders)
    asked = [file.path for file in named if is_beside(file.path.name)]
    named = [file for file in named if file.path not in asked]
    found, metadata, kernels, beside = _search(folders, config, unchecked)
    runs = console_scripts(metadata, config, unchecked) if folders else {}
    files = _once([*named, *_inside(config.entrypoints, folders), *_scripts(list(_read(found, unchecked)))])
    if not files and not unchecked and not kernels and not beside and not asked:
        raise UsageError(f"nothing to check: no Python file in {', '.join(map(str, paths)) or 'no path'}")
    return Discovery(
        files=tuple(file.path for file in files),
        entries=tuple(file.path for file in files if file.runs or file.real in runs),
        unchecked=tuple(sorted(set(unchecked))),
        kernels=tuple(sorted([*kernels, *(file.path for file in files if file.kernels)])),
        beside=tuple(sorted({*beside, *asked})),
        near=_near(paths, folders, config),
        starts={file.path: runs[file.real] for file in files if file.real in runs},
    )


def _near(paths: Sequence[Path], folders: Sequence[Path], config: Settings) -> tuple[Path, ...]:
    """What is near, without what is excluded."""
    found = {os.path.relpath(path, config.root).replace(os.sep, "/"): path for path in near(paths, folders, config)}
    out = left_out(config.root, (name for name in found if not name.startswith("../")), config)
    return tuple(sorted(path for name, path in found.items() if name not in out))


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 (pathlib's raises where permission is missing)


def _named(paths: Iterable[Path]) -> tuple[list[File], list[Unchecked]]:
    """The files named on the command line; raises UsageError for one that does not exist."""
    named: list[File] = []
    unchecked: list[Unchecked] = []
    for path in paths:
        try:
            path.stat()
        except PermissionError as error:
            unchecked.append(unreadable(path, error))
            continue
        except (OSError, ValueError) as error:
            raise UsageError(f"path not found: {path}{_did_you_mean(path)}") from error
        if not is_file(path):
            raise UsageError(f"neither a file nor a folder: {path}")
        named.append(File(path, os.path.realpath(path), path.is_symlink(), runs=True))
    return named, unchecked


def _did_you_mean(path: Path) -> str:
    """The file beside it whose name is most like that of a path that is not there."""
    from difflib import get_close_matches

    try:
        names = [one.name for one in path.parent.iterdir() if one.exists()]
    except (OSError, ValueError):
        return ""
    close = get_close_matches(path.name, sorted(names), 1)
    return f"; did you mean {path.parent / close[0]}?" if close else ""


def _once(files: Iterable[File]) -> list[File]:
    """Each real file once, sorted by path; it is an entry when it is one under any of its names."""
    found: dict[str, File] = {}
    for file in files:
        other = found.get(file.real, file)
        first = min(file, other, key=lambda one: one.rank)
        found[file.real] = first._replace(runs=file.runs or other.runs, kernels=file.kernels or other.kernels)
    return sorted(found.values(), key=lambda file: file.path.parts)


def _inside(entrypoints: Iterable[Path], folders: Sequence[Path]) -> Iterator[File]:
    """The configured entry scripts that lie in ``folders``, spelled like these; they count even where excluded."""
    for entrypoint in entrypoints:
        real = Path(os.path.realpath(entrypoint))
        for folder in folders:
            top = os.path.realpath(folder)
            if real.is_relative_to(top):
                yield File(folder / real.relative_to(top), str(real), runs=True)


def _search(
    folders: Sequence[Path], config: Settings, unchecked: list[Unchecked]
) -> tuple[list[File], dict[str, Path], list[Path], list[Path]]:
    """The Python files in ``folders``, by real path the metadata that may name console scripts, and the other files.

    These are the C++ sources, and what may start or configure a program.
    """
    files: list[File] = []
    kernels: list[Path] = []
    beside: list[Path] = []
    asked = (config.root / name for name in (*METADATA, SETUP))
    metadata = {os.path.realpath(file): file for file in asked if is_file(file)}
    for folder in folders:
        for item in walk(folder, config):
            if isinstance(item, Unchecked):
                unchecked.append(item)
                continue
            if item.path.name == SETUP:  # a program by itself, too
                metadata[item.real] = item.path
            if item.path.name in METADATA:
                metadata[item.real] = item.path
            elif is_beside(item.path.name):
                beside.append(item.path)
            elif item.path.suffix not in PYTHON and not item.runs:
                kernels.append(item.path)
            elif len(files) < MAX_FILES:
                files.append(item)
            else:
                reason = f"stopped after {MAX_FILES:,} Python files; exclude folders or check them one by one"
                unchecked.append(Unchecked(folder.as_posix(), reason))
                break
    return files, metadata, kernels, beside


# --- entries ---------------------------------------------------------------------------------------------------------


_TEST = re.compile(r"test_.*\.py|.*_tests?\.py")
"""Files of tests by pytest's and unittest's naming: in a folder they are no programs whose results anybody compares."""
_TEST_WORDS = re.compile(rb"\b(?:unittest|pytest|absltest|TestCase|tf\.test)\b|\.testing\b|\bimport testing\b")
_TEST_FOLDERS = ("test", "tests", "testing")
_TESTS = re.compile(
    rb"^(?:async )?def test\w*\(\)|^[ \t]+(?:async )?def test\w*\(self\b|^class (?:Test\w*|\w*Tests?)\b", re.MULTILINE
)
"""What pytest collects without fixtures, and unittest; a program that tests a model has none of it."""
_COMMAND_LINE = re.compile(rb"\b(?:ArgumentParser|sys\.argv|absl|click|typer|fire|hydra|sacred|FLAGS)\b")
"""What a program says that reads a command line; one of the words of test frameworks makes it tests all the same."""

_PARSES = re.compile(rb"^\w[\w, ]*=[ \t]*\w+\.parse_(?:known_)?args\(|^@\w+\.automain\b", re.MULTILINE)
"""A module that reads the command line when it is executed, or lets Sacred do so, is a script without a main guard."""
_WORKS = re.compile(
    rb"^(?:for|while)\b[^\n]*:|^with\b[^\n]*\b(?:open|\w*[Ss]ession|no_grad|inference_mode|scope|device)\(|^print\(|"
    rb"^(?:\w[\w, ]*=[ \t]*)?(?:[\w.]+\.)?"
    rb"(?:main|(?:train|fit|fine_?tune|evaluate)(?:_\w+)?|run|summary|savez?|dump|show)\(|"
    rb"^(?!(?:def|class|if|elif|assert)\b)\w[^\n=#]*\.(?:to_(?:csv|parquet|json|pickle|feather|hdf|excel|disk|sql)|"
    rb"(?:save|write|imsave|imwrite)(?:_\w+|lines)?)\(|"
    rb"^\w[\w, ]*=[ \t]*(?:\w+\(\)\.parse|[\w.]*(?:get|parse)_(?:args|arguments|options|opts?))\(",
    re.MULTILINE,
)
"""A loop, a session or a call that trains, runs, reads, writes or parses, at the top: a script that nothing imports."""
_CALLED = re.compile(
    rb"^(?!(?:init|set|register|patch|install|config|import|load|check|add|enable|disable)\w*\()([a-z]\w*)\(",
    re.MULTILINE,
)
"""A function that is called at the top, and whose name is not that of a preparation."""
_CALLED_WITH = re.compile(_CALLED.pattern + rb"\s*[\w\"'\[{(*-]", re.MULTILINE)
"""The same with something in the brackets, be it on the next line."""
_SHOWS = ("example", "examples", "demo", "demos", "tutorial", "tutorials", "quickstart", "getting_started")
_SHOWS_HOW = re.compile(r"(?:^|_)(?:example|demo|tutorial|quick_?start)(?:s|_|$)")
"""Folders of files, and names of files, that show how a library is used."""
_DEFINES = re.compile(rb"^(?:async )?(?:def|class) ", re.MULTILINE)
_GETS = re.compile(
    rb"^\w[\w, ]*=[ \t]*(?!(?:get|make|create|build|read|load|import|register|set|init|config)\w*\()([a-z]\w*)"
    rb"\([a-z]\w*(?:,[ \t]*\w+)*\)",
    re.MULTILINE,
)
"""A function that is given what has a name, whose result a module keeps, and whose name is no preparation's."""
_IMPORTS = re.compile(rb"^[ \t]*(?:from|import)\b(?:[^\n(]*\([^)]*\)|[^\n]*)", re.MULTILINE)
_NO_SCRIPTS = ("__init__.py", "setup.py", "conftest.py", "conf.py")


def _read(files: Iterable[File], unchecked: list[Unchecked]) -> Iterator[File]:
    """The readable ones of ``files``, each with whether it runs by itself."""
    for file in files:
        try:
            if file.path.name.endswith(".ipynb"):  # runs by itself; a large one is not read for that
                yield file._replace(runs=True)
                continue
            data = file.path.read_bytes()
        except OSError as error:
            unchecked.append(unreadable(file.path, error))
        else:
            by_itself = has_main_guard(data) or is_percent(data) or _PARSES.search(data) is not None
            runs = by_itself and not _holds_tests(file.path, data)
            runs = runs or file.runs or file.path.name == "__main__.py"
            works = not runs and _may_be_script(file.path, data)
            yield file._replace(runs=runs, kernels=may_hold_kernels(data), works=works)


def _may_be_script(path: Path, data: bytes) -> bool:
    """Whether a module does something when it is executed; one that another module imports is none."""
    if path.name in _NO_SCRIPTS or _holds_tests(path, data):
        return False
    if _WORKS.search(data) is not None:
        return True
    own = (rb"^(?:async )?def " + called + rb"\(" for called in set(_CALLED.findall(data)))
    if any(re.search(one, data, re.MULTILINE) for one in own):
        return True
    of_others = set[bytes]()
    if path.parent.name in _SHOWS or _SHOWS_HOW.search(path.stem) is not None:
        # It shows how functions of others are called, with an argument at least: `experiment(model="gcn")`.
        of_others.update(_CALLED_WITH.findall(data))
    if _DEFINES.search(data) is None:
        # It defines nothing itself and works with functions of others: `rewards, best = interact(env, agent)`.
        of_others.update(_GETS.findall(data))
    imports = b" ".join(line for line in _IMPORTS.findall(data) if b"import" in line) if of_others else b""
    return any(re.search(rb"\b" + called + rb"\b", imports) is not None for called in of_others)


def _scripts(files: list[File]) -> list[File]:
    """The files, those that do something when they are executed and that nothing imports among the programs."""
    if not any(file.works for file in files):
        return files
    imported = {word for file in files for word in _imported(file.path)}
    return [one._replace(runs=True) if one.works and one.path.stem not in imported else one for one in files]


def _imported(path: Path) -> Iterator[str]:
    """The words of the import lines of a file."""
    try:
        data = path.read_bytes() if path.suffix == ".py" else b""
    except OSError:
        return
    for line in _IMPORTS.findall(data):
        yield from re.findall(r"\w+", line.decode("utf-8", "replace"))


def _holds_tests(path: Path, data: bytes) -> bool:
    """Whether a file holds tests by its name and what it says.

    A program that tests a policy reads a command line, or has nothing that a test framework would run.
    """
    if _TEST.fullmatch(path.name) is None:
        return False
    if _TEST_WORDS.search(data) is not None:
        return True
    if _COMMAND_LINE.search(data) is not None:
        return False
    return path.parent.name in _TEST_FOLDERS or _TESTS.search(data) is not None


def may_hold_kernels(data: bytes) -> bool:
    """Whether a Python file may hold GPU kernels with atomics: of a language like Triton, or of CUDA in strings.

    A screen by bytes: what it turns down holds none, what it lets through has to be read.
    """
    # `cupyx.scatter_add` and `cupy.add.at` do not say "atomic", nor does assembler: "red.global.add.f32".
    # Nor do Warp and Taichi, where an addition to a cell of an array is atomic, nor `cute.arch.red` of CuTe.
    named = b"atomic" in data or b"Atomic" in data or b"inline_asm" in data or b".red(" in data or b"_add1(" in data
    named = named or b"_async_bulk_" in data
    if not named and data.find(b" cupy", 0, _TOP) < 0:
        if b"taichi" in data and b"= " in data and _TAICHI.search(data) is not None:
            return True
        return b"warp" in data and b".kernel" in data and b"= " in data and _WARP.search(data) is not None
    return any(word in data for word in _KERNEL_LANGUAGES)


def has_main_guard(data: bytes) -> bool:
    """Whether a line of the source begins ``if __name__ == "__main__"``, in whatever spelling."""
    return b"__main__" in data and re.search(MAIN_GUARD, data.removeprefix(b"\xef\xbb\xbf")) is not None
