"""Statements of remedies at the start of programs: where they go, under which names, and that nothing else changes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.fix import edited
from d9mlint.fix.beginnings import insertion
from d9mlint.fix.statements import block

SEEDS = ["random.seed(1)", "np.random.seed(1)", "torch.manual_seed(1)"]


def patched(source: str, statements: list[str], *, early: bool = False) -> str:
    edits = insertion("train.py", source.encode(), statements, early=early)
    assert not isinstance(edits, str), edits
    done = edited(source.encode(), edits)
    assert done is not None
    return done.decode()


def test_they_stand_behind_the_imports_with_those_they_need() -> None:
    source = "import numpy as np\nimport torch\n\nx = torch.rand(3)\n"
    assert patched(source, SEEDS) == (
        "import random\n\nimport numpy as np\nimport torch\n\n"
        "random.seed(1)\nnp.random.seed(1)\ntorch.manual_seed(1)\n\nx = torch.rand(3)\n"
    )


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("", "import random\n\nrandom.seed(1)\n"),
        ("x = 1\n", "import random\n\nrandom.seed(1)\n\nx = 1\n"),
        ("import os", "import os\nimport random\n\nrandom.seed(1)\n"),
        ("import os\r\nx = 1\r\n", "import os\r\nimport random\r\n\r\nrandom.seed(1)\r\n\r\nx = 1\r\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\nimport random\n\nrandom.seed(1)\n\nx = 1\n'),
        ("#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nx = 1\n",
         "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nimport random\n\nrandom.seed(1)\n\nx = 1\n"),
        ("from __future__ import annotations\nx = 1\n",
         "from __future__ import annotations\n\nimport random\n\nrandom.seed(1)\n\nx = 1\n"),
        ("import math  # é\nimport sys\n\nimport torch\n",
         "import math  # é\nimport random\nimport sys\n\nimport torch\n\nrandom.seed(1)\n"),
        ("import torch\nimport math\nx = 1\n", "import torch\nimport math\nimport random\n\nrandom.seed(1)\n\nx = 1\n"),
        ("import random; x = random.random()\n", "import random; x = random.random()\n\nrandom.seed(1)\n"),
    ],
)  # fmt: skip
def test_files_of_all_kinds(source: str, wanted: str) -> None:
    assert patched(source, ["random.seed(1)"]) == wanted


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("import os\nimport sys\n\nimport tensorflow as tf\n\nimport tools\n",
         "import os\nimport random\nimport sys\n\nimport numpy as np\nimport tensorflow as tf\n\nimport tools\n"),
        ("import os\n\nfrom tools import x\n", "import os\nimport random\n\nimport numpy as np\n\nfrom tools import x\n"),
        ("from tools import x\n", "import random\n\nimport numpy as np\n\nfrom tools import x\n"),
        ("import os\n", "import os\nimport random\n\nimport numpy as np\n"),
        ("from . import x\nimport sys\nimport os\n", "import numpy as np\n\nfrom . import x\nimport sys\nimport os\nimport random\n"),
        ("import json\nfrom os import path\n\nfrom absl import app\nimport torch\nfrom tqdm import tqdm\n",
         "import json\nimport random\nfrom os import path\n\nfrom absl import app\nimport numpy as np\nimport torch\nfrom tqdm import tqdm\n"),
        ("import torch\nfrom tqdm import tqdm\nimport scipy\nimport sys\n",
         "import torch\nfrom tqdm import tqdm\nimport scipy\nimport numpy as np\nimport random\nimport sys\n"),
    ],
)  # fmt: skip
def test_imports_go_where_isort_has_them(head: str, wanted: str) -> None:
    edits = insertion("train.py", head.encode(), [], ["random", "np"], own={"tools"})
    assert not isinstance(edits, str)
    done = edited(head.encode(), edits)
    assert done == wanted.encode()
    assert insertion("train.py", done, [], ["random", "np"], own={"tools"}) == "it is there already"


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("from lib import b, c as d\n", "from lib import b, c as d, x\n"),
        ("from lib import (\n    a,\n    b,\n)\n", "from lib import (\n    a,\n    b,\n    x,\n)\n"),
        ("from lib import *\n", "from lib import *\nfrom lib import x\n"),
        ("import lib\nfrom other import y\n", "import lib\nfrom lib import x\nfrom other import y\n"),
        ("from lib import x\n", None),
    ],
)  # fmt: skip
def test_a_name_joins_those_that_are_imported_from_its_module(head: str, wanted: str | None) -> None:
    edits = insertion("train.py", head.encode(), [], ["from lib import x"])
    done = None if isinstance(edits, str) else (edited(head.encode(), edits) or b"").decode()
    assert done == wanted


@pytest.mark.parametrize(
    ("imports", "statement", "wanted"),
    [
        ("import numpy", "np.random.seed(1)", "numpy.random.seed(1)"),
        ("import numpy as n", "np.random.seed(1)", "n.random.seed(1)"),
        ("import tensorflow.compat.v1 as tf", "tf.random.set_seed(1)", "tf.set_random_seed(1)"),
        ("import tensorflow.compat.v1 as tf", "tf.set_random_seed(1)", "tf.set_random_seed(1)"),
        ("from random import *", "random.seed(1)", "seed(1)"),
        ("import os.path", 'os.environ["A"] = "1"', 'os.environ["A"] = "1"'),
    ],
)
def test_packages_are_called_as_the_script_does(imports: str, statement: str, wanted: str) -> None:
    assert patched(f"{imports}\n", [statement]) == f"{imports}\n\n{wanted}\n"


def test_a_name_that_is_taken_is_not_used() -> None:
    assert patched("from random import random\n", ["random.seed(1)"]) == (
        "import random as random_module\nfrom random import random\n\nrandom_module.seed(1)\n"
    )


def test_early_is_before_what_may_draw() -> None:
    source = "import torch\nfrom model import Net\nimport data\n\nNet()\n"
    assert patched(source, ["torch.manual_seed(1)"], early=True).startswith(
        "import torch\n\ntorch.manual_seed(1)\n\nfrom model import Net\n"
    )
    assert "import data\n\ntorch.manual_seed(1)\n" in patched(source, ["torch.manual_seed(1)"])


def test_what_is_there_is_not_said_twice() -> None:
    source = "import torch\n\ntorch.manual_seed(1)\n"
    assert insertion("train.py", source.encode(), ["torch.manual_seed(1)"]) == "it is there already"


def test_what_cannot_be_parsed_stays() -> None:
    assert insertion("train.py", b"def f(:\n", ["random.seed(1)"]) == "it cannot be parsed"


def test_what_edits_need_stands_there_once() -> None:
    function = "def seed_worker(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n"
    edits = insertion("train.py", b"import torch\n\nx = 1\n", ["torch.manual_seed(1)"], [function, "zlib"])
    assert not isinstance(edits, str)
    assert edited(b"import torch\n\nx = 1\n", edits) == (
        b"import zlib\n\nimport numpy as np\nimport torch\n\ntorch.manual_seed(1)\n\n\n"
        b"def seed_worker(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n\n\nx = 1\n"
    )
    assert insertion("train.py", b"import zlib\n", [], ["zlib"]) == "it is there already"


def test_a_function_stands_above_its_use_although_imports_follow() -> None:
    source = b"import torch\nloader = make(init=seed)\nimport late\n"
    edits = insertion("train.py", source, [], ["def seed(worker_id):\n    torch.manual_seed(1)\n"], before=2)
    assert not isinstance(edits, str)
    assert edited(source, edits) == (
        b"import torch\n\n\ndef seed(worker_id):\n    torch.manual_seed(1)\n\n\nloader = make(init=seed)\nimport late\n"
    )


def test_a_seed_that_stands_too_late_is_put_before_imports_that_draw() -> None:
    source = "import torch\nfrom data import x\n\nprint(x)\ntorch.manual_seed(1)\n"
    done = patched(source, ["torch.manual_seed(1)"], early=True)
    assert done == source.replace("from data", "\ntorch.manual_seed(1)\n\nfrom data", 1)


@pytest.mark.parametrize(
    ("remedy", "generators", "wanted", "safe"),
    [
        ("`random.seed(1)` before; with TensorFlow `tf.keras.utils.set_random_seed(1)`", ["python"],
         ("random.seed(1)",), True),
        ("`random.seed(1)` before; with TensorFlow `tf.keras.utils.set_random_seed(1)`", ["python", "tensorflow"],
         ("tf.keras.utils.set_random_seed(1)",), True),
        ("`torch.manual_seed(1)`, with `random.seed(1)` and `np.random.seed(1)`", ["torch", "numpy"],
         ("torch.manual_seed(1)", "np.random.seed(1)"), True),
        ('call `torch.use_deterministic_algorithms(True)` and set `os.environ["A"] = "1"`', [],
         ('os.environ["A"] = "1"', "torch.use_deterministic_algorithms(True)"), False),
        ("`np.random.default_rng(1)` of your own", [], None, True),
        ("`torch.manual_seed(1)`", ["numpy"], None, True),
    ],
)  # fmt: skip
def test_the_code_of_a_remedy(remedy: str, generators: list[str], wanted: tuple[str, ...] | None, safe: bool) -> None:
    found = block(remedy, generators)
    assert (found.statements if found else None) == wanted
    assert found is None or found.safe is safe


LINES = st.lists(
    st.sampled_from([
        "import os", "import json, math", "import torch", "import numpy as np", "from model import Net", "x = 1", "# comment", "", "def f():\n    pass",
        "if x:\n    import sys", "try:\n    import a\nexcept ImportError:\n    a = None", "class A:\n    import b",
    ]),
    max_size=8,
)  # fmt: skip


@given(LINES, st.lists(st.sampled_from(SEEDS), min_size=1, unique=True), st.booleans(), st.booleans())
def test_only_lines_are_added_and_the_rest_stays(lines: list[str], seeds: list[str], early: bool, end: bool) -> None:
    source = "\n".join(lines) + ("\n" if end and lines else "")
    done = patched(source, seeds, early=early)
    ast.parse(done)
    kept = iter(done.split("\n"))
    assert all(line in kept for line in source.split("\n"))
    assert all(seed in done for seed in seeds)
    assert insertion("train.py", done.encode(), seeds, early=early) == "it is there already"
