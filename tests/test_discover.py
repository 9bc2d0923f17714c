"""Which files are checked, which of them are entries, and where their imports start."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint import discover as module
from d9mlint.config import Config
from d9mlint.discover import Discovery, added_roots, discover, has_main_guard, import_roots, is_member, searched_roots
from d9mlint.discover.tracked import tracked
from d9mlint.model import ConfigError, Unchecked, UsageError

GUARD = 'if __name__ == "__main__":\n    main()\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def write(root: Path, files: dict[str, str] | Iterable[str]) -> None:
    for name, text in (files if isinstance(files, dict) else dict.fromkeys(files, "")).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def names(paths: Iterable[Path]) -> list[str]:
    return [path.as_posix() for path in paths]


def found(root: Path, *paths: str, **settings: Any) -> Discovery:
    return discover([Path(path) for path in paths or (".",)], Config(root=root, **settings))


# --- files -----------------------------------------------------------------------------------------------------------


def test_folder_is_sorted_and_spelled_as_given(root: Path) -> None:
    write(root, ["b.py", "a/z.py", "a/b/c.py", "a-b.py", "notes.txt", "run", "a.pyi", "c.PY"])
    assert names(found(root).files) == ["a/b/c.py", "a/z.py", "a-b.py", "b.py"]
    assert names(found(root, str(root / "a")).files) == [f"{root}/a/b/c.py", f"{root}/a/z.py"]
    assert names(found(root, "../" + root.name + "/a").files) == [f"../{root.name}/a/b/c.py", f"../{root.name}/a/z.py"]


def test_each_file_once_whatever_the_order(root: Path) -> None:
    write(root, ["a/x.py", "y.py"])
    one = found(root, "a", ".", "a/x.py", "./y.py")
    two = found(root, "y.py", "a/../a/x.py", "a/x.py", ".", "a")
    assert names(one.files) == names(two.files) == ["a/x.py", "y.py"]
    assert names(one.entries) == names(two.entries) == ["a/x.py", "y.py"]


def test_nothing_to_check(root: Path) -> None:
    write(root, ["data/readme.txt"])
    for paths, text in ((["data"], "data"), (["data", "."], "data, ."), ([], "no path")):
        with pytest.raises(UsageError, match=f"^nothing to check: no Python file in {text}$"):
            discover([Path(path) for path in paths], Config(root=root))


def test_path_not_found(root: Path) -> None:
    write(root, ["x.py"])
    (root / "dangling.py").symlink_to(root / "gone.py")
    for name in ("gone.py", "x.py/y", "dangling.py"):
        with pytest.raises(UsageError, match=f"^path not found: {name}$"):
            found(root, "x.py", name)


def test_special_file(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    with pytest.raises(UsageError, match=r"^neither a file nor a folder: pipe.py$"):
        found(root, "pipe.py")
    write(root, ["x.py"])
    assert names(found(root).files) == ["x.py"]


def test_named_file_is_an_entry_even_where_excluded(root: Path) -> None:
    write(root, {"train": "", "venv/x.py": "", "gen.py": "", "lib.py": "", ".gitignore": "gen.py\n"})
    result = found(root, "train", "venv/x.py", "gen.py", exclude=("train",))
    assert names(result.files) == names(result.entries) == ["gen.py", "train", "venv/x.py"]


def test_default_excludes(root: Path) -> None:
    left_out = [
        ".git/h.py",
        ".venv/a.py",
        "env/lib/b.py",
        "p/__pycache__/c.py",
        "p/node_modules/d.py",
        "build/lib/e.py",
    ]
    left_out += ["dist/f.py", ".tox/g.py", "x.egg-info/i.py", "py/site-packages/j.py", ".mypy_cache/k.py", ".eggs/l.py"]
    write(root, [*left_out, "env/pyvenv.cfg", "p/ok.py", "utils/dist/__init__.py", "environment/n.py", "p/build.py"])
    kept = ["environment/n.py", "p/build.py", "p/ok.py", "utils/dist/__init__.py"]
    assert names(found(root).files) == kept
    assert names(found(root, "build").files) == ["build/lib/e.py"]  # named is named
    readded = found(root, exclude=("!build/", "!env/", "!.venv/")).files
    assert names(readded) == sorted([*kept, ".venv/a.py", "build/lib/e.py", "env/lib/b.py"], key=lambda n: n.split("/"))


def test_exclude_is_relative_to_the_config_root(root: Path) -> None:
    write(root, ["p/a.py", "p/gen/b.py", "p/c_pb2.py", "gen/d.py", "p/p/a.py"])
    excluded = ("/p/gen/", "*_pb2.py", "/p/a.py")
    for paths in ((".",), ("p", "gen"), (str(root),)):
        assert [Path(os.path.relpath(file)).as_posix() for file in found(root, *paths, exclude=excluded).files] == [
            "gen/d.py",
            "p/p/a.py",
        ]
    assert names(found(root, "p/gen", exclude=excluded).files) == ["p/gen/b.py"]
    with pytest.raises(ConfigError, match=r"^configuration: exclude: bad pattern '!': "):
        found(root, exclude=("ok", "!"))


def test_gitignore_nesting(root: Path) -> None:
    write(
        root,
        {
            ".gitignore": "# comment\n\n/out/\n*.gen.py\n!keep.gen.py\ndata/**\n!data/load.py\n[z-a]\n!\n",
            **dict.fromkeys(["a.py", "out/x.py", "p/out/x.py", "p/a.gen.py", "p/keep.gen.py", "data/load.py"], ""),
            **dict.fromkeys(["data/x.py", "data/sub/load.py", "p/q/b.gen.py", "p/q/local.py", "p/local.py"], ""),
            "p/q/.gitignore": "!b.gen.py\nlocal.py\nkeep.gen.py\n",
            "p/q/keep.gen.py": "",
        },
    )
    kept = ["a.py", "data/load.py", "p/keep.gen.py", "p/local.py", "p/out/x.py", "p/q/b.gen.py"]
    assert {"out/x.py", "p/a.gen.py", "data/x.py", "p/q/local.py"} <= {*names(found(root).files)}  # git has no say here
    (root / ".git").mkdir()
    assert names(found(root).files) == kept
    # the files above count as well, up to the repository
    assert names(found(root, "p").files) == [name for name in kept if name.startswith("p/")]
    assert names(found(root, "p/q").files) == ["p/q/b.gen.py"]
    assert names(found(root, "out").files) == ["out/x.py"]  # ignored above, but named
    # the configuration has the last word
    assert "out/x.py" in names(found(root, exclude=("!out/",)).files)


def test_links(root: Path) -> None:
    write(root, ["p/a.py", "p/sub/b.py", "outside/c.py", "p/impl.txt"])
    (root / "p" / "loop").symlink_to(root / "p")
    (root / "p" / "sub" / "up").symlink_to("..")
    (root / "p" / "away").symlink_to(root / "outside")
    (root / "p" / "away.py").symlink_to(root / "outside" / "c.py")
    (root / "p" / "again.py").symlink_to("sub/b.py")
    (root / "p" / "impl.py").symlink_to("impl.txt")
    (root / "p" / "self.py").symlink_to("self.py")
    (root / "p" / ".#a.py").symlink_to("user@host.1234")
    (root / "p" / "folder.py").symlink_to("sub")
    result = found(root, "p")
    assert names(result.files) == ["p/a.py", "p/impl.py", "p/sub/b.py"]
    assert result.unchecked == ()
    assert names(found(root, "p/loop").files) == ["p/loop/a.py", "p/loop/impl.py", "p/loop/sub/b.py"]


def test_unreadable_folder_and_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"a.py": GUARD, "b.py": GUARD, "secret/c.py": "", "z/d.py": ""})
    scandir, read_bytes = os.scandir, Path.read_bytes

    def guarded_scandir(path: str) -> Any:
        if str(path).endswith("secret/") or str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def guarded_read(path: Path) -> bytes:
        if path.name == "b.py":
            raise OSError(5, "Input/output error")
        return read_bytes(path)

    monkeypatch.setattr(os, "scandir", guarded_scandir)
    monkeypatch.setattr(Path, "read_bytes", guarded_read)
    result = found(root)
    assert names(result.files) == ["a.py", "z/d.py"]
    assert names(result.entries) == ["a.py"]
    assert result.unchecked == (
        Unchecked("b.py", "cannot be read: Input/output error"),
        Unchecked("secret", "cannot be read: Permission denied"),
    )
    only = found(root, "secret")
    assert (only.files, len(only.unchecked)) == ((), 1)  # not "nothing to check": it could not be looked at


def test_folder_named_like_a_file(root: Path) -> None:
    write(root, ["train.py/x.py", "pyproject.toml/y.py", ".gitignore/z.py"])
    assert names(found(root).files) == [".gitignore/z.py", "pyproject.toml/y.py", "train.py/x.py"]


def test_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, [f"{name}.py" for name in "edcba"])
    monkeypatch.setattr(module, "MAX_FILES", 3)
    result = found(root)
    assert names(result.files) == ["a.py", "b.py", "c.py"]
    reason = "stopped after 3 Python files; exclude folders or check them one by one"
    assert result.unchecked == (Unchecked(".", reason),)


# --- entries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'if __name__ == "__main__":',
        "if __name__=='__main__' : main()",
        "import x\r\nif  (__name__ == '__main__'):\r\n",
        'if "__main__" == __name__:',
        "if DEBUG and __name__ == '__main__':",
        "if X:\n  pass\nelif __name__ == '__main__':",
        "\ufeffif __name__ == '__main__':",
    ],
)
def test_main_guard(text: str) -> None:
    assert has_main_guard(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# if __name__ == '__main__':",
        "    if __name__ == '__main__':",
        "x = 'if __name__ == \"__main__\"'",
        "if x:  # __name__ == '__main__'",
        "if __name__ == 'main':",
        "if __name__ != '__main__':",
        "iffy = __name__ == '__main__'",
        "if x:\n    y = __name__ == '__main__'",
    ],
)
def test_no_main_guard(text: str) -> None:
    assert not has_main_guard(text.encode())


@given(st.binary(max_size=200))
def test_main_guard_of_any_bytes(data: bytes) -> None:
    assert has_main_guard(data) in (True, False)
    assert has_main_guard(data + b"\nif __name__ == '__main__':\n")


def test_entries_of_a_folder(root: Path) -> None:
    write(
        root,
        {
            "lib.py": "x = 1\n",
            "guarded.py": GUARD,
            "pkg/__main__.py": "run()\n",
            "pkg/__init__.py": "",
            "pkg/cli.py": "def main(): ...\n",
            "src/tool/__init__.py": "def go(): ...\n",
            "src/tool/gui.py": "def go(): ...\n",
            "configured.py": "run()\n",
            "extra/deep/mod.py": "",
            "old/legacy/start.py": "",
            "run.sh": "#!/usr/bin/env python3\n",
            "script": "#!/usr/bin/env python3\n",
            "pyproject.toml": "[project.scripts]\na = 'pkg.cli:main'\nb = 'tool:go'\nc = 'gone.mod:x'\n"
            "d = 'deep.mod:x'\n[project.gui-scripts]\ne = 'tool.gui:go'\n",
            "old/setup.cfg": "[options.entry_points]\nconsole_scripts =\n    f = legacy.start:main [extra]\n",
        },
    )
    result = found(root, entrypoints=(root / "configured.py",), roots=(root / "extra",))
    assert names(result.entries) == [
        "configured.py",
        "extra/deep/mod.py",
        "guarded.py",
        "old/legacy/start.py",
        "pkg/__main__.py",
        "pkg/cli.py",
        "src/tool/__init__.py",
        "src/tool/gui.py",
    ]
    assert "lib.py" in names(result.files)
    assert "script" not in names(result.files)
    assert result.unchecked == ()
    # the project's metadata counts for a part of the project too, spelled as that part
    assert names(found(root, "pkg").entries) == ["pkg/__main__.py", "pkg/cli.py"]


@pytest.mark.parametrize(
    "declared",
    [
        "entry_points={'console_scripts': ['a = pkg.cli:main', \"b=pkg.cli:main\",], 'plugins': ['c = pkg.other:go']}",
        "entry_points=dict(console_scripts='a = pkg.cli:main')",
        'entry_points="""\n[console_scripts]\na = pkg.cli:main\n[plugins]\nc = pkg.other:go\n"""',
        "entry_points={'gui_scripts': (\n  'a=pkg.cli:main',\n)}, extras_require={'c': ['pkg.other:go']}",
    ],
)
def test_console_scripts_of_setup_py(root: Path, declared: str) -> None:
    text = f"from setuptools import setup\nsetup(name='x', {declared})\n"
    write(root, {"pkg/cli.py": "def main(): ...\n", "pkg/other.py": "def go(): ...\n", "setup.py": text})
    result = found(root)
    assert {"pkg/cli.py"} <= set(names(result.entries))
    assert "pkg/other.py" not in names(result.entries)
    assert "setup.py" in names(result.files)
    assert [one for path, one in result.starts.items() if path.name == "cli.py"] == [("main",)]


def test_executable_scripts_of_python_need_no_ending(root: Path) -> None:
    lines = {"train": "#!/usr/bin/env python3\n", "tool": "#!/bin/bash\n", "data": "", "plain": "#!/usr/bin/python\n"}
    write(root, lines | {"v1.2": "#!/usr/bin/python\n", ".gitignore": "old\n", "old": "#!/usr/bin/python\n"})
    (root / ".git").mkdir()
    for name in set(lines) - {"plain"} | {"v1.2", "old"}:
        (root / name).chmod(0o755)
    (root / "linked").symlink_to("train")
    assert names(found(root).files) == names(found(root).entries) == ["train"]


@pytest.mark.parametrize("folder", ["bin", "src/scripts"])
def test_commands_of_a_package_need_not_be_executable_in_its_sources(root: Path, folder: str) -> None:
    python, shell = "#!/usr/bin/env python3\n", "#!/bin/sh\n"
    write(root, {f"{folder}/train": python, f"{folder}/run": shell, "notes/train": python})
    assert names(found(root, ".").entries) == [f"{folder}/train"]


def test_a_program_may_be_called_like_a_test(root: Path) -> None:
    reads = "import argparse\nparser = argparse.ArgumentParser()\n"
    write(
        root,
        {
            "test_policy.py": reads + GUARD,
            "test_steps.py": "import pytest\n" + reads + GUARD,
            "model_test.py": "from absl.testing import absltest\n" + GUARD,
            "test_shapes.py": "def test_shape():\n    assert run()\n" + GUARD,
            "test_layers.py": "class TestLayers:\n    def test_one(self):\n        assert run()\n" + GUARD,
            "test_model.py": "import numpy.testing as npt\n" + GUARD,
            "tests/test_speed.py": GUARD,
            # What is tested here is a network: nothing in it is what a framework for tests would run.
            "test_models.py": "def test_epoch(net, loader):\n    # Testing loop\n    return net(loader)\n" + GUARD,
        },
    )
    write(root, {"test_net.py": "import tensorflow as tf\n\nwith tf.Session() as sess:\n    sess.run(build())\n"})
    assert names(found(root, ".").entries) == ["test_models.py", "test_net.py", "test_policy.py"]


def test_no_entries(root: Path) -> None:
    write(root, {"a.py": "x = 1\n", "b.py": "import a\n"})
    assert found(root).entries == ()


def test_configured_entry_counts_though_excluded_but_only_in_the_folders(root: Path) -> None:
    write(root, ["bin/train", "gen/start.py", "gen/x.py", "p/a.py"])
    settings: dict[str, Any] = {"entrypoints": (root / "bin/train", root / "gen/start.py"), "exclude": ("gen/",)}
    result = found(root, **settings)
    assert names(result.files) == ["bin/train", "gen/start.py", "p/a.py"]
    assert names(result.entries) == ["bin/train", "gen/start.py"]
    assert names(found(root, "p", **settings).files) == ["p/a.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project.scripts\n"),
        ("setup.cfg", "console_scripts = x\n"),
        ("pyproject.toml", "# scripts \udcff"),
    ],
)
def test_broken_metadata_is_shown(root: Path, name: str, text: str) -> None:
    write(root, ["sub/a.py"])
    (root / "sub" / name).write_text(text, errors="surrogateescape")
    (unchecked,) = found(root).unchecked
    assert unchecked.path == f"sub/{name}"
    assert unchecked.reason.startswith("console scripts not read: ")
    assert "\n" not in unchecked.reason


def test_odd_metadata_has_no_scripts(root: Path) -> None:
    write(
        root, {"a.py": "", "pyproject.toml": "project = {scripts = [1]}\ntool = {poetry = {scripts = {a = {b = 1}}}}"}
    )
    assert found(root).entries == ()
    write(root, {"pyproject.toml": "[tool.poetry.scripts]\nx = 'a:main'\ny = '../../etc/passwd'\nz = ''\n"})
    assert names(found(root).entries) == ["a.py"]


# --- import roots ----------------------------------------------------------------------------------------------------


def roots(root: Path, entry: str, **settings: Any) -> list[str]:
    return names(import_roots(Path(entry), Config(root=root, **settings)))


def test_roots_of_a_flat_script(root: Path) -> None:
    write(root, ["train.py"])
    assert roots(root, "train.py") == ["."]
    assert roots(root, str(root / "train.py")) == [str(root)]


def test_roots_in_a_package(root: Path) -> None:
    write(
        root, ["work/pkg/__init__.py", "work/pkg/sub/__init__.py", "work/pkg/sub/train.py", "work/pkg/scripts/run.py"]
    )
    assert roots(root, "work/pkg/sub/train.py") == ["work/pkg/sub", "work", "."]
    assert roots(root, "work/pkg/scripts/run.py") == ["work/pkg/scripts", "work", "."]


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("from pkg.sub import train\n", True),
        ("import pkg.data as data\nimport gin\n", True),
        ("from pkg import data\nimport helper\n", False),
        ("import gin\n", False),
        ("from . import data\n", False),
    ],
)
def test_a_member_of_a_package_does_not_import_from_its_own_folder(root: Path, text: str, member: bool) -> None:
    """As a console script, or ``python -m``, starts it: a folder ``gin`` beside it is no library."""
    write(
        root, {f"pkg/{name}": "" for name in ("__init__.py", "sub/__init__.py", "sub/gin/__init__.py", "sub/helper.py")}
    )
    assert is_member(root / "pkg" / "sub" / "run.py", text.encode()) is member
    found = names(import_roots(Path("pkg/sub/run.py"), Config(root=root), member=member))
    assert found == (["."] if member else ["pkg/sub", "."])


def test_roots_in_a_src_layout(root: Path) -> None:
    write(root, ["src/pkg/__init__.py", "src/pkg/train.py", "examples/fit.py", "lib/x.py", ".git/HEAD"])
    assert roots(root, "src/pkg/train.py") == ["src/pkg", "src", "."]
    assert roots(root, "examples/fit.py", roots=(root / "lib", root / "src")) == ["examples", ".", "src", "lib"]


def test_roots_in_a_collection_of_projects(root: Path) -> None:
    write(root, [".git/HEAD", "tf/bert/requirements.txt", "tf/bert/src/m.py", "tf/bert/scripts/deep/run.py", "tf/x.py"])
    assert roots(root, "tf/bert/scripts/deep/run.py") == ["tf/bert/scripts/deep", "tf/bert", ".", "tf/bert/src"]


def test_roots_from_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, ["repo/.git", "repo/tools/train.py", "elsewhere/x.py", "requirements.txt"])
    monkeypatch.chdir(root / "elsewhere")
    assert roots(root / "elsewhere", "../repo/tools/train.py") == ["../repo/tools", "../repo"]
    write(root, ["alone/pkg/__init__.py", "alone/pkg/a.py"])
    assert roots(root / "elsewhere", "../alone/pkg/a.py") == ["../alone/pkg", "../alone"]


def test_root_of_a_linked_script_is_that_of_the_file(root: Path) -> None:
    write(root, ["p/train.py", "bin/x.py"])
    (root / "bin" / "train.py").symlink_to("../p/train.py")
    assert roots(root, "bin/train.py") == ["p", "."]


# --- what git tracks -------------------------------------------------------------------------------------------------

IGNORING = {".gitignore": "*ipynb\nout/\n", "a.py": "", "two.ipynb": "", "out/é x.py": "", "out/deep/n.ipynb": ""}


def git(root: Path, *words: str) -> str:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("version", ["2", "4"])
def test_ignore_files_say_nothing_of_what_git_tracks(root: Path, version: str) -> None:
    write(root, IGNORING)
    git(root, "init", "-q")
    assert names(found(root).files) == ["a.py"]
    git(root, "add", "-f", ".")
    git(root, "update-index", "--index-version", version)
    write(root, ["out/new.py", "three.ipynb"])
    everything = ["a.py", "out/deep/n.ipynb", "out/é x.py", "two.ipynb"]
    assert names(found(root).files) == everything
    assert names(found(root, "out").files) == ["out/deep/n.ipynb", "out/new.py", "out/é x.py"]  # named is named
    assert names(found(root, exclude=("out/",)).files) == ["a.py", "two.ipynb"]
    listed = git(root, "ls-files", "-z").split("\0")[:-1]
    assert tracked(root) == set(listed)


@pytest.mark.parametrize("cut", [0, 4, 11, 30, 100])
def test_an_index_that_cannot_be_read_tracks_nothing(root: Path, cut: int) -> None:
    write(root, IGNORING)
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    index = root / ".git" / "index"
    index.write_bytes(index.read_bytes()[:cut])
    assert names(found(root).files) == ["a.py"]


# -- folders that the sources put on sys.path ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("import sys\nsys.path.append('models/')\n", "models"),
        ("import sys\nsys.path.insert(0, 'models')\n", "models"),
        ("sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'models'))\n", "models"),
        ("sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n", "."),
        ("sys.path.append(str(Path(__file__).parent.parent / 'models'))\n", "models"),
        ("sys.path.append('..')\n", "."),
        ("# sys.path.append('models')\n", None),
        ("sys.path.append('/content/models')\n", None),
        ("sys.path.append('missing')\n", None),
        ("sys.path.append(root)\n", None),
    ],
)
def test_folders_on_the_path_are_roots(tmp_path: Path, text: str, folder: str | None) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "tools").mkdir()
    found = added_roots([(tmp_path / "tools" / "train.py", text.encode())])
    assert found == (() if folder is None else (tmp_path / folder,))


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        (
            "import os.path as osp\nimport sys\n\ndef add_path(path):\n    if path not in sys.path:\n"
            "        sys.path.insert(0, path)\n\nthis_dir = osp.dirname(__file__)\n"
            "lib_path = osp.join(this_dir, 'lib')\nadd_path(lib_path)\nadd_path(osp.join(this_dir, '..', 'data'))\n",
            ["data", "tools/lib"],
        ),
        ("ROOT = Path(__file__).resolve().parents[1]\nsys.path.append(str(ROOT / 'src'))\n", ["src"]),
        ("here = os.path.dirname(__file__)\nsys.path.insert(0, os.path.dirname(here))\n", ["."]),
        ("def use(path):\n    sys.path.insert(0, path)\n\nuse(where())\n", []),
        ("path = path\nsys.path.insert(0, path)\n", []),
    ],
)
def test_names_on_the_search_path_are_looked_up_in_the_file(tmp_path: Path, text: str, roots: list[str]) -> None:
    for name in ("tools/lib", "data", "src"):
        (tmp_path / name).mkdir(parents=True)
    found = added_roots([(tmp_path / "tools" / "_init_paths.py", text.encode())])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == roots


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("export PYTHONPATH=src:$PYTHONPATH\n", ["src"]),
        ('PYTHONPATH="$(dirname $0)/..":src/model python train.py\n', ["src/model"]),
        (
            "MAIN_ROOT=$PWD/../..\nSRC_ROOT=$MAIN_ROOT/src\n"
            "export PYTHONPATH=$SRC_ROOT/data/:${SRC_ROOT}/model/:$PYTHONPATH\n",
            ["src/data", "src/model"],
        ),
        ("ENV PYTHONPATH /workspace/src\n", []),
        ("export PYTHONPATH=$PWD:.\n", []),
        ("# export PYTHONPATH=src\n", []),
        ("A=$B\nB=$A\nPYTHONPATH=$A/missing python train.py\n", []),
    ],
)
def test_folders_on_pythonpath_are_roots(tmp_path: Path, text: str, roots: list[str]) -> None:
    for name in ("egs/one", "src/data", "src/model"):
        (tmp_path / name).mkdir(parents=True)
    found = searched_roots([(tmp_path / "egs" / "one" / "path.sh", text.encode())])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == roots


def test_roots_of_pythonpath_go_before_those_that_are_guessed(tmp_path: Path) -> None:
    for name in ("src/data", "src/bin", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "other" / "setup.py").write_text("")
    searched = [tmp_path / "src" / "data"]
    found = import_roots(tmp_path / "src" / "bin" / "train.py", Config(root=tmp_path), searched)
    assert names(found)[:2] == names([tmp_path / "src" / "bin", tmp_path / "src" / "data"])
    assert tmp_path / "src" / "data" not in import_roots(tmp_path / "other" / "x.py", Config(root=tmp_path), searched)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("parser = argparse.ArgumentParser()\nargs = parser.parse_args()\nmain(args)\n", True),
        ("args, rest = parser.parse_known_args()\n", True),
        ("def main():\n    args = parser.parse_args()\n", False),
        ("# args = parser.parse_args()\n", False),
        ("x = 1\n", False),
    ],
)
def test_a_module_that_reads_the_command_line_is_a_script(tmp_path: Path, text: str, runs: bool) -> None:
    (tmp_path / "eval.py").write_text(text)
    found = discover([tmp_path], Config(root=tmp_path))
    assert [path.name for path in found.entries] == (["eval.py"] if runs else [])


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("for step in range(3):\n    print(step)\n", True),
        ("while True:\n    break\n", True),
        ("opt = TrainOptions().parse()\n", True),
        ("args = options.get_args()\n", True),
        ("model.fit(x, y)\n", True),
        ("history = model.fit(x, y)\n", True),
        ("train()\n", True),
        ("model, acc = finetune(model, data)\n", True),
        ("with open('words.json') as file:\n    words = json.load(file)\n", True),
        ("print(compute())\n", True),
        ("with tf.Session() as sess:\n    sess.run(init)\n", True),
        ("with torch.no_grad():\n    y = net(x)\n", True),
        ("np.savez('data.npz', x=x)\n", True),
        ("df[: len(df) // 2].to_csv('train.csv')\n", True),
        ("open('out.txt', 'w').write(tokenizer.decode(out[0]))\n", True),
        ("cv2.imwrite('a.png', image)\n", True),
        ("def convert(path):\n    pass\n\nconvert('a')\n", True),
        ("from monitor import interact\nrewards, best = interact(env, agent)\n", True),
        ("from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\n", False),
        ("from easydict import EasyDict as edict\ncfg = edict()\n", False),
        ("from net import scaled\ndef f():\n    pass\nnet = scaled(f)\n", False),
        ("def register_all():\n    pass\n\nregister_all()\n", False),
        ("def _prepare():\n    pass\n\n_prepare()\n", False),
        ("from tools import convert\nconvert('a')\n", False),
        ("text = frame.to_csv()\n", False),
        ("training = 3\n", False),
        ("model = trainable(model)\n", False),
        ("tree = ast.parse(text)\n", False),
        ("def train():\n    for step in range(3):\n        pass\n", False),
        ("names = [n for n in 'abc']\n", False),
        ("class A:\n    run = 1\n", False),
    ],
)
def test_a_module_that_works_and_that_nothing_imports_is_a_script(tmp_path: Path, text: str, runs: bool) -> None:
    (tmp_path / "learn.py").write_text(text)
    (tmp_path / "other.py").write_text("import os\n")
    found = discover([tmp_path], Config(root=tmp_path))
    assert [path.name for path in found.entries] == (["learn.py"] if runs else [])


@pytest.mark.parametrize(
    ("path", "call", "runs"),
    [
        ("examples/search.py", "experiment(model='gcn', func=choose)\n", True),
        ("quick_start.py", "experiment(\n    model='gcn',\n)\n", True),
        ("pkg/search.py", "experiment(model='gcn', func=choose)\n", False),
        ("examples/search.py", "register_model('gcn', choose)\n", False),
        ("examples/search.py", "enable()\n", False),
    ],
)
def test_an_example_that_calls_what_it_imports_is_a_script(tmp_path: Path, path: str, call: str, runs: bool) -> None:
    """Also where it defines a function to hand over."""
    (tmp_path / path).parent.mkdir(exist_ok=True)
    head = "from lib import enable, experiment, register_model\n\ndef choose(trial):\n    return trial\n\n"
    (tmp_path / path).write_text(head + call)
    found = discover([tmp_path], Config(root=tmp_path))
    assert [one.name for one in found.entries] == ([Path(path).name] if runs else [])


@pytest.mark.parametrize(
    "line",
    ["import learn", "from . import learn", "from pkg.learn import x", "    from pkg import (\n    a,\n    learn,\n)"],
)
def test_a_module_that_another_imports_is_no_script(tmp_path: Path, line: str) -> None:
    (tmp_path / "learn.py").write_text("for name in 'abc':\n    print(name)\n")
    (tmp_path / "other.py").write_text(f"if True:\n    {line}\n" if line.startswith("    ") else line)
    assert discover([tmp_path], Config(root=tmp_path)).entries == ()


@pytest.mark.parametrize("name", ["setup.py", "conftest.py", "__init__.py", "tests/test_learn.py"])
def test_some_modules_that_work_are_no_scripts(tmp_path: Path, name: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / name).write_text("for name in 'abc':\n    print(name)\n")
    assert discover([tmp_path], Config(root=tmp_path)).entries == ()


def test_config_files_near_a_named_file(root: Path) -> None:
    """Those beside it, in folders that often hold them, and in folders of config files a few deep; not in others."""
    inside = ("base.yaml", "configs/a.yaml", "configs/x/b.yaml", "projects/nerf/configs/c.yaml", "src/pkg/conf/d.yaml")
    outside = (
        "projects/nerf/e.yaml", "one/two/three/four/configs/f.yaml", "node_modules/x/config/g.yaml", "left/conf/h.yaml",
    )  # fmt: skip
    write(root, ("train.py", *inside, *outside))
    near = found(root, "train.py", exclude=("left",)).near
    assert sorted(names(near)) == sorted(inside)
