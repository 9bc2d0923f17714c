"""What tracing costs: the time of a step under each stage of `d9mlint trace`, as a ratio to the untraced program.

    python benchmarks/trace.py INTERPRETER [BLOCKS [FRAMEWORK]...]

Frameworks (torch, tensorflow, jax, and cuda, which is PyTorch on a GPU; without a name all) that the interpreter lacks
are left out. A convolutional
network is trained on made-up images, in TensorFlow inside a `tf.function`, in JAX in a jitted step; in each block the
program runs untraced, under stage 0 (light), 2 (ops) and, in PyTorch, 3 (each op three times), one after the other, so
that what drifts weighs on all alike. The program takes the CPU time of its own steps (on a GPU that of a clock), in
one thread, without the first ones: what else runs on the machine does not count then. The median over blocks is
printed, and in brackets the ratio of whole processes, from their start on.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from d9mlint.trace.run import LIGHT, OPS, SHADOW, Conditions, Program, Settings, run

TORCH = """\
import statistics, sys, time
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
width, size, batch, steps = (int(word) for word in sys.argv[1:5])
device = (sys.argv[5:] or ["cpu"])[0]
clock = time.process_time if device == "cpu" else time.perf_counter
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for number in range(4):
            layers += [nn.Conv2d(channels, width * 2 ** number, 3, padding=1), nn.BatchNorm2d(width * 2 ** number),
                       nn.ReLU(), nn.MaxPool2d(2)]
            channels = width * 2 ** number
        self.features, self.head = nn.Sequential(*layers), nn.Linear(channels * (size // 16) ** 2, 10)
    def forward(self, x):
        return self.head(self.features(x).flatten(1))
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(batch, 3, size, size, device=device), torch.randint(0, 10, (batch,), device=device)
times, losses = [], []
for step in range(steps):
    begun = clock()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item().hex())
    times.append(clock() - begun)
with open("times", "w") as stream:
    stream.write(f"{statistics.median(times[2:])} {' '.join(losses)}")
"""
TENSORFLOW = """\
import statistics, sys, time
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.keras.utils.set_random_seed(0)
width, size, batch, steps = (int(word) for word in sys.argv[1:5])
layers = tf.keras.layers
several = []
for number in range(4):
    several += [layers.Conv2D(width * 2 ** number, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
                layers.MaxPooling2D()]
model = tf.keras.Sequential([*several, layers.Flatten(), layers.Dense(10)])
optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
x, y = tf.random.normal((batch, size, size, 3)), tf.random.uniform((batch,), maxval=10, dtype=tf.int32)
model.build(x.shape)
optimizer.build(model.trainable_variables)
@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
times, losses = [], []
for step in range(steps):
    begun = time.process_time()
    loss = train(x, y)
    losses.append(float(loss).hex())
    times.append(time.process_time() - begun)
with open("times", "w") as stream:
    stream.write(f"{statistics.median(times[2:])} {' '.join(losses)}")
"""
JAX = """\
import os, statistics, sys, time
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp
width, size, batch, steps = (int(word) for word in sys.argv[1:5])
keys = iter(jax.random.split(jax.random.key(0), 16))
weights, channels = [], 3
for number in range(4):
    weights.append(0.1 * jax.random.normal(next(keys), (3, 3, channels, width * 2 ** number)))
    channels = width * 2 ** number
weights.append(0.1 * jax.random.normal(next(keys), (channels * (size // 16) ** 2, 10)))
x, y = jax.random.normal(next(keys), (batch, size, size, 3)), jax.random.randint(next(keys), (batch,), 0, 10)
def loss_of(weights, x, y):
    for kernel in weights[:-1]:
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x - x.mean((0, 1, 2)))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    logits = jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ weights[-1])
    return -jnp.take_along_axis(logits, y[:, None], 1).mean()
@jax.jit
def train(weights, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    return [one - 0.01 * gradient for one, gradient in zip(weights, gradients)], loss
times, losses = [], []
for step in range(steps):
    begun = time.process_time()
    weights, loss = train(weights, x, y)
    losses.append(float(loss).hex())
    times.append(time.process_time() - begun)
with open("times", "w") as stream:
    stream.write(f"{statistics.median(times[2:])} {' '.join(losses)}")
"""
PROGRAMS = {"torch": TORCH, "tensorflow": TENSORFLOW, "jax": JAX, "cuda": TORCH}
_NEEDED = {"cuda": "import torch; assert torch.cuda.is_available()"}
"""What must be there beside a module of the framework's name."""
_REPEATS = 3
SIZES = {
    "CNN (width 32, 64 images of 64x64)": ("32", "64", "64", "8"),
    "medium (width 8, 16 images of 32x32)": ("8", "32", "16", "20"),
    "toy (width 2, 4 images of 16x16)": ("2", "16", "4", "40"),
}
"""Width, size of an image, images in a batch, steps."""


def step(python: str, words: tuple[str, ...], stage: str) -> tuple[float, float, list[str]]:
    """The median time of a step, the time of the whole process, and the losses."""
    before = _children()
    if stage:
        program = Program(python, ("program.py",), words, (os.getcwd(),))  # noqa: PTH109
        ran = run(program, Settings(0, repeats=_REPEATS), Conditions(stage), 0, 600)
        assert ran.whole, ran.ended
    else:
        subprocess.run([python, "program.py", *words], check=True, capture_output=True)
    seconds, *losses = Path("times").read_text(encoding="utf-8").split()
    return float(seconds), _children() - before, losses


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(python: str, words: tuple[str, ...], stages: tuple[str, ...], blocks: int) -> str:
    """The ratios of one program, in words."""
    times: dict[str, list[float]] = {stage: [] for stage in ("", *stages)}
    wholes: dict[str, list[float]] = {stage: [] for stage in times}
    losses: dict[str, list[list[str]]] = {stage: [] for stage in times}
    for _ in range(blocks):
        for stage in ("", *stages):
            seconds, whole, found = step(python, words, stage)
            times[stage].append(seconds)
            wholes[stage].append(whole)
            losses[stage].append(found)
    plain, all_ = statistics.median(times[""]), statistics.median(wholes[""])
    told = []
    for stage in stages:
        same = "the same losses" if all(one == losses[""][0] for one in losses[stage]) else "OTHER LOSSES"
        whole = statistics.median(wholes[stage]) / all_
        told.append(f"{stage} {statistics.median(times[stage]) / plain:.2f} times ({whole:.2f}), {same}")
    return f"{plain * 1000:.1f} ms a step untraced ({all_:.1f} s in all); " + "; ".join(told)


def main() -> None:
    """Prints the ratios."""
    python, blocks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for framework in sys.argv[3:] or PROGRAMS:
            needed = _NEEDED.get(framework, f"import {framework}")
            if subprocess.run([python, "-c", needed], capture_output=True, check=False).returncode:
                print(f"{framework}: not in this interpreter")
                continue
            Path("program.py").write_text(PROGRAMS[framework], encoding="utf-8")
            stages = (LIGHT, OPS, SHADOW) if PROGRAMS[framework] is TORCH else (LIGHT, OPS)
            for name, words in SIZES.items():
                given = (*words, "cuda") if framework == "cuda" else words
                print(f"{framework}, {name}: {measured(python, given, stages, blocks)}", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
