"""A child process that answers requests about op cases: started, asked with a time limit, and surely ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

Json = dict[str, Any]
SCRIPT = Path(__file__).with_name("child")
"""What the other interpreter runs: a folder with a ``__main__.py``."""
_POLL = 0.2
_LONGEST_REPLY = 2**26
_TAIL = 4096


class ChildFailed(Exception):
    """The process gave no answer; the text says why. It is gone afterwards."""


class Child:
    """One process; a context manager, so that none is left whatever happens.

    It leads a session of its own: a Ctrl-C of the terminal does not reach it, and ending it ends what it started.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], memory: int) -> None:
        self._memory = memory
        self._buffer = b""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `end`)
        requests, self._send = os.pipe()
        self._receive, replies = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*command, str(requests), str(replies)], env=dict(env), pass_fds=(requests, replies),
                stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._close(self._send, self._receive)
            self._errors.close()
            raise ChildFailed(f"cannot start {command[0]}: {error.strerror}") from None
        finally:
            self._close(requests, replies)
        self.ended = False
        self._paused = False

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @staticmethod
    def _close(*descriptors: int) -> None:
        for one in descriptors:
            os.close(one)

    def send(self, request: Json) -> None:
        """Writes a request; `receive` waits for the answer."""
        try:
            os.write(self._send, json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise self._failed("ended") from None

    def receive(self, seconds: float) -> Json:
        """The answer to the request.

        Raises:
            ChildFailed: it crashed, took longer than ``seconds`` or more memory than allowed, or wrote something else.
        """
        line = self._line(time.monotonic() + seconds, seconds)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._failed("wrote something that is no answer", line[:80].decode("utf-8", "replace"))
        return answer

    def ask(self, request: Json, seconds: float) -> Json:
        """Sends a request and waits for its answer."""
        self.send(request)
        return self.receive(seconds)

    def _line(self, end: float, seconds: float) -> bytes:
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._receive], [], [], min(_POLL, max(0.0, end - time.monotonic())))
            if ready:
                data = os.read(self._receive, 65536)
                if not data:
                    raise self._failed("ended")
                self._buffer += data
            if resident(self._process.pid) > self._memory:
                raise self._failed(f"took more than {self._memory / 2**30:.1f} GiB of memory and was stopped")
            if time.monotonic() > end or len(self._buffer) > _LONGEST_REPLY:
                raise self._failed(f"gave no answer within {seconds:g} s and was stopped")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _failed(self, what: str, said: str = "") -> ChildFailed:
        """Ends the process; the error tells how it went and the last thing that it said."""
        if what == "ended":
            try:
                code = self._process.wait(5)
                what = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            except subprocess.TimeoutExpired:
                what = "closed its pipe"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _TAIL))
        lines = [one.strip() for one in self._errors.read().decode("utf-8", "replace").splitlines() if one.strip()]
        self.end()
        said = said or (lines[-1][:300] if lines else "")
        return ChildFailed(f"the process {what}{f': {said}' if said else ''}")

    def pause(self, paused: bool) -> None:
        """Stops the process with all that it started, or lets it go on; may be called again."""
        if not self.ended and paused is not self._paused:
            self._paused = paused
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGSTOP if paused else signal.SIGCONT)

    def end(self) -> None:
        """Ends the process and everything that it started; may be called again."""
        if self.ended:
            return
        self.ended = True
        self._close(self._send, self._receive)
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()  # the group is gone: at most its leader is left
        self._process.wait()
        self._errors.close()


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system does not tell (only Linux does)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
