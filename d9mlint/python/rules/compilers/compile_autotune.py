"""compile-autotune: torch.compile chooses kernels and their sizes by timing them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Dict, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch.mode import truthy
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, lower

_COMPILE = "torch.compile"
_CONFIG = "torch._inductor.config"
_SETTINGS = ("max_autotune", "max_autotune_gemm", "max_autotune_pointwise", "coordinate_descent_tuning")
_VARIABLES = tuple(f"TORCHINDUCTOR_{name.upper()}" for name in _SETTINGS)
_MODES = ["max-autotune", "max-autotune-no-cudagraphs"]
_DETERMINISTIC = "TORCHINDUCTOR_DETERMINISTIC"
_POINTWISE = re.compile(r"torch\.optim\.(SGD|Adam|AdamW|NAdam|RAdam|Adamax|Adagrad|Adadelta|RMSprop|Rprop|ASGD)$")
"""Optimizers that compute each weight by itself, whose kernels round alike however they are tiled."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Requests for more timing, and plain ``torch.compile``, whose default mode times a little."""
    cured = _cured(program)
    if not is_symbolic(cured) or (program.target.fits("torch", ">=2.10") and torchmode.hidden(program)):
        return
    off = both(torchgpu.on_gpu(program), negate(cured))
    asked = list(_asked(program))
    for event, cond, name in asked:
        held = both(cond, off)
        if by_default(held) is False:
            continue  # only when somebody asks for it
        if truth(held, event.guards) is not False and is_symbolic(held):
            yield draft(program, rule, event, cond=held, name=name, much="")
    if not any(cond is True for _, cond, _ in asked):
        yield from _plain(program, rule, off)


def _plain(program: Program, rule: Rule, off: Cond) -> Iterator[Draft]:
    """The first call that leaves the choice to the default mode."""
    for event in program.calls(_COMPILE):
        if event.star or event.kwargs.keys() & {"mode", "options"} or not _by_inductor(event) or _is_pointwise(event):
            continue
        if truth(off, event.guards) is not False and event.args and not _is_idle(program, event):
            yield draft(
            program,
                rule, event, cond=off, severity="info", confidence=lower(rule.confidence), name=_COMPILE,
                much=" (in its default mode paddings of matrices and the sizes of reductions)",
            )  # fmt: skip
            return


def _asked(program: Program) -> Iterator[tuple[Event, Cond, str]]:
    for event in program.calls(_COMPILE):
        options = event.kwargs.get("options")
        given = options.items if isinstance(options, Dict) else {}
        tuned = [truthy(given[name]) for name in _SETTINGS if name in given]
        cond = either(matches(event.kwargs.get("mode"), _MODES), *tuned)
        if cond is not False and _by_inductor(event) and not _is_pointwise(event):
            yield event, cond, f"{_COMPILE}(mode=...)" if "mode" in event.kwargs else f"{_COMPILE}(options=...)"
    for event in program.find("set", *(f"{_CONFIG}.{name}" for name in _SETTINGS)):
        yield event, truthy(event.args[0]), event.name
    for event in program.env(*_VARIABLES):
        yield event, matches(event.args[0] if event.args else None, "1"), event.name


def _by_inductor(event: Event) -> bool:
    backend = event.kwargs.get("backend")
    return backend is None or matches(backend, "inductor") is not False


def _is_idle(program: Program, event: Event) -> bool:
    """Whether a network from elsewhere that is compiled never runs as such: `generate` is that of the plain network.

    (torch/_dynamo/eval_frame.py, ``OptimizedModule.__getattr__``: methods are those of the original module.)
    """
    plain = [leaf for _, leaf in alternatives(event.args[0])]
    if any(leaf is UNKNOWN or not isinstance(leaf, (Obj, Unknown)) for leaf in plain):
        return False
    same = {id(event.result), *(id(leaf) for leaf in plain if isinstance(leaf, Obj))}
    for later in program.events[event.index + 1 :]:
        if later.kind in ("call", "unresolved", "set"):
            called = (later.receiver,) if later.name.endswith(".__call__") else ()
            if any(id(leaf) in same for leaf in _parts(*called, *later.args, *later.kwargs.values())):
                return False
    return True


def _parts(*values: Value | None) -> Iterator[Value]:
    """What values may be, and what is in lists among them."""
    for one in values:
        for _, leaf in alternatives(one):
            yield leaf
            for item in (leaf.items or ()) if isinstance(leaf, Seq) else ():
                yield from (inner for _, inner in alternatives(item))


def _is_pointwise(event: Event) -> bool:
    """Whether what is compiled is the step of an optimizer without sums and products of matrices."""
    compiled = event.args[0] if event.args else event.kwargs.get("model")
    if not isinstance(compiled, Ref) or not compiled.name.endswith(".step"):
        return False
    made = list(made_by(compiled.receiver))
    return bool(made) and all(_POINTWISE.match(one.name) for one in made)


def _cured(program: Program) -> Cond:
    """When Inductor is deterministic: it can be from 2.10 on (torch/_inductor/config.py), and follows the switch."""
    if not program.target.fits("torch", ">=2.10"):
        return False
    told = [both(*e.guards, truthy(e.args[0])) for e in program.find("set", f"{_CONFIG}.deterministic") if e.args]
    told += [both(*e.guards, matches(e.args[0], "1")) for e in program.env(_DETERMINISTIC) if e.args]
    return either(torchmode.torch_mode(program).on, *told)
