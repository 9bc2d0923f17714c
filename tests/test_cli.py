"""The command line from outside: what is printed, and the exit code."""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Ran, validate

from d9mlint.cli import main
from d9mlint.report import FORMATS

Run = Callable[..., Ran]

BAD = "import numpy as np\n\nprint(np.random.rand(3))\n"
CLEAN = "print('nothing random here')\n"
UNCALLED = (
    "import tensorflow as tf\n\ntf.keras.utils.set_random_seed(1)\n"
    "tf.config.experimental.enable_op_determinism\nprint(tf.random.uniform([1]))\n"
)


def write(**files: str) -> None:
    """Writes ``name.py`` files into the working directory."""
    for name, text in files.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")


def rules_in(report: Any) -> list[str]:
    return [found["rule"] for found in report["findings"]]


# --- exit codes ------------------------------------------------------------------------------------------------------


def test_findings_are_exit_code_1_in_every_format(d9mlint: Run) -> None:
    write(train=BAD)
    for format_ in FORMATS:
        ran = d9mlint("check", "train.py", "--format", format_)
        assert (ran.code, ran.err) == (1, ""), format_
        assert "unseeded-numpy" in ran.out, format_


def test_nothing_found_is_0(d9mlint: Run) -> None:
    write(train=CLEAN)
    ran = d9mlint("train.py")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("No findings.")


def test_a_folder_without_a_program_is_told(d9mlint: Run) -> None:
    write(layers="import torch\n\n\ndef noise(x):\n    return x + torch.rand(3)\n")
    ran = d9mlint(".")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("No findings (no script that starts a program was found,")


def test_fail_on_and_confidence(d9mlint: Run) -> None:
    write(train=BAD)
    assert d9mlint("train.py", "--fail-on", "warning").code == 1
    assert d9mlint("train.py", "--fail-on", "error").code == 0
    assert d9mlint("train.py", "--fail-on", "info", "--min-confidence", "low").code == 1


def test_check_is_the_default_command(d9mlint: Run) -> None:
    write(train=BAD)
    assert d9mlint("train.py") == d9mlint("check", "train.py")
    assert d9mlint("--format", "json", "train.py") == d9mlint("check", "--format=json", "train.py")
    assert d9mlint("check") == d9mlint("check", ".")


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["gone.py"], "gone.py"),
        (["train.py", "--select", "no-such-rule"], "no-such-rule"),
        (["train.py", "--ignore", "D9M000"], "D9M000"),
        (["train.py", "--target", "tensorflow==banana"], "banana"),
        (["train.py", "--target", "tensorflow>=99"], "tensorflow>=99"),
        (["train.py", "--device", "abacus"], "abacus"),
        (["train.py", "--format", "xml"], "xml"),
        (["train.py", "--typo"], "--typo"),
        (["train.py", "--config", "gone.toml"], "gone.toml"),
        (["train.py", "--baseline", "gone.json"], "gone.json"),
        (["train.py", "--output", "no/such/folder/x.json"], "no/such/folder"),
        (["train.py", "--fix", "--diff"], "--diff"),
        (["empty"], "empty"),
        (["explain", "no-such-rule"], "no-such-rule"),
        (["rules", "nonsense"], "nonsense"),
        (["rules", "test", "no-such-rule"], "no-such-rule"),
        (["empty", "--", "--lr", "1"], "empty"),
    ],
)
def test_usage_errors_are_2_and_name_the_word(d9mlint: Run, args: list[str], named: str) -> None:
    write(train=BAD)
    Path("empty").mkdir()
    ran = d9mlint(*args)
    assert ran.code == 2
    assert ran.out == ""
    assert named in ran.err
    assert "Traceback" not in ran.err


def test_help_and_version(d9mlint: Run) -> None:
    assert d9mlint("--help").code == 0
    assert re.search(r"\d+\.\d+", d9mlint("--version").out)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[tool.d9mlint]\nselekt = []\n", "selekt"),
        ('[tool.d9mlint]\ndevice = "abacus"\n', "device"),
        ("[tool.d9mlint]\nselect = 3\n", "select"),
        ('[tool.d9mlint]\nselect = ["no-such-rule"]\n', "no-such-rule"),
        ('[tool.d9mlint]\ntarget = ["tensorflow=="]\n', "target"),
        ("[tool.d9mlint\n", "pyproject.toml"),
    ],
)
def test_broken_config_names_file_and_key(d9mlint: Run, text: str, named: str) -> None:
    write(train=BAD)
    Path("pyproject.toml").write_text(text)
    ran = d9mlint("train.py")
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err
    if "no-such-rule" not in text:
        assert "pyproject.toml" in ran.err


def test_a_crash_of_d9mlint_is_3(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import d9mlint.app.programs as app

    def crash(*_: object) -> None:
        raise ZeroDivisionError("boom")

    write(train=BAD)
    monkeypatch.setattr(app, "discover", crash)
    ran = d9mlint("train.py")
    assert (ran.code, ran.out) == (3, "")
    assert "internal error" in ran.err
    assert "boom" in ran.err


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = '\xff\xfe'\n", "encoding|not readable"),
        (b"# coding: klingon\nx = 1\n", "encoding|not readable"),
        (b"print 'python 2'\ndef f(a, (b, c)): pass\n", "Python 2"),
        (b"def f(:\n", "syntax error at line 1"),
        (b"x = 1\0\n", "NUL"),
        (b"x = 1\n" * 900_000, "larger than"),
    ],
    ids=["not-utf8", "encoding", "python2", "syntax", "nul", "5mb"],
)
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_checked(d9mlint: Run, data: bytes, reason: str) -> None:
    write(good=BAD)
    Path("bad.py").write_bytes(data)
    ran = d9mlint("bad.py", "good.py", "--format", "json")
    assert ran.code == 3
    assert [one["path"] for one in ran.json["unchecked"]] == ["bad.py"]
    assert re.search(reason, ran.json["unchecked"][0]["reason"])
    assert rules_in(ran.json) == ["unseeded-numpy"]
    text = d9mlint("bad.py", "good.py")
    assert text.code == 3
    assert "bad.py" in text.out
    assert "unseeded-numpy" in text.out


def test_a_broken_module_is_named_and_its_program_is_checked(d9mlint: Run) -> None:
    write(train="import numpy as np\nimport helper\n\nhelper.go()\nprint(np.random.rand())\n", helper="def go(:\n")
    ran = d9mlint("train.py", "--format", "json", "--min-confidence", "low")
    assert ran.code == 3
    assert [one["path"] for one in ran.json["unchecked"]] == ["helper.py"]
    assert rules_in(ran.json) == ["unseeded-numpy"]


def test_empty_files_and_odd_texts_are_fine(d9mlint: Run) -> None:
    Path("empty.py").write_bytes(b"")
    Path("mark.py").write_bytes(b"\xef\xbb\xbf" + BAD.encode())
    Path("latin.py").write_bytes("# coding: latin-1\nname = 'größe'\n".encode("latin-1"))
    Path("windows.py").write_bytes(BAD.replace("\n", "\r\n").encode())
    ran = d9mlint("empty.py", "mark.py", "latin.py", "windows.py", "--format", "json")
    assert (ran.code, ran.json["unchecked"]) == (1, [])
    assert [found["path"] for found in ran.json["findings"]] == ["mark.py", "windows.py"]


def test_unreadable_file_and_folder(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(good=BAD + "if __name__ == '__main__':\n    pass\n", secret=BAD)
    if os.geteuid():
        Path("secret.py").chmod(0)
    else:  # for root everything is readable
        real = open

        def refuse(file: Any, *rest: Any, **more: Any) -> Any:
            if str(file).endswith("secret.py"):
                raise PermissionError(13, "Permission denied")
            return real(file, *rest, **more)

        monkeypatch.setattr(builtins, "open", refuse)
        monkeypatch.setattr(io, "open", refuse)  # what pathlib uses
    for args in (("good.py", "secret.py"), (".",)):
        ran = d9mlint(*args, "--format", "json", "--no-cache")
        assert ran.code == 3
        assert [(one["path"], "Permission denied" in one["reason"]) for one in ran.json["unchecked"]] == [
            ("secret.py", True)
        ]
        assert rules_in(ran.json) == ["unseeded-numpy"]


def test_directory_loop_ends(d9mlint: Run) -> None:
    Path("pkg").mkdir()
    Path("pkg/train.py").write_text(BAD + "if __name__ == '__main__':\n    pass\n")
    Path("pkg/loop").symlink_to("..", target_is_directory=True)
    Path("pkg/self.py").symlink_to("self.py")
    ran = d9mlint(".", "--format", "json")
    assert [found["path"] for found in ran.json["findings"]] == ["pkg/train.py"]
    assert ran.code == 1


def test_files_outside_of_the_configured_tree_are_checked_too(d9mlint: Run) -> None:
    for name in ("one", "two", "settings"):
        Path(name).mkdir()
        Path(f"{name}/train.py").write_text(f"{BAD}NAME = '{name}'\n")
    Path("settings/d9mlint.toml").write_text('device = "cpu"\n')
    ran = d9mlint("one/train.py", "two/train.py", "--config", "settings/d9mlint.toml", "--format", "json")
    assert [found["path"] for found in ran.json["findings"]] == ["one/train.py", "two/train.py"]
    assert ran.json["target"]["device"] == "cpu"


def test_a_rule_that_crashes_takes_nothing_else_down(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import d9mlint.python.rules.seeds.unseeded_numpy as module
    from d9mlint.python.judging import judge as engine

    real = module.check_program

    def crash(program: Any, rule: Any) -> Any:
        if program.story.entry == "two.py":
            raise KeyError("boom")
        return real(program, rule)

    monkeypatch.setattr(module, "check_program", crash)
    monkeypatch.setattr(engine, "_CHECKERS", {})
    both = BAD + "import random\nprint(random.random())\n"
    write(one=both, two=both)
    ran = d9mlint("one.py", "two.py", "--format", "json", "--no-cache", "-j", "1")
    assert ran.code == 3
    assert [one["path"] for one in ran.json["unchecked"]] == ["two.py"]
    assert "internal-error" in ran.json["unchecked"][0]["reason"]
    assert "unseeded-numpy" in ran.json["unchecked"][0]["reason"]
    found = {(one["path"], one["rule"]) for one in ran.json["findings"]}
    assert found == {("one.py", "unseeded-numpy"), ("two.py", "unseeded-python")}
    assert [place["rule"] for place in ran.json["findings"][0]["related"]] == ["unseeded-python"]


# --- formats ---------------------------------------------------------------------------------------------------------


def test_json_follows_its_schema(d9mlint: Run) -> None:
    write(train=BAD, uncalled=UNCALLED, broken="def f(:\n")
    ran = d9mlint(".", "train.py", "uncalled.py", "broken.py", "--format", "json", "--min-confidence", "low")
    validate(ran.json, "check")
    assert any(found["fixes"] for found in ran.json["findings"])
    assert ran.json["unchecked"]


def test_json_of_the_example_follows_its_schema(d9mlint: Run) -> None:
    ran = d9mlint(str(ROOT / "examples/train.py"), "--format", "json", "--target", "tensorflow==2.9.1")
    validate(ran.json, "check")
    assert len(ran.json["findings"]) == 3
    assert sum(1 + sum("rule" in place for place in found["related"]) for found in ran.json["findings"]) == 6
    assert ran.json["target"]["packages"]["tensorflow"] == {"version": "2.9.1", "reason": "--target"}


def test_targets_that_differ_are_told_by_entry(d9mlint: Run) -> None:
    for name, pin in (("a", "tensorflow==2.4.1"), ("b", "tensorflow==2.9.1")):
        Path(name).mkdir()
        Path(f"{name}/train.py").write_text(BAD)
        Path(f"{name}/requirements.txt").write_text(pin + "\n")
    ran = d9mlint("a/train.py", "b/train.py", "--format", "json")
    validate(ran.json, "check")
    by_entry = ran.json["target"]["by_entry"]
    assert by_entry["a/train.py"]["packages"]["tensorflow"] == {
        "version": "2.4.1",
        "reason": "a/requirements.txt:1",
    }
    assert by_entry["b/train.py"]["packages"]["tensorflow"]["version"] == "2.9.1"


def test_absolute_paths_are_shown_relative(d9mlint: Run, tmp_path: Path) -> None:
    write(train=BAD, broken="def f(:\n")
    there = [str(tmp_path / "train.py"), str(tmp_path / "broken.py")]
    ran = d9mlint(*there, "--format", "json")
    assert ran.out == d9mlint("train.py", "broken.py", "--format", "json").out
    assert str(tmp_path) not in ran.out
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked/pyproject.toml").write_text("[")
    (tmp_path / "locked/pyproject.toml").write_text("[project.scripts\n")
    ran = d9mlint(str(tmp_path), "--format", "json")
    assert ran.code == 3
    assert str(tmp_path) not in ran.out


def test_text_tells_only_packages_that_somebody_stated(d9mlint: Run) -> None:
    write(train=BAD)
    text = " ".join(d9mlint("train.py", "--target", "tensorflow==2.9.1").out.split())
    assert "target: tensorflow 2.9.1 (--target), device gpu (default)" in text
    text = " ".join(d9mlint("train.py").out.split())
    assert "target: device gpu (default)" in text  # what the program does not use is not told
    text = " ".join(d9mlint("train.py", "--target", "horovod==0.28.1", "--device", "cpu").out.split())
    assert "horovod 0.28.1 (--target)" in text
    assert "torch" not in text
    packages = d9mlint("train.py", "--format", "json").json["target"]["packages"]
    assert set(packages) == {"tensorflow", "keras", "horovod", "numpy", "python"}


def test_a_script_without_a_guard_that_trains_is_told_as_a_program(d9mlint: Run) -> None:
    Path("net.py").write_text("import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n")
    write(
        train="import torch\nfrom net import Net\n\ntorch.nn.functional.dropout(Net()(torch.load('x.pt'))).backward()\n",
        tools="import numpy as np\n\nzeros = np.zeros(1)\n",
    )
    told = d9mlint(".", "--format", "json").json
    assert told["entries"] == ["train.py"]
    assert {one["path"]: one["entries"] for one in told["findings"]}.get("train.py") == ["train.py"]
    assert "torch" in told["target"]["packages"]


def test_sarif_and_github(d9mlint: Run) -> None:
    write(train=BAD)
    sarif = d9mlint("train.py", "--format", "sarif").json
    assert sarif["version"] == "2.1.0"
    assert [one["ruleId"] for one in sarif["runs"][0]["results"]] == ["D9M102"]
    assert d9mlint("train.py", "--format", "github").out.startswith("::warning file=train.py,line=3,")


def test_output_goes_to_a_file(d9mlint: Run) -> None:
    write(train=BAD)
    ran = d9mlint("train.py", "--format", "json", "--output", "report.json")
    assert (ran.code, ran.out) == (1, "")
    assert rules_in(json.loads(Path("report.json").read_text())) == ["unseeded-numpy"]


def test_not_a_terminal_is_plain(d9mlint: Run) -> None:
    write(train=BAD)
    assert "\x1b" not in d9mlint("train.py").out


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_has_colours_unless_no_color(tmp_path: Path, no_color: bool) -> None:
    import pty

    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(BAD)
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1" if no_color else ""}  # empty counts as not set: no-color.org
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "d9mlint", "train.py"]
    done = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=follower)
    os.close(follower)
    out = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(leader)
    assert done.wait() == 1
    assert (b"\x1b[" in out) is not no_color


# --- script arguments ------------------------------------------------------------------------------------------------

FLAGGED = """import argparse

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=None)
args = parser.parse_args()
if args.seed is not None:
    np.random.seed(args.seed)
print(np.random.rand(3))
"""


def test_script_arguments_are_judged(d9mlint: Run) -> None:
    write(train=FLAGGED)
    ran = d9mlint("train.py", "--format", "json")
    assert rules_in(ran.json) == ["unseeded-numpy"]
    assert ran.json["findings"][0]["when"] == ["--seed is not given"]
    assert d9mlint("train.py", "--", "--seed", "1").code == 0
    without = d9mlint("train.py", "--format", "json", "--")
    assert (without.code, without.json["findings"][0]["when"]) == (1, [])
    assert d9mlint("train.py", "--", "--format", "json").code == 2  # not arguments of this program
    write(other=BAD)
    assert d9mlint("train.py", "other.py", "--", "--seed", "1").code == 2


# --- suppression, baseline, selection --------------------------------------------------------------------------------


def test_suppression_with_a_reason(d9mlint: Run) -> None:
    write(train=BAD.replace("(3))", "(3))  # d9m: ignore[unseeded-numpy] only printed"))
    ran = d9mlint("train.py", "--format", "json")
    assert (ran.code, ran.json["findings"], ran.json["suppressed"]) == (0, [], 1)
    assert "1 suppressed" in d9mlint("train.py").out


def test_suppression_without_a_reason_has_no_effect(d9mlint: Run) -> None:
    write(train=BAD.replace("(3))", "(3))  # d9m: ignore[unseeded-numpy]"))
    ran = d9mlint("train.py", "--format", "json")
    assert ran.code == 1
    assert sorted(rules_in(ran.json)) == ["suppression-without-reason", "unseeded-numpy"]


UNUSED = "print(1)  # d9m: ignore[unseeded-numpy] not needed any more\n"


def test_unused_suppression(d9mlint: Run) -> None:
    write(train=UNUSED)
    assert rules_in(d9mlint("train.py", "--format", "json").json) == ["unused-suppression"]
    for quiet in (
        ["--ignore", "unused-suppression"],
        ["--ignore", "D9M902"],
        ["--ignore", "unseeded-numpy"],  # not run, so nobody can tell
        ["--select", "unseeded-numpy"],
        ["--", "--lr", "1"],  # other arguments, other findings
    ):
        ran = d9mlint("train.py", "--format", "json", *quiet)
        assert (ran.code, ran.json["findings"]) == (0, []), quiet
    selected = d9mlint("train.py", "--format", "json", "--select", "unseeded-numpy,unused-suppression")
    assert rules_in(selected.json) == ["unused-suppression"]
    Path("d9mlint.toml").write_text('[per-file-ignores]\n"train.py" = ["unused-suppression"]\n')
    assert d9mlint("train.py").code == 0


def test_per_file_ignores_do_not_make_comments_unused(d9mlint: Run) -> None:
    write(train=BAD.replace("(3))", "(3))  # d9m: ignore[unseeded-numpy] only printed"), other=BAD)
    Path("d9mlint.toml").write_text('[per-file-ignores]\n"*.py" = ["unseeded-numpy"]\n')
    ran = d9mlint("train.py", "other.py", "--format", "json")
    assert (ran.code, ran.json["findings"]) == (0, [])


def test_select_and_ignore(d9mlint: Run) -> None:
    write(train=BAD + "import random\nprint(random.random())\n")

    def names(*args: str) -> list[str]:
        return rules_in(d9mlint("train.py", "--format", "json", *args).json)

    assert names() == ["unseeded-numpy"]  # which tells of both
    assert names("--select", "unseeded-python") == ["unseeded-python"]
    assert names("--select", "seeds", "--ignore", "D9M102") == ["unseeded-python"]
    assert names("--ignore", "all") == []


def test_baseline_round_trip(d9mlint: Run) -> None:
    write(train=BAD)
    assert d9mlint("train.py", "--write-baseline", "base.json").code == 1
    first = Path("base.json").read_bytes()
    ran = d9mlint("train.py", "--baseline", "base.json", "--format", "json")
    assert (ran.code, ran.json["findings"], ran.json["baselined"]) == (0, [], 1)
    write(train="# moved down\n" + BAD + "import random\nprint(random.random())\n")
    ran = d9mlint("train.py", "--baseline", "base.json", "--format", "json")
    assert (ran.code, [found["line"] for found in ran.json["findings"]]) == (1, [6])
    write(train=BAD)
    d9mlint("train.py", "--write-baseline", "base.json")
    assert Path("base.json").read_bytes() == first
    Path("base.json").write_text("{}")
    assert d9mlint("train.py", "--baseline", "base.json").code == 2


# --- fixes -----------------------------------------------------------------------------------------------------------


def test_diff_shows_and_fix_cures(d9mlint: Run) -> None:
    Path("train.py").write_bytes(UNCALLED.replace("\n", "\r\n").encode())
    Path("train.py").chmod(0o750)
    ran = d9mlint("train.py", "--target", "tensorflow==2.9.1", "--diff")
    assert ran.code == 1
    assert ran.out.startswith("--- train.py\n+++ train.py\n@@ -1,5 +1,5 @@\n")
    assert "\n+tf.config.experimental.enable_op_determinism()\r\n" in ran.out
    assert b"determinism()" not in Path("train.py").read_bytes()
    ran = d9mlint("train.py", "--target", "tensorflow==2.9.1", "--fix")
    assert ran.err == "fixed 1 finding\n"
    assert "determinism-not-called" not in ran.out
    expected = UNCALLED.replace("determinism\n", "determinism()\n").replace("\n", "\r\n").encode()
    assert Path("train.py").read_bytes() == expected
    assert Path("train.py").stat().st_mode & 0o777 == 0o750
    ran = d9mlint("train.py", "--target", "tensorflow==2.9.1", "--fix")
    assert (ran.code, ran.err) == (0, "fixed 0 findings\n")
    assert Path("train.py").read_bytes() == expected
    assert d9mlint("train.py", "--target", "tensorflow==2.9.1", "--diff").out == ""
    assert sorted(p.name for p in Path().iterdir()) == [".git", "train.py"]


def test_suppressed_findings_are_not_fixed(d9mlint: Run) -> None:
    write(train=UNCALLED.replace("determinism\n", "determinism  # d9m: ignore[determinism-not-called] on purpose\n"))
    before = Path("train.py").read_bytes()
    assert d9mlint("train.py", "--target", "tensorflow==2.9.1", "--fix").err == "fixed 0 findings\n"
    assert Path("train.py").read_bytes() == before


# --- the other commands ----------------------------------------------------------------------------------------------


def test_explain_and_list(d9mlint: Run) -> None:
    ran = d9mlint("explain", "unseeded-numpy")
    assert ran.code == 0
    assert ran.out.startswith("# unseeded-numpy (D9M102)")
    assert d9mlint("explain", "D9M102").out == ran.out
    assert d9mlint("explain", "tf.gather").code == 0
    ran = d9mlint("explain", "unseeded-nunpy")
    assert (ran.code, ran.out) == (2, "")
    assert "unseeded-numpy" in ran.err
    listed = d9mlint("rules", "list")
    assert listed.code == 0
    assert re.search(r"^unseeded-numpy +D9M102", listed.out, re.MULTILINE)


def test_rules_test(d9mlint: Run) -> None:
    ran = d9mlint("rules", "test", "determinism-not-called")
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"\d+ passed, 0 failed\n", ran.out)


def test_python_m(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(BAD)
    command = [sys.executable, "-m", "d9mlint", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "unseeded-numpy" in done.stdout


def test_main_takes_the_words_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(FLAGGED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["d9mlint", "train.py", "--", "--seed", "1"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0


# --- our own determinism ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_byte_identical_output(tmp_path: Path, step: int) -> None:
    """Over hash seeds, numbers of workers, order of arguments, with and without the cache."""
    projects = ROOT / "tests" / "projects"
    names = sorted(p.name for p in projects.iterdir() if p.is_dir())[::step]
    cache = tmp_path / "cache"

    def lint(hash_seed: str, words: list[str], *options: str) -> bytes:
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "XDG_CACHE_HOME": str(cache)}
        command = [sys.executable, "-m", "d9mlint", "check", "--format", "json", *options, *words]
        done = subprocess.run(command, cwd=projects, env=env, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    first = lint("0", names, "-j", "1", "--no-cache")
    assert len(json.loads(first)["findings"]) > 10
    assert lint("1", names[::-1], "-j", "2", "--no-cache") == first
    assert lint("random", names, "-j", "2") == first  # fills the cache
    assert lint("random", names[::-1], "-j", "1") == first  # reads it
    assert str(ROOT).encode() not in first


# --- standard input ----------------------------------------------------------------------------------------------------


def test_standard_input_stands_for_a_file(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(train=CLEAN)

    def given(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    given(BAD)
    ran = d9mlint("-", "--stdin-filename", "train.py", "--format", "json")
    assert (ran.code, rules_in(ran.json)) == (1, ["unseeded-numpy"])
    assert ran.json["findings"][0]["path"] == "train.py"
    given(CLEAN)
    assert d9mlint("check", "-", "--stdin-filename", "train.py").code == 0
    assert d9mlint("train.py").code == 0
    given(BAD)
    ran = d9mlint("-", "--stdin-filename", "train.py", "--diff")
    assert "+np.random.seed(1)\n" in ran.out
    assert Path("train.py").read_text() == CLEAN


@pytest.mark.parametrize(
    "arguments", [("-",), ("train.py", "--stdin-filename", "train.py"), ("-", "--stdin-filename", "train.py", "--fix")]
)
def test_standard_input_needs_a_name(d9mlint: Run, arguments: tuple[str, ...]) -> None:
    write(train=CLEAN)
    ran = d9mlint(*arguments)
    assert ran.code == 2
    assert "stdin" in ran.err or "standard input" in ran.err
