"""Draws of Python and NumPy that a tracing compiler (``tf.function``, ``jax.jit``) turns into a constant."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow.pipelines import draws_on_host
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.seedings import seedings

_PYTHON = ("py_function", "tfdata", "tfdata-parallel", "generator", "thread", "process")
"""Contexts that run as Python, or that another rule speaks of."""
_BUILDS = ("keras.layers.", "keras.initializers.", "keras.applications.", "keras.models.")
"""A layer that is made while tracing draws its weights once in any case (Keras 3 takes their seeds from ``random``)."""
_AROUND = {
    "traced": ("once, while the `tf.function` around it is traced", "each later call uses the same number"),
    "jax-jit": ("once, while JAX traces the compiled function around it", "each later call uses the same number"),
    "jax-scan": ("once, while JAX traces the loop around it", "all its iterations use the same number"),
    "jax-vmap": (
        "once, while JAX traces the mapped function around it",
        "all examples of the batch get the same number",
    ),
}
"""What traces, and what that means for a number drawn inside; the first that fits is told."""
_KERAS = "Keras raises ValueError there for draws without a seed"
_KERAS_REMEDY = "make a `keras.random.SeedGenerator(1)` outside and pass it as `seed=`"
"""keras 3.15.1: src/random/seed_generator.py, global_seed_generator."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each draw inside a traced function."""
    function = program.target.fits("tensorflow", ">=2.0")
    for event in program.events:
        if event.inside("traced") and not function:
            continue
        if event.kind != "call" or not event.inside(*_AROUND) or event.inside(*_PYTHON):
            continue
        if draws_on_host(event) and not event.name.startswith(_BUILDS) and not _is_meant(program, event):
            tracing, effect = next(words for context, words in _AROUND.items() if event.inside(context))
            remedy = "" if event.inside("traced") else rule.remedy(program.target, ("jax",))
            if remedy and event.name.startswith("keras.random."):
                tracing, effect, remedy = tracing.removeprefix("once, "), _KERAS, _KERAS_REMEDY
            yield draft(program, rule, event, name=event.raw, tracing=tracing, effect=effect, remedy=remedy)


def _is_meant(program: Program, draw: Event) -> bool:
    """Whether a seed is set within what is traced: a pattern that is drawn once, the same in each run."""
    drawn = {generator for effect in draw.effects for generator in effect.draws}
    within = (s for s in seedings(program) if s.event.inside(*_AROUND) and s.event.index < draw.index < s.until)
    return any(drawn and drawn <= set(seed.generators) and seed.event.meets(draw) for seed in within)
