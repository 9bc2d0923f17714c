"""Seed flags that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.frameworks.used import uses_tensorflow
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import draws
from d9mlint.python.judging.seedings import seedings


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the flag's definition."""
    story = program.story
    if story.local or story.truncated or story.flags_escape or not story.parsed:
        return
    # A parser in a function that this program never calls belongs to another program.
    idle = {e.location for e in story.events if e.detached}
    seeded = any(one.fixes is not False and not one.event.detached for one in seedings(program))
    severity = "info" if seeded else ""  # runs agree then, whatever seed is asked for
    for name, flag in sorted(story.flags.items()):
        if (
            name.endswith("seed")
            and not name.startswith(_COUNTS)
            and name not in story.read_flags
            and flag.location not in idle
        ):
            yield draft(
                program, rule, flag.location, severity=severity, flag=flag.spelled, remedy=_remedy(program, name)
            )


_COUNTS = ("num", "n_", "number")
"""How the name of a number of seeds begins."""
_GENERATORS = {
    "random": "random.seed", "numpy": "np.random.seed", "torch": "torch.manual_seed", "jax": "jax.random.PRNGKey",
}  # fmt: skip


def _remedy(program: Program, name: str) -> str:
    """What fits the imports; the rule's own words where TensorFlow is one of them."""
    used = {draw.generator for draw in draws(program)} | ({"jax"} if program.imports("jax") else set())
    packages = [package for package in _GENERATORS if program.imports(package)]
    packages = [package for package in packages if package in used] or packages
    calls = [f"`{_GENERATORS[package]}(args.{name})`" for package in packages]
    if uses_tensorflow(program) or not calls:
        return ""
    return f"pass it on: {', '.join(calls)}"
