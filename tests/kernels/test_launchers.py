"""Python functions that launch Triton kernels: what they hand in, and whose gradients they are."""

from __future__ import annotations

import textwrap

import pytest

from d9mlint.kernels.scan import scan
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import KernelScan

_KERNEL = """
import torch, triton
import triton.language as tl
@triton.jit
def kern(o, a, n: tl.constexpr, DETERMINISTIC: tl.constexpr):
    i = tl.arange(0, n)
    if DETERMINISTIC:
        tl.store(o + i, tl.load(a + i))
    else:
        tl.atomic_add(o + i % 2, tl.load(a + i).to(tl.float32))
"""
_MODE = """
import os, torch
_override = None
def in_deterministic_mode():
    if _override is not None:
        return _override
    return torch.are_deterministic_algorithms_enabled()
def other():
    return torch.is_grad_enabled()
"""


def _scan(**files: str) -> KernelScan:
    texts = {f"pkg/{name}.py": textwrap.dedent(text).encode() for name, text in files.items()} | {
        "pkg/__init__.py": b""
    }
    return scan(Repository(sorted(texts), lambda path: texts[path]), jobs=1)


@pytest.mark.parametrize(
    ("before", "given", "level"),
    [
        ("", "torch.are_deterministic_algorithms_enabled()", "other-path"),
        ("mode = in_deterministic_mode()", "mode", "other-path"),
        ("mode = other()", "mode", "none"),
        ("", "False", "none"),
    ],
)
def test_a_switch_that_deterministic_mode_sets(before: str, given: str, level: str) -> None:
    launcher = f"""
from pkg.mode import in_deterministic_mode, other
BLOCK = min(c.kwargs["BLOCK"] for c in kern.configs)
def total(a):
    {before or "pass"}
    o = torch.zeros(2, device="cuda")
    kern[(4,)](o, a, BLOCK, DETERMINISTIC={given})
    best = kern.best_config.kwargs["BLOCK"]
    return o[:best]
"""
    found = _scan(mode=_MODE, ops=_KERNEL + launcher)
    assert [site.guard.level for site in found.sites] == [level]


def test_a_mode_that_the_file_itself_asks_for() -> None:
    launcher = """
def total(a):
    o = torch.zeros(2, device="cuda")
    kern[(4,)](o, a, 32, DETERMINISTIC=in_deterministic_mode())
    return o
"""
    found = _scan(ops=_MODE + _KERNEL + launcher)
    assert [site.guard.level for site in found.sites] == ["other-path"]


def test_a_public_launcher_that_is_a_gradient_in_another_file() -> None:
    launcher = """
def compute_total(a):
    o = torch.zeros(2, device="cuda")
    kern[(4,)](o, a, 32, False)
    return o
"""
    user = """
import torch
from pkg.ops import compute_total
class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a
    @staticmethod
    def backward(ctx, g):
        return compute_total(g)
def total(a):
    return Total.apply(a)
def shown(a):
    return compute_total(a)
"""
    found = _scan(ops=_KERNEL + launcher, user=user)
    op = next(op for op in found.ops)
    assert op.direction == "backward" and op.gradient_of == ("pkg.user.Total",)
    assert "pkg.user.total" in op.python and "pkg.user.shown" not in op.python
