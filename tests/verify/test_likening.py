"""Cases like the call of a program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import commanded
from test_cli_verify import OPS

from d9mlint.model import Case, Input, OpCall
from d9mlint.verify.likening import like, unlike

CASE = Case(
    "torch.nn.functional.interpolate", "torch", "backward", 'torch.nn.functional.interpolate(x, mode="bilinear")',
    inputs=(Input("x", (8, 16, 32, 32)),), gradient=("x",),
)  # fmt: skip
CALL = OpCall(
    CASE.op, "torch.nn.functional.interpolate", "train.py:9", (("mode", "'bicubic'"), ("scale_factor", "2")), "bfloat16",
    (("0", "[1, 3, 16, 16]"),), "float16", "compiled",
)  # fmt: skip


def test_a_case_takes_what_is_known_of_the_call() -> None:
    made = like([CASE], CALL)
    assert (made.dtype, made.execution, made.autocast, made.like) == ("bfloat16", "compiled", "float16", "train.py:9")
    assert made.run == "torch.nn.functional.interpolate(x, mode='bicubic', scale_factor=2)"
    assert [one.shape for one in made.inputs] == [(1, 3, 16, 16)]


def test_where_sizes_do_not_go_together_words_and_truth_values_are_left() -> None:
    plain = like([CASE], CALL).instead
    assert plain is not None
    assert (plain.dtype, plain.execution, plain.instead) == ("bfloat16", "compiled", None)
    assert plain.run == "torch.nn.functional.interpolate(x, mode='bicubic')"
    assert plain.inputs == CASE.inputs


def test_what_still_differs_is_one_line() -> None:
    assert unlike(CASE, [CALL], "cpu") == (
        "float32 8x16x32x32 instead of bfloat16 [1, 3, 16, 16]; eager instead of compiled; without autocast to float16; "
        "mode='bilinear', no scale_factor instead of mode='bicubic', scale_factor=2"
    )
    made = like([CASE], CALL)
    assert unlike(made, [CALL], "cpu") == ""
    assert made.instead is not None
    assert unlike(made.instead, [CALL], "cpu") == (
        "8x16x32x32 instead of [1, 3, 16, 16]; no scale_factor instead of scale_factor=2"
    )
    assert unlike(CASE, [], "cpu") == ""
    assert unlike(CASE, [CALL, OpCall(CASE.op, "interpolate")], "cpu") == ""  # the call that is likest


def test_what_is_not_seen_of_a_call_is_left_as_it_is() -> None:
    made = like([CASE], OpCall(CASE.op, "torch.nn.functional.interpolate", "train.py:9", (("mode", "'bilinear'"),)))
    assert made == CASE._replace(like="train.py:9")
    assert like([CASE], OpCall(CASE.op, "other", execution="jit")).execution == "eager"  # torch has no such execution


ADDED = Case(
    "torch.Tensor.index_add_", "torch", "forward", "source.new_zeros(16, 4).index_add_(0, index, source)",
    inputs=(Input("index", (65536,), "index", below=16, scaled=(0,)), Input("source", (65536, 4), scaled=(0,))),
    scale={"gpu": 16},
)  # fmt: skip


def test_sizes_are_those_of_what_stands_at_the_same_place() -> None:
    shapes = (("self", "[128, 64]"), ("1", "[1000]"), ("2", "[1000, 64]"))
    call = OpCall(ADDED.op, "torch.Tensor.index_add", "train.py:9", (("0", "0"),), shapes=shapes)
    made = like([ADDED], call)
    assert made.run == "source.new_zeros(128, 64).index_add_(0, index, source)"
    assert [one.shape for one in made.on("gpu").inputs] == [(1000,), (1000, 64)]
    assert unlike(made, [call], "gpu") == ""


def test_sizes_that_are_too_large_are_not_made() -> None:
    call = OpCall(ADDED.op, "torch.Tensor.index_add", "train.py:9", shapes=(("2", "[100000, 1000]"),))
    assert like([ADDED], call) == ADDED._replace(like="train.py:9")


def test_of_several_cases_the_likest_is_made_like_the_call() -> None:
    cases = [CASE._replace(run=f"torch.bincount(index{weights}, minlength=4)") for weights in ("", ", weights=w")]
    call = OpCall(CASE.op, "torch.bincount", "train.py:9", (("minlength", "8"),), shapes=(("weights", "[64]"),))
    assert like(cases, call).run == "torch.bincount(index, weights=w, minlength=8)"
    assert unlike(cases[0], [call], "cpu").endswith("minlength=4, no weights instead of minlength=8, weights=[64]")


def test_a_function_takes_of_a_layer_only_what_it_has() -> None:
    function = CASE._replace(run="torch.nn.functional.conv_transpose2d(x, w, padding=1)")
    call = OpCall(CASE.op, "torch.nn.ConvTranspose2d", "train.py:9", (("padding", "2"), ("bias", "False")))
    assert like([function], call).run == "torch.nn.functional.conv_transpose2d(x, w, padding=2)"
    assert unlike(function, [call], "cpu").endswith("padding=1, no bias instead of padding=2, bias=False")


def test_a_layer_is_made_with_the_words_of_the_call() -> None:
    layer = Case(
        "tf.keras.layers.Conv2D", "tensorflow", "backward", "layer(x)", "plain", (Input("x", (4, 16, 16, 3)),),
        {"layer": "keras.layers.Conv2D(16, 3)"},
    )  # fmt: skip
    given = (("0", "8"), ("padding", "'same'"), ("name", "'first'"))
    made = like([layer], OpCall(layer.op, "keras.layers.Conv2D", "train.py:9", given))
    assert made.make == {"layer": "keras.layers.Conv2D(16, 3, padding='same')"}
    assert made.name == ""  # a case that is told apart by its arguments is another one now


@pytest.fixture
def verify(d9mlint: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    return commanded(d9mlint, tmp_path, monkeypatch, OPS.replace('run: "1.0"', 'run: "torch.steady(kind=1)"'))


def report(**call: object) -> None:
    called = {"op": "steady", "name": "torch.steady", "place": "a.py:3", **call}
    finding = {"rule": "nondeterministic-op", "path": "a.py", "line": 3, "message": "...", "ops": ["steady"]}
    Path("report.json").write_text(json.dumps({"schema": 1, "findings": [{**finding, "calls": [called]}]}))


def test_the_case_and_the_one_like_the_call_are_both_executed(verify: Callable[..., Any]) -> None:
    report(dtype="bfloat16")
    found = {one["like"]: one for one in verify("report.json", "--format", "json").json["evidence"]}
    assert (found["a.py:3"]["dtype"], found["a.py:3"]["unlike"]) == ("bfloat16", None)
    assert found[None]["unlike"] == "float32 instead of bfloat16"


def test_a_case_that_is_already_like_the_call_says_so(verify: Callable[..., Any]) -> None:
    report(dtype="float32")
    ran = verify("report.json")
    assert ran.out.count("not-reproduced steady") == 1
    assert "like: as called in a.py:3\n" in ran.out


def test_a_call_that_the_op_refuses_is_told_and_no_failure(verify: Callable[..., Any]) -> None:
    report(arguments={"word": "'x'"})
    ran = verify("report.json", "--format", "json")
    assert ran.code == 0
    assert [one["like"] for one in ran.json["evidence"]] == [None]
    (left,) = ran.json["unexecuted"]
    assert "cannot be made like the call in a.py:3" in left["reason"]


def test_sizes_that_the_op_refuses_give_way_to_those_of_the_case(verify: Callable[..., Any]) -> None:
    report(dtype="bfloat16", arguments={"size": "3"})
    ran = verify("report.json", "--format", "json")
    assert (ran.code, ran.json["unexecuted"], ran.json["unfinished"]) == (0, [], [])
    found = {one["like"]: one for one in ran.json["evidence"]}
    assert found["a.py:3"]["unlike"] == "no size instead of size=3"
    assert len(found) == 2


@pytest.mark.parametrize("words", [["--target", "torch==2.1"], ["--launcher", "run.sh"]])
def test_how_a_script_is_started_goes_with_a_script(verify: Callable[..., Any], words: list[str]) -> None:
    assert "go with a script" in verify("--op", "steady", *words).err
    assert "go with a script" in verify("--op", "steady", "--", "--lr", "1").err
