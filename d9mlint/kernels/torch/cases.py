"""Which instances of a template reach a place in it: ``switch (OPTIMIZER) { case ADAM: launch... }``."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging.known.scalars import arguments
from d9mlint.kernels.torch.blocks import Block

_LEAVING = ("break_statement", "return_statement", "continue_statement", "goto_statement", "throw_statement")
_MAX_ARGUMENTS = 500


class Case(NamedTuple):
    """What an argument of a function template may be, so that one place in it is reached."""

    place: int
    """Which argument."""
    others: frozenset[str]
    """The labels of its ``switch`` that do not lead there."""

    def admits(self, other: Block, end: int) -> bool:
        """Whether the instance that another block names, with the name ending at a byte, can reach the place."""
        text = other.unit.data[end : end + _MAX_ARGUMENTS].lstrip().decode("utf-8", "replace")
        given = arguments(text) if text.startswith("<") and not text.startswith("<<<") else []
        return self.place >= len(given) or _last(given[self.place]) not in self.others


def case(block: Block, place: int) -> Case | None:
    """The condition on an argument of a function template under which a place in it is reached; None for none seen."""
    parameters = _parameters(block) if block.template and b"switch" in block.words else []
    if not parameters:
        return None
    at = block.unit.root.descendant_for_byte_range(place, place + 1)
    inner: tree_sitter.Node | None = None
    while at is not None and at.type != "template_declaration":
        if at.type == "case_statement":
            inner = at
        if at.type == "switch_statement" and inner is not None:
            condition = at.child_by_field_name("condition")
            name = block.unit.text(condition).strip("() \n") if condition is not None else ""
            if name in parameters:
                reaching, every = _labels(inner, block)
                return Case(parameters.index(name), frozenset(every - reaching))
            inner = None
        at = at.parent
    return None


def _labels(inner: tree_sitter.Node, block: Block) -> tuple[set[str], set[str]]:
    """The labels from which a case is reached, and all labels of its ``switch``."""
    siblings = (
        [c for c in inner.parent.named_children if c.type == "case_statement"] if inner.parent is not None else []
    )
    reaching: set[str] = set()
    every: set[str] = set()
    running: set[str] = set()
    for one in siblings:
        value = one.child_by_field_name("value")
        label = _last(block.unit.text(value)) if value is not None else ""
        running.add(label)
        every.add(label)
        if one.start_byte == inner.start_byte:
            reaching = set(running)
        if any(_leaves(child) for child in one.named_children):
            running = set()
    return reaching, every


def _leaves(node: tree_sitter.Node) -> bool:
    last = node.named_children[-1] if node.type == "compound_statement" and node.named_children else node
    return last.type in _LEAVING


def _last(text: str) -> str:
    return text.rpartition("::")[2].strip()


def _parameters(block: Block) -> list[str]:
    """The names of the parameters of a function template, in order."""
    above = block.function.node.parent if block.function is not None else None
    listed = above.child_by_field_name("parameters") if above is not None else None
    if listed is None:
        return []
    texts = (block.unit.text(child).partition("=")[0] for child in listed.named_children)
    words = (re.findall(r"\w+", text) for text in texts)
    return [found[-1] if found else "" for found in words]
