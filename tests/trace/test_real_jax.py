"""Real JAX on the CPU: planted causes are named by line, cured twins have none, and tracing changes nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import assert_named, interpreter, located, programs
from tracing import traced

from d9mlint.trace.run import LIGHT, OPS, Conditions, Program, Settings, run

pytestmark = pytest.mark.slow
ALL = bool(os.environ.get("D9MLINT_TRACE_ALL"))
TRIED = [one for one in programs("jax") if ALL or one.stem == "key_from_clock"]


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has JAX; the test is skipped where there is none."""
    return interpreter("jax")


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_planted_cause_is_named(python: str, path: Path) -> None:
    assert_named(python, path)


@pytest.mark.parametrize("path", TRIED if ALL else (), ids=lambda path: path.stem)
def test_the_cured_twin_has_no_culprit(python: str, path: Path) -> None:
    assert located(python, path, "--fixed") == ()


LOSSES = """\
from functools import partial
import jax, jax.numpy as jnp
def forward(params, x, rate, key):
    hidden = jax.nn.relu(x @ params["w"] + params["b"])
    return jnp.where(jax.random.bernoulli(key, rate, hidden.shape), hidden, 0.0) @ params["v"]
@partial(jax.jit, static_argnames="rate", donate_argnums=0)
def step(params, x, key, rate=0.8):
    loss, gradients = jax.value_and_grad(lambda params: jnp.mean(forward(params, x, rate, key) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss
keys = jax.random.split(jax.random.key(0), 4)
params = {"w": jax.random.normal(keys[0], (4, 8)), "b": jnp.zeros(8), "v": jax.random.normal(keys[1], (8, 2))}
x, losses = jax.random.normal(keys[2], (16, 4)), []
for number in range(4):
    params, loss = step(params, x, jax.random.fold_in(keys[3], number))
    losses.append(float(loss).hex())
losses.append(float(jax.grad(lambda s: jnp.sum(jnp.sin(x * s)))(2.0)).hex())
losses += [float(one).hex() for one in jnp.linalg.norm(params["w"], axis=0)]
with open("losses", "w") as stream:
    print(losses, file=stream)
"""


def test_it_changes_nothing(python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses and weights under each stage equal the untraced ones bit for bit, with memory that is given away."""
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
        assert (len(ran.recording.steps), len(ran.recording.losses)) == (4, 4)
    names = [event.fields[1] for _, events in ran.recording.events for event in events if event.kind == "op"]
    assert names.count("jit(step)") == 4
    assert "jit(sin)" in names


NOISY = """\
import os
import jax, jax.numpy as jnp, numpy as np
def noisy(value):
    return np.asarray(value + np.float32(os.urandom(1)[0] if {when} else 0))
@jax.jit
def step(weights, inputs):
    hidden = jnp.sin(weights @ inputs)
    noise = jax.pure_callback(noisy, jax.ShapeDtypeStruct(hidden.shape, hidden.dtype), hidden)
    return weights - 0.01 * jnp.sum((hidden + noise) ** 2)
weights = jnp.ones((4, 4))
for number in range(3):
    weights = step(weights, jnp.arange(4.0) + number)
print(float(weights.sum()))
"""


@pytest.mark.parametrize(
    ("when", "op", "line", "said"),
    [
        ("True", "pure_callback", 8, "inside of jit(step) and without compilation"),
        ("'JAX_DISABLE_JIT' not in os.environ", "jit(step)", 12, "without compilation (JAX_DISABLE_JIT=1) they were not seen to differ"),
    ],
)  # fmt: skip
def test_an_op_inside_of_a_compiled_function(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, d9mlint: Callable[..., Any], when: str, op: str, line: int, said: str
) -> None:  # fmt: skip
    """Two runs without compilation say which op it is; where they are equal, the function is named as a whole."""
    monkeypatch.chdir(tmp_path)
    report = traced(d9mlint, NOISY.format(when=when), "--python", python)
    culprit = report["culprits"][0]
    assert (culprit["op"], culprit["line"], culprit["kind"]) == (op, line, "op")
    assert said in culprit["note"]
    assert "jit off" in {one["name"] for one in report["switches"]}
