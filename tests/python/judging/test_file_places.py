"""Whether two paths name one place, however a program spells them."""

from __future__ import annotations

import pytest

from d9mlint.python.domain.values import Value
from d9mlint.python.judging.files.places import begins, compare, lasting, places, share_beginning
from tests.python.interpreter.test_story import story

PROGRAM = """
import argparse, os, random, time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="out")
parser.add_argument("--load", default="out")
parser.add_argument("--other", default="other")
parser.add_argument("--plain", action="store_true")
args = parser.parse_args()
step = len(read())
name = read()
folder = find()


class Keeper:
    def __init__(self, folder):
        self.folder = Path(folder, "weights")


keeper = Keeper(args.out)
open({one})
open({other})
"""


def paths(one: str, other: str) -> tuple[Value, Value]:
    opened = list(story(PROGRAM.format(one=one, other=other)).calls("builtins.open"))
    return opened[0].args[0], opened[1].args[0]


def told(one: str, other: str) -> bool | None:
    here, there = paths(one, other)
    (_, first), *more = places(here)
    (_, second), *others = places(there)
    assert not more and not others
    return compare(first, second)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("'out/net.pt'", "os.path.join('out', 'net.pt')", True),
        ("'./out//net.pt'", "Path('out') / 'net.pt'", True),
        ("'out/net.pt'", "'out/last.pt'", False),
        ("'/tmp/net.pt'", "'tmp/net.pt'", False),
        ("os.path.join('a', '/b')", "'/b'", True),
        ("os.path.join(args.out, 'net.pt')", "f'{args.out}/net.pt'", True),
        ("args.out + '/net.pt'", "'{}/net.pt'.format(args.out)", True),
        ("os.path.join(os.path.abspath(args.out), 'net.pt')", "Path(args.out).resolve() / 'net.pt'", True),
        ("os.path.dirname(os.path.join(args.out, 'a', 'b'))", "os.path.join(args.out, 'a')", True),
        ("Path(args.out, 'a', 'b').parent", "Path(args.out) / 'a'", True),
        ("os.path.join('x', os.path.basename('a/net.pt'))", "'x/net.pt'", True),
        ("keeper.folder.joinpath('net.pt')", "os.path.join(args.out, 'weights', 'net.pt')", True),
        ("os.path.join(args.out, 'net.pt')", "os.path.join(args.load, 'net.pt')", True),  # by default
        ("os.path.join(args.out, 'net.pt')", "'out/net.pt'", True),  # likewise
        ("os.path.join(args.out, 'net.pt')", "os.path.join(args.other, 'net.pt')", None),
        ("os.path.join(args.out, 'net.pt')", "os.path.join(args.out, 'last.pt')", False),
        ("os.path.join(folder, 'net.pt')", "os.path.join(folder, 'net.pt')", True),
        ("os.path.join(folder, 'net.pt')", "os.path.join(find(), 'net.pt')", None),
        ("f'out/net_{step}.pt'", "f'out/net_{step}.pt'", True),
        ("f'out/net_{step}.pt'", "'out/net_3.pt'", None),
        ("f'out/net_{step}.pt'", "'out/best.pt'", False),
        ("f'out/net_{step}.pt'", "f'out/net_{step}.txt'", False),
        ("f'out/net_{step}.pt'", "'out/a/b/net_3.pt'", False),  # a number has no slashes
        ("os.path.join('out', name, 'x')", "'out/a/b/x'", None),
    ],
)
def test_two_paths_name_one_place(one: str, other: str, same: bool | None) -> None:
    assert told(one, other) is same
    assert told(other, one) is same


def test_a_path_may_name_several_places() -> None:
    here, there = paths("f\"out/net{'' if args.plain else '_id'}.pt\"", "'out/net.pt'")
    assert [compare(place, places(there)[0][1]) for _, place in places(here)] == [True, False]


def test_a_place_lies_in_a_folder() -> None:
    (_, inside), (_, folder) = (places(one)[0] for one in paths("os.path.join(args.out, 'a', 'b')", "args.out"))
    assert begins(inside, folder) and not begins(folder, inside)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("os.path.join(args.out, 'a')", "os.path.join(args.out, 'b')", True),
        ("os.path.join(args.out, 'a')", "os.path.join(args.other, 'a')", False),
        ("f'net_{step}.pt'", "'net_best.pt'", True),
        ("'/tmp/a'", "'/data/a'", False),
    ],
)
def test_two_places_begin_alike(one: str, other: str, alike: bool) -> None:
    here, there = (places(path)[0][1] for path in paths(one, other))
    assert share_beginning(here, there) is alike


def test_names_out_of_the_clock_do_not_last() -> None:
    timed, plain = paths("os.path.join('runs', str(time.time()))", "os.path.join('runs', 'a')")
    assert lasting(timed) is False
    assert lasting(plain) is True
