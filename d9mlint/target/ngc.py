"""Container images: which TensorFlow or PyTorch is in the image that a Dockerfile starts from."""

from __future__ import annotations

import re
from typing import NamedTuple

from packaging.version import Version

# First image release of a row, TensorFlow of its -tf1 image, of its -tf2 image. 19.06 to 23.01 are the table of
# NVIDIA/framework-reproducibility, doc/d9m/tensorflow.md ("NVIDIA GPU Cloud (NGC) TensorFlow Docker Images"; minor
# versions only there). Later rows: NVIDIA's wheels carry both numbers, as in 2.12.0+nv23.06, 2.13.0+nv23.08,
# 2.14.0+nv23.11, 2.15.0+nv24.02 and 2.16.1+nv24.06. Patches of 1.15 follow the nvidia-tensorflow wheels.
_IMAGES = (
    ("18.12", "1.12.0", ""),
    ("19.03", "1.13.1", ""),
    ("19.06", "1.13.1", ""),
    ("19.07", "1.14.0", ""),
    ("19.11", "1.15.0", "2.0.0"),
    ("20.02", "1.15.2", "2.1.0"),
    ("20.06", "1.15.2", "2.2.0"),
    ("20.07", "1.15.3", "2.2.0"),
    ("20.09", "1.15.3", "2.3.0"),
    ("20.10", "1.15.4", "2.3.0"),
    ("21.02", "1.15.5", "2.4.0"),
    ("21.06", "1.15.5", "2.5.0"),
    ("21.09", "1.15.5", "2.6.0"),
    ("22.01", "1.15.5", "2.7.0"),
    ("22.03", "1.15.5", "2.8.0"),
    ("22.06", "1.15.5", "2.9.0"),
    ("22.10", "1.15.5", "2.10.0"),
    ("23.01", "1.15.5", "2.11.0"),
    ("23.04", "", "2.12.0"),  # 23.03 was the last with TensorFlow 1
    ("23.08", "", "2.13.0"),
    ("23.11", "", "2.14.0"),
    ("24.02", "", "2.15.0"),
    ("24.06", "", "2.16.1"),
    ("25.01", "", "2.17.0"),
)

# First image release with a PyTorch, which is the main branch some time before that release (1.14.0a0 became 2.0):
# docs.nvidia.com/deeplearning/frameworks/pytorch-release-notes, table "NVIDIA PyTorch Container Versions".
_PYTORCH = (
    ("19.01", "1.0.0"), ("19.03", "1.1.0"), ("19.06", "1.1.0"), ("19.07", "1.2.0"), ("19.09", "1.2.0"),
    ("19.10", "1.3.0"), ("19.12", "1.4.0"), ("20.03", "1.5.0"), ("20.06", "1.6.0"), ("20.08", "1.7.0"),
    ("20.12", "1.8.0"), ("21.03", "1.9.0"), ("21.07", "1.10.0"), ("21.11", "1.11.0"), ("22.03", "1.12.0"),
    ("22.06", "1.13.0"), ("22.11", "1.14.0"), ("23.03", "2.0.0"), ("23.04", "2.1.0"), ("23.11", "2.2.0"),
    ("24.02", "2.3.0"), ("24.04", "2.4.0"), ("24.08", "2.5.0"), ("24.11", "2.6.0"), ("25.02", "2.7.0"),
    ("25.04", "2.8.0"), ("25.09", "2.9.0"), ("25.11", "2.10.0"),
)  # fmt: skip

_LONGEST = 1000
"""Longer lines start from no image; also the bound for variables that hold each other."""

_NGC = re.compile(r"nvidia/(?P<name>tensorflow|pytorch):(?P<release>\d\d\.\d\d)(?:-(?P<api>tf[12]))?")
_HUB = re.compile(
    r"(?:^|/)(?P<image>(?P<name>tensorflow/tensorflow|pytorch/pytorch):v?(?P<version>\d+\.\d+(?:\.\d+)?(?:rc\d+)?)[\w.-]*)"
)
_ARG = re.compile(r"\s*ARG\s+(\w+)=(\S+)", re.IGNORECASE)
_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)", re.IGNORECASE)
_INSTALLS = re.compile(r"\b(?:pip\d?|conda|mamba|uv)\s+(?:pip\s+)?install\b([^&|;\n]*)")
_INSTALLED = re.compile(
    r"(?<![\w.-])(?:pytorch::)?(?P<name>torch|pytorch|tensorflow(?:-gpu)?)[\"']?={1,2}(?P<version>\d+(?:\.\d+){1,2})(?![\d*])"
)
"""``conda install pytorch=0.4.1``, ``pip install torch==1.13.1+cu117``."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")


class Image(NamedTuple):
    """An image with a framework; ``versions`` holds more than one where only the release of NVIDIA's image is known."""

    versions: tuple[str, ...]
    where: str
    ngc: str = ""
    package: str = "tensorflow"


def ngc_image(release: str, api: str, where: str) -> Image:
    """NVIDIA's TensorFlow of that release; ``api`` is ``tf1``, ``tf2`` or empty where the tag does not tell."""
    wanted = Version(release)
    row = max(
        (row for row in _IMAGES if Version(row[0]) <= wanted), key=lambda row: Version(row[0]), default=_IMAGES[0]
    )
    versions = {"tf1": row[1:2], "tf2": row[2:3]}.get(api, (row[2], row[1]))
    return Image(tuple(filter(None, versions)) or tuple(filter(None, row[1:])), where, release)


def _ngc_pytorch(release: str, where: str) -> Image:
    wanted = Version(release)
    versions = [version for first, version in _PYTORCH if Version(first) <= wanted]
    return Image((versions[-1] if versions else _PYTORCH[0][1],), where, package="torch")


def read_dockerfile(text: str, label: str) -> tuple[Image, ...]:
    """What is installed in it, then the images that it starts from: NVIDIA's first, the last stage first."""
    arguments: dict[str, tuple[str, int]] = {}
    ngc: list[Image] = []
    hub: list[Image] = []
    installed: list[Image] = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > _LONGEST:
            continue
        if argument := _ARG.match(line):
            arguments[argument[1]] = (_expand(argument[2].strip("\"'"), number, arguments)[0], number)
        elif given := _INSTALLS.search(line):
            words, at = _expand(given[1], number, arguments)
            for one in _INSTALLED.finditer(words):
                package = "tensorflow" if one["name"].startswith("tensorflow") else "torch"
                installed.append(Image((one["version"],), f"{label}:{at}", package=package))
        elif start := _FROM.match(line):
            reference, at = _expand(start[1], number, arguments)
            if found := _NGC.search(reference):
                where = f"{label}:{at} (NGC {found['release']})"
                torch = found["name"] == "pytorch"
                image = (
                    _ngc_pytorch(found["release"], where)
                    if torch
                    else ngc_image(found["release"], found["api"] or "", where)
                )
                ngc.append(image)
            elif found := _HUB.search(reference):
                package = "torch" if found["name"].startswith("pytorch") else "tensorflow"
                hub.append(Image((found["version"],), f"{label}:{at} ({found['image']})", package=package))
    return (*reversed(installed), *reversed(ngc), *reversed(hub))


def _expand(text: str, line: int, arguments: dict[str, tuple[str, int]]) -> tuple[str, int]:
    """``text`` with its variables filled in, and the line where its version is written."""
    lines = [line]

    def value(found: re.Match[str]) -> str:
        known = arguments.get(found[1] or found[2])
        if known is None:
            return found[3] or ""
        lines.append(known[1])
        return known[0]

    return _VARIABLE.sub(value, text)[:_LONGEST], lines[-1]
