"""Paths as reports show them, ``/``-separated: who only looks at import lines needs no facts for them."""

from __future__ import annotations

LANDMARK = "os.py"
"""The file by which Python itself finds its standard library (CPython's Modules/getpath.py: STDLIB_LANDMARKS)."""


def join(root: str, relative: str) -> str:
    """``root/relative`` without a leading ``./``."""
    return relative if root in ("", ".") else f"{root.rstrip('/')}/{relative}"


def folder(path: str) -> str:
    """The folder part of a path; empty for a bare name."""
    return path.rpartition("/")[0] if "/" in path else ""


def above(path: str, level: int) -> str:
    """The folder that a relative import with ``level`` dots starts from, in the file at ``path``."""
    base = folder(path)
    for _ in range(level - 1):
        base = folder(base) if base else ".."
    return base


def module_name(path: str) -> str:
    """The name by which the module at a path is imported from where the path starts: ``./configs/base.py``."""
    return path.removesuffix(".py").strip("./").replace("/", ".")


def belongs_to(package: str, root: str, importer: str) -> bool:
    """Whether a file is part of the package that it imports."""
    return importer.startswith(join(root, package) + "/")
