"""What the remedy for a missing switch of TensorFlow says where only names in the code tell how new it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRAIN = """import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3)])
model.compile({optimizer}, "mse")
model.fit(tf.ones([8, 8, 8, 1]), tf.ones([8, 6, 6, 8]))
"""
OLD, NEW = "tf.keras.optimizers.Adam(lr=0.1)", "tf.keras.optimizers.Adam(learning_rate=0.1)"
FOR_OLDER = " (that is from 2.8 on; in 2.1 to 2.7 set TF_DETERMINISTIC_OPS to 1 before the first op instead)"


@pytest.mark.parametrize(
    ("optimizer", "stated", "more"),
    [(OLD, "", FOR_OLDER), (NEW, "", ""), (OLD, "tensorflow==2.12.0\n", ""), (NEW, "tensorflow==2.12.0\n", "")],
)
def test_code_of_an_older_release_is_told_its_switch(
    d9mlint: Callable[..., Any], optimizer: str, stated: str, more: str
) -> None:
    Path("train.py").write_text(TRAIN.format(optimizer=optimizer))
    Path("requirements.txt").write_text(stated)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-determinism-switch").json["findings"]
    call = "call `tf.config.experimental.enable_op_determinism()` near the start, with the seeds set before it"
    assert finding["remedy"] == call + more


ADDED = """import {module} as tf

tf.set_random_seed(1)
x = tf.placeholder(tf.float32, (8, 4))
y = tf.nn.bias_add(tf.matmul(x, tf.get_variable("w", (4, 4))), tf.get_variable("b", (4,)))
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(y * y))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train, feed_dict={{x: [[1, 2, 3, 4]] * 8}})
"""


@pytest.mark.parametrize(("module", "unpatched"), [("tensorflow", False), ("tensorflow.compat.v1", True)])
def test_a_name_that_the_patch_does_not_replace_is_told(
    d9mlint: Callable[..., Any], module: str, unpatched: bool
) -> None:
    Path("train.py").write_text(ADDED.format(module=module))
    Path("requirements.txt").write_text("tensorflow==1.15.5\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-determinism-switch").json["findings"]
    assert "tfdeterminism.patch()" in finding["remedy"]
    assert ("write `x + bias` for `tf.compat.v1.nn.bias_add" in finding["remedy"]) == unpatched


GRAPH = """import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
np.random.seed(1)
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 4])
{counter}
train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.layers.dense(x, 1)))
saver = tf.train.Saver()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    if args.resume:
        saver.restore(session, tf.train.latest_checkpoint("out"))
    for step in range(100):
        session.run(train, {{x: np.random.rand(8, 4)}})
        saver.save(session, "out/net"{number})
"""
HELD, ENDS, PUTS = (
    "with the step that the checkpoint holds",
    "with the step that the name of",
    "with the step that `saver.save(",
)


@pytest.mark.parametrize(
    ("counter", "number", "step"),
    [
        ("count = tf.Variable(0, name='global_step')", "", HELD),
        ("count = tf.train.get_or_create_global_step()", ", global_step=step", HELD),
        ("count = tf.Variable(0, name='beta')", ", global_step=step", ENDS),
        ("", ", global_step=step", ENDS),
        ("", "", PUTS),
    ],
)
def test_a_step_that_no_variable_counts_is_in_the_name_of_the_file(
    d9mlint: Callable[..., Any], counter: str, number: str, step: str
) -> None:
    Path("train.py").write_text(GRAPH.format(counter=counter, number=number))
    Path("requirements.txt").write_text("tensorflow==1.15.5\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert step in finding["remedy"]


@pytest.mark.parametrize(
    ("begin", "where"),
    [
        ("", "before the graph is built"),
        ("tf.reset_default_graph()", "after `tf.reset_default_graph()`"),
        ("tf.Graph().as_default().__enter__()", "before the graph is built"),
    ],
)
def test_the_seed_of_a_resumed_run_belongs_in_the_graph_that_goes_on(
    d9mlint: Callable[..., Any], begin: str, where: str
) -> None:
    Path("train.py").write_text(GRAPH.format(counter=begin, number=""))
    Path("requirements.txt").write_text("tensorflow==1.15.5\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert f"call `tf.set_random_seed(seed + step)` {where}, and" in finding["remedy"]
    made = [one["line"] for one in finding["related"] if "makes the graph" in one["note"]]
    assert made == ([11] if "reset" in begin else [])


def test_the_seed_of_a_resumed_run_belongs_in_the_block_of_its_graph(d9mlint: Callable[..., Any]) -> None:
    lines = GRAPH.format(counter="", number="").splitlines()
    inside = [f"    {line}" for line in lines[9:]]
    text = [*lines[:9], "with tf.Graph().as_default():", *inside]
    Path("train.py").write_text("\n".join(text) + "\n")
    Path("requirements.txt").write_text("tensorflow==1.15.5\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert "call `tf.set_random_seed(seed + step)` first in the block of `as_default()`, and" in finding["remedy"]


@pytest.mark.parametrize(
    ("load", "stated", "seed"),
    [
        ("model = tf.keras.models.load_model(args.resume)", "tensorflow==2.12.0\n", "tf.random.set_seed"),
        (
            "model = tf.keras.models.load_model(args.resume, compile=False); model.compile('adam', 'mse')",
            "tensorflow==2.12.0\n",
            "tf.random.set_seed",
        ),
        ("model.load_weights(args.resume)", "tensorflow==1.15.0\n", "tf.set_random_seed"),
    ],
)
def test_files_of_keras_hold_no_step(d9mlint: Callable[..., Any], load: str, stated: str, seed: str) -> None:
    Path("requirements.txt").write_text(stated)
    Path("train.py").write_text(f"""import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
args = parser.parse_args()
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dropout(0.5)])
model.compile("adam", "mse")
if args.resume:
    {load}
model.fit(np.ones([8, 8]), np.ones([8, 8]), callbacks=[tf.keras.callbacks.ModelCheckpoint("net.h5")])
""")
    (one,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert "`initial_epoch=epoch`" in one["remedy"]
    assert f"`{seed}(seed + epoch)`" in one["remedy"]
    assert "global_step" not in one["remedy"]
    fresh = "compile=False" in load
    assert ("the optimizer (saved, but never loaded)" in one["message"]) is fresh
    assert one["remedy"].startswith("load the model without `compile=False`") is fresh


def test_what_deterministic_ops_make_raise_is_told(d9mlint: Callable[..., Any]) -> None:
    Path("requirements.txt").write_text("tensorflow==2.9.1\n")
    Path("train.py").write_text(TRAIN.format(optimizer=NEW).replace("Conv2D(8, 3)", "DepthwiseConv2D(3)"))
    (one,) = d9mlint("train.py", "--format", "json", "--select", "missing-determinism-switch").json["findings"]
    assert "`tf.config.experimental.enable_op_determinism()`" in one["remedy"]
    assert "; `DepthwiseConv2D` then raises: " in one["remedy"]


def test_a_model_that_may_be_loaded_is_the_same_network(d9mlint: Callable[..., Any]) -> None:
    text = """import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--snapshot")
args = parser.parse_args()
tf.keras.utils.set_random_seed(1)
if args.snapshot:
    model = {loaded}
else:
    model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3)])
    model.compile("adam", "mse")
model.fit(tf.ones([8, 8, 8, 1]), tf.ones([8, 6, 6, 8]))
"""
    small = 'tf.keras.Sequential([tf.keras.layers.Dense(8, use_bias=False)])\n    model.compile("adam", "mse")'
    for loaded, when in (("tf.keras.models.load_model(args.snapshot)", []), (small, ["--snapshot is not given"])):
        Path("train.py").write_text(text.format(loaded=loaded))
        Path("requirements.txt").write_text("tensorflow==2.12.0\n")
        (one,) = d9mlint("train.py", "--format", "json", "--select", "missing-determinism-switch").json["findings"]
        assert one["when"] == when


@pytest.mark.parametrize(("summary", "datasets"), [("tf.summary.scalar", True), ("tf.scalar_summary", False)])
def test_what_a_release_lacks_is_not_offered(d9mlint: Callable[..., Any], summary: str, datasets: bool) -> None:
    Path("train.py").write_text(f"""import tensorflow as tf

tf.set_random_seed(1)
batch = tf.train.shuffle_batch([tf.zeros([4])], 8, 100, 10)
w = tf.get_variable("w", [4, 1])
loss = tf.reduce_mean(tf.matmul(batch, w))
{summary}("loss", loss)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(step)
""")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "queue-order").json["findings"]
    assert ("tf.data" in finding["remedy"]) is datasets and "num_threads=1" in finding["remedy"]


OLD = """import tensorflow as tf

{more}
tf.set_random_seed(1)
x = tf.layers.conv2d(tf.placeholder(tf.float32, [8, 8, 8, 3]), 4, 3)
step = tf.train.AdamOptimizer().minimize(tf.nn.l2_loss(x))
with tf.Session() as session:
    session.run(step)
"""


@pytest.mark.parametrize(
    ("more", "files", "told"),
    [
        (
            "",
            {"requirements.txt": "tensorflow-gpu==1.13.1\n"},
            "upgrade to 1.15, which runs code of TensorFlow 1, set ",
        ),
        (
            "tf.histogram_summary('x', [1.0])",
            {},
            "upgrade to 1.15 (for which `tf.histogram_summary` (train.py:3) has to be changed: 0.12.1 is the last that "
            "takes it), which",
        ),
    ],
)
def test_before_a_switch_the_release_is_told_that_runs_the_code(
    d9mlint: Callable[..., Any], more: str, files: dict[str, str], told: str
) -> None:
    for name, text in {"train.py": OLD.format(more=more), **files}.items():
        Path(name).write_text(text)
    (one,) = d9mlint("train.py", "--format", "json", "--select", "missing-determinism-switch").json["findings"]
    assert told in one["remedy"]
