"""Trees of settings (yacs and the like): constants are defaults from where something unknown is merged into them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DEFAULTS = """
cfg = CN()
cfg.seed = 1
cfg.use = "images"
cfg.data = CN()
cfg.data.kind = "image"
cfg.data.sizes = [4, 5]
"""
USE = """
torch.manual_seed(cfg.seed)
if cfg.data.kind == "video":
    print(np.random.rand(3))
print(torch.rand(cfg.data.sizes[0]))
"""
HEAD = """import argparse
import copy
import numpy as np
import torch
from yacs.config import CfgNode as CN

parser = argparse.ArgumentParser()
parser.add_argument("--config-file", default="")
parser.add_argument("--kind", default="image", choices=["image", "video"])
parser.add_argument("opts", nargs=argparse.REMAINDER)
args = parser.parse_args()
"""
VIDEO = "data.kind is video"


def _when(d9mlint: Callable[..., Any], text: str, *arguments: str) -> list[list[str]]:
    """The conditions of each use of NumPy's generator that nothing seeds."""
    Path("train.py").write_text(text)
    report = d9mlint("train.py", "--format", "json", "--select", "unseeded-numpy,partial-seed", *arguments).json
    return [found["when"] for found in report["findings"]]


@pytest.mark.parametrize(
    "merged",
    [
        "cfg.merge_from_list(args.opts)\n",
        "cfg.merge_from_file(args.config_file)\ncfg.merge_from_list(args.opts)\n",
        "if args.config_file:\n    cfg.merge_from_file(args.config_file)\ncfg.merge_from_list(args.opts)\n",
        "cfg = cfg.clone()\ncfg.defrost()\ncfg.merge_from_list(args.opts)\ncfg.freeze()\n",
        "cfg = copy.deepcopy(cfg)\ncfg.merge_from_list(args.opts)\n",
        "def merge(node):\n    node.merge_from_other_cfg(load(args.config_file))\n\nmerge(cfg)\n",
        "cfg.merge_from_list(['seed', 3])\ncfg.merge_from_list(args.opts)\n",
    ],
)
def test_what_is_merged_may_change_them(d9mlint: Callable[..., Any], merged: str) -> None:
    assert _when(d9mlint, HEAD + DEFAULTS + merged + USE) == [[VIDEO]]


@pytest.mark.parametrize(
    "merged",
    [
        "",
        "cfg.merge_from_list([])\n",
        "cfg.merge_from_list(['data.kind', 'audio', 'seed', 3])\n",
        "other = cfg.clone()\nother.merge_from_list(args.opts)\n",
        "cfg.merge_from_list(args.opts)\ncfg.data.kind = 'image'\n",
    ],
)
def test_what_is_known_stays_known(d9mlint: Callable[..., Any], merged: str) -> None:
    assert _when(d9mlint, HEAD + DEFAULTS + merged + USE) == []


def test_a_file_is_merged_only_where_one_is_given(d9mlint: Callable[..., Any]) -> None:
    merged = "if args.config_file:\n    cfg.merge_from_file(args.config_file)\n"
    ((*when,),) = _when(d9mlint, HEAD + DEFAULTS + merged + USE)
    assert sorted(when) == ["--config-file is set", VIDEO]


def test_known_values_are_set(d9mlint: Callable[..., Any]) -> None:
    assert _when(d9mlint, HEAD + DEFAULTS + "cfg.merge_from_list(['data.kind', 'video'])\n" + USE) == [[]]
    other = "other = CN({'data': {'kind': 'video'}})\ncfg.merge_from_other_cfg(other)\n"
    assert _when(d9mlint, HEAD + DEFAULTS + other + USE) == [[]]


def test_flags_that_are_assigned_stay_flags(d9mlint: Callable[..., Any]) -> None:
    merged = "cfg.data.kind = args.kind\ncfg.merge_from_list(args.opts)\n"
    assert _when(d9mlint, HEAD + DEFAULTS + merged + USE) == [["--kind is video"]]


def test_arguments_give_them_values(d9mlint: Callable[..., Any]) -> None:
    text = HEAD + DEFAULTS + "cfg.merge_from_list(args.opts)\n" + USE
    assert _when(d9mlint, text, "--", "data.kind", "video") == [[]]
    assert _when(d9mlint, text, "--", "data.kind", "image") == []
    assert _when(d9mlint, text, "--", "seed", "2") == []


def test_classes_of_the_program_are_nodes_too(d9mlint: Callable[..., Any]) -> None:
    node = "from yacs.config import CfgNode as Base\n\n\nclass CN(Base):\n    pass\n\n"
    assert _when(d9mlint, HEAD + node + DEFAULTS + "cfg.merge_from_file(args.config_file)\n" + USE) == [[VIDEO]]


@pytest.mark.parametrize(
    ("made", "merged"),
    [
        ("from fvcore.common.config import CfgNode\ncfg = CfgNode(", "cfg.merge_from_file(args.config_file)\n"),
        ("from mmengine.config import Config\ncfg = Config(", "cfg.merge_from_dict(args.opts)\n"),
        ("from mmcv import Config\ncfg = Config(", "cfg.merge_from_dict(args.opts)\n"),
        ("import ml_collections\ncfg = ml_collections.ConfigDict(", "cfg.update(load(args.config_file))\n"),
    ],
)
def test_dicts_inside_are_nodes(d9mlint: Callable[..., Any], made: str, merged: str) -> None:
    values = "{'seed': 1, 'data': {'kind': 'image', 'sizes': [4]}})\n"
    by_key = USE.replace("cfg.data.kind", "cfg['data'].get('kind')")
    assert _when(d9mlint, HEAD + made + values + merged + USE) == [[VIDEO]]
    assert _when(d9mlint, HEAD + made + values + merged + by_key) == [[VIDEO]]
    assert _when(d9mlint, HEAD + made + values + USE) == []


@pytest.mark.parametrize(
    ("defined", "read"),
    [
        ("flags.DEFINE_config_dict('config', get_config())", "cfg = FLAGS.config"),
        ("holder = flags.DEFINE_config_dict('config', get_config())", "cfg = holder.value"),
        ("flags.DEFINE_config_file('config', 'configs/default.py')", "cfg = FLAGS.config"),
        ("flags.DEFINE_config_file('config', './configs/default.py:big')", "cfg = FLAGS.config"),
    ],
)
def test_flags_of_configurations(d9mlint: Callable[..., Any], defined: str, read: str) -> None:
    values = "ml_collections.ConfigDict({'seed': 1, 'data': {'kind': 'image', 'sizes': [4]}})"
    made = f"import ml_collections\n\ndef get_config(size='small'):\n    return {values}\n\n"
    Path("configs").mkdir()
    Path("configs/default.py").write_text(made)
    text = (
        "import numpy as np\nimport torch\nfrom absl import app\nfrom absl.flags import FLAGS\n"
        f"from ml_collections import config_flags as flags\n{made}{defined}\n\n"
        f"def main(_):\n    {read}\n    " + USE.strip().replace("\n", "\n    ") + "\n\napp.run(main)\n"
    )
    assert _when(d9mlint, text) == [["--config.data.kind is video"]]
    assert _when(d9mlint, text, "--", "--config.data.kind=video") == [[]]
    assert _when(d9mlint, text, "--", "--config.seed=2") == []


def test_a_node_in_a_network_draws_nothing(d9mlint: Callable[..., Any]) -> None:
    Path("config.py").write_text("from yacs.config import CfgNode as CN\n" + DEFAULTS)
    net = """from config import cfg

class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)

cfg = cfg.clone()
cfg.merge_from_list(args.opts)
torch.manual_seed(cfg.seed)
net = Net(cfg.data)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net(torch.rand(3, 4)).sum().backward()
optimizer.step()
"""
    Path("train.py").write_text(HEAD + net)
    assert d9mlint("train.py", "--format", "json", "--select", "import-time-draw,seed-after-use").json["findings"] == []
