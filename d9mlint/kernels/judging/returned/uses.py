"""What happens with the old value that an atomic returns."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import around, declarations, memory
from d9mlint.kernels.judging.known.scalars import kind, words
from d9mlint.kernels.judging.returned import outside, values
from d9mlint.kernels.judging.returned.algorithms import DROPPING
from d9mlint.kernels.judging.returned.carries import carried, toggled
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_STEPS = 60
_MAX_NAMES = 6
_MAX_FOLLOWED = 200
_MAX_BYTES = 200_000
"""Functions larger than this are generated: values in variables are not followed there."""
_OPERANDS = ("binary_expression", "parenthesized_expression", "unary_expression", "cast_expression")
_ORDER = ("unused", "ticket", "first", "forwarded", "argument", "value", "index")
"""The kinds of use, the weightier later; ``first`` and ``argument`` are finer than ``model.kernel.USES``."""
_WEIGHTY = ("value", "index", "argument")
_TRANSPARENT = words(
    "parenthesized_expression cast_expression unary_expression condition_clause initializer_list field_initializer"
    " init_statement initializer_pair argument_list compound_literal_expression"
)
_BROADCASTS = (
    "__shfl", "shfl", "broadcast", "__reduce", "__ldg", "min", "max", "static_cast", "reinterpret_cast", "make_"
)  # fmt: skip
"""How functions begin whose value is the one that they are given, or holds it."""
_TO = re.compile(r"[a-z]To[A-Z]|(?:^|_)to_[a-z]")
"""In the names of conversions: ``orderedIntToFloat``, ``to_half``."""
_POINTING = re.compile(r"(?:\A|_)(?:ptr|pointer|addr|address)\Z|[a-z](?:Ptr|Pointer|Addr|Address)\Z")
"""Functions that give the address for a number."""
_STORING = re.compile(r"(?:\A|[.>])(?:push|emplace)(?:_back)?\Z")
"""Methods of containers that keep what they are given."""
_ADDRESS = re.compile(r"[()]\s*&\s*\w+\s*\)*\Z")
_MAX_TEXT = 500
_LAST = re.compile(r"-\s*1u?\b|\bgridDim\b")
_STATEMENT = re.compile(rb"\s*;\s*\)")
_ARGUMENT = re.compile(rb",\s*\Z")


class Use(NamedTuple):
    """How an old value is used.

    ``kind`` is one of ``USES``; ``text`` quotes where. ``constant``: compared with a literal, such as 0 (the first
    one to come), instead of with a count; ``spins``: a loop waits on it; ``passed``: it is only given to a function.
    """

    kind: str
    text: str = ""
    constant: bool = False
    spins: bool = False
    passed: bool = False
    queue: bool = False
    """Each turn of a loop takes the next value up to a bound: threads fetch their work by it."""
    ends: bool = True
    """Whether the test of a ``first`` or ``ticket`` may end a loop; else it only guards a statement."""
    into: bool = False
    """Whether an ``index`` is where something is stored: ``out[old] = x``."""
    names: frozenset[str] = frozenset()
    """The variables that hold the value."""
    through: str = ""
    """The parameter, by reference, in which the caller finds a ``forwarded`` value."""
    given: tuple[Node, int] | None = None
    """The call that is handed the value, and which of its arguments that is."""


def use(call: Node, unit: Unit) -> Use:
    """What becomes of the value of a call."""
    if _STATEMENT.match(unit.data, call.end_byte) and _ARGUMENT.search(
        unit.data, max(0, call.start_byte - 40), call.start_byte
    ):
        return Use("unused")  # a macro is given a statement: ``FOR_EACH(i, n, atomicAdd(&sums[i], x[i]);)``
    tracer = _Tracer(unit, call)
    return _weighed(tracer.follow(call, 0), tracer)


def _weighed(found: list[Use], tracer: _Tracer) -> Use:
    """The weightiest of the uses of a value.

    Work is not fetched by what is only a place to store at, nor where the bound ends no loop.
    """
    worst = max(found, key=lambda u: _ORDER.index(u.kind), default=Use("unused"))
    bounded = any(u.kind in ("first", "ticket") and u.ends for u in found)
    work = worst.kind in _WEIGHTY and any(u.spins or (u.kind in _WEIGHTY and not u.into) for u in found)
    worst = worst._replace(names=frozenset(tracer.names))
    if work and bounded and any(_turns(call, tracer) for call in (tracer.call, *tracer.calls)):
        return Use("value" if worst.kind == "argument" else worst.kind, worst.text, queue=True, names=worst.names)
    if worst.kind == "first":
        return worst._replace(kind="ticket", constant=True)
    if worst.kind == "argument":
        return worst._replace(kind="value", passed=True)
    return worst


def handed_back(call: Node, place: int, unit: Unit) -> Use:
    """What becomes of the variable that a call is given to put an old value in."""
    given = around.arguments(call)
    if not 0 <= place < len(given) or given[place].type != "identifier":
        return Use("value", " ".join(unit.text(call).split())[:80])
    tracer = _Tracer(unit, call)
    kept, through = outside.kept(given[place], unit)
    beyond = [Use(kept, unit.text(given[place]), through=through)] if kept else []
    return _weighed([*beyond, *tracer.kept(given[place])], tracer)


def of_parameter(function: Node, place: int, unit: Unit) -> Use:
    """What becomes of what a function is handed as one of its parameters."""
    declarator = declarations.parameter_at(function, place)
    parameter = declarator.parent if declarator is not None else None
    if declarator is None or parameter is None:
        return Use("unused")
    tracer = _Tracer(unit, parameter)
    return _weighed(tracer.kept(declarator), tracer)


def assembled(operand: Node, unit: Unit) -> Use | None:
    """What becomes of the first output of the inline assembler that has this operand; None where it has none."""
    at: Node | None = operand
    while at is not None and at.type != "gnu_asm_expression":
        at = at.parent
    listed = at.child_by_field_name("output_operands") if at is not None else None
    outputs = [c.child_by_field_name("value") for c in listed.named_children] if listed is not None else []
    first = outputs[0] if outputs else None
    if at is None or first is None:
        return None
    if first.type != "identifier":
        return Use("value", unit.text(first))
    tracer = _Tracer(unit, at)
    return _weighed(tracer.kept(first), tracer)


class _Tracer:
    def __init__(self, unit: Unit, call: Node) -> None:
        self.unit = unit
        self.call = call
        self.left = _MAX_FOLLOWED
        self.node = call
        """What is followed."""
        self.calls: list[Node] = []
        """The calls of a lambda that gives the value."""
        self.names: set[str] = set()
        """The variables that were followed."""

    def follow(self, node: Node, names: int) -> list[Use]:
        at = self.node = node
        self.left -= 1
        if self.left < 0:
            return []
        for _ in range(_MAX_STEPS):
            parent = at.parent
            if parent is None:
                return [Use("unused")]
            found = self._at(parent, at, names)
            if found is not None:
                return found
            at = parent
        return [Use("value", self._text(node))]

    def kept(self, variable: Node) -> list[Use]:
        """The uses of a variable that gets the value."""
        named = declarations.named(variable, self.unit)
        return self._uses_of(named[0] if named is not None else self.unit.text(variable), variable, 0)

    def _text(self, node: Node) -> str:
        return " ".join(self.unit.text(node).split())[:80]

    def _at(self, parent: Node, at: Node, names: int) -> list[Use] | None:
        """The uses that a parent means; None to go on with the parent itself."""
        kind_ = parent.type
        if kind_ in ("expression_statement", "compound_statement", "translation_unit"):
            return [Use("unused")]
        if kind_ in around.LOOPS or kind_ == "if_statement" or kind_ == "switch_statement":
            return self._condition(parent, at)
        if kind_ == "return_statement":
            return self._returned(parent, names)
        if kind_ == "binary_expression":
            return self._binary(parent, at)
        if kind_ == "conditional_expression":
            return self._condition(parent, at) if at == parent.child_by_field_name("condition") else None
        if kind_ == "comma_expression":
            return None if at == parent.named_children[-1] else [Use("unused")]
        if kind_ in ("subscript_argument_list", "subscript_expression"):
            element = at == parent.child_by_field_name("argument")
            return None if element else [Use("index", self._text(parent), into=around.stored_at(parent))]
        if kind_ == "pointer_expression":
            # `&old` hands on the variable, and `*(int*)&old` is its value again.
            again = parent.children[0].type == "&" or _ADDRESS.search(self.unit.text(at)[:_MAX_TEXT]) is not None
            return None if again else [Use("index", self._text(parent), into=around.stored_at(parent))]
        if kind_ == "init_declarator":
            return self._variable(parent.child_by_field_name("declarator"), names)
        if kind_ == "assignment_expression":
            return self._assigned(parent, at, names)
        if kind_ == "call_expression":
            return self._argument(parent, at, names)
        return None if kind_ in _TRANSPARENT else [Use("value", self._text(parent))]

    def _condition(self, parent: Node, at: Node) -> list[Use] | None:
        body = parent.child_by_field_name("body") or parent.child_by_field_name("consequence")
        if at == body or (parent.type == "for_statement" and at == parent.child_by_field_name("update")):
            return [Use("unused")]
        if toggled(at, self.call, self.unit):
            return []
        spins = parent.type in around.LOOPS
        ends = spins or around.may_leave(parent)
        return [Use("ticket" if spins else "first", self._text(at), spins=spins, ends=ends)]

    def _returned(self, statement: Node, names: int) -> list[Use]:
        """What becomes of the value that a lambda gives, where it is called; of a function, that is up to callers."""
        lambda_ = around.above(statement, ("lambda_expression", "function_definition"))
        made = lambda_.parent if lambda_ is not None and lambda_.type == "lambda_expression" else None
        if made is None or lambda_ is None or names >= _MAX_NAMES:
            return [Use("forwarded", self._text(statement))]
        calls = [made] if made.type == "call_expression" and lambda_ == made.child_by_field_name("function") else []
        name = made.child_by_field_name("declarator") if made.type == "init_declarator" else None
        scope = around.above(made, ("compound_statement",))
        if name is not None and name.type == "identifier" and scope is not None:
            named = (node.parent for node in around.identifiers(scope, self.unit.text(name), self.unit) if node != name)
            calls += [one for one in named if one is not None and one.type == "call_expression"]
        self.calls += calls
        if made.type == "argument_list" and made.parent is not None and made.parent.type == "call_expression":
            given = self.follow(made.parent, names + 1)  # `invoke_one_broadcast(tile, [&] { return old; })`
            if any(use.kind != "unused" for use in given):
                return given
            called = made.parent.child_by_field_name("function")
            if called is not None and not DROPPING.search(self.unit.text(called)):
                return [Use("value", self._text(statement))]  # `transform(first, last, out, [&] { return old; });`
        found = [use for one in calls for use in self.follow(one, names + 1)]
        return found or [Use("forwarded", self._text(statement))]

    def _binary(self, parent: Node, at: Node) -> list[Use] | None:
        operator = parent.child_by_field_name("operator")
        word = operator.type if operator is not None else ""
        left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
        other = right if at == left else left
        spins = around.waits(parent) or around.waits_idly(parent, self.unit)
        if spins and word in ("==", "!=", "<", ">", "<=", ">="):
            return [Use("ticket", self._text(parent), spins=True)]
        if word in ("==", "!=") and toggled(parent, self.call, self.unit):
            return []
        if word in ("==", "!=") and other is not None:
            first = other.type in ("number_literal", "true", "false") or (_masked(at) and not self._counts(other))
            return [Use("first" if first else "ticket", self._text(parent), ends=around.may_end_loop(parent))]
        if word in ("&&", "||"):
            return [Use("first", self._text(parent), ends=around.may_end_loop(parent))]
        if word not in ("<", ">", "<=", ">="):
            return None
        return [] if carried(parent, self.call, self.unit) else [
            Use("first", self._text(parent), ends=around.may_end_loop(parent))
        ]  # fmt: skip

    def _counts(self, other: Node) -> bool:
        """Whether a comparison is with the last of a count: some bits of the old value are a ticket."""
        return _LAST.search(self.unit.text(other)) is not None

    def _variable(self, declarator: Node | None, names: int) -> list[Use]:
        named = declarations.named(declarator, self.unit) if declarator is not None else None
        if declarator is None or named is None:
            return [Use("value")]
        return self._uses_of(named[0], declarator, names)

    def _assigned(self, parent: Node, at: Node, names: int) -> list[Use] | None:
        left = parent.child_by_field_name("left")
        if left is None or at == left:
            return [Use("index", self._text(parent), into=True)] if _subscripted(at) else [Use("unused")]
        kept, through = outside.kept(left, self.unit)
        beyond = [Use(kept, self._text(parent), through=through)] if kept else []
        if left.type == "identifier":
            later = [*beyond, *self._uses_of(self.unit.text(left), left, names)]
            outer = parent.parent
            plain = outer is None or outer.type in ("expression_statement", "comma_expression", "for_statement")
            return later if plain else later + (self.follow(parent, names + 1) if names < _MAX_NAMES else [])
        if beyond:
            again = any(one.kind in _WEIGHTY for one in self._read_again(left, parent, names))
            return [Use("value", self._text(parent))] if again else beyond
        root = memory.base(left, self.unit)
        own = root is not None and left.type == "subscript_expression" and _array(root, self.unit)
        own = own or (root is not None and values.gathered(root, left, parent, self.unit))
        if root is not None and (own or memory.memory(left, self.unit) == "shared"):
            return self._uses_of(self.unit.text(root), left, names, own)
        return [Use("value", self._text(parent))]

    def _read_again(self, left: Node, parent: Node, names: int) -> list[Use]:
        """The uses of a member that got the value, later in the same function: ``this->id``."""
        function = self.unit.function(parent)
        found: list[Use] = []
        again = re.compile(re.escape(left.text or b"") + rb"\b(?!\s*=[^=])")
        end = function.node.end_byte if function is not None and names < _MAX_NAMES else 0
        for match in again.finditer(self.unit.data, parent.end_byte, end) if end else ():
            node = self.unit.root.descendant_for_byte_range(match.start(), match.end())
            found += self.follow(node, names + 1) if node is not None and node.text == left.text else []
        return found

    def _uses_of(self, name: str, defined: Node, names: int, array: bool = False) -> list[Use]:
        """The uses of a variable, or of an array, that holds the old value, in the function around.

        A piece of a kernel (a template for a text) has none.
        """
        block = around.scope(name, defined, self.unit)
        self.names.add(name)
        if names >= _MAX_NAMES or block.end_byte - block.start_byte > _MAX_BYTES:
            return [Use("value", name)]
        found: list[Use] = []
        start = around.begin(defined)
        for node in around.identifiers(block, name, self.unit):
            inside_call = self.call.start_byte <= node.start_byte < self.call.end_byte
            other = node.start_byte >= start and node.start_byte != defined.start_byte
            other = other and not (array and around.overwritten(values.place(node)))  # another element
            other = other and not around.asserted(node, self.unit)
            if other and not inside_call and not around.overwritten(node):
                found += self.follow(around.element(node), names + 1)
        return found or [Use("unused")]

    def _argument(self, parent: Node, at: Node, names: int) -> list[Use] | None:
        called = parent.child_by_field_name("function")
        if called is None or at == called:
            return None
        text = self.unit.text(called)
        name = re.sub(r"<.*>", "", text, flags=re.DOTALL).rpartition("::")[2].partition("<")[0]
        if "static_cast<void>" in text:
            return [Use("unused")]
        if called.type == "identifier" and declarations.declared(called, name, self.unit) is not None:
            return [Use("index", self._text(parent))]
        whole = parent.parent
        if whole is not None and whole.type == "assignment_expression" and whole.child_by_field_name("left") == parent:
            return [Use("index", self._text(parent), into=True)]  # of a view: what is assigned to is an element
        handed = Use("argument", self._text(parent), given=(parent, around.argument(parent, self.node)))
        if whole is not None and whole.type == "expression_statement" and "_as_" not in name:
            if called.type == "field_expression" and _STORING.search(name):
                return [Use("value", self._text(parent))]
            return [handed]  # called for what it does: `add_edge_to_graph(old, x);`
        converts = name.startswith(_BROADCASTS) or "_as_" in name or "2" in name or kind(text)
        if converts or _TO.search(name) is not None or "complex" in text:
            return None
        if _POINTING.search(name) or (whole is not None and whole.type == "pointer_expression"):
            return None  # a place that is reckoned by it: `*slot_ptr(old) = x`, `*map(p) = x`
        if "carry" in name.lower() and carried(parent, self.call, self.unit):
            return []
        if names < _MAX_NAMES and values.computed(parent, name, self.unit):
            made = self.follow(parent, names + 1)
            if made and all(use.kind == "forwarded" for use in made):
                return made  # whether it matters is up to the callers
        return [handed]


def _array(name: Node, unit: Unit) -> bool:
    """Whether a name is an array of the function itself."""
    found = declarations.declared(name, unit.text(name), unit)
    return found is not None and found.kind == "local" and found.node.type == "array_declarator"


def _turns(call: Node, tracer: _Tracer) -> bool:
    """Whether the loop around a call goes on for as long as the call gives it something: ``while (true)``."""
    names = set(tracer.names)
    at = call.parent
    while at is not None and at.type not in ("function_definition", "lambda_expression"):
        if at.type == "assignment_expression":
            left = at.child_by_field_name("left")
            names |= {tracer.unit.text(left)} if left is not None and left.type == "identifier" else set()
        if at.type in around.LOOPS:
            condition = at.child_by_field_name("condition")
            text = tracer.unit.text(condition).strip("() ;") if condition is not None else ""
            return text in ("", "true", "1") or not names.isdisjoint(re.findall(r"\w+", text))
        at = at.parent
    return False


def _masked(compared: Node) -> bool:
    """Whether only some bits of the old value are compared: who sets a bit first sees it unset, no count is full."""
    if compared.type == "binary_expression":
        operator = compared.child_by_field_name("operator")
        if operator is not None and operator.type in ("&", "|", "^", ">>"):
            return True
    return any(map(_masked, compared.named_children)) if compared.type in _OPERANDS else False


def _subscripted(node: Node) -> bool:
    return node.type in ("subscript_expression", "pointer_expression")
