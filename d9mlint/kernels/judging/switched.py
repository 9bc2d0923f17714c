"""A switch in the expression around an atomic: ``keep_all ? i : atomicAdd(n, 1)``."""

from __future__ import annotations

import re

from d9mlint.kernels.sites.atomics import Atomic

_WITHIN = ("cast_expression", "parenthesized_expression", "binary_expression", "init_declarator")
_FLAG = re.compile(r"\(?\s*(!?)\s*\(?\s*(\w+)\s*\)?\s*\)?\Z")


def switch(atomic: Atomic) -> str:
    """When the expression takes the atomic and nothing else, by a flag that its function is given; empty for always."""
    at, function = atomic.node, atomic.function
    while at is not None and at.parent is not None and at.parent.type in _WITHIN:
        at = at.parent
    around = at.parent if at is not None else None
    if at is None or around is None or function is None or around.type != "conditional_expression":
        return ""
    condition = around.child_by_field_name("condition")
    flag = _FLAG.match(atomic.unit.text(condition)) if condition is not None else None
    if condition is None or flag is None or at == condition:
        return ""
    whole = function.node.parent if function.node.parent is not None else function.node
    start = whole.start_byte if whole.type == "template_declaration" else function.node.start_byte
    body = function.node.child_by_field_name("body")
    head = atomic.unit.data[start : body.start_byte if body is not None else start]
    if re.search(rb"\bbool\s+(?:const\s+)?" + flag[2].encode() + rb"\b", head) is None:
        return ""
    holds = (at == around.child_by_field_name("consequence")) != bool(flag[1])
    return f"only where `{flag[2]}` is {'true' if holds else 'false'}"
