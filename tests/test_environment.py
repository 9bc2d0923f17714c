"""What a Dockerfile beside the program sets counts as set before the program starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from d9mlint.target.environment import read_environment

TRAIN = """\
import numpy as np
import tensorflow as tf

np.random.seed(1)
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3)])
model.compile("sgd", "mse")
model.fit(tf.zeros([4, 8, 8, 1]), tf.zeros([4, 6, 6, 8]))
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ENV TF_DETERMINISTIC_OPS=1", [("TF_DETERMINISTIC_OPS", "1")]),
        ('env TF_XLA_FLAGS="--a --b" PATH=/x', [("TF_XLA_FLAGS", "--a --b")]),
        ("ENV HOROVOD_CYCLE_TIME 0.1", [("HOROVOD_CYCLE_TIME", "0.1")]),
        ("# ENV TF_DETERMINISTIC_OPS=1", []),
        ("RUN echo ENV TF_DETERMINISTIC_OPS=1", []),
        ("ENV LANG=C", []),
    ],
)
def test_lines(line: str, found: list[tuple[str, str]]) -> None:
    assert [(v.name, v.value) for v in read_environment(f"FROM x\n{line}\n", "Dockerfile")] == found
    assert all(v.line == 2 for v in read_environment(f"FROM x\n{line}\n", "Dockerfile"))


def test_the_switch_of_the_image_counts(d9mlint, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text(TRAIN)
    docker = Path("Dockerfile")
    docker.write_text("FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\n")
    assert "missing-determinism-switch" in d9mlint("train.py").out
    docker.write_text("FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\nENV TF_DETERMINISTIC_OPS=1\n")
    assert "missing-determinism-switch" not in d9mlint("train.py").out
    docker.write_text(
        'FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\nENV TF_USE_CUDNN_AUTOTUNE="0" TF_DETERMINISTIC_OPS=1\n'
    )
    found = json.loads(d9mlint("train.py", "--format", "json").out)["findings"]
    assert [(f["rule"], f["path"], f["line"]) for f in found] == [("cudnn-autotune-variable", "Dockerfile", 2)]


def test_python_reads_the_hash_seed_of_the_image(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text("import random\n\nrandom.seed(1)\n")
    Path("Dockerfile").write_text("FROM python\nENV PYTHONHASHSEED=0\n")
    assert d9mlint("train.py").out.startswith("No findings.")
