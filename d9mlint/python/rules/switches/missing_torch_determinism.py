"""missing-torch-determinism: training on a GPU with PyTorch's deterministic algorithms never switched on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, alternatives
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch import networks
from d9mlint.python.frameworks.torch import ops as torchops
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.library.environment import SPAWNED
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.ops.cures import raising_in_torch
from d9mlint.python.judging.ops.opcalls import call_of
from d9mlint.python.judging.ops.opuse import Use, shown, uses
from d9mlint.python.judging.processes import named_there
from d9mlint.python.rules.switches import _missing_switch

_SOME_RELEASES = re.compile(r"recurrent")
"""Ops that vary only with some releases of cuDNN and CUDA, which a program does not show."""
_MOST = 3
_USES = frozenset({"call", "unresolved", "set", "sink"})
"""Kinds of events that may use what was computed before."""
_KERNELS = (
    "look at the sources of these kernels with `d9mlint kernels`: deterministic algorithms are those of PyTorch's own "
    "ops, and an extension has to ask for them (`at::globalContext().deterministicAlgorithms()`)"
)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What of a program can vary: uses of ops that do, or names of networks that are not seen."""

    uses: list[Use]
    networks: tuple[networks.Unseen, ...]
    runs: Cond
    """When any of the uses, or another one of the same operations, runs."""
    messages: bool = False
    """Networks that are not seen add up what comes over the edges of a graph."""

    @property
    def sure(self) -> bool:
        """Whether something is seen or known to vary, whatever the release of cuDNN and the size of a table."""
        certain = (use for use in self.uses if not use.event.detached)
        return self.messages or not all(map(_depends, certain))

    @property
    def fused(self) -> bool:
        """Whether all that varies does so for some sizes only, which a program may not show."""
        return bool(self.uses) and all(torchops.chosen_by_torch(use.op) or use.op.where for use in self.uses)

    @property
    def compiled(self) -> bool:
        """Whether all that may vary are kernels of extensions."""
        return not self.uses and all(one.compiled for one in self.networks)

    @property
    def cond(self) -> Cond:
        """When any of it runs, as far as that can be told; what runs by default needs no mention."""
        unseen = either(*(one.cond for one in self.networks))
        if not self.uses:
            return unseen
        return True if by_default(self.runs) is True else either(self.runs, unseen)

    @property
    def words(self) -> str:
        """What can differ, in a message."""
        if self.uses:
            where = {torchops.FUSED if torchops.chosen_by_torch(use.op) else _where(use) for use in self.uses}
            others = [one.name for one in self.networks]
            listed = _missing_switch.listed(self.uses, others)
            return f"{listed}{f' {where.pop()}' if len(where) == 1 and all(where) and not others else ''}"
        names = [one.name for one in self.networks if one.name][:_MOST]
        if self.messages:
            return _missing_switch.computed_by(names)
        return (
            f"{_missing_switch.computed_by(names)} (its code could not be read here)"
            if names
            else "what the network computes (its code could not be read here)"
        )


def _depends(use: Use) -> bool:
    """Whether an op varies with some releases of cuDNN, or for some sizes, which a program does not show."""
    return bool(_SOME_RELEASES.search(use.op.name)) or torchops.of_unknown_table(use.event, use.op)


def _least(use: Use) -> int:
    """How little an op says here: one that varies with some releases alone, and one that is told by itself anyhow."""
    return 2 if _missing_switch.is_told(use) else _depends(use)


def _where(use: Use) -> str:
    """For which sizes alone an op varies, which a program may not show."""
    return f"where {use.op.where}," if use.op.where else ""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """One finding a program, at the first call that trains."""
    if program.story.local or "torch" not in frameworks_of(program) or torchmode.hidden(program):
        return
    found = torchgpu.trainings(program)
    cases = _cases(program, found)
    for event, cond, partial in cases[:1]:
        seen = _seen(program, rule, [one for one, _, other in cases if other is partial], partial)
        at, there = _anywhere(program, event, found, cond, partial)
        runs = both(there, seen.cond)
        if (seen.uses or seen.networks) and not _told(seen) and both(*at.guards, runs) is not False:
            yield _draft(program, rule, event, found, (at, runs), partial, seen)


def _cases(program: Program, found: list[Event]) -> list[tuple[Event, Cond, bool]]:
    """The calls that train with something not deterministic, when, and whether cuDNN is; those where it is not first,
    and of these those of a default run.

    What the program sets may not reach a process that it starts.
    """
    cases: list[tuple[Event, Cond, bool]] = []
    for event in found:
        off = _off(program, event)
        if by_default(off) is not False and is_symbolic(off):
            halves = _halves(program, event, off)
            cases += [
                (event, cond, partial) for cond, partial in halves
                if truth(cond, event.guards) is not False and is_symbolic(cond) and not _asked_for(program, cond)
            ]  # fmt: skip
    return sorted(cases, key=lambda case: (case[2], _missing_switch.by_flag(case[0])))


def _asked_for(program: Program, cond: Cond) -> bool:
    """Whether cuDNN varies only where a flag says so that has it deterministic by default: that is no surprise."""
    return by_default(cond) is False and by_default(torchmode.cudnn_deterministic(program)) is True


def _told(seen: _Seen) -> bool:
    """Whether all that varies does so whatever the switch, and so is told by itself."""
    modes = {use.status.deterministic_mode for use in seen.uses if not use.op.common}
    return modes == {"varies"} and not any(use.op.common for use in seen.uses)


def _off(program: Program, event: Event) -> Cond:
    """When nothing switches deterministic algorithms on in the process that trains."""
    if not event.inside(SPAWNED):
        return both(negate(torchmode.torch_mode(program).on), negate(torchmode.attempted(program)))
    asked = [a for a in torchmode.torch_mode(program).asked if _afresh(a.event)]
    return both(*(negate(both(*a.event.guards, a.on)) for a in asked))


def _afresh(event: Event) -> bool:
    """Whether a process that is started afresh gets there: it imports the file, and knows nothing of its parent's."""
    return event.inside(SPAWNED) or ((event.func is None or event.importing) and not event.main_only)


def _halves(program: Program, event: Event, off: Cond) -> Iterator[tuple[Cond, bool]]:
    """When nothing at all is deterministic, and when cuDNN is; what cannot be told of cuDNN counts as set."""
    off = both(torchgpu.on_gpu(program), off)
    cudnn = torchmode.cudnn_deterministic(program, *((_afresh,) if event.inside(SPAWNED) else ()))
    if is_symbolic(cudnn):
        yield both(off, negate(cudnn)), False
    yield (both(off, cudnn) if is_symbolic(cudnn) else off), True


def _anywhere(program: Program, event: Event, found: list[Event], cond: Cond, partial: bool) -> tuple[Event, Cond]:
    """The call to report, and when what holds there holds: in the program's own process, or in those it starts."""
    ways = [
        [e for e in found if e.inside(SPAWNED) is spawned and e.detached == event.detached] for spawned in (False, True)
    ]
    if not all(ways):
        return _missing_switch.any_of(event, found), cond
    conds: list[Cond] = []
    for way in ways:
        first = _missing_switch.any_of(way[0], way)
        halves = _halves(program, first, _off(program, first))
        conds += [both(*first.guards, half) for half, other in halves if other is partial and is_symbolic(half)]
    return replace(event, guards=()), either(*conds)


def _seen(program: Program, rule: Rule, trainings: list[Event], partial: bool) -> _Seen:
    """What varies where it trains; code that nobody is seen to call counts where nothing else is found, if likely."""
    likely = _missing_switch.likely(rule)

    def wanted(use: Use) -> bool:
        common = partial and bool(use.op.common)
        if use.op.framework != "torch" or common or networks.only_counted(program, use.event):
            return False
        if not any(map(use.event.meets, trainings)):  # it is made where the program only evaluates
            return False
        return use.likely and not use.event.unreached if use.event.detached else likely(use)

    varying = _missing_switch.varying(program, wanted, _least) or _missing_switch.varying(
        program, wanted, detached=True
    )
    varying = [use for use in varying if not _missing_switch.is_told(use)] or varying
    names = {shown(use.event) for use in varying}
    runs = either(*(use.runs for use in uses(program) if shown(use.event) in names))
    unseen = networks.unseen(program) if not varying or by_default(runs) is not True else ()
    if varying:  # (what is seen may be one of several networks)
        unseen = tuple(one for one in unseen if networks.of_networks(one.name))
    return _Seen(varying, unseen, runs, networks.add_up_messages(program, (one.name for one in unseen)))


def _draft(
    program: Program, rule: Rule, event: Event, found: list[Event], anywhere: tuple[Event, Cond], partial: bool,
    seen: _Seen,
) -> Draft:  # fmt: skip
    at, cond = anywhere
    known = program.target.fits("torch", ">=1.7")
    cured = known or any(use.op.common for use in seen.uses)  # before, a setting of cuDNN cured its operations
    state = "only cuDNN made deterministic" if partial else "deterministic algorithms off"
    told = _told_otherwise(program)
    return draft(
        program,
        rule, at, cond=cond, of_calls=[call_of(program, use) for use in seen.uses],
        related=[
            *(Related(u.event.location, _varies(u)) for u in seen.uses),
            *(Related(e.location, "the switch is an argument here") for e in told),
            *(Related(e.location, "the trainer is made here") for e in _trainers(program, event) if e not in told),
        ],
        severity="info" if partial or not seen.sure or not cured or _ends_program(program, event) else "",
        confidence=_confidence(rule, event, seen, program.story.entry),
        remedy=_remedy(program, rule, next((e for e in found if e.inside(SPAWNED)), event), seen),
        name=_missing_switch.trainers(event, _missing_switch.other_branches(event, found)), ops=seen.words,
        does=_missing_switch.does(event),
        state=state if known else "a PyTorch that has no deterministic algorithms",
        slight=_drops_gradients(program, event),
    )  # fmt: skip


def _drops_gradients(program: Program, event: Event) -> bool:
    """Whether no optimizer takes a step with the gradients that are computed, as in a benchmark of their speed."""
    steps = program.ending(".step", "call", "unresolved")
    return event.name.endswith(".backward") and all(e.detached for e in steps)


def _ends_program(program: Program, event: Event) -> bool:
    """Whether nothing comes after a ``backward`` that could read its gradients, as at the end of a self-test."""
    if not event.name.endswith(".backward") or event.loops or event.deferred or event.detached:
        return False
    return not any(e.kind in _USES and not e.detached for e in program.events[event.index + 1 :])


def _confidence(rule: Rule, event: Event, seen: _Seen, entry: str) -> str:
    """How sure it is that something varies: what is not seen may be dense layers alone, where nothing does."""
    if not seen.uses and not any(one.compiled or networks.of_networks(one.name) for one in seen.networks):
        return "low"
    elsewhere = event.detached and event.location.path != entry
    return lower(rule.confidence) if elsewhere or seen.fused or not seen.sure else ""


def _varies(use: Use) -> str:
    fused = torchops.chosen_by_torch(use.op)
    return f"the {use.effect} of `{shown(use.event)}` varies{f' {torchops.FUSED}' if fused else ''}"


# -- the remedy ----------------------------------------------------------------------------------------------------


def _remedy(program: Program, rule: Rule, event: Event, seen: _Seen) -> str:
    """The remedy of the version, where it belongs in this program, and what then raises."""
    if seen.compiled:
        return _KERNELS
    target = torchmode.oldest(program.target)
    text = _of_trainer(program, event) or rule.remedy(target, frameworks_of(program))
    if event.inside(SPAWNED):
        where = f"{named_there(program, event)}, which runs in processes of its own"
        text = text.replace("near the start, after the seeds", f"at the start of {where}")
    recurrent = sorted({f"`{shown(u.event)}`" for u in seen.uses if _SOME_RELEASES.search(u.op.name)})
    if recurrent and not target.fits("torch", ">=1.7,<2.10"):  # there the switch wants the variable by itself
        cublas = "set `CUBLAS_WORKSPACE_CONFIG=:4096:2` before CUDA is started"
        if not program.target.fits("torch", ">=1.7") and len(recurrent) == len(seen.uses):
            return f"{cublas}, which covers {' and '.join(recurrent)}"
        text += f"; for {' and '.join(recurrent)} also {cublas}"
    raised = raising_in_torch(program)
    if not raised or not program.target.fits("torch", ">=1.7"):
        return text
    warning = _warning(text) if program.target.fits("torch", ">=1.11") else ""
    return f"{text}{raised}{warning}{_of_cudnn(seen)}"


def _of_cudnn(seen: _Seen) -> str:
    """After what the switch makes raise, the setting that does not, where it covers all that is told to vary."""
    if seen.networks or not all(use.op.common and not _SOME_RELEASES.search(use.op.name) for use in seen.uses):
        return ""
    covered = " and ".join(sorted({f"`{shown(use.event)}`" for use in seen.uses}))
    return f"; only setting `{torchmode.CUDNN}.deterministic` to True covers {covered}, and makes nothing raise"


def _warning(text: str) -> str:
    """How the switch that a remedy names only warns; only Lightning's trainers take that as an argument of theirs."""
    if "`deterministic=True`" in text:
        return ' (or pass `deterministic="warn"`)'
    return "" if text.startswith(("pass `", "put `")) else " (or pass `warn_only=True`)"


def _of_trainer(program: Program, event: Event) -> str:
    """What to change where a trainer of another package turns the switch on and off."""
    for made in _told_otherwise(program):
        last = made.raw.replace("()", "").rpartition(".")[2]
        switch = torchmode.SWITCHED_BY_ARGUMENT[made.name]
        if any(isinstance(leaf, (Const, FlagValue)) for _, leaf in alternatives(made.kwargs[switch])):
            return f"pass `{switch}=True` to `{last}`, which gets another value here"
        return f"put `{switch}=True` among the arguments of `{last}`"
    if _by_trainer(program, event):
        return "pass `deterministic=True` to `Trainer`"
    return ""


def _by_trainer(program: Program, event: Event) -> bool:
    """Whether a trainer of Lightning trains that takes the switch as an argument."""
    own = event.name.replace("()", "").rpartition(".")[0] == torchgpu.TRAINER
    return own and not torchmode.only_sets_cudnn(program)


def _trainers(program: Program, event: Event) -> list[Event]:
    """The calls that made the trainer which is asked to train, where it would take the switch as an argument."""
    if not _by_trainer(program, event):
        return []
    return [made for made in made_by(event.receiver) if not made.detached]


def _told_otherwise(program: Program) -> list[Event]:
    """Calls that would switch it on, with the argument for it given."""
    made = program.calls(*torchmode.SWITCHED_BY_ARGUMENT)
    made = [e for e in made if e.name != torchgpu.TRAINER or not torchmode.only_sets_cudnn(program)]
    return [e for e in made if torchmode.SWITCHED_BY_ARGUMENT[e.name] in e.kwargs and not e.detached]
