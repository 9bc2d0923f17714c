"""Which of more files than are followed are: those that name different ops and draws; the others do as these do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from d9mlint.python.domain.choices import MAX_THINGS, same, spread
from d9mlint.python.domain.conditions import Cond, by_default, either
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Bound, Class, Func, Value

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_T = TypeVar("_T")
_WORD = re.compile(rb"[A-Za-z_]\w+")


def covering(interp: Interpreter, options: Sequence[_T], path_of: Callable[[_T], str | None], most: int) -> list[_T]:
    """At most so many things that stand in different files, in order.

    One after the other that whose file names the most ops and draws that no other has; then from the first to the last.
    """
    if len(options) <= most:
        return [*options]
    named = [_varying_in(interp, path_of(one)) for one in options]
    left, known, chosen = [*range(len(options))], set[str](), list[int]()
    while len(chosen) < most:
        best = max(left, key=lambda at: (len(named[at] - known), -at))
        if named[best] <= known:
            break
        left.remove(best)
        chosen.append(best)
        known |= named[best]
    return [options[at] for at in sorted([*chosen, *spread(left, most - len(chosen))])]


def samples(
    interp: Interpreter, options: Sequence[tuple[Cond, Value]], *, any_files: bool = False
) -> tuple[list[tuple[Cond, Value]], bool]:
    """Of a table with more functions than are followed some of each file; the last stands for the rest of its file.

    Networks that stand in one file under several names are made of the same parts. Of too many files that of the
    default and some others, and that there are more; nothing where there is no default (unless ``any_files`` do), or
    for other things.
    """
    files: dict[str, list[tuple[Cond, Value]]] = {}
    first = [one for one in options if by_default(one[0])]
    for cond, value in (*first, *(one for one in options if one not in first)):
        frame = _home(value)
        if frame is None:
            return [], False
        its = files.setdefault(frame.module.path, [])
        known = next((at for at, (_, one) in enumerate(its) if same(one, value)), None)
        if known is None:
            its.append((cond, value))
        else:
            its[known] = (either(its[known][0], cond), value)
    cut = len(files) > MAX_THINGS
    if cut and not first and not any_files:
        return [], False
    given = [*files.items()]
    others = covering(interp, given[len(first) :], itemgetter(0), MAX_THINGS - len(first))
    files = dict([*given[: len(first)], *others])
    each = MAX_THINGS // len(files)
    return [
        (either(*(cond for cond, _ in (found[at:] if at == each - 1 else found[at : at + 1]))), found[at][1])
        for found in files.values() for at in range(min(each, len(found)))
    ], cut  # fmt: skip


def _home(value: Value) -> Frame | None:
    """The names of the module or class that a class or function stands in; of a class method those of its class."""
    if isinstance(value, Bound):
        return _home(value.receiver if isinstance(value.receiver, Class) else value.func)
    return value.closure if isinstance(value, Func) else value.frame if isinstance(value, Class) else None


def _varying_in(interp: Interpreter, path: str | None) -> Set[str]:
    """The names of ops and of calls that draw random numbers among the words of a file."""
    data = interp.project.peek(path) if path is not None else None
    found = {word.decode() for word in _WORD.findall(data)} if data is not None else set[str]()
    return interp.knowledge.varying & found
