"""What somebody meets first: no words at all, misspelt words, shell completion, colours, width, links."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Ran

from d9mlint.report import columns

Run = Callable[..., Ran]
BAD = "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"
KERNEL = "__global__ void k(float* x) { atomicAdd(x, 1.5f); }\n"


def test_without_words_it_tells_what_there_is(d9mlint: Run) -> None:
    Path("train.py").write_text(BAD)
    Path("tools").mkdir()
    Path("tools/show.py").write_text(BAD)
    Path("run.sh").write_text("export PYTHONHASHSEED=0\npython train.py --lr 1\n")
    Path("requirements.txt").write_text("torch==2.4.1\n")
    Path("config.yaml").write_text("seed_everything: 1\ntrainer: {max_epochs: 1}\n")
    Path("k.cu").write_text(KERNEL)
    ran = d9mlint()
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
What `d9mlint check .` would look at here; nothing has been checked yet.
  entries:    2: tools/show.py, train.py
  files:      2
  started by:
    train.py: run.sh:2 with PYTHONHASHSEED=0
  configs:    config.yaml (Lightning CLI)
  kernels:    1 C++ or CUDA source
  target:     torch 2.4.1 (requirements.txt:1), device gpu (default)
  settings:   none ([tool.d9mlint] in pyproject.toml)

What to type:
  d9mlint .                # check all of this
  d9mlint train.py         # check one program
  d9mlint train.py --diff  # show what --fix would change
  d9mlint kernels .        # judge the atomic operations in kernels
  d9mlint --help           # all commands
"""
    )


def test_of_modules_alone_it_says_what_is_missing(d9mlint: Run) -> None:
    Path("layers.py").write_text("import torch\n")
    ran = d9mlint()
    assert ran.code == 0
    assert "entries:    none: no file has a main guard" in ran.out
    assert "d9mlint .  " in ran.out


def test_the_configuration_and_what_cannot_be_read_are_told(d9mlint: Run) -> None:
    Path("d9mlint.toml").write_text('device = "cpu"\n')
    Path("train.py").write_text(BAD)
    ran = d9mlint()
    assert "settings:   d9mlint.toml" in ran.out
    assert "device cpu" in ran.out
    Path("d9mlint.toml").write_text('device = "abacus"\n')
    ran = d9mlint()
    assert (ran.code, ran.out) == (2, "")
    assert "d9mlint.toml: device" in ran.err


def test_in_an_empty_folder_it_leads_to_the_help(d9mlint: Run) -> None:
    ran = d9mlint()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "d9mlint: nothing to check: no Python file in .; `d9mlint --help` lists the commands\n"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["chek", "train.py"], "no command or path is called 'chek'; did you mean `d9mlint check`?"),
        (["verfy"], "did you mean `d9mlint verify`?"),
        (["trian.py"], "path not found: trian.py; did you mean train.py?"),
        (["nothing-like-it.py"], "path not found: nothing-like-it.py\n"),
        (["train.py", "--select", "unseeded-nunpy"], "called 'unseeded-nunpy'; did you mean 'unseeded-numpy'?"),
        (["train.py", "--ignore", "zzz"], "called 'zzz'; see `d9mlint rules list`"),
        (["train.py", "--formt", "json"], "--format"),
        (["explain", "unseeded-nunpy"], "did you mean `unseeded-numpy`"),
        (["rules", "tset"], "tset"),
    ],
)
def test_misspelt_words_are_told_with_the_nearest(d9mlint: Run, args: list[str], text: str) -> None:
    Path("train.py").write_text(BAD)
    ran = d9mlint(*args)
    assert (ran.code, ran.out) == (2, "")
    assert text in ran.err


def test_a_file_called_like_a_misspelt_command_is_checked(d9mlint: Run) -> None:
    Path("chek").mkdir()
    Path("chek/train.py").write_text(BAD)
    assert d9mlint("chek").code == 1


def test_rules_about_comments_are_explained_as_well(d9mlint: Run) -> None:
    ran = d9mlint("explain", "unused-suppression")
    assert ran.code == 0
    assert ran.out.startswith("# unused-suppression (D9M902)\n")


# --- completion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("d9mlint expl", ["plain,explain", "file,expl"]),
        ("d9mlint train.py --unsafe", ["plain,--unsafe-fixes"]),
        ("d9mlint train.py --select unseeded-n", ["plain,unseeded-numpy"]),
        ("d9mlint check --ignore seeds,unseeded-n", ["plain,seeds,unseeded-numpy"]),
        ("d9mlint explain tf.gather", ["plain,tf.gather", "plain,tf.gather_nd"]),
        ("d9mlint kernels --format sa", ["plain,sarif"]),
    ],
)
def test_the_shell_completes(words: str, offered: list[str]) -> None:
    count = str(len(words.split()) - 1)
    env = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": count, "_D9MLINT_COMPLETE": "bash_complete"}
    code = "import sys; sys.argv[0] = 'd9mlint'; from d9mlint.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == offered


# --- terminals -------------------------------------------------------------------------------------------------------


def test_colours_are_as_asked_for(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text(BAD)
    assert "\x1b[" not in d9mlint("train.py").out
    assert "\x1b[1;33mwarning" in d9mlint("train.py", "--color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in d9mlint("train.py", "--color").out  # what is typed counts more than the environment
    assert "\x1b]8" not in d9mlint("train.py", "--color").out  # a pipe leads nowhere
    assert "\x1b" not in d9mlint("train.py", "--color", "--format", "json").out


@pytest.fixture
def on_terminal(tmp_path: Path) -> Callable[..., str]:
    """Runs the command line in a pseudo-terminal of so many columns; gives what it shows."""
    if os.name != "posix":
        pytest.skip("needs a pseudo-terminal")
    import fcntl
    import pty
    import struct
    import termios

    def run(*args: str, columns: int = 60, **env: str) -> str:
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        wanted = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")} | {"TERM": "xterm"} | env
        command = [sys.executable, "-m", "d9mlint", *args]
        done = subprocess.Popen(command, cwd=tmp_path, env=wanted, stdout=follower)
        os.close(follower)
        out = b""
        while part := _read(leader):
            out += part
        os.close(leader)
        done.wait()
        return out.decode().replace("\r\n", "\n")

    return run


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # the other end is closed
        return b""


def test_a_terminal_gets_links_and_its_own_width(tmp_path: Path, on_terminal: Callable[..., str]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(BAD)
    shown = on_terminal("train.py")
    page = (ROOT / "rules" / "seeds" / "unseeded-numpy.yaml").as_uri()
    assert f"\x1b]8;;{page}\x1b\\\x1b[1munseeded-numpy\x1b[0m\x1b]8;;\x1b\\" in shown
    plain = on_terminal("train.py", NO_COLOR="1")
    assert "\x1b" not in plain
    assert max(len(line) for line in plain.splitlines() if line.startswith("  ")) <= 60
    assert "\x1b]8" not in on_terminal("train.py", TERM="linux")
    assert "\x1b" not in on_terminal("train.py", TERM="dumb")


def test_wide_characters_take_two_columns() -> None:
    text = "損失 が 実行 ごと に 変わる " * 6
    lines = columns.wrapped(text, 20)
    assert " ".join(lines) == text.strip()
    assert all(columns.display_width(line) <= 20 for line in lines)
    assert columns.wrapped("one two three", 7, 1) == ["one ..."]


def test_code_is_not_broken_by_the_end_of_a_line() -> None:
    remedy = "call `np.random.seed(1)` first, or write `rng = np.random.RandomState(1)` and draw from it"
    lines = columns.wrapped(remedy, 34)
    assert " ".join(lines) == remedy
    assert len(lines) == 4
    assert all(line.count("`") % 2 == 0 for line in lines)
    assert columns.wrapped("say `one two three` there", 12) == ["say", "`one two three`", "there"]
    assert columns.wrapped("`one two three`", 10, 1) == ["`one ..."]
