"""What is said of a listing is about the call that lists, and no place is told twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("import glob\nimport numpy as np\n\nnp.save('x', np.load(glob.glob('*.npy')[0]))\n",
         "wrap the listing in `sorted(...)`"),
        ("import os\nimport numpy as np\n\nrows = []\nfor folder, dirs, files in os.walk('.'):\n    for name in files:\n"
         "        rows.append(len(name))\nnp.save('x', np.array(rows))\n",
         "`dirs.sort()` in the loop and `for name in sorted(files)`"),
        ("import os\nimport numpy as np\n\n\ndef listed(top):\n    return [len(name) for folder, _, files in os.walk(top) "
         "for name in files]\n\n\nnp.save('x', np.array(listed('.')))\n",
         "wrap the whole comprehension in `sorted(...)`"),
        ("import os\nimport numpy as np\n\nrows = []\nfor entry in os.scandir('.'):\n    rows.append(len(entry.name))\n"
         "np.save('x', rows)\n",
         "sort the entries by their names: `sorted(os.scandir(...), key=lambda entry: entry.name)`"),
    ],
)  # fmt: skip
def test_it_is_about_this_call(d9mlint: Callable[..., Any], source: str, remedy: str) -> None:
    Path("train.py").write_text(source)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "unsorted-listing").json["findings"]
    assert finding["remedy"] == remedy
    assert all(one["line"] != finding["line"] for one in finding["related"])


def test_listings_of_one_comprehension_are_one_finding(d9mlint: Callable[..., Any]) -> None:
    """They make one list; two lists are two findings."""
    text = """import os
import random


def listed(top):
    {made}
    random.seed(1)
    random.shuffle(found)
    print(found)
    open("found.txt", "w").write("".join(found))


listed(".")
"""
    one = "found = [os.path.join(top, a, b) for a in os.listdir(top) for b in os.listdir(os.path.join(top, a))]"
    two = "found = [a for a in os.listdir(top)]\n    more = [b for b in os.listdir('more')]\n    random.shuffle(more)\n    found += more"
    for made, lines in ((one, [7]), (two, [7, 8])):
        Path("train.py").write_text("import numpy\n" + text.format(made=made))
        findings = d9mlint("train.py", "--format", "json", "--select", "unsorted-listing").json["findings"]
        assert [finding["line"] for finding in findings] == lines


def test_a_hash_of_bytes_needs_no_encoding(d9mlint: Callable[..., Any]) -> None:
    text = "import numpy as np\nimport pickle\n\nrows = open('rows.txt').readlines()\nnp.save('x', [{} % 4 for row in rows])\n"
    for made, kind in (("hash(pickle.dumps(row))", "bytes"), ("hash(row)", "text")):
        Path("train.py").write_text(text.format(made))
        (finding,) = d9mlint("train.py", "--format", "json", "--select", "builtin-hash").json["findings"]
        assert f"the same {kind}" in finding["message"]
        assert (".encode()" in finding["remedy"]) is (kind == "text")


def test_a_number_of_seeds_is_no_seed(d9mlint: Callable[..., Any]) -> None:
    source = (
        "import argparse\nimport random\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--{}', type=int)\nargs = parser.parse_args()\nprint(random.random())\n"
    )
    for flag, wanted in (("num-seed", False), ("seed", True)):
        Path("train.py").write_text(source.format(flag))
        found = d9mlint("train.py", "--format", "json").json["findings"]
        told = [one["message"] for one in found] + [other["note"] for one in found for other in one["related"]]
        assert any("runs reads it" in text for text in told) is wanted


SERVED = """import glob

import torch


class Images(torch.utils.data.Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, number):
        return torch.load(self.names[number])


names = glob.glob("images/*.pt")
network = torch.nn.Linear(4, 4)
network.load_state_dict(torch.load("network.pt"))
for number, image in enumerate(torch.utils.data.DataLoader(Images(names))):
    {does}
    torch.save(network(image), "out/" + names[number].split("/")[-1])
"""


@pytest.mark.parametrize(
    ("does", "severity"),
    [("network.eval()", "info"), ("network(image).sum().backward()", "warning"), ("pass", "warning")],
)
def test_items_that_a_loader_serves_one_by_one(d9mlint: Callable[..., Any], does: str, severity: str) -> None:
    """What trains goes on from one to the next; each result of a program that trains nothing may bear its item's name."""
    Path("program.py").write_text(SERVED.format(does=does))
    (finding,) = d9mlint("program.py", "--format", "json", "--select", "unsorted-listing").json["findings"]
    assert finding["severity"] == severity


@pytest.mark.parametrize(("file", "severity"), [("sys.stderr", "info"), ("open('names.txt', 'w')", "warning")])
def test_an_order_that_is_only_printed_is_for_information(
    d9mlint: Callable[..., Any], file: str, severity: str
) -> None:
    Path("a.py").write_text(f"import glob, sys\nimport numpy\nprint('names:', glob.glob('*.npy'), file={file})\n")
    (found,) = d9mlint("a.py", "--format", "json").json["findings"]
    assert (found["rule"], found["severity"]) == ("unsorted-listing", severity)
