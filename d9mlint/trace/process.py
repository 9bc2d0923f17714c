"""One run of the program in a fresh process: started with its settings, watched, and ended with what it started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from d9mlint.trace.child.recorder import WHOLE

CHILD = Path(__file__).with_name("child")
SETTINGS = "D9MLINT_TRACE"
_POLL = 0.05
_PATIENCE = 3.0
"""Seconds between the request to end and the end."""
_TAIL = 4096
RAN, SLOW, INTERRUPTED = "ran", "slow", "interrupted"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    how: str
    code: int
    """As a shell shows it: below zero for a signal."""
    seconds: float
    said: str = ""
    """The last line of what it wrote to its error stream."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a run is started with."""

    command: tuple[str, ...]
    folder: Path
    """For the recording and the output."""
    settings: Mapping[str, object]
    env: Mapping[str, str]
    """Beside the environment as it is."""
    cwd: str | None = None
    """Where the program runs; None: in the working directory of d9mlint."""


def executed(start: Start, seconds: float) -> Ended:
    """Runs the program to its end, or for ``seconds``.

    Raises:
        OSError: it cannot be started.
        KeyboardInterrupt: as it came, after everything was ended.
    """
    (start.folder / WHOLE).touch()
    settings = start.folder / "settings.json"
    settings.write_text(json.dumps({**start.settings, "folder": str(start.folder)}), encoding="utf-8")
    begun = time.monotonic()
    with (start.folder / "stdout").open("wb") as out, (start.folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            start.command, env=_env(start, settings), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True, cwd=start.cwd,
        )  # fmt: skip
        try:
            how = _waited(process, begun + seconds)
        finally:
            _end(process, str(settings))
    return Ended(how, process.returncode, time.monotonic() - begun, _last_line(start.folder / "stderr"))


def _env(start: Start, settings: Path) -> dict[str, str]:
    inherited = start.env.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    path = [str(CHILD / "path"), *([inherited] if inherited else [])]
    return {**os.environ, **start.env, "PYTHONPATH": os.pathsep.join(path), SETTINGS: str(settings)}


def _waited(process: subprocess.Popen[bytes], end: float) -> str:
    pause = 0.005
    while process.poll() is None:
        if time.monotonic() > end:
            return SLOW
        time.sleep(pause)
        pause = min(_POLL, pause * 1.5)
    return RAN


def _end(process: subprocess.Popen[bytes], marker: str) -> None:
    """Ends the process, those of its session, and those that left it but still carry the run's settings."""
    if process.poll() is None:
        _signalled(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    _signalled(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()
    for pid in _carrying(marker):
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _signalled(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # the group is gone


def _carrying(marker: str) -> list[int]:
    """Processes whose environment names this run; none where the system does not tell."""
    wanted = f"{SETTINGS}={marker}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def _last_line(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL))
        lines: Sequence[str] = stream.read().decode("utf-8", "replace").splitlines()
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
