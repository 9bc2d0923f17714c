"""What is to be known of ops by their type: which change variables, draw, hand in data, or only pass values on."""

from __future__ import annotations

from typing import Any

from ..recorder import digest

CONSTANT = "Const"
_IGNORED = frozenset(
    (
        "Placeholder", "NoOp", "Identity", "IdentityN", "StopGradient", "PreventGradient", "ReadVariableOp", "Shape",
        "ShapeN", "Size", "Rank",
        "VarHandleOp", "VarIsInitializedOp", "EagerPyFunc", "PyFunc", "PyFuncStateless", "If", "While", "StatelessIf",
        "StatelessWhile", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient",
        "OptionalGetValue", "OptionalFromValue", "OptionalHasValue", "_UserGrpcCall", "Assert", "PrintV2",
    )
)  # fmt: skip
"""Ops whose values are those of others, and calls of functions: what is inside these is seen by itself."""
_ENTERS = ("IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync", CONSTANT)
_NO_VALUE = ("resource", "variant")
_NAMES = frozenset(("container", "shared_name", "name", "debug_name", "metadata", "value"))
GENERATOR = "tensorflow"


def ignored(kind: Any) -> bool:
    """Whether ops of this type are not written down; calls of functions are named by bytes."""
    return not isinstance(kind, str) or kind in _IGNORED or kind.startswith("__") or kind.endswith("SeedGenerator")


def of_shapes(kind: Any) -> bool:
    """Whether it reads no values: the optimizer takes it away where shapes are known, and what it reads stays alone."""
    return kind in ("Shape", "ShapeN", "Size", "Rank")


def passes(kind: Any) -> bool:
    """Whether what comes out is what goes in."""
    return kind in ("Identity", "IdentityN", "StopGradient", "PreventGradient")


def changes(kind: str) -> bool:
    """Whether it changes the variables that it is given."""
    return kind.startswith(("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStrided"))


def enters(kind: str) -> bool:
    """Whether it hands data in, that no op has made."""
    return kind in _ENTERS


def has_value(dtype: str) -> bool:
    """Whether tensors of this type have elements."""
    return dtype not in _NO_VALUE


def type_of(attrs: dict[str, Any]) -> Any:
    """Of the variable that an op changes."""
    found = attrs.get("dtype", attrs.get("T"))
    return getattr(found, "type", found)


def is_plain(name: str, value: Any) -> bool:
    """Whether an attribute says what the op does, and not what it is called or which function it is given."""
    return not name.startswith("_") and name not in _NAMES and not getattr(value, "func", None)


def described(attrs: dict[str, Any]) -> str:
    """A digest of what the attributes say."""
    return digest(repr([(one, repr(attrs[one])) for one in sorted(attrs) if is_plain(one, attrs[one])]))


def _number(value: Any) -> int:
    return int(getattr(value, "i", value) or 0)


def generator(kind: str, attrs: dict[str, Any], texts: list[str]) -> list[str]:
    """For an op that draws by itself: its seed; without one each process draws other numbers."""
    if kind == "NonDeterministicInts":
        return ["own", digest(texts), ""]
    if "seed" not in attrs or "seed2" not in attrs:
        return []
    seeds = (_number(attrs["seed"]), _number(attrs["seed2"]))
    return [GENERATOR, digest(repr(seeds)) if any(seeds) else digest(texts), str(seeds[0])]
