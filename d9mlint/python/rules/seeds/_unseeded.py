"""What the rules on unseeded draws share: which of them speaks, and one finding for all draws under one condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import GENERATORS, OWN_GRAPH, RESET_GRAPH, Location, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, is_symbolic
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.frameworks.tensorflow import estimators
from d9mlint.python.frameworks.tensorflow.sessions import own_graph, reset_before
from d9mlint.python.frameworks.torch.parameters import untrained
from d9mlint.python.frameworks.torch.parameters.weights import perhaps_replaced
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.library.environment import PROCESS, SPAWNED
from d9mlint.python.interpreter.library.workers import process_of
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.decides import decides, rank
from d9mlint.python.judging.drafts import Draft, draft, lower, on_ways
from d9mlint.python.judging.flows import decides_little, only_paints
from d9mlint.python.judging.processes import of_ranks, remedy_there, told_there
from d9mlint.python.judging.randomness import Uncovered, uncovered
from d9mlint.python.judging.restoring import lasting
from d9mlint.python.judging.seedings import Seeding, made_random, seedings
from d9mlint.python.judging.tasks import in_pool
from d9mlint.python.judging.wording import words_of

LATE = ("late", "import")
_ANEW = "; and pass `seed=1` to `read_data_sets`, which else gives NumPy's generator another state in each run"
"""(contrib/learn/python/learn/datasets/mnist.py of TensorFlow 1.15: ``numpy.random.seed(None)``.)"""
_MAKES = ".__init__"
_MOVES = ("to", "cuda", "cpu", "eval", "train")


def kind(program: Program, found: Uncovered) -> str:
    """``late``, ``import``, ``parent``, ``partial`` or ``unseeded``: the rule that a draw belongs to."""
    if any(_is_of_parent(found, s) for s in seedings(program)):
        return "parent"
    if found.late is not None and found.late.event.certain and not _is_drawn(program, found.late):
        return "import" if found.draw.event.importing and not found.late.event.importing else "late"
    seeded = {g for s in _lasting(program, found.draw.event) for g in s.generators}
    return "partial" if seeded - {found.draw.generator} and not _own(program, found) else "unseeded"


def _is_of_parent(found: Uncovered, seeding: Seeding) -> bool:
    """Whether a seed is one for the generator, which does not reach it in the process that draws."""
    of_program = not process_of(seeding.event) and not seeding.event.inside(PROCESS, SPAWNED)
    return of_program and found.draw.generator in seeding.generators and not found.draw.may_follow(seeding.event)


def _is_elsewhere(seed: Event, draw: Event) -> bool:
    """Whether a seed is one of another process than that which draws, and not of the program's own."""
    of_workers = seed.inside(PROCESS, SPAWNED) and not draw.inside(PROCESS, SPAWNED)
    return of_workers or process_of(seed) not in ("", process_of(draw))


def _is_drawn(program: Program, seeding: Seeding) -> bool:
    """Whether a seed is itself drawn from a generator that has none, maybe the one that it is for: it is no seed."""
    unseeded = program.once("unseeded-draws", lambda program: {id(one.draw.event) for one in uncovered(program)})
    return any(id(one) in unseeded for one in taint([seeding.value])[2])


def _lasting(program: Program, draw: Event) -> list[Seeding]:
    """The calls that fix a seed for the program where it makes a draw, and not only for a function of it."""
    fixed = (s for s in seedings(program) if s.fixes is not False and not s.event.detached and s.event.meets(draw))
    return [s for s in fixed if lasting(program, s.event) and not _is_elsewhere(s.event, draw)]


def _own(program: Program, found: Uncovered) -> bool:
    """Whether the generator is seeded too, only not under all conditions."""
    return any(
        found.draw.generator in s.generators
        and not s.event.detached
        and not _is_elsewhere(s.event, found.draw.event)
        for s in seedings(program)
    )  # fmt: skip


def check(program: Program, rule: Rule, generator: str, wanted: str) -> Iterator[Draft]:
    """One finding for each condition under which draws of ``generator`` are not covered, at the first of them."""
    if program.story.local:
        return
    groups: dict[tuple[str, ...], list[Uncovered]] = {}
    late = wanted in LATE  # of PyTorch's splits that rule speaks, too: they are drawn at once, like initial weights
    for found in uncovered(program):
        if found.draw.generator != generator or found.draw.worker or kind(program, found) != wanted:
            continue
        if not late and (_is_told(program, found) or in_pool(program, found.draw.event)):
            continue  # (of pools `threads-share-rng` tells: no seed helps there)
        if not found.draw.is_data or (late and found.draw.event.name.startswith("torch.")):
            words = words_of(found.cond, excluded=found.draw.event.excluded)
            groups.setdefault(tuple(w for w in words if w not in _stated(found)), []).append(found)
    anyhow = any(not one.draw.unseen for one in groups.get((), ()))
    for members in groups.values():
        group = [one for one in members if not one.draw.unseen]  # what is seen to draw tells it better
        if group or not anyhow:
            group = group or members
            yield _draft(program, rule, sorted(group, key=_conditions) if any(map(_stated, group)) else group)


def _is_told(program: Program, found: Uncovered) -> bool:
    """Whether the generator is seeded from entropy just before, wherever the draw is made: that is the finding then."""
    draw = found.draw
    return any(
        s.fixes is False and (s.value is None or is_none(s.value) is True) and draw.generator in s.generators
        and s.event.certain and s.event.index < draw.event.index and draw.event.certain
        and all(g in draw.event.guards for g in s.event.guards)
        for s in seedings(program)
    )  # fmt: skip


def _conditions(found: Uncovered) -> int:
    return len(words_of(found.cond, True, found.draw.event.excluded))


def _stated(found: Uncovered) -> list[str]:
    """What has to hold besides, of which the program says nothing: draws that happen anyhow say it all."""
    return [effect.where for effect in found.draw.event.effects if effect.where]


def _draft(program: Program, rule: Rule, group: list[Uncovered]) -> Draft:
    first = _first(program, group)
    event = first.draw.event
    others_too = sorted((u for u in group if u.draw.event.location != event.location), key=lambda u: rank(u.draw))
    takes = estimators.places(program) if generator_of(first) == "tensorflow" else []
    graphs = _graphs(program, group)
    takes += [Related(one.location, OWN_GRAPH) for one in graphs]
    takes += [Related(one.location, RESET_GRAPH) for one in _resets(program, group)]
    takes += told_there(program, event, generator_of(first))
    related = [*takes, *(Related(u.draw.event.location, _does(u)) for u in others_too)]
    seeds = [
        s for s in seedings(program)
        if first.draw.generator in s.generators and s.lasts and not _is_elsewhere(s.event, event)
    ]  # fmt: skip
    idle = [s for s in seeds if s.event.detached]
    paints = all(only_paints(program, u.draw.event) for u in group)
    late = ""
    notes: list[Related] = []
    if idle and len(idle) == len(seeds):
        late = "; no call of the function that seeds it was found in this program"
        notes = [Related(s.event.location, "seeds it, but no call of it was found in this program") for s in idle]
    elif first.late is not None and first.late.event.deferred and kind(program, first) == "unseeded":
        late = " before; a callback does later"
        notes = [Related(first.late.event.location, "seeds it, later")]
    elif drawn := [
        one for s in seeds if _is_drawn(program, s) and first.draw.may_follow(s.event)
        for one in taint([s.value])[2] if one.index < event.index
    ]:  # fmt: skip
        late = " but a number that is drawn itself"
        notes = [Related(one.location, "the seed is drawn here") for one in drawn]
    elif first.late is None and seeds:
        how = "in the parent process" if kind(program, first) == "parent" else "under other conditions"
        notes = [Related(s.event.location, f"seeds it {how}") for s in seeds if s.fixes is not False]
    late += ": the colours of a picture" if paints else ""
    others = sorted(
        {GENERATORS[g] for s in _lasting(program, event) for g in s.generators if g in GENERATORS}
        - {GENERATORS.get(generator_of(first), "")}
    )
    if kind(program, first) in LATE:
        return _late(program, rule, group, first.late.event)  # type: ignore[union-attr]
    anew = made_random(program, event) if first.draw.generator == "numpy" else []
    notes += [Related(one.location, "gives it another state in each run, whatever was set before") for one in anew]
    notes += [Related(e.location, "loads weights, under other conditions") for e in untrained.loads(program, event)]
    at, there = _anyhow(first, group) or on_any_way(first, group)
    return draft(
        program,
        rule, at, cond=there, related=[*notes, *dict.fromkeys(related)],
        confidence=_confidence(rule, first), name=_name(first), draws=_draws(first), late=late,
        generator=GENERATORS.get(generator_of(first), generator_of(first)),
        others=" and ".join(others), cause=_cause(rule, first),
        remedy=_remedy(program, rule, group) + (_ANEW if anew else ""),
        slight=decides_little(program, event) or perhaps_replaced(program, event), severity="info" if paints else "",
    )  # fmt: skip


def on_any_way(first: Uncovered, group: list[Uncovered]) -> tuple[Event, Cond]:
    """The draw to report, without the guards of one of the ways that lead there, and when any of them is taken."""
    ways = [u for u in group if u.draw.event.location == first.draw.event.location]
    return _together(first, ways) if len(ways) > 1 else (first.draw.event, first.cond)


def _anyhow(first: Uncovered, group: list[Uncovered]) -> tuple[Event, Cond] | None:
    """The same where one draw or another is made whatever the settings are, and each of them under some."""
    at, there = _together(first, group)
    cond = both(*at.guards, there)
    return (at, there) if loosened(cond, settings=True) == loosened(cond) else None


def _together(first: Uncovered, ways: list[Uncovered]) -> tuple[Event, Cond]:
    """A draw, and when any of several is made: what all of them need as its guards."""
    return on_ways(first.draw.event, [(u.draw.event, u.cond) for u in ways])


def _confidence(rule: Rule, found: Uncovered) -> str:
    if not found.sure:
        return lower(lower(rule.confidence))
    return lower(rule.confidence) if found.draw.unseen else rule.confidence


def _name(found: Uncovered) -> str:
    """What draws, as the program calls it: of a network that is not seen without how it came there."""
    name = found.draw.event.raw.removesuffix(_MAKES)
    if found.draw.event.kind == "unresolved" and not name[-1:].isidentifier():
        return "the network"
    parts = name.removeprefix("?.").replace("()", "").split(".") if found.draw.unseen else [name]
    return ".".join(part for part in parts if part not in _MOVES)


def _draws(found: Uncovered) -> str:
    """What a call does with a generator: layers of Keras take a seed from Python's, by which they draw."""
    layer = found.draw.event.name.startswith("keras.") and not found.draw.event.trains
    seed = generator_of(found) == "python" and (found.draw.unseen or layer)
    verb = "takes its seed" if seed else "draws"
    return f"most probably {verb} (its code could not be read here)" if found.draw.unseen else verb


def _does(found: Uncovered) -> str:
    name = found.draw.event.raw.removesuffix(_MAKES)
    return f"`{name}` {'most probably ' * found.draw.unseen}draws {decides(found.draw)}"


def _remedy(program: Program, rule: Rule, group: list[Uncovered]) -> str:
    """The remedy for a group of draws, of the package that draws where it has one of its own.

    What seeds a framework's program seeds NumPy's generator, too. Worker processes of a loader take their seeds from
    PyTorch.
    """
    event = _first(program, group).draw.event
    package = event.name.partition(".")[0]
    own = package != "numpy" and any(one.framework == package for one in rule.remedies)
    frameworks = (package,) if own else frameworks_of(program) or ("numpy",)
    estimator = estimators.remedy(program) if generator_of(group[0]) == "tensorflow" else ""
    remedy = estimator or remedy_there(program, event, rule.remedy(program.target, frameworks), generator_of(group[0]))
    in_loader = any(u.draw.other == "torch" and u.draw.generator != "torch" for u in group)
    workers = "; where the loader has workers, `torch.manual_seed(1)` seeds those" if in_loader else ""
    return f"{remedy}{of_ranks(program)}{workers}"


def _graphs(program: Program, group: list[Uncovered]) -> list[Event]:
    """Where the graphs begin whose ops draw, one a place; nothing for draws in the first graph, or none."""
    if generator_of(group[0]) != "tensorflow":
        return []
    made = (own_graph(program, u.draw.event) for u in group)
    return list({one.location: one for one in made if one is not None}.values())


def _resets(program: Program, group: list[Uncovered]) -> list[Event]:
    """The calls that drop the seed of the graph before its ops draw, one a place."""
    if generator_of(group[0]) != "tensorflow":
        return []
    made = (reset_before(program, u.draw.event) for u in group)
    return list({one.location: one for one in made if one is not None}.values())


def _first(program: Program, group: list[Uncovered]) -> Uncovered:
    """The draw to report: one that happens whatever a config says, at once and plainly, before any other.

    Not one whose numbers decide little, which loaded weights may replace, or which may never happen for all that is
    known, where there are others.
    """
    told = {id(u): words_of(u.cond, True, u.draw.event.excluded) for u in group}
    fewest = [u for u in group if told[id(u)] == words_of(u.cond, excluded=u.draw.event.excluded)] or group
    fewest = [u for u in fewest if all(map(is_symbolic, u.draw.event.guards))] or fewest
    plain = [u for u in fewest if not u.draw.implicit and not u.draw.event.deferred]
    lasting = [u for u in plain or fewest if not perhaps_replaced(program, u.draw.event)] or plain or fewest
    others = (u for u in group if not u.draw.implicit and not perhaps_replaced(program, u.draw.event))
    return next((u for u in (*lasting, *others) if not decides_little(program, u.draw.event)), lasting[0])


def _late(program: Program, rule: Rule, group: list[Uncovered], seed: Event) -> Draft:
    """At the seed that comes too late; at the draw, when that happens while a module is imported."""
    draw = group[0].draw.event
    importing = draw.importing and not seed.importing
    at, other, note = (draw, seed, "is seeded here, too late") if importing else (seed, draw, "draws before it")
    if not importing and (own := _call_in_entry(program, seed)) is not None:
        at = replace(seed, location=own)
    same = at.location.path == other.location.path
    where = f"line {other.location.line}" if same else f"{other.location.path}:{other.location.line}"
    related = [Related(other.location, note)]
    if not importing:
        related += [Related(seed.location, "the seed is set in here")] if at.location != seed.location else []
        related += [
            Related(u.draw.event.location, f"{_does(u)} before it")
            for u in sorted(group[1:], key=lambda u: rank(u.draw))
        ]
    generator = generator_of(group[0])
    return draft(
        program,
        rule, at, cond=group[0].cond, related=dict.fromkeys(related),
        confidence=_confidence(rule, group[0]), name=at.raw, draw=draw.raw, where=where,
        generator=GENERATORS.get(generator, generator),
        cause=_cause(rule, group[0]),
        remedy=_MOVED.format(_OWN[generator]) if importing and generator in _OWN else "",
    )  # fmt: skip


_MOVED = "move the draw into a function that runs after seeding, or use {} there"
_OWN = {
    "python": "`random.Random(1)`", "torch": "a generator of its own, `torch.Generator().manual_seed(1)`,",
    "tensorflow": "`tf.random.Generator.from_seed(1)`",
}  # fmt: skip
"""A generator of its own that draws what a module draws when it is imported; of NumPy's the rule's remedy tells."""


def _call_in_entry(program: Program, seed: Event) -> Location | None:
    """Where the program's own file calls the helper of another that seeds: that call is to be moved, not the helper."""
    entry = program.story.entry
    if seed.location.path == entry:
        return None
    return next((one for one in reversed(seed.stack) if one.path == entry), None)


def _cause(rule: Rule, found: Uncovered) -> str:
    """The cause: that of the rule, for this generator, which one call seeds."""
    return f"{rule.cause}/{generator_of(found)}"


def generator_of(found: Uncovered) -> str:
    """The generator of an uncovered draw."""
    return found.draw.generator
