"""The Python things that stand between a compiled function and its user: functions, autograd Functions, aliases."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from d9mlint.kernels.flow import strongest
from d9mlint.kernels.python.calls import decorators, last_name
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.guards import guard_at, handed
from d9mlint.kernels.python.words import Mention, Scope, below
from d9mlint.model import Guard, Location
from d9mlint.model.kernel import UNGUARDED

_WORDS = {"alias": "alias", "builder": "Python", "kernel": "kernel", "table": "table", "operator": "operator"}
_KERNELS = ("triton.", "numba.cuda.", "warp.", "cupyx.jit.", "cutlass.")
_LAUNCHABLE = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel", "SourceModule", "load_inline",
               "_compile_kernel", "get_function")  # fmt: skip
GRADIENT_WORD = re.compile(r"(?:\A|_|\.)(?:backward|bwd|grad)(?:\Z|_|\d)|Backward")
_GRADIENTS = ("backward", "vjp", "jvp", "double_backward")

Key: TypeAlias = tuple[str, str, bool, str, int]
"""The file, name, direction, part and line of an entity."""


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """A function, class or name of a Python file that leads to a compiled function."""

    file: PyFile
    name: str
    kind: str
    """``function``, ``kernel`` (a function or name that is launched), ``builder`` (a function that gives back one),
    ``alias``, ``module-class`` (its objects are called), ``table`` (which holds functions), ``operator`` (which Python
    registers: ``ns::op``), ``forward`` or ``backward`` of an autograd Function (then ``name`` is its class)."""
    backward: bool
    node: ast.AST
    gradient_of: str = ""
    """The operator whose gradient it was registered as."""
    uses: Entity | None = None
    guard: Guard = UNGUARDED
    """What stands before the place in it that leads on, and before those that it leads to."""
    handed: Guard = UNGUARDED
    """What is handed on to the compiled function: deterministic mode itself, as an argument."""
    part: str = ""
    """Of a builder: the function inside of it that becomes the kernel."""

    @property
    def key(self) -> Key:
        """What makes it the same; functions of one name stand in different lines."""
        return self.file.path, self.name, self.backward, self.part, getattr(self.node, "lineno", 0)

    @property
    def unnamed(self) -> bool:
        """Whether nobody can call a function by its name: it is ``_``, or another one below takes the name."""
        if not isinstance(self.node, ast.FunctionDef) or self.kind == "operator":
            return False
        body, node = self.file.tree.body, self.node
        later = body[body.index(node) + 1 :] if node in body else []
        return self.name == "_" or any(isinstance(n, ast.FunctionDef) and n.name == self.name for n in later)

    @property
    def dotted(self) -> str:
        """Its full name, by the file that defines it."""
        return f"{self.file.module}.{self.name}" if self.file.module else self.name

    @property
    def in_function(self) -> bool:
        """Whether it is a method of an autograd Function."""
        return self.kind in ("forward", "backward") and isinstance(self.node, ast.ClassDef)

    @property
    def location(self) -> Location:
        """Its place."""
        scope = self.node
        if isinstance(scope, Scope):
            return self.file.head(scope)
        return self.file.place(scope)

    @property
    def text(self) -> str:
        """As a chain shows it."""
        if self.in_function:
            return f"`{self.name}.{self.kind}`"
        return f"{_WORDS.get(self.kind, 'Python')} `{self.name}`"

    def _guarded(self, guard: Guard, handed: Guard) -> Entity:
        plain = guard.where is None and handed.where is None
        return self if plain else replace(self, guard=guard, handed=handed)

    def above(self, used: Entity) -> Entity:
        """The same entity as a user of another: a gradient stays one.

        Where it hands deterministic mode to a kernel with a switch, that sets the switch.
        """
        set_ = used.kind == "kernel" and used.guard.switch.endswith("=1") and self.handed.where is not None
        return replace(
            self, uses=used, backward=self.backward or used.backward, gradient_of=used.gradient_of,
            guard=strongest((self.guard, self.handed if set_ else used.guard)), handed=used.handed,
        )  # fmt: skip


def entity_of(file: PyFile, mention: Mention) -> Entity | None:
    """What the mention stands in; None at the top of a file, where nobody can call it (an alias: its name)."""
    found = _around(file, mention)
    return found._guarded(guard_at(file, mention), handed(file, mention)) if found is not None else None


def _around(file: PyFile, mention: Mention) -> Entity | None:
    scopes = mention.scopes
    if not scopes:
        return _assigned(file, mention)
    outer = scopes[0]
    if not isinstance(outer, ast.ClassDef):
        return Entity(file, outer.name, "kernel" if _is_kernel(file, outer) else "function", False, outer)
    method = scopes[1].name if len(scopes) > 1 else ""
    if is_function_class(file, outer):
        if method == "symbolic":
            return None
        gradient = method in _GRADIENTS
        return Entity(file, outer.name, "backward" if gradient else "forward", gradient, outer)
    methods = [node for node in outer.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if any(_is_kernel(file, node) for node in methods):
        return Entity(file, outer.name, "kernel", False, outer)  # a class of the CuTe DSL: its objects are launched
    return Entity(file, outer.name, "module-class", method.startswith("backward"), outer)


def alias_of(file: PyFile, mention: Mention, entity: Entity) -> Entity | None:
    """The name that ``name = Class.apply`` or a table at the top of a file gives to an autograd Function."""
    return _assigned(file, mention, True) if entity.in_function and not mention.scopes else None


def tabled(file: PyFile, mention: Mention) -> Entity | None:
    """The name that the top of a file gives to a table that holds what is mentioned (``{"adam": lib.adam_fp32}``)."""
    found = _assigned(file, mention, True) if not mention.scopes else None
    return replace(found, kind="table") if found is not None else None


def asks_for_keys(mention: Mention) -> bool:
    """Whether a table is only asked what it is about: ``name in TABLE``, ``len(TABLE)``, ``list(TABLE.keys())``."""
    above = mention.parents[-1] if mention.parents else None
    if isinstance(above, ast.Attribute):
        return above.attr == "keys"
    counted = isinstance(above, ast.Call) and getattr(above.func, "id", "") in ("len", "list", "sorted", "tuple", "set")
    return counted or isinstance(above, ast.Compare | ast.FormattedValue)


def asks_about(kernel: Entity, mention: Mention) -> bool:
    """Whether only an attribute of a kernel is read: ``min(c.kwargs["BLOCK"] for c in kernel.configs)``."""
    if kernel.kind != "kernel" or not mention.parents or not isinstance(mention.parents[-1], ast.Attribute):
        return False
    at: ast.AST = mention.node
    for outer in reversed(mention.parents):
        if not isinstance(outer, ast.Attribute | ast.Subscript) or outer.value is not at:
            return not (isinstance(outer, ast.Call) and outer.func is at)
        at = outer
    return True


def kernel_of(file: PyFile, user: Entity) -> Entity:
    """Who uses a kernel; one itself where it is another name of it: ``tuned = triton.autotune(...)(kernel)``."""
    value = user.node.value if user.kind == "alias" and isinstance(user.node, ast.Assign) else None
    made = value
    while isinstance(made, ast.Call):
        made = made.func
    plain = isinstance(value, ast.Name | ast.Attribute)
    return replace(user, kind="kernel") if plain or (made and file.dotted(made).startswith(_KERNELS)) else user


def built(user: Entity, used: Entity) -> Entity:
    """A user of a function that makes a kernel; one itself where it gives back what that made, or its own function."""
    node = user.node
    if user.kind != "function" or used.kind != "builder" or not isinstance(node, ast.FunctionDef):
        return user
    return replace(user, kind="builder") if builds(user.file, node, used.name) else user


def builds(file: PyFile, function: ast.FunctionDef, maker: str = "") -> bool:
    """Whether a function gives back a function that it defines, or what another one (``maker``) has made."""
    inside, made, given = set(), set(), []
    for node in below(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            inside.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and maker:
            names = {t.id for t in node.targets if isinstance(t, ast.Name)}
            made |= names if last_name(node.value.func) == maker else set()
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in made:
            made |= {t.value.id for t in node.targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)}
        elif isinstance(node, ast.Return) and node.value is not None:
            given += _returned(file, node.value)
    results = [one.func if isinstance(one, ast.Call) else one for one in given]
    plain = [one.value if isinstance(one, ast.Subscript) else one for one in given]
    direct = any(isinstance(one, ast.Name) and one.id in inside | made for one in plain)
    return direct or (bool(maker) and any(last_name(one) == maker for one in results))


def _returned(file: PyFile, value: ast.expr) -> list[ast.expr]:
    """The parts of what a function gives back; for ``warp.Kernel(function)`` the function."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    return [
        one.args[0] if isinstance(one, ast.Call) and one.args and file.dotted(one.func) == "warp.Kernel" else one
        for one in parts
    ]


def kernels_made(file: PyFile, mention: Mention, builder: Entity) -> list[Entity]:
    """The names at the top of a file that are given the kernels which a call of a builder makes there."""
    statement = mention.parents[0] if mention.parents and not mention.scopes else None
    if builder.kind != "builder" or not isinstance(statement, ast.Assign) or statement.value is not mention.call:
        return []
    target = statement.targets[0]
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    places = _places(builder) if len(names) > 1 else {0}
    return [
        Entity(file, one.id, "kernel", False, statement)
        for place, one in enumerate(names)
        if isinstance(one, ast.Name) and place in places
    ]


def _places(builder: Entity) -> set[int]:
    """Which of the kernels that a builder gives back are made of its part; all, where that is not told."""
    returns = [n.value for n in below(builder.node) if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
    given = [_returned(builder.file, value) for value in returns if value is not None]
    found = {at for parts in given for at, one in enumerate(parts) if last_name(one) == builder.part}
    return found or {at for parts in given for at in range(len(parts))}


def _assigned(file: PyFile, mention: Mention, table: bool = False) -> Entity | None:
    """The name that the top of a file gives to a value, or (``table``) to a collection that holds it."""
    statement = next((p for p in mention.parents if isinstance(p, ast.Assign)), None)
    if statement is None or len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        return None
    if _is_called(mention):
        return None  # `y = f(x)` in a script: `y` is what came out
    if any(isinstance(p, ast.If) and _asks_for_main(p.test) for p in mention.parents):
        return None  # nobody can import what only a script has
    plain = isinstance(statement.value, ast.Attribute | ast.Name | ast.Call)
    if not table and not plain and not _is_source(statement):
        return None
    if not table and _is_read(statement, mention):
        return None
    return Entity(file, statement.targets[0].id, "kernel" if _is_source(statement) else "alias", False, statement)


def _asks_for_main(test: ast.expr) -> bool:
    """Whether a test is ``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _is_read(statement: ast.Assign, mention: Mention) -> bool:
    """Whether the value is computed from what is mentioned: ``least = min(c.block for c in kernel.configs)``."""
    nodes = (*mention.parents[mention.parents.index(statement) + 1 :], mention.node)
    for parent, _ in itertools.pairwise(nodes):
        if isinstance(parent, ast.comprehension | ast.Lambda | ast.Subscript):
            return True
        if isinstance(parent, ast.Attribute) and parent is not statement.value and not _heads(nodes, parent):
            return True
    return False


def _heads(nodes: tuple[ast.AST, ...], attribute: ast.Attribute) -> bool:
    """Whether an attribute is what one of the nodes calls."""
    return any(isinstance(node, ast.Call) and node.func is attribute for node in nodes)


def _is_called(mention: Mention) -> bool:
    """Whether what is mentioned, or an attribute or item of it, is called here."""
    nodes = (*mention.parents, mention.node)
    return any(isinstance(parent, ast.Call) and child is parent.func for parent, child in itertools.pairwise(nodes))


def _is_kernel(file: PyFile, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator makes a function a kernel or a function of kernels (``triton.jit``, ``cuda.jit``, ...)."""
    return any(file.dotted(head).startswith(_KERNELS) for head in decorators(node))


def _is_source(statement: ast.Assign) -> bool:
    """Whether a name stands for a CUDA source in a string, or for what a library compiled from one."""
    value = statement.value
    if isinstance(value, ast.Call):
        return last_name(value.func) in _LAUNCHABLE
    return isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp)


def is_function_class(file: PyFile, node: ast.ClassDef) -> bool:
    """Whether a class is a ``torch.autograd.Function``, by its base or by a ``backward(ctx, ...)``."""
    if any(_is_function(file.dotted(base)) for base in node.bases):
        return True
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "backward"]
    return any(m.args.args and m.args.args[0].arg == "ctx" for m in methods)


def _is_function(base: str) -> bool:
    return base.startswith("torch.autograd") and base.rpartition(".")[2] in ("Function", "InplaceFunction")


def internal(name: str) -> bool:
    """Whether a function is no user's to call: the gradient of one that is, or one that its name keeps to its file."""
    return name.startswith("_") or GRADIENT_WORD.search(name) is not None
