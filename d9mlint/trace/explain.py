"""From where recordings part to the line that brings it in, and what to call it."""

from __future__ import annotations

from collections.abc import Sequence

from d9mlint.model import Culprit, SeenTensor
from d9mlint.model import trace as kinds
from d9mlint.trace import align, roots
from d9mlint.trace.align import Entry
from d9mlint.trace.calls import with_call
from d9mlint.trace.recording import MAIN, NOWHERE, Event, Recording
from d9mlint.trace.roots import Root

MOST = 5
"""Culprits that are told."""
_GENERATORS = {
    "python": "Python's generator", "numpy": "NumPy's global generator", "torch": "PyTorch's global generator",
    "torch-device": "the GPU's generator", "tensorflow": "TensorFlow's global generator", "own": "this generator",
}  # fmt: skip
_SOURCES = {
    "completion": (kinds.ORDER, "hands out what is done in another order"),
    "listing": (kinds.ORDER, "returns the same names in another order"),
    "hash": (kinds.EXTERNAL, "depends on the hash seed of the process"),
    "entropy": (kinds.DRAW, "draws from the entropy of the operating system"),
    "process": (kinds.EXTERNAL, "is another number in each process"),
    "address": (kinds.EXTERNAL, "is an address in memory"),
    "time": (kinds.TIME, "reads the clock"),
}
_RANKS = ("completion", "listing", "entropy", "hash", "process", "address", "read", "time")
"""What is the more likely reason first: a clock is read in every program, mostly for a log."""
_EVERYWHERE = ("entropy", "process", "address", "time")
"""Taken for the reason only on the very line where data comes in: for seeds see there."""
UNSEEN = "nothing that is recorded explains it"


def culprits(one: Recording, other: Recording) -> tuple[Culprit, ...]:
    """Where two recordings part: the first place, then others that do not follow from it; paths are absolute."""
    book = align.ledger(one, other)
    told: dict[object, Culprit] = {}
    for root in roots.found(one, other):
        if told and root.kind in (roots.NUMBER, roots.FLOW, roots.THREADS, roots.ENTRY):
            continue  # most likely by way of Python from what was found before
        culprit = _explained(root, book)
        if root.kind == roots.OP:
            culprit = with_call(culprit, one)
        told.setdefault(
            (culprit.path, culprit.line, culprit.kind, culprit.op if root.kind == roots.OP else ""), culprit
        )
        if len(told) >= MOST:
            break
    if not told and not align.ops(one):
        found = _by_ledger(book)
        return (found,) if found is not None else ()
    return tuple(told.values())


def _explained(root: Root, book: Sequence[Entry]) -> Culprit:
    before = [entry for entry in book if entry.process == MAIN and entry.one.number < root.one.number]
    if root.kind == roots.OP:
        return _op(root)
    if root.kind == roots.DRAW:
        return _torch_draw(root, before, book)
    if root.kind == roots.MEMORY:
        return _memory(root)
    if root.kind == roots.THREADS:
        return _threads(root)
    if root.kind == roots.COLLECTIVE:
        note = "what other processes send differs"
        return _culprit(root.one.event, root.one.name, roots.COLLECTIVE, note, root, root.one.direction)
    if root.kind == roots.ENTRY and root.one.name.startswith("a batch"):
        workers = [entry for entry in book if entry.process != MAIN]
        found = _nearest(workers, root, book, first=True)
        if found is not None:
            return found._replace(note=found.note + f"; it reaches the program in {root.one.name}")
    found = _nearest(before, root, book)
    if found is None and root.kind == roots.ENTRY and root.writer is not None:
        return _threads(root)
    return found if found is not None else _unknown(root)


def _threads(root: Root) -> Culprit:
    writer, note = root.writer or root.one, "threads come here in another order, and it decides the result"
    return _culprit(writer.event, writer.name, kinds.ORDER, note, root, writer.direction)


def _op(root: Root) -> Culprit:
    note = "the same inputs gave different results"
    return _culprit(root.one.event, root.one.name, kinds.OP, note, root, root.one.direction)


def _memory(root: Root) -> Culprit:
    made, read = root.writer or root.one, root.one
    _, line, _ = read.event.place
    note = f"`{read.name}` on line {line} reads memory that nothing has written: what was there before"
    return _culprit(made.event, made.name, kinds.MEMORY, note, root)


def _torch_draw(root: Root, before: Sequence[Entry], book: Sequence[Entry]) -> Culprit:
    name = root.one.generator[0]
    own = _culprit(root.one.event, root.one.name, kinds.DRAW, "", None, root.one.direction)
    if name == "own":
        return own._replace(note="its generator has another state in each run")
    return _unseeded(own, name, before, book, root.one.number)


def _unseeded(own: Culprit, name: str, before: Sequence[Entry], book: Sequence[Entry], number: int) -> Culprit:
    """Why a generator has another state: it was seeded with another number, not at all, or too late."""
    title = _GENERATORS[name]
    names = (name, "torch") if name == "torch-device" else (name,)
    seeds = _seeds(before, names)
    if seeds and (seeds[-1].differs or not seeds[-1].one.fields[3]):
        return _seed(seeds[-1], before)
    if seeds:
        line = seeds[-1].one.place[1]
        note = f"{title} was seeded alike on line {line}, but since then drawn from another number of times"
        return own._replace(note=note)
    later = next((one.one for one in _seeds(book, names) if one.process == MAIN and one.one.number > number), None)
    when = f": it is seeded later, on line {later.place[1]}" if later is not None else ""
    return own._replace(note=f"draws from {title}, which is not seeded{when}")


def _seeds(entries: Sequence[Entry], names: tuple[str, ...]) -> list[Entry]:
    """Where the program itself seeds a generator."""
    return [
        one for one in entries if one.one.kind == "seed" and one.one.fields[0] in names and one.one.place != NOWHERE
    ]


def _seed(seed: Entry, before: Sequence[Entry]) -> Culprit:
    """A seed that differs: the line where its number comes from."""
    name, line = str(seed.one.fields[1]), seed.one.place[1]
    if not seed.one.fields[3]:
        return _culprit(seed.one, name, kinds.DRAW, "seeds from the entropy of the operating system")
    earlier = [one for one in before if one.one.number < seed.one.number and one.differs]
    made = [one for one in earlier if one.one.kind in ("source", "draw")]
    if not made:
        return _culprit(seed.one, name, kinds.EXTERNAL, "seeds with another number in each run")
    # On the seed's own line, if there is one; else the last that came before.
    source = next((one for one in reversed(made) if one.one.place == seed.one.place), made[-1])
    found = _of_entry(source, before, before)
    return found._replace(note=f"{found.note}, and `{name}` on line {line} takes it for a seed")


def _of_entry(entry: Entry, before: Sequence[Entry], book: Sequence[Entry]) -> Culprit:
    event = entry.one
    if event.kind == "draw":
        generator, name = str(event.fields[0]), str(event.fields[1])
        own = _culprit(event, name, kinds.DRAW, "")
        if generator == "own":
            return own._replace(note="makes a generator that is seeded from the entropy of the operating system")
        seen = [one for one in before if one.process == entry.process and one.one.number < event.number]
        return _unseeded(own, generator, seen, book, event.number)
    if event.kind == "seed":
        return _seed(entry, before)
    if event.kind == "read":
        return _culprit(event, "open", kinds.EXTERNAL, f"reads `{event.fields[0]}`, which has changed between the runs")
    kind, note = _SOURCES[str(event.fields[0])]
    return _culprit(event, str(event.fields[1]), kind, f"`{event.fields[1]}` {note}")


def _nearest(entries: Sequence[Entry], root: Root, book: Sequence[Entry], first: bool = False) -> Culprit | None:
    """What most likely brought the difference: a draw in another state, then what is seldom harmless."""
    differing = [one for one in entries if one.differs and one.one.place != NOWHERE]
    draws = [one for one in differing if one.one.kind == "draw"]
    if draws:
        here = [one for one in draws if one.one.place == root.one.event.place]
        return _of_entry((here or draws)[0 if first else -1], entries, book)
    keys = [one for one in differing if one.one.kind == "seed" and one.one.fields[0] == "jax"]
    if keys:
        return _of_entry(keys[0 if first else -1], entries, book)
    permuted = bool(root.other and root.one.bag and root.one.bag == root.other.bag)
    for rank in _RANKS:
        found = [one for one in differing if rank == (one.one.fields[0] if one.one.kind == "source" else one.one.kind)]
        found = [one for one in found if rank != "listing" or _permuted(one)]
        if rank in _EVERYWHERE:
            found = [one for one in found if one.one.place == root.one.event.place and not permuted]
        if found:
            return _of_entry(found[-1], entries, book)
    return None


def _permuted(entry: Entry) -> bool:
    return entry.other is not None and entry.one.fields[3] == entry.other.fields[3]


def _unknown(root: Root) -> Culprit:
    """Nothing that is recorded explains it: the line where it becomes a tensor, a number or another way."""
    op, other = root.one, root.other
    if root.kind == roots.FLOW:
        note = f"only one of the runs comes here so often, and {UNSEEN}"
        return _culprit(op.event, op.name, kinds.EXTERNAL, note, None, op.direction)
    if root.kind == roots.NUMBER:
        note = f"a number that Python hands to the op differs, and {UNSEEN}"
        return _culprit(op.event, op.name, kinds.EXTERNAL, note, root, op.direction)
    if other is not None and op.bag and op.bag == other.bag:
        note = f"the same elements come in in another order, and {UNSEEN}"
        return _culprit(op.event, op.name, kinds.ORDER, note, root)
    note = f"data that differs comes in here, and {UNSEEN}"
    return _culprit(op.event, op.name, kinds.EXTERNAL, note, root, op.direction)


def _by_ledger(book: Sequence[Entry]) -> Culprit | None:
    """For programs that compute without PyTorch: the first draw or source that differs."""
    differing = [one for one in book if one.differs and one.one.place != NOWHERE]
    for rank in ("draw", "seed", *_RANKS):
        for one in differing:
            if rank == (one.one.fields[0] if one.one.kind == "source" else one.one.kind) and (
                rank != "listing" or _permuted(one)
            ):
                return _of_entry(one, [e for e in book if e.one.number < one.one.number], book)
    return None


def _inputs(root: Root) -> str:
    """What goes in, in words: type and shape, and which differ."""
    return ", ".join(
        f"{one.dtype} {list(one.shape) if one.shape else 'scalar'} {'equal' if one.same else 'different'}"
        for one in _tensors(root)
        if one.role == "in"
    )


def _tensors(root: Root) -> tuple[SeenTensor, ...]:
    """What went in and came out in both runs."""
    one, other = root.one, root.other
    ins = [("in", dtype, shape, text) for text, dtype, shape, _ in one.ins]
    outs: list[tuple[str, str, tuple[int, ...], str]] = [("out", "", (), text) for text in one.outs]
    digests, outs2 = (other.digests, other.outs) if other is not None else ((), ())
    others = (*_filled(digests, len(ins)), *_filled(outs2, len(outs)))
    return tuple(
        SeenTensor(role, dtype, shape, (text, text2), bool(text2) and align.alike((text,), (text2,)))
        for (role, dtype, shape, text), text2 in zip((*ins, *outs), others, strict=True)
    )


def _filled(digests: Sequence[str], size: int) -> list[str]:
    """So many digests; what the other run lacks is empty."""
    return [*digests[:size], *[""] * (size - len(digests))]


def _culprit(event: Event, op: str, kind: str, note: str, root: Root | None = None, direction: str = "") -> Culprit:
    path, line, _ = event.place
    inputs, tensors = (_inputs(root), _tensors(root)) if root is not None else ("", ())
    return Culprit(path, line, op, kind, inputs, note, direction, tensors=tensors)
