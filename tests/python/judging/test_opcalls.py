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
    assert told["shapes"] == {"self": "[8, 128]", "2": "[64, 128]"}
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


def test_a_program_that_compiles(call: Callable[..., Any]) -> None:
    assert call(setup="model = torch.compile(torch.nn.Linear(4, 4))")["execution"] == "compiled"
