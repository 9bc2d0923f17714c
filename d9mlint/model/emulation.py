"""What ``d9mlint verify --kernels`` shows: evidence on kernels, and what it says of the sites of a scan."""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.model.evidence import EvidenceReport
from d9mlint.model.kernel import Site


class PtxAtomics(NamedTuple):
    """The atomic instructions in the PTX of one source, or why they could not be seen."""

    source: str
    entries: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    """Kernel (or device function), as written in C++; its instructions and how often each stands there."""
    problem: str = ""


class SiteEvidence(NamedTuple):
    """A site of the scan and the evidence on it."""

    site: Site
    probe: str = ""
    """The probe that runs what the site does, empty where there is none: evidence on its kind."""
    launches: tuple[str, ...] = ()
    """The launches of the specification whose kernel the site stands in: evidence on itself."""


class KernelEvidence(NamedTuple):
    """The report: ``evidence`` on probes and on the user's kernels, the sites, the PTX of flagged files."""

    evidence: EvidenceReport
    probes: tuple[str, ...] = ()
    """The names in ``evidence`` that are probes."""
    sites: tuple[SiteEvidence, ...] = ()
    ptx: tuple[PtxAtomics, ...] = ()
