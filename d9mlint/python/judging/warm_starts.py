"""Loads that begin another training from weights: nothing of how far an earlier run has come is taken up with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from d9mlint.model import Argument, Location
from d9mlint.python.domain.conditions import Flag, by_default, has_raised, literals
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asks
from d9mlint.python.domain.values import Const, Value
from d9mlint.python.interpreter.library.streams import FILE_TESTS, LISTINGS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.kept import perhaps_saved, written_by
from d9mlint.python.judging.files.places import Place, compare, flags_within, places
from d9mlint.python.judging.loops import RANGES, header_of, is_fixed, left_out, starts_fixed

_WEIGHTS = re.compile(r"\b(model|net|network|weights?|pre_?train(ed|ing)?|trained|init(ial)?|fine_?tune|warm)(_|\b)")
"""Words in the name of a flag that asks for weights to begin with."""
_GOES_ON = re.compile(r"resum|restor|contin|restart|last|latest|epoch|step|iter")
"""Words in the names of flags and functions by which a run goes on where another stopped."""
_CHECKPOINT = re.compile(r"load|ckpt|checkpoint|snapshot")
"""Words of a flag that asks for a load, and may be one to go on from."""
_TRAINED_ELSEWHERE = re.compile(r"pre[-_ ]?train|fine[-_ ]?tun|warm[-_ ]?start|transfer|\binit(ial(i[sz]\w+)?)?(_|\b)")
"""Words, in the name or the help of a flag, that say that another training has made the weights."""
_RESUMES = re.compile(r"resum|restor|continu|restart|go(es)? on")
"""Words of a help text that say that a run goes on."""
_FILLS, _OPTIMIZER, _ANY = ".load_state_dict", "torch.optim.", "?.load_state_dict"
_KERAS, _INITIAL = "keras.", "initial_epoch"


def is_warm_start(program: Program, load: Event, steps: Sequence[Event]) -> bool:
    """Whether a flag asks for weights alone (``--model``, ``--pretrain``) and the ``steps`` after count from the start.

    The name of the flag says so, or its help (``Load pretrained model``). A word for going on, the state of an
    optimizer, and a number that the loop begins with make it a resume.
    """
    flags = _asking(load)
    asked = _words(flag.name for flag in flags)
    elsewhere = _TRAINED_ELSEWHERE.search(asked) or any(_says_elsewhere(program, flag) for flag in flags)
    if not elsewhere and (not _WEIGHTS.search(asked) or _CHECKPOINT.search(asked)):
        return False
    within = _words(name for value in load.args for name in flags_within(value))
    if _GOES_ON.search(f"{asked} {within} {_words([load.func.name] if load.func is not None else [])}"):
        return False
    after = [step for step in steps if step.index > load.index and step.meets(load)]
    return begins_anew(program, load, after)


def _asking(load: Event) -> list[Flag]:
    """The flags, off by default, that ask for a load."""
    return [one.flag for cond in load.guards if by_default(cond) is False for one in literals(cond) if one.flag]


def begins_anew(program: Program, load: Event, steps: Sequence[Event], numbered: bool = True) -> bool:
    """Whether the steps after a load count from the start, and no state of an optimizer is loaded with it.

    ``numbered``: it may be told how far another run has come, so that a loop does what is left of a number.
    """
    from_start = (_from_start(program, load, step, numbered) for step in steps)
    return bool(steps) and not _fills_optimizer(program, load) and all(from_start)


def begins_again(program: Program, load: Event, steps: Sequence[Event]) -> bool:
    """Whether the steps after a load count from the start, whatever is loaded, and nobody asks for it to go on."""
    tests = (one.opaque for cond in load.guards for one in literals(cond))
    asked = (test.text for test in tests if test is not None and not asks(test, (*FILE_TESTS, *LISTINGS)))
    if _GOES_ON.search(_words([*(flag.name for flag in _asking(load)), *asked])):
        return False
    after = [step for step in steps if step.index > load.index and step.meets(load)]
    return bool(after) and all(_from_start(program, load, step) for step in after)


def saves_at_the_end(saves: Sequence[Event], steps: Sequence[Event]) -> bool:
    """Whether all is saved after the last step, in no loop around one: a run that is interrupted leaves nothing.

    Not where an error is caught, as it is saved then, too.
    """
    last, loops = max(step.index for step in steps), {number for step in steps for number in step.loops}
    caught = any(has_raised(guard) for e in saves for guard in e.guards)
    return not caught and all(e.index > last and loops.isdisjoint(e.loops) for e in saves)


def own_save(path: Value, saves: Sequence[Event]) -> Event | None:
    """The call that saves, as the same command does it, in the folder or file that a path is; the paths are alike.

    A file of several that somebody picks by another flag is not what the same command saves.
    """
    here = [place for _, place in places(path)]
    for save in saves if here else ():
        picked = flags_within(path).keys() - {
            name for value in (*save.args, *save.kwargs.values()) for name in flags_within(value)
        }
        alike = perhaps_saved(path, [save])
        if not picked and any(_is_own(one, other, alike) for one in here for other in written_by(save)):
            return save
    return None


def _is_own(path: Place, saved: Place, alike: bool) -> bool:
    """Whether a path is a file that is saved, its folder, or (``alike``: by its name) perhaps another one beside it."""
    folder = saved.folder
    if compare(path, saved) is True or (folder.names and compare(path, folder) is True):
        return True
    return alike and bool(folder.names) and compare(path.folder, folder) is True


def _words(names: Iterable[str]) -> str:
    """Names with one kind of mark between their words: `pre_train model_path`."""
    return " ".join(name.lstrip("-").replace("-", "_").replace(".", " ").lower() for name in names)


def _says_elsewhere(program: Program, flag: Flag) -> bool:
    """Whether the help of a flag says that another training has made the weights, and not that a run goes on."""
    text = program.once("help-of-flags", _helps).get(flag.location, "")
    return _TRAINED_ELSEWHERE.search(text) is not None and _RESUMES.search(text) is None


def _helps(program: Program) -> dict[Location, str]:
    """The help texts of the command line, in small letters, by where their flags are declared."""
    given = ((event.location, event.argument(_help_of(event))) for event in program.events if event.kind == "call")
    return {place: one.value.lower() for place, one in given if isinstance(one, Const) and isinstance(one.value, str)}


def _help_of(event: Event) -> Argument:
    """Where a call that declares a flag is given its help: ``DEFINE_string(name, default, help)`` as its third."""
    return Argument(2 if event.name.rpartition(".")[2].startswith("DEFINE_") else None, "help")


def _fills_optimizer(program: Program, load: Event) -> bool:
    """Whether the state of an optimizer, or of something that is not known, is loaded as well."""
    fills = (e for e in program.ending(_FILLS, "call") if not e.detached)
    return any(
        e.name.startswith(_OPTIMIZER) or (e.name == _ANY and e.func is load.func and e is not load)
        for e in fills
        if e.meets(load)
    )


def _from_start(program: Program, load: Event, step: Event, numbered: bool = True) -> bool:
    """Whether the training that a step belongs to begins with a fixed number, whatever was loaded."""
    if not step.loops and step.name.startswith(_KERAS):
        return _INITIAL not in step.kwargs
    number = next((one for one in step.loops if one not in load.loops), None)
    header = None if number is None else header_of(program, number)
    if header is None or header.name not in RANGES or left_out(step, header):
        return False
    return is_fixed(header) if numbered else starts_fixed(header)
