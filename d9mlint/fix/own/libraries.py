"""Seeds and switches as the library that a script trains with has them: one call for all generators and for workers.

Sources: lightning/fabric/utilities/seed.py (``workers`` since 1.3), transformers/trainer_utils.py and
accelerate/utils/random.py (``set_seed``): all seed Python's, NumPy's and PyTorch's generators;
transformers/training_args.py (``full_determinism`` since 4.20). Trainers of Lightning are told by the finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import libcst as cst

from d9mlint.fix import names
from d9mlint.fix.arguments import appended
from d9mlint.fix.tree import Tree, tree
from d9mlint.model import Edit, Target

_LIGHTNING = ("lightning.pytorch", "pytorch_lightning", "lightning")
_TRAINERS = ("Trainer", "TrainingArguments", "Seq2SeqTrainer", "Seq2SeqTrainingArguments")
_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
_FULL = "full_determinism"
_SWITCHES = ("torch.use_deterministic_algorithms(True)", "torch.set_deterministic(True)")
_COVERED = ("random.seed(1)", "np.random.seed(1)", "torch.manual_seed(1)")


class Told(NamedTuple):
    """Statements, and the imports that they need besides those of packages that remedies name."""

    statements: tuple[str, ...]
    imports: tuple[str, ...] = ()


def told(statements: Sequence[str], source: bytes, target: Target | None) -> Told | None:
    """The same statements with one seed of the script's library in the place of others; None where it has none."""
    of = tree(source)
    covered = [one for one in statements if one in _COVERED]
    found = _seed(of, target) if of is not None and covered else None
    if found is None:
        return None
    call, imported = found
    seeds = [call if one == covered[0] else one for one in statements if one not in covered[1:]]
    return Told(tuple(seeds), imported)


def switched(path: str, statements: Sequence[str], source: bytes, target: Target | None) -> list[Edit]:
    """The edits that turn deterministic algorithms on where a trainer's arguments are made; none where none are."""
    of = tree(source)
    if of is None or not any(one in _SWITCHES for one in statements):
        return []
    if target is not None and target.fits("transformers", "<4.20"):
        return []
    bound = names.bound(of.module.body)
    made = [call for call in of.calls.values() if _dotted(of, call, bound) in _ARGUMENTS]
    if any(arg.star or (arg.keyword and arg.keyword.value == _FULL) for call in made for arg in call.args):
        return []
    return [appended(path, of, call, [f"{_FULL}=True"]) for call in made]


def _dotted(of: Tree, call: cst.Call, bound: Mapping[str, str]) -> str:
    root, _, rest = of.code(call.func).partition(".")
    return ".".join(filter(None, (bound.get(root, ""), rest)))


def _seed(of: Tree, target: Target | None) -> tuple[str, tuple[str, ...]] | None:
    """The call, as the script would say it, and the import that it needs."""
    bound = names.bound(of.module.body)
    package = next((one for one in _LIGHTNING if _uses(bound, one)), "")
    if package:
        workers = "" if target is not None and target.fits("lightning", "<1.3") else ", workers=True"
        return _said(of, bound, package, "seed_everything", f"(1{workers})")
    if any(_uses(bound, f"transformers.{one}") for one in _TRAINERS):
        return _said(of, bound, "transformers", "set_seed", "(1)")
    if _uses(bound, "accelerate.Accelerator"):
        return _said(of, bound, "accelerate.utils", "set_seed", "(1)")
    return None


def _uses(bound: Mapping[str, str], name: str) -> bool:
    return any(dotted == name or dotted.startswith(f"{name}.") for dotted in bound.values())


def _said(
    of: Tree, bound: Mapping[str, str], package: str, function: str, arguments: str
) -> tuple[str, tuple[str, ...]] | None:
    module = next((local for local, dotted in bound.items() if dotted == package), "")
    if module:
        return f"{module}.{function}{arguments}", ()
    taken = {one.node.name.value for one in of.statements if isinstance(one.node, (cst.FunctionDef, cst.ClassDef))}
    if function in taken or bound.get(function, f"{package}.{function}") != f"{package}.{function}":
        return None
    return f"{function}{arguments}", () if function in bound else (f"from {package} import {function}",)
