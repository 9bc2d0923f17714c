"""``--fix`` and ``--diff``: patches are proven before they are written, and what is left is told with the reason."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d9mlint.app import curing, fixing
from d9mlint.app.programs import checked

Run = Callable[..., Any]
UNSEEDED = "import numpy as np\nimport torch\n\nx = torch.rand(3)\nprint(x, np.random.rand(3))\n"
SEEDED = UNSEEDED.replace("torch\n\n", "torch\n\nnp.random.seed(1)\ntorch.manual_seed(1)\n\n")
TRAINS = """import torch

torch.manual_seed(1)
net = torch.nn.Conv2d(3, 3, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 3, 8, 8).cuda()).sum().backward()
optimizer.step()
"""


def test_one_missing_seed_is_cured_for_all_generators(d9mlint: Run) -> None:
    Path("train.py").write_text(UNSEEDED)
    ran = d9mlint("train.py", "--fix")
    assert (ran.code, ran.err) == (0, "fixed 1 finding\n")
    assert Path("train.py").read_text() == SEEDED
    again = d9mlint("train.py", "--fix")
    assert (again.code, again.err) == (0, "fixed 0 findings\n")
    assert Path("train.py").read_text() == SEEDED


def test_a_patch_says_what_it_changes_besides_repeatability(d9mlint: Run) -> None:
    Path("train.py").write_text(TRAINS.replace("torch.manual_seed(1)\n", ""))
    head = "# The cures of these change the speed, the behaviour or the flags of a program:\n"
    assert d9mlint("train.py", "--diff").out.startswith("--- train.py\n")
    ran = d9mlint("train.py", "--diff", "--unsafe-fixes")
    assert ran.out.startswith(f"{head}#   train.py:5 missing-torch-determinism\n--- train.py\n")
    Path("all.patch").write_text(ran.out)
    subprocess.run(["git", "apply", "all.patch"], check=True)
    assert d9mlint("train.py").code == 0


def test_an_environment_and_its_spaces_are_one_cause_seeded_at_two_places(d9mlint: Run) -> None:
    text = """import gymnasium

env = gymnasium.make("CartPole-v1")
state, _ = env.reset()
for _ in range(20):
    state, reward, *_ = env.step(env.action_space.sample())
    print(reward)
"""
    Path("train.py").write_text(text)
    (found,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert (found["rule"], found["line"], [one["line"] for one in found["related"]]) == ("own-rng-unseeded", 4, [6, 3])
    assert d9mlint("train.py", "--fix").code == 0
    seeded = '-v1")\nenv.action_space.seed(1)\nstate, _ = env.reset(seed=1)\n'
    assert Path("train.py").read_text() == text.replace('-v1")\nstate, _ = env.reset()\n', seeded)


def test_diff_writes_nothing(d9mlint: Run) -> None:
    Path("train.py").write_text(UNSEEDED)
    ran = d9mlint("train.py", "--diff")
    assert (ran.code, ran.err) == (1, "would fix 1 finding\n")
    assert "+np.random.seed(1)\n+torch.manual_seed(1)\n" in ran.out
    assert Path("train.py").read_text() == UNSEEDED


def test_what_changes_speed_or_behaviour_is_asked_for(d9mlint: Run) -> None:
    Path("train.py").write_text(TRAINS)
    ran = d9mlint("train.py", "--fix")
    assert (ran.code, ran.err) == (1, "fixed 0 findings, 1 more with --unsafe-fixes\n")
    assert Path("train.py").read_text() == TRAINS
    ran = d9mlint("train.py", "--fix", "--unsafe-fixes")
    assert (ran.code, ran.err) == (0, "fixed 1 finding\n")
    assert "torch.use_deterministic_algorithms(True)\n" in Path("train.py").read_text()
    assert d9mlint("train.py", "--unsafe-fixes").code == 2


def test_all_programs_that_share_a_cause_are_patched(d9mlint: Run) -> None:
    Path("net.py").write_text("import torch\n\n\ndef make():\n    return torch.rand(3)\n")
    for name in ("a.py", "b.py"):
        Path(name).write_text("from net import make\n\nif __name__ == '__main__':\n    print(make())\n")
    ran = d9mlint(".", "--fix")
    assert (ran.code, ran.err) == (0, "fixed 1 finding\n")
    for name in ("a.py", "b.py"):
        assert Path(name).read_text().startswith("import torch\n\nfrom net import make\n\ntorch.manual_seed(1)\n")


def test_a_seed_goes_before_an_import_that_draws(d9mlint: Run) -> None:
    Path("table.py").write_text("import numpy as np\n\nTABLE = np.random.rand(3)\n")
    Path("train.py").write_text("import numpy as np\nfrom table import TABLE\n\nprint(TABLE, np.random.rand(2))\n")
    ran = d9mlint("train.py", "--fix")
    assert (ran.code, ran.err) == (0, "fixed 1 finding\n")
    assert Path("train.py").read_text() == (
        "import numpy as np\n\nnp.random.seed(1)\n\nfrom table import TABLE\n\nprint(TABLE, np.random.rand(2))\n"
    )


def test_the_programs_own_flag_is_used(d9mlint: Run) -> None:
    Path("train.py").write_text(
        "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', type=int, default=3)\nargs = parser.parse_args()\nprint(torch.rand(3))\n"
    )
    assert d9mlint("train.py", "--fix").err == "fixed 1 finding\n"
    assert "args = parser.parse_args()\ntorch.manual_seed(args.seed)\nprint" in Path("train.py").read_text()


def test_a_patch_that_brings_another_finding_is_left_out(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text(UNSEEDED)

    def worse(options: Any, overlay: Any = None) -> Any:
        outcome = checked(options, overlay or {})
        other = [found._replace(rule="other", message="another one") for found in checked(options).report.findings]
        return outcome._replace(report=outcome.report._replace(findings=tuple(other))) if overlay else outcome

    monkeypatch.setattr(curing, "checked", worse)
    ran = d9mlint("train.py", "--fix")
    told = "train.py:4 unseeded-torch: a patch did not remove it, or brought another finding"
    assert ran.err == f"fixed 0 findings\n  not fixed: {told}\n"
    assert Path("train.py").read_text() == UNSEEDED


def test_of_several_patches_only_the_one_that_brings_a_finding_is_left_out(d9mlint: Run) -> None:
    Path("train.py").write_text(
        "import argparse\nimport random\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', type=int, default=None)\nargs = parser.parse_args()\n"
        "if args.seed is not None:\n    torch.manual_seed(args.seed)\n"
        "torch.backends.cudnn.benchmark = True\n"
        "net = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 1), torch.nn.ReflectionPad3d(2)).cuda()\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net(torch.rand(1, 3, 8, 8).cuda() * random.random()).sum().backward()\noptimizer.step()\n"
        "torch.save(net.state_dict(), 'net.pt')\n"
    )
    ran = d9mlint("train.py", "--target", "torch==2.13.0", "--fix", "--unsafe-fixes")
    assert "missing-torch-determinism: its patch brings op-raises\n" in ran.err
    text = Path("train.py").read_text()
    assert "cudnn.benchmark = False\n" in text
    assert "'--seed', type=int, default=1)" in text
    assert "    torch.manual_seed(args.seed)\n    random.seed(args.seed)\n" in text
    assert "use_deterministic_algorithms" not in text


def test_what_is_not_proven_in_time_is_not_written(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("table.py").write_text("import numpy as np\n\nTABLE = np.random.rand(3)\n")
    text = "import numpy as np\nfrom table import TABLE\n\nprint(TABLE, np.random.rand(2))\n"
    Path("train.py").write_text(text)
    monkeypatch.setattr(curing, "_TRIES", 1)  # (the second way would do)
    assert d9mlint("train.py", "--fix").err.startswith("fixed 0 findings\n  not fixed: ")
    assert Path("train.py").read_text() == text


def test_a_file_that_changes_meanwhile_is_left_alone(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text(UNSEEDED)
    real = fixing.cure

    def slow(*args: Any) -> Any:
        done = real(*args)
        Path("train.py").write_text("# edited\n" + UNSEEDED)
        return done

    monkeypatch.setattr(fixing, "cure", slow)
    ran = d9mlint("train.py", "--fix", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"] == [{"path": "train.py", "reason": "not fixed: it has changed in the meantime"}]
    assert Path("train.py").read_text().startswith("# edited\n")


def test_what_has_no_patch_is_told_with_the_reason(d9mlint: Run) -> None:
    Path("walk.py").write_text(
        "import os\nimport numpy as np\n\nrows = []\nfor top, dirs, files in list(os.walk('data')):\n"
        "    rows += [np.load(os.path.join(top, f)) for f in files]\nnp.save('all.npy', np.concatenate(rows))\n"
    )
    assert "it is written in a way that is not known" in d9mlint("walk.py", "--fix").err


def test_a_report_for_tools_has_the_patch_of_each_finding(d9mlint: Run) -> None:
    text = (
        "import os\n\n"
        + UNSEEDED.replace("print(", "print(os.listdir('.'), ")
        + "names = os.listdir('.')\nprint(names[0])\n"
    )
    Path("train.py").write_text(text)
    ran = d9mlint("train.py", "--diff", "--format", "json")
    assert ran.code == 1
    fixes = {found["rule"]: found["fixes"] for found in ran.json["findings"]}
    (seed,) = fixes["unseeded-torch"]
    assert [edit["text"].strip() for edit in seed["edits"]] == ["np.random.seed(1)\ntorch.manual_seed(1)"]
    (order,) = fixes["unsorted-listing"]
    assert [edit["text"] for edit in order["edits"]] == ["sorted(", ")"]
    assert all(fix["safe"] for fix in (seed, order))
    assert Path("train.py").read_text() == text
    assert not any(found["fixes"] for found in d9mlint("train.py", "--format", "json").json["findings"])


def test_a_report_for_tools_has_patches_of_notebooks_by_cell(d9mlint: Run) -> None:
    cells = [
        {"cell_type": "markdown", "source": "x"},
        *({"cell_type": "code", "source": one} for one in ("import torch", "print(torch.rand(3))")),
    ]
    Path("n.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    (found,) = d9mlint("n.ipynb", "--diff", "--format", "json").json["findings"]
    (edit,) = found["fixes"][0]["edits"]
    assert (edit["path"], edit["cell"], edit["line"], edit["text"].strip()) == ("n.ipynb", 2, 1, "torch.manual_seed(1)")
    (result,) = d9mlint("n.ipynb", "--diff", "--format", "sarif").json["runs"][0]["results"]
    assert "fixes" not in result


def test_a_folder_above_that_may_not_be_listed(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands there is not known, and the patch is made all the same."""
    Path("code").mkdir()
    Path("code/draw.py").write_text("import numpy as np\n\nprint(np.random.rand(3))\n")
    real = Path.iterdir

    def refused(folder: Path) -> Iterator[Path]:
        if folder == Path():
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(Path, "iterdir", refused)
    ran = d9mlint("check", "--diff", "code/draw.py")
    assert "+np.random.seed(1)" in ran.out


_PLAYED = """import gymnasium

env = gymnasium.make("CartPole-v1")
env.reset({})
for _ in range(20):
    env.step(env.action_space.sample())
"""


def test_spaces_of_an_environment_that_has_a_seed_are_a_cause_of_their_own(d9mlint: Run) -> None:
    Path("train.py").write_text(_PLAYED.format("seed=1"))
    Path("play.py").write_text(_PLAYED.format(""))
    Path("both.py").write_text("import play\nimport train\n")
    told = d9mlint("both.py", "--format", "json").json["findings"]
    causes = {(one["path"], one["line"]): one["cause"].rpartition("-")[0] for one in told}
    assert causes == {("play.py", 4): "own-env", ("train.py", 6): "own-spaces"}
