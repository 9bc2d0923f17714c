"""Cures of calls: other arguments, another name, another expression in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import libcst as cst
from libcst.metadata import CodeRange

from d9mlint.fix import environments, names, remedies
from d9mlint.fix.place import Need, Place
from d9mlint.fix.tree import Tree, end, span
from d9mlint.model import Edit, Location

_SEEDS = ("seed", "random_state", "generator", "rng")
_SIMPLE = (cst.Name, cst.SimpleString, cst.Integer, cst.Float)
_ATOMS = (*_SIMPLE, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.Tuple, cst.Dict)

_OF_WORKERS = "`torch.initial_seed()"
"""In a remedy: no constant will do, as the loader gives each worker a seed."""


class _Called(NamedTuple):
    """A call, and the name by which it is made."""

    node: cst.Call
    of: Tree
    name: cst.Name | None

    @property
    def last(self) -> str:
        return self.name.value if self.name is not None else ""


def argument(value: str, place: Place) -> Iterator[Edit | Need]:
    """``value`` as the only argument of a call that has one or none, unless its remedy asks for another."""
    found = _called(place)
    if found is None or _OF_WORKERS in place.found.remedy:
        return
    if not found.node.args:
        yield Edit(_before_end(place.at), value)
    elif len(found.node.args) == 1 and found.node.args[0].keyword is None:
        yield Edit(span(place.path, found.of.positions[found.node.args[0].value]), value)


def without(keywords: list[str], place: Place) -> Iterator[Edit | Need]:
    """A call without these keywords."""
    found = _called(place)
    args = found.node.args if found is not None else ()
    for number, arg in enumerate(args):
        if found is None or arg.keyword is None or arg.keyword.value not in keywords:
            continue
        where = found.of.positions
        begin, stop = where[arg].start, where[arg].end
        if number + 1 < len(args):  # up to the next one
            stop = where[args[number + 1]].start
        elif number:
            begin = where[args[number - 1].value].end
        yield Edit(span(place.path, CodeRange(begin, stop)), "")


def keywords(_: object, place: Place) -> Iterator[Edit | Need]:
    """Sets the keywords that the remedy names."""
    found = _called(place)
    wanted = remedies.keywords(place.found.remedy, found.last) if found is not None else []
    if found is not None and found.last == "reset" and not environments.takes_seed_at_reset(place):
        return
    if found is None or any(not _known(one.value, place) for one in wanted):
        return
    given = {arg.keyword.value: arg for arg in found.node.args if arg.keyword is not None}
    starred = [arg for arg in found.node.args if arg.star]
    if any(arg.star == "*" for arg in starred):
        return
    added: list[str] = []
    for name, value in wanted:
        told, needs = _defined(place, found.of, value)
        entry = _entry(found.of, starred, name)
        if starred and entry is None:
            return
        if name in given:
            if needs and not _is_none(given[name]):
                return  # a function of the program stands there, and must not be lost
            if name in _SEEDS and not _is_none(given[name]):
                continue  # (one seed is as good as another)
            yield Edit(span(place.path, found.of.positions[given[name].value]), told)
        elif isinstance(entry, cst.BaseExpression):
            yield Edit(span(place.path, found.of.positions[entry]), told)
        else:
            added.append(f"{name}={told}")
        yield from needs
    if added:
        yield appended(place.path, found.of, found.node, added)


def appended(path: str, of: Tree, node: cst.Call, added: list[str]) -> Edit:
    """The edit that puts arguments behind those of a call, each on a line where these stand so."""
    args, where = node.args, of.positions
    if not args:
        at = span(path, where[node])
        return Edit(_before_end(at), ", ".join(added))
    line = where[args[-1]].start.line
    before = where[args[-2].value].end.line if len(args) > 1 else where[node].start.line
    indent = of.indent(line)
    own = line > before and not of.lines[line - 1][: where[args[-1]].start.column].strip()
    between = f",\n{indent}" if own else ", "
    at = span(path, where[args[-1].value])
    return Edit(end(at), "".join(f"{between}{one}" for one in added))


def _is_none(arg: cst.Arg) -> bool:
    return isinstance(arg.value, cst.Name) and arg.value.value == "None"


def _known(value: str, place: Place) -> bool:
    """Whether the package of a value is known by this name in the file."""
    root = value.partition(".")[0]
    return "." not in value or not root.isidentifier() or bool(re.search(rf"\b{root}\b".encode(), place.source))


def _entry(of: Tree, starred: list[cst.Arg], name: str) -> cst.BaseExpression | bool | None:
    """The value of a name in the dictionary that a call unpacks; False where it has none, None where not known."""
    if not starred:
        return False
    value = starred[0].value
    if len(starred) > 1 or not isinstance(value, cst.Name):
        return None
    assigned = [
        part.value for one in of.statements if isinstance(one.node, cst.SimpleStatementLine) for part in one.node.body
        if isinstance(part, cst.Assign)
        and any(isinstance(target.target, cst.Name) and target.target.value == value.value for target in part.targets)
    ]  # fmt: skip
    if len(assigned) != 1 or not isinstance(assigned[0], cst.Dict):
        return None
    elements = assigned[0].elements
    if any(not isinstance(one, cst.DictElement) or not isinstance(one.key, cst.SimpleString) for one in elements):
        return None
    keys = {
        one.key.evaluated_value: one.value
        for one in elements
        if isinstance(one, cst.DictElement) and isinstance(one.key, cst.SimpleString)
    }
    return keys.get(name, False)


def _defined(place: Place, of: Tree, value: str) -> tuple[str, list[Need]]:
    """The name of a function that the remedy defines: the program's own of this kind, or one that it then needs."""
    code = remedies.definition(place.found.remedy, value)
    if not code:
        return value, []
    wanted, taken = remedies.calls(code), set()
    for one in of.statements:
        if isinstance(one.node, cst.FunctionDef) and isinstance(one.block, cst.Module):
            taken.add(one.node.name.value)
            if len(one.node.params.params) == 1 and wanted <= remedies.calls(of.code(one.node).strip()):
                return one.node.name.value, []
    name = next(name for name in (value, *(f"{value}_{n}" for n in range(2, 99))) if name not in taken)
    return name, [Need(place.path, code.replace(f"def {value}(", f"def {name}("))]


def rename(others: Mapping[str, str], place: Place) -> Iterator[Edit | Need]:
    """Another name for what is called; one with arguments takes the place of these, too."""
    found = _called(place)
    if found is None or found.name is None or found.last not in others:
        return
    new, at = others[found.last], span(place.path, found.of.positions[found.name])
    yield Edit(at._replace(end_line=place.at.end_line, end_column=place.at.end_column) if "(" in new else at, new)


def unwrap(name: str, place: Place) -> Iterator[Edit | Need]:
    """The only argument in the place of a call of ``name``."""
    found = _called(place)
    if found is not None and found.last == name and len(found.node.args) == 1:
        outer, inner = found.of.positions[found.node], found.of.positions[found.node.args[0].value]
        yield Edit(span(place.path, CodeRange(outer.start, inner.start)), "")
        yield Edit(span(place.path, CodeRange(inner.end, outer.end)), "")


def instead(_: object, place: Place) -> Iterator[Edit | Need]:
    """The call that the remedy names in the place of one without arguments."""
    found, call = _called(place), remedies.call(place.found.remedy)
    if found is not None and call and not found.node.args and _known(call, place):
        yield Edit(place.at, place.known(call))
        yield from (Need(place.path, root) for root in remedies.roots(call))


def rewrite(_: object, place: Place) -> Iterator[Edit | Need]:
    """The expression that the remedy names in the place of the call, with the call's arguments."""
    found = _called(place)
    given = _arguments(place, found) if found is not None else {}
    if found is None or not given:
        return
    new = remedies.expression(place.found.remedy, found.last, list(given))
    if new is None:
        return
    used = [name for _, _, name in new.places]
    if any(used.count(name) > 1 and not _is_simple(given[name]) for name in given):
        return  # it would be computed twice
    text = remedies.filled(new, {name: _atom(found.of, value) for name, value in given.items()}, place.known)
    yield Edit(place.at, text if new.is_call or _stands_alone(place) else f"({text})")
    yield from (Need(place.path, root) for root in remedies.roots(new.text))


def _arguments(place: Place, found: _Called) -> dict[str, cst.BaseExpression]:
    """The arguments of a call by parameter, as far as the remedy tells the order; none where it cannot be said.

    The name of an op (``name=``) is left out.
    """
    order, of_object = remedies.signature(place.found.remedy, found.last)
    values = [arg.value for arg in found.node.args if arg.keyword is None]
    func = found.node.func
    if of_object and isinstance(func, cst.Attribute) and not _is_module(found.of, func.value):
        values.insert(0, func.value)
    named = {arg.keyword.value: arg.value for arg in found.node.args if arg.keyword is not None}
    named.pop("name", None)
    if any(arg.star for arg in found.node.args) or len(values) > len(order):
        return {}
    return {**dict(zip(order, values, strict=False)), **named}


def _is_module(of: Tree, value: cst.BaseExpression) -> bool:
    """Whether a name is one of a module."""
    bound = names.bound(of.module.body)
    while isinstance(value, cst.Attribute):
        value = value.value
    return isinstance(value, cst.Name) and value.value in bound


def _is_simple(value: cst.BaseExpression) -> bool:
    """Whether it costs nothing to compute a value twice."""
    return isinstance(value, _SIMPLE) or (isinstance(value, cst.Attribute) and _is_simple(value.value))


def _atom(of: Tree, value: cst.BaseExpression) -> str:
    text = of.code(value)
    return text if isinstance(value, _ATOMS) or value.lpar else f"({text})"


def _stands_alone(place: Place) -> bool:
    """Whether a call is all of an argument, of what is returned or of what is assigned."""
    assert place.tree is not None  # (a call was found in it)
    lines = place.tree.lines
    before, after = lines[place.at.line - 1][: place.at.column - 1].rstrip(), lines[place.at.end_line - 1]
    return before.endswith(("(", "[", ",", "return", " =")) and after[place.at.end_column - 1 :].lstrip()[:1] in "),]#"


def _called(place: Place) -> _Called | None:
    of = place.tree
    call = of.call(place.at) if of is not None else None
    if of is None or call is None:
        return None
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return _Called(call, of, name if isinstance(name, cst.Name) else None)


def _before_end(at: Location) -> Location:
    """Before the parenthesis that closes a call."""
    return Location(at.path, at.end_line, at.end_column - 1, at.end_line, at.end_column - 1)
