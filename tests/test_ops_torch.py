"""The catalogue of PyTorch ops: its shape, and boundaries read from torch/__init__.py and torch/nn/functional.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import read_yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

FILE = Path(__file__).parents[1] / "rules" / "ops" / "torch.yaml"
CATALOGUE: dict[str, Any] = read_yaml(FILE)
OPS: dict[str, dict[str, Any]] = {op["op"]: op for op in CATALOGUE["ops"]}
MINORS = (*(f"1.{n}" for n in range(14)), *(f"2.{n}" for n in range(16)))
VERSIONS = tuple(Version(f"{minor}.{patch}") for minor in MINORS for patch in (0, 1))

# (entry, version, what deterministic mode does; "" = not affected)
BOUNDARIES = (
    ("torch.nn.functional.conv2d", "1.6.0", "varies"),
    ("torch.nn.functional.conv2d", "1.7.1", "same"),
    ("torch.nn.functional.max_pool3d", "2.11.0", "raises"),
    ("torch.nn.functional.max_pool3d", "2.13.0", "same"),
    ("torch.nn.functional.max_unpool2d", "1.12.1", "varies"),
    ("torch.nn.functional.max_unpool2d", "1.13.1", "raises"),
    ("torch.nn.ReplicationPad2d", "2.1.2", "raises"),
    ("torch.nn.ReplicationPad2d", "2.2.2", "same"),
    ("torch.nn.ReplicationPad3d", "2.2.2", "raises"),
    ("torch.nn.ReplicationPad3d", "2.3.1", "same"),
    ("torch.nn.ReflectionPad3d", "1.9.1", ""),
    ("torch.nn.ReflectionPad3d", "1.10.2", "raises"),
    ("torch.nn.functional.interpolate with mode=bilinear", "2.0.1", "raises"),
    ("torch.nn.functional.interpolate with mode=bilinear", "2.1.2", "same"),
    ("torch.nn.functional.interpolate with mode=trilinear", "2.8.0", "raises"),
    ("torch.nn.functional.interpolate with mode=trilinear", "2.9.1", "same"),
    ("torch.nn.functional.interpolate with mode=bicubic", "2.14.1", "raises"),
    ("torch.nn.functional.interpolate with mode=bicubic", "2.15.0", "same"),
    ("torch.nn.functional.interpolate with mode=linear", "2.15.0", "raises"),
    ("torch.nn.functional.interpolate with mode=nearest", "1.1.0", "varies"),
    ("torch.nn.functional.interpolate with mode=nearest", "1.2.0", ""),
    ("torch.nn.functional.grid_sample", "2.15.0", "raises"),
    ("torch.nn.functional.embedding", "2.13.0", ""),
    ("torch.nn.functional.embedding", "2.14.1", "same"),
    ("torch.Tensor.index_add_", "1.8.1", "raises"),
    ("torch.Tensor.index_add_", "1.9.1", "same"),
    ("torch.Tensor.scatter_add_", "1.12.1", "raises"),
    ("torch.Tensor.scatter_add_", "1.13.1", "same"),
    ("torch.gather", "1.8.1", "varies"),
    ("torch.gather", "1.12.1", "raises"),
    ("torch.gather", "1.13.1", "same"),
    ("torch.cumsum", "1.12.1", "varies"),
    ("torch.cumsum", "2.5.1", "raises"),
    ("torch.cumsum", "2.6.0", "same"),
    ("torch.kthvalue", "2.9.1", "raises"),
    ("torch.kthvalue", "2.10.0", ""),
    ("torch.bincount without weights", "2.0.1", "raises"),
    ("torch.bincount without weights", "2.1.2", ""),
    ("torch.bincount with weights", "2.15.0", "raises"),
    ("torch.histc", "1.7.1", "raises"),
)


def fitting(name: str, version: str | Version) -> list[dict[str, str]]:
    return [dict(one) for one in OPS[name]["status"] if SpecifierSet(one["versions"]).contains(str(version))]


@pytest.mark.parametrize(("name", "version", "mode"), BOUNDARIES)
def test_what_deterministic_mode_does_changes_where_the_sources_say_so(name: str, version: str, mode: str) -> None:
    found = fitting(name, version)
    assert (found[0]["deterministic_mode"] if found else "") == mode


@pytest.mark.parametrize("name", OPS)
def test_ranges_of_versions_do_not_overlap_and_have_no_gap(name: str) -> None:
    covered = [len(fitting(name, version)) for version in VERSIONS]
    assert max(covered) == 1
    known = "".join(map(str, covered)).strip("0")
    assert "0" not in known, "a gap between versions"


@pytest.mark.parametrize("name", OPS)
def test_every_op_says_why_and_what_to_do(name: str) -> None:
    op = OPS[name]
    assert op["why"].strip().endswith((".", ".)"))
    assert all(status["remedy"].strip() for status in op["status"])
    assert set(op["devices"]) <= {"gpu", "cpu"}


def test_names_are_unique_and_names_without_a_receiver_are_those_of_tensors_or_graphs() -> None:
    assert len(OPS) == len(CATALOGUE["ops"])
    named = {call.removeprefix("?.") for op in OPS.values() for call in op["calls"] if call.startswith("?.")}
    calls = [call for op in OPS.values() for call in op["calls"]]
    known = {call.removeprefix("torch.Tensor.").removeprefix("dgl.DGLGraph.") for call in calls}
    assert named <= known
    assert not named & {"take", "cumsum", "median", "repeat_interleave", "bincount"}, "arrays of NumPy have these, too"
