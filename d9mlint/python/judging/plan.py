"""The determinism plan of a program: what a reader checks by hand, without any judgement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import GENERATORS, Location, PlanRow
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Value
from d9mlint.python.frameworks.jax.mode import jax_mode
from d9mlint.python.frameworks.tensorflow.determinism import switch, turned_on
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.used import frameworks_of, uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.decides import decides
from d9mlint.python.judging.drafts import value_text
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import Seeding, seedings
from d9mlint.python.judging.wording import words_of

MOST = 8
"""Rows about one subject; a program may list a thousand folders."""
_LOADERS = ("torch.utils.data.DataLoader",)
_SHUFFLES = ("tensorflow.data.Dataset.shuffle",)
_CUDNN = ("deterministic", "benchmark")


class _Row(NamedTuple):
    """A row before its condition is put into words."""

    section: str
    subject: str
    text: str
    location: Location | None = None
    cond: Cond = True


def rows(program: Program) -> tuple[PlanRow, ...]:
    """All rows, by section: what happens at a place in several ways is one row; of each subject the first ones."""
    groups: dict[_Row, list[Cond]] = {}
    for row in (*_generators(program), *_switches(program), *_data(program)):
        groups.setdefault(row._replace(cond=True), []).append(row.cond)
    found: list[PlanRow] = []
    numbers: dict[str, int] = {}
    for row, conds in groups.items():
        numbers[row.subject] = numbers.get(row.subject, 0) + 1
        if numbers[row.subject] <= MOST:
            found.append(PlanRow(*row[:-1], words_of(either(*conds), True)))
    return tuple(found)


# -- generators ----------------------------------------------------------------------------------------------------


def _generators(program: Program) -> Iterator[_Row]:
    first: dict[str, Draw] = {}
    for draw in draws(program):
        if not draw.event.detached:
            first.setdefault(draw.generator, draw)
    seeds = [one for one in seedings(program) if not one.event.detached]
    for generator, subject in GENERATORS.items():
        own = [one for one in seeds if generator in one.generators]
        if generator not in first and not own:
            continue
        if not own:
            yield _Row("generators", subject, "nothing seeds it")
        for one in own:
            yield _Row("generators", subject, _seeded(one), one.event.location, one.fixes)
        if generator in first:
            drawn = first[generator]
            text = f"the first draw is that of `{drawn.event.raw}`: {decides(drawn)}"
            yield _Row("generators", subject, text, drawn.event.location, drawn.cond)


def _seeded(one: Seeding) -> str:
    known = isinstance(one.value, (Const, FlagValue))
    given = f" with `{value_text(one.value)}`" if known else " with a value that is not known" if one.value else ""
    return f"`{one.event.raw}` {'puts a state back' if one.restores else f'seeds it{given}'}"


# -- switches ------------------------------------------------------------------------------------------------------


def _switches(program: Program) -> Iterator[_Row]:
    frameworks = frameworks_of(program)
    if "torch" in frameworks:
        asked = [(one.event, both(*one.event.guards, one.on)) for one in torchmode.torch_mode(program).asked]
        yield from _turned("PyTorch's deterministic algorithms", asked)
        for name in _CUDNN:
            for setting in torchmode.cudnn(program, name):
                cond = both(*setting.event.guards, setting.true)
                if cond is not False and not setting.event.detached:
                    text = f"`torch.backends.cudnn.{name}` is set to true"
                    yield _Row("switches", "cuDNN", text, setting.event.location, cond)
    if uses_tensorflow(program):
        events = [(one, both(*one.guards, turned_on(one))) for one in switch(program).events]
        yield from _turned("TensorFlow's deterministic ops", events)
    if "jax" in frameworks:
        events = [(one, both(*one.guards)) for one in jax_mode(program).events]
        yield from _turned("XLA's deterministic ops", events)


def _turned(subject: str, events: list[tuple[Event, Cond]]) -> Iterator[_Row]:
    told = [(event, cond) for event, cond in events if cond is not False]
    if not told:
        yield _Row("switches", subject, "off: nothing in the program turns them on")
    for event, cond in told:
        text = f"`{event.raw}` turns them on" if event.kind == "call" else f"`{event.name}` is set"
        yield _Row("switches", subject, text, event.location, cond)


# -- data ----------------------------------------------------------------------------------------------------------


def _data(program: Program) -> Iterator[_Row]:
    for event in program.events:
        if event.detached or event.kind != "call":
            continue
        when = both(*event.guards)
        if event.name in _LOADERS:
            text = f"`{event.raw}` with {_given(event, 'shuffle', 'False')} and {_given(event, 'num_workers', '0')}"
            yield _Row("data", "loaders", text, event.location, when)
        elif event.name in _SHUFFLES:
            text = f"`{event.raw}` with {_given(event, 'seed', 'None')}"
            yield _Row("data", "shuffles", text, event.location, when)
        elif any(effect.order == "listing" for effect in event.effects):
            text = f"`{event.raw}` gives names in no promised order"
            yield _Row("data", "listings", text, event.location, when)


def _given(event: Event, keyword: str, default: str) -> str:
    value: Value | None = event.kwargs.get(keyword)
    if value is not None and not isinstance(value, (Const, FlagValue)):
        return f"a `{keyword}` that is not known"
    return f"`{keyword}={default if value is None else value_text(value)}`"
