"""The seed that a program has already: seeds are set to it where it is known, another number in each process."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.app import Options
from d9mlint.app.fixing import patches
from d9mlint.fix import edited
from d9mlint.fix.own import seeds, where
from d9mlint.fix.patches import Files, plan
from d9mlint.model import Edit, Finding, Location

PARSER = "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n"
NET = "print(torch.rand(3))\n"


def cured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, *, unsafe: bool = True, target: tuple[str, ...] = ()
) -> str:
    """The script with its patch, which must have removed all warnings."""
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = Options(paths=(Path("train.py"),), jobs=1, cache=False, unsafe_fixes=unsafe, target=target)
    found = patches(options)
    assert [one.rule for one in found.before.findings], "nothing to cure"
    assert not found.cure.left
    done = found.cure.sources["train.py"].decode()
    ast.parse(done)
    (tmp_path / "train.py").write_text(done, encoding="utf-8")
    assert not patches(options).before.findings
    return done


ESTIMATOR = """import argparse

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({rows}, [[2.0]] * 4)).shuffle(10).batch(1)


def main(args):
    {made}
    estimator.train(input_fn, steps=10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    main(parser.parse_args())
"""
PLAIN = "[[1.0]] * 4"


@pytest.mark.parametrize(
    ("rows", "made", "wanted"),
    [
        (PLAIN, "config = tf.estimator.RunConfig(model_dir='m')\n    estimator = tf.estimator.Estimator(model_fn, config=config)",
         ["tf.estimator.RunConfig(model_dir='m', tf_random_seed=args.seed)"]),
        (PLAIN, "estimator = tf.estimator.Estimator(model_fn)",
         ["tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(tf_random_seed=args.seed))"]),
        ("np.random.rand(4, 1)", "estimator = tf.estimator.Estimator(model_fn)",
         ["    np.random.seed(args.seed)\n", "RunConfig(tf_random_seed=args.seed)"]),
        (PLAIN, "tf.set_random_seed(args.seed)\n    estimator = tf.estimator.Estimator(model_fn)",
         ["config=tf.estimator.RunConfig(tf_random_seed=args.seed))"]),
    ],
)  # fmt: skip
def test_an_estimator_is_seeded_by_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, made: str, wanted: list[str]
) -> None:
    (tmp_path / "train.py").write_text(ESTIMATOR.format(rows=rows, made=made), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = Options(paths=(Path("train.py"),), jobs=1, cache=False, target=("tensorflow==1.15.5",), device="cpu")
    done = patches(options).cure.sources["train.py"].decode()
    assert all(one in done for one in wanted), done
    (tmp_path / "train.py").write_text(done, encoding="utf-8")
    assert not [one for one in patches(options).before.findings if one.cause.startswith("unseeded")]


GRAPHS = """import numpy as np
import tensorflow as tf


class Model:
    def __init__(self):
        {made}
            w = tf.Variable(tf.truncated_normal([4, 1]))
            self.step = tf.train.AdamOptimizer().minimize(tf.reduce_sum(w * {rows}))


model = Model()
with tf.Session({given}) as session:
    session.run(model.step)
"""


@pytest.mark.parametrize(
    ("made", "rows", "wanted"),
    [
        ("self.graph = tf.Graph()\n        with self.graph.as_default():", "3.0", "call `tf.set_random_seed(1)` first"),
        ("self.graph = tf.Graph()\n        with self.graph.as_default():", "np.random.rand(4, 1)",
         "another graph, and `np.random.seed(1)` at the start of the program"),
    ],
)  # fmt: skip
def test_a_graph_of_its_own_is_seeded_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, rows: str, wanted: str
) -> None:
    text = GRAPHS.format(made=made, rows=rows, given="graph=model.graph")
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = Options(paths=(Path("train.py"),), jobs=1, cache=False, target=("tensorflow==1.15.5",), device="cpu")
    found = patches(options)
    assert any(wanted in one.remedy and "(line 8)" in one.remedy for one in found.before.findings)
    done = found.cure.sources["train.py"].decode()
    assert "as_default():\n            tf.set_random_seed(1)\n" in done, done
    (tmp_path / "train.py").write_text(done, encoding="utf-8")
    assert not [one for one in patches(options).before.findings if one.cause.startswith("unseeded")]


def test_no_seed_is_put_before_a_call_that_drops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GRAPHS.format(made="tf.reset_default_graph()\n        if True:", rows="3.0", given="")
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = Options(paths=(Path("train.py"),), jobs=1, cache=False, target=("tensorflow==1.15.5",), device="cpu")
    found = patches(options)
    assert any("after `tf.reset_default_graph()` (line 7)" in one.remedy for one in found.before.findings)
    assert "train.py" not in found.cure.sources


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        pytest.param(
            "import torch\nimport numpy as np\n\nSEED = 42\nnp.random.seed(SEED)\n" + NET,
            [("(SEED)\n", "(SEED)\ntorch.manual_seed(SEED)\n")], id="beside the seed of another generator"),
        pytest.param("import torch\n\nSEED = 42\n" + NET, [("42\n", "42\ntorch.manual_seed(SEED)\n")], id="constant"),
        pytest.param("import torch\n\nSEED = None\n" + NET,
                     [("None\n", "1\ntorch.manual_seed(SEED)\n")], id="constant that is None"),
        pytest.param(
            PARSER + 'parser.add_argument("--seed", type=int, default=None)\nargs = parser.parse_args()\n'
            "if args.seed is not None:\n    torch.manual_seed(args.seed)\n" + NET,
            [("default=None", "default=1")], id="flag that is None by default"),
        pytest.param(
            PARSER + "parser.add_argument('--manualSeed', type=int, help='manual seed')\nopt = parser.parse_args()\n"
            "import random\nif opt.manualSeed is None:\n    opt.manualSeed = random.randint(1, 10000)\n"
            "torch.manual_seed(opt.manualSeed)\n" + NET,
            [("help='manual seed')", "help='manual seed', default=1)"),
             ("torch.manual_seed(opt.manualSeed)\n",
              "torch.manual_seed(opt.manualSeed)\nrandom.seed(opt.manualSeed)\n")], id="flag that is drawn"),
        pytest.param(
            PARSER + 'parser.add_argument("--seed", type=int, default=3)\nargs, rest = parser.parse_known_args()\n' + NET,
            [("_known_args()\n", "_known_args()\ntorch.manual_seed(args.seed)\n")], id="flag that nothing reads"),
        pytest.param(
            "import argparse\nimport torch\n\n\ndef options():\n    parser = argparse.ArgumentParser()\n"
            "    parser.add_argument('--seed', type=int, default=3)\n    args = parser.parse_args()\n    return args\n\n\n"
            "args = options()\n" + NET,
            [("args = options()\n", "args = options()\ntorch.manual_seed(args.seed)\n")], id="parsed by a function"),
        pytest.param(
            "import torch\nfrom absl import app, flags\n\nFLAGS = flags.FLAGS\n"
            'flags.DEFINE_integer("seed", 42, "seed")\n\n\ndef main(_):\n    ' + NET + "\n\napp.run(main)\n",
            [("main(_):\n", "main(_):\n    torch.manual_seed(FLAGS.seed)\n")], id="absl"),
        pytest.param(
            'import click\nimport torch\n\n\n@click.command()\n@click.option("--seed", type=int)\ndef main(seed):\n'
            '    """Trains."""\n    ' + NET + "\n\nmain()\n",
            [("type=int)", "type=int, default=1)"),
             ('"""Trains."""\n', '"""Trains."""\n    torch.manual_seed(seed)\n')], id="click"),
        pytest.param(
            "import torch\n\n\ndef main(seed=None):\n    " + NET + "\n\nmain()\n",
            [("seed=None):\n", "seed=1):\n    torch.manual_seed(seed)\n")], id="parameter"),
        pytest.param(
            "import torch\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass Config:\n    seed: int = 7\n\n\n"
            "cfg = Config()\n" + NET,
            [("cfg = Config()\n", "cfg = Config()\ntorch.manual_seed(cfg.seed)\n")], id="field"),
        pytest.param(
            'import torch\n\nconfig = {"lr": 0.1, "seed": 7}\n' + NET,
            [("7}\n", '7}\ntorch.manual_seed(config["seed"])\n')], id="item"),
        pytest.param(
            PARSER + "parser.add_argument('--lr', type=float)\nargs = parser.parse_args()\n" + NET,
            [("type=float)\n", "type=float)\nparser.add_argument('--seed', type=int, default=1)\n"),
             ("parse_args()\n", "parse_args()\ntorch.manual_seed(args.seed)\n")], id="a flag that is new"),
        pytest.param(
            "import torch\nimport torch.distributed as dist\n\n\ndef main():\n    dist.init_process_group('nccl')\n"
            "    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))\n"
            "    print(torch.nn.functional.dropout(net.weight))\n\n\nmain()\n",
            [("'nccl')\n", "'nccl')\n    torch.manual_seed(1 + dist.get_rank())\n")], id="ranks"),
        pytest.param(
            "import os\nimport torch\nimport torch.distributed as dist\n\nSEED = 3\nif 'RANK' in os.environ:\n"
            "    dist.init_process_group('nccl')\n    # started by torchrun\n\n" + NET,
            [("by torchrun\n", "by torchrun\n"
              "torch.manual_seed(SEED + (dist.get_rank() if dist.is_initialized() else 0))\n")], id="one process or many"),
    ],
)  # fmt: skip
def test_seeds_are_set_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, changed: list[tuple[str, str]]
) -> None:
    wanted = source
    for old, new in changed:
        assert wanted.count(old) == 1
        wanted = wanted.replace(old, new)
    assert cured(tmp_path, monkeypatch, source) == wanted


CALLS = """import argparse
import time

import numpy as np
import torch
from sklearn.model_selection import train_test_split


def rows(args):
    return np.random.default_rng().normal(size=(10, 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    np.random.seed(int(time.time()))
    torch.manual_seed(args.seed)
    print(torch.rand(3), train_test_split(rows(args)), train_test_split(np.ones(9), random_state=None))


main()
"""


def test_seeds_within_calls_are_the_program_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = CALLS.replace("default=None", "default=1").replace("default_rng()", "default_rng(args.seed)")
    wanted = wanted.replace("int(time.time())", "args.seed")
    assert cured(tmp_path, monkeypatch, CALLS) == wanted


def test_where_no_seed_is_known_it_is_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import numpy as np\n\n\ndef rows(seed):\n    return np.random.default_rng().normal(size=3)\n\n\nprint(rows(0))\nSEED = 3\n"
    assert "default_rng(1)" in cured(tmp_path, monkeypatch, source)


OPTIONS = """import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("-seed", type=int{default})
    return parser.parse_args()
"""


@pytest.mark.parametrize("default", ["", ", default=None", ", default=7"])
def test_flags_that_another_module_parses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default: str) -> None:
    (tmp_path / "options.py").write_text(OPTIONS.format(default=default), encoding="utf-8")
    (tmp_path / "train.py").write_text(
        "import torch\nfrom options import parse\n\n\ndef main():\n    opt = parse()\n    " + NET + "\n\nmain()\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    found = patches(Options(paths=(Path("train.py"),), jobs=1, cache=False)).cure
    assert b"    opt = parse()\n    torch.manual_seed(opt.seed)\n" in found.sources["train.py"]
    changed = found.sources.get("options.py", b"").decode()
    assert changed == ("" if "7" in default else OPTIONS.format(default=", default=1"))


def test_a_parameter_without_a_seed_gets_one_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "import numpy as np\n\n\ndef seed_all(number=None):\n    np.random.seed(number)\n\n\n"
        "seed_all()\nprint(np.random.rand())\n"
    )
    assert source.partition("def")[2].replace("None", "1") in cured(tmp_path, monkeypatch, source, unsafe=False)


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ("obs, reward, done, _ = env.step(env.action_space.n)", "env = gym.make('a')\nenv.seed(1)\n"),
        ("obs, reward, done, cut, _ = env.step(env.action_space.n)", "env.reset(seed=1)"),
    ],
)
def test_environments_of_old_gym_take_their_seed_by_a_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, wanted: str
) -> None:
    source = f"import gym\nimport torch\n\nenv = gym.make('a')\nobs = env.reset()\n{step}\ntorch.save(obs, 'x')\n"
    assert wanted in cured(tmp_path, monkeypatch, source)


@pytest.mark.parametrize("loop", ["for _ in range(3):\n    ", "class Run:\n  def begin(self):\n    "])
def test_a_reset_that_is_repeated_gets_no_seed_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    source = (
        "import gymnasium\nimport torch\n\nenv = gymnasium.make('a')\n"
        f"{loop}obs = env.reset()\n    torch.save(obs, 'x')\n" + ("Run().begin()\n" if "class" in loop else "")
    )
    wanted = source.replace("('a')\n", "('a')\nenv.reset(seed=1)\n")
    assert cured(tmp_path, monkeypatch, source) == wanted


LIGHTNING = """{imports}
import torch

class Net({base}):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, i):
        return self.layer(batch).sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    {trainer}(max_epochs=1, accelerator="cpu").fit(Net(), [torch.ones(2)])


main()
"""


@pytest.mark.parametrize(
    ("imports", "base", "trainer", "target", "wanted"),
    [
        ("import pytorch_lightning as pl", "pl.LightningModule", "pl.Trainer", (), "pl.seed_everything(args.seed, workers=True)"),
        ("import lightning as L", "L.LightningModule", "L.Trainer", (), "L.seed_everything(args.seed, workers=True)"),
        ("import pytorch_lightning as pl", "pl.LightningModule", "pl.Trainer", ("lightning==1.2.0",), "pl.seed_everything(args.seed)"),
        ("from pytorch_lightning import LightningModule, Trainer", "LightningModule", "Trainer", (),
         "seed_everything(args.seed, workers=True)"),
    ],
)  # fmt: skip
def test_lightning_seeds_by_its_own_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports: str, base: str, trainer: str, target: tuple[str, ...],
    wanted: str,
) -> None:  # fmt: skip
    source = LIGHTNING.format(imports=f"import argparse\n\n{imports}", base=base, trainer=trainer)
    done = cured(tmp_path, monkeypatch, source, target=target)
    assert f"    args = parser.parse_args()\n    {wanted}\n" in done
    assert "default=1)" in done
    assert "manual_seed" not in done
    assert ("Trainer, seed_everything\n" in done) is imports.startswith("from")


def test_others_seed_by_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "model = AutoModelForSequenceClassification.from_pretrained('bert-base-uncased')\n"
    source = f"from transformers import AutoModelForSequenceClassification, Trainer\n\n{model}Trainer(model).train()\n"
    assert "Classification, Trainer, set_seed\n\nset_seed(1)\n" in cured(tmp_path, monkeypatch, source)
    source = "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\n" + NET
    done = cured(tmp_path, monkeypatch, source)
    assert "from accelerate.utils import set_seed\n" in done
    assert "set_seed(1 + accelerator.process_index)\n" in done


TRAINED = """import torch
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed


class Net(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.conv = torch.nn.Conv2d(3, 8, 3)

    def forward(self, x, labels=None):
        return {"loss": self.conv(x).sum()}


set_seed(1)
options = TrainingArguments(
    output_dir="out",
    num_train_epochs=1,
)
Trainer(model=Net(PretrainedConfig()), args=options, train_dataset=torch.load("x.pt")).train()
"""


def test_transformers_is_asked_for_determinism_by_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = TRAINED.replace("_epochs=1,", "_epochs=1,\n    full_determinism=True,")
    assert cured(tmp_path, monkeypatch, TRAINED) == wanted
    old = cured(tmp_path, monkeypatch, TRAINED, target=("transformers==4.11.0", "torch==2.0.1"))
    assert "torch.use_deterministic_algorithms(True)" in old


def test_a_function_of_that_name_of_the_script_is_not_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import torch\nfrom accelerate import Accelerator\n\n\ndef set_seed(n):\n    return n\n\n\n" + NET
    assert "torch.manual_seed(1)\n" in cured(tmp_path, monkeypatch, source)


def test_the_command_line_stays_without_unsafe_fixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PARSER + "args = parser.parse_args()\n" + NET
    assert cured(tmp_path, monkeypatch, source, unsafe=False) == source.replace(
        "import torch\n", "import torch\n\ntorch.manual_seed(1)\n"
    )


def test_what_else_a_given_seed_turns_on_is_a_change_of_behaviour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        PARSER + 'parser.add_argument("--seed", type=int)\nargs = parser.parse_args()\nif args.seed is not None:\n'
        "    torch.manual_seed(args.seed)\n    torch.backends.cudnn.deterministic = True\n" + NET
    )
    assert "import torch\n\ntorch.manual_seed(1)\n" in cured(tmp_path, monkeypatch, source, unsafe=False)
    assert "type=int, default=1)" in cured(tmp_path, monkeypatch, source, unsafe=True)


def test_a_seed_that_is_known_too_late_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PARSER + NET + 'parser.add_argument("--seed", type=int, default=3)\nargs = parser.parse_args()\n'
    source += "print(args.seed)\n" + NET
    assert "import torch\n\ntorch.manual_seed(1)\n" in cured(tmp_path, monkeypatch, source)


@pytest.mark.parametrize(
    "source",
    [
        "", "def f(:\n", "import torch\nseed = time()\n", "p.add_argument('--seed')\nargs = p.parse_args()\n",
        "class Config:\n    seed = 3\n", "env.seed(3)\n", "import torch\ntorch.cuda.manual_seed(3)\n",
        "a = p.parse_args()\nb = p.parse_args()\n",
    ],
)  # fmt: skip
def test_where_there_is_none(source: str) -> None:
    assert not where.known("train.py", source.encode())


LINES = st.lists(
    st.sampled_from([
        "import random", "SEED = 3", "random.seed(SEED)", "p = argparse.ArgumentParser()", "p.add_argument('--n')",
        "p.add_argument('--seed', type=int)", "args = p.parse_args()", "x = 1; y = 2", "def main(seed=0): pass", "main()",
        "def main(seed=None):\n\t'Text.'\n\treturn seed", "class C:\n  seed: int = 4", "c = C()", "if x:\n    hvd.init()\n    # y",
        "import horovod.torch as hvd", "c = {'seed': None}", "# comment", "",
    ]),
    max_size=8,
)  # fmt: skip


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_whatever_stands_around_a_patch_parses_and_seeds(lines: list[str], newline: str, end: bool) -> None:
    source = newline.join(lines).encode() + (newline.encode() if end else b"")
    for own in where.known("train.py", source):
        made = seeds.put("train.py", source, own, ["random.seed(1)", "torch.manual_seed(1)"])
        if not isinstance(made, str):
            done = edited(source, [one for one in made if isinstance(one, Edit)])
            assert done is not None
            ast.parse(done)
            assert f"torch.manual_seed({own.value})".encode() in done


def test_what_needs_a_package_that_has_to_be_installed_is_told() -> None:
    remedy = "set `os.environ['A'] = '1'` and call `tool.patch()` (`pip install tool==1`) before the graph is built"
    found = Finding(
        "missing-determinism-switch", "D9M301", "h", "impl", "warning", "high", "m", Location("a.py", 1, 1, 1, 2), remedy,
        entries=("a.py",), cause="determinism-switch-0",
    )  # fmt: skip
    planned = plan([found], {}, Files({"a.py": b"import tensorflow as tf\n"}))
    assert (dict(planned.ways), planned.without) == (
        {}, ((found, "its remedy needs a package that has to be installed first"),)
    )  # fmt: skip
    assert plan([found._replace(remedy=remedy.replace("pip install", "get"))], {}, Files({"a.py": b"x = 1\n"})).ways
