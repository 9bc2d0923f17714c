"""Modules that only try out what they define: under a main guard they build, run and assert, and keep nothing.

What such a program draws, and what varies in it, changes no result: nothing is written, printed, sent or trained on.
Of one that prints or shows what it computes, of nothing but its draws, all is told for information only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.python.domain.events import Event, Story
from d9mlint.python.domain.taint import ABOUT
from d9mlint.python.domain.values import Class, Const, Inst, Ref, Text, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.modules.containers import MODULES
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.sizes import only_sizes, sizes

_COMPUTING = frozenset(
    {
        *("torch", "torchvision", "torchaudio", "einops", "einx", "numpy", "jax", "flax", "tensorflow", "keras"),
        *("builtins", "math", "functools", "itertools", "collections", "typing", "dataclasses", "copy"),
        *("contextlib", "enum", "abc", "random", "packaging", "inspect", "warnings", "types", "importlib", "?"),
        *("operator", "queue", "scipy", "gym", "gymnasium", "qpth"),
    }
)
"""Packages whose functions give a result and do nothing else, but for what `_OUTLET` names."""
_OUTLET = re.compile(
    r"(.*\.)?((im)?save(?!_for_backward)\w*|(im)?write\w*|render|play|Record\w*|Monitor|dump\w*|tofile|export\w*|to_(csv|json|pickle)|log_\w+|add_(scalar|image|text)\w*|"
    r"(optimizer_)?step|fit\w*|train\w*|update\w*|minimize|apply_\w+|run|evaluate|predict\w*|generate|show|plot|"
    r"barrier|all_reduce|send|put|set_result)|torch\.(distributed|multiprocessing|onnx)\..*|builtins\.(open|input|exec|eval)"
)
"""What lets something out of the program, or changes what it goes on with."""
_WEIGHTS = (".state_dict().update", "torch.load().update", ".load_url().update", ".load_state_dict_from_url().update")
"""Weights that are put into a table of weights, before they are loaded."""
_NETWORKS = frozenset(
    {
        *MODULES,
        *("keras.Model", "keras.Sequential", "keras.layers.Layer", "flax.linen.Module", "tensorflow.Module"),
    }
)
_ENVIRONMENTS, _ACTS = ("gym.", "gymnasium."), ".step"
"""Environments, and the method by which one acts in them: nothing comes of it but its result."""
_PRINTS = "builtins.print"
_PATHS = ("os.path.", "os.getcwd", "sys.path.")
"""Beginnings of the names of what only says, or adds, where files are."""
_CLOCKS, _TIMES = ("time.time", "time.perf_counter", "time.monotonic"), frozenset({"clock", "int", "float"})
_EVAL = "builtins.eval"
_TEXTS = frozenset({"__repr__", "__str__"})
"""Methods of a program's own that say what is printed of an object."""


_TEST = re.compile(r"(.*/)?(tests?|tests?_\w+|\w+_tests?)\.py")
"""Files that are tests by their names."""
_SHOWS = ("matplotlib.", "seaborn.")
"""Beginnings of the names of what draws a picture, which nobody may keep."""


def keeps_nothing(program: Program) -> bool:
    """Whether an entry that defines classes only computes with them, and looks at shapes and times."""
    return program.once("keeps-nothing", _keeps_nothing)


def _keeps_nothing(program: Program) -> bool:
    story = program.story
    if story.local or story.truncated or not any(_classes(story)):
        return False
    done = [e for e in program.events if not e.detached and e.kind in ("call", "unresolved", "env")]
    known = sizes(program)
    out = (e for e in done if _lets_out(e, known))
    return any(e.main_only for e in done) and all(e.name == _PRINTS and only_sizes(program, e) for e in out)


def only_shows(program: Program, imported: bool) -> bool:
    """Whether a test, or a module that others import as well, prints and shows what it computes of its draws alone.

    Nothing goes in, no file and no argument, and nothing is trained or written.
    """
    story = program.story
    tries = imported or _TEST.fullmatch(story.entry) is not None
    if not tries or story.local or story.truncated or story.flags:
        return False
    done = [e for e in program.events if not e.detached and e.kind in ("call", "unresolved", "env")]
    known = sizes(program)
    return any(e.main_only for e in done) and all(_is_seen_only(e) for e in done if _lets_out(e, known))


def _is_seen_only(event: Event) -> bool:
    """Whether what a call lets out is only there to be seen."""
    if event.name.startswith(_SHOWS):
        return ".save" not in event.name
    return event.name == _PRINTS and "file" not in event.kwargs


def defines_networks(story: Story, *, anywhere: bool = False) -> bool:
    """Whether a class of the entry, or of any file of the program, is a network."""
    return any(_NETWORKS.intersection(one.external()) for one in _classes(story, anywhere=anywhere))


def _classes(story: Story, *, anywhere: bool = False) -> Iterator[Class]:
    """The classes that the entry, or any file of the program, knows by a name of its own."""
    frames = (module.frame for module in story.modules if anywhere or module.path == story.entry)
    return (one for frame in frames if frame is not None for one in frame.vars.values() if isinstance(one, Class))


def _lets_out(event: Event, known: frozenset[int]) -> bool:
    """Whether something leaves by a call; ``known`` are the ``id`` of what says how large something is."""
    if event.name == _PRINTS:
        printed = (leaf for one in (*event.args, *event.kwargs.values()) for _, leaf in alternatives(one))
        return not all(_tells_no_numbers(leaf, known) for leaf in printed)
    if event.kind == "env" or event.name.startswith(_PATHS) or event.name.endswith(_WEIGHTS):
        return False
    if event.name == _EVAL and all(isinstance(one, (Ref, Class)) for one in event.args):
        return False  # (`eval(m) if isinstance(m, str) else m` of what is no text)
    if event.name in _CLOCKS:
        return False
    if event.kind == "unresolved":  # an item of a list of layers, mostly; a method has a name that says what it does
        return not event.name.isidentifier() and event.name != "?"
    acts = event.name.startswith(_ENVIRONMENTS) and event.name.endswith(_ACTS)
    if any(effect.writes or effect.opens for effect in event.effects) or (_OUTLET.fullmatch(event.name) and not acts):
        return True
    # What modules do as they are imported comes before the entry draws, whatever is registered there.
    return not event.importing and event.name.partition(".")[0] not in _COMPUTING


def _tells_no_numbers(printed: Value, known: frozenset[int]) -> bool:
    """Whether what is printed is a text, a size, a network (its layers), or says what kind of array something is."""
    if id(printed) in known:
        return True
    if isinstance(printed, Text):
        return all(_tells_no_numbers(leaf, known) for part in printed.parts for _, leaf in alternatives(part))
    if isinstance(printed, Inst):
        own = {name for one in printed.cls.line() for name in one.frame.vars}
        return bool(_NETWORKS.intersection(printed.cls.external())) and own.isdisjoint(_TEXTS)
    if isinstance(printed, Unknown) and printed.origins and printed.origins <= _TIMES:
        return True  # how long it has taken, or which turn of a loop it is
    return isinstance(printed, Const) or (isinstance(printed, Ref) and printed.name.rpartition(".")[2] in ABOUT)
