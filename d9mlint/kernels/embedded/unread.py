"""Calls in kernels written in Python that are named like atomics and that nothing here knows: told, never dropped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9mlint.kernels.python.calls import decorators
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention

_NAMED = re.compile(
    r"_*\w*[aA]tomic_?(?:[fF]etch_?)?(?:[aA]dd|[sS]ub|[mM]in|[mM]ax|[eE]xch|[xX]chg|[cC][aA][sS]|RMW)\w*"
)
_WORDS = re.compile(
    rb"[aA]tomic_?(?:[fF]etch_?)?(?:[aA]dd|[sS]ub|[mM]in|[mM]ax|[eE]xch|[xX]chg|[cC][aA][sS]|RMW)\w*\s*\("
)
_KERNEL = re.compile(r"(?:\A|[._])(?:kernel|jit|prim_func|func)(?:\Z|\()", re.IGNORECASE)


def may_be_unread(data: bytes) -> bool:
    """Whether a file calls what is named like an atomic; cheap to ask."""
    return b"tomic" in data and _WORDS.search(data) is not None


def unread(file: PyFile, read: set[int]) -> Iterator[int]:
    """The lines of calls of what is named like an atomic in kernels; ``read``: the lines on which sites begin.

    What the file defines itself is looked at by what it does.
    """
    own = {function.name for function in file.functions}
    for name in sorted(n for n in file.mentions if _NAMED.fullmatch(n) is not None and n not in own):
        for mention in file.mentions[name]:
            call = mention.call
            if call is not None and call.lineno not in read and _in_kernel(mention):
                yield call.lineno


def _in_kernel(mention: Mention) -> bool:
    """Whether a function around a place is decorated as a kernel."""
    functions = (s for s in mention.scopes if isinstance(s, ast.FunctionDef))
    return any(_KERNEL.search(shown(head)) is not None for function in functions for head in decorators(function))
