"""What may stand under ``match``, ``when``, ``if`` and ``unless``, checked value by value."""

from __future__ import annotations

import re
from typing import Any

from d9mlint.catalogue.schema.nodes import Item

DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
ALIAS = re.compile(rf"{DOTTED.pattern}(\.\*)?", re.ASCII)
CALL = re.compile(r"(\?|[A-Za-z_]\w*)(\.[A-Za-z_]\w*)*(\.\*)?", re.ASCII)
_EFFECT = re.compile(rf"{CALL.pattern}(?<=\*)\.[A-Za-z_]\w*|{CALL.pattern}", re.ASCII)
_ENV = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEYWORD = re.compile(r"[A-Za-z_]\w*(@\d+)?", re.ASCII)

_SUBJECTS = {
    "call": (CALL, "a dotted name such as `numpy.random.rand` (a last part `*` stands for any name)"),
    "set": (DOTTED, "a dotted name such as `torch.backends.cudnn.benchmark`"),
    "env": (_ENV, "the name of an environment variable"),
    "import": (DOTTED, "a dotted module name"),
    "iterate": (CALL, "a dotted name such as `os.listdir`"),
}
_MATCH_KEYS = (*_SUBJECTS, "when", "unless", "if")
_SCOPES = ("program", "inside")
_TESTS = ("not", "gt", "contains")


def calls(item: Item) -> tuple[str, ...]:
    """One dotted name or several; the last part ``*``, or the one before it, stands for any name."""
    _, wanted = _SUBJECTS["call"]
    return tuple(one.like(_EFFECT, wanted) for one in item.several())


def match(item: Item) -> dict[str, Any]:
    """The declarative half of a rule: one subject, keyword tests, and conditions on the surroundings."""
    values = item.mapping(_MATCH_KEYS)
    subjects = [name for name in values if name in _SUBJECTS]
    if len(subjects) != 1:
        found = " and ".join(f"`{name}`" for name in subjects) or "none"
        raise item.error(f"`match` needs exactly one of {', '.join(_SUBJECTS)}; found {found}")
    pattern, wanted = _SUBJECTS[subjects[0]]
    for one in values[subjects[0]].several():
        one.like(pattern, wanted)
    if "when" in values:
        when(values["when"])
    for name in ("unless", "if"):
        if name in values:
            _condition(values[name])
    return dict(item.plain())


def when(item: Item) -> dict[str, Any]:
    """Tests by ``keyword`` or ``keyword@position``."""
    pairs = item.pairs()
    if not pairs:
        raise item.error("`when` is empty")
    for name, (key, value) in pairs.items():
        if not _KEYWORD.fullmatch(name):
            raise key.error(f"`{name}` in `when` must be a keyword, or keyword@position such as `seed@0`")
        _test(value)
    return dict(item.plain())


def _test(item: Item) -> None:
    """A scalar, ``absent``, ``present``, a list of alternatives, or ``{not|gt|contains: ...}``.

    ``contains`` is a part of a text, or of one that a dict or a list holds, however deep.
    """
    if not item.is_mapping():
        _alternatives(item)
        return
    values = item.mapping(_TESTS)
    if len(values) != 1:
        raise item.error(f"the test at {item.key} needs exactly one of {', '.join(_TESTS)}")
    for name, value in values.items():
        if name == "not":
            _alternatives(value)
        elif name == "contains":
            value.text()
        elif value.is_list() or value.is_mapping() or type(value.scalar()) not in (int, float):
            raise value.wrong("a number")


def _alternatives(item: Item) -> None:
    for one in item.several():
        one.scalar()


def _condition(item: Item) -> None:
    values = item.mapping(_SCOPES)
    if not values:
        raise item.error(f"{item.key} is empty")
    for value in values.values():
        value.texts()
