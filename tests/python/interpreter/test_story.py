"""What the interpreter tells: order, names, values, conditions, the command line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.catalogue import load
from d9mlint.model import UsageError
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.conditions import both
from d9mlint.python.domain.events import Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import Const, FlagValue, Phi
from d9mlint.python.judging.judge import interpret
from d9mlint.python.judging.wording import describe
from d9mlint.python.project.files import Project

CATALOGUE = load()
TARGET = newest_target(["tensorflow==2.9.1"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)


def story(files: dict[str, str] | str, argv: list[str] | None = None) -> Story:
    texts = {"train.py": files} if isinstance(files, str) else files
    data = {name: text.encode() for name, text in texts.items()}
    return interpret(Project(data.get), "train.py", ("", "src"), KNOWLEDGE, TARGET, argv)


def calls(told: Story, *, certain: bool = True) -> list[str]:
    return [e.name for e in told.events if e.kind == "call" and (e.certain or not certain) and "builtins" not in e.name]


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nnp.random.seed(1)",
        "from numpy import random as r\nr.seed(1)",
        "from numpy.random import seed as s\ns(1)",
        "import numpy.random\nnumpy.random.seed(1)",
        "import numpy as np\nf = np.random.seed\nf(1)",
        "import numpy as np\nfrom functools import partial\npartial(np.random.seed, 1)()",
        "import numpy as np\n(lambda s: np.random.seed(s))(1)",
        "import numpy as np\nfor g in [np.random.seed]:\n    g(1)",
        "import numpy as np\ngetattr(np.random, 'seed')(1)",
        "import importlib\nimportlib.import_module('numpy').random.seed(1)",
        "import numpy as np\nD = {'s': np.random.seed}\nD['s'](1)",
        "import numpy as np\nclass T:\n    def __init__(self, s=1):\n        self.s = s\n        self.go()\n"
        "    def go(self):\n        np.random.seed(self.s)\nT()",
        "import numpy as np\nclass A:\n    SEED = 1\n    @classmethod\n    def go(cls):\n        np.random.seed(cls.SEED)\nA.go()",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp.random.seed(1)",
    ],
)
def test_one_call_by_many_ways(text: str) -> None:
    seeds = [e for e in story(text).events if e.name == "numpy.random.seed" and e.kind == "call"]
    assert len(seeds) == 1
    assert isinstance(seeds[0].args[0], Const)
    assert seeds[0].args[0].value == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import tensorflow as tf\ntf.keras.layers.Dense(1)", "keras.layers.Dense"),
        ("from tensorflow import keras\nkeras.layers.Dense(1)", "keras.layers.Dense"),
        ("import keras\nkeras.layers.Dense(1)", "keras.layers.Dense"),
        ("import tf_keras\ntf_keras.layers.Dense(1)", "keras.layers.Dense"),
        ("import tensorflow.compat.v1 as tf\ntf.set_random_seed(1)", "tensorflow.random.set_random_seed"),
        ("import tensorflow as tf\nds = tf.data.Dataset.range(9).shuffle(3)", "tensorflow.data.Dataset.shuffle"),
    ],
)
def test_canonical_names(text: str, name: str) -> None:
    assert name in calls(story(text))


def test_modules_run_once_where_they_are_first_imported() -> None:
    told = story(
        {
            "train.py": "import random\nrandom.seed(1)\nfrom lib import data\nimport lib.data\ndata.go()\n",
            "lib/__init__.py": "",
            "lib/data.py": "import random\nrandom.random()\nfrom .more import f\ndef go():\n    f()\n",
            "lib/more.py": "import random\nf = random.shuffle\n",
        }
    )
    assert calls(told) == ["random.seed", "random.random", "random.shuffle"]
    assert [e.importing for e in told.events if e.kind == "call"] == [False, True, False]


def test_src_layout_and_missing_modules() -> None:
    told = story(
        {
            "train.py": "from pkg.a import go\nfrom nowhere import x\ngo(); x()\n",
            "src/pkg/a.py": "import random\ndef go(): random.seed(2)\n",
        }
    )
    assert calls(told) == ["random.seed", "nowhere.x"]


def test_folders_without_init() -> None:
    lib = {"utils/setup.py": "import random\ndef go():\n    random.seed(1)\n"}
    for text in (
        "from utils import setup\nsetup.go()",
        "import utils.setup\nutils.setup.go()",
        "from utils.setup import go\ngo()",
    ):
        assert calls(story({"train.py": text, **lib})) == ["random.seed"]
    inner = {
        "pkg/__init__.py": "",
        "pkg/main.py": "from .utils import setup\nsetup.go()",
        "pkg/utils/setup.py": lib["utils/setup.py"],
    }
    assert calls(story({"train.py": "import pkg.main", **inner})) == ["random.seed"]


@pytest.mark.parametrize("made", ["Munch({'seed': a.seed})", "Munch(seed=a.seed)"])
def test_flags_through_namespaces(made: str) -> None:
    text = f"import argparse, random\nfrom munch import Munch\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int)\na = p.parse_args()\nc = {made}\nif c.seed:\n    random.seed(c.seed)\n"
    event = next(e for e in story(text).events if e.name == "random.seed")
    assert describe(both(*event.guards)) == "--seed is given"


def test_flags_compared_with_numbers() -> None:
    text = "import argparse, random\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int, default=-1)\na = p.parse_args()\nif a.seed >= 0:\n    random.seed(a.seed)\n"
    event = next(e for e in story(text).events if e.name == "random.seed")
    assert describe(both(*event.guards)) == "--seed >= 0"
    assert "random.seed" in calls(story(text, ["--seed", "0"]))
    assert "random.seed" not in calls(story(text, []))


FLAGS = """
import argparse
import random
p = argparse.ArgumentParser()
p.add_argument("--seed", type=int)
p.add_argument("--fast", action="store_true")
a = p.parse_args()
value = 3
if a.fast:
    value = None
if a.seed is not None and not a.fast:
    random.seed(a.seed)
elif a.fast:
    random.random()
random.getstate(value)
"""


def test_flags_stay_symbolic() -> None:
    events = {e.name: e for e in story(FLAGS).events if e.kind == "call" and e.name.startswith("random.")}
    assert isinstance(events["random.seed"].args[0], FlagValue)
    assert describe(both(*events["random.seed"].guards)) == "--fast is not given and --seed is given"
    assert describe(both(*events["random.random"].guards)) == "--fast is given"
    assert isinstance(events["random.getstate"].args[0], Phi)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--seed", "4"], ["random.seed", "random.getstate"]),
        (["--fast"], ["random.random", "random.getstate"]),
        ([], ["random.getstate"]),
    ],
)
def test_arguments_decide_branches(argv: list[str], expected: list[str]) -> None:
    assert [n for n in calls(story(FLAGS, argv)) if n.startswith("random.")] == expected


def test_arguments_that_the_program_does_not_have() -> None:
    with pytest.raises(UsageError, match=r"no argument --sed .*knows: --fast, --seed"):
        story(FLAGS.replace("add_argument", "add_argument"), ["--sed", "4"])


def test_absl_and_click_flags() -> None:
    absl = "import random\nfrom absl import app, flags\nF = flags.FLAGS\nflags.DEFINE_integer('seed', None, '')\ndef main(_):\n    if F.seed is not None:\n        random.seed(F.seed)\napp.run(main)\n"
    click = "import click\nimport random\n@click.command()\n@click.option('--seed', type=int)\ndef main(seed):\n    if seed is not None:\n        random.seed(seed)\nmain()\n"
    for text in (absl, click):
        event = next(e for e in story(text).events if e.name == "random.seed")
        assert describe(both(*event.guards)) == "--seed is given"
        assert "random.seed" in calls(story(text, ["--seed", "3"]))
        assert "random.seed" not in calls(story(text, []))


def test_early_exits_and_unknown_conditions() -> None:
    told = story(
        "import random, sys, os\ndef f(x):\n    if x: return\n    random.seed(1)\nf(os.path.exists('a'))\nif len(sys.argv) > 3:\n    sys.exit()\nrandom.random()\n"
    )
    events = {e.name: e for e in told.events if e.kind == "call"}
    assert events["random.seed"].guards
    assert not events["random.random"].guards


def test_nobody_calls_it() -> None:
    told = story("import random\ndef never():\n    random.seed(1)\nrandom.random()\n")
    assert [(e.name, e.detached) for e in told.events if e.kind == "call"] == [
        ("random.random", False),
        ("random.seed", True),
    ]


def test_unit_tests_are_not_told() -> None:
    text = "import random\nimport unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        random.seed()\nclass C:\n    def go(self):\n        random.random()\n"
    assert calls(story(text), certain=False) == ["random.random"]


def test_recursion_and_loops_of_imports_end() -> None:
    told = story(
        {
            "train.py": "import a\ndef f(n): return f(n - 1)\nf(3)\nwhile True:\n    f(2)\n",
            "a.py": "import b\n",
            "b.py": "import a\nimport random\nrandom.seed(1)\n",
        }
    )
    assert calls(told) == ["random.seed"]


STATEMENTS = st.sampled_from(
    [
        "x = random.random()", "if x: y = 1", "for i in range(3):\n    x = [i, *y]", "def f(a, *b, c=1, **d):\n    return a or b",
        "with open('f') as g:\n    x = g", "x, y = y, x", "try:\n    f(1)\nexcept ValueError as e:\n    raise", "class A(B):\n    x = 1",
        "print(f'{x!r:>{y}}')", "y = {**x, 'a': 1}", "x = [i for i in y if i for j in i]", "lambda *a: a", "x[1:2, ...] = y[0]",
        "assert x, y", "del x", "global z", "x: int = 1", "match x:\n    case 1: y = 2\n    case _: y = 3", "while x:\n    break", "x += y",
    ]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(STATEMENTS, max_size=8))
def test_any_program_can_be_told(lines: list[str]) -> None:
    told = story("import random\n" + "\n".join(lines) + "\n")
    assert not told.unchecked


TABLE = """
import argparse
import numpy as np

def a():
    np.random.rand(1)

def b():
    np.random.rand(2)

parser = argparse.ArgumentParser()
parser.add_argument("--name", default="a")
args = parser.parse_args()
{}
"""


def test_a_flag_picks_a_function_out_of_a_table() -> None:
    told = story(TABLE.format("T = {'a': a, 'b': b}\nT[args.name]()"))
    drawn = [
        (e.location.line, [describe(one) for one in e.guards]) for e in told.events if e.name == "numpy.random.rand"
    ]
    assert [line for line, _ in drawn] == [6, 9]
    assert [len(guards) for _, guards in drawn] == [1, 1]
    assert (
        calls(story(TABLE.format("T = {'a': a, 'b': b}\nT[args.name]()"), ["--name", "b"])).count("numpy.random.rand")
        == 1
    )


@pytest.mark.parametrize(("table", "more"), [("{'a': a, 'b': 3}", False), ("{'a': a, 'b': b, **more}", True)])
def test_a_table_may_hold_more_than_functions_and_more_than_is_seen(table: str, more: bool) -> None:
    told = story(TABLE.format(f"T = {table}\nT[args.name]()"))
    drawn = [e for e in told.events if e.name == "numpy.random.rand" and not e.detached]
    assert [describe(one) for one in drawn[0].guards] == ["--name is a (the default)"]
    assert told.unresolved is more


@pytest.mark.parametrize(
    "body",
    [
        "    n = 0\n    while True:\n        n += 1\n        if n % 4 == 0:\n            random.random()\n",
        "    n = 0\n    for x in data():\n        n = n + 1\n        if n > 40:\n            random.random()\n",
        "    n = 0\n    for x in data():\n        if x:\n            for y in x:\n                n += 1\n        if n == 2:\n            random.random()\n",
        "    for x in data():\n        me.n += 1\n        if me.n % 2 == 0:\n            random.random()\n",
    ],
)
def test_what_only_a_later_turn_of_a_loop_does_happens(body: str) -> None:
    text = f"import random\nfrom outside import data\nclass Me:\n    def __init__(self):\n        self.n = 0\ndef run(me):\n{body}run(Me())\n"
    assert [n for n in calls(story(text), certain=False) if n.startswith("random.")] == ["random.random"]


def test_turns_that_are_told_one_by_one_count_exactly() -> None:
    text = "import random\nn = 0\nfor x in (1, 2, 3):\n    n += 1\n    if n == 3:\n        random.seed(n)\n    if n == 7:\n        random.random()\n"
    assert [n for n in calls(story(text), certain=False) if n.startswith("random.")] == ["random.seed"]


@pytest.mark.parametrize("base", ["", "(object)", "(torch.nn.Module)"])
def test_a_class_that_is_made_with_too_few_arguments_runs_no_further(base: str) -> None:
    text = (
        f"import random\nimport torch\nclass A{base}:\n    def __init__(self, session, size):\n        self.size = size\n"
        "    def go(self):\n        random.seed(self.size)\nA({}).go()\n"
    )
    assert "random.seed" not in calls(story(text.format("3")))
    assert "random.seed" in calls(story(text.format("None, 3")))


def test_a_function_that_takes_the_name_of_what_it_is_made_around() -> None:
    text = (
        "import random\ndef timed(fn):\n    def fn():\n        return random.random()\n    return fn\ntimed(print)()\n"
    )
    assert "random.random" in calls(story(text))
