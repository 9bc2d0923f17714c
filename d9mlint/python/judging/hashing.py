"""Whether hashes of text are the same in each run: the hash seed of the interpreter.

Source: docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from d9mlint.python.domain.conditions import Cond, both, either, negate, opaque_test
from d9mlint.python.domain.values import Const, FlagValue, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.drafts import Draft

HASH_SEED = "PYTHONHASHSEED"
_NUMBERS = frozenset({"int", "length", "rank"})
_COUNTS = re.compile(r"(.*_)?(step|epoch|iter|iteration|index|idx|i|j|n|rank|seed)s?(_id)?")
"""Names that nothing but a number has: what a generator reads of a loop around it is not known yet."""


def salted(program: Program) -> Cond:
    """The condition under which the interpreter is not started with a fixed hash seed.

    Hashes of text have a salt since Python 3.3 (docs.python.org/3/whatsnew/3.3.html, "hash randomization").
    """
    if program.target.fits("python", "<3.3"):
        return False
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


def salted_value(value: Value) -> Cond:
    """When ``hash`` of a value differs: numbers and tuples of numbers hash alike, None by its address before 3.12."""
    return either(*(both(cond, _salted_leaf(leaf)) for cond, leaf in alternatives(value)))


def _salted_leaf(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return not isinstance(leaf.value, (int, float))
    if isinstance(leaf, Seq) and leaf.items is not None:
        return either(*(salted_value(item) for item in leaf.items))
    if isinstance(leaf, FlagValue) and leaf.flag.name.endswith("seed"):
        return is_none(leaf)  # a seed is a number once it is given
    return not (isinstance(leaf, Unknown) and (leaf.origins & _NUMBERS or _COUNTS.fullmatch(leaf.name)))
