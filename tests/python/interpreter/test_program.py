"""Events by their names: each name is tested once, and the events come in the order told."""

from d9mlint.model import Location, Target
from d9mlint.python.domain.events import Event, Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import Const, Dict, Seq
from d9mlint.python.interpreter.program import Program, matches

TOLD = [
    ("call", "torch.save"),
    ("call", "?.save"),
    ("set", "?.save"),
    ("call", "torch.load"),
    ("call", "torch.save"),
    ("unresolved", "save"),
]


def _program() -> Program:
    target = Target()
    events = [
        Event(index, kind, name, name, Location("train.py", index + 1, 1, index + 1, 2), ())
        for index, (kind, name) in enumerate(TOLD)
    ]
    return Program(Story("train.py", events), target, Knowledge({}, (), target))


def _told(events: list[Event]) -> list[int]:
    return [event.index for event in events]


def test_events_of_several_names_come_in_the_order_told() -> None:
    program = _program()
    assert _told(program.ending(".save", "call")) == [0, 1, 4]
    assert _told(program.ending((".save", ".load"), "call")) == [0, 1, 3, 4]
    assert _told(program.beginning("?.", "call", "set")) == [1, 2]


def test_without_kinds_events_of_all_kinds_are_asked_for() -> None:
    program = _program()
    assert _told(program.ending("save")) == [0, 1, 2, 4, 5]
    assert _told(program.ending("restore")) == []


def test_a_name_is_tested_once_however_many_events_have_it() -> None:
    asked: list[str] = []
    _program().named(asked.append, "call")
    assert sorted(asked) == ["?.save", "torch.load", "torch.save"]


def test_a_text_is_contained_in_what_holds_it() -> None:
    test = {"contains": "Grid"}
    grid = Dict({"otype": Const("HashGrid")})
    assert matches(Const("HashGrid"), test) is True
    assert matches(Dict({"nested": Seq("list", [Dict({"otype": Const("Identity")}), grid])}), test) is True
    assert matches(Dict({"otype": Const("Identity"), "levels": Const(16)}), test) is False
    assert matches(Dict({}, True), test) is False
    grid.items["otype"] = grid
    assert matches(grid, test) is False
