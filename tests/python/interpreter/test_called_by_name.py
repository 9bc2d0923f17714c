"""Functions that a program calls by a dotted name, and settings that are items and attributes of a dict."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_story import calls, story
from tests.python.judging.test_causes import found

BY_NAME = """import importlib

def split(name):
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            return importlib.import_module(".".join(parts[:count])), ".".join(parts[count:])
        except ImportError:
            pass
    raise ImportError(name)

def call_by_name(*args, func=None, **kwargs):
    module, name = split(func)
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found(*args, **kwargs)
"""
TRAINING = """import random

class Loop:
    def run(self, size=3):
        random.shuffle(list(range(size)))

def loop(size=3):
    random.sample(range(9), size)
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('by_name.call_by_name(func="training.loop")', ["random.sample"]),
        ('by_name.call_by_name(func="training.Loop").run()', ["random.shuffle"]),
        ('by_name.call_by_name(func="training.nothing")', []),
        ('by_name.call_by_name(5, func="package.inner.loop")', ["random.sample"]),
    ],
)
def test_a_dotted_name_is_split_where_its_module_ends(call: str, expected: list[str]) -> None:
    files = {
        "train.py": f"import by_name\n{call}\n", "by_name.py": BY_NAME, "training.py": TRAINING,
        "package/__init__.py": "", "package/inner.py": TRAINING,
    }  # fmt: skip
    assert [name for name in calls(story(files)) if name.startswith("random.")] == expected


DICTS = {
    "__getattr__": """class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value
""",
    "__dict__": """class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
""",
    "no constructor": """class Settings(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__

    def __getattr__(self, name):
        return self[name]
""",
}
USES = """import random
settings = Settings({"first": 1}, second=2)
settings.third = 3
settings["fourth"] = 4

def use(first, second, third, fourth, fifth=5):
    random.sample(range(9), first + second + third + fourth + fifth)

settings.update(fifth=5)
use(**settings)
random.gauss(settings.first, settings["third"])
if settings.fourth == 5:
    random.shuffle([])
"""


@pytest.mark.parametrize("kind", DICTS)
def test_items_of_a_dict_that_are_attributes_too(kind: str) -> None:
    events = [e for e in story(DICTS[kind] + USES).events if e.name.startswith("random.")]
    assert [e.name for e in events] == ["random.sample", "random.gauss"]
    assert [[getattr(a, "value", None) for a in e.args][-1] for e in events] == [15, 3]


def test_a_method_of_such_a_dict() -> None:
    text = DICTS["__dict__"] + "    def go(self):\n        return self.size\n\n"
    (event,) = [
        e for e in story(f"{text}import random\nrandom.seed(Settings(size=3).go())\n").events if "seed" in e.name
    ]
    assert getattr(event.args[0], "value", None) == 3


def test_a_dict_whose_constructor_does_more_is_not_taken_for_one() -> None:
    text = "class Settings(dict):\n    def __init__(self, path):\n        self.path = path\n"
    (event,) = [e for e in story(f"{text}import random\nrandom.seed(Settings(3).path)\n").events if "seed" in e.name]
    assert getattr(event.args[0], "value", None) == 3


SESSION = """import numpy as np
import tensorflow as tf

def init():
    if tf.get_default_session() is None:
        tf.set_random_seed(np.random.randint(1 << 31))
        tf.InteractiveSession()

np.random.seed(3)
init()
init()
print(tf.get_default_session().run(tf.random_uniform([3])))
"""


def test_there_is_no_default_session_before_one_is_made() -> None:
    rules = ("partial-seed", "unseeded-tensorflow", "unseeded-numpy")
    assert found(SESSION, *rules, target="tensorflow==1.15.5") == []
    assert found(SESSION.replace("np.random.seed(3)", ""), *rules, target="tensorflow==1.15.5") != []
    assert [name for name in calls(story(SESSION)) if "seed" in name] == [
        "numpy.random.seed",
        "tensorflow.random.set_random_seed",
    ]
