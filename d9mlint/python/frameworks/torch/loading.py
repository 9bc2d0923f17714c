"""What the random numbers inside a data loader depend on: worker processes seed themselves.

Each worker seeds Python's and PyTorch's generators with ``base_seed + worker_id``, from PyTorch 1.9 on NumPy's too;
``base_seed`` is drawn from the loader's ``generator``, else from PyTorch's global one. Before 1.9 each worker starts
with a copy of the NumPy state of the main process (torch/utils/data/_utils/worker.py, torch/utils/data/dataloader.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import CALLABLE, Bound, Const, Func, Partial, Value, alternatives
from d9mlint.python.frameworks.torch.loaders import CONTEXTS, INIT, LOADER, WORKER
from d9mlint.python.interpreter.program import Program, is_none

GENERATOR = Argument(12, "generator")
DERIVED = "torch-seed"
"""The origin of ``torch.initial_seed()``, which in a worker comes from ``base_seed``."""
STATE = "numpy-state"
"""The origin of ``np.random.get_state()``, which in a worker is what its state was made from.

From PyTorch 1.9 on that is an array (``_generate_state`` in worker.py), of which the first word, as in the idiom
``get_state()[1][0] + worker_id``, tells nothing: it is 0x80000000 whatever the array is (``init_by_array`` of MT19937).
"""


@dataclass(frozen=True, slots=True)
class Source:
    """The ``generator`` that decides the numbers of a draw, and when; ``other`` does, should there be workers."""

    generator: str
    cond: Cond = True
    worker: bool = False
    """It decides through the seeds that worker processes get."""
    other: str = ""


@dataclass(frozen=True, slots=True)
class LocalSeed:
    """A call that seeds inside a loader, in its workers or in the main process."""

    event: Event
    generators: tuple[str, ...]
    value: Value | None


def context(event: Event) -> str:
    """Where in a loader an event happens; empty for the rest of the program."""
    if event.loader is None:
        return ""
    return next((c for c in reversed(event.contexts) if c in CONTEXTS), "")


def seeds_numpy(program: Program) -> bool:
    """Whether workers seed NumPy by themselves."""
    return program.target.fits("torch", ">=1.9")


def source(program: Program, event: Event, generator: str) -> Source | None:
    """What decides the numbers of a draw; None where the loader's own seeds do, or something that is not known."""
    where = context(event)
    loader = event.loader
    if not where or loader is None:
        return Source(generator)
    seed = local_seed(program, event, generator)
    if seed is not None and STATE in taint([seed.value])[0] and not seeds_numpy(program):
        seed = None
    free: Cond = True
    if seed is not None and DERIVED not in taint([seed.value])[0]:
        free = negate(both(*(cond for cond in seed.event.guards if cond not in event.guards)))
        if free is False or not is_symbolic(free):
            return None
        seed = None
    if where == LOADER:
        return Source(generator, free)
    if seed is None and not init_known(loader):
        return None
    if generator not in ("python", "numpy", "torch") or (generator == "numpy" and not _derived(program, seed)):
        return Source(generator, free)
    given = loader.argument(GENERATOR)
    cond = both(free, True if given is None else is_none(given))
    if where == WORKER:
        return Source("torch", cond, worker=generator != "torch")
    return Source(generator, cond, other="torch")


def _derived(program: Program, seed: LocalSeed | None) -> bool:
    return seed is not None or seeds_numpy(program)


def init_known(loader: Event) -> bool:
    """Whether a loader has no ``worker_init_fn``, or one that could be followed."""
    leaves = [leaf for _, leaf in alternatives(loader.argument(INIT))]
    return all(isinstance(v, CALLABLE) or (isinstance(v, Const) and v.value is None) for v in leaves)


def init_functions(loader: Event) -> list[Func]:
    """The functions of the program that may be a loader's ``worker_init_fn``."""
    found = []
    for _, leaf in alternatives(loader.argument(INIT)):
        func = leaf
        while isinstance(func, (Partial, Bound)):
            func = func.func
        if isinstance(func, Func):
            found.append(func)
    return found


def local_seed(program: Program, draw: Event, generator: str) -> LocalSeed | None:
    """The last call in the same loader that seeds ``generator`` before a draw."""
    seeds = program.once("loader-seeds", _local_seeds).get(id(draw.loader), [])
    found = [
        s
        for s in seeds
        if generator in s.generators and s.event.index < draw.index and context(s.event) == context(draw)
    ]
    return found[-1] if found else None


def _local_seeds(program: Program) -> dict[int, list[LocalSeed]]:
    """All calls that seed inside a loader, by the loader."""
    found: dict[int, list[LocalSeed]] = {}
    for event in program.events:
        if event.loader is not None and context(event):
            for effect in event.effects:
                if effect.seeds:
                    value = event.argument(effect.seed_argument) if effect.seed_argument else None
                    found.setdefault(id(event.loader), []).append(LocalSeed(event, effect.seeds, value))
    return found
