"""Code that computes gradients, by its names: what it adds up is floating point, whatever its type is called.

Frameworks differentiate floating point only (PyTorch: "only Tensors of floating point and complex dtype can require
gradients"), so a type parameter of which nothing is known, in a kernel named ``..._backward``, is no integer.
"""

from __future__ import annotations

import re

from d9mlint.kernels.sites.atomics import Atomic

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_GRADIENTS = frozenset((
    "grad", "grads", "backward", "bwd", "bprop", "backprop", "dgrad", "wgrad",
    "dq", "dk", "dv", "dkv", "dqkv", "dbias", "dweight",  # as attention calls those of `q`, `k` and `v`
))  # fmt: skip
_COUNTING = frozenset(
    ("id", "ids", "idx", "index", "indices", "int", "integer", "count", "counts", "counter", "num", "offset", "offsets",
     "size", "sizes")
)  # fmt: skip


def names(name: str) -> bool:
    """Whether a name says that gradients are computed: ``roi_pool_backward``, ``FilterGrad``, ``grad_input``.

    >>> names("KernelFilterGrad"), names("embed_bwd"), names("DQ_ptr"), names("gradient_x"), names("background")
    (True, True, True, False, False)
    """
    return any(word.lower() in _GRADIENTS for word in _WORDS.findall(name))


def counts(name: str) -> bool:
    """Whether a name is that of an index or a number of something: ``grad_indices``.

    >>> counts("grad_indices"), counts("index_grad")
    (True, False)
    """
    last = [word.lower() for word in _WORDS.findall(name)][-1:]  # an `offset_bottom_diff` is a diff
    return not _COUNTING.isdisjoint(last)


def named(atomic: Atomic, target: str, written: str) -> str:
    """The name that says that an atomic adds to a gradient: that of its function or target; empty for none.

    What its type or name says to be an index or a number of something is no gradient.
    """
    kinds = {word.lower() for word in _WORDS.findall(written)}
    if not _COUNTING.isdisjoint(kinds) or counts(target):
        return ""
    function = atomic.function.label if atomic.function is not None else ""
    of_what = target if len(_WORDS.findall(target)) > 1 else ""  # `grads` alone may be a struct of anything
    return next((name for name in (function, of_what) if names(name)), "")
