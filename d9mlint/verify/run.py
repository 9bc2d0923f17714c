"""Executes cases in child processes, one for each mode and number of threads, and gathers what they observe.

The processes live side by side and every case goes through all of them before the next one: a run that is cut short has
whole cases. One that crashes, hangs or writes nonsense costs its case; a fresh one takes the rest.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from d9mlint.model import Case, Observation
from d9mlint.verify.process import Child, ChildFailed, Json

MANY = 16
"""More threads than cores let every order of additions happen; two threads on two cores hardly race."""
_CPU = (
    ("default", 0),
    ("deterministic", 0),
    ("default", 1),
    ("default", MANY),
    ("deterministic", MANY),
    ("default", 1),
)
_GPU = (("default", 0), ("deterministic", 0), ("default", 0))
"""Modes and threads (0: the framework's own number); the first two are timed. The repeated one is a fresh process, with
another hash seed: what differs between these but not in one is no race."""
_SWITCHED = {"jax": ("gpu",), "numba": (), "cupy": (), "triton": ()}
"""The devices that a framework's deterministic mode is about, where these are not all; XLA's flag names the GPU."""
_DETERMINISM_FLAG = re.compile(r"(?:^|\s)--xla_gpu_(?:deterministic_\w+|exclude_nondeterministic_ops)(?:=\S*)?")
_QUADS = 6
_BLOCK = 0.01
_FEWEST = 3
_LEAST = 0.5
"""Seconds that a process is waited for whatever the time says: it may have answered already."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How cases are executed."""

    command: tuple[str, ...]
    """The interpreter and the script that answers."""
    device: str = "auto"
    runs: int = 50
    """Per process."""
    seconds: float = 0.7
    """After these a case is not repeated any more, once it has been a few times."""
    patience: float = 2.0
    """After these seconds no more blocks are timed, once there are enough for an interval."""
    timeout: float = 60.0
    """For an answer about one case."""
    startup: float = 180.0
    """For the import of the framework, by all processes together; the deadline bounds it, too."""
    memory: int = 8 * 2**30
    hash: str = ""
    """``device``: results are hashed where they are on the CPU, too, as they are on a GPU."""
    deadline: float | None = None
    """On the monotonic clock: no case is begun after it."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What the processes saw of one case; ``quads`` are times of a run: default, deterministic, both again reversed."""

    case: Case
    device: str
    observations: tuple[Observation, ...]
    quads: tuple[tuple[float, float, float, float], ...] = ()
    lacking: str = ""
    """Why there is no device, as the framework says."""


@dataclass(slots=True)
class _Slot:
    """A place for a process: its mode and threads, the process while it lives, and why there will be none."""

    mode: str
    threads: int
    child: Child | None = None
    dead: str = ""


@dataclass(slots=True)
class Machine:
    """The processes of one framework and what they told about the environment; a context manager."""

    framework: str
    settings: Settings
    devices: tuple[str, ...] = ("gpu", "cpu")
    """Those that the cases can run on."""
    device: str = "cpu"
    environment: Json = field(default_factory=dict)
    lacking: str = ""
    """Why the device that was asked for is not there; empty where it is."""
    _slots: list[_Slot] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Machine:
        try:
            self._begin()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _begin(self) -> None:
        """All start side by side, on the CPU where nothing is said; should there be a GPU, others take their place."""
        first = "cpu" if "cpu" in self.devices else "gpu"
        self.device = first if self.settings.device == "auto" else self.settings.device
        if self.device not in self.devices:
            return  # none of the cases can run there
        self._fill()
        if self.settings.device == "auto" and self.device == "cpu" and self.environment.get("gpus"):
            self._stack.close()
            self.device = "gpu"
            self._fill()

    @property
    def absent(self) -> str:
        """Why there is no process, if the interpreter lacks the framework; else empty."""
        reasons = [slot.dead for slot in self._slots]
        return reasons[0] if reasons and all("ModuleNotFoundError" in reason for reason in reasons) else ""

    def _fill(self) -> None:
        kinds = _GPU if self.device == "gpu" else _CPU
        switched = has_mode(self.framework, self.device)
        self._slots = [_Slot(mode, threads) for mode, threads in kinds if switched or mode == "default"]
        self._start(self._slots)
        told = next((slot.dead for slot in self._slots if "NoDevice:" in slot.dead), "")
        if told:
            self.device = ""  # nothing is executed: the report says why
            self.lacking = told.partition("NoDevice:")[2].strip()

    def _start(self, slots: Sequence[_Slot]) -> None:
        """Starts processes side by side; where the framework cannot be had, says why."""
        begun: list[tuple[_Slot, Child]] = []
        end = time.monotonic() + self.settings.startup
        if self.settings.deadline is not None:
            end = min(end, max(self.settings.deadline, time.monotonic() + _LEAST))
        for slot in slots:
            try:
                child = self._stack.enter_context(Child(self.settings.command, self._env(), self.settings.memory))
                start = {"framework": self.framework, "threads": slot.threads, "mode": slot.mode}
                child.send({"do": "start", **start, "device": self.device, "hash": self.settings.hash})
                begun.append((slot, child))
            except ChildFailed as error:
                slot.dead = str(error)
        for slot, child in begun:
            try:
                answer = child.receive(max(_LEAST, end - time.monotonic()))
                if "raised" in answer:
                    child.end()
                    slot.dead = f"cannot start {self.framework}: {answer['raised']}"
                else:
                    slot.child = child
                    self.environment = self.environment or answer
            except ChildFailed as error:
                slot.dead = f"cannot start {self.framework}: {error}"

    def _env(self) -> dict[str, str]:
        """The environment as it is, but another hash seed in each process, and no switches that are to be compared."""
        env = {**os.environ, "PYTHONHASHSEED": str(random.SystemRandom().randrange(2**32)), "TF_CPP_MIN_LOG_LEVEL": "2"}
        for name in (
            "TF_DETERMINISTIC_OPS",
            "TF_CUDNN_DETERMINISTIC",
            "OMP_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMBA_NUM_THREADS",
        ):
            env.pop(name, None)
        if "XLA_FLAGS" in env:
            env["XLA_FLAGS"] = _DETERMINISM_FLAG.sub("", env["XLA_FLAGS"]).strip()
        if self.settings.device == "cpu":
            env["CUDA_VISIBLE_DEVICES"] = "-1"
        return env

    def observe(self, case: Case) -> Observed:
        """One case in all processes, then its time in the first two."""
        request: Json = {"case": plain(case, self.device), "runs": self.settings.runs, "seconds": self.settings.seconds}
        seen: list[Observation] = []
        for slot in self._slots:
            if any(one.problem and one.mode in ("default", slot.mode) for one in seen):
                continue  # what crashed or hung would do so again, for as long
            seen.append(self._ask(slot, {"do": "observe", **request}))
        good = has_mode(self.framework, self.device) and all(one.results for one in seen[:2])
        return Observed(case, self.device, tuple(seen), self._timed(request["case"]) if good else ())

    def _ask(self, slot: _Slot, request: Json) -> Observation:
        if slot.child is None and not slot.dead:
            self._start([slot])
        if slot.child is None:
            return Observation(slot.mode, slot.threads, problem=slot.dead)
        try:
            answer = slot.child.ask(request, self.settings.timeout)
            return _observation(slot, answer)
        except ChildFailed as error:
            slot.child = None
            return Observation(slot.mode, slot.threads, problem=str(error))
        except (KeyError, TypeError, ValueError) as error:
            slot.child.end()
            slot.child = None
            return Observation(
                slot.mode, slot.threads, problem=f"the process wrote something that is no answer: {error}"
            )

    def _timed(self, case: Json) -> tuple[tuple[float, float, float, float], ...]:
        """Default, deterministic, deterministic, default: what drifts slowly weighs on both alike."""
        request = {"do": "time", "case": case, "blocks": 1, "seconds": _BLOCK}
        quads: list[tuple[float, float, float, float]] = []
        end = time.monotonic() + self.settings.patience
        try:
            while len(quads) < _FEWEST or (len(quads) < _QUADS and time.monotonic() < end):
                one, two, three, four = (self._time(number, request) for number in (0, 1, 1, 0))
                quads.append((one, two, three, four))
        except ChildFailed:
            return ()  # no ratio; what was observed stands
        return tuple(quads)

    def _time(self, number: int, request: Json) -> float:
        child = self._slots[number].child
        if child is None:
            raise ChildFailed("the process is gone")
        try:
            answer = child.ask(request, self.settings.timeout)
        except ChildFailed:
            self._slots[number].child = None
            raise
        found = answer.get("seconds")
        if not isinstance(found, list) or not found or not isinstance(found[0], float):
            raise ChildFailed(str(answer.get("raised", "no time")))
        return found[0]


def observe(cases: Sequence[Case], machine: Machine) -> Iterator[Observed]:
    """The cases one after another, until the deadline; those for another device are told apart by no observations."""
    for case in cases:
        deadline = machine.settings.deadline
        if deadline is not None and time.monotonic() > deadline:
            return
        if machine.device not in case.devices:
            yield Observed(case, "", (), lacking=machine.lacking)
        else:
            yield machine.observe(case)


def has_mode(framework: str, device: str) -> bool:
    """Whether a framework has a deterministic mode that is about the device."""
    return device in _SWITCHED.get(framework, ("gpu", "cpu"))


def plain(case: Case, device: str) -> Json:
    """The case as the child is given it: its inputs as large as the device wants them."""
    sized = case.on(device)
    return {**sized._asdict(), "inputs": [one._asdict() for one in sized.inputs]}


def _observation(slot: _Slot, answer: Json) -> Observation:
    if "raised" in answer:
        return Observation(slot.mode, slot.threads, raised=str(answer["raised"]))
    if not answer["results"] or len(answer["digests"]) != max(answer["results"]) + 1:
        raise ValueError("the results do not fit together")
    return Observation(
        slot.mode, slot.threads, tuple(map(int, answer["results"])), tuple(map(str, answer["digests"])),
        int(answer["unseeded"]), answer["max_ulp"], answer["max_relative"], int(answer["nan"]), int(answer["inf"]),
        int(answer["elements"]), str(answer["inputs"]), ulp_histogram=tuple(map(int, answer["ulp_histogram"])),
    )  # fmt: skip
