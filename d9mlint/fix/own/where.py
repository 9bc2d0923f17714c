"""The seed that a program has already, and where it is known: its own flag, a field, a constant, a seed that is set.

What is found is what stands in the entry script. Whether seeds at that place come early enough is for the check of the
patched program to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import libcst as cst

from d9mlint.fix import names
from d9mlint.fix.own import flags
from d9mlint.fix.own.flags import SEED, VALUE, assigned
from d9mlint.fix.own.ranks import rank
from d9mlint.fix.tree import Statement, Tree, last_name, tree
from d9mlint.model import Edit

_CALLS = re.compile(r"seed|manual_seed|(?:set|fix|init)_(?:random_|all_)?seeds?|seed_(?:everything|all)")
_DEVICES = frozenset({"cuda", "xpu", "mps"})
_MOST = 2
"""So many of the program's own seeds are tried."""


class Own(NamedTuple):
    """A seed of the program: how it is said at a place where it is known, and what gives it a value by default."""

    value: str
    at: Statement
    """Seeds stand behind this statement, or at the start of this function."""
    edits: tuple[Edit, ...] = ()
    safe: bool = True


def known(path: str, source: bytes, flag: str = "", texts: Mapping[str, bytes] = MappingProxyType({})) -> Sequence[Own]:
    """The seeds that a script has, the best first; ``flag``: its flag for one, where nothing reads that so far.

    ``texts`` are files of the project, one of which may parse the flags.
    """
    of = tree(source)
    if of is None:
        return ()
    found = in_script(path, of, flag, ranked=True)
    elsewhere = tuple(_parsed_elsewhere(of, texts, flag)) if not any(own.edits or own.safe for own in found) else ()
    return (*elsewhere, *found)


@lru_cache(maxsize=64)
def in_script(path: str, of: Tree, flag: str, ranked: bool) -> Sequence[Own]:
    """Those that stand in the script itself; ``ranked``: first with the number of the process, where that is known."""
    found = list(islice(_own(path, of, flag), _MOST))
    new = [] if found else list(_added(path, of))
    if not ranked:
        return (*found, *new)
    numbered = [own for one in (*found, *new, None) if (own := _ranked(of, one)) is not None]
    return (*numbered[:1], *found, *new, *numbered[1:])


def _own(path: str, of: Tree, flag: str) -> Iterator[Own]:
    """The seeds of a program, the best first."""
    told = flags.defined(path, of)
    if not flag:
        yield from _set(of, told)
    yield from _parsed(of, told, flag)
    yield from _parameters(path, of, told)
    yield from _fields(path, of)
    yield from _constants(path, of)


def seed_call(node: cst.CSTNode) -> cst.Call | None:
    """The call that a statement is, where its name says that it seeds."""
    part = node.body[0] if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1 else None
    call = part.value if isinstance(part, cst.Expr) else None
    return call if isinstance(call, cst.Call) and call.args and _CALLS.fullmatch(last_name(call.func)) else None


# -- where they are known --------------------------------------------------------------------------------------------


def _set(of: Tree, told: Sequence[flags.Flag]) -> Iterator[Own]:
    """Seeds that the script sets, with the same value for other generators."""
    bound = names.bound(of.module.body)
    functions = {one.node.name.value for one in of.statements if isinstance(one.node, cst.FunctionDef)}
    for one in of.statements:
        call = seed_call(one.node)
        if call is None:
            continue
        dotted = of.code(call.func).split(".")
        value = of.code(call.args[0].value)
        if _DEVICES.intersection(dotted) or dotted[0] not in {*bound, *functions} or not _is_seed(value):
            continue
        flag = next((flag for flag in told if value.rpartition(".")[2] == flag.name), None)
        yield Own(value, one, flag.edits if flag else (), _is_safe(of, value))


def _is_seed(value: str) -> bool:
    """Whether a value is a number, or what is called a seed."""
    named = rf"(?:\w+\.)*{SEED.pattern}|\w+\[[\"']{SEED.pattern}[\"']\]"
    return value.isdigit() or bool(re.fullmatch(named, value, re.I))


def _is_safe(of: Tree, value: str) -> bool:
    """Whether nothing but seeds depends on that a seed is given."""
    for one in of.statements:
        if isinstance(one.node, cst.If) and re.search(rf"\b{re.escape(value)}\b", of.code(one.node.test)):
            for part in one.node.body.body:
                lines = part.body if isinstance(part, cst.SimpleStatementLine) else [part]
                for line in lines:
                    call = line.value if isinstance(line, cst.Expr) else None
                    sets = isinstance(call, cst.Call) and "seed" in last_name(call.func)
                    given = isinstance(line, cst.Assign) and value in {of.code(to.target) for to in line.targets}
                    prints = isinstance(call, cst.Call) and last_name(call.func) in ("print", "info")
                    if not (sets or given or prints or isinstance(line, (cst.Pass, cst.Import))):
                        return False
    return True


def _parsed(of: Tree, told: Sequence[flags.Flag], unused: str) -> Iterator[Own]:
    """The flag of a command line, where that is parsed."""
    found = [flag for flag in told if flag.kind == "add_argument" and unused in ("", flag.name)]
    flag = found[0] if found else flags.Flag(unused, "") if unused else None
    places = list(flags.parsed(of)) if flag is not None else []
    if flag is not None and len(places) == 1:
        value = f"{places[0][0]}.{flag.name}"
        yield Own(value, places[0][1], flag.edits, _is_safe(of, value))


def _parsed_elsewhere(of: Tree, texts: Mapping[str, bytes], unused: str) -> Iterator[Own]:
    """The flag of a command line that a function of another module defines and parses."""
    for local, dotted in names.bound(of.module.body).items():
        module, _, name = dotted.lstrip(".").rpartition(".")
        path = next((one for one in sorted(texts) if module and _is_module(one, module)), "")
        other = tree(texts[path]) if path else None
        if other is None or name not in flags.parsers_of(other):
            continue
        told = [one for one in flags.defined(path, other) if one.kind == "add_argument" and unused in ("", one.name)]
        places = list(flags.parsed(of, [local])) if told else []
        if len(places) == 1:
            value = f"{places[0][0]}.{told[0].name}"
            yield Own(value, places[0][1], told[0].edits, _is_safe(of, value))


def _is_module(path: str, dotted: str) -> bool:
    return f"/{path}".endswith(f"/{dotted.replace('.', '/')}.py")


def _parameters(path: str, of: Tree, told: Sequence[flags.Flag]) -> Iterator[Own]:
    """A parameter of a function that is run as a command or by the script itself; with absl a flag in ``main``."""
    commands = {flag.name: flag for flag in told if flag.kind == "option"}
    absl = next((flag for flag in told if flag.kind == flags.ABSL), None)
    run = {of.code(call.func) for call in of.calls.values()}
    run |= {of.code(arg.value) for call in of.calls.values() for arg in call.args}
    for one in of.statements:
        if not isinstance(one.node, cst.FunctionDef) or one.functions or not isinstance(one.block, cst.Module):
            continue
        name = one.node.name.value
        if absl is not None and name == "main":
            yield Own(f"FLAGS.{absl.name}", one, absl.edits, _is_safe(of, f"FLAGS.{absl.name}"))
        for given in one.node.params.params:
            value = given.name.value
            if not SEED.fullmatch(value) or _CALLS.fullmatch(name):
                continue
            if value in commands:
                yield Own(value, one, commands[value].edits, _is_safe(of, value))
            elif given.default is not None and (name in run or one.node.decorators):
                yield Own(value, one, tuple(flags.default(path, of, one.node, given)), _is_safe(of, value))


def _fields(path: str, of: Tree) -> Iterator[Own]:
    """A field of a class of settings, or an item of a dictionary, where the object is made."""
    classes = dict(_settings(path, of))
    for one in of.statements:
        made = assigned(one)
        if made is None or isinstance(one.node, cst.ClassDef):
            continue
        name, value = made
        if isinstance(value, cst.Call):
            within = [value.func, *(arg.value for arg in value.args)]
            field = next((classes[text] for node in within if (text := of.code(node)) in classes), None)
            if field is not None:
                yield Own(f"{name}.{field.name}", one, field.edits)
        for item in value.elements if isinstance(value, cst.Dict) else ():
            key = item.key if isinstance(item, cst.DictElement) else None
            if isinstance(key, cst.SimpleString) and _is_named(str(key.evaluated_value), item.value):
                yield Own(f"{name}[{key.value}]", one, tuple(flags.numbered(path, of, item.value)))


def _settings(path: str, of: Tree) -> Iterator[tuple[str, flags.Flag]]:
    """The classes that have a field for a seed, with that field."""
    classes = {one.node.body: one.node.name.value for one in of.statements if isinstance(one.node, cst.ClassDef)}
    for one in of.statements:
        name = classes.get(one.block) if isinstance(one.block, cst.BaseSuite) else None
        field = assigned(one) if name is not None else None
        if name is not None and field is not None and _is_named(*field):
            yield name, flags.Flag(field[0], "", tuple(flags.numbered(path, of, field[1])))


def _constants(path: str, of: Tree) -> Iterator[Own]:
    """A constant that is called a seed."""
    inside = {one.node.body for one in of.statements if isinstance(one.node, cst.ClassDef)}
    for one in of.statements:
        found = assigned(one)
        if found is not None and one.block not in inside and _is_named(*found):
            yield Own(found[0], one, tuple(flags.numbered(path, of, found[1])))


def _is_named(name: str, value: cst.BaseExpression) -> bool:
    """Whether a name is that of a seed, and its value a number, or None, which stands for none so far."""
    return bool(SEED.fullmatch(name)) and (
        isinstance(value, cst.Integer) or (isinstance(value, cst.Name) and value.value == "None")
    )


def _added(path: str, of: Tree) -> Iterator[Own]:
    """A flag of the command line that is new."""
    places = list(flags.parsed(of))
    edit = flags.added(path, of) if len(places) == 1 else None
    if edit is not None:
        yield Own(f"{places[0][0]}.seed", places[0][1], (edit,), safe=False)


def _ranked(of: Tree, own: Own | None) -> Own | None:
    """The same for each process that trains, another number in each; None where their numbers are not known."""
    ranked = rank(of)
    if ranked is None:
        return None
    if own is None:
        return Own(f"{VALUE} + {ranked.value}", ranked.at)
    at = own.at if ranked.at.ends <= own.at.begins else ranked.at
    root = re.split(r"\W", own.value, maxsplit=1)[0]
    function = at.functions[-1] if at.functions else None
    given = function is not None and root in {one.name.value for one in function.params.params}
    visible = at.functions[: len(own.at.functions)] == own.at.functions and not isinstance(own.at.node, cst.FunctionDef)
    if visible or given or own.value.isdigit():
        return Own(f"{own.value} + {ranked.value}", at, own.edits, own.safe)
    return None
