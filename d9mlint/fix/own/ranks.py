"""Processes that train together: where a script knows the number of its own, and how it says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from d9mlint.fix import names
from d9mlint.fix.own.flags import assigned, parts
from d9mlint.fix.tree import Statement, Tree, last_name

_TORCH = "torch.distributed"
_STARTS = ("init_process_group", "init_distributed")


class Rank(NamedTuple):
    """The statement behind which a process knows its number, and the expression for it."""

    at: Statement
    value: str


def rank(of: Tree) -> Rank | None:
    """Where a script is told the number of its process; None where it is not seen to be."""
    return next(_ranks(of), None)


def _ranks(of: Tree) -> Iterator[Rank]:
    bound = names.bound(of.module.body)
    for one in of.statements:
        told = assigned(one)
        found = parts(one)
        value = told[1] if told else found[0].value if len(found) == 1 and isinstance(found[0], cst.Expr) else None
        func = value.func if isinstance(value, cst.Call) else None
        if func is None:
            continue
        root, _, rest = of.code(func).partition(".")
        dotted = ".".join(filter(None, (bound.get(root, ""), rest)))
        if last_name(func) in _STARTS and dotted.startswith((_TORCH, "deepspeed.")):
            module = next((local for local, name in bound.items() if name == _TORCH), "torch.distributed")
            yield _outside(of, one, f"{module}.get_rank()", f"{module}.is_initialized()")
        elif dotted.startswith("horovod.") and rest == "init":
            yield _outside(of, one, f"{root}.rank()", f"{root}.is_initialized()")
        elif dotted == "accelerate.Accelerator" and told:
            yield Rank(one, f"{told[0]}.process_index")


def _outside(of: Tree, one: Statement, value: str, known: str) -> Rank:
    """Behind the branches that the processes are started in, as one process alone may not enter them."""
    around = [
        other for other in of.statements
        if other.begins < one.begins and one.ends <= other.ends and other.functions == one.functions
        and isinstance(other.node, (cst.If, cst.Try))
    ]  # fmt: skip
    return Rank(around[0], f"({value} if {known} else 0)") if around else Rank(one, value)
