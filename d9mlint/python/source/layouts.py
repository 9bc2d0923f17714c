"""What syntax nodes of libcst write, in order: for the kinds of which a program has many.

It is what `_codegen_impl` of libcst 1.8 (_nodes/statement.py, expression.py, op.py, whitespace.py) does for a tree that
was parsed, where each token that may be left out is there or is not. A test holds both against each other.
"""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst


class Step(NamedTuple):
    """One thing that a node writes."""

    what: str
    """``token``, ``node`` (which may be left out), ``nodes``, ``text``, or ``indent`` (``indented``: where it is)."""
    name: str = ""
    """The field of the node that holds it."""
    width: int = 0
    """Of a token."""


_LINE = "leading_lines* |"
_DECORATED = "leading_lines* decorators* lines_after_decorators* |"
_NAMED = "name whitespace_after_name type_parameters whitespace_after_type_parameters"
_BODY = "whitespace_before_colon ':' body"
_ATOM = "lpar* value= rpar*"
_TWO = "lpar* left operator right rpar*"
_WRITTEN = {
    "SimpleStatementLine": f"{_LINE} body* trailing_whitespace",
    "SimpleStatementSuite": "leading_whitespace body* trailing_whitespace",
    "Expr": "value semicolon",
    "Assign": "targets* value semicolon",
    "AssignTarget": "target whitespace_before_equal '=' whitespace_after_equal",
    "AnnAssign": "target annotation equal value semicolon",
    "Annotation": "whitespace_before_indicator ':' whitespace_after_indicator annotation",
    "AugAssign": "target operator value semicolon",
    "Return": "'return' whitespace_after_return value semicolon",
    "Import": "'import' whitespace_after_import names* semicolon",
    "ImportAlias": "name asname comma",
    "AsName": "whitespace_before_as 'as' whitespace_after_as name",
    "Else": f"{_LINE} 'else' {_BODY}",
    "For": f"{_LINE} asynchronous 'for' whitespace_after_for target whitespace_before_in 'in' whitespace_after_in iter "
    f"{_BODY} orelse",
    "While": f"{_LINE} 'while' whitespace_after_while test {_BODY} orelse",
    "Try": f"{_LINE} 'try' {_BODY} handlers* orelse finalbody",
    "ExceptHandler": f"{_LINE} 'except' whitespace_after_except type name {_BODY}",
    "Finally": f"{_LINE} 'finally' {_BODY}",
    "With": f"{_LINE} asynchronous 'with' whitespace_after_with lpar items* rpar {_BODY}",
    "WithItem": "item asname comma",
    "ClassDef": f"{_DECORATED} 'class' whitespace_after_class {_NAMED} lpar bases* keywords* rpar {_BODY}",
    "Parameters": "posonly_params* posonly_ind params* star_arg kwonly_params* star_kwarg",
    "Param": "star= whitespace_after_star name annotation equal default comma whitespace_after_param",
    "Decorator": f"{_LINE} '@' whitespace_after_at decorator trailing_whitespace",
    "Call": "lpar* func whitespace_after_func '(' whitespace_before_args args* ')' rpar*",
    "Arg": "star= whitespace_after_star keyword equal value comma whitespace_after_arg",
    "AssignEqual": "whitespace_before '=' whitespace_after",
    "Attribute": "lpar* value dot attr rpar*",
    "Name": _ATOM,
    "Integer": _ATOM,
    "Float": _ATOM,
    "SimpleString": _ATOM,
    "Subscript": "lpar* value whitespace_after_value lbracket slice* rbracket rpar*",
    "SubscriptElement": "slice comma",
    "Index": "star= whitespace_after_star value",
    "Slice": "lower first_colon upper second_colon step",
    "IfExp": "lpar* body whitespace_before_if 'if' whitespace_after_if test whitespace_before_else 'else' "
    "whitespace_after_else orelse rpar*",
    "Tuple": "lpar* elements* rpar*",
    "List": "lpar* lbracket elements* rbracket rpar*",
    "Dict": "lpar* lbrace elements* rbrace rpar*",
    "Set": "lpar* lbrace elements* rbrace rpar*",
    "StarredElement": "lpar* '*' whitespace_before_value value rpar* comma",
    "Element": "value comma",
    "DictElement": "key whitespace_before_colon ':' whitespace_after_colon value comma",
    "BinaryOperation": _TWO,
    "BooleanOperation": _TWO,
    "UnaryOperation": "lpar* operator expression rpar*",
    "Comparison": "lpar* left comparisons* rpar*",
    "ComparisonTarget": "operator comparator",
    "Not": "'not' whitespace_after",
    "Minus": "'-' whitespace_after",
    "LeftParen": "'(' whitespace_after",
    "RightParen": "whitespace_before ')'",
    "LeftSquareBracket": "'[' whitespace_after",
    "RightSquareBracket": "whitespace_before ']'",
    "LeftCurlyBrace": "'{' whitespace_after",
    "RightCurlyBrace": "whitespace_before '}'",
    "TrailingWhitespace": "whitespace comment newline",
    "EmptyLine": "|? whitespace comment newline",
    "ParenthesizedWhitespace": "first_line empty_lines* |? last_line",
    "SimpleWhitespace": "value=",
    "Comment": "value=",
    **{
        kind: f"whitespace_before '{token}' whitespace_after"
        for kind, token in {
            "Comma": ",", "Dot": ".", "Semicolon": ";", "Colon": ":", "And": "and", "Or": "or", "In": "in", "Is": "is",
            "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%",
            "Power": "**", "Equal": "==", "NotEqual": "!=", "LessThan": "<", "GreaterThan": ">", "LessThanEqual": "<=",
            "GreaterThanEqual": ">=", "AddAssign": "+=", "SubtractAssign": "-=", "MultiplyAssign": "*=",
            "DivideAssign": "/=",
        }.items()
    },
}  # fmt: skip
RETURNS = "whitespace_before_indicator '->' whitespace_after_indicator annotation"
IF = f"{_LINE} 'if' whitespace_before_test test whitespace_after_test ':' body"
FUNCTION = f"{_DECORATED} asynchronous 'def' whitespace_after_def {_NAMED} '(' whitespace_before_params params ')'"


def steps(layout: str) -> tuple[Step, ...]:
    """A layout, as it stands in the table, step by step."""
    return tuple(map(_step, layout.split()))


def _step(word: str) -> Step:
    if word[0] == "'":
        return Step("token", width=len(word) - 2)
    if word[0] == "|":
        return Step("indented" if word[1:] else "indent")
    return Step({"*": "nodes", "=": "text"}.get(word[-1], "node"), word.rstrip("*="))


LAYOUTS: dict[type[cst.CSTNode], tuple[Step, ...]] = {
    getattr(cst, kind): steps(layout) for kind, layout in _WRITTEN.items()
}
"""By kinds of nodes; all others are left to libcst."""
