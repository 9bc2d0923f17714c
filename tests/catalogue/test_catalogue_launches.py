"""Specifications of kernels: every complaint names the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.catalogue.schema.launches import read_launches
from d9mlint.model import CatalogueError

GOOD = """\
kernels:
  - kernel: ns::add
    template: [float, 4, "Reduce::SUM"]
    source: k.cu
    include: [inner]
    define: [WITH_CUDA, N=3]
    grid: [4, 2]
    block: 64
    shared: 512
    arguments:
      x: {dtype: float32, shape: [256]}
      i: {dtype: int64, shape: [256], values: index, below: 8, passed: false}
      info: {code: "Info<int64_t>(i, 256)"}
      o: {dtype: float32, shape: [8], values: zeros, output: true}
      n: {dtype: int32, value: 256}
      flag: {dtype: bool, value: true}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("")
    return Path("spec.yaml")


def test_what_it_says(spec: Path) -> None:
    spec.write_text(GOOD)
    (launch,) = read_launches(spec)
    assert launch.name == launch.signature == "ns::add<float, 4, Reduce::SUM>"
    assert (launch.source, launch.include, launch.define) == ("k.cu", ("inner",), ("WITH_CUDA", "N=3"))
    assert (launch.grid, launch.block, launch.shared) == ((4, 2), (64,), 512)
    assert [one.name for one in launch.buffers] == ["x", "i", "o"]
    assert [one.value for one in launch.arguments[-2:]] == [256, True]
    assert launch.dtype == "float32"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kernel: ns::add", "kernel: 'add<int>'", "2: `kernel` must be the name of a kernel, without template"),
        ("source: k.cu", "source: gone.cu", "4: source not found: gone.cu"),
        ("    source: k.cu\n", "", "2: `kernels` lacks `source`"),
        ("block: 64", "block: 2048", "8: `block` has one to three sizes of at least 1, and 1024 threads at most"),
        ("grid: [4, 2]", "grid: [4, 0]", "7: `grid` has one to three sizes"),
        ("shared: 512", "shared: -1", "9: `shared` is a number of bytes up to"),
        ("shared: 512", "sharde: 512", "9: unknown key `sharde`"),
        ("WITH_CUDA", "'a b'", "6: `define` must be NAME or NAME=VALUE"),
        ("below: 8, ", "", "12: `below` (at least 1) goes with"),
        ("dtype: float32, shape: [256]", "dtype: float8, shape: [256]", "11: `dtype` must be one of"),
        (", output: true", "", "11: no buffer has `output: true`"),
        ("value: 256", "value: 2.5", "15: the value of `n` is no int32"),
        ("value: true", "value: 1", "16: the value of `flag` is no bool"),
        ("Info<int64_t>(i, 256)", "a; b", "13: `code` must be a C++ expression"),
        ("      n:", "      n-1:", "15: an argument needs a name as in C++"),
        ("kernels:", "kernel:", "1: unknown key `kernel`"),
    ],
)
def test_what_is_wrong(spec: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    spec.write_text(GOOD.replace(old, new))
    with pytest.raises(CatalogueError) as caught:
        read_launches(spec)
    assert str(caught.value).startswith("spec.yaml:")
    assert said in str(caught.value)


def test_two_kernels_of_one_name(spec: Path) -> None:
    spec.write_text(GOOD + GOOD.removeprefix("kernels:\n"))
    with pytest.raises(CatalogueError, match="two kernels are called"):
        read_launches(spec)


@given(st.text(max_size=200))
def test_garbage_is_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogueError):
        read_launches(path)
