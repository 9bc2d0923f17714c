"""The hash that is computed on the device: it must see every bit and every place, in every dtype of every framework."""

from __future__ import annotations

import importlib.util
import json
import random
import struct
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from support import interpreter

HASHING = Path(__file__).with_name("hashing_child.py")
CHUNK = 2**18
SIZES = {"bool": 1, "uint8": 1, "int8": 1, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "int64": 8}
SIZES.update(float64=8, complex64=8, complex128=16)
SPECIAL = ("0000000000000080", "00000000", "00000080", "0000c07f", "0100c07f", "0100807f", "0000c0ff", "0000807f")
"""-0.0, then 0.0, -0.0 and not-a-numbers of several payloads, quiet and signalling, and infinity."""


@pytest.fixture(scope="module")
def base() -> ModuleType:
    """The child's module, without any framework."""
    path = ROOT / "d9mlint" / "verify" / "child" / "frameworks" / "base.py"
    spec = importlib.util.spec_from_file_location("child_base", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(data: bytes, size: int) -> list[int]:
    """The words of elements of that size, by the standard library."""
    letter, width = {1: ("B", 1), 2: ("h", 2)}.get(size, ("i", 4))
    return list(struct.unpack(f"={len(data) // width}{letter}", data))


def expected(values: list[int], weights: tuple[int, ...]) -> list[int]:
    """The sums, by integers of any size."""
    sums = []
    for start in range(0, len(values), CHUNK):
        total = sum(one * two for one, two in zip(values[start : start + CHUNK], weights, strict=False)) % 2**64
        sums.append(total - 2**64 if total >= 2**63 else total)
    return sums


def bits(dtype: str) -> list[bytes]:
    """Arrays of a dtype: random bits, special values, a swap, one flipped bit, and more than a chunk."""
    draw, size = random.Random(dtype), SIZES[dtype]
    if dtype == "bool":
        plain = bytes([0, 1] * 20 + [1, 1])
    else:
        special = b"".join(map(bytes.fromhex, SPECIAL))
        plain = special * size + draw.randbytes(37 * size)
    swapped = plain[-size:] + plain[size:-size] + plain[:size]
    flipped = bytes([plain[0] ^ 1]) + plain[1:]
    signed = plain[:-1] + bytes([plain[-1] ^ (1 if dtype == "bool" else 128)])
    long = bytes(n % 2 for n in range(CHUNK + 3)) if dtype == "bool" else draw.randbytes((CHUNK + 3) * size)
    return [plain, swapped, flipped, signed, long, plain[:size]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "variable", "dtypes"),
    [
        ("tensorflow", "D9MLINT_TF_PYTHON", SIZES),
        ("torch", "D9MLINT_TORCH_PYTHON", SIZES),
        ("jax", "D9MLINT_JAX_PYTHON", SIZES),
        ("numba", "D9MLINT_NUMBA_PYTHON", [one for one in SIZES if one != "bfloat16"]),
    ],
)
def test_every_bit_and_every_place(framework: str, variable: str, dtypes: list[str], base: ModuleType) -> None:
    asked = [(dtype, data) for dtype in dtypes for data in bits(dtype)]
    text = json.dumps([[dtype, data.hex()] for dtype, data in asked])
    ran = subprocess.run(
        [interpreter(framework, variable), str(HASHING), framework],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    weights = struct.unpack(f"<{CHUNK}q", base.weights(CHUNK))
    answers = json.loads(ran.stdout.splitlines()[-1])
    for (dtype, data), (sums, came_back, _) in zip(asked, answers, strict=True):
        assert bytes.fromhex(came_back) == data, dtype
        assert sums == expected(words(data, SIZES[dtype]), weights), dtype
    marks = [mark for _, _, mark in answers]
    assert len(set(marks)) == len(marks)


def test_weights_are_odd_and_always_the_same(base: ModuleType) -> None:
    weights = struct.unpack("<1000q", base.weights(1000))
    assert all(one % 2 for one in weights)
    assert len(set(weights)) == 1000
    assert base.weights(10) == base.weights(1000)[:80]


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=40), st.data())
def test_one_other_word_is_always_seen(base: ModuleType, values: list[int], data: st.DataObject) -> None:
    weights = struct.unpack("<40q", base.weights(40))
    place = data.draw(st.integers(0, len(values) - 1))
    other = data.draw(st.integers(-(2**31), 2**31 - 1).filter(lambda one: one != values[place]))
    changed = [*values[:place], other, *values[place + 1 :]]
    assert expected(values, weights) != expected(changed, weights)
