"""The type of an expression, as far as one file and the structs it names tell."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import classes, declarations
from d9mlint.kernels.judging.known import functions
from d9mlint.kernels.judging.known.scalars import arguments, element, kind, named_float, plain, short
from d9mlint.kernels.judging.known.spelled import Type, class_named, depth_of, part, pointer_to, spelled
from d9mlint.kernels.judging.types import deduced, nearby, setups, shorthands, typedefs
from d9mlint.kernels.judging.types.templates import aliases, substituted
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_HANDED = re.compile(r"c?begin|get|ptr|(?:mutable_|shared_|device_|host_|gpu_|cpu_)?data(?:_ptr|_handle)?")
"""Methods that give the address of what an object holds."""
_PART = re.compile(r"(\w+)::(?:(?:(?:non_)?const_)?(?:value|element|scalar|array_scalar)_type|t_\w+|HostMirror)")
"""The type of the elements of a view or container."""
_MAX_DEDUCED = 8
_MAX_STEPS = 40
_MAX_READ = 500


def type_of(
    node: Node | None, unit: Unit, repository: Repository, host: tuple[Unit, Node] | None = None
) -> Type | None:
    """The type of an expression; None where it cannot be told.

    ``host`` is where the expansion of a macro stands: the names that the piece does not declare are those seen there.
    """
    return _Reader(unit, repository, host).read(node, _MAX_STEPS)


class _Reader:
    def __init__(self, unit: Unit, repository: Repository, host: tuple[Unit, Node] | None = None) -> None:
        self.unit = unit
        self.repository = repository
        self.host = host
        self.left = _MAX_READ

    def read(self, node: Node | None, steps: int) -> Type | None:
        self.left -= 1
        if node is None or steps <= 0 or self.left < 0:
            return None
        method = getattr(self, f"_{node.type}", None)
        found = method(node, steps - 1) if method is not None else None
        return found if found is None else self._resolved(found, node)

    def _resolved(self, found: Type, node: Node) -> Type:
        """With aliases of this file followed (``scalar_t`` -> ``float``), unless the name already says its kind."""
        for _ in range(8):
            part = _PART.fullmatch(found.name) if not kind(found.name) else None
            if part is not None:
                held = self._held(part[1], node)
                if held:
                    return Type(held, found.depth)
            if kind(found.name) or not re.fullmatch(r"[\w:]+", found.name):
                break
            name = short(found.name)
            if declarations.template_parameter(node, name, self.unit) is not None:
                break
            meaning = declarations.alias(node, name, self.unit) or shorthands.meaning(name, self.unit)
            meaning = meaning or typedefs.meaning(self.repository, name)
            if meaning is None or plain(meaning) == found.name:
                break
            target = self._deduced(meaning, node) if "decltype" in meaning else spelled(meaning)
            if target is None:
                break
            found = Type(target.name, target.depth + found.depth)
        return found

    def _deduced(self, meaning: str, node: Node) -> Type | None:
        """The type of the variable in a ``decltype(x)``, or of what it points to (``*x``, ``x[0]``)."""
        name, element_ = deduced.variable(meaning)
        seen = declarations.declared(node, name, self.unit) if name else None
        found = self._of(seen, _MAX_DEDUCED) if seen is not None else None
        # What an iterator is bound to is what it points to.
        return found.pointee() or found if found is not None and element_ else found

    def _held(self, name: str, node: Node) -> str:
        """The element type of what an alias of this file stands for: ``view_t::value_type`` of a view of floats."""
        parameter = declarations.template_parameter(node, name, self.unit)
        meaning = declarations.alias(node, name, self.unit) if parameter is None else None
        if meaning is None and parameter is None:
            meaning = typedefs.meaning(self.repository, name)
        held = element(meaning) if meaning is not None else ""
        return held if kind(held) else ""

    def _identifier(self, node: Node, steps: int) -> Type | None:
        name = self.unit.text(node)
        found = declarations.declared(node, name, self.unit)
        if found is not None:
            return self._of(found, steps)
        if self.host is None:
            written = setups.declared_by_macro(node, name, self.unit, self.repository)
            return spelled(written) if written else self._of_own_class(name, node, steps)
        unit, place = self.host
        reader = _Reader(unit, self.repository)
        found = declarations.declared(place, name, unit)
        written = setups.declared_by_macro(place, name, unit, self.repository) if found is None else ""
        typed = reader._of(found, steps) if found is not None else spelled(written) if written else None
        return reader._resolved(typed, place) if typed is not None else None

    def _of_own_class(self, name: str, node: Node, steps: int) -> Type | None:
        """A member of the class whose function this is, which is defined elsewhere, or of a base of it."""
        function = self.unit.function(node)
        if function is None or not function.scope or steps <= 0:
            return None
        return self._member(function.scope, name, node, steps - 1)

    def _of(self, found: declarations.Declared, steps: int) -> Type | None:
        deduced = found.type.rpartition("::")[2] == "Tensor" and found.value is not None
        if deduced or re.search(r"\bauto\b|\bdecltype\b", found.type):
            if found.kind == "range":
                ranged = found.value
                if ranged is not None and ranged.type == "call_expression":
                    called = ranged.child_by_field_name("function")
                    if called is not None and short(self.unit.text(called)) in functions.RANGES:
                        return Type("int")
                whole = self.read(ranged, steps)
                return whole.pointee() if whole is not None else None
            return self.read(found.value, steps)
        outer = spelled(found.type)
        return Type(outer.name, outer.depth + found.depth)

    def _parenthesized_expression(self, node: Node, steps: int) -> Type | None:
        return self.read(node.named_children[0] if node.named_children else None, steps)

    def _comma_expression(self, node: Node, steps: int) -> Type | None:
        return self.read(node.named_children[-1] if node.named_children else None, steps)

    def _pointer_expression(self, node: Node, steps: int) -> Type | None:
        inner = self.read(node.child_by_field_name("argument"), steps)
        if inner is None:
            return None
        return Type(inner.name, inner.depth + 1) if node.children[0].type == "&" else inner.pointee()

    def _subscript_expression(self, node: Node, steps: int) -> Type | None:
        inner = self.read(node.child_by_field_name("argument"), steps)
        if inner is None or inner.depth:
            return inner.pointee() if inner is not None else None
        # An accessor of several dimensions: `acc[i][j]` is an element once all are given, so every level keeps
        # the element type; what is between is never the target of an atomic.
        return inner.pointee() or (inner if kind(inner.name) or not element(inner.name) else None)

    def _binary_expression(self, node: Node, steps: int) -> Type | None:
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
            return Type("bool")
        left = self.read(node.child_by_field_name("left"), steps)
        if left is not None and left.depth:
            return left
        right = self.read(node.child_by_field_name("right"), steps)
        if operator is not None and operator.type in ("*", "/"):  # of numbers: a float, whatever the other is
            floats = (t for t in (left, right) if t is not None and (kind(t.name) == "float" or named_float(t.name)))
            return next(floats, left and right)
        if right is not None and right.depth:
            return right
        if left is None or right is None:
            # `unknown + i` may be a pointer: nothing can be said.
            return None
        return right if kind(right.name) == "float" and kind(left.name) != "float" else left

    def _unary_expression(self, node: Node, steps: int) -> Type | None:
        return self.read(node.child_by_field_name("argument"), steps)

    _update_expression = _unary_expression

    def _assignment_expression(self, node: Node, steps: int) -> Type | None:
        return self.read(node.child_by_field_name("left"), steps)

    def _conditional_expression(self, node: Node, steps: int) -> Type | None:
        first = self.read(node.child_by_field_name("consequence"), steps)
        return first if first is not None else self.read(node.child_by_field_name("alternative"), steps)

    def _cast_expression(self, node: Node, steps: int) -> Type | None:
        named = node.child_by_field_name("type")
        return spelled(self.unit.text(named)) if named is not None else None

    def _number_literal(self, node: Node, steps: int) -> Type | None:
        text = self.unit.text(node).lower()
        if not text.startswith("0x") and re.search(r"[.e]|f\Z", text):
            return Type("float" if text.endswith("f") else "double")
        return Type("int")

    def _true(self, node: Node, steps: int) -> Type | None:
        return Type("bool")

    _false = _true

    def _initializer_list(self, node: Node, steps: int) -> Type | None:
        return self.read(node.named_children[0], steps) if len(node.named_children) == 1 else None

    def _argument_list(self, node: Node, steps: int) -> Type | None:
        return self.read(node.named_children[0], steps) if len(node.named_children) == 1 else None

    def _compound_literal_expression(self, node: Node, steps: int) -> Type | None:
        named = node.child_by_field_name("type")
        return spelled(self.unit.text(named)) if named is not None else None

    def _this(self, node: Node, steps: int) -> Type | None:
        at: Node | None = node
        while at is not None:
            if at.type in ("struct_specifier", "class_specifier"):
                name = at.child_by_field_name("name")
                return Type(self.unit.text(name).partition("<")[0], 1) if name is not None else None
            at = at.parent
        function = self.unit.function(node)
        return Type(function.scope, 1) if function is not None and function.scope else None

    def _field_expression(self, node: Node, steps: int) -> Type | None:
        field = node.child_by_field_name("field")
        whole = self.read(node.child_by_field_name("argument"), steps)
        if whole is None or field is None or field.type != "field_identifier":
            return None
        name = self.unit.text(field)
        if functions.VECTORS.match(short(whole.name)) and name in ("x", "y", "z", "w"):
            return Type(short(whole.name)[:-1])
        found = self._member(whole.name, name, node, steps)
        if found is None and name in ("x", "y", "z", "w") and re.search(r"::\w+\Z|^\w+\Z", whole.name):
            return Type(whole.name)  # a part of a vector that is a parameter, or comes from a trait, is of its kind
        held = element(whole.name) if found is None and not whole.depth and functions.POINTING.search(name) else ""
        return Type(held, 1) if held else found

    def _member(
        self, struct: str, name: str, place: Node, steps: int, below: frozenset[str] = frozenset()
    ) -> Type | None:
        """A member of a class; ``below`` are the classes that inherit it: a recursive template is its own base."""
        wanted, around = class_named(plain(struct))
        if wanted in below:
            return None
        for unit in nearby.units(self.unit, self.repository, around[0] if around else wanted):
            body, found = None, None
            for body in classes.structures(unit, wanted, place if unit is self.unit else None, around):
                found = classes.member(body, name, unit)
                if found is not None:
                    break
            if body is not None and found is None:
                inherited = self._inherited(struct, body, unit, name, steps - 1, below | {wanted})
                if inherited is not None:
                    return inherited
            if body is None or found is None:
                continue
            reader = _Reader(unit, self.repository)
            typed = reader._of(found, steps)
            if typed is None:
                return None
            typed = reader._resolved(typed, found.node)
            return substituted(typed, struct, body, unit)
        other = (self._alias_in(around, wanted) or self._elsewhere(wanted)) if steps > 0 else ""
        return self._member(other, name, place, steps - 1, below) if other else None

    def _alias_in(self, around: tuple[str, ...], name: str) -> str:
        """What ``using name = X`` in a class makes of a name; empty for none."""
        for unit in nearby.units(self.unit, self.repository, around[0]) if around else ():
            for body in classes.structures(unit, around[-1], around=around[:-1]):
                inside = body.child_by_field_name("body")
                last = inside.named_children[-1] if inside is not None and inside.named_children else None
                meaning = declarations.alias(last, name, unit) if last is not None else None
                if meaning is not None and class_named(plain(meaning)).name != name:
                    return meaning
        return ""

    def _elsewhere(self, name: str) -> str:
        """The class that an alias of a file which this one sees stands for; empty where several differ."""
        if not re.fullmatch(r"\w+", name):
            return ""
        found = {plain(text) for _, _, text in self.repository.derived(aliases, f"{name}\0{self.unit.path}")}
        meant = {one for one in found if short(re.sub(r"<.*", "", one)) != name and "decltype" not in one}
        return meant.pop() if len(meant) == 1 else ""

    def _inherited(
        self, struct: str, body: Node, unit: Unit, name: str, steps: int, below: frozenset[str]
    ) -> Type | None:
        """A member of a base class, with the arguments that the class gives it."""
        for base in classes.bases(body, unit) if steps > 0 else ():
            found = self._member(base, name, body, steps, below)
            if found is not None:
                return substituted(found, struct, body, unit)
        return None

    def _call_expression(self, node: Node, steps: int) -> Type | None:
        called = node.child_by_field_name("function")
        listed = node.child_by_field_name("arguments")
        if called is None or listed is None:
            return None
        given = listed.named_children
        if called.type == "field_expression":
            return self._method(called, given, steps)
        if called.type == "primitive_type":
            return Type(self.unit.text(called))
        if called.type == "call_expression":  # a part of what a call gives: `make_tensor(p, shape)(_, i)`
            return part(self.read(called, steps))
        array = shorthands.element_of(node, self.unit)
        if array is not None:
            whole = self.read(array, steps)
            return whole.pointee() if whole is not None else None
        text = self.unit.text(called)
        name = short(re.sub(r"<.*", "", text, flags=re.DOTALL))
        listed_types = arguments(text[text.find("<") :]) if "<" in text else []
        if name in functions.CASTS and listed_types:
            return spelled(listed_types[0])
        if name in functions.CONVERSIONS:
            return Type(functions.CONVERSIONS[name])
        if name in ("recast", "recast_ptr") and listed_types:
            return Type(f"Tensor<{listed_types[0]}>")
        if name in functions.VIEWS and given:
            return self.read(given[0], steps)
        if name == "domain_offset" and len(given) == 2:
            return self.read(given[1], steps)
        if name in functions.SAME and given:
            first = self.read(given[0], steps)
            return first.pointee() if first is not None and name in functions.POINTEES else first
        found = self._constructed(node, called, text, name, steps) or self._expanded(node, steps)
        made = found is None and listed_types and functions.MADE.match(name) is not None
        return Type(f"{name}<{', '.join(listed_types)}>") if made else found

    def _expanded(self, node: Node, steps: int) -> Type | None:
        """What the macro of this file gives that is called: ``(reinterpret_cast<float*>(&(x))[0])``."""
        piece = shorthands.expansion(node, self.unit)
        if piece is None:
            return None
        whole = piece.root.named_children[0].named_children if piece.root.named_children else []
        return _Reader(piece, self.repository, self.host or (self.unit, node)).read(next(iter(whole), None), steps)

    def _constructed(self, node: Node, called: Node, text: str, name: str, steps: int) -> Type | None:
        """``T(x)`` is a T, ``tensor(i, j)`` an element, ``f(x)`` what f of this file returns."""
        if kind(text) or named_float(text) or declarations.template_parameter(node, name, self.unit) is not None:
            return Type(plain(text))
        if called.type == "identifier":
            variable = declarations.declared(called, name, self.unit)
            if variable is not None:
                whole = self._of(variable, steps)
                whole = self._resolved(whole, called) if whole is not None else None
                return part(whole)
            if declarations.alias(node, name, self.unit) is not None:
                return Type(name)
            own = self._of_own_class(name, called, steps)  # a view among the members
            if own is not None:
                return part(own)
        return deduced.returned(name, self.unit)

    def _method(self, called: Node, given: list[Node], steps: int) -> Type | None:
        field = called.child_by_field_name("field")
        whole = called.child_by_field_name("argument")
        text = self.unit.text(field) if field is not None else ""
        name, _, rest = text.removeprefix("template ").strip().partition("<")
        if rest and functions.POINTING.search(name):
            return pointer_to(arguments("<" + rest))
        if name in ("flat", "tensor", "matrix", "vec", "scalar", "packed_accessor", "packed_accessor32",
                    "packed_accessor64", "accessor") and rest:  # fmt: skip
            return Type(f"Tensor<{', '.join(arguments('<' + rest)[:1])}>")
        if _HANDED.fullmatch(name):
            owner = self.read(whole, steps)
            inner = owner.pointee() if owner is not None else None
            if inner is None and owner is not None and whole is not None and whole.type == "subscript_expression":
                inner = owner  # an element that knows its address: `acc[i][j].data()`
            if inner is None and owner is not None and declarations.template_parameter(called, owner.name, self.unit):
                inner = owner  # of a view that is a parameter of the template: its elements are what it is given
            return Type(inner.name, 1) if inner is not None and not depth_of(owner) else None
        if functions.PARTITIONS.match(name) and given:
            return self.read(given[0], steps)
        if name == "at" and len(given) == 1 and not rest:
            owner = self.read(whole, steps)
            return owner.pointee() if owner is not None and not owner.depth else None
        if name == "access" and not given:  # of a view that scatters
            return self.read(whole, steps)
        if name in ("x", "y", "z", "w") and not given:
            owner = self.read(whole, steps)
            named = owner is not None and named_float(owner.name)
            return Type(owner.name) if owner is not None and named else self._given_by(whole, name, steps)
        if name in ("real", "imag"):
            owner = self.read(whole, steps)
            return owner.pointee() if owner is not None and not owner.depth else None
        return self._given_by(whole, name, steps)

    def _given_by(self, whole: Node | None, name: str, steps: int) -> Type | None:
        """What a method gives, by its declaration in the class: ``vector.ReadWrite()``, ``float* ReadWrite();``."""
        owner = self.read(whole, steps) if re.fullmatch(r"\w+", name) else None
        wanted, around = class_named(owner.name) if owner is not None and steps > 0 else ("", ())
        for unit in nearby.units(self.unit, self.repository, around[0] if around else wanted) if wanted else ():
            for body in classes.structures(unit, wanted, around=around):
                found = classes.method(body, name, unit)
                if found is None or owner is None:
                    continue
                given = _Reader(unit, self.repository)._resolved(spelled(found[0]), found[1])
                return substituted(given, owner.name, body, unit)
        return None
