"""What is found by a name that is only known at run time: each candidate is followed under its name."""

from __future__ import annotations

import pytest

from tests.python.interpreter.test_story import calls, story
from tests.python.judging.test_causes import found

TWO = """import argparse
import sys
import numpy as np
import random

class A:
    def __init__(self, size):
        np.random.rand(size)

class B:
    def __init__(self, size):
        random.random()

def _hidden(size):
    np.random.permutation(size)

parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="A")
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    "text",
    [
        "globals()[args.kind](3)",
        "getattr(sys.modules[__name__], args.kind)(3)",
        "TABLE = {'A': A, 'B': B}\nTABLE[args.kind](3)",
        "TABLE = {}\nTABLE['A'] = A\nTABLE['B'] = B\nTABLE[args.kind](3)",
        """TABLE = {}
def register(name):
    def keep(cls):
        TABLE[name] = cls
        return cls
    return keep
register("A")(A)
register("B")(B)
TABLE[args.kind](3)""",
        "TABLE = {}\nfor cls in (A, B):\n    TABLE.setdefault(cls.__name__, cls)\nTABLE[args.kind](3)",
        """TABLE = {}
def register(cls):
    TABLE[cls.__name__] = cls
    return cls
register(A)
register(B)
TABLE[args.kind](3)""",
        """TABLE = {}
def register(make):
    TABLE[make.__name__] = make
register(lambda: 0)
def keep(make):
    TABLE[make.__name__[5:]] = make
def make_A(size):
    return A(size)
def make_B(size):
    return B(size)
keep(make_A)
keep(make_B)
TABLE[args.kind](3)""",
        "TABLE = {cls.__name__: cls for cls in (A, B)}\nTABLE[args.kind](3)",
        "TABLE = dict(zip(['A', 'B'], [A, B]))\nTABLE[args.kind](3)",
        "from collections import OrderedDict\nTABLE = OrderedDict([('A', A), ('B', B)])\nTABLE[args.kind](3)",
        "next(cls for cls in (A, B) if cls.__name__ == args.kind)(3)",
    ],
)
def test_a_flag_chooses(text: str) -> None:
    whens = {one.rule: one.when for one in found(TWO + text + "\n", "unseeded-numpy", "unseeded-python")}
    assert whens == {"unseeded-numpy": ("--kind is A (the default)",), "unseeded-python": ("--kind is B",)}


def test_a_table_may_be_asked_for_what_it_has_not() -> None:
    text = TWO + "{'B': B}.get(args.kind, A)(3)\n"
    whens = {one.rule: one.when for one in found(text, "unseeded-numpy", "unseeded-python")}
    assert whens == {"unseeded-numpy": ("--kind is not B",), "unseeded-python": ("--kind is B",)}


def test_a_switch_picks_one_of_two() -> None:
    text = TWO.replace('"--kind", default="A"', '"--kind", action="store_true"') + "(B, A)[args.kind](3)\n"
    whens = {one.rule: one.when for one in found(text, "unseeded-numpy", "unseeded-python")}
    assert whens == {"unseeded-numpy": ("--kind is given",), "unseeded-python": ("--kind is not given",)}


def test_properties_that_can_be_set() -> None:
    """What gives one is not what sets it, and setting one runs what does."""
    text = """import random
import numpy as np
class Rate:
    def __init__(self):
        self._value = 1
    @property
    def value(self):
        return np.random.rand(self._value)
    @value.setter
    def value(self, given):
        self._value = random.random()
rate = Rate()
rate.value = 3
print(rate.value)
"""
    assert {one.rule for one in found(text, "unseeded-numpy", "unseeded-python")} == {
        "unseeded-numpy",
        "unseeded-python",
    }


def test_a_key_that_is_no_flag_has_its_own_words() -> None:
    text = TWO + "import yaml\ncfg = yaml.safe_load(open('c.yaml'))\nTABLE = {'A': A, 'B': B}\nTABLE[cfg['kind']](3)\n"
    whens = {one.rule: one.when for one in found(text, "unseeded-numpy", "unseeded-python")}
    assert whens == {"unseeded-numpy": ("cfg['kind'] is A",), "unseeded-python": ("cfg['kind'] is B",)}


def test_a_function_that_looks_others_up_looks_up_none_that_is_running() -> None:
    """With sixteen others it would be one too many."""
    many = "".join(f"def make{i}(name, n):\n    np.random.rand({i})\n" for i in range(16))
    looks = (
        "def load(names, n):\n    for name in names:\n        getattr(sys.modules[__name__], name.lower())(name, n)\n"
    )
    told = story(f"import numpy as np\nimport sys\n{many}{looks}load(open(sys.argv[1]), 3)\n")
    assert calls(told).count("numpy.random.rand") == 16


def test_what_cannot_be_called_so_is_no_candidate() -> None:
    assert [name for name in calls(story(TWO + "globals()[args.kind]()\n")) if "random" in name] == []


def test_too_many_candidates_are_told_as_not_followed() -> None:
    many = "".join(f"def f{i}():\n    np.random.rand({i})\n" for i in range(20))
    told = story("import numpy as np\nimport sys\n" + many + "globals()[sys.argv[1]]()\n")
    assert told.coverage is not None
    assert told.unresolved


def test_of_a_large_table_some_of_each_file_are_followed_and_stand_for_the_rest() -> None:
    nets = "".join(f"def net{i}(n):\n    return np.random.rand(n)\n" for i in range(20))
    others = "".join(f"def other{i}(n):\n    return random.random()\n" for i in range(20))
    files = {
        "nets.py": "import numpy as np\n" + nets, "others.py": "import random\n" + others,
        "train.py": (
            "import argparse\nimport nets\nimport others\nTABLE = {}\n"
            + "".join(f"TABLE['n{i}'] = nets.net{i}\nTABLE['o{i}'] = others.other{i}\n" for i in range(20))
            + "p = argparse.ArgumentParser()\np.add_argument('--net', required=True)\n"
            "print(TABLE[p.parse_args().net](3))\n"
        ),
    }  # fmt: skip
    told = story(files)
    drawn = [name for name in calls(told) if name.startswith(("numpy.random", "random"))]
    assert (drawn.count("numpy.random.rand"), drawn.count("random.random")) == (8, 8)
    assert not told.unresolved


def test_of_class_methods_of_a_large_table_some_of_each_file_are_followed() -> None:
    base = "class Base:\n    @classmethod\n    def from_config(cls, config):\n        return cls()\n"
    nets = {
        f"nets{file}.py": "import random\nfrom base import Base\n"
        + "".join(f"class Net{file}{i}(Base):\n    def __init__(self):\n        random.random()\n" for i in range(10))
        for file in "ab"
    }
    table = "".join(f"import nets{file}\n" for file in "ab")
    table += "".join(f"TABLE['{file}{i}'] = nets{file}.Net{file}{i}\n" for file in "ab" for i in range(10))
    train = f"import json\nTABLE = {{}}\n{table}name = json.load(open('c.json'))\nTABLE.get(name).from_config(3)\n"
    told = story({"base.py": base, "train.py": train, **nets})
    assert [name for name in calls(told) if name.startswith("random")] == ["random.random"] * 16


def test_of_a_table_of_many_files_that_of_the_default_is_followed() -> None:
    files = {f"net{i}.py": f"import random\ndef make(n):\n    return random.{'random' if i != 19 else 'gauss'}()\n"
             for i in range(20)}  # fmt: skip
    table = "".join(f"import net{i}\nTABLE['n{i}'] = net{i}.make\n" for i in range(20))
    files["train.py"] = (
        "import argparse\nTABLE = {}\n" + table + "p = argparse.ArgumentParser()\n"
        "p.add_argument('--net', default='n19')\nprint(TABLE[p.parse_args().net](3))\n"
    )
    told = story(files)
    drawn = [name for name in calls(told) if name.startswith("random")]
    assert (drawn.count("random.gauss"), drawn.count("random.random")) == (1, 15)
    assert told.unresolved  # (the other four)
    files["train.py"] = files["train.py"].replace("default='n19'", "required=True")
    assert not any(name.startswith("random") for name in calls(story(files)))


NETS = {
    "nets/__init__.py": "", "nets/one.py": "import numpy as np\nclass Model:\n    def __init__(self):\n        np.random.rand()\n",
    "nets/two.py": "import random\nclass Model:\n    def __init__(self):\n        random.random()\n",
}  # fmt: skip
OF_MODULES = """import argparse
from nets import one, two
parser = argparse.ArgumentParser()
parser.add_argument("--model", type=str, required=True)

class Experiment:
    def __init__(self, args):
        self.args = args
        self.models = {"One": one, "Two": two}
        self.model = self.build()

    def build(self):
        return self.models[self.args.model].Model()

Experiment(parser.parse_args())
"""


def test_a_flag_chooses_a_module() -> None:
    files = {**NETS, "train.py": OF_MODULES}
    whens = {one.rule: one.when for one in found(OF_MODULES, "unseeded-numpy", "unseeded-python", files=NETS)}
    assert whens == {"unseeded-numpy": ("--model is One",), "unseeded-python": ("--model is Two",)}
    files["train.py"] = files["train.py"].replace("self.args.model", "self.args")  # (by a key that is no flag)
    assert {"numpy.random.rand", "random.random"} <= set(calls(story(files)))


def test_of_a_table_of_many_modules_some_are_followed() -> None:
    nets = {
        f"net{i}.py": "import random\nclass Model:\n    def __init__(self):\n        random.random()\n"
        for i in range(20)
    }
    table = "".join(f"import net{i}\nTABLE['n{i}'] = net{i}\n" for i in range(20))
    text = (
        "import argparse\nTABLE = {}\n" + table + "p = argparse.ArgumentParser()\n"
        "p.add_argument('--net', required=True)\nTABLE[p.parse_args().net].Model()\n"
    )
    told = story({**nets, "train.py": text})
    assert [name for name in calls(told) if name.startswith("random")] == ["random.random"] * 16
    assert told.unresolved  # (the other four)


def test_names_that_stars_bring() -> None:
    text = "from keras.models import *\nfrom keras.layers import *\nmodel = Model(Input((3,)), ZeroPadding2D())\n"
    told = calls(story(text))
    assert told == ["keras.layers.Input", "keras.layers.ZeroPadding2D", "keras.Model"]
    assert story("from keras.layers import *\nfrom mine import *\nOwn()\n").unresolved


def test_names_of_stars_go_on_through_modules() -> None:
    told = story({"train.py": "from base import *\nZeroPadding2D()\n", "base.py": "from keras.layers import *\n"})
    assert "keras.layers.ZeroPadding2D" in calls(told)


def test_a_method_that_is_bound_to_an_object_runs_when_it_is_called() -> None:
    text = "import numpy as np\nimport types\nclass A:\n    pass\ndef f(self):\n    return np.random.rand(3)\n"
    bound = text + "a = A()\na.f = types.MethodType(f, a)\n"
    assert "numpy.random.rand" not in [name for name in calls(story(bound)) if "random" in name]
    assert "numpy.random.rand" in calls(story(bound + "print(a.f())\n"))


def test_a_module_outside_the_program() -> None:
    text = """import argparse
import torch
import torchvision.models as models
parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="resnet18")
args = parser.parse_args()
model = models.__dict__[args.arch]().cuda()
model(torch.zeros(2, 3, 8, 8).cuda()).sum().backward()
"""
    for one in ("models.__dict__[args.arch]()", "getattr(models, args.arch)()", "vars(models)[args.arch]()"):
        (draw,) = found(text.replace("models.__dict__[args.arch]()", one), "unseeded-torch")
        assert draw.message.startswith("one of `torchvision.models`")


def test_a_default_that_names_a_module_and_a_class() -> None:
    text = """import argparse
import importlib
parser = argparse.ArgumentParser()
parser.add_argument("--draw", default="numpy.random.rand")
args = parser.parse_args()
module, name = args.draw.rsplit(".", 1)
getattr(importlib.import_module(module), name)(3)
"""
    (one,) = found(text, "unseeded-numpy")
    assert one.when == ("--draw is numpy.random.rand (the default)",)


def test_a_method_of_a_class_taken_by_name() -> None:
    text = (
        "import random\nimport sys\n\nclass Plain:\n    @classmethod\n    def create(cls):\n        return cls()\n\n"
        "class Noisy:\n    @classmethod\n    def create(cls):\n        print(random.random())\n        return cls()\n\n"
        "agent = globals()[sys.argv[1]].create()\n"
    )
    assert [one.location.line for one in found(text, "unseeded-python")] == [12]


def test_what_is_unpacked_goes_to_those_that_can_take_it() -> None:
    text = """import sys
import numpy as np
import settings

class Learner:
    def __init__(self, seed, size, rate=0.1):
        self.weights = np.random.rand(size)

def evaluate(learner, size):
    print(np.random.rand(size) @ learner)

agent = globals()[sys.argv[1]](1, 8, **settings.load())
"""
    assert [one.location.line for one in found(text, "unseeded-numpy")] == [7]
    alone = text.replace("rate=0.1", "").replace("size, )", "size)")
    assert [one.location.line for one in found(alone, "unseeded-numpy")] == [7, 10]  # none of them can


@pytest.mark.parametrize("default", ["one3", "one19", "none"])
def test_of_more_than_are_followed_the_default_is(default: str) -> None:
    many = "".join(f"def one{at}():\n    return {'Drawing' if at % 2 else 'Calm'}({at})\n\n" for at in range(20))
    text = f"""import argparse
import numpy as np

class Drawing:
    def __init__(self, size):
        self.size = size

    def go(self):
        return np.random.rand(self.size)

class Calm(Drawing):
    def go(self):
        return self.size

{many}
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="{default}")
print(globals()[parser.parse_args().kind]().go())
"""
    whens = [when for one in found(text, "unseeded-numpy") for when in one.when]
    assert [default in when and when.endswith("(the default)") for when in whens] == [True] * (default != "none")


def test_a_name_with_a_known_part_is_that_of_the_members_it_fits() -> None:
    text = TWO + "def _kind_A(x):\n    return np.random.rand()\ndef _kind_B(x):\n    return random.random()\n"
    text += "globals()['_kind_' + args.kind](3)\n"
    whens = {one.rule: (one.location.line, one.when) for one in found(text, "unseeded-numpy", "unseeded-python")}
    assert whens == {
        "unseeded-numpy": (21, ("--kind is A (the default)",)),
        "unseeded-python": (23, ("--kind is B",)),
    }


CHOSEN = """import inspect
import random
import sys

class Base:
    NAME = ""

class Plain(Base):
    NAME = "plain"

class Strong(Base):
    NAME = "strong"
    def __init__(self):
        random.random()

class Other:
    def __init__(self):
        random.shuffle([1, 2])

def chosen(wanted, more=None):
    for one in THINGS:
        if inspect.isclass(one) and issubclass(one, Base) and one.NAME == wanted:
            return one

chosen(sys.argv[1])()
"""


@pytest.mark.parametrize("things", ["globals().values()", "list(globals().values()) + (more or [])"])
def test_a_class_that_a_module_is_searched_for_is_followed(things: str) -> None:
    told = story(CHOSEN.replace("THINGS", things))
    drawn = [e.name for e in told.events if e.name.startswith("random.") and not e.detached]
    assert drawn == ["random.random"]
