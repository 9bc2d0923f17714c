"""Threads that change one model or sum as they come, workers that choose by what they share or read what is changed."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, lower
from d9mlint.python.judging.ops import varies
from d9mlint.python.rules.host import _epoch_ends, _shared_tensors

_SUMS = (
    "the threads of `{name}` add their sums up in the order in which they are through: with three cores or more the "
    "result differs in its last digits from run to run, whatever the seed"
)
_CAUSE = "openmp-sums"
"""One variable keeps all of a program to one thread."""
_THREADS = "OMP_NUM_THREADS"
_LIMITS, _LIMIT = "threadpoolctl.threadpool_limits", Argument(0, "limits")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls."""
    yield from varies.check(program, rule, "threads")
    if not _in_one_thread(program):
        of_sums = rule._replace(message=_SUMS, confidence=lower(rule.confidence), cause=_CAUSE)
        yield from varies.check(program, of_sums, "sums")
    yield from _shared_tensors.check(program, rule)
    yield from _epoch_ends.check(program, rule)


def _in_one_thread(program: Program) -> bool:
    """Whether the program keeps OpenMP to one thread, by its variable or with threadpoolctl."""
    given = [e.args[0] if e.args else None for e in program.env(_THREADS) if not e.detached]
    given += [e.argument(_LIMIT) for e in program.calls(_LIMITS) if not e.detached]
    return any(matches(value, one) is True for value in given for one in (1, "1"))
