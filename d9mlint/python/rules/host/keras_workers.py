"""Keras workers that share, or copy, the state of a random generator."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Inst, Obj, Seq, Unknown, alternatives
from d9mlint.python.frameworks import kerasfit
from d9mlint.python.frameworks.tensorflow.pipelines import draws_on_host
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower

_DATASETS = ("keras.utils.PyDataset.__init__", "keras.utils.Sequence.__init__")
_SHARED = "which race for the same random state"
_COPIES = "processes with random states of their own, and timing decides which of them takes which batch"
_AUGMENTS = "own-augmentation"
_RANDOM_ITERATORS = "keras.preprocessing.image.ImageDataGenerator."


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At ``fit`` (Keras 2) or the constructor of a ``PyDataset`` (Keras 3) that asks for several workers."""
    keras3 = program.target.fits("keras", ">=3")
    for event in program.calls(*(_DATASETS if keras3 else kerasfit.CALLS)):
        cond, known = _several(program, event)
        if cond is False:
            continue
        sure, draws = _draws(program, rule, event.receiver if keras3 else kerasfit.data_of(event))
        if sure:
            sure = sure if known else lower(sure)
            related = [Related(d.location, "draws here") for d in draws]
            yield draft(
                program,
                rule,
                event,
                cond=cond,
                confidence=sure,
                related=dict.fromkeys(related),
                name=event.name.removesuffix(".__init__").rpartition(".")[2],
                how=_COPIES if program.holds(event, {"use_multiprocessing": True}) is True else _SHARED,
            )


def _several(program: Program, event: Event) -> tuple[Cond, bool]:
    """When there are several workers, and whether that is known: of `workers=os.cpu_count()` it is likely."""
    told = either(program.holds(event, {"workers": {"gt": 1}}), program.holds(event, {"use_multiprocessing": True}))
    if told is False and isinstance(event.kwargs.get("workers"), (Obj, Unknown)):
        return True, False
    return told, True


def _draws(program: Program, rule: Rule, data: object) -> tuple[str, list[Event]]:
    """How sure it is that the workers draw, and where; empty where they do not."""
    best, found = "", []
    for _, leaf in alternatives(data):  # type: ignore[arg-type]
        if isinstance(leaf, Inst):
            found = [e for e in program.events if e.kind == "call" and _shares(e) and _belongs(program, e, leaf)]
            if found:
                return rule.confidence, found
        elif (isinstance(leaf, Seq) and leaf.kind == "generator") or (
            isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name.startswith(_RANDOM_ITERATORS)
        ):
            return rule.confidence, []
        elif isinstance(leaf, Unknown) and "array" not in leaf.origins:
            best = lower(rule.confidence)
    return best, found


def _shares(event: Event) -> bool:
    """Whether a call draws from a generator that workers share: a global one, or that of augmentations."""
    makers = [leaf.event for _, leaf in alternatives(event.receiver) if isinstance(leaf, Obj) and leaf.event]
    return draws_on_host(event) or any(e.creates == _AUGMENTS for maker in makers for e in maker.effects)


def _belongs(program: Program, event: Event, instance: Inst) -> bool:
    """Whether a draw happens in a method of the instance's class, or in what a call that got the instance runs."""
    owner = event.func.owner if event.func else None
    if owner is not None and any(owner is c for c in instance.cls.line()):
        return event.func is not None and event.func.name != "__init__"
    if not event.inside("callback") or (owner is not None and "keras.Model" in owner.external()):
        return False
    hosts = [
        e for e in program.events if e.kind == "call" and any(v is instance for v in (*e.args, *e.kwargs.values()))
    ]
    return any(h.location in event.stack for h in hosts)
