"""What a README says of versions counts where no file that a tool reads states any."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from d9mlint.model import NEWEST, Limit, Target
from d9mlint.target import KNOWN, resolve
from d9mlint.target.readme import named


def told(text: str) -> dict[str, str]:
    return {limit.package: limit.specifier for limit in named(text, "README.md")}


def judged(root: Path, files: dict[str, str], *, code: tuple[Limit, ...] = ()) -> Target:
    from d9mlint.target import Resolver

    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Resolver((), (), root, "gpu").target(root / "train.py", code)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Requirements\n- Python 3.6\n- PyTorch 1.0.1\n", {"python": "==3.6.*", "torch": "==1.0.1.*"}),
        ("## Requirements\n- pytorch1.6.0+cu101\n", {"torch": "==1.6.0.*"}),
        ("* Tensorflow (tested with v1.8.0)", {"tensorflow": "==1.8.0.*"}),
        ("- [PyTorch](http://pytorch.org/) (currently tested on version 0.4 and 1.0)", {"torch": "==1.0.*"}),
        ("We used **TensorFlow-GPU**: 1.12", {"tensorflow": "==1.12.*"}),
        ("pip install torch==1.4.0 torchvision==0.5.0", {"torch": "==1.4.0.*"}),
        ("Requires TensorFlow 1.x", {"tensorflow": "==1.*"}),
        ("Requires [pytorch](http://pytorch.org/) 0.4 with torchvision 0.2.1", {"torch": "==0.4.*"}),
        ("Requires Keras 1.x", {"keras": "==2.0.9"}),
        ("Dependencies\n============\ntested with [PyTorch] (0.4.1)", {"torch": "==0.4.1.*"}),
        ("You will need:\n\n- [PyTorch](https://PyTorch.org/), version 1.0.1\n- tqdm, numpy", {"torch": "==1.0.1.*"}),
        ("Tested with Keras, v2.2.4, and PyTorch, ver. 1.2", {"keras": "==2.2.4.*", "torch": "==1.2.*"}),
        ("Tested with PyTorch 1.4 and PyTorch 1.2", {"torch": "==1.4.*"}),
        ("### Setup\n| pytorch | 1.7 |", {"torch": "==1.7.*"}),
        (
            "## Issues\n\n1. The test environment is\n    - Keras 2.1.5\n\n2. Old:\n   - PyTorch 1.2",
            {"keras": "==2.1.5.*"},
        ),
        ("All of it is tested on Pytorch 1.8.1, 1.9, 1.10.2 and 2.1.0.", {"torch": "==2.1.0.*"}),
        ("Tested with Python 3.6 / 3.7 or 3.8, PyTorch 1.4, 10.1 of CUDA", {"python": "==3.8.*", "torch": "==1.4.*"}),
        ("Code was run on JAX 0.2.28.", {"jax": "==0.2.28.*"}),
        ("Requires PyTorch == 0.3.1", {"torch": "==0.4.1"}),
        ("### Requirements\n```\nnetworkx    1.11\ntorch       0.4.1\n```\n", {"torch": "==0.4.1.*"}),
        ("Tested with PyTorch 1.4, but does not work with PyTorch 1.5 yet", {"torch": "==1.4.*"}),
        ("PyTorch 1.5 is not supported; we use PyTorch 1.4", {}),
        ("Note that you can not only use Python 3.6 but others", {"python": "==3.6.*"}),
        ("If you have not yet done so, install PyTorch 1.4", {"torch": "==1.4.*"}),
        ("conda create --name net python=3.6.13; conda activate net", {"python": "==3.6.*"}),
        ("### Prerequisites\n* Tensorflow ( recommended  version : 2.4.1 )", {"tensorflow": "==2.4.1.*"}),
    ],
)
def test_what_is_named(text: str, expected: dict[str, str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Requires PyTorch >= 0.4",
        "requires PyTorch 1.0 or later",
        "Install Python 3.7+",
        "compatible with Python 2.7 and 3.4+",
        "A PyTorch 1.0 port is in another branch, install it from there",
        "PyTorch implementation of the paper, 87.3 accuracy",
        "2021-03: we upgraded to PyTorch 1.8",
        "python3 inference.py -s 0.6",
        "We use Caffe 1.0",
        "you need another one, as one of the dependencies hasn't supported python 3.9 yet",
        "Requirements: incompatible with TensorFlow 2.0 and TensorFlow 2.1",
        "The code doesn't run on PyTorch 1.0.1 or PyTorch 1.1",
        "Setup: Python 3.9 won't work, as is the case with others",
        "We use PyTorch, 1.5 times faster than before",
        "",
    ],
)
def test_what_says_nothing(text: str) -> None:
    assert told(text) == {}


def test_the_line_is_told(tmp_path: Path) -> None:
    target = judged(tmp_path, {"README.md": "# A network\n\nTested with PyTorch 1.4.\n"})
    assert target.packages["torch"] == ("1.4.0", "README.md:3")


def test_files_that_tools_read_come_first(tmp_path: Path) -> None:
    files = {"README.md": "Tested with PyTorch 1.4.\n", "requirements.txt": "torch==1.7.1\n"}
    assert judged(tmp_path, files).packages["torch"] == ("1.7.1", "requirements.txt:1")


@pytest.mark.parametrize(
    ("readme", "version"),
    [
        ("```\n$ pip install -r ./docs/requirements.txt\n```", "1.4.0"),
        ("pip3 install --upgrade -r docs/requirements.txt", "1.4.0"),
        ("pip install --requirement=docs/requirements.txt", "1.4.0"),
        ("See docs/requirements.txt", KNOWN["torch"][-1]),
        ("pip install -r ../docs/requirements.txt", KNOWN["torch"][-1]),
        ("pip install -r docs/other.txt", KNOWN["torch"][-1]),
    ],
)
def test_requirements_that_it_has_people_install_count(tmp_path: Path, readme: str, version: str) -> None:
    files = {"README.md": readme, "docs/requirements.txt": "torch==1.4.0\n", "docs/other.txt": "torch==1.5.0\n"}
    assert str(judged(tmp_path, files).version("torch")) == version


def test_a_range_is_kept(tmp_path: Path) -> None:
    files = {"README.md": "Tested with PyTorch 1.4.\n", "requirements.txt": "torch>=1.7\n"}
    assert judged(tmp_path, files).packages["torch"].reason == "requirements.txt:1"


def test_what_the_code_needs_comes_first(tmp_path: Path) -> None:
    shown = (Limit("torch", ">=2.0", "`torch.compile` (train.py:3)"),)
    assert judged(tmp_path, {"README.md": "Tested with PyTorch 1.4."}, code=shown).version("torch") != "1.4.0"


def test_python_bounds_the_frameworks(tmp_path: Path) -> None:
    torch = judged(tmp_path, {"README.rst": "Requires Python 3.6"}).packages["torch"]
    assert torch == ("1.10.2", "newest release for Python 3.6")


@pytest.mark.parametrize(
    ("package", "python", "newest"),
    [("albumentations", "3.6", "1.3.0"), ("albumentations", "3.8", "1.4.18"), ("transformers", "3.7", "4.30.2")],
)
def test_python_bounds_what_its_newest_releases_cannot_run_on(
    tmp_path: Path, package: str, python: str, newest: str
) -> None:
    files = {"README.md": f"conda create -n net python={python}\n", "requirements.txt": f"{package}\n"}
    version, reason = judged(tmp_path, files).packages[package]
    assert Version(version) <= Version(newest)
    assert reason == f"newest release for Python {python}"


def test_python_bounds_jax(tmp_path: Path) -> None:
    files = {"README.md": "conda create -n net python=3.6.13\n", "requirements.txt": "jax>=0.2.12\n"}
    assert judged(tmp_path, files).packages["jax"] == ("0.2.17", "newest release for Python 3.6")


def test_the_nearest_readme_counts(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Tested with PyTorch 1.4.")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "readme.txt").write_text("Tested with PyTorch 1.2.")
    target = resolve((), (), tmp_path / "sub" / "train.py", tmp_path, "gpu")
    assert target.packages["torch"] == ("1.2.0", "sub/readme.txt:1")


@given(st.text(alphabet="PyTorch 1.0+=><(v)x|-\n#*requires", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    for limit in named(text, "README.md"):
        SpecifierSet(limit.specifier)


@pytest.mark.parametrize("line", ["pytorch " * 200, "pytorch" + " =" * 900 + "x", "requires torch" + "v" * 1900])
def test_hostile_lines_end(line: str) -> None:
    assert told(f"{line}\n" * 50) == {}


def test_code_for_python_2_bounds_what_nothing_states(tmp_path: Path) -> None:
    shown = (Limit("python", "<3", "`print` without parentheses (train.py:3)"),)
    packages = judged(tmp_path, {"requirements.txt": "torch==0.4.1\n"}, code=shown).packages
    assert packages["python"] == ("2.7", shown[0].reason)
    assert packages["torch"].version == "0.4.1"
    assert packages["numpy"] == ("1.16.6", "newest release for Python 2.7")
    stated = judged(tmp_path, {"environment.yml": "dependencies:\n  - python=3.6\n"}, code=shown).packages
    assert stated["python"].version == "3.6"


def test_a_readme_older_than_the_code_says_nothing(tmp_path: Path) -> None:
    files = {"README.md": "## Requirements\n\n- PyTorch 1.3.1\n"}
    assert judged(tmp_path, files).packages["torch"].version == "1.3.1"
    newer = (Limit("torch", ">=1.7", "newest release with `torch.backends.cudnn.allow_tf32` (train.py:3)"),)
    assert judged(tmp_path, files, code=newer).packages["torch"] == (KNOWN["torch"][-1], NEWEST)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("keras==2.2.4", "1.15.5"), ("keras<2.3", "1.15.5"), ("Keras==2.3.1", "2.2.3"), ("keras==2.11.0", "2.11.1"),
        ("keras==2.2.4\ntensorflow==1.8.0", "1.8.0"), ("keras>=2.2", KNOWN["tensorflow"][-1]),
    ],
)  # fmt: skip
def test_an_old_keras_tells_its_tensorflow(tmp_path: Path, stated: str, expected: str) -> None:
    found = judged(tmp_path, {"requirements.txt": stated, "train.py": "import keras\n"})
    assert found.version("tensorflow") == expected


def test_code_that_an_old_keras_does_not_fit_says_more(tmp_path: Path) -> None:
    shown = (Limit("tensorflow", ">=2.0", "`tf.function`"),)
    found = judged(tmp_path, {"requirements.txt": "keras==2.2.4", "train.py": ""}, code=shown)
    assert found.version("tensorflow") == KNOWN["tensorflow"][-1]
