"""What deterministic mode does before a launch: the tests that stand on the way, found by the names given as data.

A guard counts for a place only where it dominates it: it runs before the place whenever the place runs. A guard says
"fails loudly" or "takes another path", never "deterministic".
"""

from __future__ import annotations

import functools
import re
from itertools import islice
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.flow import strongest
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.unit import Unit
from d9mlint.model.kernel import Guard


class Words(NamedTuple):
    """The vocabulary of a framework's guards."""

    tests: tuple[bytes, ...]
    """Functions that say whether deterministic mode is on."""
    settings: tuple[bytes, ...] = ()
    """Environment variables that switch it on, as they stand in strings."""
    alerts: tuple[bytes, ...] = ()
    """Functions that throw (or warn) in deterministic mode, whatever they are given."""
    assertions: tuple[bytes, ...] = ()
    """Macros that throw when their condition is false."""
    opposites: tuple[bytes, ...] = ()
    """Those of the tests that say the contrary."""

    @property
    def all(self) -> tuple[bytes, ...]:
        """All words: a function without any of them has no guard."""
        return (*self.tests, *self.settings, *self.alerts)


TENSORFLOW = Words(
    tests=(
        b"OpDeterminismRequired",
        b"RequireDeterminism",
        b"RequireCudnnDeterminism",
        b"RequireCuDNNDeterminism",
        b"OpOrderDeterminismRequired",
    ),
    settings=(b"TF_DETERMINISTIC_OPS", b"TF_CUDNN_DETERMINISTIC"),
    assertions=(b"OP_REQUIRES", b"OP_REQUIRES_ASYNC"),
)
"""tensorflow/core/util/determinism.h (from 2.5 on); the variables are older (NVIDIA/framework-reproducibility)."""
TORCH = Words(
    tests=(b"deterministicAlgorithms", b"deterministicCuDNN"),
    alerts=(b"alertNotDeterministic", b"alertCuBLASConfigNotDeterministic"),
    assertions=(b"TORCH_CHECK", b"AT_ASSERT", b"TORCH_CHECK_NOT_IMPLEMENTED"),
)
"""pytorch: aten/src/ATen/Context.h."""

_BRANCHES = frozenset((
    "if_statement", "for_statement", "while_statement", "do_statement", "switch_statement", "case_statement",
    "conditional_expression", "lambda_expression", "for_range_loop", "catch_clause",
))  # fmt: skip
_STATEMENTS = frozenset(("expression_statement", "declaration", "return_statement", "field_declaration"))
# Beside a test, these do not matter: they hold wherever a float atomic runs on a GPU, or say that the user opted out.
_NEUTRAL = re.compile(
    rb"GPU|Gpu|gpu|CUDA|Cuda|cuda|[Dd]evice|is_same|is_floating|isFloating|IsFloating|is_integral|isIntegral|IsInteger"
    rb"|ssociative|scalar_type|dtype|DataType|eterminis"
)
_THROWS = re.compile(
    rb"\bthrow\b|\bUnimplemented|\berrors::|Error\s*\(|\bTORCH_CHECK|\bFATAL\b|\bCtxFailure|\bAT_ERROR"
)
_HINT = re.compile(r"LIKELY|PREDICT_|__builtin_expect")
_READ_INTO = re.compile(rb"[^;{}]{0,300}?&\s*(\w+)\s*\)")
MAX_TESTS = 100
"""How many places of one word are looked at."""
_CLIMB = 400
"""How many levels of a tree are looked at; deeper ones are generated, or broken."""


@functools.lru_cache(maxsize=256)
def mentions(data: bytes, words: Words) -> bool:
    """Whether a source has any word of a guard; it is asked for each place in it."""
    return any(word in data for word in words.all)


def guard_before(unit: Unit, function: tree_sitter.Node, place: int, words: Words) -> Guard:
    """The strongest guard within ``function`` that dominates its byte ``place``.

    With the last byte of the function for ``place``: the guards that every call of it passes.
    """
    if not mentions(unit.data, words):
        return Guard()
    piece = unit.data[function.start_byte : function.end_byte]
    tests = _meanings(unit, function, words)
    found = []
    for word in sorted({*tests, *words.alerts}):
        for at in islice(word_places(piece, word), MAX_TESTS) if word in piece else ():
            node = _code(unit, function.start_byte + at, len(word))
            if node is not None:
                found.append(_judged(_Test(unit, function, node, tests.get(word, 0)), place, words))
    return strongest(found)


class _Test(NamedTuple):
    """A word of a guard in a function; deterministic mode makes it true (1) or false (-1), or it is an alert (0)."""

    unit: Unit
    function: tree_sitter.Node
    node: tree_sitter.Node
    means: int


def _code(unit: Unit, start: int, length: int) -> tree_sitter.Node | None:
    node = unit.root.descendant_for_byte_range(start, start + length)
    return node if node is not None and node.type in ("identifier", "field_identifier", "type_identifier") else None


def _meanings(unit: Unit, function: tree_sitter.Node, words: Words) -> dict[bytes, int]:
    """The tests, and the names that carry their answer here: members, predicates of the file, local variables."""
    known = dict.fromkeys(words.tests, 1) | dict.fromkeys(words.opposites, -1)
    if not any(w in unit.data for w in (*words.tests, *words.settings)):
        return known
    for setting in words.settings:
        for at in islice(word_places(unit.data, setting), MAX_TESTS) if setting in unit.data else ():
            read = _READ_INTO.match(unit.data, at)
            if read is not None:
                known[read[1]] = 1
            told = predicate(unit, at)
            if told:
                known.setdefault(told, 1)
    # Twice: a variable may be computed from another one.
    for _ in range(2):
        for word, means in list(known.items()):
            for at in islice(word_places(unit.data, word), MAX_TESTS) if word in unit.data else ():
                node = _code(unit, at, len(word))
                if node is None:
                    continue
                local = function.start_byte <= at < function.end_byte
                name, value = _receiver(unit, node, means, local)
                if value:
                    known.setdefault(name, value)
    return known


def predicate(unit: Unit, at: int) -> bytes:
    """The name of the function around a place, where it answers with a ``bool``."""
    node = unit.root.descendant_for_byte_range(at, at + 1)
    function = unit.function(node) if node is not None else None
    if function is None or function.node.end_byte - function.node.start_byte > 3000:
        return b""
    kind = function.node.child_by_field_name("type")
    return function.name.encode() if kind is not None and unit.text(kind) == "bool" else b""


def _receiver(unit: Unit, node: tree_sitter.Node, means: int, local: bool) -> tuple[bytes, int]:
    """The variable that an expression with a test is stored in, and what deterministic mode makes of it."""
    child, at = node, node.parent
    for _ in range(_CLIMB):
        if at is None or at.type in _BRANCHES or at.type.endswith("_statement") or not means:
            break
        if at.type in ("init_declarator", "assignment_expression", "field_initializer"):
            to = at.child_by_field_name("declarator") or at.child_by_field_name("left") or at.named_children[0]
            name = unit.text(to).rsplit("->", 1)[-1].rsplit(".", 1)[-1].strip()
            plain = name.isidentifier() and to != child
            return (name.encode(), means) if plain and (local or name.endswith("_")) else (b"", 0)
        means = _through(unit, at, child, means)
        child, at = at, at.parent
    return b"", 0


def _through(unit: Unit, at: tree_sitter.Node, child: tree_sitter.Node, means: int) -> int:
    """What an expression means whose part means 1 (true), -1 (false) or 0 (either) in deterministic mode."""
    if at.type == "unary_expression":
        return -means if unit.text(at).startswith("!") else 0
    if at.type == "binary_expression":
        operator, left, right = (at.child_by_field_name(f) for f in ("operator", "left", "right"))
        sign = unit.text(operator) if operator is not None else ""
        if sign not in ("||", "&&", "or", "and"):
            return 0
        if (means == 1) == (sign in ("||", "or")):
            return means
        other = right if left == child else left
        neutral = other is not None and (
            _NEUTRAL.search(unit.data, other.start_byte, other.end_byte) or unit.text(child) in unit.text(other)
        )
        return means if neutral else 0
    if at.type == "call_expression":
        called = at.child_by_field_name("function")
        return means if called == child or (called is not None and _HINT.search(unit.text(called))) else 0
    if at.type == "field_expression":
        return means if at.child_by_field_name("field") == child else 0
    plain = (
        "parenthesized_expression",
        "qualified_identifier",
        "condition_clause",
        "argument_list",
        "initializer_list",
    )
    return means if at.type in plain else 0


def _judged(test: _Test, place: int, words: Words) -> Guard:
    """What one test does for a place."""
    child, at, means = test.node, test.node.parent, test.means
    unit = test.unit
    for _ in range(_CLIMB):
        if at is None or at == test.function:
            break
        if at.type == "call_expression" and child.type == "argument_list":
            called = at.child_by_field_name("function")
            asserts = called is not None and called.end_byte - called.start_byte < 100
            if asserts and called is not None and unit.text(called).encode() in words.assertions and means == -1:
                return _guard(test, "throws") if _dominates(test, at, place) else Guard()
        if at.type in ("if_statement", "conditional_expression") and child == at.child_by_field_name("condition"):
            return _branched(test, at, means, place)
        if at.type in _STATEMENTS or at.type == "compound_statement":
            alert = test.means == 0 and _dominates(test, child if at.type == "compound_statement" else at, place)
            return _guard(test, "throws") if alert else Guard()
        if test.means:
            means = _through(unit, at, child, means)
        child, at = at, at.parent
    return Guard()


def _guard(test: _Test, level: str) -> Guard:
    return Guard(level, test.unit.location(test.node))


def _branched(test: _Test, node: tree_sitter.Node, means: int, place: int) -> Guard:
    """What an ``if`` on deterministic mode does for a place in one of its branches or after it."""
    if not means:
        return Guard()
    names = ("consequence", "alternative") if means == 1 else ("alternative", "consequence")
    taken, other = (node.child_by_field_name(n) for n in names)
    if taken is not None and taken.start_byte <= place < taken.end_byte:
        return Guard()
    end = _end(test.unit, taken) if taken is not None else ""
    if other is not None and other.start_byte <= place < other.end_byte:
        return _guard(test, end if end == "throws" else "other-path")
    return _guard(test, end) if end and _dominates(test, node, place) else Guard()


def _end(unit: Unit, branch: tree_sitter.Node) -> str:
    """How a branch ends, where it does not go on: ``throws`` or ``other-path``."""
    last = branch
    for _ in range(_CLIMB):
        if last.type not in ("compound_statement", "else_clause"):
            break
        children = [c for c in last.named_children if c.type != "comment"]
        if not children:
            return ""
        last = children[-1]
    if last.type not in ("return_statement", "throw_statement", "expression_statement", "break_statement"):
        return ""
    # The macros that report an error return from the function themselves.
    before = unit.data[branch.start_byte : last.end_byte] if last.type == "return_statement" else b""
    if _THROWS.search(unit.data, last.start_byte, last.end_byte) or b"SetStatus" in before or b"CtxFailure" in before:
        return "throws"
    return "" if last.type == "expression_statement" else "other-path"


def _dominates(test: _Test, node: tree_sitter.Node, place: int) -> bool:
    """Whether a statement runs before a place whenever the place runs."""
    if place < node.end_byte:
        return False
    child, at = node, node.parent
    for _ in range(_CLIMB):
        if at is None or child == test.function:
            return at is not None and child.end_byte > place
        if at.type in _BRANCHES and not _always(test.unit, at, child):
            box = at if at.type == "case_statement" else child
            return box.start_byte <= place < box.end_byte
        child, at = at, at.parent
    return False


def _always(unit: Unit, branch: tree_sitter.Node, child: tree_sitter.Node) -> bool:
    """Whether this part of a branching statement always runs, or at least for kernels on a GPU."""
    condition = branch.child_by_field_name("condition")
    if condition is None or branch.type != "if_statement":
        return False
    text = unit.data[condition.start_byte : condition.end_byte]
    plain = b"!" not in text and b"||" not in text
    on_gpu = plain and re.search(rb"GPU|is_cuda|kCUDA|DeviceType::CUDA", text) is not None
    return child == condition or (on_gpu and child == branch.child_by_field_name("consequence"))
