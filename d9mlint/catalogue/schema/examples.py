"""The executed examples of a rule file: the part that linting never reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

from packaging.requirements import InvalidRequirement, Requirement

from d9mlint.catalogue.schema.entries import DEVICES
from d9mlint.catalogue.schema.nodes import Item, parse
from d9mlint.model import Example

MARK = re.compile(r"(?:#|//)[ \t]*<-(?=[ \t]*$|(?:\\n)?\",?$)", re.MULTILINE)
"""The end of a line that is to be reported (in a notebook: of a line in quotes)."""
_KINDS = ("bad", "fixed", "good", "missed", "false-alarm")
"""In the order in which the texts of one item become examples: a fixed text follows its bad one."""
_KEYS = (*_KINDS, "target", "device", "args")
_DEFAULT_FILE = "train.py"
_FORBIDDEN = re.compile(r"(^|/)\.{1,2}(/|$)|^/|\\|:|\0|^$|/$|//")


def examples(file: str, text: str) -> tuple[Example, ...]:
    """All examples of the rule file ``text``."""
    for name, (_, value) in parse(file, text).pairs().items():
        if name == "examples":
            return tuple(example for item in value.items() for example in _item(item))
    return ()


def _item(item: Item) -> list[Example]:
    """One item: a bad text with the good and the fixed one beside it, or a single good, missed or false-alarm text."""
    pairs = item.pairs()
    values = item.mapping(_KEYS)
    kinds = [kind for kind in _KINDS if kind in values]
    if kinds not in (["bad"], ["bad", "fixed"], ["bad", "good"], ["bad", "fixed", "good"]) and (
        len(kinds) != 1 or kinds == ["fixed"]
    ):
        found = ", ".join(f"`{kind}`" for kind in kinds) or "none"
        raise item.error(
            "an example is one of bad, good, missed, false-alarm (`good` and `fixed` may stand beside `bad`); "
            f"found {found}"
        )
    target = _target(values)
    device = values["device"].one_of(DEVICES) if "device" in values else "gpu"
    args = tuple(one.literal() for one in _list(values["args"])) if "args" in values else None
    made = []
    for kind in kinds:
        files = _files(kind, values[kind])
        made.append(Example(kind, files, target, device, args, pairs[kind][0].line))
    return made


def _files(kind: str, item: Item) -> dict[str, str]:
    if item.is_mapping():
        pairs = item.pairs()
        if not pairs:
            raise item.error(f"{item.key} has no files")
        for name, (key, _) in pairs.items():
            if _FORBIDDEN.search(name):
                raise key.error(f"`{name}` must be a relative path below the example, with `/`")
        files = {name: _source(value) for name, (_, value) in pairs.items()}
    else:
        files = {_DEFAULT_FILE: item.text()}
    marked = any(MARK.search(text) for text in files.values())
    if kind == "bad" and not marked:
        raise item.error("no line of the bad example ends in `# <-`")
    if kind in ("good", "fixed") and marked:
        raise item.error(f"{item.key} must not have lines that end in `# <-`")
    return files


def _source(item: Item) -> str:
    """The text of a file; an empty one (``__init__.py``) is fine."""
    if not item.is_text():
        raise item.wrong("the text of the file")
    return item.literal()


def _list(item: Item) -> list[Item]:
    if item.is_list() and not item.node.value:
        return []
    return item.items()


def _target(values: Mapping[str, Item]) -> tuple[str, ...]:
    items = values["target"].several() if "target" in values else []
    for item in items:
        try:
            Requirement(item.text())
        except InvalidRequirement:
            raise item.error(
                f"`target` must be a requirement such as tensorflow==2.4.1, not `{item.literal()}`"
            ) from None
    return tuple(item.text() for item in items)
