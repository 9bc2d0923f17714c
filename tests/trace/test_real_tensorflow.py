"""Real TensorFlow on the CPU: planted causes are named by line, cured twins have none, and tracing changes nothing.

With ``D9MLINT_TRACE_ALL=1`` all planted programs are traced, else one, as a user would: TensorFlow takes long to start.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import validate
from planted import assert_named, interpreter, located, planted, programs

from d9mlint.trace.run import LIGHT, OPS, Conditions, Program, Settings, run

pytestmark = pytest.mark.slow
ALL = bool(os.environ.get("D9MLINT_TRACE_ALL"))
TRIED = programs("tensorflow") if ALL else []


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has TensorFlow; the test is skipped where there is none."""
    return interpreter("tensorflow")


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_planted_cause_is_named(python: str, path: Path) -> None:
    assert_named(python, path)


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_cured_twin_has_no_culprit(python: str, path: Path) -> None:
    assert located(python, path, "--fixed") == ()


LOSSES = """\
import sys
import numpy as np
import tensorflow as tf
tf.keras.utils.set_random_seed(1)
source = np.random.default_rng(0)
x, y = source.normal(size=(48, 8, 8, 1)).astype("float32"), source.integers(0, 3, 48)
layers = tf.keras.layers
model = tf.keras.Sequential([
    layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Reshape((36, 4)), layers.LSTM(5),
    layers.Dropout(0.2), layers.Dense(3)])
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss_of)
losses = [one.hex() for one in model.fit(x, y, batch_size=16, epochs=2, verbose=0).history["loss"]]
inputs = layers.Input((8, 8, 1))
one = layers.ReLU()(layers.BatchNormalization()(layers.SeparableConv2D(4, 3, padding="same")(inputs)))
two = layers.MaxPooling2D()(layers.Activation("swish")(layers.add([one, layers.BatchNormalization()(layers.Conv2D(4, 1)(inputs))])))
rows = layers.Reshape((16, 4))(two)
rows = layers.LayerNormalization()(rows + layers.MultiHeadAttention(2, 4, dropout=0.1)(rows, rows))
other = tf.keras.Model(inputs, layers.Dense(3)(layers.Dense(7, activation="gelu")(layers.Flatten()(rows))))
other.compile(optimizer=tf.keras.optimizers.AdamW(1e-3, clipnorm=1.0), loss=loss_of)
losses += [one.hex() for one in other.fit(x, y, batch_size=16, epochs=2, verbose=0).history["loss"]]
losses.append(np.asarray(other.predict(x, verbose=0), "float64").sum().hex())
optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
        if loss > 1e9:
            loss = loss * 2.0
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(48).map(lambda a, b: (a + tf.random.normal(a.shape), b)).batch(16)
for a, b in data:
    losses.append(float(tf.function(step)(a, b)).hex())
    losses.append(float(step(a, b)).hex())
    losses.append(float(tf.function(lambda a: tf.reduce_sum(a * a), jit_compile=True)(a)).hex())
sums = [np.asarray(one, "float64").sum().hex() for one in (*model.get_weights(), *other.get_weights())]
with open("losses", "w") as stream:
    print(losses, sums, file=stream)
"""


def test_it_changes_nothing(python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses and weights under each stage equal the untraced ones bit for bit: `fit`, functions, eager steps, XLA."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(LOSSES)
    subprocess.run([python, "program.py"], check=True, capture_output=True)
    untraced = Path("losses").read_text()
    program = Program(python, ("program.py",), (), (str(tmp_path),))
    for stage in (LIGHT, OPS):
        Path("losses").unlink()
        ran = run(program, Settings(0), Conditions(stage), 0, 300)
        assert ran.whole, ran.ended
        assert not ran.recording.notes
        assert Path("losses").read_text() == untraced, stage
        assert len(ran.recording.steps) == 6 + 6 + 3 + 3
        assert len(ran.recording.losses) == len(ran.recording.steps)
    names = {event.fields[1] for _, events in ran.recording.events for event in events if event.kind == "op"}
    assert {"Conv2D", "Conv2DBackpropFilter", "a batch of the dataset"} <= names
    assert "tf.function(jit_compile=True) <lambda>" in names


LARGE = """\
import tensorflow as tf
from tensorflow.python.eager import context
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential([layers.Conv2D(32, 3, padding="same"), layers.BatchNormalization(), layers.GlobalMaxPooling2D()])
images = tf.random.normal((64, 64, 64, 3))
model.build(images.shape)

@tf.function
def network(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    return [loss, *tape.gradient(loss, model.trainable_variables)]

@tf.function
def sums(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.sin(x) * 1.1) + tf.reduce_sum(tf.exp(x)) + tf.reduce_sum(tf.tanh(x) * 0.7)
    return tape.gradient(loss, x)

def is_split(function, x):
    context.context().enable_graph_collection()
    result = function(x)
    graphs = context.context().export_run_metadata().function_graphs
    context.context().disable_graph_collection()
    return result, any(node.op == "TemporaryVariable" for one in graphs for node in one.post_optimization_graph.node)

found, split = is_split(network, images)
with open("losses", "w") as stream:
    print(split, is_split(sums, tf.random.normal((3 * 2**22,)))[1], file=stream)
    print([float(tf.reduce_sum(one)).hex() for one in found], [one.numpy().tobytes()[:64].hex() for one in found], file=stream)
"""


def test_sums_are_split_for_want_of_memory_as_without_a_recording(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that just fits computes the same bits; a sum that TensorFlow adds up in any order stays one."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(LARGE)
    subprocess.run([python, "program.py"], check=True, capture_output=True)
    untraced = Path("losses").read_text()
    assert untraced.startswith("False True\n")
    Path("losses").unlink()
    ran = run(Program(python, ("program.py",), (), (str(tmp_path),)), Settings(0), Conditions(OPS), 0, 300)
    assert ran.whole, ran.ended
    assert Path("losses").read_text() == untraced


def test_the_command(python: str, d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    if not ALL:
        monkeypatch.setattr("d9mlint.app.traced.stages.applying", lambda uses: [])  # each switch takes two runs more
    path = next(one for one in programs("tensorflow") if one.stem == "keras_weights")
    Path("train.py").write_text(path.read_text())
    ran = d9mlint("trace", "--python", python, "--steps", "2", "--format", "json", "train.py")
    report = ran.json
    validate(report, "trace")
    assert (ran.code, report["verdict"], report["step"]) == (1, "part", 1)
    first = report["culprits"][0]
    assert (first["path"], first["line"], first["kind"]) == ("train.py", planted(path)[0], "draw")
    if ALL:
        assert [one["name"] for one in report["switches"] if one["decides"]] == ["seeds"]
