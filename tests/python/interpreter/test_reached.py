"""Code that runs though no plain call names it: by properties, bases, decorators, containers and names made at run time."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_made_by_new import draws

HEAD = """
import random


def draw():
    return random.random()


def nothing():
    return 1


"""
SETTER = """
class Agent:
    def __init__(self):
        self._rate = 1

    @property
    def rate(self):
        return {read}()

    @rate.setter
    def rate(self, value):
        {set}()


"""
MIXIN = """
class Logged:
    def step(self):
        return super().step()

class Base:
    def step(self):
        return {base}()

class Other(Logged):
    def step(self):
        return {other}()

class Trainer(Logged, Base):
    pass

Trainer().step()
"""
DIAMOND = """
class Base:
    def step(self):
        return {base}()

class Left(Base):
    pass

class Right(Base):
    def step(self):
        return {right}()

class Trainer(Left, Right):
    pass

Trainer().step()
"""
SUBCLASSES = """
class Task:
    def run(self):
        return nothing()

class Sorting(Task):
    def run(self):
        return {run}()

for cls in {holder}.__subclasses__():
    cls().run()
"""
NAMED = """
class Layer:
    def step(self):
        return draw()

class Net:
    def __init__(self, count):
        for i in range(count):
            setattr(self, f"{set}{{i}}", Layer())

    def run(self, count):
        for i in range(count):
            getattr(self, f"layer{{i}}").step()

Net(3).run(3)
"""
SETTINGS = """
from dataclasses import dataclass
import json
from typing import List, Optional

@dataclass
class Inner:
    width: int = 3

    def make(self):
        return {make}()

@dataclass
class Outer:
    inner: {kind} = None
    after: "Outer" = None

settings = Outer(**json.load(open("settings.json")))
{use}.make()
"""


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (SETTER.format(read="draw", set="nothing") + "Agent().rate", True),
        (SETTER.format(read="nothing", set="draw") + "Agent().rate", False),
        (SETTER.format(read="nothing", set="draw") + "Agent().rate = 3", True),
        (SETTER.format(read="draw", set="nothing") + "Agent().rate = 3", False),
        (SETTER.format(read="nothing", set="draw") + "class Fast(Agent):\n    pass\nFast().rate = 3", True),
        (MIXIN.format(base="draw", other="nothing"), True),
        (MIXIN.format(base="nothing", other="draw"), False),
        (DIAMOND.format(base="draw", right="nothing"), False),
        (DIAMOND.format(base="nothing", right="draw"), True),
        (SUBCLASSES.format(run="draw", holder="Task"), True),
        (SUBCLASSES.format(run="draw", holder="Sorting"), False),
        (NAMED.format(set="layer"), True),
        (NAMED.format(set="head"), False),
        (SETTINGS.format(make="draw", kind="Inner", use="settings.inner"), True),
        (SETTINGS.format(make="draw", kind="Optional[Inner]", use="settings.inner"), True),
        (SETTINGS.format(make="draw", kind="Inner | None", use="settings.inner"), True),
        (SETTINGS.format(make="draw", kind="List[Inner]", use="settings.inner[0]"), True),
        (SETTINGS.format(make="draw", kind="dict", use="settings.inner"), False),
    ],
)
def test_classes(text: str, drawn: bool) -> None:
    assert bool(draws(HEAD + text + "\n")) is drawn


DECORATORS = """
TABLE = {}

class Registry:
    def __call__(self, func):
        TABLE[func.__name__] = func
        return func

class Counted:
    def __init__(self, func):
        self.func = func

    def __call__(self):
        return self.func()

register = Registry()

"""
ITEMS = """
class Rows:
    def __getitem__(self, index):
        return draw()

    def __setitem__(self, index, value):
        nothing()

class Places(Rows):
    def __getitem__(self, index):
        return 1

    def __setitem__(self, index, value):
        draw()

class Held:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        draw()

class Agent:
    def act(self):
        return draw()

class Calm:
    def act(self):
        return 1

names = open("names.txt").read().split()
"""


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("@register\ndef go():\n    draw()\nTABLE['go']()", True),
        ("@register\ndef go():\n    draw()\n@register\ndef other():\n    pass\nTABLE['other']()", False),
        ("@Counted\ndef go():\n    draw()\ngo()", True),
        ("@Counted\ndef go():\n    draw()", False),
        ("Plain = type('Plain', (), {'go': lambda self: draw()})\nPlain().go()", True),
        ("from typing import cast\ncast(int, draw)()", True),
        ("from typing import cast\nclass Agent:\n    def act(self):\n        draw()\ncast(int, Agent()).act()", True),
        ("from typing import cast\nclass Agent:\n    def act(self):\n        draw()\ncast(int, Agent())", False),
    ],
)
def test_definitions(text: str, drawn: bool) -> None:
    assert bool(draws(HEAD + DECORATORS + text + "\n")) is drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("for row in Rows():\n    pass", True),
        ("for row in Places():\n    pass", False),
        ("for at, row in zip(range(3), Rows()):\n    pass", True),
        ("Rows()[1:3]", True),
        ("Places()[3] = 1", True),
        ("Rows()[3] = 1", False),
        ("with Held():\n    pass", True),
        ("Held()", False),
        ("agents = {name: Agent() for name in names}\nfor name in names:\n    agents[name].act()", True),
        ("agents = {name: Calm() for name in names}\nfor name in names:\n    agents[name].act()", False),
        ("agents = dict(zip(['a', 'b'], [Agent(), Calm()]))\nagents['a'].act()", True),
        ("agents = dict(zip(['a', 'b'], [Agent(), Calm()]))\nagents['b'].act()", False),
        ("for name, one in zip(['a', 'b'], [Calm(), Agent()]):\n    one.act()", True),
        ("agents = {}\nagents.setdefault('a', Agent())\nagents['a'].act()", True),
        ("max([Agent(), Agent()], key=id).act()", True),
        ("table = {'a': nothing}\ntable.get(names[0], draw)()", True),
        ("table = {'a': nothing}\ntable.get(names[0], nothing)()", False),
        ("from collections import OrderedDict\ntable = OrderedDict()\ntable['a'] = draw\ntable['a']()", True),
        ("from collections import OrderedDict\ntable = OrderedDict(a=draw, b=nothing)\ntable['b']()", False),
    ],
)
def test_containers(text: str, drawn: bool) -> None:
    assert bool(draws(HEAD + ITEMS + text + "\n")) is drawn
