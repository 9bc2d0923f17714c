"""What is executed: named ops, findings of a script or a report, everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

from d9mlint.app.verify.plan import VerifyOptions, planned
from d9mlint.catalogue.schema.cases import read_cases
from d9mlint.cli.verify import FRAMEWORKS
from d9mlint.model import UsageError

SCRIPT = """\
import tensorflow as tf

tf.random.set_seed(1)
weights = tf.Variable(tf.ones([1, 8, 8, 1]))
optimizer = tf.optimizers.SGD()
for _ in range(10):
    with tf.GradientTape() as tape:
        crops = tf.image.crop_and_resize(weights * 2.0, [[0.0, 0.0, 1.0, 1.0]], [0], [4, 4])
        loss = tf.reduce_sum(crops)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
"""


def ops(options: VerifyOptions) -> set[str]:
    return {case.op for case in planned(options).cases}


@pytest.mark.parametrize(
    "name",
    ["tf.image.crop_and_resize", "tensorflow.image.crop_and_resize", "tf.compat.v1.image.crop_and_resize",
     "tensorflow.raw_ops.CropAndResizeGradImage"],
)  # fmt: skip
def test_an_op_by_its_names(name: str) -> None:
    assert "tf.image.crop_and_resize" in ops(VerifyOptions(ops=(name,)))


def test_a_call_of_torch() -> None:
    assert ops(VerifyOptions(ops=("torch.Tensor.index_add_",))) == {"torch.Tensor.index_add_"}


def test_an_unknown_op_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean.*crop_and_resize"):
        planned(VerifyOptions(ops=("tf.image.crop_and_resiz",)))


@pytest.mark.parametrize("options", [VerifyOptions(), VerifyOptions(ops=("tf.gather",), all=True)])
def test_exactly_one_thing_is_asked_for(options: VerifyOptions) -> None:
    with pytest.raises(UsageError, match="name one of"):
        planned(options)


def test_all_of_a_framework() -> None:
    assert planned(VerifyOptions(all=True, framework="torch")).frameworks == ("torch",)
    assert planned(VerifyOptions(all=True)).frameworks == FRAMEWORKS


def test_every_op_of_tensorflow_has_a_case_or_says_why_it_has_none() -> None:
    without = {one.op.name: one.without for one in read_cases() if not one.cases and one.op.framework == "tensorflow"}
    assert len(without) == 10
    assert not {name for name, why in without.items() if why == "the catalogue has no case for it"}
    plan = planned(VerifyOptions(ops=("tensorflow.contrib.layers.batch_norm",)))
    assert {one.reason for one in plan.unexecuted} == {"tf.contrib is gone since TensorFlow 2.0"}


def test_what_takes_long_is_executed_if_it_is_asked_for() -> None:
    plan = planned(VerifyOptions(ops=("torch.Tensor.index_add_",)))
    assert {case.execution for case in plan.cases} == {"eager"}
    (left,) = plan.unexecuted
    assert left.op == "torch.Tensor.index_add_ / forward / compiled / float32"
    assert "--execution compiled" in left.reason
    plan = planned(VerifyOptions(ops=("torch.Tensor.index_add_",), executions=("compiled",)))
    assert {case.execution for case in plan.cases} == {"compiled"}
    assert not plan.unexecuted


def test_a_script_is_linted_and_its_report_means_the_same(d9mlint: Callable[..., object]) -> None:
    Path("train.py").write_text(SCRIPT)
    from_script = planned(VerifyOptions(path=Path("train.py")))
    assert "tf.image.crop_and_resize" in {case.op for case in from_script.cases}
    assert any("train.py:8 " in place for place in from_script.findings["tf.image.crop_and_resize"])
    d9mlint("check", "train.py", "--format", "json", "--output", "report.json")
    assert planned(VerifyOptions(path=Path("report.json"))) == from_script


def test_a_report_without_ops_is_read_by_its_messages(d9mlint: Callable[..., object]) -> None:
    finding = {
        "rule": "nondeterministic-op",
        "path": "a.py",
        "line": 3,
        "message": "the gradient of `tf.gather` varies",
    }
    Path("report.json").write_text(json.dumps({"schema": 1, "findings": [finding]}))
    plan = planned(VerifyOptions(path=Path("report.json")))
    assert {case.op for case in plan.cases} == {"tf.gather"}
    assert plan.findings == {"tf.gather": ("a.py:3 nondeterministic-op",)}


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', '{"schema": 1, "findings": [{"rule": 1}]}'])
def test_what_is_no_report_is_refused(d9mlint: Callable[..., object], text: str) -> None:
    Path("report.json").write_text(text)
    with pytest.raises(UsageError, match=r"report\.json"):
        planned(VerifyOptions(path=Path("report.json")))


def test_an_op_whose_case_is_a_probe_is_there_once() -> None:
    assert [bool(one.cases) for one in read_cases() if one.op.name == "torch.gather"] == [True]
    assert [bool(one.cases) for one in read_cases() if one.op.name == "torch.kthvalue"] == [False]


def test_linting_does_not_know_the_probes() -> None:
    from d9mlint.catalogue import load

    assert (ROOT / "rules" / "probes" / "torch.yaml").is_file()
    assert "torch.matmul" not in {op.name for op in load(cache=False).ops}
