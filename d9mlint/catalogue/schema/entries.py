"""Op files and effect files: YAML to ``Op`` and ``Effect``, every value checked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from d9mlint.catalogue.schema import vocabulary
from d9mlint.catalogue.schema.nodes import Item, parse
from d9mlint.model import Argument, Effect, Invocation, Op, OpStatus

DEVICES = ("gpu", "cpu", "tpu")
PACKAGE = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.ASCII)
PACKAGE_WANTED = "a package name in lower case such as `tensorflow`"
_SLUG = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*", re.ASCII)
_SLUG_WANTED = "a word such as `op-determinism`"
_PARAMETER = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_PLACE = re.compile(r".+:[1-9][0-9]*")

_CASE_KEYS = ("case", "cases", "no_case")
"""How the op is executed, or why it cannot be: for ``d9mlint verify`` alone, read in ``cases``."""
_OP_KEYS = (
    "op",
    "calls",
    "direction",
    "devices",
    "when",
    "common",
    "where",
    "why",
    "status",
    "sources",
    "framework",
    "sites",
    *_CASE_KEYS,
)
_OP_REQUIRED = ("op", "calls", "direction", "devices", "status", "sources")
_STATUS_KEYS = ("versions", "default", "deterministic_mode", "remedy")
_EFFECT_SCOPE = ("call", "framework", "versions", "when", "argument", "own_seed", "remedy")
_EFFECT_KEYS = (
    *_EFFECT_SCOPE,
    "seeds",
    "draws",
    "creates",
    "switches",
    "returns",
    "invokes",
    "origin",
    "order",
    "orders_data",
    "writes",
    "opens",
    "mode",
    "trains",
    "device_op",
    "default_seed",
    "later",
    "parts",
    "in_process",
    "options",
    "varies",
    "enters",
    "loads",
    "shapes",
    "unit",
    "where",
)
_WRITES = ("whole", "stream")
_ORDERS = ("listing", "set", "completion", "sorted", "kept")


def ops(file: str, text: str, own: bool = False) -> tuple[Op, ...]:
    """The ops of an op file; in a user's ``own`` one a status without versions holds for all."""
    return tuple(op for op, _ in op_items(file, text, own))


def op_items(file: str, text: str, own: bool = False) -> list[tuple[Op, Mapping[str, Item]]]:
    """The ops of an op file, each with what is written of it."""
    values = parse(file, text).mapping(("framework", "ops"), ("framework", "ops"))
    framework = values["framework"].like(PACKAGE, PACKAGE_WANTED)
    if own and values["ops"].is_list() and not values["ops"].node.value:
        return []  # a scan that found nothing
    written = [item.mapping(_OP_KEYS, _OP_REQUIRED) for item in values["ops"].items()]
    return [(_op(one, framework, own), one) for one in written]


def _op(values: Mapping[str, Item], framework: str, own: bool) -> Op:
    return Op(
        name=values["op"].prose(),
        # An entry without calls is one that a program meets through a setting (XLA, autotuning), not by name.
        calls=() if values["calls"].is_list() and not values["calls"].node.value else vocabulary.calls(values["calls"]),
        direction=values["direction"].one_of(("forward", "backward", "both")),
        devices=tuple(device.one_of(DEVICES) for device in values["devices"].several()),
        when=vocabulary.when(values["when"]) if "when" in values else {},
        common=values["common"].flag() if "common" in values else False,
        status=tuple(_status(status, own) for status in values["status"].items()),
        sources=values["sources"].texts(),
        why=_prose(values, "why"),
        where=_prose(values, "where"),
        framework=values["framework"].like(PACKAGE, PACKAGE_WANTED) if "framework" in values else framework,
        sites=tuple(site.like(_PLACE, "`path:line`") for site in values["sites"].several())
        if "sites" in values
        else (),
    )


def _status(item: Item, own: bool) -> OpStatus:
    values = item.mapping(_STATUS_KEYS, _STATUS_KEYS[1:3] if own else _STATUS_KEYS[:3])
    return OpStatus(
        versions=values["versions"].specifier() if "versions" in values else "",
        default=values["default"].one_of(("varies", "same")),
        deterministic_mode=values["deterministic_mode"].one_of(("same", "raises", "varies")),
        remedy=_prose(values, "remedy"),
    )


def effects(file: str, text: str) -> tuple[tuple[Effect, ...], dict[str, tuple[str, Item]]]:
    """The effects of an effect file, and its aliases (with the place of each, for complaints)."""
    root = parse(file, text)
    values = root.mapping(("package", "aliases", "effects"), ("package",))
    if len(values) == 1:
        raise root.error("an effect file needs `effects` or `aliases`")
    package = values["package"].like(PACKAGE, PACKAGE_WANTED)
    entries = values["effects"].items() if "effects" in values else []
    found = tuple(_effect(item, package) for item in entries)
    return found, _aliases(values["aliases"]) if "aliases" in values else {}


def _aliases(item: Item) -> dict[str, tuple[str, Item]]:
    found = {}
    for prefix, (key, value) in item.pairs().items():
        key.like(vocabulary.ALIAS, "a dotted module prefix (a last part `*` stands for the modules in it)")
        found[prefix] = (value.like(vocabulary.DOTTED, "a dotted module prefix"), key)
    return found


def _effect(item: Item, package: str) -> Effect:
    values = item.mapping(_EFFECT_KEYS, ("call",))
    if not set(values) - set(_EFFECT_SCOPE):
        raise item.error(f"the effect says nothing; it needs one of {', '.join(_EFFECT_KEYS[len(_EFFECT_SCOPE) :])}")
    return Effect(
        calls=vocabulary.calls(values["call"]),
        framework=values["framework"].like(PACKAGE, PACKAGE_WANTED) if "framework" in values else package,
        versions=values["versions"].specifier() if "versions" in values else "",
        seeds=_words(values, "seeds"),
        seed_argument=_argument(values["argument"]) if "argument" in values else None,
        draws=_words(values, "draws"),
        unit=_flag(values, "unit"),
        own_seed=_argument(values["own_seed"]) if "own_seed" in values else None,
        default_seed=_flag(values, "default_seed"),
        later=_flag(values, "later"),
        parts=_argument(values["parts"]) if "parts" in values else None,
        in_process=_flag(values, "in_process"),
        options=_argument(values["options"]) if "options" in values else None,
        varies=_word(values, "varies"),
        remedy=_prose(values, "remedy"),
        when=vocabulary.when(values["when"]) if "when" in values else {},
        where=_prose(values, "where"),
        creates=_word(values, "creates"),
        switches=_word(values, "switches"),
        returns=_returns(values),
        invokes=tuple(_invocation(one) for one in values["invokes"].items()) if "invokes" in values else (),
        origin=_word(values, "origin"),
        order=values["order"].one_of(_ORDERS) if "order" in values else "",
        orders_data=_flag(values, "orders_data"),
        writes=values["writes"].one_of(_WRITES) if "writes" in values else "",
        opens=_flag(values, "opens"),
        mode=_argument(values["mode"]) if "mode" in values else None,
        trains=_flag(values, "trains"),
        enters=_word(values, "enters"),
        loads=_argument(values["loads"]) if "loads" in values else None,
        shapes=_flag(values, "shapes"),
        device_op=_flag(values, "device_op"),
    )


def _argument(item: Item) -> Argument:
    """``[position or null, keyword]``; the keyword is empty where the parameter is positional only."""
    parts = item.items() if item.is_list() else []
    wanted = "[position or null, keyword] such as [0, seed]"
    if len(parts) != 2:
        raise item.error(f"{item.key} must be {wanted}")
    position = parts[0].scalar()
    keyword = parts[1].scalar()
    if not (position is None or (type(position) is int and position >= 0)) or not isinstance(keyword, str):
        raise item.error(f"{item.key} must be {wanted}")
    if not (_PARAMETER.fullmatch(keyword) or (keyword == "" and position is not None)):
        raise item.error(f"{item.key} must be {wanted}; `{keyword}` is no parameter name")
    return Argument(position if isinstance(position, int) else None, keyword)


def _invocation(item: Item) -> Invocation:
    values = item.mapping(("argument", "context", "method"), ("argument",))
    method = values["method"].like(_PARAMETER, "the name of a method") if "method" in values else ""
    return Invocation(_argument(values["argument"]), _word(values, "context"), method)


def _returns(values: Mapping[str, Item]) -> str:
    return values["returns"].like(vocabulary.DOTTED, "a dotted type name or `self`") if "returns" in values else ""


def _words(values: Mapping[str, Item], key: str) -> tuple[str, ...]:
    return tuple(item.like(_SLUG, _SLUG_WANTED) for item in values[key].several()) if key in values else ()


def _word(values: Mapping[str, Item], key: str) -> str:
    return values[key].like(_SLUG, _SLUG_WANTED) if key in values else ""


def _prose(values: Mapping[str, Item], key: str) -> str:
    return values[key].prose() if key in values else ""


def _flag(values: Mapping[str, Item], key: str) -> bool:
    return values[key].flag() if key in values else False
