"""Executes cases in child processes, one for each mode and number of threads, and gathers what they observe.

The processes live side by side and every case goes through all of them before the next one: a run that is cut short has
whole cases. One that crashes, hangs or writes nonsense costs its case; a fresh one takes the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from d9mlint.model import Case, Observation
from d9mlint.verify.child import machine as driver
from d9mlint.verify.process import Child, ChildFailed, Json
from d9mlint.verify.surroundings import environment
from d9mlint.verify.timing import NEVER, PAIRS, Times, timed, visit

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
_VARIANTS = {"torch": ("benchmark", "tf32", "no-tf32"), "tensorflow": ("no-tf32",)}
"""On a GPU, default mode with another setting: cuDNN's autotuning on, TF32 on or off: conditions of their own."""
_SWITCHED = {"jax": ("gpu",), "numba": (), "cupy": (), "triton": ()}
"""The devices that a framework's deterministic mode is about, where these are not all; XLA's flag names the GPU."""
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
    """After these seconds no more is timed, once there is enough for an interval."""
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
    """What the processes saw of one case, and how long a run took."""

    case: Case
    device: str
    observations: tuple[Observation, ...]
    times: Times = NEVER
    lacking: str = ""
    """Why there is no device, as the framework says."""


@dataclass(slots=True)
class _Slot:
    """A place for a process: its mode and threads, the process while it lives, and why there will be none."""

    mode: str
    threads: int
    variant: str = ""
    child: Child | None = None
    dead: str = ""
    timed_only: bool = False
    """A further process of a mode, so that the cost is not that of one pair of processes; started when it is needed."""


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
    alone: bool = False
    """The GPU serves one process at a time (exclusive compute mode): they take turns."""
    under_way: Observed | None = None
    """What has been seen of the case that is being executed."""
    _cpu_only: bool = False
    """The GPU was tried in vain: it is hidden."""
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
        self.device = first if self.settings.device == "auto" else self.settings.device.partition(":")[0]
        if self.device not in self.devices:
            return  # none of the cases can run there
        self._fill()
        if self.settings.device == "auto" and self.device == "cpu" and self.environment.get("gpus"):
            self._stack.close()
            self.device = "gpu"
            self._fill()
            begun = self._watching[:1] if self.alone else self._watching
            dead = [slot.dead for slot in begun if slot.dead]
            if self.lacking or len(dead) == len(begun):  # the driver shows what cannot be used
                self.environment["unused"] = f"the GPU could not be used: {self.lacking or dead[0]}"
                self._stack.close()
                self.device, self.lacking, self.alone, self._cpu_only = "cpu", "", False, True
                self._fill()

    @property
    def _watching(self) -> list[_Slot]:
        """The processes whose results are compared."""
        return [slot for slot in self._slots if not slot.timed_only]

    @property
    def absent(self) -> str:
        """Why there is no process, if the interpreter lacks the framework; else empty."""
        reasons = [slot.dead for slot in self._watching]
        return reasons[0] if reasons and all("ModuleNotFoundError" in reason for reason in reasons) else ""

    def _fill(self) -> None:
        kinds = _GPU if self.device == "gpu" else _CPU
        switched = has_mode(self.framework, self.device)
        self._slots = [_Slot(mode, threads) for mode, threads in kinds if switched or mode == "default"]
        if self.device == "gpu":
            self._slots += [_Slot("default", 0, variant) for variant in _VARIANTS.get(self.framework, ())]
            self.alone = driver.exclusive()
        self._start(self._slots[:1] if self.alone else self._slots)
        if switched and not self.alone:
            for mode in ("default", "deterministic"):
                lacking = PAIRS - kinds.count((mode, 0))
                self._slots += [_Slot(mode, 0, timed_only=True) for _ in range(lacking)]
        told = next((slot.dead for slot in self._slots if "NoDevice:" in slot.dead), "")
        if told:
            self.device = ""  # nothing is executed: the report says why
            self.lacking = told.partition("NoDevice:")[2].strip()

    def _start(self, slots: Sequence[_Slot]) -> None:
        """Starts processes side by side; where the framework cannot be had, says why."""
        begun: list[tuple[_Slot, Child]] = []
        env = partial(environment, "cpu" if self._cpu_only else self.settings.device)
        end = time.monotonic() + self.settings.startup
        if self.settings.deadline is not None:
            end = min(end, max(self.settings.deadline, time.monotonic() + _LEAST))
        for slot in slots:
            try:
                child = self._stack.enter_context(Child(self.settings.command, env(), self.settings.memory))
                start = {"framework": self.framework, "threads": slot.threads, "mode": slot.mode}
                start["variant"] = slot.variant
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

    def observe(self, case: Case) -> Observed:
        """One case in all processes, then its time in both modes."""
        request: Json = {"case": plain(case, self.device), "runs": self.settings.runs, "seconds": self.settings.seconds}
        seen: list[Observation] = []
        for slot in self._watching:
            self.under_way = Observed(case, self.device, tuple(seen))
            if any(one.problem and one.mode in ("default", slot.mode) and not one.variant for one in seen):
                continue  # what crashed or hung would do so again, for as long
            seen.append(self._ask(slot, {"do": "observe", **request}))
            if self.alone and slot.child is not None:
                slot.child.end()
                slot.child = None
        self.under_way = None
        good = not self.alone and has_mode(self.framework, self.device) and all(one.results for one in seen[:2])
        return Observed(case, self.device, tuple(seen), self._timed(case, request["case"]) if good else NEVER)

    def _ask(self, slot: _Slot, request: Json) -> Observation:
        if slot.child is None and not slot.dead:
            self._start([slot])
        if slot.child is None:
            return Observation(slot.mode, slot.threads, variant=slot.variant, problem=slot.dead)
        try:
            answer = slot.child.ask(request, self.settings.timeout)
            if answer.get("broken"):
                slot.child.end()  # another one takes the rest
                slot.child = None
            return _observation(slot, answer)
        except ChildFailed as error:
            slot.child = None
            return Observation(slot.mode, slot.threads, variant=slot.variant, problem=str(error))
        except (KeyError, TypeError, ValueError) as error:
            if slot.child is not None:
                slot.child.end()
                slot.child = None
            problem = f"the process wrote something that is no answer: {error}"
            return Observation(slot.mode, slot.threads, variant=slot.variant, problem=problem)

    def _timed(self, case: Case, request: Json) -> Times:
        """The time of a run in each process of either mode; only the one that is timed runs, the others are stopped."""
        slots = [slot for slot in self._slots if slot.threads == 0 and not slot.variant]
        self._start([slot for slot in slots if slot.child is None and not slot.dead])
        modes = {number: slot.mode for number, slot in enumerate(slots) if slot.child is not None}
        try:
            return timed(modes, lambda number: self._time(slots[number], request), case.key, self.settings.patience)
        finally:
            self._pause(None)

    def _pause(self, but: Child | None) -> None:
        """Stops all processes but one; None lets all go on."""
        for slot in self._slots:
            if slot.child is not None:
                slot.child.pause(but is not None and slot.child is not but)

    def _time(self, slot: _Slot, case: Json) -> float:
        """Seconds of a run in a visit: the shortest, as what else the machine does only adds."""
        if slot.child is None:
            raise ChildFailed("the process is gone")
        self._pause(slot.child)
        try:
            answer = slot.child.ask(
                {"do": "time", "case": case, "seconds": visit(self.settings.seconds)}, self.settings.timeout
            )
        except ChildFailed:
            slot.child = None
            raise
        if answer.get("broken"):
            slot.child.end()
            slot.child = None
        found = answer.get("seconds")
        if not isinstance(found, float) or not found > 0:
            raise ChildFailed(str(answer.get("raised", "no time")))
        return found


def observe(cases: Iterable[Case], machine: Machine, begin: Callable[[Case], None] | None = None) -> Iterator[Observed]:
    """The cases one after another, until the deadline; those for another device are told apart by no observations."""
    for case in cases:
        deadline = machine.settings.deadline
        if deadline is not None and time.monotonic() > deadline:
            return
        if begin is not None:
            begin(case)
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
    return {**sized._asdict(), "instead": None, "inputs": [one._asdict() for one in sized.inputs]}


def _observation(slot: _Slot, answer: Json) -> Observation:
    if "raised" in answer:
        return Observation(slot.mode, slot.threads, variant=slot.variant, raised=str(answer["raised"]))
    if not answer["results"] or len(answer["digests"]) != max(answer["results"]) + 1:
        raise ValueError("the results do not fit together")
    return Observation(
        slot.mode, slot.threads, tuple(map(int, answer["results"])), tuple(map(str, answer["digests"])),
        int(answer["unseeded"]), answer["max_ulp"], answer["max_relative"], int(answer["nan"]), int(answer["inf"]),
        int(answer["elements"]), str(answer["inputs"]), ulp_histogram=tuple(map(int, answer["ulp_histogram"])),
        variant=slot.variant,
    )  # fmt: skip
