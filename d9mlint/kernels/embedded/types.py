"""Types in kernels written in Python, as far as the source shows them: annotations, casts, signatures, launches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.tensors import tensor
from d9mlint.kernels.python.calls import argument, keyword, last_name, parameters, positional
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention, below

_FLOAT_CALLS = frozenset(
    (
        "dot",
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "sigmoid",
        "softmax",
        "sin",
        "cos",
        "tanh",
        "erf",
        "fdiv",
        "rand",
    )
)
_INTEGER_CALLS = frozenset(
    ("arange", "program_id", "num_programs", "cdiv", "randint", "iota", "tid", "grid", "popc", "len")
)
_SAME = frozenset(
    ("sum", "max", "min", "maximum", "minimum", "abs", "where", "trans", "reshape", "view", "broadcast_to", "cumsum",
     "fma", "join", "split", "interleave", "flip", "permute", "cat", "expand_dims", "ravel", "squeeze", "transpose",
     "clamp")
)  # fmt: skip
_MAX_DEPTH = 12
_MAX_CALLS = 4
_OWN_TYPE = re.compile(r"dtype|\.element_ty\b")
_NOWHERE = 1_000
"""In place of the position of a parameter that is given by name only."""
_SHAPED = ("Tensor", "Buffer", "StridedTensor")
"""Annotations of TileLang that are given the shape before the type: ``T.Tensor((m, n), "float32")``."""


def _first(node: ast.expr) -> str:
    """What an address is reckoned from, as text: ``Out`` of ``Out + key * stride``."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(node, ast.BinOp):
            break
        node = node.left
    return ast.dump(node)


def _alternatives(test: ast.expr) -> list[ast.expr]:
    """The parts of ``a or b`` and ``a | b``; a test that is none is its own only part."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [part for value in test.values for part in _alternatives(value)]
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitOr):
        return [*_alternatives(test.left), *_alternatives(test.right)]
    return [test]


class Types:
    """What is known of the types at one place of a kernel."""

    def __init__(self, file: PyFile, mention: Mention) -> None:
        self.file = file
        self.mention = mention
        self.functions = [s for s in mention.scopes if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
        self._assigned: dict[str, list[ast.expr]] = {}
        self._added: dict[str, list[ast.expr]] = {}
        """What is added to names: ``acc += tl.dot(a, b)``."""
        self._open: set[str] = set()
        """The names that are being looked into: of ``x = f(x)`` the ``x`` inside says nothing."""
        for function in reversed(self.functions):
            for node in below(function):
                for name, value in _assignments(node):
                    self._assigned.setdefault(name, []).append(value)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    self._added.setdefault(node.target.id, []).append(node.value)

    def target(self, node: ast.expr, language: str) -> tuple[str, str]:
        """The element type of the array or pointer, as written (empty: unknown), and the memory it lives in."""
        at = node
        for _ in range(_MAX_DEPTH):
            if isinstance(at, ast.BinOp):
                at = at.left
            elif isinstance(at, ast.Subscript | ast.Attribute):
                at = at.value
            elif isinstance(at, ast.Name) and len({_first(value) for value in self._assigned.get(at.id, [])}) == 1:
                at = self._assigned[at.id][0]
            else:
                break
        if isinstance(at, ast.Call):
            return self._made(at)
        if not isinstance(at, ast.Name):
            return "", "unknown"
        return self._parameter(at.id) or self._launched(at.id), "global" if language != "Pallas" else "unknown"

    def tested(self, mention: Mention, target: ast.expr) -> str:
        """The kind of the types that a test around a place asks for: ``if ptr.dtype.element_ty == tl.float32:``."""
        inner: ast.AST = mention.node
        for above in reversed(mention.parents):
            if isinstance(above, ast.If) and any(inner is node for node in above.body):
                kinds = {self._compared(test, target) for test in _alternatives(above.test)}
                if len(kinds) == 1 and "" not in kinds:
                    return kinds.pop()
            inner = above
        return ""

    def _compared(self, test: ast.expr, target: ast.expr) -> str:
        """The kind of the type that a comparison says the target's elements have; empty for other tests."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return ""
        left = test.left
        if isinstance(left, ast.Name) and len(self._assigned.get(left.id, [])) == 1:
            left = self._assigned[left.id][0]
        named = ast.unparse(left).partition(".dtype")
        base = ast.unparse(target).partition("+")[0].strip()
        return plain_kind(self.file.dotted(test.comparators[0])) if named[1] and named[0] == base else ""

    def kind(self, node: ast.expr, depth: int = 0) -> str:
        """``float``, ``integer`` or empty: of a value."""
        if depth > _MAX_DEPTH:
            return ""
        if isinstance(node, ast.Constant):
            return "float" if isinstance(node.value, float) else ""  # an integer adapts to the other side
        if isinstance(node, ast.Name):
            return self._name(node.id, depth)
        if isinstance(node, ast.BinOp):
            kinds = {self.kind(node.left, depth + 1), self.kind(node.right, depth + 1)}
            if isinstance(node.op, ast.Div) or "float" in kinds:
                return "float"
            return "integer" if kinds == {"integer"} else ""
        if isinstance(node, ast.UnaryOp | ast.Subscript | ast.Starred):
            return self.kind(node.operand if isinstance(node, ast.UnaryOp) else node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            kinds = {self.kind(node.body, depth + 1), self.kind(node.orelse, depth + 1)}
            return kinds.pop() if len(kinds) == 1 else ""
        return self._call(node, depth) if isinstance(node, ast.Call) else ""

    def constant(self, node: ast.expr) -> str:
        """The number that an expression is, as written; empty for anything else."""
        at = node.operand if isinstance(node, ast.UnaryOp) else node
        if isinstance(at, ast.Call) and len(at.args) == 1 and not at.keywords:
            called = last_name(at.func)
            # np.float32(1), but not tl.program_id(0)
            at = at.args[0] if plain_kind(called) or called == "constexpr" else at
        plain = isinstance(at, ast.Constant) and isinstance(at.value, int | float)
        return shown(node) if plain else ""

    def _name(self, name: str, depth: int) -> str:
        if name in self._open:
            return ""
        self._open.add(name)
        values = self._assigned.get(name, [])[:_MAX_DEPTH]
        known = {self.kind(value, depth + 1) for value in values} - {""}
        if not known and values:
            known = {self.kind(value, depth + 1) for value in self._added.get(name, [])[:_MAX_DEPTH]} & {"float"}
        self._open.remove(name)
        if known == {"integer"} and any(map(_to_own_type, values)):
            return ""  # an integer that is stored in what may hold floats
        return known.pop() if len(known) == 1 else plain_kind(self._parameter(name))

    def _call(self, node: ast.Call, depth: int) -> str:
        called = last_name(node.func)
        if called in ("to", "astype", "cast", "full", "zeros", "ones", "full_like", "zeros_like", "view", "asarray"):
            found = [plain_kind(shown(a)) for a in (*node.args, *(k.value for k in node.keywords if k.arg == "dtype"))]
            known = [k for k in found if k]
            if known:
                return known[-1]
            if called in ("to", "astype", "cast"):
                # To the type of what it is stored in: who computes in floats stores floats.
                return "float" if _to_own_type(node) and self._floating(node, depth) else ""
        if called == "dtype" and node.args and isinstance(node.args[0], ast.Constant):
            return "float" if isinstance(node.args[0].value, float) else ""  # x.dtype(0.0): a zero of the type of x
        if plain_kind(called):
            return plain_kind(called)  # float(x), wp.vec3(...), np.float32(1)
        if called == "dot" and (given := keyword(node, "out_dtype")):
            return plain_kind(shown(given))
        if called in _FLOAT_CALLS:
            return "float"
        if called in _INTEGER_CALLS:
            return "integer"
        if called in _SAME:
            receiver = (
                [node.func.value] if isinstance(node.func, ast.Attribute) and not self._module(node.func.value) else []
            )
            kinds = {self.kind(a, depth + 1) for a in (*receiver, *node.args)}
            return "float" if "float" in kinds else "integer" if kinds - {""} == {"integer"} and len(kinds) == 1 else ""
        return ""

    def _floating(self, node: ast.Call, depth: int) -> bool:
        return isinstance(node.func, ast.Attribute) and self.kind(node.func.value, depth + 1) == "float"

    def _module(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.file.imports

    def _made(self, call: ast.Call) -> tuple[str, str]:
        """``cuda.shared.array(n, dtype=float32)`` and its kin."""
        text = shown(call.func)
        memory = "shared" if "shared" in text else "unknown"
        given = keyword(call, "dtype", "type")
        if given is None and text.endswith((".array", ".full", ".zeros", ".empty")) and len(call.args) > 1:
            given = call.args[-1]
        if given is None and "alloc_" in text and len(call.args) > 1:
            given = call.args[1]
        written = self._known(shown(given)) if given is not None else ""
        return written if plain_kind(written) else "", memory

    def _parameter(self, name: str, depth: int = 0) -> str:
        """The element type that an annotation or a signature gives to a parameter."""
        for function in reversed(self.functions):
            arguments = positional(function)
            at = next((i for i, a in enumerate(arguments) if a.arg == name), -1)
            if at < 0:
                continue
            annotation = arguments[at].annotation or _in_body(function, name)
            if annotation is not None:
                return self._known(_annotated(annotation))
            return _signed(function, at) or self._called(function, at, depth)
        return ""

    def _called(self, function: ast.FunctionDef | ast.AsyncFunctionDef, at: int, depth: int) -> str:
        """The element type of the parameters that all callers in this file hand on (TileLang's macros are called)."""
        found: set[str] = set()
        for mention in self.file.mentions.get(function.name, ()) if depth < _MAX_CALLS else ():
            if mention.call is None:
                continue
            given = argument(mention.call, at)
            caller = Types(self.file, mention)
            found.add(caller._parameter(given.id, depth + 1) if isinstance(given, ast.Name) else "")
        return found.pop() if len(found) == 1 else ""

    def _known(self, written: str) -> str:
        """A type as written, or what its name is set to around the kernel (``accum_dtype = T.float32``)."""
        at = written
        for _ in range(_MAX_CALLS):
            if plain_kind(at.strip("'\"")) or not at.isidentifier():
                break
            values = self._assigned.get(at) or self._given(at)
            only = values[0] if len(values) == 1 else self.file.assigned.get(at) if not values else None
            if only is None:
                break
            at = shown(only)
        return at.strip("'\"")

    def _given(self, name: str) -> list[ast.expr]:
        """The types that a parameter of a function around the kernel stands for: those that its calls in the file give.

        One for all of a kind, and the default, unless a call gives another kind.
        """
        default = self._default(name)
        function = next((f for f in reversed(self.functions) if any(a.arg == name for a in parameters(f))), None)
        if function is None:
            return []
        at = next((i for i, a in enumerate(positional(function)) if a.arg == name), _NOWHERE)
        calls = [m.call for m in self.file.mentions.get(function.name, ()) if m.call is not None]
        handed = [argument(call, at, name) for call in calls]
        every = [one for one in (default, *handed) if one is not None]
        named = [one for one in every if plain_kind(shown(one).strip("'\""))]
        if len({plain_kind(shown(one).strip("'\"")) for one in named}) > 1 or (default is None and named != every):
            return every if len(every) > 1 else []
        return named[:1] or every[:1]

    def _default(self, name: str) -> ast.expr | None:
        """The default of a parameter of a function around the kernel."""
        for function in reversed(self.functions):
            given = zip(reversed(positional(function)), reversed(function.args.defaults), strict=False)
            named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
            for parameter, default in (*given, *named):
                if parameter.arg == name:
                    return default
        return None

    def _launched(self, name: str) -> str:
        """The type of the tensor that every launch in this file hands in for a parameter; empty where one hides it."""
        function = self.functions[0] if self.functions else None
        names = [a.arg for a in function.args.args] if function is not None else []
        if function is None or name not in names:
            return ""
        found: set[str] = set()
        for mention in self.file.mentions.get(function.name, ()):
            call = next((p for p in reversed(mention.parents[-2:]) if isinstance(p, ast.Call)), None)
            launch = call is not None and isinstance(call.func, ast.Subscript) and call.func.value is mention.node
            if call is None or not launch:
                continue
            at = names.index(name)
            given = keyword(call, name) or argument(call, at)
            found.add(tensor(mention, given, self.file, self._held(call, names)))
        return found.pop() if len(found) == 1 else ""

    def _held(self, call: ast.Call, names: list[str]) -> dict[str, bool]:
        """The tests around the place, in the words of a launch, and whether they hold there."""
        passed = {name: shown(given) for name, given in zip(names, call.args, strict=False)}
        passed |= {k.arg: shown(k.value) for k in call.keywords if k.arg is not None}
        found: dict[str, bool] = {}
        inner: ast.AST = self.mention.node
        for above in reversed(self.mention.parents):
            if isinstance(above, ast.If):
                test = re.sub(r"\w+", lambda word: passed.get(word[0], word[0]), shown(above.test))
                if any(inner is node for node in (*above.body, *above.orelse)):
                    found.setdefault(test, any(inner is node for node in above.body))
            inner = above
        return found


def _in_body(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """What the body of a function declares a parameter as: ``C: T.Tensor((m, n), dtype)`` in kernels of TileLang."""
    found = [
        node.annotation
        for node in function.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name
    ]
    return found[0] if len(found) == 1 else None


def _to_own_type(node: ast.expr) -> bool:
    """Whether a value is cast to the type of what it is stored in: ``x.to(Out.dtype.element_ty)``.

    Also ``x.to(Out.type.element_ty)``.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in ("to", "astype", "cast") and any(_OWN_TYPE.search(shown(a)) is not None for a in node.args)


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement sets, each with its value; of ``a, b = tl.split(x)`` the call stands for both."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        given = value.elts if isinstance(value, ast.Tuple | ast.List) else [value] * len(target.elts)
        for one, its in zip(target.elts, given, strict=False):
            if isinstance(one, ast.Name):
                yield one.id, its


def _annotated(node: ast.expr) -> str:
    """``T.Tensor(shape, dtype)``, ``wp.array(dtype=wp.float32)``, ``wp.array2d[float]``, ``wp.array[wp.vec3]``.

    ``T.Tensor[[m, n], dtype]``, too.
    """
    if isinstance(node, ast.Call):
        at = 1 if shown(node.func).endswith(_SHAPED) else 0
        given = keyword(node, "dtype")
        given = node.args[at] if given is None and at < len(node.args) else given
        return shown(given) if given is not None else ""
    if isinstance(node, ast.Subscript):
        inside = node.slice
        if isinstance(inside, ast.Tuple) and len(inside.elts) > 1 and shown(node.value).endswith(_SHAPED):
            inside = inside.elts[1]
        return shown(inside)
    text = shown(node)
    return text if plain_kind(text) else ""


def _signed(function: ast.FunctionDef | ast.AsyncFunctionDef, at: int) -> str:
    """The type in ``@cuda.jit("void(float32[:], int32[:])")`` or ``@cuda.jit((float32[:], int32[:]))``."""
    for decorator in function.decorator_list:
        for given in decorator.args if isinstance(decorator, ast.Call) else []:
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                inside = re.search(r"\((.*)\)", given.value)
                parts = re.split(r",(?![^\[(]*[\])])", inside[1]) if inside is not None else []
            else:
                items = given.elts if isinstance(given, ast.Tuple) else getattr(given, "args", [])
                parts = [shown(item) for item in items]
            if at < len(parts):
                return re.sub(r"\[.*", "", parts[at]).strip()
    return ""
