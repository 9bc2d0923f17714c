"""Where values come in that differ from run to run, beside generators: clocks, listings, hashes, completion."""

from __future__ import annotations

import builtins
import itertools
import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from .recorder import digest
from .wrapping import Wrapping

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder

_CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "ctime")
_SHOWN = 60


def install(importing: Importing, recorder: Recorder) -> None:
    """Wraps what is there, and the rest when it has been imported."""
    wrapping = Wrapping(recorder)
    for name in _CLOCKS:
        wrapping.replace(time, name, partial(_value, wrapping, "time", "time." + name))
    wrapping.replace(os, "getpid", partial(_value, wrapping, "process", "os.getpid"))
    wrapping.replace(os, "urandom", partial(_value, wrapping, "entropy", "os.urandom"))
    wrapping.replace(builtins, "hash", partial(_value, wrapping, "hash", "hash"))
    wrapping.replace(builtins, "id", partial(_value, wrapping, "address", "id"))
    wrapping.replace(os, "listdir", partial(_listing, wrapping))
    wrapping.replace(os, "scandir", partial(_scanning, wrapping))
    os.supports_fd.update((os.listdir, os.scandir))  # `shutil` asks whether they are among these
    for name in ("uuid1", "uuid4"):
        importing.after("uuid", partial(_uuid, wrapping, name))
    importing.after("concurrent.futures._base", partial(_futures, wrapping))
    importing.after("multiprocessing.pool", partial(_pool, wrapping))


def _tell(wrapping: Wrapping, place: int, kind: str, name: str, value: Any, bag: str = "") -> None:
    text = repr(value)
    wrapping.recorder.event("source", place, kind, name, digest(text), bag, text[:_SHOWN])


def _value(wrapping: Wrapping, kind: str, name: str, real: Any) -> Any:
    """A function whose value is told where the user's own code calls it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        value = real(*args, **kwargs)
        place = wrapping.direct()
        if place is not None and wrapping.told(kind):
            _tell(wrapping, wrapping.recorder.number_of(place), kind, name, value)
        return value

    return call


def _uuid(wrapping: Wrapping, name: str, uuid: Any) -> None:
    wrapping.replace(uuid, name, partial(_value, wrapping, "entropy", "uuid." + name))


def _listed(wrapping: Wrapping, name: str, names: list[str]) -> None:
    if not sys._getframe(2).f_code.co_filename.startswith("<frozen importlib") and wrapping.told("listing"):
        place = wrapping.recorder.place(3)
        if place:
            _tell(wrapping, place, "listing", name, names, digest(sorted(names)))


def _listing(wrapping: Wrapping, real: Any) -> Any:
    def listdir(path: Any = ".") -> Any:
        names = real(path)
        _listed(wrapping, "os.listdir", [os.fsdecode(one) for one in names])
        return names

    return listdir


class _Scan:
    """What `os.scandir` gives, read at once."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is left to be read."""
        self._entries = iter(())


def _scanning(wrapping: Wrapping, real: Any) -> Any:
    def scandir(path: Any = ".") -> Any:
        with real(path) as found:
            entries = list(found)
        _listed(wrapping, "os.scandir", [os.fsdecode(one.name) for one in entries])
        return _Scan(entries)

    return scandir


def _futures(wrapping: Wrapping, module: Any) -> None:
    """The order in which futures are done, by the numbers that they got when they were made."""
    numbers = itertools.count()
    first = module.Future.__init__

    def __init__(self: Any) -> None:
        first(self)
        self._d9mlint = next(numbers)

    module.Future.__init__ = __init__

    def made(real: Any) -> Any:
        def as_completed(fs: Any, timeout: Any = None) -> Any:
            for future in real(fs, timeout):
                if wrapping.told("order"):
                    number = getattr(future, "_d9mlint", -1)
                    _tell(wrapping, wrapping.recorder.place(), "completion", "as_completed", number)
                yield future

        return as_completed

    wrapping.replace(module, "as_completed", made)


def _pool(wrapping: Wrapping, module: Any) -> None:
    """The order in which `imap_unordered` hands out results."""
    kind = module.IMapUnorderedIterator

    def setting(real: Any) -> Any:
        def _set(self: Any, i: int, obj: Any) -> None:
            self.__dict__.setdefault("_d9mlint", []).append(i)
            real(self, i, obj)

        return _set

    def going(real: Any) -> Any:
        def following(self: Any, timeout: Any = None) -> Any:
            value = real(self, timeout)
            order = self.__dict__.get("_d9mlint")
            if order and wrapping.told("order"):
                _tell(wrapping, wrapping.recorder.place(), "completion", "imap_unordered", order.pop(0))
            return value

        return following

    wrapping.replace(kind, "_set", setting)
    wrapping.replace(kind, "next", going)
    kind.__next__ = kind.next
