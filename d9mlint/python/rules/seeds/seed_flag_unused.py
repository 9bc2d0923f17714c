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
    severity = "info" if seeded or not _draws(program) else ""  # runs agree then, whatever seed is asked for
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


def _draws(program: Program) -> bool:
    """Whether something draws, as far as is seen, or may out of sight: in a training, or a generator that is made."""
    made = any(effect.creates for event in program.effective if not event.detached for effect in event.effects)
    return made or bool(program.trains) or any(not one.event.detached for one in draws(program))


_COUNTS = ("num", "n_", "number")
"""How the name of a number of seeds begins."""
_SEEDS = {
    "python": ("random", "random.seed"), "numpy": ("numpy", "np.random.seed"), "torch": ("torch", "torch.manual_seed"),
    "paddle": ("paddle", "paddle.seed"), "jax": ("jax", "jax.random.PRNGKey"),
}  # fmt: skip
"""By generator the package to import, and what seeds it."""
_OF_TENSORFLOW = (
    (">=2.7", "tf.keras.utils.set_random_seed"), (">=2.0", "tf.random.set_seed"), ("", "tf.set_random_seed"),
)  # fmt: skip
_ALL_THREE = ("python", "numpy", "tensorflow")
"""What the first of these seeds."""


def _remedy(program: Program, name: str) -> str:
    """The calls that seed what the program draws from; as far as nothing is seen to, what it imports."""
    imported = [one for one, (package, _) in _SEEDS.items() if program.imports(package)]
    imported += ["tensorflow"] * uses_tensorflow(program)
    drawn = {draw.generator for draw in draws(program)} | {"jax"}
    used = [one for one in imported if one in drawn]
    if uses_tensorflow(program) and "python" in drawn and "python" not in used:
        used.append("tensorflow")  # (layers of Keras take their seeds from Python's generator)
    used = used or imported
    calls = {one: _SEEDS[one][1] for one in used if one in _SEEDS}
    if "tensorflow" in used:
        fits = program.target.fits
        version, seeds = next(found for found in _OF_TENSORFLOW if not found[0] or fits("tensorflow", found[0]))
        covered = _ALL_THREE if version == _OF_TENSORFLOW[0][0] else ()
        calls = {one: call for one, call in calls.items() if one not in covered} | {"tensorflow": seeds}
    return f"pass it on: {', '.join(f'`{call}(args.{name})`' for call in calls.values())}" if calls else ""
