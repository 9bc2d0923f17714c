"""Pins: what one line of a requirements, lock or environment file says about one package."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from d9mlint.target.known import COMPANIONS, package_name, torch_for

_LONGEST = 1000
"""Longer requirements are nobody's, and would only cost time."""

# Markers are read for Linux, where training runs, and never for the machine that d9mlint runs on.
_LINUX = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "",
    "platform_system": "Linux",
    "platform_version": "",
    "sys_platform": "linux",
    "extra": "",
}


class Pin(NamedTuple):
    """One package in one place; ``version`` is set when the place names exactly one.

    Else ``specifier`` is a range; it is empty where nothing is said of the version.
    """

    name: str
    specifier: SpecifierSet
    version: str
    where: str
    group: str
    """The file that led here (itself, or the one with ``-r``): its ranges hold together."""
    marker: Marker | None = None
    ngc: str = ""
    """NVIDIA's release, where the version tells it (``1.15.4+nv20.10``)."""
    told_by: str = ""
    """What is named in place of the package and tells its release: torchvision, CUDA."""

    def holds(self, pythons: Iterable[str]) -> bool:
        """Whether the environment marker is true on Linux for one of these Pythons."""
        return self.marker is None or any(_true(self.marker, python) for python in pythons)


def _true(marker: Marker, python: str) -> bool:
    minor = ".".join(python.split(".")[:2])
    full = python if python.count(".") > 1 else f"{python}.99"
    versions = {"python_version": minor, "python_full_version": full, "implementation_version": full}
    try:
        return marker.evaluate({**_LINUX, **versions})
    except ValueError:  # a comparison that makes no sense: pip would refuse the line
        return False


def parse(text: str) -> Requirement | None:
    """A PEP 508 requirement, or None; ``>=1.15.*``, which older pips took, counts as ``>=1.15``."""
    if len(text) > _LONGEST:
        return None
    try:
        return Requirement(re.sub(r"((?:[<>]=?|~=)\s*\d+(?:\.\d+)*)\.\*", r"\1", text))
    except InvalidRequirement:
        return None


def exact(specifiers: SpecifierSet) -> tuple[str, str]:
    """The one version that ``specifiers`` allow, as it is written, and NVIDIA's release in it; empty for a range."""
    written = sorted(s.version for s in specifiers if _is_exact(s))
    if not written or not specifiers.contains(Version(written[0]), prereleases=True):
        return "", ""
    version, _, local = written[0].lstrip("v").partition("+")
    nvidia = re.match(r"nv(\d\d)\.0?(\d\d?)\b", local)  # 1.15.4+nv20.10
    return version, f"{nvidia[1]}.{int(nvidia[2]):02d}" if nvidia else ""


def _is_exact(specifier: Specifier) -> bool:
    if specifier.operator not in ("==", "===") or specifier.version.endswith(".*"):
        return False
    try:
        Version(specifier.version)
    except InvalidVersion:  # "===anything" is legal
        return False
    return True


def pin(text: str, where: str, group: str) -> Pin | None:
    """The pin that a requirement states; None when it is unparsable or a URL.

    One of a torchvision states for which torch it is built. A requirement without a version has no specifier.
    """
    requirement = parse(text)
    if requirement is None or requirement.url:
        return None
    specifier = requirement.specifier
    if not specifier and requirement.name.lower() == "nvidia-tensorflow":
        specifier = SpecifierSet("<2")  # NVIDIA's wheels of this name are all TensorFlow 1.15
    version, ngc = exact(specifier)
    name, told_by = package_name(requirement.name), ""
    if name in COMPANIONS:
        built_for = torch_for(name, version) if version else ""
        told_by = name
        name, version, specifier = "torch", "", SpecifierSet(f"=={built_for}.*" if built_for else "")
        if not specifier:
            return None
    return Pin(
        name=name,
        specifier=specifier,
        version=version,
        where=where,
        group=group,
        marker=requirement.marker,
        ngc=ngc,
        told_by=told_by,
    )


def from_conda(text: str) -> str | None:
    """``channel::tensorflow-gpu=1.14.0=h0d30ee6_0`` as a requirement; None where it is no package spec."""
    found = re.fullmatch(r"(?:[\w./-]+::)?([A-Za-z0-9][\w.-]*)\s*(.*)", text.strip())
    if not found:
        return None
    name, rest = found[1], found[2].strip()
    if rest[:1].isdigit():  # "tensorflow 2.4.1 py36_0", as `conda list --export` separates them
        return f"{name}=={rest.split()[0]}"
    if rest.startswith("=") and not rest.startswith("=="):
        version = re.split(r"[=\s]", rest[1:].strip())[0]
        # One "=" matches by prefix; with three parts only a post release could follow.
        return f"{name}=={version}" if version.count(".") >= 2 or version.endswith("*") else f"{name}=={version}.*"
    return name + re.sub(r"^(==[^=,]+)=.*", r"\1", rest)  # "==2.4.1=build"


def from_poetry(name: str, constraint: object) -> str | None:
    """A Poetry or Pipfile constraint (``^2.4``, ``~2.4``, ``2.4.1``, a table) as a requirement."""
    if isinstance(constraint, dict):
        constraint = constraint.get("version")
    if not isinstance(constraint, str) or len(constraint) > _LONGEST or "|" in constraint:
        return None
    if constraint.strip() in ("", "*"):
        return name
    parts = re.findall(r"(\^|~=|~|[=!<>]=?=?)?\s*([\w.*+!-]+)", constraint)
    ranges = [_poetry_range(operator, version) for operator, version in parts]
    return f"{name}{','.join(ranges)}" if ranges and all(ranges) else None


def _poetry_range(operator: str, version: str) -> str:
    if operator not in ("^", "~"):
        return f"{operator or '=='}{version}"
    try:
        release = list(Version(version).release)
    except InvalidVersion:
        return ""
    if operator == "~":
        keep = min(2, len(release))
    else:
        keep = next((i + 1 for i, part in enumerate(release) if part), len(release))
    bound = [*release[: keep - 1], release[keep - 1] + 1]
    return f">={version},<{'.'.join(map(str, bound))}"
