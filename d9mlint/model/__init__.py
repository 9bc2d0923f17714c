"""The nouns of d9mlint: frozen data, no behaviour beyond what follows from the data itself.

A noun is imported from here (``from d9mlint.model import Finding``); its module is executed when the first of its names
is asked for, as a run needs few of them and a frozen dataclass takes a millisecond to make.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from d9mlint.model.case import (
        DTYPES as DTYPES,
        EXECUTIONS as EXECUTIONS,
        FLOATS as FLOATS,
        Case as Case,
        Input as Input,
    )
    from d9mlint.model.effect import (
        Argument as Argument,
        Effect as Effect,
        Invocation as Invocation,
    )
    from d9mlint.model.errors import (
        CatalogueError as CatalogueError,
        ConfigError as ConfigError,
        D9mlintError as D9mlintError,
        UsageError as UsageError,
    )
    from d9mlint.model.evidence import (
        OUTCOMES as OUTCOMES,
        VARYING as VARYING,
        Evidence as Evidence,
        EvidenceReport as EvidenceReport,
        Observation as Observation,
        Overhead as Overhead,
        Tally as Tally,
        Unexecuted as Unexecuted,
    )
    from d9mlint.model.finding import (
        CONFIDENCES as CONFIDENCES,
        GENERATORS as GENERATORS,
        NOISES as NOISES,
        SEVERITIES as SEVERITIES,
        OWN_GRAPH as OWN_GRAPH,
        RESET_GRAPH as RESET_GRAPH,
        NO_PROGRAM as NO_PROGRAM,
        TAKES_SEED as TAKES_SEED,
        Edit as Edit,
        AnyPlace as AnyPlace,
        Finding as Finding,
        Fix as Fix,
        InProgram as InProgram,
        Location as Location,
        OpCall as OpCall,
        Related as Related,
        fingerprint as fingerprint,
        fingerprinted as fingerprinted,
    )
    from d9mlint.model.kernel import (
        CLASSES as CLASSES,
        FORMS as FORMS,
        GUARD_LEVELS as GUARD_LEVELS,
        USES as USES,
        VERDICTS as VERDICTS,
        Family as Family,
        Guard as Guard,
        KernelOp as KernelOp,
        KernelReport as KernelReport,
        KernelScan as KernelScan,
        LibraryCall as LibraryCall,
        Site as Site,
        Step as Step,
    )
    from d9mlint.model.launch import (
        Launch as Launch,
    )
    from d9mlint.model.record import (
        Backing as Backing,
        Parting as Parting,
        Record as Record,
    )
    from d9mlint.model.report import (
        Changed as Changed,
    )
    from d9mlint.model.report import (
        Coverage as Coverage,
        Report as Report,
        Unchecked as Unchecked,
        Unfollowed as Unfollowed,
    )
    from d9mlint.model.rule import (
        ABOUT_OPS as ABOUT_OPS,
        CONFIGS as CONFIGS,
        KERNELS as KERNELS,
        Example as Example,
        Op as Op,
        OpStatus as OpStatus,
        Remedy as Remedy,
        Rule as Rule,
    )
    from d9mlint.model.overview import Overview as Overview
    from d9mlint.model.plan import PlanRow as PlanRow
    from d9mlint.model.target import (
        NEWEST as NEWEST,
        EnvironmentVariable as EnvironmentVariable,
        Limit as Limit,
        Package as Package,
        Target as Target,
    )
    from d9mlint.model.trace import (
        KINDS as KINDS,
        Apart as Apart,
        Comparison as Comparison,
        Culprit as Culprit,
        CureTried as CureTried,
        SeenTensor as SeenTensor,
        Shadowed as Shadowed,
        SwitchTried as SwitchTried,
        TracedRun as TracedRun,
        UnseededDraw as UnseededDraw,
        TraceReport as TraceReport,
    )

_HOMES = {
    name: module
    for module, names in (
        ("case", "DTYPES EXECUTIONS FLOATS Case Input"),
        ("effect", "Argument Effect Invocation"),
        ("errors", "CatalogueError ConfigError D9mlintError UsageError"),
        ("evidence", "OUTCOMES VARYING Evidence EvidenceReport Observation Overhead Tally Unexecuted"),
        (
            "finding",
            "CONFIDENCES GENERATORS NOISES NO_PROGRAM OWN_GRAPH RESET_GRAPH SEVERITIES "
            "TAKES_SEED AnyPlace Edit Finding Fix InProgram Location OpCall Related fingerprint",
        ),
        ("finding", "fingerprinted"),
        (
            "kernel",
            "CLASSES FORMS GUARD_LEVELS USES VERDICTS Family Guard KernelOp KernelReport KernelScan LibraryCall",
        ),
        ("kernel", "Site Step"),
        ("launch", "Launch"),
        ("overview", "Overview"),
        ("plan", "PlanRow"),
        ("record", "Backing Parting Record"),
        ("report", "Changed Coverage Report Unchecked Unfollowed"),
        ("rule", "ABOUT_OPS CONFIGS KERNELS Example Op OpStatus Remedy Rule"),
        ("target", "NEWEST EnvironmentVariable Limit Package Target"),
        ("trace", "KINDS Apart Comparison Culprit CureTried SeenTensor Shadowed SwitchTried TracedRun TraceReport"),
        ("trace", "UnseededDraw"),
    )
    for name in names.split()
}
"""Where a name is defined; the imports above say the same to who checks types."""


def __getattr__(name: str) -> object:
    """The noun of that name, imported now (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    noun: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = noun
    return noun
