"""Interprets a program: its entry, then what is in functions that nobody was seen to call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeGuard

from d9mlint.model import Target
from d9mlint.python.domain.conditions import cut_points, forget
from d9mlint.python.domain.events import Frame, Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import Class, Func, Inst, Module, Value
from d9mlint.python.interpreter import callbacks, calls, linking
from d9mlint.python.interpreter.extent import coverage, mentions
from d9mlint.python.interpreter.hooks import Framework
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.arguments import commands
from d9mlint.python.interpreter.reuse.sharing import Shared
from d9mlint.python.project.files import Project
from d9mlint.python.source import facts as f
from d9mlint.python.source.notebooks import cells
from d9mlint.python.source.reading import NOTEBOOK, CannotRead

RECURSION = 12_000
"""Stack frames that the interpreter may use; its own bounds (`bounds`, `lowering.MAX_DEPTH`) end well below."""


def run(
    project: Project, entry: str, roots: Sequence[str], knowledge: Knowledge, target: Target,
    frameworks: Sequence[Framework], argv: Sequence[str] | None = None, *, local: bool = False,
    elsewhere: frozenset[str] = frozenset(), shared: Shared | None = None, seconds: float | None = None,
    starts: Sequence[str] = (),
) -> Story:  # fmt: skip
    """The story of one entry, then (marked as detached) what is in functions that nobody was seen to call.

    At most ``seconds`` of CPU time where they are given. Of the files in ``elsewhere`` only functions that may seed or
    switch something: it matters that they are not called. ``starts`` are functions of the entry that console scripts
    call.
    """
    if sys.getrecursionlimit() < RECURSION:
        sys.setrecursionlimit(RECURSION)
    forget()
    project.facts(entry)  # raises CannotRead for the entry; other files are reported in the story
    story = Story(entry, local=local)
    if entry.endswith(NOTEBOOK):
        story.cells = cells((project.data(entry) or b"").decode("utf-8", "replace"))
    interpreter = Interpreter(project, roots, knowledge, target, story, frameworks, argv, shared, seconds)
    story.release = interpreter.release
    linking.launch(interpreter, target)
    commands.scripts(interpreter, linking.load_entry(interpreter, entry), starts)
    callbacks.run_handlers(interpreter)
    for finish in interpreter.hooks.finish:
        finish(interpreter)
    story.coverage = coverage.measure(interpreter)
    _interpret_detached(interpreter, elsewhere)
    story.coverage = story.coverage._replace(coarse=cut_points())
    story.cuts = interpreter.bounds.reasons()
    # A script without a main guard looks like a module until it is seen to train by itself.
    story.read_flags = frozenset(interpreter.all_noted("read-flag"))
    story.parsed = interpreter.noted("parsed") is not None
    story.flags_escape = interpreter.noted("flags-escape") is not None
    story.flags = {flag.name: flag for flag in interpreter.all_noted("flag")}
    story.local = local and not any(e.certain and e.trains for e in story.events)
    return story


def _interpret_detached(interp: Interpreter, elsewhere: frozenset[str]) -> None:
    interp.detached = True
    possible = None if interp.story.local else _mentioned(interp)
    for module in list(interp.story.modules):
        if module.frame is not None:
            others = module.path in elsewhere or (interp.story.local and module.path != interp.story.entry)
            wanted = _switching(interp, module) if others else None
            for value in list(module.frame.vars.values()):
                _detached_value(interp, value, module, wanted, possible)


def _switching(interp: Interpreter, module: Module) -> frozenset[str]:
    """Words with which a function of a module may seed or switch something."""
    facts = interp.project.facts(module.path)
    words = frozenset[str]() if facts is None else interp.project.words(facts)
    return interp.knowledge.switching(words) | interp.hooks.variables | {"PYTHONHASHSEED"}


def _mentioned(interp: Interpreter) -> Callable[[object], bool] | None:
    """A test for functions that nobody was seen to call but that the program mentions; None where any may be found."""

    def body(path: str) -> tuple[f.Stmt, ...]:
        try:
            facts = interp.project.facts(path)
        except CannotRead:
            return ()
        return facts.body if facts is not None else ()

    story = interp.story
    return mentions.mentioned(
        story.modules,
        body,
        lambda node: id(node) in interp.entered,
        story.events,
        interp.project.words,
        _only_wrapped(interp),
    )


def _only_wrapped(interp: Interpreter) -> frozenset[int]:
    """The ``id`` of functions whose decorators say how they run, and keep them nowhere (``@tf.function``)."""
    frames = [module.frame for module in interp.story.modules if module.frame is not None]
    decorated = [one for frame in frames for one in frame.vars.values() if isinstance(one, Func) and one.decorators]
    return frozenset(id(func.node) for func in decorated if _is_only_wrapped(interp, func))


def _is_only_wrapped(interp: Interpreter, func: Func) -> bool:
    """Whether each decorator of a function is one that says in which context it runs."""

    def contexts(decorators: Sequence[tuple[Value, str]]) -> set[str]:
        return {context for inside in interp.hooks.contexts for context in inside(interp, func, decorators)}

    plain = contexts(())
    return all(contexts(((one, calls.decorator_name(interp, one)),)) - plain for one in func.decorators)


def _detached_value(
    interp: Interpreter, value: object, module: Module, words: frozenset[str] | None,
    possible: Callable[[object], bool] | None,
) -> None:  # fmt: skip
    """Tells a function or the methods of a class; with ``words`` only where one of them occurs."""
    frame = module.frame
    if frame is None:
        return

    def pends(func: object) -> TypeGuard[Func]:
        if not isinstance(func, Func) or id(func.node) in interp.entered:
            return False
        return words is None or not words.isdisjoint(interp.project.words(func.node))

    if isinstance(value, Func) and value.closure.module is module:
        if pends(value):
            interp.unreached = possible is not None and not possible(value.node)
            _run_detached(interp, value, [], frame)
    elif isinstance(value, Class) and value.frame.module is module and not _is_test(value):
        pending = [m for m in value.frame.vars.values() if pends(m)]
        if not pending:
            return
        instance = Inst(value, ())
        pending.sort(key=lambda method: method.name != "__init__")  # methods read what the constructor sets
        for method in pending:
            interp.unreached = possible is not None and not possible(method.node)
            _run_detached(interp, method, [instance], frame)


def _is_test(cls: Class) -> bool:
    """Whether a class holds unit tests: what they do is no part of a training run."""
    return any(name.endswith("TestCase") for name in cls.external())


def _run_detached(interp: Interpreter, func: Func, args: list[Inst], frame: Frame) -> None:
    if id(func.node) in interp.entered:  # by a method told just before
        return
    place = func.node.place if isinstance(func.node, (f.Def, f.Lambda)) else f.NOWHERE
    calls.enter(interp, func, list(args), {}, frame, place, star=True)
