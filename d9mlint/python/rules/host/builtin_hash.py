"""``hash()`` of text as a number in the data, by the program itself or by what it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import ORDERINGS, Cond
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const
from d9mlint.python.interpreter.library import streams
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.hashing import salted_value, where_salted
from d9mlint.python.judging.ops import varies

_HASH = "builtins.hash"
_TAKES = ("numpy.", "tensorflow.", "keras.", "torch.", "jax.", "pandas.", "builtins.list.append", "random.")

_STARTS = "`{name}` starts the vector of each word from Python's `hash` of it, which is another number in each process"
_FOR_BYTES = "use `zlib.crc32(data)` instead of `hash(data)`, or `int(hashlib.md5(data).hexdigest(), 16)`"
_GIVES_BYTES = re.compile(
    r"(pickle|cPickle|dill|cloudpickle|marshal)\.dumps|builtins\.bytes|.*\.(encode|tobytes|digest)"
)
_PUT = "?.__setitem__"
"""What is written into something that is not known, as the rows of a table are."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``hash`` whose result becomes data, unless the hash seed is fixed."""
    yield from where_salted(program, _drafts(program, rule))
    of_others = varies.check(program, rule._replace(message=_STARTS), "hash")
    yield from where_salted(program, (replace(one, rule=rule) for one in of_others))


def _drafts(program: Program, rule: Rule) -> Iterator[Draft]:
    """As a seed it is another rule's business."""
    found: dict[int, tuple[Event, list[Event]]] = {}
    for event in program.events if program.calls(_HASH) else ():
        takes = event.kind == "call" and (event.name.startswith(_TAKES) or streams.writes(event)) and not _seeds(event)
        put = event.kind == "put" and event.name == _PUT
        if not takes and not put and event.kind != "index" and not _decides(event):
            continue
        origins, _, sources = taint(event.args[1:] if put else [*event.args, *event.kwargs.values()])
        if "hash" in origins:
            for source in sources:
                if source.name == _HASH and _salted(source) is not False:
                    found.setdefault(source.index, (source, []))[1].append(event)
    for source, uses in found.values():
        related = [Related(e.location, "the hash is used here") for e in uses if e.kind != "compare"]
        cond = _salted(source)
        of_bytes = _of_bytes(program, source)
        yield draft(
            program, rule, source, cond=cond, related=dict.fromkeys(related), sink=_sink(uses[0]),
            remedy=_FOR_BYTES if of_bytes else "", what="bytes" if of_bytes else "text",
        )  # fmt: skip


def _of_bytes(program: Program, source: Event) -> bool:
    """Whether what is hashed is bytes, which have no `encode`: ``hash(pickle.dumps(rows))``."""
    makers = results(program)
    made = [one for value in source.args[:1] for one in made_of(value, makers)]
    return bool(made) and all(_GIVES_BYTES.fullmatch(one.name) for one in made)


def _salted(source: Event) -> Cond:
    return salted_value(source.args[0]) if source.args else True


def _sink(use: Event) -> str:
    if use.kind == "put":
        return "the items of a row or an array"
    if use.kind == "compare":
        return f"a decision (`{use.raw}`)"
    return "the index of an array" if use.kind == "index" else f"`{use.raw.removeprefix('builtins.')}`"


def _decides(event: Event) -> bool:
    """Whether something depends on how a hash compares with a number: ``hash(name) % 10 < 8``."""
    if event.kind != "compare" or (event.name not in ORDERINGS and not any(isinstance(x, Const) for x in event.args)):
        return False
    return event.name in (*ORDERINGS, "==", "!=") and len([x for x in event.args if "hash" in taint([x])[0]]) == 1


def _seeds(event: Event) -> bool:
    return any(x.seeds or x.creates or x.own_seed or x.seed_argument for x in event.effects)
