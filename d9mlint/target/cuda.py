"""What the CUDA that a project installs says of the frameworks: each release is built for some of its versions only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from d9mlint.target.pins import Pin

CUDA = "cuda"
"""What tells of these pins."""
# First release that is not built for a CUDA any more (pytorch.org/get-started/previous-versions; files of the channel
# `pytorch` of conda and of download.pytorch.org/whl/cu100, that has 1.4).
_TORCH = {
    "7.5": "1.0", "8.0": "1.0.1", "9.0": "1.2", "9.2": "1.8", "10.0": "1.5", "10.1": "1.8.2", "10.2": "1.13",
    "11.0": "1.8", "11.1": "1.11", "11.3": "1.13", "11.5": "1.12", "11.6": "2.0", "11.7": "2.1", "11.8": "2.8",
    "12.1": "2.6", "12.4": "2.7",
}  # fmt: skip
_END_OF_CONDA = "2.6"
"""PyTorch's own conda channel ends with 2.5 (pytorch.org/blog/pytorch2-6)."""
# The same of TensorFlow (tensorflow.org/install/source, tested builds), up to the release of conda where that has a
# newer one for it (9.0: 1.13, 10.1: 2.4).
_TENSORFLOW = {
    "9.0": "1.14", "9.2": "1.14", "10.0": "2.1", "10.1": "2.5", "11.0": "2.5", "11.2": "2.12", "11.8": "2.15",
}  # fmt: skip

_PACKAGE = re.compile(r"(?P<name>cudatoolkit|pytorch-cuda)\s*==?\s*(?P<version>\d+\.\d+)")
_PACKAGE_OF_ONE = re.compile(r"cuda(?P<digits>75|80|9[02]|100)(?![\w.-])")
"""What conda calls PyTorch's builds up to 1.0: ``cuda92``."""
_WHEELS = re.compile(r"download\.pytorch\.org/whl/(?:\w+/)*?cu(?P<digits>\d{2,3})\b")
"""The index of wheels for one CUDA: ``--extra-index-url https://download.pytorch.org/whl/cu117``."""
_INSTALLS = re.compile(r"\b(?:pip\d?|conda|mamba|uv)\s+(?:pip\s+)?install\b")
_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(?:\S+/)?nvidia/cuda:(?P<version>\d+\.\d+)", re.IGNORECASE)


def said_of(text: str) -> bool:
    """Whether a requirement, or an option of pip, tells a CUDA."""
    return any(one.search(text) is not None for one in (_PACKAGE, _WHEELS)) or bool(_PACKAGE_OF_ONE.match(text))


def pins(text: str, where: str, group: str) -> Iterator[Pin]:
    """What a requirement, an option of pip or a command that installs says of the releases of the frameworks."""
    package, wheels = _PACKAGE.search(text), _WHEELS.search(text) or _PACKAGE_OF_ONE.match(text)
    if package is not None:
        last = _END_OF_CONDA if package["name"] == "pytorch-cuda" else ""
        yield from _bounded("torch", _TORCH, package["version"], where, group, last)
        yield from _bounded("tensorflow", _TENSORFLOW, package["version"], where, group)
    elif wheels is not None:
        yield from _bounded("torch", _TORCH, f"{wheels['digits'][:-1]}.{wheels['digits'][-1]}", where, group)


def of_dockerfile(text: str, label: str) -> Iterator[Pin]:
    """The same of the commands of a Dockerfile, and of the image: wheels of TensorFlow need the CUDA that is there."""
    for number, line in enumerate(text.splitlines(), 1):
        image = _FROM.match(line)
        if image is not None:
            yield from _bounded("tensorflow", _TENSORFLOW, image["version"], f"{label}:{number}", label)
        elif _INSTALLS.search(line):
            yield from pins(line, f"{label}:{number}", label)


def _bounded(
    package: str, ends: dict[str, str], version: str, where: str, group: str, last: str = ""
) -> Iterator[Pin]:  # fmt: skip
    bounds = [f"<{end}" for end in (ends.get(version, ""), last) if end]
    if bounds:
        specifier = SpecifierSet(",".join(bounds))
        yield Pin(package, specifier, "", f"{where} (CUDA {version})", group, told_by=CUDA)
