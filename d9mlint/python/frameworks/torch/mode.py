"""PyTorch's switches: deterministic algorithms (on, off, raising or warning) and cuDNN's own settings.

Sources: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html,
https://docs.pytorch.org/docs/stable/generated/torch.set_deterministic_debug_mode.html, torch/__init__.py
of 1.7 to 2.15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from d9mlint.model import Argument, Target
from d9mlint.python.domain.conditions import (
    UNKNOWN_DEFAULT,
    Cond,
    Flag,
    both,
    either,
    flag_test,
    is_symbolic,
    negate,
    opaque_test,
)
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import CondValue, Const, FlagValue, Ref, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import ALL_IN_ONE, perhaps_elsewhere
from d9mlint.python.frameworks.torch import mmengine
from d9mlint.python.frameworks.torch.gpu import TRAINER
from d9mlint.python.interpreter.program import Program, is_none, matches
from d9mlint.target.known import KNOWN as RELEASES

SWITCH = "torch.use_deterministic_algorithms"
OBSOLETE = "torch.set_deterministic"
DEBUG = "torch.set_deterministic_debug_mode"
CUDNN = "torch.backends.cudnn"
WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
WORKSPACES = (":4096:8", ":16:8")
"""The values that PyTorch takes (aten/src/ATen/Context.cpp, before 2.10)."""
_WITH_VARIABLE = "2.9.1"
"""The newest PyTorch whose switch wants CUBLAS_WORKSPACE_CONFIG to be set."""
_ASKED = ("--target", "pyproject.toml [tool.d9mlint]")
"""How the reasons of versions begin that are asked for."""
_SWITCHES = {SWITCH: Argument(0, "mode"), OBSOLETE: Argument(0, "d")}
SWITCHED_BY_ARGUMENT = {
    TRAINER: "deterministic",
    "transformers.TrainingArguments": "full_determinism",
    "transformers.Seq2SeqTrainingArguments": "full_determinism",
    "accelerate.utils.set_seed": "deterministic",
    "monai.utils.set_determinism": "use_deterministic_algorithms",
    mmengine.RUNNER: mmengine.DETERMINISTIC,
    "mmengine.runner.set_random_seed": mmengine.DETERMINISTIC,
    "speechbrain.utils.seed.seed_everything": "deterministic",
}
"""Calls of other packages that turn the switch on where this argument is true."""
_SETS_CUDNN: Mapping[str, Mapping[str, Any]] = {
    "monai.utils.set_determinism": {"seed@0": {"not": None}},
    "fastai.set_seed": {"reproducible@1": True},
    "mmcv.runner.set_random_seed": {"deterministic@1": True},
    "mmdet.apis.set_random_seed": {"deterministic@1": True},
    "mmseg.apis.set_random_seed": {"deterministic@1": True},
    "mmcls.apis.set_random_seed": {"deterministic@1": True},
}
"""Calls of other packages that set ``torch.backends.cudnn.deterministic``, with what they are given then (monai 1.6.1,
monai/utils/misc.py; fastai/torch_core.py; mmcv/runner/utils.py of 1.7.2; apis/train.py of mmdet 2.28.2, mmseg 0.30.0
and mmcls 0.25.0)."""
BENCHMARK = Argument(None, "benchmark")
"""What lets a trainer set ``torch.backends.cudnn.benchmark``."""
SETS_WORKSPACE = (TRAINER, "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", *ALL_IN_ONE)
"""Those that set CUBLAS_WORKSPACE_CONFIG as well."""
KNOWN = frozenset(
    (*_SWITCHES, DEBUG, *SWITCHED_BY_ARGUMENT, *_SETS_CUDNN, *ALL_IN_ONE, "torch.are_deterministic_algorithms_enabled",
     "torch.is_deterministic_algorithms_warn_only_enabled", "torch.get_deterministic_debug_mode")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What one call asks for: when it turns deterministic algorithms on, when what has none then raises."""

    event: Event
    on: Cond
    raises: Cond
    off: Cond
    """When it plainly turns them off: a literal says so."""

    @property
    def warns(self) -> Cond:
        """When what has no deterministic algorithm only warns."""
        return both(self.on, negate(self.raises))


@dataclass(frozen=True, slots=True)
class TorchMode:
    """When deterministic algorithms are asked for (``on``), and when what has none then raises (``raises``)."""

    on: Cond
    raises: Cond
    events: tuple[Event, ...]
    asked: tuple[Asked, ...]


def torch_mode(program: Program) -> TorchMode:
    """The mode of the whole program; a value that is not known is a condition that nobody can tell."""
    return program.once("torch-mode", _torch_mode)


def _torch_mode(program: Program) -> TorchMode:
    names = (*_SWITCHES, DEBUG, *SWITCHED_BY_ARGUMENT, *ALL_IN_ONE)
    asked = tuple(_asked(program, e) for e in program.calls(*names) if not e.detached and _exists(program, e.name))
    return TorchMode(
        either(*(both(*a.event.guards, a.on) for a in asked)),
        either(*(both(*a.event.guards, a.raises) for a in asked)),
        tuple(a.event for a in asked if a.on is not False),
        asked,
    )


def _exists(program: Program, name: str) -> bool:
    """Whether this version has a switch; where it has none, the call raises AttributeError, or sets cuDNN's alone."""
    if name == TRAINER:
        return not only_sets_cudnn(program)
    if name == OBSOLETE:
        return not program.target.fits("torch", ">=1.10")
    return not program.target.fits("torch", "<1.8" if name == SWITCH else "<1.11" if name == DEBUG else "<0")


def only_sets_cudnn(program: Program) -> bool:
    """Whether a trainer of Lightning that is told to be deterministic sets ``cudnn.deterministic`` alone.

    Source: accelerator_connector.py of pytorch-lightning 1.0.6 to 1.4.0 (1.5.0: ``use_deterministic_algorithms``).
    """
    return program.target.fits("lightning", "<1.5")


def _asked(program: Program, event: Event) -> Asked:
    if event.name in _SWITCHES:
        mode = _SWITCHES[event.name]
        on = _is(event, mode, True)
        warns = _is(event, Argument(None, "warn_only"), True)
        return Asked(event, on, both(on, negate(warns)), matches(event.argument(mode), False))
    if event.name == DEBUG:
        mode = Argument(0, "debug_mode")
        raises = either(_is(event, mode, "error"), _is(event, mode, 2))
        on = either(raises, _is(event, mode, "warn"), _is(event, mode, 1))
        return Asked(event, on, raises, matches(event.argument(mode), ["default", 0]))
    if event.name in SWITCHED_BY_ARGUMENT:
        wanted = Argument(None, SWITCHED_BY_ARGUMENT[event.name])
        given = event.argument(wanted)
        hidden_on = program.knowledge.on_in_configs(wanted.keyword)
        if event.name == TRAINER and isinstance(given, (Unknown, Ref)) and not hidden_on:  # out of a config file
            asked = _setting(event, f"the trainer's `{wanted.keyword}`")
            return Asked(event, asked, asked, False)
        raises = _is(event, wanted, True)
        return Asked(event, either(raises, _is(event, wanted, "warn")), raises, False)
    # transformers.enable_full_determinism(seed, warn_only=False)
    return Asked(event, True, negate(_is(event, Argument(1, "warn_only"), True)), False)


def _setting(event: Event, told: str) -> Cond:
    """That a setting which is not known is true: a condition that can be told."""
    return flag_test(Flag(told, told, UNKNOWN_DEFAULT, "value", event.location, True), "==", True)


def _is(event: Event, wanted: Argument, value: object) -> Cond:
    """When an argument is a value; where that is hidden, a condition that nobody can tell."""
    given = event.argument(wanted)
    if given is None:
        return False
    if isinstance(given, FlagValue) and given.flag.kind != "value" and isinstance(value, str):
        return False  # a flag that is on or off is no word
    for _, leaf in alternatives(given):
        if not isinstance(leaf, (Const, CondValue)) and not (
            isinstance(leaf, FlagValue) and isinstance(value, (bool, str))
        ):
            return opaque_test(("unknown", id(given)), "a value that is not known")
    return matches(given, value)


def hidden(program: Program) -> bool:
    """Whether something that cannot be followed may turn the switch on."""
    return program.once("torch-mode-hidden", _hidden)


def _hidden(program: Program) -> bool:
    if perhaps_elsewhere(program, KNOWN):
        return True
    read = set(map(id, mmengine.randomness(program)))
    for event in program.events:
        if (
            event.detached
            or event.kind not in ("call", "unresolved")
            or event.name in KNOWN
            or id(event.result) in read
        ):
            continue
        for keyword, value in event.kwargs.items():
            off = isinstance(value, Const) and not value.value
            if "determini" in keyword and not off and not event.name.startswith(("flash_attn", "torch.backends.")):
                return True
    return False


def attempted(program: Program) -> Cond:
    """When the program tries to turn the switch on, or off, in a way that other rules speak of."""
    conds = [both(*e.guards) for e in program.find("mention", *_SWITCHES, DEBUG) if not e.detached]
    conds += [both(*e.guards) for e in program.calls(*_SWITCHES, DEBUG) if not _exists(program, e.name)]
    conds += [both(*a.event.guards, a.off) for a in torch_mode(program).asked if a.off is not False]
    return either(*conds)


_FUSED = ("torch.backends.cuda.enable_flash_sdp", "torch.backends.cuda.enable_mem_efficient_sdp")


def plain_attention(program: Program) -> Cond:
    """When the whole program switches the fused kernels of attention off."""
    off = [
        either(*(both(*e.guards, _is(e, Argument(0, "enabled"), False)) for e in program.calls(name) if not e.detached))
        for name in _FUSED
    ]
    return both(*off)


# -- cuDNN ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """An assignment to one of cuDNN's settings, and when it makes it true."""

    event: Event
    true: Cond


def cudnn(program: Program, name: str) -> list[Setting]:
    """The assignments to ``torch.backends.cudnn.<name>``, in order, each with when the value is true."""
    return [Setting(e, truthy(e.args[0])) for e in program.find("set", f"{CUDNN}.{name}") if e.args]


def benchmarks(program: Program) -> list[Setting]:
    """The same of ``benchmark``, with the trainers that are told it: each sets it when it is made.

    Source: lightning/pytorch/trainer/connectors/accelerator_connector.py (``_set_torch_flags``), 2.0 to 2.6.
    """
    told = ((e, e.argument(BENCHMARK)) for e in program.calls(TRAINER))
    calls = [Setting(e, truthy(value)) for e, value in told if value is not None and is_none(value) is not True]
    calls = [one for one in calls if one.true is False or is_symbolic(one.true)]
    return sorted((*cudnn(program, "benchmark"), *calls), key=lambda one: one.event.index)


def trainers_told(program: Program) -> list[Event]:
    """The trainers that are given a ``benchmark`` of which nobody knows whether it is true: each sets it once more."""
    told = ((event, event.argument(BENCHMARK)) for event in program.calls(TRAINER) if not event.detached)
    return [
        e for e, value in told if value is not None and is_none(value) is not True and not is_symbolic(truthy(value))
    ]


def truthy(value: Value) -> Cond:
    """When a value is true; where that is hidden, a condition that nobody can tell."""
    found: list[Cond] = []
    for cond, leaf in alternatives(value):
        if isinstance(leaf, CondValue):
            found.append(both(cond, leaf.cond))
        elif isinstance(leaf, FlagValue):
            found.append(both(cond, matches(leaf, True)))
        else:
            unknown = opaque_test(("unknown", id(leaf)), "a value that is not known")
            found.append(both(cond, bool(leaf.value) if isinstance(leaf, Const) else unknown))
    return either(*found)


def cudnn_deterministic(program: Program, counts: Callable[[Event], bool] = lambda event: True) -> Cond:
    """When only cuDNN is told to be deterministic, by the assignments, and calls that make them, that count."""
    setters = {**_SETS_CUDNN, TRAINER: {"deterministic": True}} if only_sets_cudnn(program) else _SETS_CUDNN
    calls = [Setting(e, program.holds(e, setters[e.name])) for e in program.calls(*setters)]
    settings = [s for s in (*cudnn(program, "deterministic"), *calls) if not s.event.detached]
    return either(*(both(*s.event.guards, s.true) for s in settings if counts(s.event)))


def oldest(target: Target) -> Target:
    """The target to find a remedy for that works wherever the program may run: what a release needs harms no newer one.

    Nobody has stated that a program runs on the newest release known; with older ones the switch wants a variable, too.
    """
    torch = target.packages.get("torch")
    if torch is None or torch.version != RELEASES["torch"][-1] or torch.reason.startswith(_ASKED):
        return target
    return target._replace(packages={**target.packages, "torch": torch._replace(version=_WITH_VARIABLE)})


def with_workspace(remedy: str, program: Program) -> str:
    """A remedy that turns the switch on, with the variable that it wants for products of matrices."""
    if f"all `{SWITCH}(True)`" not in remedy or not oldest(program.target).fits("torch", f"<={_WITH_VARIABLE}"):
        return remedy
    if any(event.args and not event.detached for event in program.env(WORKSPACE)):
        return remedy
    return remedy.replace(
        "Call", f'Set `os.environ["{WORKSPACE}"] = "{WORKSPACES[0]}"` before `import torch` and call', 1
    )
