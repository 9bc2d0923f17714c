"""Flags for a seed on command lines: where they are defined, where they are parsed, and how one is added."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from d9mlint.fix.arguments import appended
from d9mlint.fix.tree import Statement, Tree, behind, last_name, span
from d9mlint.model import Edit

SEED = re.compile(r"(?:(?:random|rand|manual|global|rng|train|training|torch|np|numpy)_?)?(?:seed|random_state)", re.I)
"""What people call the one seed of a program."""
VALUE = "1"
"""The seed of a program that has none."""
ABSL = "DEFINE_integer"
_COMMANDS = ("add_argument", "option")
_INTEGERS = ("int", "click.INT")


class Flag(NamedTuple):
    """A flag for a seed: the attribute or parameter that holds it, and what gives it a value by default."""

    name: str
    kind: str
    """The function that defines it."""
    edits: tuple[Edit, ...] = ()


def defined(path: str, of: Tree) -> list[Flag]:
    """The flags for a seed; the one that is called just that comes first."""
    found = [flag for call in of.calls.values() if (flag := _flag(path, of, call)) is not None]
    return sorted(found, key=lambda flag: flag.name.lower() != "seed")


def _flag(path: str, of: Tree, call: cst.Call) -> Flag | None:
    kind = last_name(call.func)
    given = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    values = [arg.value for arg in call.args if arg.keyword is None]
    name = _name(kind, values, given)
    if any(arg.star for arg in call.args) or not SEED.fullmatch(name):
        return None
    default = given.get("default")
    if kind == ABSL:
        default = default or next(iter(values[1:]), None)
    elif "type" not in given or of.code(given["type"]) not in _INTEGERS:
        return None
    if default is None:
        return Flag(name, kind, (appended(path, of, call, [f"default={VALUE}"]),))
    return Flag(name, kind, tuple(numbered(path, of, default)))


def _name(kind: str, values: Sequence[cst.BaseExpression], given: dict[str, cst.BaseExpression]) -> str:
    """What holds the value of a flag; empty for what defines none."""
    texts = [str(value.evaluated_value) for value in values if isinstance(value, cst.SimpleString)]
    if kind == ABSL:
        return texts[0] if texts else ""
    longs = [text for text in texts if text.startswith("--")] if kind in _COMMANDS else []
    if kind == "add_argument" and not longs:  # `-seed`, as argparse takes it, too
        longs = [text for text in texts if text.startswith("-") and len(text) > 2]
    dest = given.get("dest")
    if longs and isinstance(dest, cst.SimpleString):
        return str(dest.evaluated_value)
    return longs[0].lstrip("-").replace("-", "_") if longs else ""


def numbered(path: str, of: Tree, value: cst.BaseExpression) -> Iterator[Edit]:
    """A number where None stands, or a negative one, which says that there is no seed."""
    if of.code(value) == "None" or isinstance(value, cst.UnaryOperation):
        yield Edit(span(path, of.positions[value]), VALUE)


def default(path: str, of: Tree, function: cst.FunctionDef, given: cst.Param) -> Iterator[Edit]:
    """The same for the default of a parameter: not where the function asserts something of what it is given for it."""
    asserted = rf"^\s*assert\b.*\b{re.escape(given.name.value)}\b"
    if given.default is not None and not re.search(asserted, of.code(function), re.MULTILINE):
        yield from numbered(path, of, given.default)


# -- where they are parsed -------------------------------------------------------------------------------------------


def parsed(of: Tree, imported: Collection[str] = ()) -> Iterator[tuple[str, Statement]]:
    """The names of what is parsed, each with the statement that binds it, or the function that is called with it.

    ``imported`` are functions of other modules that return what they parse, by their names here.
    """
    functions = {one.node.name.value: one for one in of.statements if isinstance(one.node, cst.FunctionDef)}
    parsers = {*parsers_of(of), *imported}
    bound = [(name, one) for one in of.statements for name in _bound(one, parsers)]
    called = parsers.intersection(last_name(call.func) for call in of.calls.values())
    for name, one in bound:
        if not one.functions or one.functions[-1].name.value not in called:  # who calls it binds it as well
            yield name, one
    for one in of.statements:
        for part in parts(one):
            if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call) and len(part.value.args) == 1:
                func = part.value.func
                to = functions.get(func.value) if isinstance(func, cst.Name) else None
                if to is None or not _parses(part.value.args[0].value, parsers):
                    continue
                if isinstance(to.node, cst.FunctionDef) and to.node.params.params:
                    yield to.node.params.params[0].name.value, to


def parts(one: Statement) -> Sequence[cst.BaseSmallStatement]:
    """The parts of a statement of one line."""
    return one.node.body if isinstance(one.node, cst.SimpleStatementLine) else ()


def assigned(one: Statement) -> tuple[str, cst.BaseExpression] | None:
    """The name that all of a statement binds, and the value; None where it is another one."""
    found = parts(one)
    part = found[0] if len(found) == 1 else None
    if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name) and part.value is not None:
        return part.target.value, part.value
    if not isinstance(part, cst.Assign) or len(part.targets) != 1:
        return None
    target = part.targets[0].target
    return (target.value, part.value) if isinstance(target, cst.Name) else None


def parsers_of(of: Tree) -> Iterator[str]:
    """The functions that return what they parse, by name."""
    for one in of.statements:
        for part in parts(one) if one.functions else ():
            if isinstance(part, cst.Return) and part.value is not None:
                names = {
                    name for other in of.statements if other.functions == one.functions for name in _bound(other, ())
                }
                if _parses(part.value, ()) or of.code(part.value) in names:
                    yield one.functions[-1].name.value


def _bound(one: Statement, parsers: Collection[str]) -> Iterator[str]:
    """The name that a statement binds to what is parsed, of ``parse_known_args`` to the first of its two values."""
    found = parts(one)
    part = found[0] if len(found) == 1 else None
    if not isinstance(part, cst.Assign) or len(part.targets) != 1 or not _parses(part.value, parsers):
        return
    target: cst.BaseExpression = part.targets[0].target
    if isinstance(target, cst.Tuple) and target.elements and last_name(_func(part.value)) == "parse_known_args":
        target = target.elements[0].value
    if isinstance(target, cst.Name):
        yield target.value


def _parses(value: cst.CSTNode | None, parsers: Collection[str]) -> bool:
    """Whether a value is what ``parse_args`` returns, or a function that returns it."""
    func = _func(value)
    if isinstance(func, cst.Attribute):
        return func.attr.value in ("parse_args", "parse_known_args")
    return isinstance(func, cst.Name) and func.value in parsers


def _func(value: cst.CSTNode | None) -> cst.CSTNode | None:
    return value.func if isinstance(value, cst.Call) else None


# -- where one is added ----------------------------------------------------------------------------------------------


def added(path: str, of: Tree) -> Edit | None:
    """The edit that adds ``--seed`` behind the other arguments of the only parser; None where that is not plain."""
    calls = [call for call in of.calls.values() if _is_parse(call)]
    parser = of.code(calls[0].func.value) if len(calls) == 1 and isinstance(calls[0].func, cst.Attribute) else ""
    if not parser.isidentifier():
        return None
    made = [one for one in of.statements if (told := assigned(one)) and told[0] == parser]
    if len(made) != 1 or last_name(_func(assigned(made[0])[1])) != "ArgumentParser":  # type: ignore[index]
        return None
    others = [one for one in of.statements if one.block is made[0].block and _adds(of, one, parser)]
    last = others[-1] if others else made[0]
    quote = "'" if "'" in of.code(last.node) and '"' not in of.code(last.node) else '"'
    return behind(path, of, last, f"{parser}.add_argument({quote}--seed{quote}, type=int, default={VALUE})")


def _is_parse(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in ("parse_args", "parse_known_args")


def _adds(of: Tree, one: Statement, parser: str) -> bool:
    found = parts(one)
    value = found[0].value if len(found) == 1 and isinstance(found[0], cst.Expr) else None
    func = value.func if isinstance(value, cst.Call) else None
    return isinstance(func, cst.Attribute) and of.code(func) == f"{parser}.add_argument"
