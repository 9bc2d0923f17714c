"""Rows that one Triton program owns, and those that only look so."""

from __future__ import annotations

import pytest

from .embedded_programs import only, scan

KERNEL = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
        pid = tl.program_id(0)
        row = tl.program_id(axis=1).to(tl.int64)
        offs = pid * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n).to(tl.float32)
        tl.atomic_add(out_ptr + row * stride + offs, x, mask=offs < n)

    def launch(x, out):
        _kernel[(4, 8)](x, out, 1000, 1024, BLOCK=256)
"""
OWN = (
    KERNEL.replace("        row = tl.program_id(axis=1).to(tl.int64)\n", "")
    .replace("row * stride + ", "")
    .replace("(4, 8)", "(4,)")
)


def test_a_row_of_a_known_length() -> None:
    site = only(OWN)
    assert (site.class_, site.verdict) == ("float-accumulate", "no"), site.reason
    assert "only one program of the grid writes the cell" in site.reason


def test_a_row_whose_length_is_handed_in() -> None:
    site = only(KERNEL)
    assert (site.class_, site.verdict) == ("float-accumulate", "conditional"), site.reason
    assert "if the step `stride` is long enough" in site.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_kernel[(4,)]", "_kernel[(4, 8)]"),
        ("pid * BLOCK +", "pid // 2 * BLOCK +"),
        ("pid * BLOCK +", "(pid + x_ptr) % 3 * BLOCK +"),
        ("pid * BLOCK + tl", "tl"),
        ("offs = pid", "n += tl.program_id(1)\n        offs = pid"),
        ("offs = pid", "pid += 1\n        offs = pid"),
        ("offs = pid", "out_ptr += n\n        offs = pid"),
        ("offs = pid", "tl.atomic_add(out_ptr + n, 1.0)\n        offs = pid"),
        ("offs = pid", "spread(out_ptr, n)\n        offs = pid"),
        ("offs = pid", "p = out_ptr + n\n        spread(p, n)\n        offs = pid"),
        ("tl.arange(0, BLOCK)\n", "tl.arange(0, BLOCK) % 8\n"),
        ("tl.arange(0, BLOCK)\n", "tl.load(x_ptr + tl.arange(0, BLOCK))\n"),
        ("out_ptr + offs, x,", "out_ptr + offs[:, None], x[:, None] + x[None, :],"),
        ("def launch(x, out):", "def other(x, out):\n        _kernel(x, out)\n\n    def launch(x, out):"),
    ],
)  # fmt: skip
def test_what_only_looks_like_an_own_row(old: str, new: str) -> None:
    text = OWN.replace(old, new)
    assert text != OWN
    site = scan(kernels=text).sites[-1]
    assert (site.class_, site.verdict) == ("float-accumulate", "yes"), site.reason


def test_tiles_of_two_dimensions() -> None:
    tile = OWN.replace(
        "out_ptr + offs, x,", "out_ptr + offs[:, None] * stride + tl.arange(0, 16)[None, :], x[:, None],"
    )
    site = only(tile)
    assert (site.class_, site.verdict) == ("float-accumulate", "conditional"), site.reason
    site = only(tile.replace("* stride", "* 16"))
    assert (site.class_, site.verdict) == ("float-accumulate", "no"), site.reason
    site = only(tile.replace("* stride", "* 8"))
    assert (site.class_, site.verdict) == ("float-accumulate", "yes"), site.reason


def test_an_address_that_is_made_in_two_places() -> None:
    twice = KERNEL.replace(
        "        tl.atomic_add(out_ptr + row * stride + offs,",
        "        to = out_ptr + row * stride\n        if n > 7:\n            to = out_ptr + pid\n        tl.atomic_add(to + offs,",
    ).replace("x = tl.load(x_ptr + offs, mask=offs < n).to(tl.float32)", "x = tl.load(x_ptr + offs, mask=offs < n)")
    made = "out = torch.empty(9, dtype=torch.float32)\n        _kernel[(4, 8)]"
    assert (only(twice.replace("_kernel[(4, 8)]", made)).class_) == "float-accumulate"
    assert (
        only(twice.replace("_kernel[(4, 8)]", made).replace("to = out_ptr + pid", "to = x_ptr + pid")).class_
        == "unknown"
    )
