"""Fields of dataclasses, and of what is declared like them: what a constructor that nobody wrote gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import UNKNOWN, Class, Func, Inst, Obj, Seq, Unknown, Value
from d9mlint.python.interpreter import attributes, calls, expressions
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_DECLARE = ("dataclasses.field", "pydantic.Field", "attrs.field", "attr.ib", "chz.field")
_DEFAULT, _FACTORY = "default", "default_factory"
_LISTS = ("List", "list", "Sequence")
CHECKED = ("pydantic.BaseModel", "pydantic.v1.BaseModel", "pydantic_settings.BaseSettings")
"""Bases of classes whose fields are made to be of the classes that they are annotated with (docs.pydantic.dev)."""


def of_class(cls: Class) -> Iterator[tuple[Class, str, f.Expr, f.Place]]:
    """The annotated fields of a class, after those of its bases, each with the class that it stands in."""
    for current in reversed(cls.line()):
        for stmt in current.node.body:
            if isinstance(stmt, f.Assign) and stmt.annotation is not None and isinstance(stmt.targets[0], f.Name):
                yield current, stmt.targets[0].id, stmt.annotation, stmt.place


def default(value: Value | None) -> Value | None:
    """The default of a field; None where it has to be given."""
    if (given := _declared(value)) is None:
        return value
    if _DEFAULT in given:
        return given[_DEFAULT]
    return UNKNOWN if _FACTORY in given else None


def factory(value: Value | None) -> Value | None:
    """What makes the default of a field; what is no declaration as it is."""
    given = _declared(value)
    return value if given is None else given.get(_FACTORY)


def _declared(value: Value | None) -> Mapping[str, Value] | None:
    """What a field is declared with: ``field(default=3)``; None for all other values."""
    event = value.event if isinstance(value, Obj) else None
    return event.kwargs if event is not None and event.name in _DECLARE else None


def class_of(interp: Interpreter, owner: Class, name: str, annotation: f.Expr) -> Class | None:
    """The class with fields that a field holds an object of, by its default or by what it is annotated with."""
    value = factory(owner.frame.vars.get(name))
    if isinstance(value, Inst):
        return value.cls
    annotated = value if isinstance(value, Class) else expressions.evaluate(interp, annotation, owner.frame)
    return annotated if isinstance(annotated, Class) and any(True for _ in of_class(annotated)) else None


def _inner(interp: Interpreter, cls: Class, frame: Frame, place: f.Place) -> Iterator[tuple[str, Value]]:
    """The fields that hold settings of their own by what they are annotated with: ``model: ModelConfig``."""
    inside = ("fields", id(cls))
    if inside in interp.running:
        return  # they hold such as themselves: as many levels are known as there are classes
    others = interp.running
    interp.running = {*others, inside}
    try:
        for owner, name, annotation, _ in of_class(cls):
            wanted, several = _annotated(interp, owner, annotation)
            if wanted is not None and any(True for _ in of_class(wanted)):
                made = calls.instantiate(interp, wanted, [], {}, frame, place, True)
                yield name, Seq("list", None, made) if several else made
    finally:
        interp.running = others


def _annotated(interp: Interpreter, owner: Class, annotation: f.Expr) -> tuple[Class | None, bool]:
    """The class of the program that an annotation names, and whether it is that of the items of a list.

    Of ``Optional[Settings]`` and ``Settings | None`` it is the one that a setting would need.
    """
    if isinstance(annotation, f.Sub):
        generic = annotation.value.name if isinstance(annotation.value, f.Attr) else annotation.value
        last = generic.id if isinstance(generic, f.Name) else generic
        if last == "Optional":
            return _annotated(interp, owner, annotation.key)
        return (_annotated(interp, owner, annotation.key)[0], True) if last in _LISTS else (None, False)
    if isinstance(annotation, f.Op):
        found = (_annotated(interp, owner, one) for one in annotation.operands)
        return next((one for one in found if one[0] is not None), (None, False))
    if not isinstance(annotation, (f.Name, f.Attr)):
        return None, False
    value = expressions.evaluate(interp, annotation, owner.frame)
    return (value if isinstance(value, Class) else None), False


def fill(
    interp: Interpreter, instance: Inst, args: Sequence[Value], kwargs: Mapping[str, Value], frame: Frame,
    place: f.Place, star: bool,
) -> None:  # fmt: skip
    """Does what the constructor of a dataclass or ``NamedTuple`` does: fields in order, then ``__post_init__``."""
    cls = instance.cls
    names = list(dict.fromkeys(name for _, name, *_ in of_class(cls)))
    if star:  # any of them may be given in what is unpacked, whatever its default
        instance.attrs.update((name, Unknown(name=name)) for name in names)
        instance.attrs.update(_inner(interp, cls, frame, place))
    instance.attrs.update(zip(names, args, strict=False))
    instance.attrs.update(kwargs)
    for owner, name, *_ in of_class(cls):
        declared = owner.frame.vars.get(name)
        if name in instance.attrs or (given := _declared(declared)) is None:
            continue
        if _DEFAULT in given:
            instance.attrs[name] = given[_DEFAULT]
        elif _FACTORY in given:
            instance.attrs[name] = calls.call(interp, given[_FACTORY], [], {}, frame, place)
    after = attributes.class_attribute(interp, cls, "__post_init__")
    if isinstance(after, Func):
        calls.enter(interp, after, [instance], {}, frame, place, star)
