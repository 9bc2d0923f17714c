"""What "No findings" rests on: the functions that are seen to be called, and the calls that could not be followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

BEGIN = "import sys, random\nimport importlib\nimport pickle\nimport torch, models\n\n"
MODELS = "class Small: pass\n\ndef large():\n    return Small()\n\ndef other():\n    pass\n"


@pytest.mark.parametrize(
    ("line", "call", "reason"),
    [
        ("getattr(torch.nn, sys.argv[1])()", "?", "it is a member of `torch.nn`, whose name is only known at run time"),
        (
            "{'a': models.Small, 'b': models.large, **vars(sys)}[sys.argv[1]]()",
            "?",
            "it is taken out of a table by a key that is only known at run time",
        ),
        ("importlib.import_module(sys.argv[1]).main()", "main", "the name of its module is only known at run time"),
        ("eval(sys.argv[1])", "builtins.eval", "it runs a text that is only known at run time"),
        (
            "pickle.load(open('model')).fit()",
            "pickle.load().fit",
            "it is a method of an object that was unpickled",
        ),
    ],
)
def test_what_something_may_hide_behind_is_told(
    d9mlint: Callable[..., Ran], tmp_path: Path, line: str, call: str, reason: str
) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(BEGIN + line + "\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    (coverage,) = ran.json["coverage"]
    (found,) = coverage["unfollowed"]
    assert (found["path"], found["line"], found["call"], found["reason"]) == ("train.py", 6, call, reason)
    assert ran.code == 0
    text = d9mlint("check", "train.py", "--no-cache", "--verbose").out
    assert text.startswith("No findings (1 call could not be followed: see --verbose).\n")
    assert f"train.py:6: {'a call' if call == '?' else f'`{call}`'} was not followed: {reason}" in " ".join(
        text.split()
    )


def test_members_of_one_module_of_a_framework_are_told_once(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    lines = [f"print(getattr(torch.nn, sys.argv[{number}])({number}))\n" for number in range(1, 4)]
    lines += ["getattr(torch.optim.lr_scheduler, sys.argv[1])()\n", "getattr(sys, sys.argv[1])()\n"]
    (tmp_path / "train.py").write_text(BEGIN + "".join(lines))
    (tmp_path / "models.py").write_text(MODELS)
    (coverage,) = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["coverage"]
    assert [(one["line"], one["reason"].partition("whose ")[2]) for one in coverage["unfollowed"]] == [
        (6, "name is only known at run time (also at 2 other places)")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "getattr(models, 'large')()",
        "getattr(models, sys.argv[1])()",
        "{'a': models.Small, 'b': models.large}[sys.argv[1]]()",
        "{'a': models.Small}['a']()",
        "importlib.import_module('models').large()",
        "eval('1 + 1')",
        "sys.argv[1].strip()",
        "{'a': 1, 'b': 2}[sys.argv[1]]",
    ],
)
def test_what_is_followed_or_cannot_matter_is_not(d9mlint: Callable[..., Ran], tmp_path: Path, line: str) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(BEGIN + line + "\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert ran.json["coverage"][0]["unfollowed"] == []


def test_functions_are_counted_by_file(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(BEGIN + "def main():\n    models.large()\n\nmain()\n")
    (coverage,) = d9mlint("check", "train.py", "--no-cache", "--format", "json").json["coverage"]
    assert coverage == {
        "entry": "train.py", "interpreted": True, "files": 2, "functions": 3, "uncalled": {"models.py": 1}, "unfollowed": []
    }  # fmt: skip
    text = d9mlint("check", "train.py", "--no-cache", "--verbose").out
    assert "  coverage:   2 of 3 functions are seen to be called\n" in text


def test_coverage_comes_out_of_the_cache_too(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(BEGIN + "getattr(models, sys.argv[1])()\n")
    first, second = (d9mlint("check", "train.py", "--format", "json").out for _ in range(2))
    assert first == second


REGISTRY = (
    "import importlib\nimport os\n\nnames = [one[:-3] for one in os.listdir('nets') if one.endswith('_net.py')]\n"
)
REGISTRY += "modules = [importlib.import_module(f'nets.{name}') for name in names]\n\n\n"
REGISTRY += "def find(name):\n    for module in modules:\n        cls = getattr(module, name, None)\n"
REGISTRY += "        if cls is not None:\n            break\n    return cls\n"
TRAINS = """import sys

import torch
import nets

net = nets.find(sys.argv[1])()
if len(sys.argv) > 2:
    net = torch.nn.DataParallel(net)
net.train()
print(net(torch.ones(1, 3, 4, 4)))
"""


@pytest.mark.parametrize("count", [3, 14, 25])
def test_what_a_registry_has_more_than_is_followed_is_told(
    d9mlint: Callable[..., Ran], tmp_path: Path, count: int
) -> None:
    """Networks of a registry are followed through what holds them, up to as many as are told apart."""
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").write_text(REGISTRY)
    for at in range(count):
        forward = f"class Net{at}(torch.nn.Module):\n    def forward(self, x):\n        return x * torch.rand(1)\n"
        (tmp_path / "nets" / f"n{at}_net.py").write_text(f"import torch\n\n\n{forward}")
    (tmp_path / "train.py").write_text(TRAINS)
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    (coverage,) = ran.json["coverage"]
    told = {one["reason"] for one in coverage["unfollowed"]}
    assert told == (
        set() if count <= 14 else {"it is found in one of several modules by a name that is only known at run time"}
    )
    if count <= 14:
        assert coverage["uncalled"] == {}
