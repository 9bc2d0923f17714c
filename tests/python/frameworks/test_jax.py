"""JAX in the story: XLA's flags as text, keys, loops, transformed functions, and the backend of Keras."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.conditions import is_symbolic
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.frameworks.jax.mode import first_work, jax_mode, on_gpu, trainings
from d9mlint.python.frameworks.jax.sizes import tiny
from d9mlint.python.frameworks.used import frameworks_of, keras_backend
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.judge import interpret
from d9mlint.python.project.files import Project
from d9mlint.python.rules.switches import ignored_determinism_variable

CATALOGUE = load()
TARGET = newest_target(["jax==0.10.2", "keras==3.15.1"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)


def program(text: str) -> Program:
    data = {"train.py": text.encode()}
    return Program(interpret(Project(data.get), "train.py", ("",), KNOWLEDGE, TARGET, None), TARGET, KNOWLEDGE)


@pytest.mark.parametrize(
    ("flags", "on"),
    [
        ("--xla_gpu_deterministic_ops=true", True),
        ("--xla_gpu_deterministic_ops", True),
        ("--xla_dump_to=/x --xla_gpu_deterministic_ops=1 --xla_gpu_autotune_level=0", True),
        ("--xla_gpu_exclude_nondeterministic_ops=true", True),
        ("--xla_gpu_deterministic_ops=false", False),
        ("--xla_gpu_deterministic_ops_and_more=true", False),
        ("--xla_gpu_autotune_level=0", False),
        ("", False),
    ],
)
def test_flags(flags: str, on: bool) -> None:
    told = program(f"import os\nos.environ['XLA_FLAGS'] = {flags!r}\nimport jax\n")
    assert jax_mode(told).on is on


@given(st.text(max_size=60))
def test_any_text_of_flags_is_an_answer(flags: str) -> None:
    told = program(f"import os\nos.environ['XLA_FLAGS'] = {flags!r}\n")
    assert jax_mode(told).on in (True, False)


def test_flags_that_are_not_known_are_neither_on_nor_off() -> None:
    on = jax_mode(program("import os\nos.environ['XLA_FLAGS'] = os.environ['MORE'] + ' --xla_gpu_x=1'\n")).on
    assert not isinstance(on, bool)
    assert not is_symbolic(on)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("key = jax.random.key(0)", "jax.random.key"),
        ("x = jnp.ones(3)", "jax.numpy.ones"),
        ("print(jax.devices())", "jax.devices"),
        ("d = jnp.dtype('float32')", None),
        ("def f():\n    return jnp.ones(3)", None),
        ("step = jax.jit(lambda x: jnp.sin(x))", None),
    ],
)
def test_first_work(line: str, first: str | None) -> None:
    event = first_work(program(f"import jax\nimport jax.numpy as jnp\n{line}\n"))
    assert (event.name if event else None) == first


@pytest.mark.parametrize(
    ("line", "gpu"),
    [
        ("jax.config.update('jax_platforms', 'cpu')", False),
        ("jax.config.update('jax_platform_name', 'cpu')", False),
        ("jax.config.update('jax_platforms', 'cuda,cpu')", True),
        ("os.environ['JAX_PLATFORMS'] = 'tpu'", False),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = ''", False),
        ("jax.config.update('jax_enable_x64', True)", True),
    ],
)
def test_on_gpu(line: str, gpu: bool) -> None:
    assert on_gpu(program(f"import os\nimport jax\n{line}\n")) is gpu


@pytest.mark.parametrize(
    ("before", "after", "backend"),
    [
        ("", "", "tensorflow"),
        ("os.environ['KERAS_BACKEND'] = 'jax'", "", "jax"),
        ("os.environ['KERAS_BACKEND'] = 'torch'", "", "torch"),
        ("", "os.environ['KERAS_BACKEND'] = 'jax'", "tensorflow"),
        ("os.environ['KERAS_BACKEND'] = input()", "", ""),
    ],
)
def test_keras_backend(before: str, after: str, backend: str) -> None:
    told = program(f"import os\n{before}\nimport keras\n{after}\nkeras.Model().fit([1], epochs=2)\n")
    assert keras_backend(told) == backend
    assert bool(trainings(told)) is (backend == "jax")
    assert (backend in frameworks_of(told)) is bool(backend)


def test_a_jitted_function_runs_with_its_arguments() -> None:
    told = program(
        "import functools\nimport jax\n"
        "@functools.partial(jax.jit, static_argnums=1)\n"
        "def a(key, n):\n    return jax.random.normal(key, (n,))\n"
        "def b(key):\n    return jax.random.uniform(key)\n"
        "k1, k2 = jax.random.split(jax.random.key(0))\n"
        "a(k1, 3)\njax.jit(b)(k2)\njax.grad(lambda w, key: jax.random.gamma(key, w))(1.0, k2)\n"
    )
    draws = [e for e in told.events if e.name in ("jax.random.normal", "jax.random.uniform", "jax.random.gamma")]
    assert [(e.name, e.inside("jax-jit"), e.certain) for e in draws] == [
        ("jax.random.normal", True, True),
        ("jax.random.uniform", True, True),
        ("jax.random.gamma", False, True),
    ]
    assert draws[0].args[0] is not draws[1].args[0]
    assert draws[1].args[0] is draws[2].args[0]


_DENSE = """import flax.linen as nn
import jax
import jax.numpy as jnp

net = nn.Dense({width})
x = {made}
params = net.init(jax.random.key(0), x)
print(jax.grad(lambda p: jnp.mean({loss}))(params))
"""


@pytest.mark.parametrize(
    ("width", "made", "loss", "small"),
    [
        ("5", "jnp.ones((1, 10))", "net.apply(p, x)", True),
        ("50", "jnp.ones((1, 10))", "net.apply(p, x)", False),
        ("5", "jnp.ones((20, 10))", "net.apply(p, x)", False),
        ("5", "jnp.load('x.npy')", "net.apply(p, x)", False),
        ("int(input())", "jnp.ones((1, 10))", "net.apply(p, x)", False),
        ("5", "jnp.ones((1, 10))", "jnp.zeros(9).at[p].add(x)", False),
        ("5", "jnp.ones((1, 10))", "jax.lax.conv(p, x)", False),
    ],
)
def test_what_is_all_seen_and_small(width: str, made: str, loss: str, small: bool) -> None:
    assert tiny(program(_DENSE.format(width=width, made=made, loss=loss))) is small


def test_the_other_branch_that_trains_is_named(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(
        "import jax\nfrom flax.training import train_state\n"
        "def step(state, batch):\n"
        "    def loss(params):\n        return state.apply_fn(params, batch).sum()\n"
        "    if state.scale:\n        return state.scale.value_and_grad(loss)(state.params)\n"
        "    return jax.value_and_grad(loss)(state.params)\n"
        "step(train_state.TrainState.create(), 1.0)\n"
    )
    arguments = ("--format", "json", "--select", "missing-determinism-switch", "--target", "jax==0.10.2")
    (finding,) = d9mlint("train.py", *arguments).json["findings"]
    (other,) = finding["related"]
    assert {finding["line"], other["line"]} == {7, 8}
    assert other["note"].startswith("in another branch `")
    assert "`jax.value_and_grad` or `scale.value_and_grad` computes gradients on a GPU" in finding["message"]


@pytest.mark.parametrize(
    ("count", "shape", "found"), [("8", "(2, 4)", False), ("8", "(jax.device_count(),)", True), ("1", "(1, 1)", True)]
)
def test_a_mesh_of_all_parts_that_the_host_is_cut_into_is_none_of_gpus(
    d9mlint: Callable[..., Any], count: str, shape: str, found: bool
) -> None:
    start = f"import os\nos.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count={count}'\n"
    mesh = f"mesh = jax.make_mesh({shape}, ('data', 'model'))\n"
    Path("train.py").write_text(
        start + _DENSE.format(width=50, made="jnp.ones((1, 10))", loss="net.apply(p, x)") + mesh
    )
    arguments = ("--format", "json", "--select", "missing-determinism-switch", "--target", "jax==0.10.2")
    assert bool(d9mlint("train.py", *arguments).json["findings"]) is found


@pytest.mark.parametrize(
    ("width", "severity", "confidence", "words"),
    [
        ("5", "info", "low", "gradients of larger products than those here"),
        ("50", "warning", "high", "off: gradients can differ"),
    ],
)
def test_small_products_only_stand_for_larger_ones(
    d9mlint: Callable[..., Any], width: str, severity: str, confidence: str, words: str
) -> None:
    Path("train.py").write_text(_DENSE.format(width=width, made="jnp.ones((1, 10))", loss="net.apply(p, x)"))
    arguments = ("--format", "json", "--select", "missing-determinism-switch", "--target", "jax==0.10.2")
    (finding,) = d9mlint("train.py", "--min-confidence", "low", *arguments).json["findings"]
    assert (finding["severity"], finding["confidence"], words in finding["message"]) == (severity, confidence, True)


@pytest.mark.parametrize(("name", "misspelt"), [("TF_CUDNN DETERMINISTIC", True), ("TF_DETERMINISTIC_OPS", False)])
def test_a_misspelt_variable_is_said_to_be_misspelt(name: str, misspelt: bool) -> None:
    told = program(f"import os\nos.environ[{name!r}] = '1'\nimport jax\nprint(jax.numpy.ones(3))\n")
    rule = next(rule for rule in CATALOGUE.rules.values() if rule.name == "ignored-determinism-variable")
    (draft,) = ignored_determinism_variable.check_program(told, rule)
    assert ("a misspelling of TensorFlow's `TF_CUDNN_DETERMINISTIC`" in draft.message) is misspelt
    assert ("a variable of TensorFlow" in draft.message) is not misspelt
