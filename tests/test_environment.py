"""What launchers and images set counts as set before the program starts."""

from __future__ import annotations

from pathlib import Path

import pytest

TRAIN = """\
import numpy as np
import tensorflow as tf

np.random.seed(1)
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3)])
model.compile("sgd", "mse")
model.fit(tf.zeros([4, 8, 8, 1]), tf.zeros([4, 6, 6, 8]))
"""
TARGET = ("--target", "tensorflow==2.4.1")


@pytest.fixture(autouse=True)
def program(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text(TRAIN)
    Path("scripts").mkdir()


def test_the_switch_of_the_image_counts(d9mlint) -> None:  # type: ignore[no-untyped-def]
    docker = Path("Dockerfile")
    docker.write_text("FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\n")
    assert "missing-determinism-switch" in d9mlint("train.py").out
    docker.write_text("FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\nENV TF_DETERMINISTIC_OPS=1\n")
    assert "missing-determinism-switch" not in d9mlint("train.py").out
    docker.write_text(
        'FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\nENV TF_CUDNN_USE_AUTOTUNE="0" TF_DETERMINISTIC_OPS=1\n'
    )
    found = d9mlint("train.py", "--format", "json").json["findings"]
    assert [(f["rule"], f["path"], f["line"], f["column"]) for f in found] == [
        ("cudnn-autotune-variable", "Dockerfile", 2, 5)
    ]


def test_python_reads_the_hash_seed_of_the_image(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text(
        "import numpy as np\n\nnp.random.seed(1)\nwords = {w: i for i, w in enumerate({'a', 'b'})}\n"
    )
    assert "set-order" in d9mlint("train.py").out
    Path("Dockerfile").write_text("FROM python\nENV PYTHONHASHSEED=0\n")
    assert d9mlint("train.py").out.startswith("No findings.")


def test_what_the_only_launcher_sets_holds_and_is_told(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("scripts/run.sh").write_text("export TF_DETERMINISTIC_OPS=1\npython train.py --lr $1\n")
    for path in ("train.py", ".", "scripts/run.sh"):
        ran = d9mlint(path, *TARGET)
        assert ran.code == 0, path
        assert "started by: scripts/run.sh:2 with TF_DETERMINISTIC_OPS=1" in ran.out
    report = d9mlint("train.py", *TARGET, "--format", "json").json
    assert report["launches"] == [
        {
            "entry": "train.py", "path": "scripts/run.sh", "line": 2,
            "environment": {"TF_DETERMINISTIC_OPS": "1"}, "arguments": ["--lr", "$1"],
        }
    ]  # fmt: skip


def test_what_some_launchers_set_is_a_condition(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("scripts/fast.sh").write_text("python train.py\n")
    Path("scripts/same.sh").write_text("TF_DETERMINISTIC_OPS=1 python train.py\n")
    ran = d9mlint("train.py", *TARGET, "--format", "json")
    (found,) = ran.json["findings"]
    assert ran.code == 1
    assert (found["rule"], found["when"]) == ("missing-determinism-switch", ["not started by scripts/same.sh:1"])
    assert d9mlint("train.py", *TARGET, "--launcher", "scripts/same.sh").code == 0
    assert d9mlint("train.py", *TARGET, "--launcher", "scripts/fast.sh:1").code == 1


def test_a_value_that_is_not_known_hides_and_finds_nothing_by_force(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("scripts/run.sh").write_text("export TF_DETERMINISTIC_OPS=$1\npython train.py\n")
    assert d9mlint("train.py", *TARGET).code == 0


def test_findings_stand_where_the_variable_is_set_and_comments_there_count(d9mlint) -> None:  # type: ignore[no-untyped-def]
    run = Path("scripts/run.sh")
    run.write_text("export TF_DETERMINISTIC_OPS=yes\npython train.py\n")
    found = d9mlint("train.py", *TARGET, "--format", "json").json["findings"]
    assert ("determinism-value", "scripts/run.sh", 1, 8) in [
        (f["rule"], f["path"], f["line"], f["column"]) for f in found
    ]
    run.write_text("export TF_DETERMINISTIC_OPS=yes  # d9m: ignore[determinism-value] on purpose\npython train.py\n")
    report = d9mlint("train.py", *TARGET, "--format", "json").json
    assert report["suppressed"] == 1
    assert "determinism-value" not in [f["rule"] for f in report["findings"]]


def test_the_launcher_gives_the_arguments_where_it_is_asked_for(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text(
        "import argparse\nimport random\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int)\n"
        "args = parser.parse_args()\nif args.seed is not None:\n    random.seed(args.seed)\nprint(random.random())\n"
    )
    run = Path("scripts/run.sh")
    run.write_text("python train.py --seed 1\npython train.py --seed $2\n")
    assert d9mlint("train.py").code == 1
    assert d9mlint("train.py", "--launcher", "scripts/run.sh:1").code == 0
    several = d9mlint("train.py", "--launcher", "scripts/run.sh")
    assert (several.code, "give one, as scripts/run.sh:1" in several.err) == (2, True)
    unknown = d9mlint("train.py", "--launcher", "scripts/run.sh:2")
    assert (unknown.code, "scripts/run.sh:2: `$2` not known here" in unknown.err) == (2, True)
    absent = d9mlint("train.py", "--launcher", "scripts/no.sh")
    assert (absent.code, "file not found: scripts/no.sh" in absent.err) == (2, True)
    other = d9mlint("train.py", "--launcher", "scripts/run.sh:9")
    assert (other.code, "starts none of the scripts to check" in other.err) == (2, True)


def test_a_launched_file_without_a_guard_is_an_entry(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("train.py").write_text("import random\n\nvalue = random.random()\n")
    assert d9mlint(".", "--format", "json").json["entries"] == []
    Path("scripts/run.sh").write_text("python ../train.py\n")
    assert d9mlint(".", "--format", "json").json["entries"] == ["train.py"]


def test_a_launcher_that_starts_nothing_is_nothing_to_check(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("scripts/run.sh").write_text("python elsewhere.py\n")
    ran = d9mlint("scripts/run.sh")
    assert (ran.code, "nothing to check" in ran.err) == (2, True)


def test_bytes_that_are_no_text_and_large_files_are_no_launchers(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("scripts/run.sh").write_bytes(b"\xff\xfe\0 python train.py\n" * 60_000)
    Path("docker-compose.yml").write_text("a: &a [*a]\nservices: *b  # python train.py\n")
    assert d9mlint("train.py", *TARGET).code == 1
