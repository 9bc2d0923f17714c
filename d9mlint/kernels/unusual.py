"""Files whose names say nothing of C++ and whose contents do: ``.kernel``, ``.tcu``, ``.param``, ``.hpp.in``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from d9mlint.kernels.source.looks import ending

_OTHERS = frozenset(
    (
        *(".md", ".rst", ".tex", ".html", ".htm", ".css", ".dox", ".adoc", ".ipynb", ".pdf", ".ps", ".log", ".diff"),
        *(".json", ".xml", ".csv", ".tsv", ".ini", ".lock", ".proto", ".prototxt", ".textproto", ".md5", ".sha256"),
        *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".bmp", ".tif", ".tiff", ".exr", ".ppm", ".mp4", ".wav", ".ttf"),
        *(".npy", ".npz", ".pt", ".pth", ".pkl", ".h5", ".hdf5", ".bin", ".dat", ".onnx", ".safetensors", ".tflite"),
        *(".zip", ".gz", ".bz2", ".xz", ".tar", ".tgz", ".whl", ".jar", ".so", ".a", ".o", ".lib", ".dll", ".exe"),
        *(".sh", ".bash", ".bat", ".ps1", ".pl", ".rb", ".lua", ".js", ".ts", ".tsx", ".java", ".kt", ".go", ".rs"),
        *(".swift", ".cs", ".f", ".f90", ".F90", ".jl", ".r", ".R", ".m", ".bzl", ".bazel", ".gradle", ".pyi", ".pyc"),
        *(".s", ".S", ".asm", ".ll", ".mlir", ".td", ".i", ".swg", ".y", ".l", ".rc", ".patch", ".stl"),
        *(".obj", ".ply", ".pcd", ".off", ".bc", ".spv", ".d", ".rules", ".gitignore", ".gitmodules", ".gitkeep"),
    )
)
"""Endings that say what else a file holds: it is not opened."""
_CPP = re.compile(
    rb"^[ \t]*#[ \t]*(?:include[ \t]*(?:<[^>\n]+>|\"[^\"\n]+\")|pragma[ \t]+once\b)|\b__(?:global|device)__\b",
    re.MULTILINE,
)
_GLSL = re.compile(rb"^[ \t]*#[ \t]*version[ \t]+\d", re.MULTILINE)
_ATOMIC = re.compile(rb"\batomic(?:Add|Sub|Min|Max|And|Or|Xor|Inc|Dec|Exch|Exchange|CAS|Cas|CompSwap)\s*\(")
_TEMPLATES = (".jinja", ".jinja2", ".j2")
"""Templates for texts, of Jinja: with calls of atomics in them, for texts in C++."""
_MISSES = 16
"""After so many files of an ending without any C++ the others are taken for the same."""
_MOST = 1 << 20
"""Bytes: what is larger was hardly written by hand."""


class Unusual(NamedTuple):
    """What files of unusual names hold: C++, or atomics of a language that is not known."""

    sources: tuple[str, ...] = ()
    atomics: tuple[str, ...] = ()


def may_be_source(name: str) -> bool:
    """Whether nothing in a file's name tells what else it holds."""
    return "." in name[1:] and ending(name) not in _OTHERS


def is_source(data: bytes) -> bool:
    """Whether this is C++ with certainty: it includes a file, or holds a function of the device."""
    return b"\0" not in data and _CPP.search(data) is not None and _GLSL.search(data) is None


def looked_into(root: str, paths: Sequence[str]) -> Unusual:
    """The C++ among files of unusual names below a folder, and what else holds calls of atomics."""
    by_ending: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_ending.setdefault(ending(path), []).append(path)
    found = [_of_one_ending(root, named) for named in by_ending.values()]
    sources = sorted(path for one in found for path in one.sources)
    return Unusual(tuple(sources), tuple(sorted(path for one in found for path in one.atomics)))


def _of_one_ending(root: str, paths: Sequence[str]) -> Unusual:
    sources: list[str] = []
    atomics: list[str] = []
    for count, path in enumerate(paths):
        if count >= _MISSES and not sources and not atomics:
            break
        try:
            with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123 - called for hundreds of files
                data = file.read(_MOST)
        except OSError:  # nothing says that it is a source
            continue
        if is_source(data) or (path.endswith(_TEMPLATES) and _ATOMIC.search(data) is not None):
            sources.append(path)
        elif _ATOMIC.search(data) is not None:
            atomics.append(path)
    return Unusual(tuple(sources), tuple(atomics))
