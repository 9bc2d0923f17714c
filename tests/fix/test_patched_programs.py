"""Whole programs are patched: whatever their layout, they parse, other lines stay as they are, and once is enough."""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from d9mlint.app import Options
from d9mlint.app.fixing import check

STARTS = (
    "", "#!/usr/bin/env python", "# -*- coding: latin-1 -*-", "# größe", "'''Text'''", "'''Text\n\nof lines.\n'''", "pass",
    "# coding: utf-8\n'''Text'''",
)  # fmt: skip
FUTURE = ("", "from __future__ import annotations", "from __future__ import (\n    annotations,\n)")
IMPORTS = (
    "import torch", "import numpy as np", "import random", "import os", "import os, sys; import torch", "from tools import x",
    "import numpy", "from random import *", "import torch as t  # é", "try:\n\timport pandas\nexcept ImportError: pandas = None",
    "if True: import json", "import torch \\\n    as th", "\x0c", "",
)  # fmt: skip
BODY = (
    "x = __import__('torch').rand(3)", "import numpy.random as r; print(r.rand())", "import torch; print(torch.rand(3))",
    "if True: import torch; print(torch.rand(2))", "def f(): import random; return random.random()", "print(f()) if 'f' in dir() else 0",
    "import os\nnames = os.listdir('d')\nimport numpy as np\nnp.save('a', np.array([open(n).read() for n in names]))",
    "import numpy as np\nfor _ in [1]:\n\tif 1:\n\t\tprint(np.random.rand())", "import torch\nwith torch.no_grad(): print(torch.randn(1))",
    "import random\nclass A:\n  x = random.random()\nprint(A.x)", "import numpy as np; g = np.random.default_rng(); print(g.random())",
    "import os\nimport numpy as np\nfiles = []\nfor top, _, found in os.walk('d'):\n\tfiles += found\n"
    "np.save('b', np.array([open(n).read() for n in files]))",
    "import gymnasium\nif True:\n  env = gymnasium.make('x')\n  env.reset(seed=7)\n  env.step(env.action_space.sample())",
    "import numpy as np\nfrom torch.utils import data\nclass S(data.Dataset):\n\tdef __len__(self): return 8\n"
    "\tdef __getitem__(self, i): return np.random.rand(2)\nfor b in data.DataLoader(S(), num_workers=2): print(b)",
    "s = '''\nimport torch\n'''", "# the end \u2028",
)  # fmt: skip
EDITED = {
    "os.listdir('d')": "sorted(os.listdir('d'))", "np.random.default_rng()": "np.random.default_rng(1)",
    "for top, _, found": "for top, dirs, found", "num_workers=2)": "num_workers=2, worker_init_fn=seed_worker)",
}  # fmt: skip
ADDED = (
    "import ",
    "random.",
    "np.",
    "numpy.",
    "torch.",
    "t.",
    "th.",
    "r.",
    "seed(",
    "random_module.",
    "numpy_module.",
    "torch_module.",
    "dirs.sort()",
    "found.sort()",
    "env.action_space.seed(7)",
    "def seed_worker(worker_id):",
)


@contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        try:
            os.chdir(name)
            Path(".git").mkdir()
            Path("tools.py").write_text("import torch\nx = torch.rand(1)\n")
            yield Path(name)
        finally:
            os.chdir(before)


PROGRAMS = st.builds(
    lambda start, future, imports, body: "\n".join(filter(None, (start, future, *imports, *body))),
    st.sampled_from(STARTS), st.sampled_from(FUTURE), st.lists(st.sampled_from(IMPORTS), max_size=4),
    st.lists(st.sampled_from(BODY), min_size=1, max_size=4),
)  # fmt: skip


TWO_ENVIRONMENTS = "\n".join(2 * [one for one in BODY if "gymnasium" in one])
"""Each has a space of its own, whose draws are told as one cause."""


WORKERS_BEFORE_AN_IMPORT = "\n".join([IMPORTS[5], *(one for one in BODY if "num_workers" in one), BODY[2]])
"""What the workers are to start with stands above the loader, although an import follows."""


WORKERS_AND_A_DRAW = "\n".join([IMPORTS[5], BODY[1], *(one for one in BODY if "num_workers" in one)])
"""The cure of the workers takes their seeds from another generator, which then is to be seeded as well."""


@example(WORKERS_BEFORE_AN_IMPORT, "\n", True, False, True)
@example(WORKERS_AND_A_DRAW, "\n", True, False, True)
@example(TWO_ENVIRONMENTS, "\n", True, False, False)
@given(PROGRAMS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=6, deadline=None)
def test_only_what_is_cured_changes(text: str, newline: str, ends: bool, marked: bool, old: bool) -> None:
    encoding = "latin-1" if "latin-1" in text else "utf-8-sig" if marked else "utf-8"
    text = text.replace("\u2028", "") if encoding == "latin-1" else text
    before = (text + ("\n" if ends else "")).replace("\n", newline).encode(encoding)
    with folder():
        Path("train.py").write_bytes(before)
        target = ("torch==1.8.1",) if old else ()
        options = Options(paths=(Path("train.py"),), target=target, fix=True, unsafe_fixes=True, jobs=1)
        outcome = check(options)
        after = Path("train.py").read_bytes()
        ast.parse(after)
        assert not [one for one in outcome.report.unchecked if "not fixed" in one.reason]
        check(options)
        assert Path("train.py").read_bytes() == after
    given, new = (data.decode(encoding).split(newline) for data in (before, after))
    left = iter(new)
    extra: list[str] = []
    for line in given:
        wanted = {line, *(line.replace(a, b) for a, b in EDITED.items())}
        for found in left:
            if found in wanted:
                break
            extra.append(found)
        else:
            raise AssertionError(f"{line!r} is lost")
    extra += left
    assert all(not one or one.lstrip().startswith(ADDED) for one in extra), extra
    assert before == after or extra or any(a in text for a in EDITED)
