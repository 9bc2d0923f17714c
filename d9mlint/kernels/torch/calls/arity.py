"""Whether a name can mean a function: by the number of arguments of its call, and by what else bears the name there.

Many functions bear a short name.
"""

from __future__ import annotations

import re

from d9mlint.kernels.judging.declarations import parameter_place
from d9mlint.kernels.sites.wrappers import arity
from d9mlint.kernels.source.lexical import arguments, word_places
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.torch.blocks import Block

_OPENING = re.compile(rb"\s*(?:<[^<>;{}()]{0,200}>\s*)?\(")
_SEVERAL = re.compile(rb"\.\.\.|\A\s*_*[A-Z][A-Z0-9_]+\s*\Z")
"""A pack, or a macro that may stand for several arguments."""
_PARENTHESIS = re.compile(rb"\s*\(")
_TYPED = re.compile(rb"[\w>*&]\s+\Z")
"""Before a name that is declared, which its type precedes."""
_MAX_BEFORE = 100
_DEFAULT = re.compile(rb"\s*[A-Za-z_][\w:<>,\s]*[\s*&]+\w+\s*=(?!=)")


def fits(other: Block, block: Block, place: int, repository: Repository) -> bool:
    """Whether the name at a place in another block can mean a function.

    It does not where a parameter around it has that name, or it is called with more or fewer arguments than it takes.
    """
    if block.function is None or block.kind != "function":
        return True
    if other.function is not None and parameter_place(other.function.node, block.name, other.unit) >= 0:
        return False
    data = other.unit.data
    opening = _OPENING.match(data, place + len(block.name), place + len(block.name) + 300)
    listed = arguments(data, opening.end() - 1) if opening is not None else None
    if listed is None or any(_SEVERAL.search(data[a:b]) for a, b in listed[0]):
        return True
    low, high = arity(block.function.node)
    count = len(listed[0])
    return low <= count <= high or (count < low and repository.derived(_defaulted, block.name))


def _defaulted(repository: Repository, name: str) -> bool:
    """Whether a declaration of that name has arguments with a default."""
    word = name.encode()
    for path in repository.holding(word):
        data = repository.data(path)
        for place in word_places(data, word) if b"=" in data else ():
            opening = _PARENTHESIS.match(data, place + len(word))
            if opening is None or _TYPED.search(data, max(0, place - _MAX_BEFORE), place) is None:
                continue
            listed = arguments(data, opening.end() - 1)
            if listed is not None and any(_DEFAULT.match(data, *span) for span in listed[0]):
                return True
    return False
