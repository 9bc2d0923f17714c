"""Tells the story of a program: runs the facts on symbolic values, in order, following the program's own calls.

This module holds the state; ``statements`` and ``expressions`` interpret, ``calls`` enters functions, ``library`` knows
the calls of Python's own whose result matters (``os.environ``, ``argparse`` ...).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location, Target
from d9mlint.python.domain.choices import overwrite
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate
from d9mlint.python.domain.events import Event, Frame, Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.tellable import is_setting
from d9mlint.python.domain.values import (
    STAR,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Module,
    Obj,
    Phi,
    Record,
    Ref,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, expressions, linking, statements, subscripts
from d9mlint.python.interpreter.extent.bounds import Bounds
from d9mlint.python.interpreter.heap import Heap
from d9mlint.python.interpreter.hooks import Framework, Hooks
from d9mlint.python.interpreter.library import environment, functions
from d9mlint.python.interpreter.library.arguments.commandline import CommandLine
from d9mlint.python.interpreter.library.containers import mappings, sequences
from d9mlint.python.interpreter.managers import Opening
from d9mlint.python.interpreter.marks import turns
from d9mlint.python.interpreter.reuse.sharing import Linker, Shared
from d9mlint.python.interpreter.reuse.summaries import Summaries
from d9mlint.python.interpreter.scopes import OrderLoop
from d9mlint.python.interpreter.statements import STAYS, Left
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.project.files import Project


class Interpreter:
    """The state of one telling."""

    def __init__(
        self, project: Project, roots: Sequence[str], knowledge: Knowledge, target: Target, story: Story,
        frameworks: Sequence[Framework], argv: Sequence[str] | None = None, shared: Shared | None = None,
        seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self.roots = tuple(roots)
        self.knowledge = knowledge
        self.target = target
        self.story = story
        self.command_line = CommandLine(argv)
        self.hooks = Hooks(frameworks, {**functions.TRANSFER, **environment.TRANSFER})
        shared = shared or Shared()
        self.heap = Heap(shared.ranges)
        self.linker = Linker(self, shared)
        self.modules: dict[str, Module] = {}
        self.entered: set[int] = set()
        """The functions (by the ``id`` of their definition) that were seen to be called."""
        self.path = Path()
        self.stopped: Cond = False
        """When the functions that the current statement calls raise or exit."""
        self.contexts: list[str] = []
        self.stack: tuple[Location, ...] = ()
        """Where the calls stand that lead here, outermost first."""
        self.callers: tuple[Func | None, ...] = ()
        """The functions that those calls stand in."""
        self.running: set[object] = set()
        """What tells apart the calls that are being told, by function or by what they have in common with others."""
        self.importing = 0
        self.opening: Opening | None = None
        self.detached = False
        self.unreached = False
        self.deferred = 0
        self.environment = shared.environment
        """The variables that are set."""
        self.notes = shared.notes
        """What the interpreter and frameworks remember about things, by keys of their own."""
        self.order_loops: list[OrderLoop] = []
        self.loops: list[int] = []
        self.loops_seen = 0
        self.clock: Event | None = None
        """The call whose time the last comparison looked at."""
        self.by_clock = False
        """Whether a branch of the clock is run: what is called there counts although it was seen elsewhere before."""
        self.bounds = Bounds(story, seconds)
        self.summaries = Summaries()
        self.loader: Event | None = None
        """The call that made what is gone through here, a data loader, while what it runs is interpreted."""
        self.main_guards = 0
        self.trials = 0
        self.failures: list[str] = []
        """Imports that were seen to end the program, in words."""
        self._serials: dict[int, tuple[object, int]] = {}

    # -- state -----------------------------------------------------------------------------------------------------

    def assumed(self) -> tuple[Cond, ...]:
        """The conditions on the way here that are worth a mention."""
        return self.path.told

    def under(self, cond: Cond, action: Callable[[], Any]) -> Any:
        """Does ``action`` under one more condition; None when that condition cannot hold here."""
        known = self.path.truth(cond)
        if known is False:
            return None
        if known is True:
            return action()
        path, before = self.path, self.stopped
        self.stopped = False
        self.path = path.under(cond)
        try:
            return action()
        finally:
            self.path = path
            if self.stopped is not False or before is not False:
                self.stopped = either(before, both(cond, self.stopped))

    def since(self, born: tuple[Cond, ...]) -> Cond:
        """The conditions that came on top of those in ``born``; a program that stops asks for no value."""
        return self.path.since(born)

    def while_there(self, instance: Inst, action: Callable[[], Any]) -> Any:
        """Does ``action`` with an object of the program: under the conditions that it was made under."""
        made = both(*(cond for cond in instance.born if is_symbolic(cond) or is_setting(cond)))
        return self.under(made, action) if made is not True else action()

    def serial(self, thing: object) -> int:
        """A small number for the identity of an object, in order of first use."""
        found = self._serials.get(id(thing))
        if found is None or found[0] is not thing:
            found = (thing, len(self._serials))
            self._serials[id(thing)] = found
        return found[1]

    def resolve(self, value: Value) -> Value:
        """The value under the conditions that hold here."""
        if not isinstance(value, Phi):
            return value
        path = self.path
        if value.asked != path.number:
            value.asked = path.number
            left = [one for one in value.alternatives if path.truth(one[0]) is not False]
            value.left = None if len(left) == len(value.alternatives) else _of_several(left)
        return value if value.left is None else value.left

    def enter_loop(self, frame: Frame, place: f.Place, items: Sequence[Value] = ()) -> Callable[[], None]:
        """Begins a loop, whose variable takes ``items`` where they are known; the function returned ends it."""
        self.loops_seen += 1
        self.loops.append(self.loops_seen)
        frame.loops += 1
        at_end = [end for hook in self.hooks.around_loop if (end := hook(self, frame, place, items)) is not None]

        def leave() -> None:
            for end in at_end:
                end()
            self.loops.pop()
            frame.loops -= 1

        return leave

    # -- names -----------------------------------------------------------------------------------------------------

    def load(self, name: str, frame: Frame) -> Value:
        """The value of a bare name."""
        if name in frame.globals:
            return self.resolve(frame.globals[name].vars.get(name, UNKNOWN))
        current: Frame | None = frame
        inside: Func | None = None
        while current is not None:
            of_class = current.body_of_class and inside is not None and inside.closure is current
            if name in current.vars and not of_class:  # methods do not see the names in the body of their class
                if self.heap.activation is not None:
                    self.heap.read(current, name, current.vars[name])
                return self.resolve(current.vars[name])
            if (
                current.parent is None
                and STAR in current.vars
                and name[:1].isupper()
                and name not in self.knowledge.builtins
            ):
                star = current.vars[STAR]
                return Ref(f"{star.name}.{name}") if isinstance(star, Ref) else Unknown(name=name)
            inside, current = current.func, current.parent
        return Ref(f"builtins.{name}") if name in self.knowledge.builtins else Unknown(name=name)

    def store(self, name: str, value: Value, frame: Frame) -> None:
        """Binds a bare name, under the conditions that hold here."""
        home = frame.globals.get(name, frame)
        # Who reads a local variable is past the returns that lie before; a global one is read by others, too.
        cond = self.path.branched_since(frame.branches) if home is frame else self.since(home.born)
        if home is frame and frame.func is not None:
            home.vars[name] = overwrite(home.vars.get(name), cond, value)
        else:
            self.heap.set(home, name, cond, value)

    def assign(self, target: f.Expr, value: Value, frame: Frame, place: f.Place) -> None:
        """Binds any target."""
        if isinstance(target, f.Name):
            self.store(target.id, value, frame)
        elif isinstance(target, f.Items):
            for item, part in zip(target.items, sequences.unpack(self, value, len(target.items)), strict=True):
                self.assign(item, part, frame, place)
        elif isinstance(target, f.Opaque):
            for inner in target.parts:
                self.assign(inner, Unknown(*taint([value])), frame, place)
        elif isinstance(target, f.Attr):
            self._assign_attribute(target, value, frame, place)
        elif isinstance(target, f.Sub):
            self._assign_item(target, value, frame, place)

    def _assign_attribute(self, target: f.Attr, value: Value, frame: Frame, place: f.Place) -> None:
        for cond, holder in alternatives(expressions.evaluate(self, target.value, frame)):
            self.under(cond, partial(self.set_attribute, holder, target.name, value, frame, place))

    def set_attribute(self, holder: Value, name: str, value: Value, frame: Frame, place: f.Place) -> None:
        """``holder.name = value``."""
        if isinstance(holder, Inst):
            attributes.assign(self, holder, name, value, frame, place)
        elif isinstance(holder, Record):
            self.heap.put(holder, name, self.since(frame.born), value)
        elif isinstance(holder, (Module, Class)):
            if holder.frame is not None:
                self.store(name, value, holder.frame)
        elif isinstance(holder, (Obj, Ref)):
            if isinstance(holder, Obj):
                if holder.type == environment.NAMESPACE and name not in holder.attrs:
                    self.heap.set(holder, name, True, self.command_line.read(self, holder, name))
                self.heap.set(holder, name, self.since(holder.event.guards if holder.event else ()), value)
            base = holder.type if isinstance(holder, Obj) else holder.name
            if self.knowledge.canonical(base) == "absl.flags.FLAGS":
                self.command_line.assign_absl(self, name, value)
            self.event("set", f"{base}.{name}", frame, place, (value,), receiver=holder)
        elif isinstance(holder, Unknown):
            self.event("set", f"?.{name}", frame, place, (value,), receiver=holder)

    def _assign_item(self, target: f.Sub, value: Value, frame: Frame, place: f.Place) -> None:
        holder = expressions.evaluate(self, target.value, frame)
        if isinstance(held := sequences.contents(holder), Dict):
            holder = held
        index = subscripts.key(self, target, frame)
        if (owner := subscripts.owner(self, target, frame)) is not None and isinstance(index, Const):
            self.set_attribute(owner, str(index.value), value, frame, place)
            return
        if isinstance(holder, Ref) and holder.name == "os.environ":
            self.set_environment(index, value, frame, place)
        elif isinstance(holder, Dict):
            if isinstance(index, Const) and _hashable(index.value):
                self.heap.put(holder, index.value, self.since(frame.born), value)
            elif isinstance(index, Phi) and (each := mappings.by_keys(self, holder, index)):
                for cond, name, _ in each:
                    self.heap.put(holder, name, both(self.since(frame.born), cond), value)
            else:
                mappings.add(self, holder, index, value)
        elif isinstance(holder, Inst):
            subscripts.put(self, holder, index, value, frame, place)
        else:
            subscripts.note_index(self, holder, index, frame, place)
            subscripts.note_setting(self, target, holder, value)
            subscripts.note_assigned(self, target, holder, (index, value), frame, place)
            turns.fill(self, holder, index, value)
        if self.order_loops and turns.counts(index, value):
            order, sources = self.order_loops[-1].taint
            self.event("sink", "numbering", frame, place, (Unknown(order=order, sources=sources),))

    def set_environment(self, name: Value, value: Value, frame: Frame, place: f.Place) -> None:
        """``os.environ[name] = value``."""
        if isinstance(name, Const) and isinstance(name.value, str):
            self.heap.put(self.environment, name.value, self.since(()), value)
            self.event("env", name.value, frame, place, (value,))

    # -- events ----------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> Value | None:
        """What the program sets a variable of the environment to; None where it does not."""
        return self.heap.item(self.environment, name)

    def note(self, key: object, value: Any = True) -> None:
        """Remembers something under a key."""
        self.heap.note(self.notes, key, True, value)

    def noted(self, key: object) -> Any:
        """What is remembered under a key; None where nothing is."""
        return self.heap.noted(self.notes, key)

    def all_noted(self, kind: str) -> list[Any]:
        """What is remembered under keys that begin with a word, in order."""
        items = self.heap.all_noted(self.notes).items()
        return [value for key, value in items if isinstance(key, tuple) and key[0] == kind]

    def import_once(self, name: str, path: str) -> Module:
        """The module of a file, imported where it is not yet."""
        return linking.import_once(self, name, path)

    def release(self) -> None:
        """Ends the entry: what it changed of modules that others share becomes what it was."""
        self.heap.restore()
        for event in self.story.events:
            if not event.importing:  # what refers to itself would stay
                event.result, event.args, event.kwargs, event.receiver = None, (), {}, None
                event.func, event.callers = None, ()
        self.story.events.clear()
        self.__dict__.clear()  # the story holds it, and it the story: only the collector would find that they are dead

    def event(
        self, kind: str, name: str, frame: Frame, place: f.Place, args: tuple[Value, ...] = (), *,
        kwargs: dict[str, Value] | None = None, star: bool = False, receiver: Value | None = None,
    ) -> Event:  # fmt: skip
        """Adds an event to the story."""
        canonical = self.knowledge.canonical(name)
        event = Event(
            index=len(self.story.events), kind=kind, name=canonical, raw=name,
            location=Location(frame.module.path, *place),
            guards=self.path.told, excluded=self.path.quiet,
            args=args, kwargs=kwargs or {}, star=star, receiver=receiver, contexts=tuple(self.contexts),
            stack=self.stack, callers=self.callers, detached=self.detached, unreached=self.unreached,
            deferred=self.deferred > 0, importing=self.importing > 0, func=frame.func, loader=self.loader,
            main_only=self.main_guards > 0, tried=self.trials, loops=tuple(self.loops),
        )  # fmt: skip
        if kind == "call":
            event.effects = self.knowledge.effects_of(canonical, name)
        self.story.events.append(event)
        return event

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, body: Sequence[f.Stmt], frame: Frame) -> Left:
        """Runs statements in order; what follows a possible exit happens only when it was not taken."""
        path, before, trials = self.path, self.stopped, self.trials
        self.stopped = False
        out_return: Cond = False
        out_jump: Cond = False
        out_stop: Cond = False
        for statement in body:
            if not self.bounds.step(frame.module.path, statement):
                break
            returned, jumped, stopped = statements.STATEMENTS[type(statement)](self, statement, frame)
            if type(statement) is f.Try:
                self.trials += statements.may_give_up(statement)
            if returned is jumped is stopped is self.stopped is False:  # as most do: it may not leave the block
                continue
            stopped, self.stopped = either(stopped, self.stopped), False
            out_stop = either(out_stop, both(negate(either(out_return, out_jump)), stopped))
            out_return, out_jump = either(out_return, returned), either(out_jump, jumped)
            if either(returned, jumped, stopped) is True:
                break
            if returned is not False:
                self.path = self.path.unless(returned)
            if jumped is not False:
                self.path = self.path.under(negate(jumped))
            if stopped is not False:
                self.path = self.path.excluding(stopped)
        self.path = path
        self.stopped, self.trials = before, trials
        return out_return, out_jump, out_stop

    def branch(self, cond: Cond, then: Callable[[], Left], otherwise: Callable[[], Left]) -> Left:
        """Runs two alternatives; when ``cond`` is known here, only one of them."""
        known = self.path.truth(cond)
        if known is True:
            return then()
        if known is False:
            return otherwise()
        first: Left = self.under(cond, then) or STAYS
        second: Left = self.under(negate(cond), otherwise) or STAYS
        returned, jumped, stopped = (
            either(both(cond, one), both(negate(cond), other)) for one, other in zip(first, second, strict=True)
        )
        return returned, jumped, stopped


def _of_several(alternatives: list[tuple[Cond, Value]]) -> Value:
    if len(alternatives) == 1:
        return alternatives[0][1]
    return Phi(tuple(alternatives)) if alternatives else UNKNOWN


def _hashable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_hashable, value))
    return isinstance(value, (str, int, float, bool, bytes, type(None)))
