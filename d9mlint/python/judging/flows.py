"""Where the numbers of a draw go: those that are only shown, or that only stand in for inputs, change no result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Dict, Seq, alternatives
from d9mlint.python.frameworks.torch.tensors import NO_GRAD
from d9mlint.python.interpreter.library.environment import PROCESS, SPAWNED
from d9mlint.python.interpreter.program import Program

_SHOWN = re.compile(
    r"logging\.\w+|(.*\.)?(logger|log|logging|get_?[lL]ogger\(\))\.(debug|info|warning|warn)|\?\.(debug|info|warning|warn)|"
    r".*\.(add_text|write_texts)"
)
"""Calls that log, also texts for TensorBoard (torch.utils.tensorboard, clu.metric_writers).

What is printed counts: it may be all that a program gives. What a program trains is more than a number that it prints.
"""
_WAITS = "time.sleep"
_PRINTS = "builtins.print"
_PLAIN = ("random.", "numpy.random.")
_DEFINES = ".add_argument"
_FILLS, _LOADS = ".set_weights", "keras.Model.load_weights"
_ERROR = re.compile(r"builtins\.\w*(Error|Exception|Warning)|warnings\.warn")
_TEXT = re.compile(r"builtins\.(str|repr|len|str\.(format|join))|\?\.(format|join)|os\.path\.(join|basename|dirname)")
"""Calls within a message that only make a text."""
_JOINS = "builtins.str.join"
_MEETS = re.compile(r"torch\.distributed\.(init_process_group|TCPStore)|jax\.distributed\.initialize")
"""Calls by which processes find each other: the port that they meet at is no number of the results."""
_WORKERS, _FUNCTIONS = (PROCESS, SPAWNED, "thread"), ("target", "fn")
"""Where a function runs that a call starts, and the argument that it is of calls which do nothing else."""
_ARGUMENTS = "argparse.Namespace."
_ADDRESS = ("MASTER_PORT", "MASTER_ADDR")
_COMPUTES = re.compile(
    r"torch\.(nn\.functional\.|nn\.utils\.rnn\.)?(?!save$|set_)[a-z]\w*(?<!_)|torch\.Tensor\.(?!backward$|register|set_)\w*[a-z0-9]|"
    r"builtins\.(tuple|list|iter|reversed|enumerate|zip|map|int|float|str|len|isinstance|type|dict)|"
    r"torch\.nn\.Module\.(__call__|forward)|.*\(\)\.(__call__|forward)|\?\.(__call__|forward|infer|generate|"
    r"size|view|reshape|permute|transpose|unsqueeze|squeeze|expand|contiguous|clone|detach|to|cuda|cpu|float|half|sum|mean)"
)
"""Calls that only compute: all that comes of them is their result."""
_OWN = re.compile(r"(random\.Random|numpy\.random\.(Generator|RandomState))\.(?!shuffle|seed|set_?state)\w+")
"""Draws of a generator that the program has made: all that comes of them is their result."""
_PICKS = re.compile(r"random\.(choice|choices|sample|shuffle)|numpy\.random\.(choice|permutation|shuffle)")
_SCOPE = "tensorflow.name_scope"
_PARAMETER, _BUFFER = "torch.nn.Parameter", ".register_buffer"
_CASTS = frozenset({"torch.Tensor.to", "torch.Tensor.float", "torch.Tensor.half", "torch.Tensor.contiguous"})
_UNPICKLES = ("torch.load", "pickle.load", "pickle.loads", "pickle.Unpickler.load", ".load_state_dict_from_url")
_KEEPS = ("builtins.list.append", "builtins.list.extend", "builtins.list.insert")
_MODEL = re.compile(r"(.*[._])?(model|net|network|module|backbone|encoder|decoder|forward|infer)")
"""Names of things that cannot be followed but are models by all appearance."""
_MAX_CASTS = 20
_NEAR = 20
"""Events within one message."""
_MAX_FLOW = 5_000
"""Calls that one draw is followed through; a deep network has some hundreds."""


def takers(program: Program, made: Event) -> Sequence[Event]:
    """The calls, and the like, that are handed what a call makes, as it is."""
    return program.once("takers", _takers).get(id(made.result), ()) if made.result is not None else ()


def _takers(program: Program) -> dict[int, list[Event]]:
    """By the ``id`` of a value, those that are handed it."""
    found: dict[int, list[Event]] = {}
    for event in program.events:
        for value in {id(value) for value in (event.receiver, *event.args, *event.kwargs.values())}:
            found.setdefault(value, []).append(event)
    return found


def takes_the_only_one(draw: Event) -> bool:
    """Whether a draw picks out of one thing, or puts one in order: ``random.choice([800])``.

    That is a constant: another item that is known alone may stand for all that a loop has added.
    """
    things = [leaf for value in draw.args[:1] for _, leaf in alternatives(value)] if _PICKS.fullmatch(draw.name) else []
    held = [one.items if isinstance(one, Seq) and one.items is not None else [] for one in things]
    return bool(held) and all(len(items) == 1 and isinstance(items[0], Const) for items in held)


def changes_nothing(program: Program, draw: Event) -> bool:
    """Whether all that is seen to take the numbers of a draw shows them, looks at their shape or is thrown away.

    Where nothing is seen to take them, they may go anywhere.
    """
    uses = program.once("uses-of-values", _uses)
    todo, seen = [draw], {id(draw)}
    while todo:
        event = todo.pop()
        taken = [one for one in uses.get(id(event), ()) if not _hands_on(one, event)]
        if not taken and not (event.discarded and _only_computes(event)):
            return False
        for one in taken:
            if _harmless(one) or _names(one, event) or id(one) in seen or _is_unread(program, one, event):
                continue
            if _is_followed(program, one):
                continue  # what the function does with it is seen
            if one.name.endswith(_FILLS) and _is_refilled(program, one):
                continue
            if one.name == _PRINTS and program.trains and _out_of_nothing(draw):
                continue
            if len(seen) > _MAX_FLOW or _may_keep(one):
                return False
            seen.add(id(one))
            todo.append(one)
    return True


def stands_in(program: Program, draw: Event) -> bool:
    """Whether a network is traced, exported or counted with the numbers of a draw, as they are or moved and cast."""
    uses = program.once("uses-of-values", _uses)
    todo, seen = [draw], {id(draw)}
    while todo:
        event = todo.pop()
        for one in uses.get(id(event), ()):
            method = one.name.startswith("torch.Tensor.")
            given = (*one.args[1:], *one.kwargs.values())  # (first comes the network)
            if not method and any(x.shapes for x in one.effects) and event in taint(given)[2]:
                return True
            if method and id(one) not in seen and len(seen) < _MAX_CASTS:
                seen.add(id(one))
                todo.append(one)
    return False


def decides_little(program: Program, draw: Event) -> bool:
    """Whether hardly anything hangs on the numbers of a draw: they stand in for inputs, are colours, or are joined to a
    text before all else (the name of a folder, say)."""
    taken = program.once("uses-of-values", _uses).get(id(draw), [])
    named = any(one.name == _JOINS for one in taken[:1])
    return named or only_paints(program, draw) or _begins(program, draw) or stands_in(program, draw)


def _begins(program: Program, draw: Event) -> bool:
    """Whether a draw gives a parameter or a buffer its first values, where nothing is trained and weights are read."""
    if program.trains or not any(e.name.endswith(_UNPICKLES) and not e.detached for e in program.events):
        return False
    uses = program.once("uses-of-values", _uses)
    todo = [draw]
    for event in todo:
        taken = (*uses.get(id(event), ()), *takers(program, event))
        if any(one.name == _PARAMETER or one.name.endswith(_BUFFER) for one in taken):
            return True
        todo += [one for one in taken if one.name in _CASTS and one not in todo][: _MAX_CASTS - len(todo)]
    return False


def only_paints(program: Program, draw: Event) -> bool:
    """Whether colours are drawn in a program that trains nothing with what it paints."""
    return draw.colours and not program.trains


def in_message(program: Program, part: Event) -> bool:
    """Whether something is asked within a call that logs it, or that makes the message of an error."""
    inner = part.location
    for event in program.events[part.index + 1 : part.index + _NEAR]:
        at = event.location
        around = (at.line, at.column) < inner[1:3] and inner[3:5] < (at.end_line, at.end_column)
        if event.kind == "call" and at.path == inner.path and around and event.stack == part.stack:
            if _SHOWN.fullmatch(event.name) or _ERROR.fullmatch(event.name):
                return True
            if not _TEXT.fullmatch(event.name):
                return False
    return False


def _harmless(event: Event) -> bool:
    if event.kind == "env":
        return event.name in _ADDRESS
    calm = event.name == _WAITS or _SHOWN.fullmatch(event.name) or _MEETS.fullmatch(event.name)
    return bool(calm) or any(effect.shapes for effect in event.effects)


def _is_followed(program: Program, starts: Event) -> bool:
    """Whether a call only starts processes or threads whose function is followed: something is seen in it."""
    handed = (one for effect in starts.effects for one in effect.invokes)
    if not any(one.context in _WORKERS and one.argument.keyword in _FUNCTIONS for one in handed):
        return False
    return any(starts.location in event.stack for event in program.events[starts.index + 1 :])


def _is_unread(program: Program, event: Event, source: Event) -> bool:
    """Whether a call defines a flag, with what ``source`` made as its default, that no code of the program reads."""
    story = program.story
    if not event.name.endswith(_DEFINES) or story.flags_escape or not story.parsed:
        return False
    defined = [name for name, flag in story.flags.items() if flag.location == event.location]
    given = [value for name, value in event.kwargs.items() if name == "default"]
    return bool(defined) and source in taint(given)[2] and not any(name in story.read_flags for name in defined)


def _is_refilled(program: Program, fills: Event) -> bool:
    """Whether weights that a layer of Keras is given are replaced by those of a file, each of them and in any case."""
    for load in program.calls(_LOADS):
        whole = len(load.args) == 1 and not load.kwargs and not load.detached and not load.tried
        if load.index > fills.index and whole and all(cond in fills.guards for cond in load.guards):
            return not any(e.index < load.index and not e.detached for e in program.trains)
    return False


def _out_of_nothing(draw: Event) -> bool:
    """Whether a draw is of plain numbers, by constants alone: ``random.randint(1, 100)``, no text of a model."""
    given = (*draw.args, *draw.kwargs.values())
    return draw.name.startswith(_PLAIN) and all(isinstance(value, Const) for value in given)


def _names(event: Event, source: Event) -> bool:
    """Whether a call of TensorFlow only names its ops by what ``source`` made: nothing is computed of names."""
    if not event.name.startswith("tensorflow."):
        return False
    words = [event.kwargs.get("name"), *(event.args[:1] if event.name == _SCOPE else ())]
    rest = [event.receiver, *event.args[event.name == _SCOPE :], *(v for k, v in event.kwargs.items() if k != "name")]
    named, others = (taint(one for one in values if one is not None)[2] for values in (words, rest))
    return source in named and source not in others


def _hands_on(event: Event, source: Event) -> bool:
    """Whether a call only makes something of what ``source`` made that still counts as coming from there.

    So does a list that it is put into: what is done with the list is seen. And so do parsed arguments.
    """
    if event.kind == "set" and event.name.startswith(_ARGUMENTS):
        return True
    if event.name in _KEEPS and isinstance(event.receiver, Seq):
        return source in taint([event.receiver])[2]
    return event.result is not None and source in taint([event.result])[2] and _only_computes(event)


def _only_computes(event: Event) -> bool:
    if _may_keep(event):
        return False
    return event.kind == "unresolved" or any(names.fullmatch(event.name) for names in (_COMPUTES, _OWN))


def _may_keep(event: Event) -> bool:
    """Whether a call may do something with what it is given beyond its result: it trains, or is not known."""
    if event.kind == "unresolved" and not _MODEL.fullmatch(event.name):
        return not (event.inside(NO_GRAD) and (event.name == "?" or event.name.isidentifier()))
    return event.kind in ("set", "compare") or any(effect.trains or effect.seeds for effect in event.effects)


def _uses(program: Program) -> dict[int, list[Event]]:
    """The calls that are handed something made by a call, by the call that made it."""
    found: dict[int, list[Event]] = {}
    for event in program.events:
        if event.kind not in ("call", "unresolved", "sink", "set", "compare", "env"):
            continue
        handed = (*event.args, *event.kwargs.values(), *((event.receiver,) if event.receiver is not None else ()))
        if event.result is not None and event.result is event.receiver:
            continue  # `.cuda()` hands the same thing on
        inside = [value for one in handed if isinstance(one, Dict) for value in one.items.values()]
        for source in taint((*handed, *inside))[2]:
            if source is not event:
                found.setdefault(id(source), []).append(event)
    return found
