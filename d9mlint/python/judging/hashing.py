"""Whether hashes of text are the same in each run: the hash seed of the interpreter.

Source: docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from d9mlint.python.domain.conditions import Cond, both, either, negate, opaque_test
from d9mlint.python.domain.values import Const, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft

HASH_SEED = "PYTHONHASHSEED"


def salted(program: Program) -> Cond:
    """The condition under which the interpreter is not started with a fixed hash seed."""
    fixed: list[Cond] = []
    for event in program.env(HASH_SEED):
        if event.inside("launch"):
            for cond, leaf in alternatives(event.args[0]):
                known = str(leaf.value).isdigit() if isinstance(leaf, Const) else opaque_test(("unknown", id(leaf)), "")
                fixed.append(both(*event.guards, cond, known))
    return negate(either(*fixed))


def where_salted(program: Program, drafts: Iterable[Draft]) -> Iterator[Draft]:
    """The findings that a fixed hash seed would cure, as far as none is set."""
    cond = program.once("salted", salted)
    for draft in drafts:
        left = both(draft.cond, cond)
        if left is not False:
            yield replace(draft, cond=left)
