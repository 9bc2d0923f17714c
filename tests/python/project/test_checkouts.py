"""Programs that import their own code under the name of the folder of the checkout, which may be another one here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d9mlint.python.project.checkouts import home
from d9mlint.python.project.importlines import import_lines

TRAIN = "from sam.nets.small import Net, make\nimport sam.data\n\nsam.data.load()\nNet().fit()\n"
FILES = {
    "tools/train.py": TRAIN,
    "nets/__init__.py": "",
    "nets/small.py": "import numpy as np\n\n\nclass Net:\n    def fit(self):\n        print(np.random.rand())\n\n\n"
    "def make():\n    pass\n",
    "data.py": "import random\n\n\ndef load():\n    print(random.random())\n",
}


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def found(files: dict[str, str], importer: str = "tools/train.py") -> str | None:
    data = {name: text.encode() for name, text in files.items()}
    return home("sam", ("tools", "."), importer, list(import_lines(data[importer])), data.get)


def test_what_the_folder_holds_under_its_own_name_is_followed(d9mlint: Callable[..., Any]) -> None:
    write({**FILES, ".git/HEAD": ""})
    told = d9mlint("tools/train.py", "--format", "concise").out
    assert "nets/small.py:6" in told or "data.py:5" in told, told  # one finding for one cure
    every = d9mlint("tools/train.py", "--verbose").out
    assert "small.py:6" in every and "data.py:5" in every, every
    write({"nets/small.py": FILES["nets/small.py"].replace("np.random.rand()", "1")})
    assert "nets/small.py" not in d9mlint("tools/train.py", "--format", "concise").out


def test_modules_that_are_taken_out_of_the_folder_itself_are_followed(d9mlint: Callable[..., Any]) -> None:
    write({"data.py": FILES["data.py"], "train.py": "from sam import data\n\nprint(data.load())\n", "__init__.py": ""})
    assert "data.py" not in d9mlint("train.py", "--format", "concise").out
    write({"README.md": "Run `python -m sam.train`.\n"})
    assert "data.py:5" in d9mlint("train.py", "--format", "concise").out
    assert "data.py:5" in d9mlint(".", "--format", "concise").out


@pytest.mark.parametrize(
    ("changed", "root"),
    [
        ({}, "."),
        ({"nets/small.py": "class Net:\n    pass\n"}, None),  # a name is missing: the package of somebody else
        ({"requirements.txt": "numpy\nsam==1.0\n"}, None),
        ({"setup.py": 'setup(name="my-sam-tools")\n'}, "."),  # that is not the name of the package
        ({"tools/train.py": "import sam.data\n"}, None),  # `import scipy.io` beside an `io.py`
        ({"tools/train.py": "from sam.nets.small import Net\n"}, None),  # one module may be called so by chance
        ({"tools/train.py": "from sam.nets.small import Net\n", "__init__.py": ""}, "."),
        ({"tools/train.py": "from sam.nets.small import Net\n", "README.md": "python -m sam.tools.train\n"}, "."),
        ({"tools/train.py": "from sam.nets import small\nfrom sam import data\n"}, "."),
        ({"tools/train.py": "from sam import data\n"}, None),
        ({"tools/train.py": "from sam import data\n", "__init__.py": ""}, None),
        ({"tools/train.py": "from sam import data\n", "README.md": "python -m sam.tools.train\n"}, "."),
        ({"tools/train.py": "from sam import data\n", "README.md": "python -m sam.other\n"}, None),
    ],
)
def test_the_folder_is_the_package_where_all_is_there(changed: dict[str, str], root: str | None) -> None:
    assert found({**FILES, **changed}) == root


def test_a_package_of_the_standard_library_is_no_checkout() -> None:
    data = {"a.py": b"from xml.dom import node\nfrom xml.sax import handler\n", "dom.py": b"node", "sax.py": b"handler"}
    assert home("xml", (".",), "a.py", list(import_lines(data["a.py"])), data.get) is None


@pytest.mark.parametrize(
    ("line", "module", "text"),
    [
        ("from torch.utils import tensorboard", "utils.py", "from torch.utils import tensorboard\n"),
        ("from torch.utils.data import Loader", "utils/data.py", "import torch\nprint(torch.utils.data.Loader)\n"),
    ],
)
def test_a_module_that_uses_a_package_is_no_part_of_it(line: str, module: str, text: str) -> None:
    data = {"train.py": f"import torch\n{line}\n".encode(), module: text.encode(), "utils/__init__.py": b""}
    assert home("torch", (".",), "train.py", list(import_lines(data["train.py"])), data.get) is None


def test_folders_beside_a_package_may_be_imported_as_its_own(d9mlint: Callable[..., Any]) -> None:
    """`sam/` is a package of the checkout `sam`, and `sam.examples` the folder beside it."""
    write({
        ".git/HEAD": "",
        "sam/__init__.py": "def loss(x):\n    return x\n",
        "examples/loop.py": "def run(sample):\n    return sample()\n",
        "examples/train.py": "import random\nimport sam\nfrom sam.examples import loop\n\n\n"
        "print(sam.loss(loop.run(lambda: random.random())))\n",
    })  # fmt: skip
    assert "examples/train.py:6" in d9mlint("examples/train.py", "--format", "concise").out
