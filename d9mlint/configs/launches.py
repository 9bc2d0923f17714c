"""Who starts which entry, and what its environment then is.

A script is found from where its launcher stands, from each folder above it, and, where its path begins with a variable
or at the root of a container, by the end of its path. What all launchers of an entry agree on holds; what only some
of them set is a condition.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from d9mlint.configs.files import kind
from d9mlint.configs.told import Launchers, Start
from d9mlint.model import EnvironmentVariable, Launch

MAX_CLASSES = 6
"""Different environments of one entry that are told apart; of more, the variables that differ are unknown."""
_RELEVANT = re.compile(
    r"(?!TF_CPP_|NCCL_DEBUG|NCCL_SOCKET|NCCL_IB_)(?:TF_|TF2_|XLA_|HOROVOD_|NCCL_|CUBLAS_|CUDA_|CUDNN_|NVIDIA_TF32|OMP_|MKL_|KMP_|OPENBLAS_|PYTHONHASHSEED|TORCH|PYTORCH_"
    r"|PL_|NVTE_|VLLM_|JAX_|KERAS_|NUMBA_|ACCELERATE_|FLASH_|\w*SEED|\w*DETERMINIS)"
)
_UNKNOWN_FOLDER = re.compile(r"^.*[$`)}][^/]*/")

Environment = tuple[EnvironmentVariable, ...]


def find(files: Iterable[str], scripts: Container[str], launchers: Launchers) -> dict[str, tuple[Launch, ...]]:
    """By script, the commands in ``files`` that start it, sorted by place; all paths are ``/``-separated."""
    found: dict[str, dict[Launch, None]] = {}
    for path in sorted(files):
        for start in launchers(path).starts:
            script = None if start.program else resolved(start, path, scripts)
            if script is not None:
                found.setdefault(script, {})[_launch(start)] = None
    return {
        script: tuple(sorted(launches, key=lambda one: one.location))
        for script, launches in sorted(found.items())
        if posixpath.basename(script) != "setup.py"  # builds a package, trains nothing
    }


def _launch(start: Start) -> Launch:
    relevant = (one for _, one in sorted(start.environment.items()) if _matters(one))
    unknown = tuple(text.text for text in start.arguments if not text.known)
    return Launch(start.location, tuple(relevant), tuple(text.text for text in start.arguments), unknown)


def _matters(variable: EnvironmentVariable) -> bool:
    """Whether a variable can change how a program is judged; which GPUs are seen does not, unless it is none."""
    if variable.name == "CUDA_VISIBLE_DEVICES":
        return variable.value in (None, "", "-1")
    return _RELEVANT.match(variable.name) is not None


def resolved(start: Start, launcher: str, scripts: Container[str]) -> str | None:
    """The one of ``scripts`` that a command starts; None where it is none of them."""
    for name in _spellings(start):
        own = posixpath.dirname(launcher)
        folders = list(_lineage(own))
        if start.folder and "$" not in start.folder:
            folders = [posixpath.join(folder, start.folder) for folder in folders] + folders
        for folder in folders:
            there = posixpath.normpath(posixpath.join(folder, name))
            if there in scripts:
                return there
    return None


def _spellings(start: Start) -> Iterator[str]:
    """Relative paths that may be meant, the most likely first."""
    name = start.script
    if start.module:
        base = name.replace(".", "/")
        if start.known:
            yield from (f"{base}.py", f"{base}/__main__.py")
        return
    if start.known and not name.startswith("/"):
        yield name
        return
    parts = _UNKNOWN_FOLDER.sub("", name).lstrip("/").split("/")
    while parts and parts[0] in (".", ".."):
        parts.pop(0)
    if any("$" in part or "`" in part for part in parts):
        return
    for first in range(len(parts)):
        yield "/".join(parts[first:])


def _lineage(folder: str) -> Iterator[str]:
    """A folder and those above it, as far as its path tells."""
    while True:
        yield folder
        if not folder or folder == "/" or folder.endswith(".."):
            return
        folder = posixpath.dirname(folder)


# -- environments --------------------------------------------------------------------------------------------------


def image_environments(files: Iterable[str], launchers: Launchers) -> dict[str, Environment]:
    """By folder, what its Dockerfile (or the one in its ``docker/``) sets that can matter; of several the first."""
    found: dict[str, Environment] = {}
    for path in sorted((path for path in files if kind(path) == "image"), key=lambda p: (p.count("/"), len(p), p)):
        relevant = [variable for variable in launchers(path).image if _matters(variable)]
        if relevant:
            folder = posixpath.dirname(path)
            above = posixpath.dirname(folder) if posixpath.basename(folder) == "docker" else folder
            for one in {above, folder}:
                found.setdefault(one, tuple(sorted(relevant, key=lambda one: one.location)))
    return found


def image_environment(entry: str, by_folder: Mapping[str, Environment]) -> Environment:
    """That of the nearest folder beside or above an entry."""
    return next((by_folder[one] for one in _lineage(posixpath.dirname(entry)) if one in by_folder), ())


def environment(launches: Sequence[Launch], base: Environment) -> tuple[Environment, tuple[str, ...]]:
    """The variables of an entry, each with the launchers that set it, and all launchers where they differ."""
    if not launches:
        return base, ()
    classes = _classes(launches, base)
    labels = tuple(classes)
    if len(labels) == 1:
        return _ordered(one for variables in classes.values() for one in variables), ()
    found: dict[EnvironmentVariable, list[str]] = {}
    for label, variables in classes.items():
        for variable in variables:
            found.setdefault(variable, []).append(label)
    if len(labels) > MAX_CLASSES:  # too many to tell: what differs is unknown
        agreed = _agreed(classes)
        return _ordered(v if v.name in agreed else v._replace(value=None) for v in found), ()
    agreed = _agreed(classes)
    return _ordered(
        v if v.name in agreed else v._replace(launchers=tuple(where)) for v, where in found.items()
    ), labels  # fmt: skip


def _classes(launches: Sequence[Launch], base: Environment) -> dict[str, Environment]:
    """The launches by what they set, each class named after its first: ``run.sh:3``, or ``run.sh:3 and 2 more``."""
    groups: dict[tuple[tuple[str, str | None], ...], list[Launch]] = {}
    for launch in launches:
        merged = {one.name: one for one in (*base, *launch.environment)}
        key = tuple(sorted((name, one.value) for name, one in merged.items()))
        groups.setdefault(key, []).append(launch)
    named: dict[str, Environment] = {}
    for group in groups.values():
        places = tuple(dict.fromkeys(launch.place for launch in group))
        label = places[0] if len(places) == 1 else f"{places[0]} (and {len(places) - 1} more)"
        variables = dict.fromkeys(
            one for launch in group for one in {v.name: v for v in (*base, *launch.environment)}.values()
        )
        named[label] = tuple(variables)
    return named


def _agreed(classes: Mapping[str, Environment]) -> set[str]:
    """Names that all classes set to the same known value."""
    first, *others = [{v.name: v.value for v in variables} for variables in classes.values()]
    return {n for n, value in first.items() if value is not None and all(o.get(n) == value for o in others)}


def _ordered(variables: Iterable[EnvironmentVariable]) -> Environment:
    return tuple(sorted(dict.fromkeys(variables), key=lambda one: (one.location, one.name)))
