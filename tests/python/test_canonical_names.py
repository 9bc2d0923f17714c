"""Names that the engine's tables hold are those of events.

An event carries the one name that the catalogue's aliases make of what a program writes (``torch.multiprocessing.Process``
is ``multiprocessing.Process``), so another name of the same thing in a table never matches: it looks like knowledge, and
is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest
from conftest import ROOT

from d9mlint.catalogue import load
from d9mlint.catalogue.aliases import Aliases

PYTHON = ROOT / "d9mlint" / "python"
ROOMS = ("domain", "interpreter", "frameworks", "judging", "rules")
"""What works on events: ``source`` and ``project`` read names as programs write them."""
DOTTED = re.compile(r"[A-Za-z_]\w*(\(\))?(\.\w+(\(\))?)+\.?")
"""``keras.Model().fit``, or what names begin with: ``keras.layers.``."""
AS_WRITTEN: Mapping[tuple[str, str], str] = {
    ("judging/randomness.py", "tensorflow.compat.v1."): "compared with `raw`: initializers draw otherwise there",
    ("rules/switches/missing_determinism_switch.py", "tensorflow.compat.v1."): "compared with `raw`: a name of its own",
}
"""Names that are no events' on purpose, by file and name, and why."""


def constants(source: str) -> Iterator[tuple[int, str]]:
    """Dotted names among the texts of a module, with their lines; not what its docstrings say."""
    module = ast.parse(source)
    said = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and id(node) not in said and DOTTED.fullmatch(str(node.value)):
            yield node.lineno, str(node.value)


def canonical(name: str, aliases: Aliases) -> str:
    """The name that an event has; of a method of what a call gives, what is called has its one name, too."""
    called, given, method = name.removesuffix(".").partition("()")
    return aliases.resolve(called) + given + method


def others(found: Iterable[tuple[int, str]], aliases: Aliases) -> dict[str, str]:
    """Names that stand for another one, by place and name, with that one."""
    pairs = ((line, name, canonical(name, aliases)) for line, name in found)
    return {f"{line}: {name}": one for line, name, one in pairs if name.removesuffix(".") != one}


def test_a_name_that_stands_for_another_is_found() -> None:
    aliases = Aliases({"tensorflow.compat.v1": "tensorflow", "lightning.Trainer": "lightning.pytorch.Trainer"})
    source = (
        '"""tensorflow.compat.v1.where"""\n'
        'A = ("tensorflow.where", "tensorflow.compat.v1.where")\n'
        'B = {"lightning.Trainer().fit": 1, "lightning.pytorch.Trainer().fit": 2}\n'
        'C = "of `tensorflow.compat.v1.where`", "tensorflow.compat.v1."\n'
    )
    assert others(constants(source), aliases) == {
        "2: tensorflow.compat.v1.where": "tensorflow.where",
        "3: lightning.Trainer().fit": "lightning.pytorch.Trainer().fit",
        "4: tensorflow.compat.v1.": "tensorflow",
    }


@pytest.fixture(scope="module")
def aliases() -> Aliases:
    return Aliases(load().aliases)


def test_names_in_tables_are_those_of_events(aliases: Aliases) -> None:
    """A name that fails here: is the one on the right in the table, too? Then take it out; else write that one."""
    wrong: dict[str, str] = {}
    written: set[tuple[str, str]] = set()
    known = 0
    for room in ROOMS:
        for path in sorted((PYTHON / room).rglob("*.py")):
            file = path.relative_to(PYTHON).as_posix()
            found = list(constants(path.read_text(encoding="utf-8")))
            known += len(found)
            written |= {(file, name) for _, name in found if (file, name) in AS_WRITTEN}
            told = others(((line, name) for line, name in found if (file, name) not in AS_WRITTEN), aliases)
            wrong |= {f"{file}:{place}": one for place, one in told.items()}
    assert wrong == {}
    assert written == AS_WRITTEN.keys()
    assert known > 500, "the tables are looked for where they are no more"
