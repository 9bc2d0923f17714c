"""What a file `.env` sets, and from when on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.source.dotenv import variables
from tests.python.interpreter.test_story import story


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1\nexport B = 2 # note\n", [("A", "1"), ("B", "2")]),
        ('A=\'x # y\'\nB="a\\"b"\n', [("A", "x # y"), ("B", 'a"b')]),
        ("# A=1\nA\n=3\nC=${A}\nD=a$b", [("C", None), ("D", "a$b")]),
        ("A='open\nB=2", [("B", "2")]),
        ("A=", [("A", "")]),
        ("A='two\nlines'\nB=1", [("A", "two\nlines"), ("B", "1")]),
    ],
)
def test_variables(text: str, found: list[tuple[str, str | None]]) -> None:
    assert [(name, value) for name, value, _ in variables(text)] == found


@given(st.text(alphabet="A=1'\"\\ \n#$", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert all(1 <= place[0] <= text.count("\n") + 1 for _, _, place in variables(text))


def written(files: dict[str, str]) -> list[tuple[str, object, str, int]]:
    told = story(files)
    return [(e.name, e.args[0].value, e.location.path, e.location.line) for e in told.events if e.kind == "env"]  # type: ignore[attr-defined]


LOAD = "from dotenv import load_dotenv\n"


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (LOAD + "load_dotenv()", [("X", "1", ".env", 2)]),
        (LOAD + "load_dotenv('conf/my.env')", [("Y", "2", "conf/my.env", 1)]),
        ("import dotenv\ndotenv.load_dotenv(dotenv.find_dotenv())", [("X", "1", ".env", 2)]),
        (LOAD + "load_dotenv(unknown)", []),
        (LOAD + "load_dotenv('/etc/my.env')", []),
        (LOAD, []),
        ("import os\nos.environ['X'] = '7'\n" + LOAD + "load_dotenv()", [("X", "7", "train.py", 2)]),
        (
            "import os\nos.environ['X'] = '7'\n" + LOAD + "load_dotenv(override=True)",
            [("X", "7", "train.py", 2), ("X", "1", ".env", 2)],
        ),
        ("import os\nos.environ['X'] = '7'\nos.environ.setdefault('X', '8')", [("X", "7", "train.py", 2)]),
    ],
)
def test_what_a_program_loads(program: str, found: list[tuple[str, object, str, int]]) -> None:
    assert written({"train.py": program, ".env": "# mine\nX=1\n", "conf/my.env": "Y=2"}) == found


def test_a_file_above_the_one_that_loads() -> None:
    files = {"train.py": "import src.a", "src/a.py": LOAD + "load_dotenv()", "src/__init__.py": "", ".env": "X=1"}
    assert written(files) == [("X", "1", ".env", 1)]


def test_what_only_a_branch_has_set_is_set_in_the_other() -> None:
    program = (
        "import os, sys\nif len(sys.argv) > 1:\n    os.environ['X'] = '7'\n"
        + LOAD
        + "load_dotenv()\nf(os.environ['X'])"
    )
    told = story({"train.py": program, ".env": "X=1"})
    (loaded,) = [e for e in told.events if e.kind == "env" and e.location.path == ".env"]
    assert loaded.guards
