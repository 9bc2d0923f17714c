"""obsolete-determinism-package: a helper package that this version of TensorFlow has outgrown."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.frameworks.tensorflow.determinism import PATCHES, SHELLS, patchable
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Calls of the patch where it raises, and of a package that holds no code."""
    version = program.target.version("tensorflow") or ""
    image = program.target.version("ngc")
    where = f"inside NVIDIA's container {image}" if image else f"on TensorFlow {version}"
    for event in () if patchable(program) else program.calls(*PATCHES):
        yield draft(program, rule, event, name=event.raw, effect=f"raises TypeError {where}, for which it has no patch")
    for event in program.calls(*SHELLS):
        yield draft(program, rule, event, name=event.raw, effect="comes from a package that holds no code any more")
