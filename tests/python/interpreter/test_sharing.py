"""Modules that entries share give each entry what it would be told alone, in any order of the entries."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.catalogue import Catalogue, load
from d9mlint.model import Finding, Target
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.interpreter.reuse.sharing import Shared
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

NAMES = ("a", "b", "pack/__init__", "pack/c", "pack/d", "space/e", "space/inner/f")
_IMPORTS = (
    "import a", "import b", "import pack", "from pack import c", "import pack.d as d", "from a import *",
    "from pack.c import draw", "from b import REGISTRY", "import space.e", "from space.inner import f", "import space",
    "from space import e", "from space import inner",
)  # fmt: skip
_BODY = (
    "torch.manual_seed(1)",
    "np.random.seed(int(os.environ.get('SEED', 3)))",
    "os.environ['PYTHONHASHSEED'] = '0'",
    "torch.use_deterministic_algorithms(True)",
    "torch.backends.cudnn.benchmark = FAST",
    "FAST = not FAST",
    "REGISTRY['x'] = draw",
    "REGISTRY.update(y=Net)",
    "HOLDER.append(torch.rand(2))",
    "value = draw()",
    "net = Net()",
    "net.width = np.random.rand()",
    "try:\n    import missing\nexcept ImportError:\n    missing = draw",
    "for name in os.listdir('.'):\n    HOLDER.append(name)",
    "if os.environ.get('DEBUG'):\n    random.seed(0)",
)
_ACROSS = (
    "a.FAST = False",
    "if a.FAST:\n    torch.manual_seed(1)",
    "if not a.FAST:\n    np.random.seed(1)",
    "a.NET = Net()",
    "a.draw = lambda *given: torch.rand(3)",
    "a.REGISTRY['seed'] = torch.manual_seed",
    "a.REGISTRY.get('seed', print)(0)",
    "a.draw()",
    "os.environ['SEEDS'] = 'yes'",
    "if os.environ.get('SEEDS') == 'yes':\n    random.seed(1)",
    "gin.external_configurable(a.fill)",
    "gin.parse_config('fill.seed = 4')",
    "a.fill()",
)
"""What modules do to each other; ``a`` is imported first."""
_START = """\
import gin
import os
import random
import numpy as np
import torch
FAST = True
REGISTRY = {}
HOLDER = []

def fill(seed=None):
    np.random.seed(seed)

def draw(*given):
    return random.random() + np.random.rand()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x) * draw()

"""
_TRAIN = "net = Net()\nnet(torch.rand(2)).sum().backward()\nfor item in REGISTRY.values():\n    item()\n"

_module = st.builds(
    lambda first, last, body: "\n".join((*first, _START, "import a", *last, *body)) + "\n",
    st.lists(st.sampled_from(_IMPORTS), max_size=1), st.lists(st.sampled_from(_IMPORTS), max_size=2),
    st.lists(st.sampled_from(_BODY + _ACROSS), max_size=5),
)  # fmt: skip
_script = st.builds(
    lambda before, first, body: "\n".join((_START, "import a", *before, *first, *body)) + "\n" + _TRAIN,
    st.lists(st.sampled_from(_ACROSS), max_size=1), st.lists(st.sampled_from(_IMPORTS), min_size=1, max_size=3),
    st.lists(st.sampled_from(_BODY + _ACROSS), max_size=3),
)  # fmt: skip


@cache
def _catalogue() -> tuple[Catalogue, Target, Knowledge]:
    catalogue, target = load(), newest_target(("torch==2.5.0", "numpy==2.0.0"), "gpu")
    return catalogue, target, Knowledge(catalogue.aliases, catalogue.effects, target, catalogue.ops)


def _judged(project: Project, entry: str, shared: Shared | None) -> tuple[tuple[Finding, ...], object, object]:
    catalogue, target, knowledge = _catalogue()
    found = judge(project, entry, ("",), catalogue.rules.values(), knowledge, target, shared=shared)
    return found.findings, found.unchecked, found.coverage


@settings(max_examples=10, deadline=None)
@given(st.lists(_module, min_size=len(NAMES), max_size=len(NAMES)), st.lists(_script, min_size=3, max_size=3))
def test_what_entries_share_changes_nothing(modules: list[str], scripts: list[str]) -> None:
    files = {f"{name}.py": text.encode() for name, text in zip(NAMES, modules, strict=True)}
    files |= {f"train{number}.py": text.encode() for number, text in enumerate(scripts)}
    entries = [name for name in files if name.startswith("train")]
    alone = {entry: _judged(Project(files.get), entry, None) for entry in entries}
    for order in (entries, entries[::-1]):
        project, shared = Project(files.get), Shared()
        assert {entry: _judged(project, entry, shared) for entry in order} == alone


def test_what_gin_makes_configurable_is_so_for_each_entry_that_imports_who_says_it() -> None:
    files = {
        "a.py": b"import numpy as np\ndef fill(seed=None):\n    np.random.seed(seed)\n",
        "b.py": b"import a\nimport gin\ngin.external_configurable(a.fill)\n",
        "c.py": b"import a\na.fill()\n",
        "train0.py": b"import gin, numpy as np, torch\ngin.parse_config('fill.seed = 4')\nimport b, c\n",
        "train1.py": b"import b, c, numpy as np, torch\n",
        "train2.py": b"import a, numpy as np, torch\na.fill()\n",
        "train3.py": b"import c, numpy as np, torch\n",
    }
    entries = ["train0.py", "train1.py", "train2.py", "train3.py"]
    files |= {entry: files[entry] + b"torch.tensor(np.random.rand()).backward()\n" for entry in entries}
    alone = {entry: _judged(Project(files.get), entry, None) for entry in entries}
    assert len({len(findings) for findings, *_ in alone.values()}) > 1
    for order in (entries, entries[::-1]):
        project, shared = Project(files.get), Shared()
        assert {entry: _judged(project, entry, shared) for entry in order} == alone


def test_a_call_that_a_module_makes_when_it_is_imported_says_nothing_of_later_ones() -> None:
    module = "import a\nimport torch\ndef make():\n    return torch.rand(3)\nvalue = make()\n"
    files = {"a.py": module.encode(), "one.py": b"import a\na.make()\n", "two.py": b"import a\na.make()\n"}
    alone = {entry: _judged(Project(files.get), entry, None) for entry in ("one.py", "two.py")}
    project, shared = Project(files.get), Shared()
    assert {entry: _judged(project, entry, shared) for entry in alone} == alone


@pytest.mark.parametrize("before", ["import a\na.SEEDS = True\n", "import a\na.SEEDS = True\na.seed = print\n"])
def test_what_a_module_reads_of_others_decides_what_it_does(before: str) -> None:
    files = {
        "a.py": b"import random\nSEEDS = False\ndef seed(number):\n    random.seed(number)\n",
        "b.py": b"import a\nif a.SEEDS:\n    a.seed(1)\n",
        "train0.py": b"import b, random, torch\ntorch.tensor(random.random()).backward()\n",
    }
    files["train1.py"] = before.encode() + files["train0.py"]
    files["train2.py"] = b"import a\na.SEEDS = 1 < 2\n" + files["train0.py"]
    entries = ["train0.py", "train1.py", "train2.py"]
    alone = {entry: _judged(Project(files.get), entry, None) for entry in entries}
    assert len({len(findings) for findings, *_ in alone.values()}) > 1
    for order in (entries, entries[::-1]):
        project, shared = Project(files.get), Shared()
        assert {entry: _judged(project, entry, shared) for entry in order} == alone
