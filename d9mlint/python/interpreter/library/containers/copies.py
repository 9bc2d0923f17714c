"""Copies of objects of the program and of collections: what a copy is told or made later leaves the original alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, Dict, Inst, Obj, Record, Seq, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

NODES = frozenset(
    {
        "yacs.config.CfgNode", "fvcore.common.config.CfgNode", "iopath.common.config.CfgNode",
        "detectron2.config.CfgNode",
        "mmengine.ConfigDict", "mmengine.config.Config", "mmengine.config.ConfigDict",
        "mmcv.Config", "mmcv.ConfigDict", "mmcv.utils.Config", "mmcv.utils.ConfigDict",
        "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict",
        "ml_collections.config_dict.config_dict.ConfigDict",
        "omegaconf.DictConfig", "easydict.EasyDict", "attrdict.AttrDict", "addict.Dict", "addict.addict.Dict",
        "box.Box", "dotmap.DotMap", "munch.Munch", "munch.DefaultMunch",
    }
)  # fmt: skip
"""Types of trees of settings, whose attributes are what they hold."""
_HOLDERS = NODES | {environment.NAMESPACE}
_PICKLES = ("pickle", "cloudpickle", "dill")
_PACKS = frozenset(f"{module}.dumps" for module in _PICKLES)
_MOST_LEVELS = 6
_MOST_COPIES = 1_000
"""Objects and collections inside of one that is copied; those beyond are shared with it."""


class _Copier:
    """Copies of one call: what is met twice is copied once."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._made: dict[int, tuple[Value, Value]] = {}

    def copy(self, value: Value, levels: int) -> Value:
        """A copy of a value and of what it holds, so many levels deep."""
        leaves = alternatives(value)
        if len(leaves) > 1:
            return choose([(cond, self.copy(leaf, levels)) for cond, leaf in leaves])
        if levels < 0 or not is_copied(value) or len(self._made) >= _MOST_COPIES:
            return value
        if id(value) not in self._made:
            self._made[id(value)] = (value, self._copied(value, levels - 1))
        return self._made[id(value)][1]

    def _copied(self, value: Value, levels: int) -> Value:
        if isinstance(value, Inst):
            made = Inst(value.cls, value.born)
            self._made[id(value)] = (value, made)
            made.attrs.update(self._each(value.attrs, levels))
            made.like, made.made, made.open = value.like, value.made, value.open
            return made
        if isinstance(value, Record):
            record = Record(value.cls)
            record.items.update(self._each(self._interp.heap.items(value), levels))
            record.open, record.order, record.sources = value.open, value.order, value.sources
            return record
        if isinstance(value, Dict):
            items = self._each(self._interp.heap.items(value), levels)
            return Dict(items, value.open, value.order, value.sources, value.element)
        if isinstance(value, Obj):
            for name, held in value.attrs.items():
                self._interp.heap.read(value, name, held)
            node = Obj(value.type, value.event)
            self._made[id(value)] = (value, node)
            node.attrs.update(self._each(value.attrs, levels))
            return node
        return self._of_sequence(value, levels) if isinstance(value, Seq) else value

    def _of_sequence(self, value: Seq, levels: int) -> Seq:
        items = None if value.items is None else [self.copy(one, levels) for one in value.items]
        element = None if value.element is None else self.copy(value.element, levels)
        made = Seq(value.kind, items, element, value.order, value.sources)
        made.born = value.born
        return made

    def _each(self, held: Mapping[Any, Value], levels: int) -> dict[Any, Value]:
        return {key: one if isinstance(one, Const) else self.copy(one, levels) for key, one in held.items()}


def _copy(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``copy.copy(x)``, ``copy.deepcopy(x)``; None where nothing is known of what ``x`` holds."""
    value = environment.first(event)
    return copied(interp, value, deep=event.name.endswith("deepcopy"))


def copied(interp: Interpreter, value: Value, *, deep: bool = True) -> Value | None:
    """A copy of a value; None where nothing is known of what it holds."""
    if not any(is_copied(leaf) for _, leaf in alternatives(value)):
        return None
    return _Copier(interp).copy(value, _MOST_LEVELS if deep else 0)


def is_copied(value: Value) -> bool:
    """Whether it is known what a value holds."""
    return isinstance(value, (Inst, Dict, Seq)) or (isinstance(value, Obj) and value.type in _HOLDERS)


def _copy_of_receiver(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``settings.copy()``, ``locals().copy()``."""
    return None if event.receiver is None else copied(interp, event.receiver, deep=False)


def _unpickled(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``pickle.loads(pickle.dumps(x))``, also in another process, is a copy of ``x``."""
    given = environment.first(event)
    packed = given.event if isinstance(given, Obj) else None
    if packed is None or packed.name not in _PACKS or not packed.args:
        return None
    return copied(interp, packed.args[0]) or packed.args[0]


TRANSFER: dict[str, Transfer] = {
    **{f"{module}.loads": _unpickled for module in _PICKLES},
    "copy.copy": _copy, "copy.deepcopy": _copy,
    "builtins.dict.copy": _copy_of_receiver, "builtins.list.copy": _copy_of_receiver,
}  # fmt: skip
