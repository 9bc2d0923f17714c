"""Which files beside the Python ones say how programs are started, and what each of them starts."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from d9mlint.configs.told import Reader, Told

if TYPE_CHECKING:
    from d9mlint.model import EnvironmentVariable

MAX_BYTES = 1_000_000
"""Longer scripts are generated or no scripts; nobody launches a training from them."""

SHELL = (".sh", ".bash", ".zsh", ".ksh", ".csh", ".slurm", ".sbatch", ".job", ".pbs", ".qsub", ".sub")
_IMAGE = re.compile(r"(?:[\w.-]+\.)?Dockerfile(?:[._-][\w.-]*)?", re.IGNORECASE)
_COMPOSE = re.compile(r"(?:docker-)?compose[\w.-]*\.ya?ml")
_MAKE = re.compile(r"(?:GNU)?[Mm]akefile|[\w.-]+\.mk")
_WORKFLOWS = ".github/workflows/"
_SBATCH = re.compile(r"^#SBATCH[ \t]+(?:.*[ \t])?--export[= ](\S+)", re.MULTILINE)
_STARTS = (b".py", b"python", b"torchrun", b"deepspeed", b"accelerate", b"composer", b"trtexec", b"vllm")
"""One of these is in every file that starts a Python script, or a program that rules know."""


def kind(path: str) -> str:
    """What a file is by its name: ``shell``, ``image``, ``compose``, ``workflow``, ``make``, or nothing of these.

    Any other YAML file may be a ``manifest`` of Kubernetes.
    """
    name = posixpath.basename(path)
    if name.endswith(SHELL):
        return "shell"
    if name.endswith((".yml", ".yaml")):
        if _WORKFLOWS in f"/{path}":
            return "workflow"
        return "compose" if _COMPOSE.fullmatch(name) else "manifest"
    if _IMAGE.fullmatch(name):
        return "image"
    return "make" if _MAKE.fullmatch(name) else ""


def text_of(data: bytes) -> str:
    """The text of a file, whatever its bytes are."""
    return data.decode("utf-8-sig", "replace")


def may_tell(path: str, data: bytes) -> bool:
    """Whether a file can start a Python script, or be a Dockerfile that sets something: by its name and its words."""
    what = kind(path)
    if not what or len(data) > MAX_BYTES:
        return False
    if what == "manifest" and not (b"containers:" in data and b"apiVersion:" in data):
        return False
    return any(word in data for word in _STARTS) or (what == "image" and b"ENV" in data.upper())


def told(path: str, data: bytes, reader: Reader) -> Told:
    """What a file tells; nothing where it cannot be read as what its name says."""
    # imported here: a run that finds all in the cache does without
    from d9mlint.configs import documents, images, manifests, services
    from d9mlint.configs.starts import starts
    from d9mlint.configs.words import Lines

    text = text_of(data)

    def read(name: str) -> tuple[str, str] | None:
        return _beside(path, name, reader)

    what = kind(path)
    if what == "shell":
        return Told(tuple(starts(text, Lines(path, text), _submitted(text, path), read)))
    if what == "image":
        return images.read(text, path)
    if what == "make":
        return Told(tuple(services.makefile(text, path, read)))
    try:
        if what == "manifest":
            return Told(tuple(manifests.manifests(list(documents.read_documents(text, path)))))
        root = documents.read_yaml(text, path)
    except documents.NotReadable:
        return Told()  # a template, perhaps; it starts nothing that can be told
    return Told(tuple(services.compose(root, read) if what == "compose" else services.workflow(root, text, path, read)))


def _submitted(text: str, path: str) -> dict[str, EnvironmentVariable]:
    """What ``#SBATCH --export=X=1`` sets (sbatch(1))."""
    from d9mlint.configs.starts import exported
    from d9mlint.configs.words import Lines

    found: dict[str, EnvironmentVariable] = {}
    for match in _SBATCH.finditer(text):
        found |= exported(match[1], {}, Lines(path, text).location(match.start(1), match.end(1)))
    return found


def _beside(path: str, name: str, reader: Reader) -> tuple[str, str] | None:
    """A file that another names, beside it or in a folder above it."""
    # `$(dirname $0)/env.sh`: what cannot be known is a folder
    name = re.sub(r"^.*[$`)}]+[^/]*/", "", name)
    if not name or name.startswith("/") or "$" in name:
        return None
    folder = posixpath.dirname(path)
    while True:
        there = posixpath.normpath(posixpath.join(folder, name))
        data = reader(there)
        if data is not None and len(data) <= MAX_BYTES:
            return there, text_of(data)
        if not folder or folder.endswith(".."):
            return None
        folder = posixpath.dirname(folder)
