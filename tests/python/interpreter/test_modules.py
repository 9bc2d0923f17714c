"""Modules whose names are put together at run time, and classes that are taken out of them by a test."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import UNKNOWN, Const, Text
from d9mlint.python.interpreter.library import modules
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project
from d9mlint.python.source.reading import MAX_BYTES, content_reader, text_reader

CATALOGUE = load()
TARGET = newest_target(["torch==2.9.1"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET, CATALOGUE.ops)
PLAIN = "import random\nfrom models.base import Base\n\n\nclass Plain(Base):\n    def run(self):\n        pass\n"
NOISY = PLAIN.replace("Plain", "NoisyNet").replace("pass", "print(random.random())")
MODELS = {
    "models/__init__.py": "",
    "models/base.py": "class Base:\n    def run(self):\n        raise NotImplementedError\n",
}
MODELS |= {"models/plain_model.py": PLAIN, "models/noisy_net_model.py": NOISY}
HEAD = """import argparse
import importlib
import inspect
import models
from models.base import Base

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="plain")
args = parser.parse_args()
"""


def found(text: str, files: dict[str, str] = MODELS) -> list[Finding]:
    data = {name: content.encode() for name, content in {**files, "train.py": HEAD + text}.items()}
    told = judge(
        Project(text_reader(data)), "train.py", ("", "src"), [CATALOGUE.rules["unseeded-python"]], KNOWLEDGE, TARGET
    )  # fmt: skip
    assert told.unchecked == ()
    return [one for one in told.findings if one.confidence != "low"]


@pytest.mark.parametrize(
    "name", ['f"models.{args.model}_model"', '"models." + args.model + "_model"', '"models.{}_model".format(args.model)',
             '"models.%s_model" % args.model', '"." + args.model + "_model", package="models"',
             '"." + args.model + "_model", "models"'],
)  # fmt: skip
@pytest.mark.parametrize(
    "pick",
    [
        """chosen = None
for name, cls in module.__dict__.items():
    if name.lower() == args.model.replace("_", "").lower() and issubclass(cls, Base):
        chosen = cls
chosen().run()""",
        """for name, cls in vars(module).items():
    if inspect.isclass(cls) and issubclass(cls, Base) and cls is not Base:
        cls().run()""",
        """for name, cls in inspect.getmembers(module, inspect.isclass):
    if issubclass(cls, Base) and cls.__module__ == module.__name__:
        cls().run()""",
        """def pick():
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__name__.lower() == args.model.replace("_", ""):
            return cls
pick()().run()""",
        "getattr(module, args.model.title().replace('_', ''))().run()",
    ],
)
def test_a_class_is_taken_out_of_a_module_by_a_test_of_its_name(name: str, pick: str) -> None:
    (one,) = found(f"module = importlib.import_module({name})\n{pick}\n")
    assert (one.rule, one.location.path, one.when) == (
        "unseeded-python",
        "models/noisy_net_model.py",
        ("--model is noisy_net",),
    )


def test_with_another_name_the_program_ends() -> None:
    text = 'module = importlib.import_module(f"models.{args.model}_model")\nimport random\nprint(random.random())\n'
    assert [one.when for one in found(text)] == [()]


def test_a_name_that_is_no_flag_has_its_own_words() -> None:
    text = """import yaml
config = yaml.safe_load(open("c.yaml"))
module = importlib.import_module("models." + config["net"] + "_model")
for name, cls in inspect.getmembers(module, inspect.isclass):
    if issubclass(cls, Base):
        cls().run()
"""
    (one,) = found(text)
    assert (one.location.path, one.confidence) == ("models/noisy_net_model.py", "high")


def test_all_modules_of_a_package_fill_a_table() -> None:
    text = """import pkgutil
TABLE = {}
for _, name, _ in pkgutil.iter_modules(models.__path__):
    module = importlib.import_module(f"models.{name}")
    TABLE.update({name: cls for name, cls in inspect.getmembers(module, inspect.isclass) if issubclass(cls, Base)})
TABLE[args.model]().run()
"""
    assert [one.location.path for one in found(text)] == ["models/noisy_net_model.py"]


def test_a_module_two_levels_down() -> None:
    files = {f"algos/{name}/{name}.py": "import random\n\ndef main():\n    print(random.random())\n" for name in "ab"}
    text = 'importlib.import_module(f"algos.{args.model}.{args.model}").main()\n'
    (one, other) = found(text, {**MODELS, **files})
    assert (one.when, other.when) == (("--model is a",), ("--model is b",))


def test_a_name_of_several_parts_is_that_which_flags_are_left_at() -> None:
    kinds = HEAD + 'parser.add_argument("--kind", default="small")\nargs = parser.parse_args()\n'
    text = kinds.removeprefix(HEAD) + 'importlib.import_module(f"nets.{args.kind}.{args.model}").Net().run()\n'
    plain, noisy = (one.replace("Plain", "Net").replace("NoisyNet", "Net") for one in (PLAIN, NOISY))
    files = {f"nets/{kind}/{name}.py": plain for kind in ("small", "large") for name in ("plain", "other")}
    assert found(text, {**MODELS, **files}) == []
    (left,) = found(text, {**MODELS, **files, "nets/small/plain.py": noisy})
    assert left.location.path == "nets/small/plain.py" and left.when == (
        "the module is nets.small.plain (the default)",
    )
    (asked,) = found(text, {**MODELS, **files, "nets/large/plain.py": noisy})
    assert asked.location.path == "nets/large/plain.py" and asked.when == ("the module is nets.large.plain",)


def test_nine_modules_by_a_joined_name_or_another_package_that_is_not_there() -> None:
    text = """def module_of(name, part=None):
    part = part or name
    try:
        found = importlib.import_module(".".join(["algos", name, part]))
    except ImportError:
        found = importlib.import_module(".".join(["own_" + "algos", name, part]))
    return found

module_of(args.model).main()
"""
    run = "import random\n\ndef main():\n    print(random.random())\n"
    names = "abcdefghi"
    got = found(text, {**MODELS, **{f"algos/{name}/{name}.py": run for name in names}})
    assert [one.location.path for one in got] == [f"algos/{name}/{name}.py" for name in names]


def test_a_folder_is_listed_below_the_top_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("top")
    (top / "inner" / "deep").mkdir(parents=True)
    for name in ("b.py", "a.py", "notes.txt", "not-a-module.py"):
        (top / "inner" / name).write_text("")
    read = content_reader(top / "inner", top)
    assert (read("inner/"), read("./"), read("missing/")) == (b"a\nb\ndeep", None, None)


QUIET = "def make():\n    return 1\n"
DRAWS = "import random\n\n\ndef make():\n    print(random.random())\n"
ANY = {"src/quiet.py": QUIET, "src/loud.py": DRAWS, "src/other.py": DRAWS.replace("make", "build")}
ANY["src/script.py"] = DRAWS + '\n\nif __name__ == "__main__":\n    make()\n'
LISTED = "import os\nmodule = importlib.import_module(sorted(os.listdir('log'))[0].split('.')[0])\n"


def test_a_module_of_any_name_is_one_of_those_that_define_what_is_taken_out_of_it() -> None:
    (one,) = found(f"{LISTED}module.make()\n", ANY)
    assert (one.location.path, one.when) == ("src/loud.py", ("the module is loud",))


def test_scripts_and_modules_without_the_name_are_left_out() -> None:
    others = {name: text for name, text in ANY.items() if name != "src/loud.py"}
    assert found(f"{LISTED}module.make()\n", others) == []
    own_flags = "import argparse\nFLAGS = argparse.ArgumentParser().parse_args()\n" + DRAWS + "\n\nmake()\n"
    assert found(f"{LISTED}module.make()\n", {**others, "src/alone.py": own_flags}) == []
    helper = DRAWS + "\n\ndef parse_args():\n    return None\n"
    assert len(found(f"{LISTED}module.make()\n", {**others, "src/alone.py": helper})) == 1


def test_a_module_that_cannot_be_read_is_left_out(tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("top")
    for name, text in {"train.py": f"import importlib\n{LISTED}module.make()\n", "loud.py": DRAWS}.items():
        (top / name).write_text(text)
    (top / "data.py").write_bytes(b"x = 1\n" * (MAX_BYTES // 6 + 1))
    rules = [CATALOGUE.rules["unseeded-python"]]
    told = judge(Project(content_reader(top, top)), "train.py", ("",), rules, KNOWLEDGE, TARGET)
    assert (told.unchecked, [one.location.path for one in told.findings]) == ((), ["loud.py"])


def test_a_module_that_holds_all_names_may_stand_in_a_package() -> None:
    """`variants.py` has one of the two names that are taken out of the same module, and stands nearer."""
    draws = "import random\n\n\ndef work(number):\n    if number is None:\n        print(random.random())\n"
    settings = "\n\ndef settings():\n    return {}\n"
    files = {"variants.py": settings.format("None"), "runs/__init__.py": "", "runs/first/__init__.py": draws}
    text = "made = importlib.import_module(input())\nmade.work(made.settings())\n"
    files["runs/first/__init__.py"] = draws + settings.format(None)
    (one,) = found(text, files)
    assert (one.location.path, one.when) == ("runs/first/__init__.py", ("the module is runs.first",))
    files["runs/first/__init__.py"] = draws + settings.format(3)
    assert found(text, files) == []


def test_a_flag_that_names_a_module_has_others_than_its_default() -> None:
    text = "module = importlib.import_module(args.model)\nmodule.make()\n"
    files = {name.replace("quiet", "plain"): content for name, content in ANY.items()}
    (one,) = found(text, files)
    assert (one.location.path, one.when) == ("src/loud.py", ("--model is loud",))


def test_other_modules_than_a_default_in_a_package_stand_beside_it() -> None:
    files = {"nets/__init__.py": "", "nets/plain.py": QUIET, "nets/loud.py": DRAWS, "src/aside.py": DRAWS}
    flag = "parser.add_argument('--net', default='nets.plain')\nargs = parser.parse_args()\n"
    (one,) = found(f"{flag}importlib.import_module(args.net).make()\n", files)
    assert (one.location.path, one.when) == ("nets/loud.py", ("--net is nets.loud",))


def test_of_many_modules_some_are_named() -> None:
    names = [f"network_with_a_long_name_of_its_own_{number}" for number in range(5)]
    shared = {"src/shared.py": "import random\n\n\ndef draw():\n    print(random.random())\n", "src/quiet.py": QUIET}
    files = shared | {f"src/{name}.py": "from shared import draw\n\n\ndef make():\n    draw()\n" for name in names}
    (one,) = found(f"{LISTED}module.make()\n", files)
    assert one.when == (f"the module is {names[0]}, {names[1]} or 3 more",)


@pytest.mark.parametrize("name", ["a", "m5", "zz"])
def test_of_more_modules_than_are_followed_those_that_draw_are(name: str) -> None:
    """Wherever they stand: the others do what one of them does."""
    package = {"models/__init__.py": "", "models/base.py": MODELS["models/base.py"]}
    package |= {f"models/m{at}.py": PLAIN.replace("Plain", "Model") for at in range(40) if f"m{at}" != name}
    package[f"models/{name}.py"] = NOISY.replace("NoisyNet", "Model").replace("random.random()", "random.gauss(0, 1)")
    (one,) = found('importlib.import_module("models." + args.model).Model().run()\n', package)
    assert (one.location.path, one.when) == (f"models/{name}.py", (f"--model is {name}",))


def test_a_package_that_imports_its_files_one_by_one_chooses_among_what_they_define() -> None:
    init = """import importlib
import os
from tools import named

here = os.path.dirname(os.path.abspath(__file__))
names = [os.path.splitext(one)[0] for one in os.listdir(here) if one.endswith("_model.py")]
modules = [importlib.import_module(f"models.{name}") for name in names]


def create(options):
    for module in modules:
        cls = getattr(module, options["kind"], None)
        if cls is not None:
            break
    return cls(options)
"""
    model = "import random\nfrom tools import named\n\n\nclass Noisy:\n    def __init__(self, options):\n        named(options)\n"
    files = {
        "models/__init__.py": init,
        "models/noisy_model.py": f"{model}\n    def train(self):\n        print(random.random())\n",
        "models/parts/__init__.py": "def build(options):\n    return options\n",
        "tools.py": "import os\n\n\ndef named(options):\n    return os.listdir(options)\n",
    }
    text = "import yaml\nfrom models import create\n\ncreate(yaml.safe_load(open('a.yaml'))).train()\n"
    (one,) = found(text, files)
    assert (one.location.path, one.when) == ("models/noisy_model.py", ())


SCANNED = """import os

def paths():
    found = {}
    for name in os.listdir("models"):
        if name.endswith(".py"):
            stem = name[:-3]
            found[stem] = f"models.{stem}"
    return found

class Lazy(dict):
    def __init__(self, paths):
        self.paths = paths
        super().__init__()
    def __getitem__(self, key):
        module = importlib.import_module(self.paths[key])
        self[key] = module.Model
        return module.Model

Lazy(paths())[args.net]().run()
"""


@pytest.mark.parametrize(("others", "default"), [(2, "m1"), (2, "noisy"), (40, "m7"), (40, "noisy")])
def test_a_table_of_paths_made_from_a_listing(others: int, default: str) -> None:
    """Of more modules than are followed that of the default is one, and the rest is told."""
    package = {"models/__init__.py": "", "models/base.py": MODELS["models/base.py"]}
    package |= {f"models/m{at}.py": PLAIN.replace("Plain", "Model") for at in range(others)}
    package["models/noisy.py"] = NOISY.replace("NoisyNet", "Model")
    head = f'parser.add_argument("--net", default="{default}")\nargs = parser.parse_args()\n'
    whens = [one.when for one in found(head + SCANNED, package)]
    expected = (
        [("--net is noisy (the default)",)] if default == "noisy" else [("--net is noisy",)] if others == 2 else []
    )
    assert whens == expected


def test_a_name_in_parts_that_are_all_known_has_no_hole() -> None:
    project = Project(text_reader({"players/agent.py": "", "players/__init__.py": "", "play.py": ""}))
    interp = SimpleNamespace(project=project, roots=("",))
    event = SimpleNamespace(func=None, args=[], kwargs={}, argument=lambda _: None)
    frame = SimpleNamespace(module=SimpleNamespace(path="play.py"))
    name = Text((Const("players."), Const("agent")), UNKNOWN)
    assert [*modules._fitting(interp, event, name, frame)] == [("players.agent", "players.agent")]  # type: ignore[arg-type]
