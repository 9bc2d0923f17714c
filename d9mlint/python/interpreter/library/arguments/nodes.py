"""Trees of settings (``CfgNode`` of yacs and the like): what is merged into them makes their constants defaults."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from d9mlint.model import Argument, Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import ABSENT, NONE, UNKNOWN, Const, Dict, Func, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import configured, dispatch, environment
from d9mlint.python.interpreter.library.arguments import configfiles, shipped
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value
from d9mlint.python.interpreter.library.containers import copies, mappings
from d9mlint.python.source.filenames import module_name

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

Node: TypeAlias = Obj | Inst
_MOST_LEVELS = 6
_SETTINGS = (str, int, float, bool, type(None))
"""Types of constants that are defaults of settings; lists are left as they are."""


def _is_node(interp: Interpreter, value: Value) -> bool:
    if isinstance(value, Inst):
        return any(interp.knowledge.canonical(base) in copies.NODES for base in value.cls.external())
    return isinstance(value, Obj) and value.type in copies.NODES


def _nodes(interp: Interpreter, value: Value | None) -> Iterator[tuple[Cond, Node]]:
    """The nodes that a value may be, each under its condition."""
    for cond, leaf in alternatives(value):
        if isinstance(leaf, (Obj, Inst)) and _is_node(interp, leaf):
            yield cond, leaf


def _held(interp: Interpreter, node: Node) -> dict[str, Value]:
    """What a node holds by name."""
    for name, value in node.attrs.items():
        interp.heap.read(node, name, value)
    return dict(node.attrs)


def _since_made(interp: Interpreter, node: Node) -> Cond:
    if isinstance(node, Inst):
        return interp.since(node.born)
    return interp.since(node.event.guards if node.event is not None else ())


# -- making --------------------------------------------------------------------------------------------------------


def _make(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``CfgNode()``, ``CfgNode({...})``, ``EasyDict(seed=1)``: dicts inside are nodes, too."""
    given = [*event.args, *(event.kwargs[name] for name in _INITIAL if name in event.kwargs)]
    first = given[0] if given else NONE
    if given and not (isinstance(first, Dict) or (isinstance(first, Obj) and _is_node(interp, first))):
        return None
    node = Obj(_TYPES.get(event.name, event.name), event)
    _of_items(interp, Dict(_held(interp, first)) if isinstance(first, Obj) else first, node, 0)
    named = {name: value for name, value in event.kwargs.items() if name not in _INITIAL}
    return node if node.type in _TAKING_NO_ITEMS else _of_items(interp, Dict({**named}), node, 0)


def _of_items(interp: Interpreter, items: Value, node: Obj, level: int) -> Obj:
    if isinstance(items, Dict):
        for name, value in interp.heap.items(items).items():
            if not isinstance(name, str):
                continue
            inner = isinstance(value, Dict) and level < _MOST_LEVELS
            node.attrs[name] = _of_items(interp, value, Obj(node.type, node.event), level + 1) if inner else value
    return node


def _from_file(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``OmegaConf.load(path)``; what names classes is looked up in all config files, by the names of its keys."""
    found = configfiles.settings_at(interp, environment.first(event), event, frame)
    if found is None or _names_classes(found, 0):
        return None
    return _of_items(interp, found, Obj(_OMEGACONF, event), 0)


def _names_classes(settings: Dict, level: int) -> bool:
    """Whether settings, or others in them, say of what class something is made."""
    inner = (one for one in settings.items.values() if isinstance(one, Dict) and level < _MOST_LEVELS)
    return not settings.items.keys().isdisjoint(dispatch.TARGETS) or any(
        _names_classes(one, level + 1) for one in inner
    )


def _merged(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``OmegaConf.merge(first, *others)``: a node of its own; what is not known, as the command line, changes any."""
    first = environment.first(event)
    made = first if isinstance(first, Dict) else copies.copied(interp, first)
    node = _of_items(interp, made, Obj(_OMEGACONF, event), 0) if isinstance(made, Dict) else made
    if not isinstance(node, Obj) or not _is_node(interp, node):
        return None
    for other in event.args[1:]:
        _put_all(interp, node, _pairs(interp, other))
    return node


def _clone(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``node.clone()``."""
    return None if event.receiver is None else copies.copied(interp, event.receiver)


# -- merging -------------------------------------------------------------------------------------------------------


def _merge(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``node.merge_from_list(pairs)`` and the like: known values are set, by others every setting may be changed."""
    named = Dict(dict(event.kwargs), event.star) if event.name.endswith(".update") else None
    given = event.args[0] if event.args else named or next(iter(event.kwargs.values()), None)
    pairs = _pairs(interp, given)
    of_file = pairs is None and event.name.endswith(_FROM_FILE)
    for _, node in _nodes(interp, event.receiver):
        _put_all(interp, node, pairs, _in_files(interp, node, given, frame) if of_file else None)
    return NONE


def _put_all(
    interp: Interpreter, node: Node, pairs: Mapping[str, Value] | None, said: shipped.Stated | None = None
) -> None:  # fmt: skip
    """Merges into a node what stands under dotted names; what is not known, or ``said`` by files, changes any of it."""
    if pairs is None:
        _free(interp, node, said=said)
        return
    for name, value in pairs.items():
        _put(interp, node, name, value)


def _pairs(interp: Interpreter, given: Value | None) -> dict[str, Value] | None:
    """What is merged, by dotted name; None where that is not known."""
    if isinstance(given, Const) and not given.value:
        return {}
    if isinstance(given, Seq) and given.items is not None and not len(given.items) % 2:
        names = [one.value if isinstance(one, Const) else None for one in given.items[::2]]
        found = dict(zip(names, given.items[1::2], strict=True))
        return {str(name): value for name, value in found.items()} if None not in found else None
    if isinstance(given, Dict) and not given.open:
        return {str(name): value for name, value in interp.heap.items(given).items()}
    if isinstance(given, (Obj, Inst)) and _is_node(interp, given):
        return _held(interp, given)
    return None


def _put(interp: Interpreter, node: Node, dotted: str, value: Value, level: int = 0) -> None:
    """Sets what stands under a dotted name; of a node what it holds."""
    name, _, rest = dotted.partition(".")
    inner = list(_nodes(interp, node.attrs.get(name)))
    more = {rest: value} if rest else _pairs(interp, value) if isinstance(value, (Dict, Obj, Inst)) else None
    if inner and more is not None and level < _MOST_LEVELS:
        for _, one in inner:
            for key, each in more.items():
                _put(interp, one, key, each, level + 1)
    elif not rest:
        interp.heap.set(node, name, _since_made(interp, node), value)


def _in_files(interp: Interpreter, node: Node, path: Value | None, frame: Frame) -> shipped.Stated | None:
    """What the config files say that may be merged into a node: those that have no other keys than it has."""
    return shipped.stated(interp, frame, path, partial(_fits, interp, node))


def _fits(interp: Interpreter, node: Node, found: Mapping[str, Any]) -> bool:
    """Whether a file can be merged: yacs refuses keys that are new, unless the node was made to take them."""
    held = _held(interp, node)
    made = node.event if isinstance(node, Obj) else None
    if any(name not in held for name in found) and (made is None or _NEW_ALLOWED not in made.kwargs):
        return False
    inner = [(one, value) for name, value in found.items() for _, one in _nodes(interp, held.get(name))]
    return all(isinstance(value, dict) and _fits(interp, one, value) for one, value in inner)


def _free(
    interp: Interpreter, node: Node, spelling: str = "{}", prefix: str = "", level: int = 0,
    said: shipped.Stated | None = None,
) -> None:  # fmt: skip
    """From here on each constant of a node, and of those inside, is the default of a setting of its dotted name.

    ``spelling`` is how one is written, with ``{}`` for that name; ``prefix`` is the path of names that leads here.
    ``said`` is what config files say that are merged into it.
    """
    cond = _since_made(interp, node)
    for name, value in _held(interp, node).items():
        leaves = [
            (when, _setting(interp, node, f"{prefix}{name}", spelling, leaf, said))
            for when, leaf in alternatives(value)
        ]
        if any(leaf is not was for (_, leaf), (_, was) in zip(leaves, alternatives(value), strict=True)):
            interp.heap.set(node, name, cond, choose(leaves))
        for _, inner in _nodes(interp, value):
            if level < _MOST_LEVELS:
                _free(interp, inner, spelling, f"{prefix}{name}.", level + 1, said)


def _setting(
    interp: Interpreter, node: Node, dotted: str, spelling: str, leaf: Value, said: shipped.Stated | None
) -> Value:  # fmt: skip
    """A setting whose default a constant is; anything else is left as it is."""
    if leaf is ABSENT or not isinstance(leaf, Const) or not isinstance(leaf.value, _SETTINGS):
        return leaf
    if isinstance(node, Inst):
        location = Location(node.cls.frame.module.path, *node.cls.node.place)
    elif node.event is not None:
        location = node.event.location
    else:
        return leaf
    way = tuple(dotted.split("."))
    if said is None or not said.names(way):
        return flag_value(interp, flag_of(dotted, leaf.value, location, spelled=spelling.format(dotted)))
    values = list(map(_read, said.of(way, leaf.value)))
    if not all(isinstance(value, _SETTINGS) for value in values):
        return UNKNOWN
    spelled = f"{dotted} in {said.label}"
    if len(values) > 1 and leaf.value not in values:
        return flag_value(interp, shipped.differing(dotted, tuple(values), location, spelled))
    default = leaf.value if len(values) > 1 else values[0]
    flag = flag_of(dotted, default, location, spelled=spelled)
    return flag_value(interp, flag._replace(stated=tuple(values)) if len(values) > 1 else flag)


def _read(value: Any) -> Any:
    """What yacs makes of a value in a file: of a text that is a literal of Python what it stands for.

    Source: ``_decode_cfg_value`` in yacs/config.py of 0.1.8.
    """
    try:
        return literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError):
        return value


def _define(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``config_flags.DEFINE_config_dict("config", node)``: ``--config.seed=1`` changes what ``FLAGS.config`` holds.

    ``DEFINE_config_file("config", "configs/default.py")`` takes what ``get_config`` of that file makes. Source:
    github.com/google/ml_collections, README ("Config Flags").
    """
    name = event.argument(_NAME)
    default = event.argument(_CONFIG) or event.kwargs.get("default", NONE)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    place = environment.place_of(event)
    if event.name.endswith("_file"):
        path = default.value if isinstance(default, Const) and isinstance(default.value, str) else ""
        file, _, argument = path.partition(":")
        module = module_name(file)
        made = configured.by_dotted_name(interp, f"{module}.get_config", frame, place) if module else UNKNOWN
        given: list[Value] = [Const(argument)] if argument else []
        default = calls.call(interp, made, given, {}, frame, place) if isinstance(made, Func) else UNKNOWN
    for _, node in _nodes(interp, default):
        _free(interp, node, "--{}", f"{name.value}.")
    return interp.command_line.define_absl(interp, name.value, default, event)


# -- reading -------------------------------------------------------------------------------------------------------


def item(interp: Interpreter, node: Obj, name: object) -> Value | None:
    """``node["name"]``, ``node.get("name")``; None where the node does not hold it, or is none."""
    if node.type not in copies.NODES or not isinstance(name, str):
        return None
    interp.heap.read(node, name, node.attrs.get(name))
    return interp.resolve(node.attrs[name]) if name in node.attrs else None


def _get(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``node.get(name, default)``; a name that the node does not hold may have been merged into it."""
    name = environment.first(event)
    if isinstance(event.receiver, Obj) and isinstance(name, Const):
        return item(interp, event.receiver, name.value) or UNKNOWN
    return UNKNOWN


def _views(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``node.items()``, ``node.keys()``, ``node.values()``."""
    if not isinstance(event.receiver, (Obj, Inst)):
        return None
    held: Mapping[str, Value] = _held(interp, event.receiver)
    return mappings.view(interp, Dict(dict(held)), event.name.rpartition(".")[2])


_NAME = Argument(0, "name")
_CONFIG = Argument(1, "config")
_FROM_FILE = ".merge_from_file"
_NEW_ALLOWED = "new_allowed"
_INITIAL = ("init_dict", "cfg_dict", "initial_dictionary")
_OMEGACONF = "omegaconf.DictConfig"
_TYPES = {
    "omegaconf.OmegaConf.create": _OMEGACONF,
    "munch.munchify": "munch.Munch", "munch.Munch.fromDict": "munch.Munch",
}  # fmt: skip
"""Calls that make nodes, with the types of these where they are not classes."""
_TAKING_NO_ITEMS = frozenset(node for node in copies.NODES if node.endswith(("CfgNode", "Config", "ConfigDict")))
"""Types whose keyword arguments say how a node is made, not what is in it."""
_MERGES = (
    "merge_from_file", "merge_from_list", "merge_from_other_cfg", "merge_from_dict", "update",
    "update_from_flattened_dict",
)  # fmt: skip
TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys((*sorted(copies.NODES), *_TYPES), _make),
    "omegaconf.OmegaConf.load": _from_file,
    "omegaconf.OmegaConf.merge": _merged,
    **{f"{node}.{name}": _merge for node in sorted(copies.NODES) for name in _MERGES},
    **{
        f"ml_collections.config_flags.{inner}DEFINE_config_{kind}": _define
        for inner in ("", "config_flags.")
        for kind in ("dict", "file")
    },
    **{f"{node}.clone": _clone for node in sorted(copies.NODES)},
    **{f"{node}.get": _get for node in sorted(copies.NODES)},
    **{f"{node}.{name}": _views for node in sorted(copies.NODES) for name in ("items", "keys", "values")},
}
