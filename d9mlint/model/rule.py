"""Rules and ops as the catalogue hands them out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.target import Target

KERNELS = "kernels"
"""The family of the rules that judge a scan of kernel sources."""
CONFIGS = "configs"
"""The family of the rules that judge config files; all others but ``KERNELS`` judge Python programs."""
ABOUT_OPS = ("missing-determinism-switch", "nondeterministic-op", "op-raises")
"""Rules whose findings are about ops of the catalogue; they say so in ``Finding.ops``."""


class Remedy(NamedTuple):
    """What to do, for the versions it holds for; the first one that fits the target is shown.

    ``framework`` is whose versions are meant and whose programs it is for; empty: the rule's own. ``needs`` is another
    package that what it names is part of, and since when: ``numpy>=1.17``.
    """

    text: str
    versions: str = ""
    framework: str = ""
    needs: str = ""

    def can_be_made(self, target: Target) -> bool:
        """Whether the target has what it needs; a package whose version is not known is taken to be a new one."""
        name, sign, version = self.needs.partition(">=")
        return not sign or target.version(name) is None or target.fits(name, sign + version)


class Example(NamedTuple):
    """An executed example: ``kind`` is bad, good, fixed, missed or false-alarm; ``files`` maps a name to its text."""

    kind: str
    files: Mapping[str, str]
    target: tuple[str, ...] = ()
    device: str = "gpu"
    args: tuple[str, ...] | None = None
    line: int = 0


class Rule(NamedTuple):
    """One rule file. ``match`` is the declarative half; None means that a Python module of the same name judges."""

    name: str
    id: str
    family: str
    severity: str
    confidence: str
    hazard: str
    noise: str
    summary: str
    why: str
    message: str
    framework: str = ""
    versions: str = ""
    device: str = ""
    remedies: tuple[Remedy, ...] = ()
    match: Mapping[str, Any] | None = None
    sources: tuple[str, ...] = ()
    path: str = ""
    cause: str = ""
    """What its findings come from, where one cure removes those of several places or rules: a slug."""
    cure: Mapping[str, Any] = {}
    """How a finding is cured where it stands (`d9mlint.fix.places`); empty: by the statements of its remedy, if any."""

    def applies(self, target: Target) -> bool:
        """Whether the rule is about this target's versions and device."""
        if self.device and self.device != target.device:
            return False
        return not self.versions or target.fits(self.framework, self.versions)

    def remedy(self, target: Target, frameworks: Sequence[str] = ()) -> str:
        """The remedy for this target's version, or the empty string where none is known.

        One for a framework that is not the rule's own is for programs that use it rather than the rule's own:
        ``frameworks`` are in the order of their weight.
        """
        foreign = itertools.takewhile(lambda name: name != self.framework, frameworks)
        chosen = [one for name in foreign for one in self.remedies if name and one.framework == name]
        for remedy in (*chosen, *(one for one in self.remedies if one.framework in ("", self.framework))):
            fits = not remedy.versions or target.fits(remedy.framework or self.framework, remedy.versions)
            if fits and remedy.can_be_made(target):
                return remedy.text
        return ""


class OpStatus(NamedTuple):
    """How an op behaves in a range of versions (empty: in all).

    ``default`` is ``varies`` or ``same``; ``deterministic_mode`` is ``same`` (cured), ``raises`` or ``varies``.
    """

    versions: str
    default: str
    deterministic_mode: str
    remedy: str = ""


class Op(NamedTuple):
    """An op of the catalogue: under which names and arguments it is met and how it behaves by version."""

    name: str
    calls: tuple[str, ...]
    direction: str
    devices: tuple[str, ...]
    when: Mapping[str, Any] = {}
    common: bool = False
    """Nearly every network uses it: reported through the missing switch, not on its own."""
    status: tuple[OpStatus, ...] = ()
    sources: tuple[str, ...] = ()
    why: str = ""
    where: str = ""
    """A condition in words that the call does not show: ``there are more than 32 classes``."""
    framework: str = "tensorflow"
    sites: tuple[str, ...] = ()
    """Where the user's own kernels do it: ``path:line``."""

    def at(self, target: Target) -> OpStatus | None:
        """The status for the target's version; None where the op is not affected or the version is unknown."""
        for status in self.status:
            if not status.versions or target.fits(self.framework, status.versions):
                return status
        return None
