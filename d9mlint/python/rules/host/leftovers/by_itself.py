"""What goes on by itself from what an earlier run has left: Estimators, studies, agents and trainers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, by_default, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Obj, Value, alternatives
from d9mlint.python.frameworks import agents
from d9mlint.python.frameworks.tensorflow import estimators
from d9mlint.python.frameworks.torch.lightning import RESUMED
from d9mlint.python.frameworks.torch.mode import truthy
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.calls import listed_by
from d9mlint.python.judging.files.kept import besides_files, lists_files, saved_there
from d9mlint.python.judging.files.places import OF_ONE_RUN
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host.leftovers.unasked import (
    CONTINUES,
    STARTS,
    asked_for,
    asks_for_files,
    besides_path,
    folder_told,
    is_asked,
    left_over,
    listed,
    listing_of,
)

_FINDS = "finds the checkpoint"
_NOTHING = "does not train, or only the steps that are missing"
_NEW_STUDY = "give each run a study of its own: leave `load_if_exists=True` out, so that one which is there is an error"


def by_itself(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of these that goes on unasked."""
    yield from _estimators(program, rule)
    yield from _studies(program, rule)
    yield from _agents(program, rule)
    yield from _trainers(program, rule)


# -- Estimators ----------------------------------------------------------------------------------------------------


def _estimators(program: Program, rule: Rule) -> Iterator[Draft]:
    """Estimators restore the newest checkpoint of their ``model_dir`` (estimator.py, ``_train_model``)."""
    for training, folder in estimators.folders(program):
        if not training.detached:  # (a second run with `steps` trains on, one with `max_steps` does nothing)
            yield draft(
                program, rule, training, cond=negate(is_none(folder)), name=short_name(training), does=CONTINUES,
                folder=folder_told(folder), then=_NOTHING if estimators.ends(training) else STARTS,
            )  # fmt: skip


# -- agents ---------------------------------------------------------------------------------------------------------


def _agents(program: Program, rule: Rule) -> Iterator[Draft]:
    """Agents that are loaded, unasked, where an earlier run has saved them, and learn on."""
    for load in agents.loads(program):
        learn = next(agents.learning(program, load), None)
        saves = agents.saves(program, load)
        path = load.args[0] if load.args else None
        if learn is None or path is None or asked_for(load, learn):
            continue
        folder = path if any(map(asks_for_files, load.guards)) or load.tried > learn.tried else listed(program, path)
        if folder is not None and saved_there(folder, saves):
            later = [e for e in saves if e.index > load.index]
            yield left_over(program, rule, load, folder, later)


# -- Optuna ---------------------------------------------------------------------------------------------------------

_STUDY, _OPTIMIZE = "optuna.create_study", "optuna.Study.optimize"


def _studies(program: Program, rule: Rule) -> Iterator[Draft]:
    """Studies of a name in a storage that are taken up where they are there (optuna/study/study.py, create_study)."""
    for made in program.calls(_STUDY) if any(not e.detached for e in program.calls(_OPTIMIZE)) else ():
        storage, name = made.kwargs.get("storage"), made.kwargs.get("study_name")
        takes_up = made.kwargs.get("load_if_exists")
        if made.detached or storage is None or name is None or takes_up is None:
            continue
        when = both(negate(is_none(storage)), negate(is_none(name)), truthy(takes_up))
        words = describe(both(*made.guards, when))
        if is_symbolic(when) and when is not False and not is_asked(words):
            yield draft(
                program, rule, made, cond=when, name=short_name(made), does="continues from the study",
                folder="its own storage" if isinstance(storage, Obj) else folder_told(storage),
                then="has these trials before its own", remedy=_NEW_STUDY,
            )  # fmt: skip


# -- trainers -------------------------------------------------------------------------------------------------------

_FIT, _TRAIN = "lightning.pytorch.Trainer.fit", "transformers.Trainer.train"
_GIVEN = {_FIT: Argument(4, "ckpt_path"), _TRAIN: Argument(0, "resume_from_checkpoint")}
_NEWEST = {_FIT: "last", _TRAIN: True}
"""What lets a trainer look for its newest checkpoint itself."""
_KEEPS = {_FIT: "lightning.pytorch.callbacks.ModelCheckpoint", _TRAIN: "transformers.TrainingArguments"}
"""What keeps checkpoints, or a class that is derived from it."""
_FORMER = Argument(None, RESUMED)
_FOLDERS = (Argument(None, "dirpath"), Argument(None, "filepath"), Argument(0, "output_dir"))
"""(The second until 1.1: pytorch_lightning/callbacks/model_checkpoint.py of 1.0.)"""


def _trainers(program: Program, rule: Rule) -> Iterator[Draft]:
    """Trainers that go on, unasked, from a checkpoint of their own; the first that is found of each."""
    for training in program.calls(_FIT, _TRAIN):
        keeps = _KEEPS[training.name]
        made = program.calls(keeps, f"{keeps}.__init__")
        saves = [e for e in made if not e.detached and _folder(e) is not None]
        if saves and not training.detached:
            yield from islice(chain(_told(program, rule, training, saves), _found(program, rule, training, saves)), 1)


def _told(program: Program, rule: Rule, training: Event, saves: list[Event]) -> Iterator[Draft]:
    """Trainers that are told, unasked, to go on from their newest checkpoint, or from one that is there.

    Lightning begins anew where it finds no `last`; Transformers raises an error, so that it is told only where files
    are there (lightning/pytorch/trainer/connectors/checkpoint_connector.py, transformers/trainer.py).
    """
    for cond, leaf in alternatives(training.argument(_GIVEN[training.name])):
        here = both(cond, *training.guards)
        there = any(map(asks_for_files, (cond, *training.guards))) or lists_files(here)
        newest = isinstance(leaf, Const) and leaf.value is not None and leaf.value == _NEWEST[training.name]
        known = (newest and (there or training.name == _FIT)) or (there and saved_there(leaf, saves))
        if not known or by_default(besides_files([here])) is False or is_asked(describe(here)):
            continue
        folder = _folder(saves[0]) if newest else leaf
        if folder is not None:
            yield left_over(program, rule, replace(training, guards=(here,)), folder, saves)


def _found(program: Program, rule: Rule, training: Event, saves: list[Event]) -> Iterator[Draft]:
    """Trainers that are handed, unasked, a checkpoint out of a folder that the program lists, into which they save.

    Until 2.0 Lightning's take it where they are made (pytorch_lightning/trainer/trainer.py of 1.9).
    """
    former = [(made, _FORMER) for made in made_by(training.receiver)]
    for event, given in ((training, _GIVEN[training.name]), *former):
        for cond, leaf in alternatives(event.argument(given)):
            listing = listing_of(program, leaf)
            folder = None if listing is None else listed_by(listing)
            if listing is None or folder is None or not saved_there(folder, saves) or listing.detached:
                continue
            here = both(cond, *event.guards, *training.guards, *listing.guards)
            there = besides_path(here)
            if by_default(besides_files([there])) is not False and not is_asked(describe(here)):
                yield left_over(program, rule, replace(listing, guards=(there,)), folder, saves, does=_FINDS)


def _folder(keeps: Event) -> Value | None:
    """The folder in which what keeps checkpoints does so, where it is not that of one run."""
    folder = next((value for one in _FOLDERS if (value := keeps.argument(one)) is not None), None)
    return folder if folder is not None and OF_ONE_RUN.isdisjoint(taint([folder])[0]) else None
