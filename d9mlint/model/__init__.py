"""The nouns of d9mlint: frozen data, no behaviour beyond what follows from the data itself."""

from d9mlint.model.effect import Argument, Effect, Invocation
from d9mlint.model.errors import CatalogueError, ConfigError, D9mlintError, UsageError
from d9mlint.model.finding import (
    CONFIDENCES,
    NOISES,
    SEVERITIES,
    Edit,
    Finding,
    Fix,
    Location,
    Related,
    fingerprint,
    fingerprinted,
)
from d9mlint.model.kernel import (
    CLASSES,
    FORMS,
    GUARD_LEVELS,
    USES,
    VERDICTS,
    Guard,
    KernelOp,
    KernelScan,
    LibraryCall,
    Site,
    Step,
)
from d9mlint.model.report import Report, Unchecked
from d9mlint.model.rule import Example, Op, OpStatus, Remedy, Rule
from d9mlint.model.target import EnvironmentVariable, Limit, Package, Target

__all__ = [
    "CLASSES",
    "CONFIDENCES",
    "FORMS",
    "GUARD_LEVELS",
    "NOISES",
    "SEVERITIES",
    "USES",
    "VERDICTS",
    "Argument",
    "CatalogueError",
    "ConfigError",
    "D9mlintError",
    "Edit",
    "Effect",
    "EnvironmentVariable",
    "Example",
    "Finding",
    "Fix",
    "Guard",
    "Invocation",
    "KernelOp",
    "KernelScan",
    "LibraryCall",
    "Limit",
    "Location",
    "Op",
    "OpStatus",
    "Package",
    "Related",
    "Remedy",
    "Report",
    "Rule",
    "Site",
    "Step",
    "Target",
    "Unchecked",
    "UsageError",
    "fingerprint",
    "fingerprinted",
]
