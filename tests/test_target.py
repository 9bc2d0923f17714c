"""The target: which versions a program is judged for, and why."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from d9mlint.model import ConfigError, Limit, Target, UsageError
from d9mlint.target import KNOWN, Resolver, resolve
from d9mlint.target import files as target_files
from d9mlint.target.files import holds_below
from d9mlint.target.known import implied, newest
from d9mlint.target.ngc import ngc_image, read_dockerfile
from d9mlint.target.pins import from_conda, from_poetry, pin

LONG = """\
# Training
google-api-python-client>=1.6.7
google-cloud-bigquery>=0.31.0
kaggle>=1.3.9
numpy>=1.15.4,<2
oauth2client>=4.1.2
pandas>=0.22.0
psutil>=5.4.3
py-cpuinfo>=3.3.0
tensorflow-gpu==2.4.1
tensorflow-hub>=0.6.0
tensorflow-addons
-e git+https://github.com/cocodataset/cocoapi#egg=pycocotools&subdirectory=PythonAPI
"""


def judged(root: Path, *target: str, config: tuple[str, ...] = (), entry: str = "train.py") -> Target:
    return resolve(target, config, root / entry, root, "gpu")


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def said(target: Target, package: str = "tensorflow") -> tuple[str, str]:
    found = target.packages[package]
    return found.version, found.reason


def of(tmp_path: Path, files: dict[str, str], package: str = "tensorflow", entry: str = "train.py") -> tuple[str, str]:
    return said(judged(write(tmp_path, files), entry=entry), package)


# --- CUDA

CONDA = "dependencies:\n  - python=3.6\n  - {}\n"


@pytest.mark.parametrize(
    ("files", "package", "version", "reason"),
    [
        ({"conda_env.yml": CONDA.format("pytorch\n  - cudatoolkit=9.2")}, "torch", "1.7.1", "conda_env.yml:4 (CUDA 9.2)"),
        ({"environment.yml": CONDA.format("cudatoolkit=10.1.243=h6bb024c_0")}, "torch", "1.8.1", "(CUDA 10.1)"),
        ({"environment.yml": CONDA.format("cudatoolkit>=9.2")}, "torch", "1.10.2", "newest release for Python 3.6"),
        ({"environment.yml": CONDA.format("cudatoolkit=9.2\n  - pytorch=1.4.0")}, "torch", "1.4.0", "environment.yml:4"),
        ({"environment.yml": CONDA.format("pytorch=1.9\n  - cudatoolkit=11.1")}, "torch", "1.9.1", "environment.yml:3"),
        # a range that the file states counts more
        ({"environment.yml": CONDA.format("cudatoolkit=11.0\n  - pytorch>=1.8,<1.10")}, "torch", "1.9.1", ".yml:4"),
        ({"environment.yml": "dependencies:\n  - pytorch-cuda=11.7\n"}, "torch", "2.0.1", "(CUDA 11.7)"),
        ({"environment.yml": "dependencies:\n  - pytorch-cuda=11.8\n"}, "torch", "2.5.1", "(CUDA 11.8)"),
        ({"environment.yml": "dependencies:\n  - cuda90\n"}, "torch", "1.1.0", "(CUDA 9.0)"),
        (
            {"requirements.txt": "-f https://download.pytorch.org/whl/cu101/torch_stable.html\ntorch>=1.5\n"},
            "torch", "1.8.1", "requirements.txt:1 (CUDA 10.1)",
        ),
        (
            {"requirements.txt": "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch\n"},
            "torch", "2.5.1", "requirements.txt:1 (CUDA 12.1)",
        ),
        (
            {"Dockerfile": "FROM nvidia/cuda:10.0-cudnn7-devel\nRUN pip install tensorflow-gpu torch\n"},
            "tensorflow", "2.0.4", "Dockerfile:1 (CUDA 10.0)",
        ),
        # wheels of PyTorch bring their own
        ({"Dockerfile": "FROM nvidia/cuda:10.0-cudnn7-devel\nRUN pip install torch\n"}, "torch", KNOWN["torch"][-1], ""),
        (
            {"Dockerfile": "FROM ubuntu\nRUN conda install pytorch torchvision cudatoolkit=10.2 -c pytorch\n"},
            "torch", "1.12.1", "Dockerfile:2 (CUDA 10.2)",
        ),
    ],
)  # fmt: skip
def test_a_cuda_bounds_the_releases_that_are_built_for_it(
    tmp_path: Path, files: dict[str, str], package: str, version: str, reason: str
) -> None:
    found, why = of(tmp_path, files, package)
    assert found == version
    assert why.endswith(reason)


def test_of_two_conda_environments_each_kind_of_statement_is_compared(tmp_path: Path) -> None:
    """Both say the same release, and the CUDA of each says another bound."""
    environment = "channels: [pytorch]\ndependencies:\n  - pytorch=1.4.0\n  - cudatoolkit={}\n"
    files = {"linux_cuda9.yml": environment.format("9.2"), "linux_cuda10.yml": environment.format("10.1")}
    assert of(tmp_path, files, "torch")[0] == "1.4.0"


# --- the tables


@pytest.mark.parametrize("name", KNOWN)
def test_known_releases_are_in_order_and_parse(name: str) -> None:
    assert list(KNOWN[name]) == sorted(set(KNOWN[name]), key=Version)


def test_every_minor_of_tensorflow_is_known() -> None:
    minors = {Version(v).release[:2] for v in KNOWN["tensorflow"]}
    assert minors >= {(1, m) for m in range(12, 16)} | {(2, m) for m in range(22)}


@pytest.mark.parametrize("tensorflow", KNOWN["tensorflow"])
def test_every_tensorflow_implies_a_keras_and_a_python(tensorflow: str) -> None:
    keras, python = implied("keras", tensorflow), implied("python", tensorflow)
    assert keras is not None and Version(keras[0])
    assert python is not None and python[0] in KNOWN["python"]


@pytest.mark.parametrize(
    ("tensorflow", "keras", "reason"),
    [
        ("1.12.0", "2.1.6", "tensorflow 1.12.0"),
        ("1.15.5", "2.2.4", "tensorflow 1.15.5"),
        ("2.1.0", "2.2.4", "tensorflow 2.1.0"),
        ("2.2.0", "2.3.0", "tensorflow 2.2.0"),
        ("2.4.1", "2.4.0", "tensorflow 2.4.1"),
        ("2.5.0", "2.5.0", "tensorflow 2.5.0"),
        ("2.6.2", "2.6.0", "tensorflow 2.6.2"),
        ("2.15.0", "2.15.0", "tensorflow 2.15.0"),
        ("2.16.1", KNOWN["keras"][-1], "tensorflow 2.16 ships Keras 3"),
    ],
)
def test_keras_follows_tensorflow(tensorflow: str, keras: str, reason: str) -> None:
    assert implied("keras", tensorflow) == (keras, reason)


# --- nothing stated


def test_without_any_statement_the_newest_known_releases_are_taken(tmp_path: Path) -> None:
    target = judged(tmp_path)
    assert said(target) == (KNOWN["tensorflow"][-1], "newest known release")
    assert said(target, "horovod") == ("0.28.1", "newest known release")
    assert said(target, "keras") == (KNOWN["keras"][-1], "tensorflow 2.21 ships Keras 3")
    assert target.version("python") == "3.13"
    assert target.version("ngc") is None
    assert target.device == "gpu"


def test_packages_are_sorted_so_that_reports_are_stable(tmp_path: Path) -> None:
    names = list(judged(tmp_path, "tensorflow==2.4", "ngc==21.02", "abc==1").packages)
    assert names == sorted(names)


# --- --target and config


@pytest.mark.parametrize(
    ("requirement", "package", "version"),
    [
        ("tensorflow==2.4.1", "tensorflow", "2.4.1"),
        ("tensorflow==2.4.2", "tensorflow", "2.4.2"),  # not in the table, kept all the same
        ("tensorflow<2.8", "tensorflow", "2.7.4"),
        ("tensorflow==2.4.*", "tensorflow", "2.4.4"),
        ("tensorflow~=2.9.0", "tensorflow", "2.9.3"),
        ("tensorflow", "tensorflow", KNOWN["tensorflow"][-1]),
        ("tensorflow-gpu == 1.14.0", "tensorflow", "1.14.0"),
        ("TensorFlow_CPU==2.9.1", "tensorflow", "2.9.1"),
        ("tf-nightly==2.5.0.dev20201212", "tensorflow", "2.5.0.dev20201212"),
        ("tf_keras==2.16.0", "tf-keras", "2.16.0"),
        ("keras==3.3", "keras", "3.3"),
        ("horovod==0.21", "horovod", "0.21"),
        ("python==3.10", "python", "3.10"),
        ("python>=3.7.1,<3.8", "python", "3.7"),
        ("ngc==21.02", "ngc", "21.02"),
        ("mxnet==1.9", "mxnet", "1.9"),
    ],
)
def test_asked_for_on_the_command_line(tmp_path: Path, requirement: str, package: str, version: str) -> None:
    assert said(judged(tmp_path, requirement), package) == (version, "--target")


def test_several_targets_for_one_package_hold_together(tmp_path: Path) -> None:
    assert judged(tmp_path, "tensorflow>=2.4", "tensorflow<2.6").version("tensorflow") == "2.5.3"


def test_target_beats_config_beats_files(tmp_path: Path) -> None:
    config = ("tensorflow==2.5.0", "horovod==0.20")
    write(tmp_path, {"requirements.txt": "tensorflow==2.9.0\n"})
    target = judged(tmp_path, "tensorflow==2.4.1", config=config)
    assert said(target) == ("2.4.1", "--target")
    assert said(target, "horovod") == ("0.20", "pyproject.toml [tool.d9mlint]")
    assert said(judged(tmp_path, config=config)) == ("2.5.0", "pyproject.toml [tool.d9mlint]")


@pytest.mark.parametrize(
    ("requirement", "tail"),
    [
        ("tensorflow=>2", "not a requirement such as 'tensorflow==2.4.1'"),
        ("", "not a requirement such as 'tensorflow==2.4.1'"),
        ("tensorflow @ https://example.org/x.whl", "not a requirement such as 'tensorflow==2.4.1'"),
        ("tensorflow<0.12", f"no known release of tensorflow (0.12.1 to {KNOWN['tensorflow'][-1]}) fits"),
        ("tensorflow==2.4,<2", f"no known release of tensorflow (0.12.1 to {KNOWN['tensorflow'][-1]}) fits"),
        ("mxnet<2", "no releases of mxnet are known here; give one exactly, as in 'mxnet==1.0'"),
    ],
)
def test_a_target_that_cannot_be_met_is_named(tmp_path: Path, requirement: str, tail: str) -> None:
    with pytest.raises(UsageError) as raised:
        Resolver([requirement], [], tmp_path, "gpu")
    assert str(raised.value) == f"--target {requirement!r}: {tail}"
    with pytest.raises(ConfigError) as raised_config:
        Resolver([], [requirement], tmp_path, "gpu")
    assert str(raised_config.value) == f"pyproject.toml [tool.d9mlint] target {requirement!r}: {tail}"


# --- every kind of file

POETRY_LOCK = (
    '[[package]]\nname = "tensorflow"\nversion = "2.15.0"\n\n[[package]]\nname = "numpy"\nversion = "1.26.1"\n'
)


@pytest.mark.parametrize(
    ("name", "text", "version", "line"),
    [
        ("requirements.txt", LONG, "2.4.1", 10),
        ("requirements.txt", "\ufefftensorflow==2.4.1", "2.4.1", 1),
        ("requirements.txt", "a\ntensorflow[and-cuda] == 2.15.0  # as on the cluster\n", "2.15.0", 2),
        ("requirements.txt", "a==1 \\\n  --hash=sha256:aa\ntensorflow==2.9.1 \\\n  --hash=sha256:bb\n", "2.9.1", 3),
        ("requirements.txt", "#tensorflow==1.0\ntensorflow>=1.15.*,<2\n", "1.15.5", 2),
        ("requirements.txt", "tensorflow>=2.4\ntensorflow<2.6\n", "2.5.3", 2),
        ("requirements.txt", "tensorflow>=2.4\ntensorflow-gpu==2.5.0\n", "2.5.0", 2),
        ("requirements.txt", "tensorflow>=99\n", KNOWN["tensorflow"][-1], 0),
        ("requirements.txt", "tensorflow=2.4\nnonsense here\n", KNOWN["tensorflow"][-1], 0),
        ("requirements.txt", "tensorflow @ https://x.org/tensorflow-2.4.1.whl\n", KNOWN["tensorflow"][-1], 0),
        ("requirements.txt", "tensorflow-macos==2.9.0; sys_platform == 'darwin'\ntensorflow==2.8.0\n", "2.8.0", 2),
        ("requirements.txt", "nvidia-tensorflow[horovod]\n", "1.15.5", 1),
        ("requirements-gpu.txt", "tensorflow-gpu==1.14.0\n", "1.14.0", 1),
        ("gpu_requirements.txt", "tensorflow-gpu==1.14.0\n", "1.14.0", 1),
        ("requirements/base.txt", "tensorflow==2.3.1\n", "2.3.1", 1),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = [\n  "tensorflow>=2.8,<2.9",\n]\n', "2.8.4", 4),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["tensorflow-gpu==2.9.1"]\n', "2.9.1", 2),
        ("pyproject.toml", '[dependency-groups]\ntrain = ["tensorflow~=2.9.0"]\n', "2.9.3", 2),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.8"\ntensorflow = "^2.4"\n', "2.21.0", 3),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "~2.4"\n', "2.4.4", 2),
        ("pyproject.toml", '[tool.poetry.group.ml.dependencies]\ntensorflow = {version = "2.4.1"}\n', "2.4.1", 2),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow==2.4.1"', KNOWN["tensorflow"][-1], 0),
        ("pyproject.toml", "[project]\ndependencies = 3\n[tool]\npoetry = []\n", KNOWN["tensorflow"][-1], 0),
        ("setup.cfg", "[options]\ninstall_requires =\n  numpy\n  tensorflow>=1.15,<2.1\n", "2.0.4", 4),
        ("setup.cfg", "[options.extras_require]\ntf = tensorflow==2.1.0\n", "2.1.0", 2),
        ("setup.cfg", "no section\n", KNOWN["tensorflow"][-1], 0),
        ("setup.py", "setup(\n  install_requires=['numpy',\n    'tensorflow==2.3.1'])\n", "2.3.1", 3),
        ("setup.py", "R = [\n  # 'tensorflow==1.0',\n  'tensorflow~=2.3.0']\nsetup(install_requires=R)\n", "2.3.4", 3),
        ("setup.py", "setup(extras_require={'tensorflow': [], 'gpu': ['tensorflow-gpu==1.15.0']})", "1.15.0", 1),
        ("setup.py", "print 'python 2'; setup(install_requires=['tensorflow==1.0'])", KNOWN["tensorflow"][-1], 0),
        ("setup.py", "raise SystemExit('executed')\nx = '\\d'\nsetup(install_requires=['tensorflow==2.0'])", "2.0", 3),
        ("environment.yml", "name: x\ndependencies:\n  - python=3.7\n  - tensorflow=2.4\n", "2.4.4", 4),
        ("environment.yaml", "dependencies:\n- tensorflow-gpu=1.14.0=h0d30ee6_0\n", "1.14.0", 2),
        ("environment.yml", "dependencies:\n  - conda-forge::tensorflow==2.9.1=cuda # gpu\n", "2.9.1", 2),
        ("environment.yml", "dependencies:\n  - 'tensorflow>=2.4,<2.6'\n", "2.5.3", 2),
        ("environment.yml", "dependencies:\n  - pip\n  - pip:\n    - tensorflow==2.4.1\n  - numpy=1.19\n", "2.4.1", 4),
        ("environment.yml", "variables:\n  - tensorflow=2.4\n", KNOWN["tensorflow"][-1], 0),
        ("Pipfile", '[packages]\ntensorflow = "==2.4.1"\n', "2.4.1", 2),
        ("Pipfile", '[packages]\nnumpy = "*"\ntensorflow = {version = "~=2.4.0", extras = []}\n', "2.4.4", 3),
        ("Pipfile.lock", '{"default": {\n "tensorflow": {"version": "==2.4.1"}}}', "2.4.1", 2),
        ("Pipfile.lock", "[1", KNOWN["tensorflow"][-1], 0),
        ("poetry.lock", POETRY_LOCK, "2.15.0", 3),
        ("uv.lock", 'version = 1\n\n[[package]]\nname = "tensorflow"\nversion = "2.16.2"\n', "2.16.2", 5),
        ("pdm.lock", POETRY_LOCK, "2.15.0", 3),
    ],
)  # fmt: skip
def test_a_file_states_the_version(tmp_path: Path, name: str, text: str, version: str, line: int) -> None:
    assert of(tmp_path, {name: text}) == (version, f"{name}:{line}" if line else "newest known release")


def test_utf16_as_powershell_writes_it(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\r\ntensorflow==2.4.1\r\n", encoding="utf-16")
    assert said(judged(tmp_path)) == ("2.4.1", "requirements.txt:2")


def test_included_files_are_followed_inside_of_the_tree(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"evil.txt": "tensorflow==1.13.1\n"})
    root = write(
        tmp_path / "repo",
        {
            "requirements.txt": "-r gpu/base.txt\n-r ../outside/evil.txt\n-r https://x.org/r.txt\n",
            "gpu/base.txt": "-r ../requirements.txt\n--constraint limits.txt\ntensorflow>=2.4\n",
            "gpu/limits.txt": "numpy<2\ntensorflow<2.9\n",
        },
    )
    assert said(judged(root)) == ("2.8.4", "gpu/base.txt:3")


@pytest.mark.parametrize("link", ["file", "folder", "loop"])
def test_links_out_of_the_tree_are_not_followed(tmp_path: Path, link: str) -> None:
    outside = write(
        tmp_path / "outside", {"requirements.txt": "tensorflow==2.4.1\n", "base.txt": "tensorflow==2.4.1\n"}
    )
    root = write(tmp_path / "repo", {"train.py": ""})
    path, to = {
        "file": (root / "requirements.txt", outside / "requirements.txt"),
        "folder": (root / "requirements", outside),
        "loop": (root / "requirements.txt", root / "requirements.txt"),
    }[link]
    try:
        path.symlink_to(to)
    except OSError:
        pytest.skip("no links here")
    assert said(judged(root))[1] == "newest known release"


def test_a_link_inside_of_the_tree_is_followed(tmp_path: Path) -> None:
    root = write(tmp_path, {"deps/pinned.txt": "tensorflow==2.4.1\n"})
    try:
        (root / "requirements.txt").symlink_to(root / "deps/pinned.txt")
    except OSError:
        pytest.skip("no links here")
    assert said(judged(root)) == ("2.4.1", "requirements.txt:1")


def test_huge_and_odd_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==2.4.1\n" + "# filler\n" * 150_000)
    (tmp_path / "setup.py").mkdir()
    (tmp_path / "poetry.lock").write_bytes(b'[[package]]\nname = "\xff\x00"\nversion = "1"\n')
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "Pipfile")  # opening it would wait forever
    assert said(judged(tmp_path))[1] == "newest known release"


# --- precedence among files


def test_the_nearest_folder_wins_and_the_root_is_the_end(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    files = {
        "requirements.txt": "tensorflow==1.13.1\n",  # above the root
        "repo/requirements.txt": "tensorflow==2.9.0\nhorovod==0.19\n",
        "repo/bert/requirements.txt": "tensorflow==2.4.1\n",
    }
    write(tmp_path, files)
    target = judged(root, entry="bert/scripts/train.py")
    assert said(target) == ("2.4.1", "bert/requirements.txt:1")
    assert said(target, "horovod") == ("0.19", "requirements.txt:2")
    assert said(judged(root, entry="other/train.py"))[1] == "requirements.txt:1"
    (root / "requirements.txt").unlink()
    assert said(judged(root))[1] == "newest known release"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": '[project]\ndependencies = ["tensorflow>=2.4"]\n', "poetry.lock": POETRY_LOCK}, "2.15.0"),
        ({"requirements.txt": "tensorflow>=2.4", "setup.py": "setup(install_requires=['tensorflow==2.6.0'])"}, "2.6.0"),
        ({"requirements.txt": "tensorflow==2.4.1", "requirements-dev.txt": "tensorflow==2.9.0"}, "2.4.1"),
        ({"requirements.txt": "tensorflow<2.5", "requirements-dev.txt": "tensorflow<2.1"}, "2.4.4"),
        ({"requirements.txt": "tensorflow<2", "Pipfile": '[packages]\ntensorflow = "==2.4.1"'}, "2.4.1"),
    ],
)
def test_an_exact_version_beats_a_range_in_the_same_folder(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    assert of(tmp_path, files)[0] == expected


def test_the_lock_of_a_workspace_settles_the_range_of_a_member(tmp_path: Path) -> None:
    files = {"poetry.lock": POETRY_LOCK, "bert/pyproject.toml": '[project]\ndependencies = ["tensorflow>=2.4"]\n'}
    assert of(tmp_path, files, entry="bert/train.py") == ("2.15.0", "poetry.lock:3")
    files["bert/pyproject.toml"] = '[project]\ndependencies = ["tensorflow<2.10"]\n'
    assert of(tmp_path, files, entry="bert/train.py") == ("2.9.3", "bert/pyproject.toml:2")


@pytest.mark.parametrize("stated", ["tensorflow", "tensorflow>=2.4"])
def test_requirements_above_say_nothing_of_a_program_that_has_its_own(tmp_path: Path, stated: str) -> None:
    files = {"requirements.txt": "tensorflow==1.15.4\nhorovod==0.19\n", "tf2/requirements.txt": f"absl-py\n{stated}\n"}
    write(tmp_path, files)
    target = judged(tmp_path, entry="tf2/train.py")
    assert said(target)[0] == KNOWN["tensorflow"][-1]
    assert said(target, "horovod") == ("0.19", "requirements.txt:2")
    assert said(judged(tmp_path)) == ("1.15.4", "requirements.txt:1")
    write(tmp_path, {"uv.lock": 'version = 1\n\n[[package]]\nname = "tensorflow"\nversion = "2.16.2"\n'})
    assert said(judged(tmp_path, entry="tf2/train.py")) == ("2.16.2", "uv.lock:5")


# --- images

NGC = "ARG FROM_IMAGE_NAME=nvcr.io/nvidia/tensorflow:20.06-tf1-py3\nFROM ${FROM_IMAGE_NAME}\n"


@pytest.mark.parametrize(
    ("text", "version", "reason"),
    [
        ("# x\n\nFROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\n", "2.4.0", ":3 (NGC 21.02)"),
        (NGC, "1.15.2", ":1 (NGC 20.06)"),
        ("FROM nvcr.io/nvidia/tensorflow:19.10-py3", "1.14.0", ":1 (NGC 19.10)"),
        ("ARG V=22.04\nFROM --platform=linux nvcr.io/nvidia/tensorflow:$V-tf2-py3 AS a", "2.8.0", ":1 (NGC 22.04)"),
        ("FROM nvcr.io/nvidia/tensorflow:${V:-23.06}-tf2-py3", "2.12.0", ":1 (NGC 23.06)"),
        ("from tensorflow/tensorflow:2.9.1-gpu as base\nFROM alpine", "2.9.1", ":1 (tensorflow/tensorflow:2.9.1-gpu)"),
        ("FROM docker.io/tensorflow/tensorflow:1.15.2-py3", "1.15.2", ":1 (tensorflow/tensorflow:1.15.2-py3)"),
        ("FROM tensorflow/tensorflow:2.9.1\nFROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3", "2.4.0", ":2 (NGC 21.02)"),
    ],
)  # fmt: skip
def test_the_image_of_a_dockerfile(tmp_path: Path, text: str, version: str, reason: str) -> None:
    target = judged(write(tmp_path, {"Dockerfile": text}))
    assert said(target) == (version, f"Dockerfile{reason}")
    assert said(target, "keras")[1] == f"tensorflow {version}"
    if "NGC" in reason:
        assert said(target, "ngc") == (reason[-6:-1], f"Dockerfile{reason}")
    else:
        assert target.version("ngc") is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("FROM nvidia/cuda:9.1\nRUN conda install -y pytorch=0.4.1 torchvision cuda91 -c pytorch", "0.4.1"),
        ("FROM pytorch/pytorch:1.4.0\nRUN apt-get update && pip3 install 'torch==1.13.1+cu117' einops", "1.13.1"),
        ("ARG V=1.7.1\nFROM ubuntu\nRUN pip install numpy torch==${V}", "1.7.1"),
        ("FROM pytorch/pytorch:1.4.0\nRUN pip install torchvision==0.8.2 pytorch-lightning==1.2.3", "1.4.0"),
        ("FROM pytorch/pytorch:1.4.0\nRUN echo torch==1.7.1", "1.4.0"),
    ],
)
def test_what_a_dockerfile_installs(tmp_path: Path, text: str, version: str) -> None:
    assert said(judged(write(tmp_path, {"Dockerfile": text})), "torch")[0] == version


@pytest.mark.parametrize(
    "text",
    [
        "FROM nvcr.io/nvidia/pytorch:21.02-py3",
        "FROM tensorflow/tensorflow:latest-gpu",
        "FROM nvcr.io/nvidia/tensorflow:${UNKNOWN}-tf2-py3",
        "ARG UNUSED=nvcr.io/nvidia/tensorflow:20.06-tf1-py3\nFROM alpine",
        "FROM",
    ],
)
def test_an_image_that_tells_nothing(tmp_path: Path, text: str) -> None:
    assert said(judged(write(tmp_path, {"Dockerfile": text})))[1] == "newest known release"


@pytest.mark.parametrize("name", ["Dockerfile.gpu", "gpu.Dockerfile", "Dockerfile_train", "docker/Dockerfile"])
def test_names_of_dockerfiles(tmp_path: Path, name: str) -> None:
    assert of(tmp_path, {name: NGC}) == ("1.15.2", f"{name}:1 (NGC 20.06)")


@pytest.mark.parametrize("folder", ["docker", "install", "installation", "environment", "requirements"])
def test_requirements_in_a_folder_for_them(tmp_path: Path, folder: str) -> None:
    path = f"{folder}/requirements.txt"
    assert of(tmp_path, {path: "tensorflow==1.13.1\n"}) == ("1.13.1", f"{path}:1")
    assert of(tmp_path, {"requirements.txt": "tensorflow==2.4.1\n"}) == ("2.4.1", "requirements.txt:1")


def test_requirements_in_any_other_folder_are_those_of_its_own(tmp_path: Path) -> None:
    assert of(tmp_path, {"docs/requirements.txt": "tensorflow==1.13.1\n"})[1] == "newest known release"


def test_a_requirement_beats_the_image_and_a_range_keeps_what_the_image_has(tmp_path: Path) -> None:
    files = {"Dockerfile": NGC, "requirements.txt": "tensorflow >= 1.11.0   # CPU Version of TensorFlow.\n"}
    assert of(tmp_path, files) == ("1.15.2", "Dockerfile:1 (NGC 20.06)")
    assert of(tmp_path, files | {"requirements.txt": "tensorflow>=2.4,<2.8"}) == ("2.7.4", "requirements.txt:1")
    target = judged(write(tmp_path, files | {"requirements.txt": "tensorflow==2.4.1"}))
    assert said(target) == ("2.4.1", "requirements.txt:1")
    assert target.version("ngc") is None  # its patches are gone with its TensorFlow


def test_an_ngc_image_asked_for(tmp_path: Path) -> None:
    assert said(judged(tmp_path, "ngc==21.02")) == ("2.4.0", "--target (NGC 21.02)")
    assert said(judged(tmp_path, "ngc==21.2"), "ngc") == ("21.02", "--target")
    assert said(judged(tmp_path, "ngc==21.02", "tensorflow<2")) == ("1.15.5", "--target (NGC 21.02)")
    assert said(judged(tmp_path, "ngc==21.02", "tensorflow==2.4.1")) == ("2.4.1", "--target")
    assert judged(tmp_path, "ngc<20.07").version("ngc") == "20.06"
    files = {"requirements.txt": "tensorflow<2", "Dockerfile": NGC}
    assert said(judged(write(tmp_path, files), "ngc==20.12")) == ("1.15.4", "--target (NGC 20.12)")


def test_nvidia_wheels_tell_the_image_release(tmp_path: Path) -> None:
    target = judged(write(tmp_path, {"requirements.txt": "nvidia-tensorflow[horovod]==1.15.4+nv20.10\n"}))
    assert said(target) == ("1.15.4", "requirements.txt:1")
    assert said(target, "ngc") == ("20.10", "requirements.txt:1")


# NVIDIA/framework-reproducibility, doc/d9m/tensorflow.md: release, then minor versions of the tf1 and the tf2 image
TABLE = (
    "19.06 1.13 -, 19.07 1.14 -, 19.10 1.14 -, 19.11 1.15 2.0, 20.01 1.15 2.0, 20.02 1.15 2.1, 20.03 1.15 2.1,"
    "20.06 1.15 2.2, 20.08 1.15 2.2, 20.09 1.15 2.3, 20.12 1.15 2.3, 21.02 1.15 2.4, 21.05 1.15 2.4, 21.06 1.15 2.5,"
    "21.08 1.15 2.5, 21.09 1.15 2.6, 21.12 1.15 2.6, 22.01 1.15 2.7, 22.02 1.15 2.7, 22.03 1.15 2.8, 22.05 1.15 2.8,"
    "22.06 1.15 2.9, 22.09 1.15 2.9, 22.10 1.15 2.10, 22.12 1.15 2.10, 23.01 1.15 2.11"
)


@pytest.mark.parametrize(("release", "tf1", "tf2"), [row.split() for row in TABLE.split(",")])
def test_images_agree_with_the_table_of_nvidia(release: str, tf1: str, tf2: str) -> None:
    for api, minor in (("tf1", tf1), ("tf2", tf2)):
        if minor != "-":
            [version] = ngc_image(release, api, "").versions
            assert version in SpecifierSet(f"=={minor}.*")


# --- packages that follow


def test_a_pinned_keras_is_kept_and_a_range_follows_tensorflow(tmp_path: Path) -> None:
    pinned = judged(write(tmp_path, {"requirements.txt": "tensorflow==2.16.1\nkeras==3.3.3\n"}))
    assert said(pinned, "keras") == ("3.3.3", "requirements.txt:2")
    loose = judged(write(tmp_path, {"requirements.txt": "tensorflow==2.4.1\nkeras>=2.2\n"}))
    assert said(loose, "keras") == ("2.4.0", "tensorflow 2.4.1")
    files = {"requirements.txt": "keras>=2.0.0\n", "setup.py": "setup(install_requires=['keras==2.2.2'])\n"}
    both = judged(write(tmp_path / "both", files))
    assert said(both, "keras") == ("2.2.2", "setup.py:1")
    assert said(both, "tensorflow") == ("1.15.5", "newest release for keras 2.2.2")
    old = judged(write(tmp_path, {"requirements.txt": "tensorflow==2.16.1\nkeras<3.5\n"}))
    assert said(old, "keras") == ("3.4.1", "requirements.txt:2")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.7.1,<3.8"\n'}, ("3.7", "pyproject.toml:2")),
        ({"setup.py": "setup(python_requires='>=3')"}, ("3.13", "newest Python for tensorflow 2.21")),
        ({"setup.cfg": "[options]\npython_requires = <3.9\n"}, ("3.8", "setup.cfg:2")),
        ({"environment.yml": "dependencies:\n  - python=3.7.10\n"}, ("3.7.10", "environment.yml:2")),
        ({"Pipfile": '[requires]\npython_version = "3.8"\n'}, ("3.8", "Pipfile:2")),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "~3.9"\n'}, ("3.9", "pyproject.toml:2")),
        ({"requirements.txt": "tensorflow==2.4.1"}, ("3.8", "newest Python for tensorflow 2.4.1")),
    ],
)
def test_python(tmp_path: Path, files: dict[str, str], expected: tuple[str, str]) -> None:
    assert of(tmp_path, files, "python") == expected


def test_markers_are_read_for_the_python_of_the_project(tmp_path: Path) -> None:
    pins = "tensorflow==2.11.0; python_version < '3.8'\ntensorflow==2.15.0; python_version >= '3.8'\n"
    files = {"requirements.txt": pins, "setup.py": "setup(python_requires='>=3.9')"}
    assert of(tmp_path, files) == ("2.15.0", "requirements.txt:2")
    assert judged(tmp_path, "python==3.7").version("tensorflow") == "2.11.0"


# --- the object


def test_files_are_read_once_for_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"requirements.txt": "tensorflow==2.4.1\n", "a/requirements.txt": "numpy<2\n"})
    read: list[Path] = []
    text = target_files.Tree.text

    def counted(tree: target_files.Tree, path: Path) -> str | None:
        read.append(path)
        return text(tree, path)

    monkeypatch.setattr(target_files.Tree, "text", counted)
    resolver = Resolver([], [], tmp_path, "cpu")
    targets = [resolver.target(tmp_path / d / f"{i}.py") for d in ("a", "a/b", "c") for i in range(9)]
    assert {t.version("tensorflow") for t in targets} == {"2.4.1"}
    assert {t.device for t in targets} == {"cpu"}
    assert len(read) == len(set(read)) == 2


def test_relative_paths_and_entries_outside_of_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"repo/x": "", "other/requirements.txt": "tensorflow==2.4.1\n", "requirements.txt": "keras==3.0\n"})
    monkeypatch.chdir(tmp_path / "repo")
    target = Resolver([], [], Path(), "gpu").target(Path("../other/train.py"))
    assert said(target) == ("2.4.1", "../other/requirements.txt:1")
    assert target.version("keras") == "2.4.0"  # only the entry's own folder is read
    assert said(Resolver([], [], Path(".."), "gpu").target(Path("train.py")), "keras") == ("3.0", "requirements.txt:1")


# --- arbitrary text


@given(st.text() | st.from_regex(r"tensorflow\s?[=<>!~]{1,3}[\d.*a-z+]{0,9}(;.{0,9})?", fullmatch=True))
@example("tensorflow===foo")
@example("tensorflow==2.4.1; python_version < 'x'")
def test_no_requirement_text_raises(text: str) -> None:
    found = pin(text, "r.txt:1", "r.txt")
    if found is not None:
        found.holds(["3.8"])
        assert not found.version or Version(found.version)
    for other in (from_conda(text), from_poetry("tensorflow", text)):
        assert other is None or pin(other, "", "") is None or newest("tensorflow", SpecifierSet()) is not None


@given(
    st.sampled_from(["", "tensorflow", "ngc", "keras", "python"]),
    st.from_regex(r"[=<>~!]=?[\d.!a-z+*-]{0,8}") | st.text(),
)
@example("ngc", "===x")
def test_a_target_is_met_or_refused(name: str, text: str) -> None:
    try:
        target = Resolver([name + text], [], Path(), "gpu").target(Path("absent/train.py"))
    except UsageError as error:
        assert str(error).startswith(f"--target {name + text!r}: ")
    else:
        assert all(Version(found.version) for found in target.packages.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "FROM " + "${A:-" * 200_000),
        ("Dockerfile", "ARG A=aaaa\n" + "ARG A=$A$A$A$A\n" * 60 + "FROM $A\n"),
        ("requirements.txt", "-r requirements.txt\n" * 40_000),
        ("setup.cfg", "[options]\ninstall_requires =\n" + "".join(f"  a{i}\n" for i in range(60_000))),
        ("setup.py", "_require" + "(" * 100_000),
        ("pyproject.toml", "dependencies = " + "[" * 100_000),
        ("environment.yml", "dependencies:\n - a" + " " * 900_000 + "b\n"),
        ("Pipfile", '[packages]\ntensorflow = "' + " " * 900_000 + '"\n'),
    ],
    ids=["docker-long", "docker-bomb", "include", "setup.cfg", "setup.py", "pyproject", "conda", "pipfile"],
)
def test_hostile_files_cost_little(tmp_path: Path, name: str, text: str) -> None:
    start = time.process_time()
    assert of(tmp_path, {name: text})[1] == "newest known release"
    assert time.process_time() - start < 10


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@given(
    name=st.sampled_from(
        ["requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "environment.yml", "Pipfile", "uv.lock",
         "Pipfile.lock", "Dockerfile"]
    ),
    data=st.binary()
    | st.lists(
        st.sampled_from(
            ["[", "]", "[project]\n", "dependencies", "install_requires", "=", "'", '"', "\n", "\\\n", "-r ", "- ",
             "dependencies:\n", "pip:", "tensorflow", "==2.4", "^", ",", "{", "}", "FROM ", "ARG ", "$A", "\x00",
             "nvidia/tensorflow:", "21.02", "#", " ", "1", "[[package]]\n", "version = "]
        )
    ).map(lambda parts: "".join(parts).encode()),
)  # fmt: skip
def test_no_file_raises(scratch: Path, name: str, data: bytes) -> None:
    file = scratch / name
    file.write_bytes(data)
    try:
        target = Resolver([], [], scratch, "gpu").target(scratch / "train.py")
    finally:
        file.unlink()
    assert Version(target.packages["tensorflow"].version)


def test_read_dockerfile_puts_nvidia_and_the_last_stage_first() -> None:
    text = (
        "FROM tensorflow/tensorflow:2.9.1\nFROM nvidia/tensorflow:21.02-tf2-py3\nFROM nvidia/tensorflow:22.01-tf2-py3\n"
    )
    assert [image.where for image in read_dockerfile(text, "D")] == [
        "D:3 (NGC 22.01)", "D:2 (NGC 21.02)", "D:1 (tensorflow/tensorflow:2.9.1)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("nvcr.io/nvidia/pytorch:21.05-py3", "1.9.0"),
        ("nvcr.io/nvidia/pytorch:18.12-py3", "1.0.0"),
        ("pytorch/pytorch:1.9.1-cuda11.1-cudnn8-runtime", "1.9.1"),
        ("pytorch/pytorch:1.6-cuda10.1-cudnn7-devel", "1.6"),
    ],
)
def test_images_with_pytorch(tmp_path: Path, image: str, version: str) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {image}\n")
    target = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py")
    assert target.packages["torch"].version == version
    assert target.packages["torch"].reason.startswith("Dockerfile:1")
    assert target.packages["tensorflow"].version == KNOWN["tensorflow"][-1]


def test_conda_calls_torch_pytorch(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text("dependencies:\n  - pytorch=1.7.1\n  - pytorch-lightning=1.1.8\n")
    target = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py")
    assert (target.version("torch"), target.version("lightning")) == ("1.7.1", "1.1.8")


def _conda(*dependencies: str, more: str = "") -> str:
    return (
        f"name: lab\nchannels:\n- pytorch\ndependencies:\n{''.join(f'- {one}{chr(10)}' for one in dependencies)}{more}"
    )


def test_a_conda_environment_may_have_any_name(tmp_path: Path) -> None:
    files = {"linux_cuda10.yml": _conda("python=3.7", "pytorch=1.5.1"), "data.yml": "train: x\nnames: [a]\n"}
    assert _torch(tmp_path, files) == ("1.5.1", "linux_cuda10.yml:6")


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"gpu.yml": _conda("pytorch=1.5.1"), "mac.yaml": _conda("pytorch=1.5.1", "numpy=1.19")}, "1.5.1"),
        ({"gpu.yml": _conda("pytorch=1.5.1"), "mac.yaml": _conda("pytorch=1.7.1")}, KNOWN["torch"][-1]),
        ({"gpu.yml": _conda("pytorch=1.5.1"), "mac.yaml": _conda("pytorch")}, KNOWN["torch"][-1]),
        ({"gpu.yml": _conda("pytorch=1.5.1"), "environment.yml": _conda("pytorch=1.7.1")}, "1.7.1"),
        ({"gpu.yml": _conda("pytorch=1.5.1", more="jobs:\n- x\n")}, KNOWN["torch"][-1]),
        ({"gpu.yml": "dependencies:\n- pytorch=1.5.1\n"}, KNOWN["torch"][-1]),
        ({"gpu.yml": "\0[: {channels:\ndependencies:"}, KNOWN["torch"][-1]),
    ],
)
def test_environments_under_other_names_count_where_they_agree(
    tmp_path: Path, files: dict[str, str], version: str
) -> None:
    assert _torch(tmp_path, files)[0] == version


def _torch(tmp_path: Path, files: dict[str, str]) -> tuple[str, str]:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    package = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py").packages["torch"]
    return package.version, package.reason


def test_which_yaml_files_state_versions(tmp_path: Path) -> None:
    files = {"gpu.yml": _conda("pytorch=1.5.1"), "data.yml": "train: x\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    told = {name: holds_below(f"{tmp_path.as_posix()}/{name}") for name in (*files, "gone.yml", "gone.json")}
    assert told == {
        "gpu.yml": tmp_path.as_posix(),
        "data.yml": None,
        "gone.yml": tmp_path.as_posix(),
        "gone.json": None,
    }


TF1 = Limit("tensorflow", "<2.0", "newest release with `tf.Session` (train.py:3)")


def test_what_the_code_shows_counts_where_nothing_states_a_version(tmp_path: Path) -> None:
    package = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py", [TF1]).packages["tensorflow"]
    assert (package.version, package.reason) == ("1.15.5", TF1.reason)


@pytest.mark.parametrize(
    ("requirements", "version", "reason"),
    [
        ("tensorflow>=1.11", "1.15.5", TF1.reason),
        ("tensorflow>=2.0", KNOWN["tensorflow"][-1], "requirements.txt:1"),
        ("tensorflow==2.4.1", "2.4.1", "requirements.txt:1"),
    ],
)
def test_what_the_code_shows_stays_within_what_the_files_state(
    tmp_path: Path, requirements: str, version: str, reason: str
) -> None:
    (tmp_path / "requirements.txt").write_text(requirements, encoding="utf-8")
    package = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py", [TF1]).packages["tensorflow"]
    assert (package.version, package.reason) == (version, reason)


def test_what_was_asked_for_comes_before_what_the_code_shows(tmp_path: Path) -> None:
    target = Resolver(["tensorflow==2.4.1"], [], tmp_path, "gpu").target(tmp_path / "train.py", [TF1])
    assert target.version("tensorflow") == "2.4.1"


@pytest.mark.parametrize(
    ("lines", "version", "reason"),
    [
        ("torch\ntorchvision==0.20.0\n", "2.5.1", "requirements.txt:2"),
        ("torchvision==0.8.2\n", "1.7.1", "requirements.txt:1"),
        ("torchaudio==2.1.0+cu118\n", "2.1.2", "requirements.txt:1"),
        ("torchvision==0.20.0\ntorch==2.4.0\n", "2.4.0", "requirements.txt:2"),
        ("torchvision>=0.20\n", KNOWN["torch"][-1], "newest known release"),
        ("torchvision==0.2.1\ntorchaudio==0.9.0\n", KNOWN["torch"][-1], "newest known release"),
        ("torchvision==999999.1\n", KNOWN["torch"][-1], "newest known release"),
    ],
)
def test_torchvision_tells_for_which_torch_it_is_built(tmp_path: Path, lines: str, version: str, reason: str) -> None:
    write(tmp_path, {"requirements.txt": lines})
    assert said(judged(tmp_path), "torch") == (version, reason)


@pytest.mark.parametrize(
    ("files", "python", "torch"),
    [
        ({"requirements.txt": "numpy==1.13.3\ntensorflow==1.15.2\n"}, "3.6", "1.10.2"),
        ({"environment.yml": "dependencies:\n  - python=3.7.10\n"}, "3.7.10", "1.13.1"),
        ({"setup.cfg": "[options]\npython_requires = <3.9\n"}, "3.8", "2.4.1"),
        ({"requirements.txt": "numpy==2.1.3\n"}, "3.13", KNOWN["torch"][-1]),
        ({"requirements.txt": "numpy==1.13.3\ntorch==2.0.0\n"}, "3.6", "2.0.0"),
    ],
)
def test_the_python_of_a_program_bounds_what_nothing_states(
    tmp_path: Path, files: dict[str, str], python: str, torch: str
) -> None:
    target = judged(write(tmp_path, files))
    assert (target.version("python"), target.version("torch")) == (python, torch)
    if target.packages["torch"].reason != "requirements.txt:2" and torch != KNOWN["torch"][-1]:
        assert target.packages["torch"].reason == f"newest release for Python {python}"


def test_the_python_of_a_program_bounds_numpy(tmp_path: Path) -> None:
    target = judged(write(tmp_path, {"environment.yml": "dependencies:\n  - python=3.7.10\n"}))
    assert target.packages["numpy"] == ("1.21.6", "newest release for Python 3.7.10")


def test_what_came_with_a_release_counts_more_than_what_went_with_it(tmp_path: Path) -> None:
    """Code for an older one is left over in a branch that no longer runs."""
    left_over, later = Limit("tensorflow", "<1.0", "a"), Limit("tensorflow", "<2.0", "b")
    root = write(tmp_path, {"train.py": ""})
    for limits, release in (
        ([left_over, later], "0.12.1"),
        ([left_over, Limit("tensorflow", ">=1.0", "c"), later], "1.15.5"),
    ):
        target = Resolver([], [], root, "gpu").target(root / "train.py", limits)
        assert target.version("tensorflow") == release


def test_the_tightest_limit_counts(tmp_path: Path) -> None:
    limits = [Limit("torch", "<2.4", "a"), Limit("torch", "<1.8", "b"), Limit("torch", "<2.0", "c")]
    package = Resolver([], [], tmp_path, "gpu").target(tmp_path / "train.py", limits).packages["torch"]
    assert (package.version, package.reason) == ("1.7.1", "b")


def test_the_python_that_the_code_shows_bounds_what_is_stated_as_a_range(tmp_path: Path) -> None:
    root = write(tmp_path, {"requirements.txt": "torch>=0.4.1\n"})
    limits = [Limit("python", "<3.9", "a"), Limit("python", "<3.10", "b"), Limit("numpy", "<1.24", "c")]
    packages = Resolver([], [], root, "gpu").target(root / "train.py", limits).packages
    assert packages["python"] == ("3.8", "a")
    assert packages["torch"] == ("2.4.1", "newest release for Python 3.8")
    assert packages["numpy"] == ("1.23.5", "c")


def test_a_python_by_a_stated_release_is_not_made_newer_by_the_code(tmp_path: Path) -> None:
    root = write(tmp_path, {"requirements.txt": "torch==1.4.0\n"})
    target = Resolver([], [], root, "gpu").target(root / "train.py", [Limit("python", "<3.10", "a")])
    assert target.packages["python"] == ("3.8", "newest Python for torch 1.4.0")
