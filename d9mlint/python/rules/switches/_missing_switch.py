"""What the rules about a missing determinism switch share: the call to report, and what varies there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from d9mlint.model import CONFIDENCES, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.tensorflow.determinism import attempted, partly_on, perhaps_elsewhere, switch
from d9mlint.python.frameworks.tensorflow.devices import on_gpu
from d9mlint.python.frameworks.used import frameworks_of, uses_tensorflow
from d9mlint.python.interpreter.program import Program, driven
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.ops.opuse import Use, shown, uses

_MOST = 5
_TYPES = ("Tensor", "__call__")
_GRADIENTS = ("grad", "value_and_grad", "gradients", "GradientTape", "vjp", "jacrev", "jacfwd", "compute_gradients")
"""Last names of calls that compute gradients, with which others train."""


def by_framework(
    program: Program, rule: Rule,
    tensorflow: Callable[[Program, Rule], Iterator[Draft]], jax: Callable[[Program, Rule], Iterator[Draft]],
) -> Iterator[Draft]:  # fmt: skip
    """What is said of the frameworks that a program uses, unless what is not followed may set their switches."""
    if program.story.local or perhaps_elsewhere(program):
        return
    if uses_tensorflow(program):
        yield from tensorflow(program, rule)
    if "jax" in frameworks_of(program):
        yield from jax(program, rule)


def off_in_tensorflow(program: Program, *besides: Cond) -> Cond:
    """When TensorFlow computes on a GPU and nothing asks for deterministic ops, or for what is named ``besides``."""
    return _off(on_gpu(program), (switch(program).on, attempted(program), partly_on(program), *besides))


def off_in_jax(program: Program) -> Cond:
    """When JAX computes on a GPU and nothing asks for deterministic ops."""
    mode = jaxmode.jax_mode(program)
    return _off(jaxmode.on_gpu(program), (mode.on, mode.asked))


def _off(gpu: Cond, asked: Iterable[Cond]) -> Cond:
    """When nothing is asked for on a GPU; False where a default run asks, and where nobody can tell."""
    never = both(*(negate(one) for one in asked))
    off = both(gpu, never)
    return off if by_default(never) is not False and is_symbolic(off) else False


def any_of(event: Event, found: list[Event]) -> Event:
    """The call under the conditions of all calls that train: a flag that picks between two of them does not cure."""
    told = [e.guards for e in driven(found) if e.detached == event.detached] or [event.guards]
    shared = tuple(g for g in event.guards if all(g in guards for guards in told))
    rest = either(*(both(*(g for g in guards if g not in shared)) for guards in told))
    return replace(event, guards=(*shared, rest))


def other_branches(event: Event, found: list[Event]) -> list[Event]:
    """The calls that train in branches where the one to report does not run, one a place, in order."""
    others = {
        e.location: e
        for e in found
        if e.location != event.location and e.detached == event.detached and not event.meets(e)
    }
    return sorted(others.values(), key=lambda e: e.index)


def trainers(event: Event, branches: Iterable[Event]) -> str:
    """The call to report and those of other branches, for a message that puts each name between backticks."""
    return "` or `".join(dict.fromkeys(method(one.raw) for one in (event, *branches)))


def does(event: Event) -> str:
    """What a call that counts as training does, in a message."""
    return "computes gradients" if event.name.rpartition(".")[2] in _GRADIENTS else "trains"


def is_told(use: Use) -> bool:
    """Whether a use varies whatever the switch, and so is a finding by itself."""
    return use.status.deterministic_mode == "varies" and not use.op.common


def method(raw: str) -> str:
    """The last two parts of a name: ``Model.fit``; the last one where the other is only a type, or a function."""
    maker, _, last = raw.rpartition(".")
    made = maker.endswith("()") and maker.rpartition(".")[2][:1].islower()  # a function has made it, no class
    parts = raw.replace("()", "").replace("?", "").split(".")[-2:]
    return last if made else ".".join(parts[-1:] if parts[0] in _TYPES else parts).strip(".")


def varying(
    program: Program, wanted: Callable[[Use], bool] = lambda use: True,
    least: Callable[[Use], int] = lambda use: False, *, detached: bool = False,
) -> list[Use]:  # fmt: skip
    """The first use of each op that varies by default, at most five, surest first; none that excludes another.

    Of the same op in several networks the one is told that runs by default, if any does.
    Those that are ``least`` sure hide none that they exclude; ``detached``: in code that nothing was seen to call.
    """
    found: dict[str, Use] = {}
    for use in uses(program):
        if use.status.default == "varies" and use.event.detached is detached and wanted(use):
            first = found.setdefault(shown(use.event), use)
            if first is not use and _not_by_default(first) and not _not_by_default(use):
                found[shown(use.event)] = use
    return sorted(_compatible(found.values(), least), key=_surest)[:_MOST]


def met(program: Program, lasting: Callable[[Use], bool]) -> Cond:
    """When a program of TensorFlow comes to anything that a switch cures, in whichever branch."""
    every = (u for u in uses(program) if u.status.default == "varies" and not u.event.detached)
    return either(*(use.runs for use in every if use.op.framework != "jax" and not lasting(use)))


def by_flag(event: Event) -> bool:
    """Whether some flag has to be given for a call: a default run does not come there."""
    return by_default(both(*event.guards)) is False


def _not_by_default(use: Use) -> bool:
    return by_default(use.runs) is False


def _surest(use: Use) -> tuple[bool, int]:
    return not use.sure, use.event.index


def _compatible(found: Iterable[Use], least: Callable[[Use], int]) -> list[Use]:
    """Uses that one run can meet together; of two that exclude each other the one that runs by default."""
    kept: list[Use] = []
    for use in sorted(found, key=lambda u: (least(u), _not_by_default(u), *_surest(u))):
        if all(use.event.meets(other.event) for other in kept):
            kept.append(use)
    return kept


def likely(rule: Rule) -> Callable[[Use], bool]:
    """Whether a use is told by default: its confidence is not low."""
    return lambda use: CONFIDENCES.index(use.confidence(rule)) > 0


def listed(varying_uses: list[Use], networks: Sequence[str] = ()) -> str:
    """The uses in a message, and ``networks`` beside them."""
    if not varying_uses:
        return "gradients"
    return computed_by([*(shown(u.event) for u in varying_uses[:3]), *networks[:1]])


def computed_by(names: Sequence[str]) -> str:
    """What calls compute, in a message."""
    quoted = [f"`{name}`" for name in names]
    joined = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"what {joined} compute{'s' if len(quoted) == 1 else ''}"
