"""Which types reach a partial specialisation that a trait selects, and which are left to the template itself.

``template <typename T, bool = std::is_integral<T>::value> struct F`` with ``F<T, true>``, or ``F<T, void>`` with
``F<T, std::enable_if_t<std::is_integral_v<T>>>``: https://en.cppreference.com/w/cpp/language/partial_specialization
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import tree_sitter

from d9mlint.kernels.judging.declarations import STRUCTS, TemplateParameter, parameter_name
from d9mlint.kernels.judging.known.scalars import arguments, kind, short
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
Test = Callable[[str], bool | None]
"""Whether a trait holds for a type; None where that is not known."""
_TRAIT = re.compile(
    r"(?P<no>!?)(?:\w+::)*(?P<trait>is_integral|is_floating_point|is_same)(?P<value>_v)?"
    r"<(?P<type>\w+)(?:,(?P<other>[\w:]+))?>(?(value)|::value)"
)
_IF = re.compile(r"(?:typename)?(?:\w+::)*enable_if(?:_t)?<(?P<test>.*?)(?:,void)?>(?:::type)?")
_STANDARD = ("float", "double", "long double")
"""The floating-point types of the language, for which alone ``std::is_floating_point`` holds."""
_LITERALS = {"true": True, "false": False}


def selected(types: tuple[str, ...], parameter: TemplateParameter, unit: Unit) -> tuple[str, ...]:
    """Those of the types given to a class template that mean this definition of it, as far as traits tell."""
    head = _head(parameter.owner, unit)
    own = arguments(head[head.find("<") :]) if "<" in head else []
    siblings = list(_definitions(parameter.owner, head.partition("<")[0], unit))
    if len(siblings) < 2:
        return types
    defaults = next((_defaults(node, unit) for node, text in siblings if "<" not in text), [])
    if own:
        return _passing(types, _test(own, defaults, parameter.name))
    for node, text in siblings:
        given = arguments(text[text.find("<") :]) if "<" in text else []
        name = given[parameter.place] if parameter.place < len(given) else ""
        test = _test(given, defaults, name) if name in _names(node, unit) else None
        types = tuple(t for t in types if test is None or test(t) is not True)
    return types


def _passing(types: tuple[str, ...], test: Test | None) -> tuple[str, ...]:
    return tuple(t for t in types if test is None or test(t) is not False)


def _head(template: Node, unit: Unit) -> str:
    """The name of the class that a template defines, with the arguments of a specialisation; empty for others."""
    for child in template.named_children:
        name = child.child_by_field_name("name") if child.type in STRUCTS else None
        if name is not None and child.child_by_field_name("body") is not None:
            return "".join(unit.text(name).split())
    return ""


def _definitions(template: Node, name: str, unit: Unit) -> Iterator[tuple[Node, str]]:
    """The templates of one name beside a template, itself among them."""
    beside = template.parent.named_children if name and template.parent is not None else []
    for node in beside:
        head = _head(node, unit) if node.type == "template_declaration" else ""
        if head.partition("<")[0] == name:
            yield node, head


def _defaults(template: Node, unit: Unit) -> list[tuple[str, str]]:
    """The parameters of a template, each with the default as written, without blanks."""
    listed = template.child_by_field_name("parameters")
    texts = ["".join(unit.text(node).split()) for node in listed.named_children] if listed is not None else []
    names = _names(template, unit)
    return [(name, text.partition("=")[2]) for name, text in zip(names, texts, strict=True)]


def _names(template: Node, unit: Unit) -> list[str]:
    listed = template.child_by_field_name("parameters")
    return [parameter_name(node, unit) for node in listed.named_children] if listed is not None else []


def _test(given: list[str], defaults: list[tuple[str, str]], name: str) -> Test | None:
    """What a specialisation with these arguments asks of the type of one name; None where no trait tells."""
    for place, argument in enumerate(given):
        text = "".join(argument.split())
        enabled = _IF.fullmatch(text)
        if enabled is not None:
            return _trait(enabled["test"], name, True)
        if text in _LITERALS and place < len(defaults):
            of = given.index(name) if name in given else len(defaults)
            owner = defaults[of][0] if of < len(defaults) else ""
            return _trait(defaults[place][1], owner, _LITERALS[text])
    return None


def _trait(text: str, name: str, wanted: bool) -> Test | None:
    match = _TRAIT.fullmatch(text)
    if match is None or match["type"] != name:
        return None
    trait, other, negated = match["trait"], match["other"], bool(match["no"])

    def test(typed: str) -> bool | None:
        holds = _holds(trait, typed, other or "")
        return None if holds is None else (holds is not negated) is wanted

    return test


def _holds(trait: str, typed: str, other: str) -> bool | None:
    named = kind(typed)
    if not named or (trait == "is_same") is not bool(other):
        return None
    if trait == "is_integral":
        return named == "integer"
    return short(typed) == short(other) if other else short(typed) in _STANDARD
