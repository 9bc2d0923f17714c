"""From a libcst tree to facts: one visit of statements and expressions, blind to white space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import intern
from typing import Any

import libcst as cst

from d9mlint.python.source import facts as f
from d9mlint.python.source import waiting
from d9mlint.python.source.places import Places
from d9mlint.python.source.tokens import OPERATORS, word

MAX_DEPTH = 150
"""Nesting of expressions and blocks beyond which a file is refused instead of exhausting the stack."""
_HELP = "usage:"
"""What the text at the top of a program has that is its help."""


class TooDeep(ValueError):
    """The file nests deeper than anything a person writes."""


def lower(module: cst.Module, before: int = 0, moved: Mapping[int, int] = {}) -> tuple[f.Stmt, ...]:
    """The statements of a parsed module, or of a section of one that has this many lines ``before`` it; see `Places`.

    Raises:
        TooDeep: for sources nested beyond ``MAX_DEPTH``.
    """
    statements = _Lowering(module, before, moved).block(module.body)
    text = module.get_docstring() if not before else None
    if text and _HELP in text.lower():  # that some take the flags of the program from
        return (f.Assign((f.Name("__doc__"),), f.Const(text), f.NOWHERE), *statements)
    return statements


class _Lowering:
    """Holds the places and the current depth while a module is lowered."""

    def __init__(self, module: cst.Module, before: int, moved: Mapping[int, int]) -> None:
        self._module = module
        self._places = Places(module, before + 1, moved)
        self._depth = 0
        self._yields = 0
        """Yields seen so far."""
        self._waits = 0
        """The same of ``await`` and ``async with``."""
        self._words: dict[str, f.Expr] = {}
        """Names and constants by their text: most stand in a file many times, and have no place of their own."""

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, body: Iterable[Any]) -> tuple[f.Stmt, ...]:
        """A sequence of statements."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeep("nested too deeply")
        out: list[f.Stmt] = []
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    handler = _SMALL.get(type(small))
                    if handler is not None:
                        out.extend(handler(self, small))
            else:
                out.append(_COMPOUND[type(node)](self, node))
        self._depth -= 1
        return tuple(out)

    def suite(self, node: cst.BaseSuite) -> tuple[f.Stmt, ...]:
        """The body of a compound statement, in either of its two spellings."""
        if isinstance(node, cst.SimpleStatementSuite):
            return self.block((cst.SimpleStatementLine(node.body),))
        return self.block(node.body)

    def _evaluate(self, node: cst.Expr) -> Sequence[f.Stmt]:
        value = self.expr(node.value)
        return () if type(value) is f.Const else (f.Evaluate(value),)

    def _assign(self, node: cst.Assign) -> Sequence[f.Stmt]:
        targets = tuple(self.expr(t.target) for t in node.targets)
        return (f.Assign(targets, self.expr(node.value), self._places.of(node)),)

    def _annotated(self, node: cst.AnnAssign) -> Sequence[f.Stmt]:
        value = None if node.value is None else self.expr(node.value)
        annotation = self.expr(node.annotation.annotation)
        return (f.Assign((self.expr(node.target),), value, self._places.of(node), annotation),)

    def _augmented(self, node: cst.AugAssign) -> Sequence[f.Stmt]:
        operator = OPERATORS.get(type(node.operator).__name__.removesuffix("Assign"), "?")
        return (f.Augment(self.expr(node.target), operator, self.expr(node.value), self._places.of(node)),)

    def _return(self, node: cst.Return) -> Sequence[f.Stmt]:
        return (f.Return(None if node.value is None else self.expr(node.value)),)

    def _raise(self, node: cst.Raise) -> Sequence[f.Stmt]:
        return (f.Raise(() if node.exc is None else (self.expr(node.exc),)),)

    def _assert(self, node: cst.Assert) -> Sequence[f.Stmt]:
        return (f.Assert(self.expr(node.test)),)

    def _jump(self, node: cst.BaseSmallStatement) -> Sequence[f.Stmt]:
        return (f.Jump("break" if isinstance(node, cst.Break) else "continue"),)

    def _scope(self, node: cst.Global | cst.Nonlocal) -> Sequence[f.Stmt]:
        kind = "global" if isinstance(node, cst.Global) else "nonlocal"
        return (f.Scope(kind, tuple(item.name.value for item in node.names)),)

    def _import(self, node: cst.Import) -> Sequence[f.Stmt]:
        names = tuple((_dotted(alias.name), _alias(alias)) for alias in node.names)
        return (f.Import(names, self._places.of(node)),)

    def _import_from(self, node: cst.ImportFrom) -> Sequence[f.Stmt]:
        module = "" if node.module is None else _dotted(node.module)
        if isinstance(node.names, cst.ImportStar):
            names: tuple[tuple[str, str], ...] = (("*", "*"),)
        else:
            names = tuple((_dotted(a.name), _alias(a) or _dotted(a.name)) for a in node.names)
        return (f.ImportFrom(module, len(node.relative), names, self._places.of(node)),)

    def _if(self, node: cst.If) -> f.Stmt:
        orelse: tuple[f.Stmt, ...] = ()
        if isinstance(node.orelse, cst.If):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise TooDeep("too many branches")
            orelse = (self._if(node.orelse),)
            self._depth -= 1
        elif node.orelse is not None:
            orelse = self.suite(node.orelse.body)
        text = self._module.code_for_node(node.test)
        return f.If(self.expr(node.test), self.suite(node.body), orelse, text, self._places.of(node.test))

    def _for(self, node: cst.For) -> f.Stmt:
        orelse = () if node.orelse is None else self.suite(node.orelse.body)
        iterable = self.expr(node.iter)
        self._waits += node.asynchronous is not None
        return f.For(self.expr(node.target), iterable, self.suite(node.body), orelse, self._places.of(node.iter))

    def _while(self, node: cst.While) -> f.Stmt:
        orelse = () if node.orelse is None else self.suite(node.orelse.body)
        return f.While(self.expr(node.test), self.suite(node.body), orelse)

    def _try(self, node: cst.Try | cst.TryStar) -> f.Stmt:
        return f.Try(
            self.suite(node.body),
            tuple(self.suite(handler.body) for handler in node.handlers),
            () if node.orelse is None else self.suite(node.orelse.body),
            () if node.finalbody is None else self.suite(node.finalbody.body),
        )

    def _with(self, node: cst.With) -> f.Stmt:
        self._waits += node.asynchronous is not None
        items = tuple(
            (self.expr(item.item), None if item.asname is None else self.expr(item.asname.name)) for item in node.items
        )
        return f.With(items, self.suite(node.body))

    def _match(self, node: cst.Match) -> f.Stmt:
        cases = []
        for case in node.cases:
            pattern = case.pattern
            value = self.expr(pattern.value) if isinstance(pattern, cst.MatchValue) else None
            cases.append((value, self.suite(case.body), self._module.code_for_node(pattern)))
        return f.Match(self.expr(node.subject), tuple(cases))

    def _def(self, node: cst.FunctionDef) -> f.Stmt:
        before, waited = self._yields, self._waits
        body = self.suite(node.body)
        generator, self._yields = self._yields > before, before  # they are this function's, not of the one around it
        coroutine, self._waits = node.asynchronous is not None and self._waits > waited, waited
        return f.Def(
            node.name.value,
            self._params(node.params, decorated=bool(node.decorators)),
            body,
            tuple(self.expr(d.decorator) for d in node.decorators),
            generator,
            self._places.of(node.name),
            coroutine,
        )

    def _class(self, node: cst.ClassDef) -> f.Stmt:
        return f.Class(
            node.name.value,
            tuple(self.expr(base.value) for base in node.bases),
            self.suite(node.body),
            tuple(self.expr(d.decorator) for d in node.decorators),
            self._places.of(node.name),
            self._args(node.keywords),
        )

    def _params(self, params: cst.Parameters, *, decorated: bool = False) -> tuple[f.Param, ...]:
        def one(param: cst.Param, kind: str) -> f.Param:
            default = None if param.default is None else self.expr(param.default)
            return f.Param(intern(param.name.value), default, kind, self._annotation(param.annotation, decorated))

        out = [one(p, "pos") for p in (*params.posonly_params, *params.params)]
        if isinstance(params.star_arg, cst.Param):
            out.append(one(params.star_arg, "*"))
        out.extend(one(p, "kw") for p in params.kwonly_params)
        if params.star_kwarg is not None:
            out.append(one(params.star_kwarg, "**"))
        return tuple(out)

    def _annotation(self, annotation: cst.Annotation | None, decorated: bool) -> f.Expr | None:
        """A name like that of a class, or any where a decorator may read it: nobody asks for another."""
        named = None if annotation is None else annotation.annotation
        last = named.attr if isinstance(named, cst.Attribute) else named
        asked = isinstance(last, cst.Name) and (decorated or last.value[:1].isupper())
        return self.expr(named) if named is not None and asked else None

    # -- expressions -----------------------------------------------------------------------------------------------

    def expr(self, node: cst.CSTNode) -> f.Expr:
        """Any expression."""
        handler = _EXPR.get(type(node))
        if handler is None:
            return f.Opaque(())
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeep("nested too deeply")
        out = handler(self, node)
        self._depth -= 1
        return out

    def _word(self, node: cst.Name | cst.BaseNumber | cst.SimpleString) -> f.Expr:
        found = self._words.get(node.value)  # type: ignore[union-attr]
        if found is None:
            found = self._words[node.value] = word(node)  # type: ignore[union-attr]
        return found

    def _concatenated(self, node: cst.ConcatenatedString) -> f.Expr:
        left, right = self.expr(node.left), self.expr(node.right)
        if isinstance(left, f.Const) and isinstance(right, f.Const) and isinstance(left.value, type(right.value)):
            return f.Const(left.value + right.value)
        return f.Format((left, right))

    def _format(self, node: cst.FormattedString) -> f.Expr:
        parts: list[f.Expr] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                parts.append(self.expr(part.expression))
            elif isinstance(part, cst.FormattedStringText):
                parts.append(f.Const(part.value))
        return f.Format(tuple(parts))

    def _attribute(self, node: cst.Attribute) -> f.Expr:
        return f.Attr(self.expr(node.value), intern(node.attr.value), self._places.of(node))

    def _args(self, given: Sequence[cst.Arg]) -> tuple[f.Arg, ...]:
        return tuple(
            f.Arg(self.expr(a.value), None if a.keyword is None else intern(a.keyword.value), a.star) for a in given
        )

    def _call(self, node: cst.Call) -> f.Expr:
        args = self._args(node.args)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in waiting.RUNS:
            args = tuple(arg._replace(value=waiting.awaited(arg.value)) for arg in args)
        return f.Call(self.expr(node.func), args, self._places.of_call(node))

    def _subscript(self, node: cst.Subscript) -> f.Expr:
        value = self.expr(node.value)
        parts: list[f.Expr] = []
        is_slice = False
        ends: list[tuple[f.Expr | None, f.Expr | None] | None] = []
        for element in node.slice:
            inner = element.slice
            if isinstance(inner, cst.Index):
                parts.append(self.expr(inner.value))
            else:
                is_slice = True
                low, high = (None if p is None else self.expr(p) for p in (inner.lower, inner.upper))  # type: ignore[attr-defined]
                ends.append((low, high) if inner.step is None else None)  # type: ignore[attr-defined]
                parts.extend(self.expr(p) for p in (inner.lower, inner.upper, inner.step) if p is not None)  # type: ignore[attr-defined]
        place = self._places.of(node)
        bounds = ends[0] if len(ends) == len(node.slice) == 1 else None
        key = parts[0] if len(parts) == 1 else f.Items("tuple", tuple(parts), place)
        return f.Sub(value, key, is_slice, place, bounds)

    def _items(self, node: cst.Tuple | cst.List | cst.Set) -> f.Expr:
        kind = type(node).__name__.lower()
        return f.Items(kind, tuple(self._element(e) for e in node.elements), self._places.of(node))

    def _element(self, element: cst.BaseElement) -> f.Expr:
        value = self.expr(element.value)
        return f.Opaque((value,)) if isinstance(element, cst.StarredElement) else value

    def _dict(self, node: cst.Dict) -> f.Expr:
        items: list[tuple[f.Expr | None, f.Expr]] = []
        for element in node.elements:
            key = self.expr(element.key) if isinstance(element, cst.DictElement) else None
            items.append((key, self.expr(element.value)))
        return f.Mapping(tuple(items))

    def _comprehension(self, node: Any) -> f.Expr:
        clauses: list[f.Clause] = []
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            conditions = tuple(self.expr(c.test) for c in clause.ifs)
            clauses.append(f.Clause(self.expr(clause.target), self.expr(clause.iter), conditions))
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            return f.Comp("dict", self.expr(node.key), self.expr(node.value), tuple(clauses), self._places.of(node))
        kind = "list" if isinstance(node, cst.ListComp) else "set" if isinstance(node, cst.SetComp) else "generator"
        return f.Comp(kind, self.expr(node.elt), None, tuple(clauses), self._places.of(node))

    def _lambda(self, node: cst.Lambda) -> f.Expr:
        before = self._yields
        lowered = f.Lambda(self._params(node.params), self.expr(node.body), self._places.of(node))
        self._yields = before
        return lowered

    def _unary(self, node: cst.UnaryOperation) -> f.Expr:
        operand = self.expr(node.expression)
        op = OPERATORS[type(node.operator).__name__]
        if op == "neg" and isinstance(operand, f.Const) and isinstance(operand.value, (int, float)):
            return f.Const(-operand.value)
        return f.Op(op, (operand,))

    def _binary(self, node: cst.BinaryOperation) -> f.Expr:
        # A long sum is a left-deep tree: walk it in a loop, so that its length does not count as depth.
        chain: list[cst.BinaryOperation] = []
        current: cst.BaseExpression = node
        while isinstance(current, cst.BinaryOperation):
            chain.append(current)
            current = current.left
        out = self.expr(current)
        for link in reversed(chain):
            out = f.Op(OPERATORS.get(type(link.operator).__name__, "?"), (out, self.expr(link.right)))
        return out

    def _boolean(self, node: cst.BooleanOperation) -> f.Expr:
        return f.Op(
            "and" if isinstance(node.operator, cst.And) else "or", (self.expr(node.left), self.expr(node.right))
        )

    def _comparison(self, node: cst.Comparison) -> f.Expr:
        left = self.expr(node.left)
        parts: list[f.Expr] = []
        for target in node.comparisons:
            right = self.expr(target.comparator)
            parts.append(f.Compare(OPERATORS[type(target.operator).__name__], left, right))
            left = right
        return parts[0] if len(parts) == 1 else f.Op("and", tuple(parts))

    def _if_exp(self, node: cst.IfExp) -> f.Expr:
        text = self._module.code_for_node(node.test)
        return f.IfExp(self.expr(node.test), self.expr(node.body), self.expr(node.orelse), text)

    def _walrus(self, node: cst.NamedExpr) -> f.Expr:
        return f.Walrus(self.expr(node.target), self.expr(node.value))

    def _await(self, node: cst.Await) -> f.Expr:
        self._waits += 1
        return waiting.awaited(self.expr(node.expression))

    def _yield(self, node: cst.Yield) -> f.Expr:
        self._yields += 1
        value = node.value
        if isinstance(value, cst.From):
            return f.Yield(self.expr(value.item))
        return f.Yield(None if value is None else self.expr(value))


def _dotted(node: cst.CSTNode) -> str:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    parts.append(node.value if isinstance(node, cst.Name) else "?")
    return ".".join(reversed(parts))


def _alias(alias: cst.ImportAlias) -> str | None:
    return None if alias.asname is None else _dotted(alias.asname.name)


_L = _Lowering
_SMALL: dict[type, Callable[[Any, Any], Sequence[f.Stmt]]] = {
    cst.Expr: _L._evaluate, cst.Assign: _L._assign, cst.AnnAssign: _L._annotated, cst.AugAssign: _L._augmented,
    cst.Return: _L._return, cst.Raise: _L._raise, cst.Assert: _L._assert, cst.Break: _L._jump,
    cst.Continue: _L._jump, cst.Global: _L._scope, cst.Nonlocal: _L._scope, cst.Import: _L._import,
    cst.ImportFrom: _L._import_from,
}  # fmt: skip
_COMPOUND: dict[type, Callable[[Any, Any], f.Stmt]] = {
    cst.If: _L._if, cst.For: _L._for, cst.While: _L._while, cst.Try: _L._try, cst.TryStar: _L._try,
    cst.With: _L._with, cst.Match: _L._match, cst.FunctionDef: _L._def, cst.ClassDef: _L._class,
}  # fmt: skip
_EXPR: dict[type, Callable[[Any, Any], f.Expr]] = {
    cst.Name: _L._word, cst.Integer: _L._word, cst.Float: _L._word, cst.Imaginary: _L._word,
    cst.SimpleString: _L._word, cst.ConcatenatedString: _L._concatenated, cst.FormattedString: _L._format,
    cst.Attribute: _L._attribute, cst.Call: _L._call, cst.Subscript: _L._subscript, cst.Tuple: _L._items,
    cst.List: _L._items, cst.Set: _L._items, cst.Dict: _L._dict, cst.ListComp: _L._comprehension,
    cst.SetComp: _L._comprehension, cst.DictComp: _L._comprehension, cst.GeneratorExp: _L._comprehension,
    cst.Lambda: _L._lambda, cst.UnaryOperation: _L._unary, cst.BinaryOperation: _L._binary,
    cst.BooleanOperation: _L._boolean, cst.Comparison: _L._comparison, cst.IfExp: _L._if_exp,
    cst.NamedExpr: _L._walrus, cst.Await: _L._await, cst.Yield: _L._yield,
}  # fmt: skip
