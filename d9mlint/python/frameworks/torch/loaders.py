"""Data loaders: what a ``DataLoader`` of PyTorch runs is told where the program goes through it, not where it is made.

Samplers run in the main process; the dataset, its transforms and ``collate_fn`` run there too where ``num_workers`` is
0, else in worker processes (torch/utils/data/dataloader.py, torch/utils/data/_utils/worker.py).
"""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Invocation
from d9mlint.python.domain.conditions import Cond, both, either, negate, opaque
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    CALLABLE,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Obj,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, callbacks, calls, comparisons
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.scopes import within
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

LOADER = "loader"
"""The context of what a loader does in the main process."""
WORKER = "loader-worker"
"""The context of what it does in its worker processes."""
PERHAPS_WORKER = "loader-perhaps-worker"
"""The same where the number of workers is not known."""
CONTEXTS = (LOADER, WORKER, PERHAPS_WORKER)
PART = "part"
"""The context of what is used when the result of a call is: transforms of a ``Compose``, a ``Subset``'s dataset."""
READS = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__"})
"""Methods of a dataset that a loader calls."""
NUM_WORKERS = Argument(5, "num_workers")
INIT = Argument(10, "worker_init_fn")
MAX_ITEMS = 40
"""Transforms, or datasets, of one list that are followed."""
MAX_DEPTH = 16
"""Lists in lists, parts of parts: a list may even hold itself."""
MAX_WRAPPERS = 4
"""Calls around a loader (``tqdm(islice(loader, 5))``) that are looked through."""
_METHODS = {"": ("__call__", "forward"), "__getitem__": ("__getitem__", "get")}
"""The methods that a use runs; the datasets of PyTorch Geometric read an item in ``get``."""
_TRANSFORMS = frozenset({"transform", "target_transform", "transforms"})
"""Attributes of datasets that may be set later, as ``dataset.transform = Compose(...)``."""
_MADE, _LOADER_OF, _GONE_THROUGH, _HANDED, _BASE = "loader", "loader-of", "gone-through", "handed", "base-of-dataset"
"""Keys of notes: calls that make loaders, those of the program's own loaders, what was gone through or handed over, and
what the bases of datasets were given."""
_DATASET = Argument(0, "dataset")
_DATASETS = ("torch.utils.data.", "torchvision.datasets.", "torch_geometric.data.", "torchaudio.datasets.")


def is_dataset(instance: Inst) -> bool:
    """Whether an object of the program is a dataset by its class: how it is read is up to its loader."""
    return any(name.startswith(_DATASETS) for name in instance.cls.external())


class Loaders:
    """The loaders of one program: those made, those gone through, and datasets that were handed to something else."""

    __slots__ = ("depth",)

    def __init__(self) -> None:
        self.depth = 0

    def hand(self, interp: Interpreter, instance: Inst, frame: Frame, place: f.Place) -> frozenset[str]:
        """Remembers a dataset that was handed to something else; gives the methods that its loader will call."""
        if not is_dataset(instance):
            return frozenset()
        if interp.noted((_HANDED, id(instance))) is None:
            interp.note((_HANDED, id(instance)), (instance, frame, place))
        return READS

    def note(self, interp: Interpreter, event: Event, frame: Frame) -> None:
        """Remembers a call that makes a loader."""
        if event.effects and any(i.context == LOADER for effect in event.effects for i in effect.invokes):
            interp.note((_MADE, id(event)), (event, frame))
            if isinstance(event.receiver, Inst):  # super().__init__(dataset, ...) of a loader of the program's own
                interp.note((_LOADER_OF, id(event.receiver)), event)
        if isinstance(event.receiver, Inst) and event.name.endswith(".__init__") and _has_parts(event):
            interp.note((_BASE, id(event.receiver)), (event, frame))  # of a dataset of its own, whose base reads it

    def iterate(self, interp: Interpreter, value: Value, frame: Frame, place: f.Place) -> None:
        """Tells what happens when a value is gone through, where it is a loader or something around one."""
        for cond, leaf in alternatives(value):
            if isinstance(leaf, (Obj, Inst)):
                found = self._loaders(interp, leaf, MAX_WRAPPERS)
                for inner, loader in found:
                    interp.under(both(cond, inner), partial(self._tell, interp, loader, frame, place))
                    interp.event("pass", loader.name, frame, place, (loader.result or leaf,))
                if not found and isinstance(leaf, Inst):
                    interp.under(cond, partial(self._go_through, interp, leaf, frame, place))

    def finish(self, interp: Interpreter) -> None:
        """Tells what is left at the end: loaders and datasets that something outside the program goes through."""
        interp.deferred += 1
        for event, frame in interp.all_noted(_MADE):
            if interp.noted((_GONE_THROUGH, id(event))) is None:
                interp.under(both(*event.guards), partial(self._tell, interp, event, frame, _place(event)))
        for event, frame in interp.all_noted(_BASE):
            if interp.noted((_GONE_THROUGH, id(event))) is None:
                interp.under(both(*event.guards), partial(self._use_parts, interp, event, frame, _place(event)))
        interp.deferred -= 1
        for instance, frame, place in interp.all_noted(_HANDED):
            if not any(interp.noted(("ran", id(instance), name)) for name in READS):
                interp.while_there(instance, partial(callbacks.run_protocol, interp, instance, frame, place, READS))

    def use_called(self, interp: Interpreter, event: Event, frame: Frame, place: f.Place) -> None:
        """Tells what is called with something made of parts: ``self.transform(image)`` calls each of a ``Compose``.

        A method that runs ops on the device does that, too: ``trainer.run(data)`` calls the step that it was made with.
        """
        holder = event.receiver
        called = event.name.endswith(".__call__")
        runs = called or any(effect.device_op for effect in event.effects)
        if runs and isinstance(holder, Obj) and holder.event is not None:
            if called and event.effects:
                interp.heap.mark(event, raw=holder.event.raw)
            self._use_parts(interp, holder.event, frame, place)

    # -- loaders -------------------------------------------------------------------------------------------------------

    def _loaders(self, interp: Interpreter, value: Value | None, depth: int) -> list[tuple[Cond, Event]]:
        """The calls that made the loaders which are gone through with ``value``, each with its condition."""
        found: list[tuple[Cond, Event]] = []
        for cond, leaf in alternatives(value):
            known: Event | None = interp.noted((_LOADER_OF, id(leaf))) if isinstance(leaf, Inst) else None
            if known is None and isinstance(leaf, Obj) and leaf.event is not None and depth:
                known = leaf.event if interp.noted((_MADE, id(leaf.event))) else None
                if known is None:
                    inside = (self._loaders(interp, given, depth - 1) for given in leaf.event.args[:MAX_WRAPPERS])
                    wrapped = next((each for each in inside if each), [])
                    found += [(both(cond, inner), loader) for inner, loader in wrapped]
            if known is not None:
                found.append((cond, known))
        return found

    def _tell(self, interp: Interpreter, loader: Event, frame: Frame, place: f.Place) -> None:
        key = (_GONE_THROUGH, id(loader), interp.path.all)
        if interp.noted(key) or interp.bounds.too_deep(len(interp.stack), "__iter__", frame.module.path, place):
            return
        interp.note(key)
        interp.note((_GONE_THROUGH, id(loader)))
        outer, interp.loader = interp.loader, loader
        try:
            several, known = _has_workers(interp, loader)
            idle = self._of_one_item(interp, loader, frame, place)
            within(interp, LOADER, partial(self._draws, interp, loader, "__iter__", frame, place, idle=idle))
            within(interp, LOADER, partial(self._run, interp, loader, ("sampler", "batch_sampler"), frame, place))
            read = partial(self._run, interp, loader, ("dataset", "collate_fn"), frame, place)
            work = partial(self._run, interp, loader, ("worker_init_fn", "dataset", "collate_fn"), frame, place)
            if known:
                interp.under(negate(several), partial(within, interp, LOADER, read))
                interp.under(several, partial(within, interp, WORKER, work))
            else:
                within(interp, PERHAPS_WORKER, work)
        finally:
            interp.loader = outer

    def _run(
        self, interp: Interpreter, loader: Event, arguments: tuple[str, ...], frame: Frame, place: f.Place
    ) -> None:
        invocations = [i for effect in loader.effects for i in effect.invokes if i.context == LOADER]
        for name in arguments:
            for invocation in invocations:
                if invocation.argument.keyword == name:
                    for cond, leaf in alternatives(loader.argument(invocation.argument)):
                        if not _are_datasets(leaf):  # a tuple's items are what a loader gives: it reads nothing of them
                            use = partial(self._use_leaf, interp, leaf, invocation.method, frame, place)
                            interp.under(cond, use)

    def _of_one_item(self, interp: Interpreter, loader: Event, frame: Frame, place: f.Place) -> Cond:
        """When a dataset of the program says that it has one item, or none, so that there is one order of them."""
        found: list[Cond] = []
        for cond, leaf in alternatives(loader.argument(_DATASET)):
            length = self._enter(interp, leaf, "__len__", frame, place) if isinstance(leaf, Inst) else None
            found.append(both(cond, isinstance(length, Const) and length.value in (0, 1)))
        return either(*found)

    # -- what a loader uses --------------------------------------------------------------------------------------------

    def _invoke(self, interp: Interpreter, maker: Event, invocation: Invocation, frame: Frame, place: f.Place) -> None:
        value = maker.argument(invocation.argument)
        if value is not None:
            self._use(interp, value, invocation.method, frame, place)

    def _use(self, interp: Interpreter, value: Value, method: str, frame: Frame, place: f.Place) -> None:
        for cond, leaf in alternatives(value):
            interp.under(cond, partial(self._use_leaf, interp, leaf, method, frame, place))

    def _use_leaf(self, interp: Interpreter, leaf: Value, method: str, frame: Frame, place: f.Place) -> None:
        if not interp.bounds.step(frame.module.path) or self.depth >= MAX_DEPTH:
            return
        self.depth += 1
        try:
            self._use_known(interp, leaf, method, frame, place)
        finally:
            self.depth -= 1

    def _use_known(self, interp: Interpreter, leaf: Value, method: str, frame: Frame, place: f.Place) -> None:
        if isinstance(leaf, Inst):
            for name in _METHODS.get(method, (method,)):
                self._enter(interp, leaf, name, frame, place)
            base = interp.noted((_BASE, id(leaf))) if method == "__getitem__" else None
            if base is not None:
                interp.note((_GONE_THROUGH, id(base[0])))
                self._use_parts(interp, base[0], frame, place)
        elif isinstance(leaf, CALLABLE) and not method:
            calls.call(interp, leaf, [], {}, frame, place, star=True)
        elif isinstance(leaf, Seq):
            items = leaf.items if leaf.items is not None else [leaf.element] if leaf.element is not None else []
            for item in items[:MAX_ITEMS]:
                self._use(interp, item, method, frame, place)
        elif isinstance(leaf, Dict):
            for item in list(leaf.items.values())[:MAX_ITEMS]:
                self._use(interp, item, method, frame, place)
        elif isinstance(leaf, Obj) and leaf.event is not None:
            self._draws(interp, leaf.event, method or "__call__", frame, place, leaf.type)
            if method != "__len__":  # to count examples is not to read and transform them
                self._use_parts(interp, leaf.event, frame, place, replaced=leaf.attrs)
                for name in sorted(_TRANSFORMS & leaf.attrs.keys()):
                    self._use(interp, leaf.attrs[name], "", frame, place)

    def _use_parts(
        self, interp: Interpreter, maker: Event, frame: Frame, place: f.Place, replaced: Container[str] = ()
    ) -> None:
        """What an object made outside was given to use; ``replaced`` are attributes that were set since."""
        if interp.bounds.too_deep(len(interp.stack), maker.name, frame.module.path, place):
            return
        for effect in maker.effects:
            for invocation in effect.invokes:
                if invocation.context == PART and invocation.argument.keyword not in replaced:
                    self._invoke(interp, maker, invocation, frame, place)

    def _draws(self, interp: Interpreter, maker: Event, method: str, frame: Frame, place: f.Place, type_: str = "",
        idle: Cond = False,
    ) -> None:  # fmt: skip
        """What an object made outside does in a method, as an event at the call that made it, with its arguments.

        ``idle``: when the numbers that it draws decide nothing.
        """
        name = f"{type_ or maker.name.removesuffix('.__init__')}.{method}"
        if interp.knowledge.effects_of(interp.knowledge.canonical(name), name):
            event = interp.event("call", name, frame, place, maker.args, kwargs=maker.kwargs, star=maker.star)
            event.location, event.raw, event.idle = maker.location, maker.raw.removesuffix(".__init__"), idle

    def _enter(self, interp: Interpreter, instance: Inst, name: str, frame: Frame, place: f.Place) -> Value | None:
        method = attributes.class_attribute(interp, instance.cls, name)
        if not isinstance(method, Func):
            return None
        interp.note(("ran", id(instance), name), instance)
        return calls.enter(interp, method, [instance], {}, frame, place, star=True)

    def _go_through(self, interp: Interpreter, instance: Inst, frame: Frame, place: f.Place) -> None:
        """What a loop over an object of the program runs, and what it gets: that of a path once."""
        key = (_GONE_THROUGH, id(instance), interp.path.all)
        if interp.noted(key) is None:
            interp.note(key)
            given = self._enter(interp, instance, "__iter__", frame, place)
            if isinstance(given, Inst):  # an iterator: itself, or another object
                item = self._enter(interp, given, "__next__", frame, place)
                given = Seq("generator", None, item) if item is not None else None
            if given is None and attributes.class_attribute(interp, instance.cls, "__iter__") is None:
                item = self._enter(interp, instance, "__getitem__", frame, place)  # from 0 on, as of a sequence
                given = Seq("generator", None, item) if item is not None else None
            if isinstance(given, Seq):
                interp.note((sequences.GIVES, id(instance)), given)


def _are_datasets(value: Value) -> bool:
    """Whether a value is a tuple of datasets, as a function gives that makes those for training and testing."""
    items = value.items or () if isinstance(value, Seq) and value.kind == "tuple" else ()
    leaves = [leaf for item in items for _, leaf in alternatives(item)]
    return bool(leaves) and all(
        is_dataset(leaf) if isinstance(leaf, Inst) else isinstance(leaf, Obj) and leaf.type.startswith(_DATASETS)
        for leaf in leaves
    )


def _has_parts(event: Event) -> bool:
    return any(i.context == PART for effect in event.effects for i in effect.invokes)


def worker_info(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What ``torch.utils.data.get_worker_info()`` gives: the worker's seed, and the copy of the dataset it has."""
    loader = interp.loader
    if loader is None:
        return None
    info = Obj("torch.utils.data.WorkerInfo", event)
    info.attrs["seed"] = Unknown(frozenset({"torch-seed"}), "", (event,))
    info.attrs["id"] = Unknown(frozenset({"int"}))
    dataset = loader.argument(_DATASET)
    if dataset is not None:
        info.attrs["dataset"] = dataset
    return info


def _has_workers(interp: Interpreter, loader: Event) -> tuple[Cond, bool]:
    """When a loader has worker processes, and whether that is known at all."""
    value = loader.argument(NUM_WORKERS)
    if value is None:
        return False, True
    persistent = loader.kwargs.get("persistent_workers")
    if isinstance(persistent, Const) and persistent.value is True:
        return True, True  # with none it raises (torch/utils/data/dataloader.py, DataLoader.__init__)
    found: list[Cond] = []
    for cond, leaf in alternatives(value):
        if isinstance(leaf, Const):
            found.append(both(cond, bool(leaf.value)))
        elif isinstance(leaf, FlagValue):
            more = comparisons.compare(interp, ">", leaf, Const(0), "num_workers > 0")
            found.append(both(cond, comparisons.condition(interp, more, "num_workers > 0")))
        else:
            return True, False
    several = either(*found)
    return several, opaque(several) is None


def _place(event: Event) -> f.Place:
    loc = event.location
    return (loc.line, loc.column, loc.end_line, loc.end_column)
