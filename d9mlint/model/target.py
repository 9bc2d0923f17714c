"""The framework versions and the device that a program is judged for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from d9mlint.model.finding import Location

NEWEST = "newest known release"
"""The reason of a version that nobody stated."""


class Package(NamedTuple):
    """A package of a target: the version assumed, and why (``requirements.txt:14``, ``newest known release``)."""

    version: str
    reason: str


class Limit(NamedTuple):
    """Releases of a package that a program can run on, as its code shows (it uses a name that others lack), and why."""

    package: str
    specifier: str
    reason: str


class EnvironmentVariable(NamedTuple):
    """A variable that is set before the program starts, and where."""

    name: str
    value: str | None
    """None where it is set to something that is not known."""
    location: Location
    launchers: tuple[str, ...] = ()
    """The launchers (of ``Target.launchers``) that set it so; empty where all do."""


class Target(NamedTuple):
    """Versions by package name (``tensorflow``, ``keras``, ``horovod``, ``python``, ``ngc`` ...) and the device."""

    packages: Mapping[str, Package] = {}
    device: str = "gpu"
    environment: tuple[EnvironmentVariable, ...] = ()
    launchers: tuple[str, ...] = ()
    """The ways to start the program whose environments differ, as ``path:line``; empty where they do not."""
    uses: tuple[str, ...] = ()
    """The packages of these that the program imports, as far as its import lines tell; empty where nobody looked."""

    def version(self, package: str) -> str | None:
        """The version assumed for ``package``, or None where the target does not know it."""
        found = self.packages.get(package)
        return found.version if found else None

    def fits(self, package: str, specifier: str) -> bool:
        """True when the target's version of ``package`` satisfies ``specifier`` (PEP 440); False when unknown."""
        version = self.version(package)
        return version is not None and version_fits(version, specifier)


@lru_cache(maxsize=4096)
def version_fits(version: str, specifier: str) -> bool:
    """Whether ``version`` satisfies the PEP 440 ``specifier``; pre-releases count as their release."""
    from packaging.specifiers import SpecifierSet  # a tenth of the time that all of d9mlint needs to start
    from packaging.version import Version

    parsed = Version(version)
    return SpecifierSet(specifier).contains(Version(parsed.base_version), prereleases=True)
