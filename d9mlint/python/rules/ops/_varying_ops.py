"""What the rules share on ops whose result or gradient varies and that nothing in the program cures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Op, Rule
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, negate, truth
from d9mlint.python.frameworks.jax.mode import jax_mode
from d9mlint.python.frameworks.tensorflow.consumers import only_reported
from d9mlint.python.frameworks.tensorflow.determinism import perhaps_elsewhere, switch, trainings
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch import ops as torchops
from d9mlint.python.frameworks.torch.mode import torch_mode
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.cures import remedy_of
from d9mlint.python.judging.ops.opcalls import call_of
from d9mlint.python.judging.ops.opuse import Use, related, uses

_CURED_BY_NGC = {"bilinear": ">=20.3", "sparse_dense_matmul": ">=21.4"}
"""Ops whose cure NVIDIA's containers carry before the stock version that they are based on."""
_VARIABLES = {
    "transformer_engine": ("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0"),
    "transformers": ("FLASH_ATTENTION_DETERMINISTIC", "1"),
}
"""Packages with a variable of their own for deterministic kernels (docs/envvars.rst of Transformer Engine,
modeling_flash_attention_utils.py of Transformers)."""
SWITCH = "determinism-switch"
"""The cause of all that one missing switch would cure."""
_ATTENTION = re.compile(r"attention|flash_attn")


def check(program: Program, rule: Rule, *, attention: bool) -> Iterator[Draft]:
    """Uses that vary: whatever the switch, or because it is off; those of attention, or all others."""
    for use in uses(program):
        if use.op.common or use.status.default != "varies" or is_attention(use.op) is not attention:
            continue
        lasting = use.status.deterministic_mode == "varies"
        if lasting and _cured(program, use):
            continue
        on, hidden = _mode(program, use)
        cond = use.cond if lasting else both(use.cond, negate(on))
        if truth(cond, use.event.guards) is False or not is_symbolic(cond) or (hidden and not lasting):
            continue
        if _switched_by_variable(program, use):
            continue
        cured = use.status.deterministic_mode == "same" and not use.op.sites
        perhaps = bool(use.op.where) and not use.sure  # under a condition of which the program shows nothing
        told = use.op.framework == "tensorflow" and only_reported(program, use.event, use.op)
        yield draft(
            program,
            rule, use.at, cond=both(*use.event.guards, cond),
            severity="info" if perhaps or told or (cured and _is_told(program, use)) else "",
            related=related(use), confidence=use.confidence(rule), remedy=remedy_of(program, use),
            of_calls=[call_of(program, use)],
            name=use.name, effect=use.effect, device=_device(use), state=_state(program, use, lasting),
            varies="can vary" if torchops.chosen_by_torch(use.op) else "varies",
            cause=SWITCH if cured else f"{rule.cause}-{use.op.name}",
        )  # fmt: skip


def _is_told(program: Program, use: Use) -> bool:
    """Whether a rule about the missing switch warns of what it cures: of what is trained, as those of JAX always."""
    if use.op.framework == "torch":
        return bool(torchgpu.trainings(program))
    return use.op.framework != "tensorflow" or bool(trainings(program))


def is_attention(op: Op) -> bool:
    """Whether an op of the catalogue is attention, which has a rule of its own; kernels of the user's are not asked."""
    return not op.sites and bool(_ATTENTION.search(op.name))


def _mode(program: Program, use: Use) -> tuple[Cond, bool]:
    """When the mode that stops the op from varying is on, and whether something not followed may turn it on."""
    if use.op.framework == "jax":
        return jax_mode(program).on, perhaps_elsewhere(program)
    if use.op.framework != "torch":
        return switch(program).on, perhaps_elsewhere(program)
    mode = torch_mode(program)
    on = mode.raises if use.status.deterministic_mode == "raises" else mode.on
    return on, torchmode.hidden(program)


def _cured(program: Program, use: Use) -> bool:
    return not use.op.sites and any(
        word in use.op.name and program.target.fits("ngc", v) for word, v in _CURED_BY_NGC.items()
    )


def _switched_by_variable(program: Program, use: Use) -> bool:
    """Whether the program sets the variable that makes this package deterministic, or calls what sets it."""
    package = use.event.name.partition(".")[0]
    name, value = _VARIABLES.get(package, ("", ""))
    asked = (a.event.name for a in torch_mode(program).asked if a.on is not False)
    if package == "transformers" and any(name.startswith("transformers.") for name in asked):
        return True
    return any(matches(e.args[0] if e.args else None, value) is True for e in program.env(name))


def _device(use: Use) -> str:
    if torchops.chosen_by_torch(use.op):
        return f" on a GPU {torchops.FUSED}"
    return " on a GPU" if "gpu" in use.op.devices else ""


def _state(program: Program, use: Use, lasting: bool) -> str:
    if lasting and use.op.sites:
        return ", and its kernel does not look at deterministic mode"
    if lasting and use.op.framework == "torch":
        return f", and no switch of PyTorch {program.target.version('torch')} changes that"
    if lasting:
        return f", and no switch of TensorFlow {program.target.version('tensorflow')} changes that"
    if use.op.framework == "jax":
        return " while XLA's deterministic ops are off"
    if use.op.framework != "torch":
        return " while deterministic ops are off"
    if use.status.deterministic_mode == "raises" and torch_mode(program).on is not False:
        return f" while `{torchmode.SWITCH}` only warns or is off"
    return f" while `{torchmode.SWITCH}` is off"
