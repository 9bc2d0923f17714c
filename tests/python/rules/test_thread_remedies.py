"""What rules on threads tell to do: a generator for each of several workers, of the kind they draw from; one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

THREADS = """import random
import threading
import numpy as np

random.seed(1)
np.random.seed(1)


def work(index):
    print(index, {draw})


for index in range(4):
    threading.Thread(target=work, args=(index,)).start()
"""
POOL = THREADS.split("for index")[0] + (
    "from concurrent.futures import ThreadPoolExecutor\n\nprint(list(ThreadPoolExecutor(4).map(work, range(9))))\n"
)


@pytest.mark.parametrize(
    ("draw", "rng"),
    [
        ("random.random()", '`rng = random.Random(f"{seed} {index}")`'),
        ("np.random.rand()", "`rng = np.random.default_rng([seed, index])`"),
    ],
)
@pytest.mark.parametrize(
    ("text", "each"),
    [
        (THREADS, "each thread its own generator made from the number of the thread"),
        (POOL, "each task its own generator made from a number of the task"),
    ],
)
def test_workers_are_given_a_generator_like_the_one_they_share(
    d9mlint: Callable[..., Any], text: str, each: str, draw: str, rng: str
) -> None:
    Path("train.py").write_text(text.format(draw=draw))
    (one,) = d9mlint("train.py", "--format", "json", "--select", "threads-share-rng").json["findings"]
    assert one["remedy"] == f"give {each}: {rng}, and draw from that"


def test_one_variable_keeps_all_of_a_program_to_one_thread(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text("""import numpy as np
from sklearn.cluster import BisectingKMeans, KMeans

features = np.load("features.npy")
print(KMeans(10, n_init=1, random_state=1).fit(features).cluster_centers_)
print(BisectingKMeans(2, random_state=1).fit(features).cluster_centers_)
""")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "racing-workers").json["findings"]
    assert [finding["line"], *(place["line"] for place in finding["related"])] == [5, 6]
    assert finding["when"] == ["more than 512 rows are clustered"]
    assert "OMP_NUM_THREADS" in finding["remedy"]


KERAS = """import keras
import numpy as np


class Images(keras.utils.Sequence):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(4, 4), np.zeros(4)


np.random.seed(1)
model = keras.models.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit_generator(Images(), workers=4)
"""


@pytest.mark.parametrize(("version", "first"), [("2.1.1", "make a generator"), ("2.1.2", "pass `workers=0")])
def test_keras_is_told_to_do_without_workers_where_it_can(
    d9mlint: Callable[..., Any], version: str, first: str
) -> None:
    Path("train.py").write_text(KERAS)
    Path("requirements.txt").write_text(f"keras=={version}\ntensorflow==1.4.0\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "keras-workers").json["findings"]
    assert finding["remedy"].startswith(first)


def test_a_number_of_threads_that_is_given_is_to_be_changed_itself(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text("""import numpy as np
from sklearn.cluster import KMeans

features = np.load("features.npy")
print(KMeans(10, random_state=1, n_jobs=4).fit(features).cluster_centers_)
print(KMeans(10, random_state=1, n_jobs=1).fit(features).cluster_centers_)
""")
    (one,) = d9mlint("train.py", "--format", "json", "--select", "racing-workers").json["findings"]
    assert one["remedy"].startswith("pass `n_jobs=1`")
    assert one["when"] == ["more than 512 rows are clustered with scikit-learn 0.23 or 0.24"]
