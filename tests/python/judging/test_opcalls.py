"""What a finding tells of the calls that it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """\
import torch

torch.manual_seed(0)
{setup}
index = torch.randint(0, 8, (64,))
x = torch.randn(64, 128, dtype=torch.bfloat16, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1)
for _ in range(10):
    {context}
        total = torch.zeros(8, 128).cuda().index_add(0, index.cuda(), {added})
    total.sum().backward()
    optimizer.step()
torch.save(x, "x.pt")
"""


@pytest.fixture
def call(d9mlint: Callable[..., Any]) -> Callable[..., Any]:
    def called(setup: str = "", context: str = "if True:", added: str = "x.cuda()") -> Any:
        Path("train.py").write_text(PROGRAM.format(setup=setup, context=context, added=added))
        found = d9mlint("check", "train.py", "--format", "json").json["findings"]
        return next(call for one in found for call in one.get("calls", []) if call["op"] == "torch.Tensor.index_add_")

    return called


def test_types_and_shapes_are_followed_to_what_made_them(call: Callable[..., Any]) -> None:
    told = call()
    assert (told["name"], told["place"]) == ("torch.Tensor.index_add", "train.py:10")
    assert told["dtype"] == "bfloat16"
    assert told["shapes"] == {"self": "[8, 128]", "1": "[64]", "2": "[64, 128]"}
    assert told["arguments"] == {"0": "0"}
    assert "execution" not in told
    assert "autocast" not in told


@pytest.mark.parametrize(
    ("added", "dtype"), [("x.cuda().half()", "float16"), ("x.to(torch.float64)", "float64"), ("x.double()", "float64")]
)
def test_the_last_cast_counts(call: Callable[..., Any], added: str, dtype: str) -> None:
    assert call(added=added)["dtype"] == dtype


def test_autocast_and_its_type(call: Callable[..., Any]) -> None:
    assert call(context='with torch.autocast("cuda", dtype=torch.bfloat16):')["autocast"] == "bfloat16"
    assert call(context='with torch.autocast("cuda"):')["autocast"] == "float16"
    assert "autocast" not in call(context='with torch.autocast("cuda", enabled=False):')


NETWORK = """\
import torch

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.c = torch.nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return torch.nn.functional.interpolate(self.c(x), scale_factor=2, mode="bicubic")


{made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    total = torch.zeros(8).cuda().index_add(0, torch.randint(0, 8, (64,)).cuda(), torch.randn(64).cuda())
    with torch.autocast("cuda"):
        loss = net(torch.randn(4, 3, 16, 16).cuda()).mean()
    loss.backward()
    optimizer.step()
torch.save([net, total], "x.pt")
"""
UPSAMPLED, LAYER = "torch.nn.functional.interpolate with mode=bicubic", "torch.nn.functional.conv2d"


@pytest.fixture
def ways(d9mlint: Callable[..., Any]) -> Callable[..., dict[str, tuple[str, str]]]:
    """By op, how it is executed and the type of autocast, in a program."""

    def called(text: str, *words: str) -> dict[str, tuple[str, str]]:
        Path("train.py").write_text(text)
        found = d9mlint("check", "train.py", *words, "--format", "json").json["findings"]
        calls = [call for one in found for call in one.get("calls", [])]
        return {call["op"]: (call.get("execution", ""), call.get("autocast", "")) for call in calls}

    return called


@pytest.mark.parametrize(
    "made",
    ["net = torch.compile(Net().cuda())", "net = torch.compile(Net()).cuda()", "net = Net().cuda(); net.compile()"],
)
def test_what_is_in_a_compiled_network_is_compiled_and_nothing_else(ways: Callable[..., Any], made: str) -> None:
    found = ways(NETWORK.format(made=made), "--target", "torch==2.13")
    assert found[UPSAMPLED] == found[LAYER] == ("compiled", "float16")
    assert found["torch.Tensor.index_add_"] == ("", "")


def test_a_network_that_is_not_compiled(ways: Callable[..., Any]) -> None:
    made = "net = Net().cuda()\nhead = torch.compile(torch.nn.Linear(4, 4))"
    found = ways(NETWORK.format(made=made), "--target", "torch==2.13")
    assert found[UPSAMPLED] == found[LAYER] == ("", "float16")


@pytest.mark.parametrize("compiled", [True, False])
def test_functions_that_are_compiled(ways: Callable[..., Any], compiled: bool) -> None:
    text = (
        "import torch\n\ntorch.manual_seed(0)\n{decorator}\ndef add(x, index):\n"
        "    return torch.zeros(8).cuda().index_add(0, index, x)\n\n"
        "{after}\nx = torch.randn(64, device='cuda', requires_grad=True)\n"
        "optimizer = torch.optim.SGD([x], lr=0.1)\n"
        "for _ in range(3):\n    add(x, torch.randint(0, 8, (64,)).cuda()).sum().backward()\n    optimizer.step()\n"
        "torch.save(x, 'x.pt')\n"
    )
    for decorator, after in (
        ("@torch.compile", ""),
        ("@torch.compile(dynamic=False)", ""),
        ("", "add = torch.compile(add)"),
    ):
        told = text.format(decorator=decorator if compiled else "", after=after if compiled else "")
        assert ways(told)["torch.Tensor.index_add_"] == ("compiled" if compiled else "", "")


KERAS = """\
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
{setup}
model = keras.Sequential([keras.layers.Conv2D(8, 3), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3)])
model.compile("sgd", "mse"{compiled})
model.fit(tf.random.normal([8, 16, 16, 3]), tf.random.normal([8, 3]))
model.save("m.keras")
"""


@pytest.mark.parametrize(
    ("target", "compiled", "execution"),
    [
        ("2.21", "", "xla"), ("2.21", ", jit_compile=False", "function"), ("2.21", ", run_eagerly=True", "eager"),
        ("2.12", "", "function"), ("2.12", ", jit_compile=True", "xla"),
    ],
)  # fmt: skip
def test_what_keras_trains_runs_as_its_compile_says(
    ways: Callable[..., Any], target: str, compiled: str, execution: str
) -> None:
    found = ways(KERAS.format(setup="", compiled=compiled), "--target", f"tensorflow=={target}")
    assert found["tf.keras.layers.Conv2D"] == (execution, "")


def test_a_policy_of_keras_is_its_autocast(ways: Callable[..., Any]) -> None:
    setup = 'keras.mixed_precision.set_global_policy("mixed_bfloat16")'
    found = ways(KERAS.format(setup=setup, compiled=""), "--target", "tensorflow==2.21")
    assert found["tf.keras.layers.Conv2D"] == ("xla", "bfloat16")


def test_a_function_of_tensorflow_is_compiled_by_xla_where_it_asks_for_that(ways: Callable[..., Any]) -> None:
    text = (
        "import tensorflow as tf\n\ntf.random.set_seed(0)\n\n@tf.function(jit_compile=True)\ndef other(x):\n    return x * 2\n\n"
        "@tf.function{how}\ndef add(x, index):\n    return tf.math.unsorted_segment_sum(x, index, 8)\n\n"
        "total = add(other(tf.random.normal([64])), tf.random.uniform([64], 0, 8, tf.int32))\ntf.io.write_file('x', tf.io.serialize_tensor(total))\n"
    )
    words = ("--target", "tensorflow==2.4")
    assert ways(text.format(how=""), *words)["tf.math.unsorted_segment_sum"][0] == "function"
    assert ways(text.format(how="(jit_compile=True)"), *words)["tf.math.unsorted_segment_sum"][0] == "xla"
