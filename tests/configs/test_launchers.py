"""Images, services, workflows and Makefiles; which script is meant; what an entry's environment is."""

from __future__ import annotations

import pytest

from d9mlint.configs.launches import environment, find, image_environments
from d9mlint.configs.told import Launchers, Start
from d9mlint.model import Launch


def reader(texts: dict[str, str]):  # type: ignore[no-untyped-def]
    return lambda path: texts[path].encode() if path in texts else None


def started(path: str, text: str, **others: str) -> list[Start]:
    return list(Launchers(reader({path: text, **others}))(path).starts)


def told(start: Start) -> tuple[str, dict[str, str | None], list[str]]:
    return start.script, {n: v.value for n, v in start.environment.items()}, [a.text for a in start.arguments]


COMPOSE = """\
x-common: &common
  environment: {A: "1", B: 2}
services:
  train:
    <<: *common
    command: ["python", "train.py", "--b"]
  other:
    environment:
      - A=3
      - C
    env_file: my.env
    command: python other.py
"""
WORKFLOW = """\
env:
  A: 1
jobs:
  train:
    env: {B: two}
    steps:
      - uses: actions/checkout@v4
      - name: Train
        working-directory: src
        env:
          C: ${{ secrets.C }}
        run: |
          export D=4
          python train.py --lr ${{ matrix.lr }}
"""


def test_compose() -> None:
    first, second = started("docker-compose.yml", COMPOSE, **{"my.env": "# x\nexport D=4\nE='f g'\n"})
    assert told(first) == ("train.py", {"A": "1", "B": "2"}, ["--b"])
    assert told(second) == ("other.py", {"A": "3", "C": None, "D": "4", "E": "f g"}, [])
    at = second.environment["D"].location
    assert (at.path, at.line, at.column) == ("my.env", 2, 8)


def test_workflow() -> None:
    (start,) = started(".github/workflows/ci.yml", WORKFLOW)
    assert told(start) == ("train.py", {"A": "1", "B": "two", "C": None, "D": "4"}, ["--lr", start.arguments[1].text])
    assert not start.arguments[1].known
    assert start.folder == "src"
    lines = WORKFLOW.split("\n")
    at = start.environment["D"].location
    assert lines[at.line - 1][at.column - 1 : at.end_column - 1] == "D=4"
    assert lines[start.location.line - 1][start.location.column - 1 :].startswith("python train.py")


def test_dockerfile() -> None:
    text = (
        'FROM a AS base\nARG V=1\nENV A=1 \\\n  # why\n  B="x y"\nENV C d e\nFROM base\nENV V=$V\n'
        'ENTRYPOINT ["python"]\nCMD ["train.py", \\\n "--b"]\n'
    )
    (start,) = started("Dockerfile", text)
    assert told(start) == ("train.py", {"A": "1", "B": "x y", "C": "d e", "V": "1"}, ["--b"])
    assert (start.environment["B"].location.line, start.environment["B"].location.column) == (5, 3)


def test_a_later_stage_starts_anew() -> None:
    (start,) = started("Dockerfile", "FROM a AS one\nENV A=1\nFROM b\nCMD python train.py\n")
    assert told(start) == ("train.py", {}, [])


def test_makefile() -> None:
    text = "SEED ?= 3\nexport A := 1\n\ntrain: data\n\t@B=2 python train.py --seed $(SEED) \\\n\t  --b\n"
    (start,) = started("Makefile", text)
    assert told(start) == ("train.py", {"A": "1", "B": "2"}, ["--seed", "3", "--b"])
    assert start.environment["B"].location.column == 3


def test_sbatch_export() -> None:
    (start,) = started("job.slurm", "#!/bin/bash\n#SBATCH -N 1 --export=A=1,B=2\nsrun python train.py\n")
    assert told(start) == ("train.py", {"A": "1", "B": "2"}, [])
    assert start.environment["A"].location.line == 2


@pytest.mark.parametrize(
    "text", ["services: [", "services: 3", "services: {a: {command: [python, 3]}}", "jobs: {a: {steps: x}}"]
)
@pytest.mark.parametrize("path", ["compose.yaml", ".github/workflows/x.yml"])
def test_malformed_files_start_nothing(path: str, text: str) -> None:
    assert [one for one in started(path, text + "\n# python train.py") if one.script != "3"] == []


@pytest.mark.parametrize(
    ("launcher", "command", "script"),
    [
        ("scripts/run.sh", "python train.py", "train.py"),
        ("scripts/run.sh", "python ../train.py", "train.py"),
        ("scripts/run.sh", 'python "$BASE/../train.py"', "train.py"),
        ("scripts/run.sh", "python /workspace/x/src/main.py", "src/main.py"),
        ("scripts/run.sh", "cd src; python main.py", "src/main.py"),
        ("run.sh", "python -m src.main", "src/main.py"),
        ("run.sh", "python -m pkg", "pkg/__main__.py"),
        ("a/b/run.sh", "python main.py", None),
        ("run.sh", "python $SCRIPT", None),
        ("run.sh", "python setup.py build", None),
        ("run.sh", "python ../outside.py", None),
    ],
)
def test_which_script_is_meant(launcher: str, command: str, script: str | None) -> None:
    scripts = {"train.py", "src/main.py", "pkg/__main__.py", "setup.py"}
    assert list(find([launcher], scripts, Launchers(reader({launcher: command})))) == ([script] if script else [])


def launches(*texts: str) -> tuple[Launch, ...]:
    named = {f"run{number}.sh": text for number, text in enumerate(texts)}
    return find(named, {"train.py"}, Launchers(reader(named)))["train.py"]


def variables(*texts: str) -> dict[tuple[str, str | None], tuple[str, ...]]:
    return {(v.name, v.value): v.launchers for v in environment(launches(*texts), ())[0]}


RUN = "python train.py\n"


def test_what_all_launchers_agree_on_holds() -> None:
    assert variables(f"TF_A=1 {RUN}", f"TF_A=1 TF_B=2 {RUN}") == {("TF_A", "1"): (), ("TF_B", "2"): ("run1.sh:1",)}


def test_one_launcher_needs_no_condition() -> None:
    assert variables(f"TF_A=1 {RUN}", f"TF_A=1 {RUN}") == {("TF_A", "1"): ()}


def test_launchers_that_set_the_same_are_one() -> None:
    found = variables(f"TF_A=1 {RUN}", RUN, f"TF_A=1 {RUN}")
    assert found == {("TF_A", "1"): ("run0.sh:1 (and 1 more)",)}


def test_of_many_different_launchers_only_what_they_share_is_known() -> None:
    found = variables(*(f"TF_A=1 TF_B={number} {RUN}" for number in range(9)))
    assert found == {("TF_A", "1"): (), ("TF_B", None): ()}


def test_variables_that_cannot_matter_are_left_out() -> None:
    assert variables(f"LANG=C NCCL_DEBUG=INFO CUDA_VISIBLE_DEVICES=0,1 SEED=1 {RUN}") == {("SEED", "1"): ()}
    assert variables(f"CUDA_VISIBLE_DEVICES= {RUN}") == {("CUDA_VISIBLE_DEVICES", ""): ()}


def test_the_nearest_image_counts() -> None:
    texts = {"Dockerfile": "ENV TF_A=1", "a/docker/Dockerfile": "ENV TF_A=2", "a/b/Dockerfile": "ENV LANG=C"}
    found = image_environments(texts, Launchers(reader(texts)))
    assert {folder: one[0].value for folder, one in found.items()} == {"": "1", "a": "2", "a/docker": "2"}
