"""Files that are picked by their times: what is loaded depends on which runs have been there, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Func, Obj, Ref, Text, Value, alternatives
from d9mlint.python.frameworks import agents
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.source.queries import words

_PICKS = ("builtins.max", "builtins.min")
_TIMES = frozenset({"getmtime", "getctime", "getatime", "st_mtime", "st_ctime", "st_mtime_ns", "st_ctime_ns"})
_LOADS = re.compile(r"(torch|numpy|joblib|pickle|json)\.load|builtins\.open|.*\.(load_model|load_weights|restore|load)|"
                    r".*\.(load_from_checkpoint|from_pretrained|read_csv)")  # fmt: skip
_JOIN = "os.path.join"
_WHAT = (
    "picks the newest file by the time of its last change, and the program loads it: what other runs have left, and "
    "files that were copied, decide which one that is"
)
_REMEDY = (
    "name the file that is to be loaded, or pick it by what its name says: "
    "`max(paths, key=lambda path: int(path.stem.split('_')[-1]))`"
)


def newest(program: Program, rule: Rule, calls: Sequence[Event]) -> Iterator[Draft]:
    """Where such a file is loaded by a program that does not train on from it (that is `leftover-checkpoint`)."""
    for pick in calls:
        if pick.name not in _PICKS or pick.result is None or not by_time(pick):
            continue
        after = (e for e in calls if e.index > pick.index and e.args and loads(e))
        load = next((e for e in after if any(base is pick.result for base in _bases(e.args[0]))), None)
        if load is None or next(agents.learning(program, load), None) is not None:
            continue
        if not any(e.index > load.index and e.meets(load) for e in program.trains):
            related = [Related(load.location, "is loaded here")]
            yield draft(
                program, rule, pick, severity="info", related=related, remedy=_REMEDY, name=short_name(pick), what=_WHAT
            )


def by_time(event: Event) -> bool:
    """Whether a call puts files in order, or takes one, by their times: ``names.sort(key=os.path.getmtime)``."""
    return any(_is_time(leaf) for _, leaf in alternatives(event.kwargs.get("key")))


def loads(event: Event) -> bool:
    """Whether a call reads a file."""
    return _LOADS.fullmatch(event.name) is not None


def _is_time(key: Value) -> bool:
    """Whether what files are compared by is a time: ``os.path.getmtime``, ``lambda path: path.stat().st_mtime``."""
    if isinstance(key, Ref):
        return key.name.rpartition(".")[2] in _TIMES
    return isinstance(key, Func) and not _TIMES.isdisjoint(words(key.node))


def _bases(path: Value) -> Iterator[Value]:
    """What a path may be, or begin with."""
    for _, leaf in alternatives(path):
        yield leaf
        if isinstance(leaf, Text):
            yield leaf.first
        elif isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name == _JOIN:
            yield from leaf.event.args
