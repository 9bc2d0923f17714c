"""Seeds set to the one that a program has, where it is known, and within calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from d9mlint.fix import names
from d9mlint.fix.own import flags
from d9mlint.fix.own.flags import VALUE
from d9mlint.fix.own.where import Own, in_script, seed_call
from d9mlint.fix.place import Need
from d9mlint.fix.remedies import ROOTS
from d9mlint.fix.tree import Statement, Tree, at_start, behind, text_at, tree
from d9mlint.model import Edit, Location

_NUMBER = re.compile(r"\(\d+(?=(?:, \w+=\w+)?\)+$)")
_WRITTEN = re.compile(
    r"((?:\b\w*seed|\brandom_state|\brng|\bkey)=|(?:\w*seed|\bdefault_rng|\bRandomState|\bRandom|\bPRNGKey|\brandom\.key|"
    r"\bset_random_state|\bGenerator|\bPhilox|\bPCG64)\()1(?=[,)]|$)"
)
"""A constant seed in the code of a remedy, as a keyword or as the only argument."""
_BEFORE = re.compile(r"(?:seed|random_state|rng)\s*=\s*$")


def within(at: Location, source: bytes) -> Own | None:
    """The program's own seed that is known at a place; None where there is none."""
    return _within(at, source, ranked=True)


def _within(at: Location, source: bytes, *, ranked: bool) -> Own | None:
    """The same; without ``ranked`` it is the same in all processes, which may not draw different splits."""
    of = tree(source)
    place = of.statement(at) if of is not None else None
    if of is None or place is None:
        return None
    for own in in_script(at.path, of, "", ranked):
        node, functions = own.at.node, own.at.functions
        if isinstance(node, cst.FunctionDef):
            visible = node in place.functions
        else:
            visible = own.at.ends <= place.begins and functions == place.functions[: len(functions)]
            visible = visible or _is_given(of, own, place)
        if visible and not own.value.isdigit():
            return own
    return None


def is_lost(edit: Edit, source: bytes) -> bool:
    """Whether an edit puts a number where a seed is handed on, which then has no meaning any more."""
    there = text_at(edit.location, source)
    return edit.text == VALUE and there.isidentifier() and there != "None"


def _default(at: Location, source: bytes) -> Iterator[Edit]:
    """A number in the place of None as the default of the parameter that stands at a place."""
    of = tree(source)
    place = of.statement(at) if of is not None else None
    function = place.functions[-1] if place is not None and place.functions else None
    if of is None or function is None:
        return
    for given in (*function.params.params, *function.params.kwonly_params):
        if given.name.value == text_at(at, source):
            yield from flags.default(at.path, of, function, given)


def _is_given(of: Tree, own: Own, place: Statement) -> bool:
    """Whether a function around a place has a parameter of the name that holds the seed, and is called with that."""
    root = re.split(r"\W", own.value, maxsplit=1)[0]
    named = {one.name.value for one in place.functions if root in {given.name.value for given in one.params.params}}
    calls = (call for call in of.calls.values() if isinstance(call.func, cst.Name) and call.func.value in named)
    return any(of.code(arg.value) == root for call in calls for arg in call.args)


def told(edit: Edit, source: bytes, *, bare: bool) -> tuple[list[Edit], bool]:
    """An edit with the seed that the program has in the place of a constant one, and what gives that a value.

    The second part is whether nothing else changes by it. Nothing where none is written or known. ``bare``: a number
    alone is a seed wherever it stands, not only as one by name.
    """
    at = edit.location
    line = source.decode("utf-8", "replace").split("\n")[at.line - 1 : at.line]
    alone = edit.text == VALUE and (bare or bool(line and _BEFORE.search(line[0][: at.column - 1])))
    if alone and (default := list(_default(at, source))):
        return default, True
    own = _within(at, source, ranked=False) if alone or _WRITTEN.search(edit.text) else None
    if own is None:
        return [], True
    text = own.value if alone else _WRITTEN.sub(lambda match: match[1] + own.value, edit.text)
    stays = alone and text == text_at(at, source)
    return [*([] if stays else [edit._replace(text=text)]), *own.edits], own.safe


def put(path: str, source: bytes, own: Own, statements: Sequence[str]) -> list[Edit | Need] | str:
    """What seeds by these statements, with the seed that the program has; or why it cannot."""
    of = tree(source)
    if of is None:
        return "it cannot be parsed"
    bound = names.bound(of.module.body)
    told = [_NUMBER.sub(f"({own.value}", names.known(one, bound)) for one in statements]
    there = set(_beside(of, own.at))
    new = [one for one in told if one not in there]
    if not new:
        return list(own.edits) or "it is there already"
    node = own.at.node
    edit: Edit | None = None
    if not isinstance(node, cst.FunctionDef):
        edit = behind(path, of, own.at, f"\n{of.indent(own.at.where.start.line)}".join(new))
    elif node.body.body:
        indent = of.indent(of.positions[node.body.body[0]].start.line)
        edit = at_start(path, of, node.body, f"\n{indent}".join(new))
    if edit is None:
        return "its seed is known on a line with other statements"
    roots = dict.fromkeys(root for one in statements if (root := one.partition(".")[0]) in ROOTS)
    return [*own.edits, edit, *(Need(path, root) for root in roots)]


def _beside(of: Tree, at: Statement) -> Iterator[str]:
    """The seeds that are set in one go with a statement."""
    siblings = list(at.block.body)
    number = next((n for n, one in enumerate(siblings) if one is at.node), -1)
    for one in siblings[number:] if number >= 0 else ():
        if one is not at.node and seed_call(one) is None:
            return
        if isinstance(one, cst.SimpleStatementLine):
            yield of.code(one.with_changes(leading_lines=())).strip()
