"""Conditions and words of findings that the examples in the rules cannot show."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

CATALOGUE = load()
MODEL = """
def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 100)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels)
    step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(losses))
    return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_mean(losses), train_op=step)

"""
FLAGS = """import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--do_train", action="store_true")
parser.add_argument("--no_tpu", dest="use_tpu", action="store_false", default=True)
args = parser.parse_args()
"""


def found(
    text: str, *rules: str, target: str = "tensorflow==2.9.1", argv: tuple[str, ...] | None = None,
    files: Mapping[str, str] | None = None,
) -> list[Finding]:  # fmt: skip
    """What is found in one file, by these rules; ``argv``: as started with these arguments, ``files`` beside it."""
    at = newest_target([target], "gpu")
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, at, CATALOGUE.ops)
    sources = {name: one.encode() for name, one in ({"train.py": text} | dict(files or {})).items()}
    told = judge(Project(sources.get), "train.py", ("",), CATALOGUE.rules.values(), knowledge, at, argv)
    return [f for f in told.findings if f.rule in rules and f.confidence != "low"]


@pytest.mark.parametrize(
    "maker", ["tf.estimator.Estimator(model_fn)", "tf.estimator.tpu.TPUEstimator(model_fn, use_tpu=False)"]
)
@pytest.mark.parametrize(
    "call", ["{}.train(lambda: None, max_steps=3)", "tf.estimator.train_and_evaluate({}, None, None)"]
)
def test_an_estimator_trains_when_its_loop_does(maker: str, call: str) -> None:
    text = f"{FLAGS}{MODEL}made = {maker}\nif args.do_train:\n    {call.format('made')}\n"
    (one,) = found(text, "missing-determinism-switch")
    assert one.when == ("--do_train is given",)
    assert text.split("\n")[one.location.line - 1].strip() == call.format("made")


def test_initial_weights_of_an_estimator_are_drawn_when_it_trains() -> None:
    text = f"{FLAGS}{MODEL}made = tf.estimator.Estimator(model_fn)\nif args.do_train:\n    made.train(lambda: None)\n"
    (one,) = found(text, "unseeded-tensorflow")
    assert one.when == ("--do_train is given",)


@pytest.mark.parametrize(
    ("use", "when"),
    [
        ("use_tpu=args.use_tpu", ("--no_tpu is given",)), ("model_dir='out', use_tpu=True", None), ("model_dir='out'", None),
        ("use_tpu=False", ()),
    ],
)  # fmt: skip
def test_what_varies_on_a_gpu_does_not_on_a_tpu(use: str, when: tuple[str, ...] | None) -> None:
    text = f"{FLAGS}{MODEL}made = tf.estimator.tpu.TPUEstimator(model_fn, {use})\nmade.train(lambda: None)\n"
    told = found(text, "missing-determinism-switch", "nondeterministic-op")
    # (one of them varies with many classes only, of which this model says nothing)
    own = [tuple(words for words in f.when if "classes" not in words) for f in told]
    assert own == ([] if when is None else [when, when])


@pytest.mark.parametrize(
    ("imported", "words"),
    [
        ("torch", "pass it on: `torch.manual_seed(args.seed)`"),
        ("numpy, torch", "pass it on: `np.random.seed(args.seed)`, `torch.manual_seed(args.seed)`"),
        ("random", "pass it on: `random.seed(args.seed)`"),
        ("tensorflow", "pass it on: `tf.keras.utils.set_random_seed(args.seed)`"),
    ],
)
def test_an_unused_seed_flag_gets_a_remedy_for_what_is_imported(imported: str, words: str) -> None:
    text = (
        f"import argparse\nimport {imported}\np = argparse.ArgumentParser()\np.add_argument('--seed')\np.parse_args()\n"
    )
    (one,) = found(text, "seed-flag-unused")
    assert one.remedy == words
    (other,) = found(text.replace(imported, "torch, tensorflow"), "seed-flag-unused")
    assert "set_random_seed" in other.remedy


@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("tensorflow==2.12.1", "tf.keras.utils.set_random_seed"),
        ("tensorflow==2.4.1", "tf.random.set_seed"),
        ("tensorflow==1.15.5", "tf.set_random_seed"),
    ],
)
def test_an_unused_seed_flag_is_passed_on_to_what_is_drawn_from(target: str, call: str) -> None:
    text = (
        "import argparse\nimport tensorflow as tf\nimport torch\np = argparse.ArgumentParser()\n"
        "p.add_argument('--manual_seed')\np.parse_args()\n"
    )
    (one,) = found(f"{text}print(torch.rand(3))\n", "seed-flag-unused", target=target)
    assert one.remedy == "pass it on: `torch.manual_seed(args.manual_seed)`"
    (other,) = found(f"{text}print(tf.random.normal([3]))\n", "seed-flag-unused", target=target)
    assert other.remedy == f"pass it on: `{call}(args.manual_seed)`"


def test_random_layers_take_their_seed_from_python_except_in_a_graph() -> None:
    layer = "flip = tf.keras.layers.RandomFlip()\ntf.GradientTape()\n"
    text = f"import tensorflow as tf\n{layer}"
    assert found(text, "unseeded-python", "unseeded-tensorflow")[0].rule == "unseeded-python"
    text = "import tensorflow as tf\nwith tf.Graph().as_default():\n    " + layer.replace("\n", "\n    ", 1)
    assert found(text, "unseeded-python", "unseeded-tensorflow")[0].rule == "unseeded-tensorflow"


LOOKUP = """import tensorflow as tf


def look(table, ids):
    return tf.nn.embedding_lookup(table, ids)


def {name}(table, ids):
    words = look(table, ids)
    {inside}
    return words


table = tf.get_variable("table", [100, 8])
step = tf.train.AdamOptimizer().minimize(tf.reduce_sum(table))
print({name}(table, [1, 1]))
{after}
"""


@pytest.mark.parametrize(
    ("name", "inside", "after", "lines"),
    [
        ("sampler", "pass", "", []),
        ("evaluate", "pass", "", []),
        ("embed", "pass", "", [5]),
        ("export", "pass", "look(table, [1, 1])", [5]),  # another way to the same call
        ("evaluate", "tf.train.AdamOptimizer().minimize(words)", "", [5]),  # one that trains all the same
    ],
)
def test_a_gradient_needs_a_way_from_training(name: str, inside: str, after: str, lines: list[int]) -> None:
    text = LOOKUP.format(name=name, inside=inside, after=after)
    told = found(text, "nondeterministic-op", target="tensorflow==1.15.5")
    assert [f.location.line for f in told if "embedding_lookup" in f.message] == lines


def test_a_transformation_whose_result_is_dropped_does_nothing() -> None:
    program = "import tensorflow as tf\nds = tf.data.Dataset.range(9)\n{}ds.shuffle(9)\nfor x in ds:\n    print(x)\n"
    assert not found(program.format(""), "unseeded-shuffle")
    assert found(program.format("ds = "), "unseeded-shuffle")


def test_gpus_hidden_from_a_session_are_none() -> None:
    program = (
        "import tensorflow as tf\nconfig = tf.ConfigProto(device_count={{'GPU': {}}})\n"
        "config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1\n"
        "tf.estimator.Estimator(f, config=tf.estimator.RunConfig(session_config=config)).train(g)\n"
    )
    assert found(program.format(1), "xla-jit", target="tensorflow==1.15.5")
    assert not found(program.format(0), "xla-jit", target="tensorflow==1.15.5")


def test_settings_read_from_a_dict_are_told() -> None:
    (one,) = found(
        "import tensorflow as tf\nimport json\nparams = json.load(open('p'))\n"
        "if params.get('xla', False):\n    tf.config.optimizer.set_jit(True)\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile()\nmodel.fit([1], [2])\n",
        "xla-jit",
    )
    assert one.when == ("`params.get('xla', False)` is true",)


def test_a_seed_made_from_another_keeps_the_branch_that_draws_the_first() -> None:
    text = """import argparse
import random
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=None)
args = parser.parse_args()

def seeds(master, count):
    if master is None:
        master = random.SystemRandom().randint(0, 9)
    rng = random.Random(master)
    return [rng.randint(0, 9) for _ in range(count)]

torch.manual_seed(torch.tensor(seeds(args.seed, 4)).tolist()[0])
print(torch.rand(3))
"""
    told = found(text, "entropy-as-seed", target="torch==2.4.0")
    assert [one.location.line for one in told] == [12, 15]
    assert {one.when for one in told} == {("--seed is not given",)}


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("def seed(value, *more):\n    if len(more) > 0:\n        value = hash((value, *more))\n"
         "    np.random.seed(value)\nseed(1)\nseed(1, 2)", []),
        ("def seed(value, *more):\n    np.random.seed(hash((value, *more)))\nseed(1, 'train')", ["hash-as-seed"]),
        ("def seed(value, more):\n    np.random.seed(hash((value, *more)))\nKINDS = {'a': seed}", []),
    ],
)  # fmt: skip
def test_hashes_of_numbers_are_the_same_in_each_process(body: str, rules: list[str]) -> None:
    assert [one.rule for one in found(f"import numpy as np\n{body}\nnp.random.rand()", "hash-as-seed")] == rules


def test_the_branch_for_sets_of_a_walker_is_no_set() -> None:
    walk = """import numpy as np

def walk(x):
    if isinstance(x, list):
        return [walk(y) for y in x]
    elif isinstance(x, set):
        return {walk(y) for y in x}
    return x

batch = walk(walk(load()))
np.array(batch["a"]), np.array([x for x in batch])
"""
    assert found(walk, "set-order") == []
    assert found(walk.replace("load()", "{'a', 'b'}"), "set-order") != []


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        ("RandomSampler(data)", "takes the elements in a different order"),
        ("RandomSampler(data, False, None)", "takes the elements in a different order"),
        ("RandomSampler(data, num_samples=3)", "chooses different elements"),
        ("RandomSampler(data, replacement=True)", "chooses different elements"),
        ("SubsetRandomSampler([1, 2])", "takes the elements in a different order"),
        ("WeightedRandomSampler([0.5], 3)", "chooses different elements"),
    ],
)
def test_a_permutation_is_no_choice(sampler: str, words: str) -> None:
    text = f"""from torch.utils.data import DataLoader, RandomSampler, SubsetRandomSampler, WeightedRandomSampler
data = [1, 2, 3]
for x in DataLoader(data, sampler={sampler}):
    print(x)
"""
    (one,) = found(text, "unseeded-sampling", target="torch==2.4.0")
    assert f" {words} in each run" in one.message


def test_dropout_draws_when_it_is_called() -> None:
    text = """import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(self.drop(x))

net = Net()
torch.manual_seed(1)
net(torch.ones(2)).sum().backward()
"""
    told = found(text, "unseeded-torch", "seed-after-use", target="torch==2.4.0")
    (one,) = told
    assert [r.location.line for r in one.related] == [7]
    assert len(found(text.replace("torch.manual_seed(1)\n", ""), "unseeded-torch", target="torch==2.4.0")) == 1


def test_an_op_that_seeds_itself_is_told_how() -> None:
    text = "import tensorflow as tf\ntf.image.sample_distorted_bounding_box([9, 9, 3], boxes)\n"
    (one,) = found(text, "entropy-seed")
    assert "without a `seed` of its own" in one.message
    assert "sample_distorted_bounding_box(..., seed=1)" in one.remedy
    assert found(text.replace("boxes", "boxes, seed=1"), "entropy-seed") == []


def test_what_draws_before_the_loop_that_goes_on_is_no_news_for_a_checkpoint() -> None:
    text = """import torch
from torch.utils.data import DataLoader

torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
state = torch.load("last.pt")
optimizer.load_state_dict(state["optimizer"])
for size in range(3):
    model(torch.randn(size, 4)).sum().backward()
for epoch in range(state["epoch"], 9):
    for x in DataLoader(torch.ones(8, 4), shuffle=True):
        model(x).sum().backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
"""
    (one,) = found(text, "rng-not-checkpointed", target="torch==2.4.0")
    assert [r.location.line for r in one.related] == [8, 12]
    assert found(text.replace(", shuffle=True", ""), "rng-not-checkpointed", target="torch==2.4.0") == []


@pytest.mark.parametrize(
    ("loss", "severity"),
    [("tf.layers.dense(x, 8)", "warning"), ("tf.nn.log_poisson_loss(x, x)", "info")],
)
def test_what_surely_varies_without_any_switch_is_a_warning(loss: str, severity: str) -> None:
    """Before TensorFlow 1.14 nothing turns it off; where nothing is seen that varies, that is only said."""
    text = f"""import tensorflow as tf


tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [8, 4])
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean({loss}))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {{x: [[1, 2, 3, 4]] * 8}})
"""
    told = found(text, "missing-determinism-switch", target="tensorflow==1.12.0")
    assert [one.severity for one in told] == [severity]


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("import lightning\n\ntrainer = lightning.Trainer(max_time='00:01:00:00')\n", "ends by the clock: how many steps"),
        ("import tensorflow as tf\n\nhook = tf.train.CheckpointSaverHook('logs', save_secs=60)\n", "the weights of which step"),
    ],
)  # fmt: skip
def test_a_message_says_what_the_clock_decides(text: str, then: str) -> None:
    told = found(text, "wall-clock-limit", target="tensorflow==1.15.5")
    assert [then in one.message and "{" not in one.message for one in told] == [True]


COMMANDS = """import argparse
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, UpSampling2D

def net():
    return tf.keras.Sequential([Conv2D(4, 3), UpSampling2D(2)])

def show(args):
    import imgaug
    if args.augment:
        imgaug.augmenters.Fliplr().to_deterministic().augment_image(None)
        args.helper.reproducible()

def train(args):
    model = net()
    model.compile("adam", "mse")
    model.fit(np.ones((2, 8, 8, 3)), np.ones((2, 12, 12, 4)))

parser = argparse.ArgumentParser()
commands = parser.add_subparsers()
for name, action in (("show", show), ("train", train)):
    command = commands.add_parser(name)
    command.add_argument("--augment", action="store_true")
    command.set_defaults(func=action)
args = parser.parse_args()
args.func(args)
"""


def test_what_sounds_like_seeding_counts_only_where_both_are_run() -> None:
    assert [one.confidence for one in found(COMMANDS, "unseeded-tensorflow")] == ["high"]
    always = COMMANDS.replace("args = parser", "make_reproducible()\nargs = parser").replace(
        "import numpy", "from .mine import make_reproducible\nimport numpy", 1
    )
    assert found(always, "unseeded-tensorflow") == []


def test_a_gradient_needs_training_in_the_same_run() -> None:
    apart = COMMANDS.replace("    if args.augment:", "    net()\n    if args.augment:").replace(
        "    model = net()", "    model = args.model"
    )
    assert found(apart, "nondeterministic-op", target="tensorflow==2.4.1") == []
    assert len(found(COMMANDS, "nondeterministic-op", target="tensorflow==2.4.1")) == 1


@pytest.mark.parametrize(
    ("layer", "expected"), [("tf.layers.dense(x, 8)", 0), ("tf.layers.conv2d(tf.reshape(x, [-1, 4, 4, 1]), 8, 3)", 1)]
)
def test_only_images_are_normalized_by_the_fused_kernel(layer: str, expected: int) -> None:
    text = f"""import tensorflow as tf
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 16])
y = tf.layers.batch_normalization({layer})
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(y))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {{x: [[1.0] * 16]}})
"""
    assert len(found(text, "nondeterministic-op", target="tensorflow==1.15.5")) == expected


def test_an_old_keras_takes_its_seeds_from_numpy() -> None:
    text = """import numpy as np
from keras.layers import Dense, Dropout
from keras.models import Sequential

np.random.seed(1)
model = Sequential([Dense(4, input_shape=(3,)), Dropout(0.5)])
model.compile("adam", "mse")
model.fit(np.ones((8, 3)), np.ones((8, 4)))
"""
    rules = ("unseeded-numpy", "unseeded-tensorflow", "partial-seed")
    assert found(text, *rules, target="tensorflow==1.15.5") == []
    bare = text.replace("np.random.seed(1)", "")
    assert [one.rule for one in found(bare, *rules, target="tensorflow==1.15.5")] == ["unseeded-numpy"]
    inside = text.replace("from keras", "from tensorflow.keras")
    assert [one.rule for one in found(inside, *rules, target="tensorflow==1.15.5")] == ["partial-seed"]


def test_what_is_added_to_a_list_leaves_what_it_held() -> None:
    text = """import sys
import tensorflow as tf
tf.set_random_seed(1)
x = tf.get_variable("x", [1, 4, 4, 1])
loss = tf.reduce_mean(tf.layers.conv2d(x, 8, 3))
ops = [tf.train.AdamOptimizer().minimize(loss)]
if sys.argv[1]:
    ops.extend([loss, x])
tf.Session().run(ops)
"""
    assert [one.location.line for one in found(text, "missing-determinism-switch", target="tensorflow==1.15.5")] == [9]
