"""What is recorded, one JSON list a line, in a file for each process; bounded, and written out often.

The first word of a line is its kind, the second the thread; an event is known by the number of its line.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .places import Places

MOST = 2**28
"""Bytes of a recording; after these it is closed, and says so."""
_FLUSH = 2**15
WHOLE = "whole"
"""A file that is there as long as all could be written down."""
MAIN, FOREIGN = "main", "foreign"
"""The first thread; those that a library has started, which Python numbers in any order."""
OP, VIEW, EMPTY, ENTRY, COLLECTIVE, SKIP = "op", "view", "empty", "entry", "collective", "skip"
"""What an op is here: it computes, hands on, makes memory, brings data in, meets other processes, or is left out."""

_END = '["end",'
_ident = threading.get_ident
_encoded = json.JSONEncoder(separators=(",", ":")).encode


def digest(data: Any) -> str:
    """Eight bytes that tell data from other data; of what is no bytes, its text."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        data = repr(data).encode("utf-8", "backslashreplace")
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class _Apart:
    """While it is entered, its thread is busy; nested ones leave the outer one be."""

    __slots__ = ("_before", "_local")

    def __init__(self, local: threading.local) -> None:
        self._local = local

    def __enter__(self) -> None:
        self._before = getattr(self._local, "busy", False)
        self._local.busy = True

    def __exit__(self, *_: object) -> None:
        self._local.busy = self._before


class Recorder:
    """The recording of this process; in a worker (forked or started anew) one of its own."""

    def __init__(self, folder: str, places: Places, program: str = MAIN, worker: bool = False) -> None:
        self.folder, self.places = folder, places
        self.program, self.worker = program, worker
        """The part of the program: its first process, a rank; and whether this process only helps it."""
        self.local = threading.local()
        self.closed = False
        self.at_end: list[Any] = []
        """What is to be called when the program comes to its end."""
        self._lock = threading.RLock()
        self._main = threading.main_thread().ident
        self._begin()
        os.register_at_fork(after_in_child=self._forked)

    @property
    def busy(self) -> bool:
        """Whether this thread does something for the recording, which is not to be recorded."""
        return getattr(self.local, "busy", False)

    def apart(self) -> _Apart:
        """What this thread does inside is done for the recording: it is not recorded."""
        return _Apart(self.local)

    def _begin(self) -> None:
        self.number = 0
        self._size = 0
        self._waiting: list[bytes] = []
        self._pending = 0
        self._file: Any = None
        self._known: dict[Any, int] = {}

    def _forked(self) -> None:
        self._lock = threading.RLock()
        self._main = threading.main_thread().ident
        self.local = threading.local()
        self.worker = True
        self._begin()

    def _name(self) -> str:
        """The part's name, and for a worker what `multiprocessing` numbers it by: that is the same in each run.

        Empty as long as it is not known: while a process that is started anew imports the program.
        """
        if not self.worker:
            return self.program
        module = sys.modules.get("multiprocessing.process")
        process = module.current_process() if module is not None else None
        if getattr(process, "_inheriting", False):
            return ""
        identity = process._identity if process is not None else ()
        return self.program + ".worker-" + ("-".join(map(str, identity)) or "p" + str(os.getpid()))

    def place(self, depth: int = 2) -> int:
        """The number of the user's line that is being executed; 0: there is none on the stack."""
        return self.number_of(self.places.here(depth + 1))

    def number_of(self, found: Any) -> int:
        """The number of a place; it is written down when it is new."""
        if found is None:
            return 0
        number = self._known.get(found)
        if number is None:
            with self._lock:
                number = self._known[found] = len(self._known) + 1
                self.event("place", number, *found)
        return number

    def thread(self) -> str:
        """The thread's name; threads are numbered in the order of their start, as long as that is the same."""
        named = getattr(self.local, "thread", None)
        if named is not None:
            return str(named)  # of work that others do for this process
        if _ident() == self._main:
            return MAIN
        current = threading.current_thread()
        if isinstance(current, threading._DummyThread):
            return FOREIGN
        return MAIN if self.worker else current.name

    def note(self, text: str) -> None:
        """Something that whoever reads the report is to know."""
        self.event("note", text)

    def uses(self, module: Any) -> None:
        """A framework that the program has imported."""
        self.note_use(module.__name__)

    def note_use(self, name: str) -> None:
        """Something that a switch is about."""
        self.event("uses", name)

    def event(self, kind: str, *fields: Any) -> int:
        """Writes one event down; its number."""
        return self.written(_encoded([kind, self.thread(), *fields]))

    def plain(self, kind: str, *words: str) -> int:
        """As `event`, of words that stand for themselves in JSON: names of types, hexadecimal digits, however many."""
        return self.written('["%s",%s,"%s"]' % (kind, _encoded(self.thread()), '","'.join(words)))  # noqa: UP031

    def written(self, text: str) -> int:
        """As `event`, of one that is a line of JSON already."""
        line = text.encode() + b"\n"
        with self._lock:
            if self.closed:
                return 0
            self.number += 1
            self._waiting.append(line)
            self._pending += len(line)
            self._size += len(line)
            if self._size > MOST and not text.startswith(_END):
                self.event("end", "full")
                self.flush()
                self.closed = True
            elif self.worker or self._pending > _FLUSH:  # workers are ended without a word
                self.flush()
            return self.number

    def ended(self) -> None:
        """The program has come to its end: what was kept for it is done, once."""
        calls, self.at_end = self.at_end, []
        for call in calls:
            call()
        self.event("end", "exit")
        self.flush()

    def flush(self) -> None:
        """What is recorded so far survives whatever happens to the process."""
        with self._lock:
            name = self._name() if self._waiting else ""
            if not name:
                return
            data, self._waiting, self._pending = b"".join(self._waiting), [], 0
            try:
                if self._file is None:
                    path = os.path.join(self.folder, name + ".jsonl")  # noqa: PTH118
                    self._file = open(path, "ab", buffering=0)  # noqa: PTH123, SIM115
                whole = self._file.write(data) == len(data)
            except OSError:
                whole = False
            if not whole:  # the disk is full: there is room for a word only where one is taken away
                self.closed = True
                with suppress(OSError):
                    os.unlink(os.path.join(self.folder, WHOLE))  # noqa: PTH108, PTH118
