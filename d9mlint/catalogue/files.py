"""The files of the catalogue as bytes, found and fingerprinted; nothing is parsed here."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from d9mlint import __version__
from d9mlint.model import CatalogueError

_FORMAT = "1"
"""Raise it when compiled catalogues of an older d9mlint of the same version can no longer be read."""
_HAZARDS = "hazards.yaml"
_OPS = re.compile(rb"^ops[ \t]*:", re.MULTILINE)


class File(NamedTuple):
    """One file: ``family`` is its folder, ``name`` its stem, ``shown`` its path as messages have it."""

    path: str
    shown: str
    family: str
    name: str
    content: bytes
    extra: bool = False

    @property
    def has_ops(self) -> bool:
        """Whether it is an op file: the folder of ops holds rules about ops beside these."""
        return self.family == "ops" and _OPS.search(self.content) is not None

    def text(self) -> str:
        """The text; UTF-8 is required."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise CatalogueError(f"{self.shown}:{line}: not valid UTF-8") from None


class Files(NamedTuple):
    """Everything that makes up a catalogue; ``modules`` are the Python halves of rules, shown path by module name.

    Those of rules about kernel sources (the family ``kernels``) and config files (``configs``) lie apart: they judge
    something else than a program.
    """

    folder: Path
    hazards: File
    rules: tuple[File, ...]
    extra: tuple[File, ...]
    modules: Mapping[str, str]
    kernel_modules: Mapping[str, str]
    config_modules: Mapping[str, str]
    digest: str


def rules_folder() -> Path:
    """The rules that ship in the wheel, else those of the checkout."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_rules"
    return packaged if packaged.is_dir() else package.parent / "rules"


def modules_folder() -> Path:
    """Where the Python halves of rules lie; nothing is imported from there."""
    return Path(__file__).resolve().parent.parent / "python" / "rules"


def kernel_modules_folder() -> Path:
    """The same for rules about kernel sources."""
    return Path(__file__).resolve().parent.parent / "kernels" / "rules"


def config_modules_folder() -> Path:
    """The same for rules about config files."""
    return Path(__file__).resolve().parent.parent / "configs" / "rules"


def gather(
    folder: Path, extra: Sequence[Path], modules: Path | None, kernel_modules: Path | None = None,
    config_modules: Path | None = None,
) -> Files:  # fmt: skip
    """Read all files once."""
    if not folder.is_dir():
        raise CatalogueError(f"{shown(folder)}: the folder of rules does not exist")
    hazards = read(folder / _HAZARDS, "", False)
    rules = tuple(read(path, path.parent.name, False) for path in _rule_files(folder))
    more = tuple(read(path, "", True) for path in extra)
    names, kernels, configs = _modules(modules, "*/*.py"), _modules(kernel_modules), _modules(config_modules)
    digest = _digest(hazards, rules, more, [*names, *kernels, *configs])
    return Files(folder, hazards, rules, more, names, kernels, configs, digest)


def read(path: Path, family: str, extra: bool) -> File:
    """The file at ``path``."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CatalogueError(f"{shown(path)}: catalogue file not found") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CatalogueError(f"{shown(path)}: catalogue file cannot be read: {reason}") from None
    return File(str(path), shown(path), family, path.stem, content, extra)


def shown(path: Path) -> str:
    """The path relative to the working directory where it lies below, ``/``-separated."""
    text = path.as_posix()
    try:
        here = os.getcwd().replace(os.sep, "/").rstrip("/") + "/"  # noqa: PTH109 (once per file of the catalogue)
    except OSError:
        return text
    return text.removeprefix(here)


def _rule_files(folder: Path) -> list[Path]:
    """``<family>/<name>.yaml``; YAML anywhere else would be silently unread, so it is an error."""
    found = []
    for path in sorted(folder.rglob("*.y*ml")):
        inner = path.relative_to(folder).parts
        if any(part.startswith(".") for part in inner) or path.suffix not in (".yaml", ".yml"):
            continue
        if inner == (_HAZARDS,):
            continue
        if len(inner) != 2 or path.suffix != ".yaml":
            raise CatalogueError(f"{shown(path)}:1: a rule file lies at <family>/<name>.yaml")
        found.append(path)
    return found


def _modules(folder: Path | None, pattern: str = "*.py") -> dict[str, str]:
    """By name, with the family before it where modules lie in folders of families: ``seeds/unseeded_numpy``."""
    if folder is None or not folder.is_dir():
        return {}
    found = (path for path in sorted(folder.glob(pattern)) if not path.name.startswith("_"))
    return {path.relative_to(folder).with_suffix("").as_posix(): shown(path) for path in found}


def _digest(hazards: File, rules: Sequence[File], extra: Sequence[File], modules: Sequence[str]) -> str:
    """Over names and contents; each part with its length, so that no two catalogues look alike."""
    state = hashlib.sha256()
    parts = [_FORMAT.encode(), __version__.encode(), *(name.encode() for name in modules)]
    for file in (hazards, *rules, *extra):
        label = "/".join(("extra" if file.extra else "rules", file.family, Path(file.path).name))
        if file.extra:  # what it says of its sites depends on where it lies
            parts.append(str(Path(file.path).absolute()).encode("utf-8", "surrogateescape"))
        parts += [label.encode("utf-8", "surrogateescape"), file.content]
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.hexdigest()[:32]
