"""Tells the story of a program: runs the facts on symbolic values, in order, following the program's own calls.

This module holds the state and the statements; ``expressions`` evaluates, ``calling`` enters functions and makes
events, ``outside`` knows the calls whose result matters (``os.environ``, ``argparse`` ...).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location, Target
from d9mlint.python import calling, expressions, linking, narrowing
from d9mlint.python import facts as f
from d9mlint.python.flags import CommandLine
from d9mlint.python.guards import Cond, OpaqueTest, Path, both, either, negate
from d9mlint.python.knowledge import Knowledge
from d9mlint.python.story import Event, Frame, Story
from d9mlint.python.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Module,
    Obj,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
    overwrite,
    taint,
)

if TYPE_CHECKING:
    from d9mlint.python.project import Project

MAX_STEPS = 50_000
"""Statements and calls told for one entry before the story is cut; real programs take some thousands."""
MAX_CALLS = 40
"""Depth of calls that are followed."""

MAX_RUNS = 30
"""Times that one function is entered with other arguments; what it does is known by then."""

Left = tuple[Cond, Cond]
"""Conditions under which control left a block: by return or raise, by break or continue."""
STAYS: Left = (False, False)


class Interpreter:
    """The state of one telling."""

    def __init__(
        self, project: Project, roots: Sequence[str], knowledge: Knowledge, target: Target, story: Story,
        argv: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self.roots = tuple(roots)
        self.knowledge = knowledge
        self.target = target
        self.story = story
        self.command_line = CommandLine(argv)
        self.modules: dict[str, Module] = {}
        self.path = Path()
        self.contexts: list[str] = []
        self.stack: list[tuple[Func | None, Location]] = []
        self.importing = 0
        self.detached = False
        self.deferred = 0
        self.environment: dict[str, Value] = {}
        self.order_loops: list[tuple[str, tuple[Event, ...]]] = []
        self.entered: set[int] = set()
        self.ran: dict[tuple[int, str], object] = {}
        self.max_calls = MAX_CALLS
        self.runs: dict[int, int] = {}
        self.max_runs = MAX_RUNS
        self.steps = 0
        self.memo: dict[Any, Value] = {}
        self._serials: dict[int, tuple[object, int]] = {}

    # -- state -----------------------------------------------------------------------------------------------------

    def assumed(self) -> tuple[Cond, ...]:
        """All conditions that hold here."""
        return self.path.conds()

    def under(self, cond: Cond, action: Callable[[], Any]) -> Any:
        """Does ``action`` under one more condition; None when that condition cannot hold here."""
        known = self.path.truth(cond)
        if known is False:
            return None
        if known is True:
            return action()
        depth = len(self.path)
        self.path.push(cond)
        try:
            return action()
        finally:
            self.path.cut(depth)

    def since(self, born: tuple[Cond, ...]) -> Cond:
        """The conditions that came on top of those in ``born``."""
        return both(*(cond for cond in self.path.conds() if cond not in born)) if len(self.path) else True

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
        left = [(c, v) for c, v in value.alternatives if self.path.truth(c) is not False]
        if len(left) == 1:
            return left[0][1]
        return Phi(tuple(left)) if left else UNKNOWN

    def tick(self) -> bool:
        """Counts a step; False when the story has become too long."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            self.story.truncated = True
            return False
        return True

    # -- names -----------------------------------------------------------------------------------------------------

    def load(self, name: str, frame: Frame) -> Value:
        """The value of a bare name."""
        if name in frame.globals:
            return self.resolve(frame.globals[name].vars.get(name, UNKNOWN))
        current: Frame | None = frame
        while current is not None:
            if name in current.vars:
                return self.resolve(current.vars[name])
            current = current.parent
        return Ref(f"builtins.{name}") if name in self.knowledge.builtins else Unknown(name=name)

    def store(self, name: str, value: Value, frame: Frame) -> None:
        """Binds a bare name, under the conditions that hold here."""
        frame = frame.globals.get(name, frame)
        frame.vars[name] = overwrite(frame.vars.get(name), self.since(frame.born), value)

    def assign(self, target: f.Expr, value: Value, frame: Frame, place: f.Place) -> None:
        """Binds any target."""
        if isinstance(target, f.Name):
            self.store(target.id, value, frame)
        elif isinstance(target, f.Items):
            for item, part in zip(target.items, expressions.unpack(self, value, len(target.items)), strict=True):
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
            holder.attrs[name] = overwrite(holder.attrs.get(name), self.since(holder.born), value)
        elif isinstance(holder, (Module, Class)):
            if holder.frame is not None:
                self.store(name, value, holder.frame)
        elif isinstance(holder, (Obj, Ref)):
            if isinstance(holder, Obj):
                born = holder.event.guards if holder.event else ()
                holder.attrs[name] = overwrite(holder.attrs.get(name), self.since(born), value)
            base = holder.type if isinstance(holder, Obj) else holder.name
            if self.knowledge.canonical(base) == "absl.flags.FLAGS":
                self.command_line.assign_absl(name, value)
            self.event("set", f"{base}.{name}", frame, place, (value,), receiver=holder)
        elif isinstance(holder, Unknown):
            self.event("set", f"?.{name}", frame, place, (value,), receiver=holder)

    def _assign_item(self, target: f.Sub, value: Value, frame: Frame, place: f.Place) -> None:
        holder = expressions.evaluate(self, target.value, frame)
        index = expressions.evaluate(self, target.key, frame)
        if isinstance(holder, Ref) and holder.name == "os.environ":
            self.set_environment(index, value, frame, place)
        elif isinstance(holder, Dict):
            if isinstance(index, Const) and _hashable(index.value):
                holder.items[index.value] = overwrite(holder.items.get(index.value), self.since(frame.born), value)
            else:
                holder.open = True
        if self.order_loops and _counts(target, value):
            order, sources = self.order_loops[-1]
            self.event("sink", "numbering", frame, place, (Unknown(order=order, sources=sources),))

    def set_environment(self, name: Value, value: Value, frame: Frame, place: f.Place) -> None:
        """``os.environ[name] = value``."""
        if isinstance(name, Const) and isinstance(name.value, str):
            known = self.environment.get(name.value)
            self.environment[name.value] = overwrite(known, self.since(()), value)
            self.event("env", name.value, frame, place, (value,))

    # -- events ----------------------------------------------------------------------------------------------------

    def event(
        self, kind: str, name: str, frame: Frame, place: f.Place, args: tuple[Value, ...] = (), *,
        kwargs: dict[str, Value] | None = None, star: bool = False, receiver: Value | None = None,
    ) -> Event:  # fmt: skip
        """Adds an event to the story."""
        canonical = self.knowledge.canonical(name)
        event = Event(
            index=len(self.story.events), kind=kind, name=canonical, raw=name,
            location=Location(frame.module.path, *place),
            guards=tuple(self.path.told),
            args=args, kwargs=kwargs or {}, star=star, receiver=receiver, contexts=tuple(self.contexts),
            stack=tuple(location for _, location in self.stack), detached=self.detached,
            deferred=self.deferred > 0, importing=self.importing > 0, func=frame.func,
        )  # fmt: skip
        if kind == "call":
            event.effects = self.knowledge.effects_of(canonical, name)
        self.story.events.append(event)
        return event

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, body: Sequence[f.Stmt], frame: Frame) -> Left:
        """Runs statements in order; what follows a possible exit happens only when it was not taken."""
        depth = len(self.path)
        out_return: Cond = False
        out_jump: Cond = False
        for statement in body:
            if not self.tick():
                break
            left_return, left_jump = _STATEMENTS[type(statement)](self, statement, frame)
            silent = isinstance(statement, (f.Raise, f.Assert)) or _only_raises(statement)
            out_return, out_jump = either(out_return, left_return), either(out_jump, left_jump)
            left = either(left_return, left_jump)
            if left is True:
                break
            if left is not False:
                self.path.push(negate(left), silent)
        self.path.cut(depth)
        return out_return, out_jump

    def _evaluate(self, node: f.Evaluate, frame: Frame) -> Left:
        value = expressions.evaluate(self, node.value, frame)
        if isinstance(node.value, f.Attr) and isinstance(value, Ref) and not value.name.startswith("?"):
            self.event("mention", value.name, frame, node.value.place, receiver=value.receiver)
        return (True, False) if value is calling.EXITS else STAYS

    def _assign(self, node: f.Assign, frame: Frame) -> Left:
        if node.value is None:
            return STAYS
        value = expressions.evaluate(self, node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame, node.place)
        return STAYS

    def _augment(self, node: f.Augment, frame: Frame) -> Left:
        value = expressions.evaluate(self, f.Op(node.op, (node.target, node.value)), frame)
        if self.order_loops and isinstance(value, Seq):
            value.order, value.sources = self.order_loops[-1]
        self.assign(node.target, value, frame, node.place)
        return STAYS

    def _return(self, node: f.Return, frame: Frame) -> Left:
        value = Const(None) if node.value is None else expressions.evaluate(self, node.value, frame)
        frame.results.append((self.since(frame.born), value))
        return (True, False)

    def _raise(self, node: f.Raise, frame: Frame) -> Left:
        for part in node.parts:
            expressions.evaluate(self, part, frame)
        return (True, False)

    def _assert(self, node: f.Assert, frame: Frame) -> Left:
        value = expressions.evaluate(self, node.test, frame)
        counted, holds = narrowing.single(self, node.test, frame)
        if holds:
            narrowing.narrow(counted)
        cond = expressions.condition(self, value, "assert")
        return (negate(cond), False) if not isinstance(cond, (bool, OpaqueTest)) else STAYS

    def _jump(self, node: f.Jump, frame: Frame) -> Left:
        return (False, True)

    def _if(self, node: f.If, frame: Frame) -> Left:
        cond = expressions.condition(self, expressions.evaluate(self, node.test, frame), node.text)
        counted, holds = narrowing.single(self, node.test, frame)

        def run(body: Sequence[f.Stmt], few: bool) -> Left:
            with narrowing.narrowed(counted if few else None):
                return self.block(body, frame)

        left = self.branch(cond, lambda: run(node.body, holds), lambda: run(node.orelse, not holds))
        last = node.body[-1:]
        if counted is not None and not holds and last and isinstance(last[0], (f.Raise, f.Return, f.Jump)):
            narrowing.narrow(counted)
        return left

    def branch(self, cond: Cond, then: Callable[[], Left], otherwise: Callable[[], Left]) -> Left:
        """Runs two alternatives; when ``cond`` is known here, only one of them."""
        known = self.path.truth(cond)
        if known is True:
            return then()
        if known is False:
            return otherwise()
        first: Left = self.under(cond, then) or STAYS
        second: Left = self.under(negate(cond), otherwise) or STAYS
        return (
            either(both(cond, first[0]), both(negate(cond), second[0])),
            either(both(cond, first[1]), both(negate(cond), second[1])),
        )

    def _for(self, node: f.For, frame: Frame) -> Left:
        iterable = expressions.evaluate(self, node.iterable, frame)
        origins, order, sources = expressions.iteration_order(self, iterable, frame, node.place)
        if order:
            self.order_loops.append((order, sources))
        returned: Cond = False
        limit = expressions.MAX_SETTINGS if _copies(node.body) else expressions.MAX_LOOP_ITEMS
        for item in expressions.loop_items(self, iterable, Unknown(origins, "", sources), limit):
            self.assign(node.target, item, frame, node.place)
            left = self.block(node.body, frame)[0]
            returned = either(returned, left)
            if returned is True:
                break
        if order:
            self.order_loops.pop()
        self.block(node.orelse, frame)
        # A return inside a loop may or may not happen: what follows is not conditional on it in any useful way.
        return STAYS

    def _while(self, node: f.While, frame: Frame) -> Left:
        value = expressions.evaluate(self, node.test, frame)
        if isinstance(value, Const) and not value.value:
            return STAYS
        self.block(node.body, frame)
        self.block(node.orelse, frame)
        return STAYS

    def _try(self, node: f.Try, frame: Frame) -> Left:
        depth = len(self.path)
        left = self.block(node.body, frame)
        for handler in node.handlers:
            failed = OpaqueTest(("except", frame.module.path, id(handler)), "an exception is raised")
            self.under(failed, partial(self.block, handler, frame))
        if left != (True, False):
            self.block(node.orelse, frame)
        self.block(node.final, frame)
        self.path.cut(depth)
        return left if not node.handlers else STAYS

    def _with(self, node: f.With, frame: Frame) -> Left:
        added = 0
        for item, target in node.items:
            value = expressions.evaluate(self, item, frame)
            entered, context = calling.enter_context(self, value, frame)
            if context:
                self.contexts.append(context)
                added += 1
            if target is not None:
                self.assign(target, entered, frame, f.NOWHERE)
        left = self.block(node.body, frame)
        if added:
            del self.contexts[-added:]
        return left

    def _match(self, node: f.Match, frame: Frame) -> Left:
        subject = expressions.evaluate(self, node.subject, frame)

        def run(index: int) -> Left:
            if index == len(node.cases):
                return STAYS
            pattern, body, text = node.cases[index]
            if pattern is None:
                cond: Cond = True if text.strip() == "_" else OpaqueTest(("case", frame.module.path, id(body)), text)
            else:
                test = expressions.compare(self, "==", subject, expressions.evaluate(self, pattern, frame), text)
                cond = expressions.condition(self, test, text)
            return self.branch(cond, lambda: self.block(body, frame), lambda: run(index + 1))

        return run(0)

    def _def(self, node: f.Def, frame: Frame) -> Left:
        self.store(node.name, calling.make_function(self, node, frame), frame)
        return STAYS

    def _class(self, node: f.Class, frame: Frame) -> Left:
        bases = tuple(expressions.evaluate(self, base, frame) for base in node.bases)
        inner = Frame(frame.module, frame, tuple(self.assumed()), frame.func)
        cls = Class(node, bases, inner)
        self.block(node.body, inner)
        for value in inner.vars.values():
            if isinstance(value, Func) and value.owner is None and value.closure is inner:
                value.owner = cls
        self.store(node.name, calling.decorate_class(self, cls, node, frame), frame)
        return STAYS

    def _import(self, node: f.Import, frame: Frame) -> Left:
        for dotted, alias in node.names:
            value = linking.import_module(self, dotted, 0, frame, node.place)
            if alias is not None:
                self.store(alias, value, frame)
            else:
                first = dotted.partition(".")[0]
                top = value if first == dotted else linking.import_module(self, first, 0, frame, node.place, quiet=True)
                self.store(first, top, frame)
        return STAYS

    def _import_from(self, node: f.ImportFrom, frame: Frame) -> Left:
        linking.import_from(self, node, frame)
        return STAYS

    def _scope(self, node: f.Scope, frame: Frame) -> Left:
        home = frame.module.frame or frame
        for name in node.names:
            current = frame.parent if node.kind == "nonlocal" else home
            while node.kind == "nonlocal" and current is not None and name not in current.vars:
                current = current.parent
            frame.globals[name] = current or home
        return STAYS


def _hashable(value: object) -> bool:
    return isinstance(value, (str, int, float, bool, bytes, type(None)))


def _counts(target: f.Sub, value: Value) -> bool:
    """Whether an item gets the number of items before it: ``index[word] = len(index)``."""
    return isinstance(value, Unknown) and "length" in value.origins


def _copies(body: Sequence[f.Stmt]) -> bool:
    """Whether a loop body only keeps one thing under a name: ``setattr(x, key, value)`` or ``x[key] = value``."""
    if len(body) != 1:
        return False
    node = body[0]
    if isinstance(node, f.Assign):
        return isinstance(node.targets[0], f.Sub) and isinstance(node.value, f.Name)
    called = node.value.func if isinstance(node, f.Evaluate) and isinstance(node.value, f.Call) else None
    return isinstance(called, f.Name) and called.id == "setattr"


def _only_raises(statement: f.Stmt) -> bool:
    """Whether a branch ends the program rather than choosing a way: what follows needs no mention of it."""
    if not isinstance(statement, f.If):
        return False
    last = statement.body[-1:] or statement.orelse[-1:]
    return bool(last) and isinstance(last[0], (f.Raise, f.Evaluate))


_I = Interpreter
_STATEMENTS: dict[type, Callable[[Interpreter, Any, Frame], Left]] = {
    f.Evaluate: _I._evaluate, f.Assign: _I._assign, f.Augment: _I._augment, f.Return: _I._return,
    f.Raise: _I._raise, f.Assert: _I._assert, f.Jump: _I._jump, f.If: _I._if, f.For: _I._for, f.While: _I._while,
    f.Try: _I._try, f.With: _I._with, f.Match: _I._match, f.Def: _I._def, f.Class: _I._class,
    f.Import: _I._import, f.ImportFrom: _I._import_from, f.Scope: _I._scope,
}  # fmt: skip
