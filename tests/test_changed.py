"""``--changed-since`` and ``--pre-commit``: which entries a change concerns, asked of real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, validate

Run = Callable[..., Ran]
DRAW = "import numpy as np\n\n\ndef draw():\n    return np.random.rand(3)\n"
GUARD = "if __name__ == '__main__':\n    print(draw())\n"


def git(*words: str, folder: str = ".") -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", folder, *identity, "-c", "protocol.file.allow=always", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def commit(message: str = "more") -> str:
    git("add", "-A")
    git("commit", "-q", "-m", message)
    return git("rev-parse", "HEAD")


@pytest.fixture
def d9mlint(d9mlint: Run) -> Run:
    """In a repository of three entries: ``a.py`` and ``b.py`` share ``lib/draws.py``, ``c.py`` stands alone."""
    shutil.rmtree(".git")
    git("init", "-q", "-b", "main")
    write({
        "lib/__init__.py": "", "lib/draws.py": DRAW, "lib/through.py": "from .draws import draw\n",
        "a.py": f"from lib.draws import draw\n\n{GUARD}", "b.py": f"from lib.through import draw\n\n{GUARD}",
        "c.py": f"{DRAW}\n\n{GUARD}", "spare.py": DRAW,
    })  # fmt: skip
    commit("first")
    return d9mlint


def judged(run: Run, *words: str) -> list[str]:
    ran = run("check", "--changed-since", "HEAD", "--format", "json", *words)
    assert ran.code in (0, 1), ran.err
    validate(ran.json, "check")
    told = ran.json["changed"]
    assert len(ran.json["entries"]) == told["entries"] - told["left_out"]
    return list(ran.json["entries"])


def append(name: str, text: str = "# more\n") -> None:
    Path(name).write_text(Path(name).read_text(encoding="utf-8") + text, encoding="utf-8")


def test_without_a_change_nothing_is_judged_and_that_is_said(d9mlint: Run) -> None:
    ran = d9mlint("check", "--changed-since", "HEAD")
    assert ran.code == 0
    assert ran.out.startswith("Nothing was judged: no file that is checked has changed.")
    assert "0 of 3 entries reach a changed file (0 files since HEAD); 3 left out" in ran.out
    for format_ in ("concise", "github", "gitlab", "junit", "sarif"):
        assert (
            "0 of 3 entries reach a changed file" in d9mlint("check", "--changed-since=HEAD", f"--format={format_}").err
        )


def test_an_entry_that_has_changed_is_judged_as_in_a_whole_run(d9mlint: Run) -> None:
    append("c.py")
    whole = d9mlint("check", "--format", "json")
    ran = d9mlint("check", "--changed-since", "HEAD", "--format", "json")
    assert (ran.code, ran.err, ran.json["entries"]) == (1, "", ["c.py"])
    assert ran.json["findings"] == [found for found in whole.json["findings"] if found["path"] == "c.py"] != []
    assert ran.json["changed"] == {"since": "HEAD", "staged": False, "files": ["c.py"], "entries": 3, "left_out": 2}


def test_a_module_concerns_all_that_import_it(d9mlint: Run) -> None:
    append("lib/draws.py")
    assert judged(d9mlint) == ["a.py", "b.py"]
    git("checkout", "-q", ".")
    append("lib/through.py")
    assert judged(d9mlint) == ["b.py"]
    git("checkout", "-q", ".")
    append("lib/__init__.py")
    assert judged(d9mlint) == ["a.py", "b.py"]


def test_a_module_that_no_entry_reaches_is_judged_when_it_has_changed(d9mlint: Run) -> None:
    append("spare.py", "np.random.rand(2)\n")
    ran = d9mlint("check", "--changed-since", "HEAD", "--format", "json")
    assert (ran.json["changed"]["left_out"], ran.json["files"]) == (3, 1)
    whole = d9mlint("check", "--format", "json").json["findings"]
    assert ran.json["findings"] == [one for one in whole if one["path"] == "spare.py"]


def test_untracked_files_have_changed_and_ignored_ones_have_not(d9mlint: Run) -> None:
    write({"d.py": f"{DRAW}\n\n{GUARD}", "lib/draws/__init__.py": DRAW, ".gitignore": "c.py\n"})
    assert judged(d9mlint) == ["a.py", "b.py", "d.py"]


@pytest.mark.parametrize("how", [("rm", "-q", "lib/draws.py"), ("mv", "lib/draws.py", "lib/others.py")])
def test_what_is_gone_concerns_those_that_imported_it(d9mlint: Run, how: tuple[str, ...]) -> None:
    git(*how)
    assert judged(d9mlint) == ["a.py", "b.py"]
    commit()
    assert judged(d9mlint) == []


def test_a_package_that_is_gone(d9mlint: Run) -> None:
    shutil.rmtree("lib")
    assert judged(d9mlint) == ["a.py", "b.py"]


def test_a_staged_change_that_is_not_on_disk_is_none(d9mlint: Run) -> None:
    text = Path("c.py").read_text(encoding="utf-8")
    append("c.py")
    git("add", "c.py")
    write({"c.py": text})
    assert judged(d9mlint) == []
    git("rm", "-q", "--cached", "a.py")  # still there, and the same
    assert judged(d9mlint) == ["a.py"]


def test_launchers_concern_what_they_start_and_what_they_started(d9mlint: Run) -> None:
    write({"jobs/a.sh": ". jobs/env.sh\npython a.py\n", "jobs/env.sh": "export CUDA_VISIBLE_DEVICES=\n"})
    commit()
    assert judged(d9mlint) == []
    append("jobs/a.sh")
    assert judged(d9mlint) == ["a.py"]
    write({"jobs/a.sh": "python b.py\n"})
    assert judged(d9mlint) == ["a.py", "b.py"]
    Path("jobs/a.sh").unlink()
    assert judged(d9mlint) == ["a.py"]
    git("checkout", "-q", ".")
    append("jobs/env.sh")
    assert judged(d9mlint) == ["a.py"]
    Path("jobs/env.sh").unlink()
    assert judged(d9mlint) == ["a.py"]


def test_files_beside_an_entry_and_versions_above_it(d9mlint: Run) -> None:
    write({"one/train.py": f"{DRAW}\n\n{GUARD}", "two/train.py": f"{DRAW}\n\n{GUARD}", "one/run.yaml": "lr: 1\n"})
    write({"requirements/base.txt": "torch==2.4\n", "two/requirements.txt": "numpy\n", "notes.txt": "x\n"})
    commit()
    append("one/run.yaml")
    assert judged(d9mlint) == ["one/train.py"]
    git("checkout", "-q", ".")
    append("two/requirements.txt")
    assert judged(d9mlint) == ["two/train.py"]
    append("requirements/base.txt")
    assert judged(d9mlint) == ["a.py", "b.py", "c.py", "one/train.py", "two/train.py"]
    git("checkout", "-q", ".")
    append("notes.txt")
    assert judged(d9mlint) == []


def test_what_imports_by_names_that_it_works_out_may_reach_any_module(d9mlint: Run) -> None:
    loads = "import importlib, sys\n\nif __name__ == '__main__':\n    importlib.import_module(sys.argv[1])\n"
    write({"d.py": loads})
    commit()
    append("spare.py")
    assert judged(d9mlint) == ["d.py"]


def test_config_files_may_name_what_is_imported_so(d9mlint: Run) -> None:
    write({"d.py": "import hydra\n\n\n@hydra.main(config_path='conf')\ndef main(cfg):\n"
                   "    print(hydra.utils.instantiate(cfg.draw))\n\n\nif __name__ == '__main__':\n    main()\n",
           "conf/draw/plain.yaml": "_target_: spare.nothing\n"})  # fmt: skip
    commit()
    write({"conf/draw/plain.yaml": "_target_: spare.draw\n"})
    assert judged(d9mlint) == ["d.py"]
    commit()
    git("rm", "-q", "conf/draw/plain.yaml")
    assert judged(d9mlint) == ["d.py"]


def test_settings_and_catalogues_concern_all(d9mlint: Run) -> None:
    write({"pyproject.toml": "[tool.d9mlint]\nfail-on = 'error'\n"})
    commit()
    append("pyproject.toml")
    assert judged(d9mlint) == ["a.py", "b.py", "c.py"]
    Path("pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    write({"d9mlint.toml": ""})
    commit()
    Path("d9mlint.toml").unlink()
    assert judged(d9mlint) == ["a.py", "b.py", "c.py"]


def test_a_link_changes_with_what_it_leads_to(d9mlint: Run) -> None:
    Path("other").mkdir()
    Path("other/train.py").symlink_to("../c.py")
    commit()
    append("c.py")
    assert judged(d9mlint, "other/train.py") == ["other/train.py"]


def test_another_spelling_of_the_folder(d9mlint: Run, tmp_path: Path) -> None:
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    append("lib/draws.py")
    assert judged(d9mlint, str(link)) == ["a.py", "b.py"]
    os.chdir("lib")
    assert judged(d9mlint, "..") == ["../a.py", "../b.py"]


def test_a_submodule_stands_for_what_it_holds(d9mlint: Run, tmp_path: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-other"
    other.mkdir()
    git("init", "-q", folder=str(other))
    (other / "inner.py").write_text(DRAW)
    git("add", "-A", folder=str(other))
    git("commit", "-q", "-m", "x", folder=str(other))
    git("submodule", "--quiet", "add", str(other), "sub")
    write({"d.py": f"from sub.inner import draw\n\n{GUARD}"})
    commit()
    assert judged(d9mlint) == []
    append("sub/inner.py")
    assert judged(d9mlint) == ["d.py"]


def test_config_files_are_judged_when_they_have_changed(d9mlint: Run) -> None:
    tuned = '{\n  "train_micro_batch_size_per_gpu": 8,\n  "autotuning": {\n    "enabled": true\n  }\n}\n'
    write({"conf/ds_config.json": tuned})
    assert any(one["path"] == "conf/ds_config.json" for one in d9mlint("check", "--format", "json").json["findings"])
    commit()
    assert d9mlint("check", "--changed-since", "HEAD", "--format", "json").json["findings"] == []
    append("conf/ds_config.json", "\n")
    found = d9mlint("check", "--changed-since", "HEAD", "--format", "json").json["findings"]
    assert {one["path"] for one in found} == {"conf/ds_config.json"}


def test_kernels_are_judged_when_one_of_them_has_changed(d9mlint: Run) -> None:
    kernel = (
        "__global__ void scatter(float* out, const float* in, const int* index) {\n"
        "  atomicAdd(out + index[threadIdx.x], in[threadIdx.x]);\n}\n"
    )
    write({"k/one.cu": kernel, "k/two.h": "// nothing\n"})
    commit()
    assert d9mlint("check", "--changed-since", "HEAD", "--format", "json").json["findings"] == []
    Path("k/two.h").unlink()
    found = d9mlint("check", "--changed-since", "HEAD", "--format", "json", "--min-confidence", "low").json["findings"]
    assert {one["path"] for one in found} == {"k/one.cu"}


def test_what_the_main_branch_did_meanwhile_is_no_change(d9mlint: Run) -> None:
    git("checkout", "-q", "-b", "topic")
    append("a.py")
    commit()
    git("checkout", "-q", "main")
    append("c.py")
    commit()
    git("checkout", "-q", "topic")
    ran = d9mlint("check", "--changed-since", "main", "--format", "json")
    assert (ran.json["entries"], ran.json["changed"]["files"]) == (["a.py"], ["a.py"])


def test_fixes_are_proven_for_all_that_a_patched_module_concerns(d9mlint: Run) -> None:
    append("a.py")
    ran = d9mlint("check", "--changed-since", "HEAD", "--fix")
    assert ran.code == 0, ran.out
    assert "seed" in Path("a.py").read_text(encoding="utf-8")
    assert "seed" not in Path("c.py").read_text(encoding="utf-8")


def test_what_stands_on_standard_input_has_changed(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("c.py").read_bytes() + b"# more\n")))
    ran = d9mlint("check", "-", "--stdin-filename", "c.py", "--changed-since", "HEAD", "--format", "json")
    assert ran.json["entries"] == ["c.py"]


# --- what cannot be -------------------------------------------------------------------------------------------------


def test_without_git(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = d9mlint("check", "--changed-since", "no-such-branch")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no revision 'no-such-branch' in the git repository of ." in ran.err
    assert "-x" in d9mlint("check", "--changed-since=-x").err
    assert d9mlint("check", "--changed-since", "").code == 2
    monkeypatch.setenv("PATH", "")
    ran = d9mlint("check", "--changed-since", "HEAD")
    assert (ran.code, ran.out) == (2, "")
    assert "git, which cannot be run: No such file or directory" in ran.err
    shutil.rmtree(".git")
    ran = d9mlint("check", "--changed-since", "HEAD")
    assert (ran.code, ran.out) == (2, "")
    assert "only in a git repository, and . lies in none" in ran.err


def test_a_damaged_repository_is_an_error(d9mlint: Run) -> None:
    Path(".git/index").write_bytes(b"DIRCnothing")
    ran = d9mlint("check", "--changed-since", "HEAD")
    assert (ran.code, ran.out) == (2, "")
    assert "`git diff` failed:" in ran.err


def test_a_repository_that_git_refuses_is_an_error(d9mlint: Run) -> None:
    write({".git/config": "[broken\n"})
    for words in (["--changed-since", "HEAD"], ["--pre-commit"]):
        ran = d9mlint("check", *words)
        assert (ran.code, ran.out) == (2, "")
        assert "`git rev-parse` failed: fatal: bad config line 1" in ran.err


def test_words_that_exclude_each_other(d9mlint: Run) -> None:
    assert "exclude" in d9mlint("check", "--changed-since", "HEAD", "--pre-commit").err
    ran = d9mlint("check", "--changed-since", "HEAD", "--write-baseline", "b.json")
    assert ran.code == 2
    assert "a baseline is written of all findings" in ran.err


# --- commits ----------------------------------------------------------------------------------------------------------


def hooked(run: Run) -> tuple[list[str], dict[str, object]]:
    ran = run("check", "--pre-commit", "--format", "json")
    validate(ran.json, "check")
    return ran.json["entries"], ran.json["changed"]


def test_a_commit_is_what_is_staged(d9mlint: Run) -> None:
    append("a.py")
    git("add", "a.py")
    append("c.py")
    write({"untracked.py": f"{DRAW}\n\n{GUARD}"})
    entries, told = hooked(d9mlint)
    assert entries == ["a.py"]
    assert told == {"since": "HEAD", "staged": True, "files": ["a.py"], "entries": 4, "left_out": 3}
    assert "1 of 4 entries reaches a staged file (1 file); 3 left out" in d9mlint("check", "--pre-commit").out


def test_where_nothing_is_staged_everything_is_judged(d9mlint: Run) -> None:
    entries, told = hooked(d9mlint)
    assert entries == ["a.py", "b.py", "c.py"]
    assert told == {"since": None, "staged": True, "files": [], "entries": 3, "left_out": 0}
    assert "nothing is staged, so everything is judged" in d9mlint("check", "--pre-commit").out


def test_the_first_commit_is_everything(d9mlint: Run) -> None:
    shutil.rmtree(".git")
    git("init", "-q")
    git("add", "a.py")
    assert hooked(d9mlint)[0] == ["a.py", "b.py", "c.py"]


def test_a_range_of_commits_is_what_lies_between(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = git("rev-parse", "HEAD")
    append("b.py")
    commit()
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", first)
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
    entries, told = hooked(d9mlint)
    assert (entries, told["since"], told["staged"]) == (["b.py"], first, False)
