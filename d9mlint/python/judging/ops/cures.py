"""What cures an op in the target's release, and what else that asks of the program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch import ops as torchops
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import results
from d9mlint.python.judging.ops.opuse import Use, shown, uses

_MOST_RAISING = 3
"""Cures of ops that raise which a remedy names."""
_DEVICE = '`tf.device("/CPU:0")`'
_OPTIMIZES = ("tensorflow.train.Optimizer.minimize", "tensorflow.train.Optimizer.compute_gradients")
_OF_GRAPH = "its gradient stays on the GPU without `minimize(loss, colocate_gradients_with_ops=True)`"
_OF_GRADIENTS = "its gradient stays on the GPU without `tf.gradients(loss, weights, colocate_gradients_with_ops=True)`"
_OF_TAPE = "its gradient stays on the GPU where `tape.gradient` is not called under the device, too (`fit` does not)"
_NUMBER = r"(?:PyTorch |TensorFlow )?(\d+\.\d+)"
_UPGRADE = re.compile(rf"\b[Uu]pgrade(?: to {_NUMBER}(?: or later)?| \(to {_NUMBER}\)|(?=[,.;]|$))")
_SWITCHES = (
    ("torch", "", torchmode.SWITCH),
    ("tensorflow", "<2.8", "TF_DETERMINISTIC_OPS"),
    ("tensorflow", "", "tf.config.experimental.enable_op_determinism"),
)
"""What turns deterministic mode on, by framework and release: named as no statement, as it is none for this release."""
_AROUND = ", or leave deterministic mode around this op and accept that runs differ"
"""What says nothing where the mode is off anyhow."""
_NAMED, _OF_PYTHON = "newest release with ", "newest release for Python "
"""How the reasons of versions begin that the code, or its Python, sets as the newest possible."""
_OF_CUDA = re.compile(r".*\(CUDA (.+)\)")


def remedy_of(program: Program, use: Use) -> str:
    """The remedy of an op, with what it asks of the rest of the program."""
    on = _is_on(program, use)
    remedy = torchmode.with_workspace(_by_newer(program, use, switched=on), program)
    remedy = remedy if on else remedy.replace(_AROUND, "")
    if use.status.deterministic_mode == "same" and f"`{torchmode.SWITCH}(True)`" in remedy:
        return _with(remedy, raising_in_torch(program).removeprefix("; "))
    if _DEVICE not in remedy or use.op.direction == "forward":
        return remedy
    return _with(remedy, _with_gradient(program))


def _with_gradient(program: Program) -> str:
    """How the gradient of an op gets to the device of the op: neither graphs nor tapes do so by themselves.

    (Seen with TensorFlow 2.21: `compute_gradients` of an optimizer of `tf.compat.v1`, its `gradients`, and
    `tape.gradient`. Keras asks for it in TensorFlow 1: keras/backend.py of 1.15, ``gradients``.)
    """
    if program.find("call", *_OPTIMIZES):
        return _OF_GRAPH
    if program.find("call", "tensorflow.gradients"):
        return _OF_GRADIENTS
    return _OF_TAPE if program.target.fits("tensorflow", ">=2.0") else ""


def _with(remedy: str, more: str) -> str:
    return f"{remedy.rstrip().removesuffix('.')}; {more}" if more else remedy


def _is_on(program: Program, use: Use) -> bool:
    """Whether the program turns deterministic mode on, maybe under conditions."""
    on = torchmode.torch_mode(program).on if use.op.framework == "torch" else switch(program).on
    return on is not False


def raising_in_torch(program: Program) -> str:
    """After a remedy that turns PyTorch's switch on: which ops it makes raise, and what cures each."""
    return program.once("raising-in-torch", lambda one: raising(one, _raised_by_torch(one)))


def _raised_by_torch(program: Program) -> Iterator[Use]:
    """Uses of ops that have no deterministic kernel in this PyTorch, which its switch makes raise."""
    for use in uses(program):
        if use.op.framework != "torch" or use.event.detached or use.status.deterministic_mode != "raises":
            continue
        # Only the gradient raises, and none goes through data.
        if use.op.direction != "backward" or not torchops.of_data(use.event, results(program)):
            yield use


def raising(program: Program, found: Iterable[Use]) -> str:
    """After a remedy: which ops the switch makes raise, as they have no deterministic kernel, and what cures each."""
    cures: dict[str, set[str]] = {}
    for use in found:
        cure = _by_newer(program, use, switched=True).rstrip(". ")
        cures.setdefault(cure, set()).add(f"`{shown(use.event)}`")
    told = [
        f"; {' and '.join(sorted(names))} then raise{'s' if len(names) == 1 else ''}: {cure[:1].lower()}{cure[1:]}"
        for cure, names in sorted(cures.items(), key=lambda one: sorted(one[1]))
    ]
    left = len(told) - _MOST_RAISING
    more = f"; {left} more then raise{'s' if left == 1 else ''}" if left > 0 else ""
    return _once("".join(told[:_MOST_RAISING]), _HINDERS) + more


def _once(text: str, pattern: re.Pattern[str]) -> str:
    """A text with what matches told the first time only."""
    first = pattern.search(text)
    return text if first is None else text[: first.end()] + pattern.sub("", text[first.end() :])


def _by_newer(program: Program, use: Use, switched: bool) -> str:
    """The remedy of a release; where it is a newer one, what keeps the program from it, and the switch it needs.

    ``switched``: deterministic mode is on already, or what stands before the remedy says to turn it on.
    """
    if use.op.sites:
        return use.status.remedy

    def more(upgrade: re.Match[str]) -> str:
        release = upgrade[1] or upgrade[2]
        asked = "" if switched or not release else _switch_of(program, use, release)
        return f"{upgrade[0]}{hindrance(program, use.op.framework)}{asked}"

    return _UPGRADE.sub(more, use.status.remedy)


def _switch_of(program: Program, use: Use, release: str) -> str:
    """After the release of an upgrade, the switch without which the op varies there, too; empty where it needs none."""
    framework, packages = use.op.framework, program.target.packages
    if framework not in packages:
        return ""
    newer = program.target._replace(packages={**packages, framework: packages[framework]._replace(version=release)})
    status = use.op.at(newer)
    if status is None or status.default != "varies" or status.deterministic_mode != "same":
        return ""
    fitting = (one for name, v, one in _SWITCHES if name == framework and (not v or newer.fits(framework, v)))
    return next((f" and turn on `{one}`" for one in fitting), "")


_HINDERS = re.compile(
    r" \(for which .*? is the last that takes it\)| \(which needs a newer (?:Python|CUDA) than [^)]+\)"
)


def hindrance(program: Program, framework: str) -> str:
    """What keeps a program from a newer release than the one assumed for it; empty where it only is not asked for."""
    package = program.target.packages.get(framework)
    version, reason = ("", "") if package is None else (package.version, package.reason)
    if reason.startswith(_NAMED):
        return f" (for which {reason.removeprefix(_NAMED)} has to be changed: {version} is the last that takes it)"
    if reason.startswith(_OF_PYTHON):
        return f" (which needs a newer Python than {reason.removeprefix(_OF_PYTHON)})"
    cuda = _OF_CUDA.fullmatch(reason)
    return f" (which needs a newer CUDA than {cuda[1]})" if cuda is not None else ""
