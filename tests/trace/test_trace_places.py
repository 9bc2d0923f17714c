"""Which line of the user's something happens on, asked many times: what is remembered about code does not mislead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from d9mlint.trace.child import places

LIBRARY = """\
found = []
def asked(places):
    found.append(places.here())
def through(places):
    asked(places)
def layer(places):
    asked(places)
"""
PROGRAM = """\
import builtins, json, sys
sys.path[:0] = sys.argv[1:]
import library
from child import places as module
looked = []
sys.addaudithook(lambda event, args: looked.append(args[0]) if event == "object.__getattr__" else None)
places = module.Places(["."])
hidden, builtins.id, builtins.hash = (id, hash), None, None
def many(several):
    for turn in range(9):
        exec("def made(call, one): call(one)", globals())
        made(library.through, several)
module._MANY = 12
many(places)
bounded = len(places._alive) <= 12
module._MANY = 1000
builtins.id, builtins.hash = hidden
library.layer(places)
del looked[:]
library.layer(places)
asked = [one.f_code.co_name for one in list(looked)]
places.stands(library.layer.__code__, lambda frame: ("elsewhere", 7, "a layer"))
library.layer(places)
places.translate(lambda name, line: None)
many(places)
print(json.dumps([[one and one[1:] for one in library.found], bounded, asked]))
"""


def test_places_are_those_of_the_users_lines_however_often_they_are_asked_for(tmp_path: Path) -> None:
    """Through a library, code that is made without end, and no `id`; a library's code that stands for a place is seen.

    Of a library's frames that were passed over once no more than their namespace is looked at.
    """
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "program.py").write_text(PROGRAM)
    (tmp_path / "library.py").write_text(LIBRARY)
    folders = [str(tmp_path), str(Path(places.__file__).parents[1])]
    words = [sys.executable, "program.py", *folders]
    done = subprocess.run(words, cwd=tmp_path / "own", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, bounded, asked = json.loads(done.stdout)
    lines = PROGRAM.splitlines()
    many = [lines.index("        made(library.through, several)") + 1, "many"]
    layers = [[n, "<module>"] for n, line in enumerate(lines, 1) if line == "library.layer(places)"]
    assert found == [*[many] * 9, *layers[:2], [7, "a layer"], *[many] * 9]
    assert bounded
    assert asked == ["<module>"]
