"""What shell texts start, with which environment and arguments."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from d9mlint.configs.starts import Start, starts
from d9mlint.configs.words import Lines


def run(text: str, read=None) -> list[Start]:  # type: ignore[no-untyped-def]
    return list(starts(text, Lines("run.sh", text), None, read))


def environment(start: Start) -> dict[str, str | None]:
    return {name: one.value for name, one in start.environment.items()}


@pytest.mark.parametrize(
    ("text", "script", "arguments", "variables"),
    [
        ("python train.py --a 1", "train.py", ["--a", "1"], {}),
        ("A=1 B='x y' python3.10 -u train.py", "train.py", [], {"A": "1", "B": "x y"}),
        ("env -u C A=1 python train.py", "train.py", [], {"A": "1"}),
        ("export A=1; export B\npython train.py", "train.py", [], {"A": "1"}),
        ("A=1\nexport A\npython train.py", "train.py", [], {"A": "1"}),
        ("A=1\npython train.py", "train.py", [], {}),
        ("set -a; A=1\npython train.py", "train.py", [], {"A": "1"}),
        ("export A=1\nunset A\npython train.py", "train.py", [], {}),
        ("export A=1 && cd src && python train.py", "train.py", [], {"A": "1"}),
        ("export A=${A:-3}\npython train.py", "train.py", [], {"A": "3"}),
        ("export A=$1\npython train.py", "train.py", [], {"A": None}),
        ("export A=$(date)\npython train.py", "train.py", [], {"A": None}),
        ("if x; then export A=1; fi\npython train.py", "train.py", [], {"A": None}),
        ("if x; then export A=1; else export A=1; fi\npython train.py", "train.py", [], {"A": "1"}),
        ("if x\nthen\n export A=1\n python train.py\nfi", "train.py", [], {"A": "1"}),
        ('[ -n "$B" ] && export A=1\npython train.py', "train.py", [], {"A": None}),
        ("f() {\n export A=1\n}\npython train.py", "train.py", [], {"A": None}),
        ("(export A=1)\npython train.py", "train.py", [], {}),
        ("case $x in\n a|b) export A=1 ;;\nesac\npython train.py", "train.py", [], {"A": None}),
        ("mpirun -np 8 -x A=1 -H host python train.py", "train.py", [], {"A": "1"}),
        ("horovodrun -np 8 python train.py --b", "train.py", ["--b"], {}),
        ("torchrun --nproc_per_node=8 train.py --b | tee log", "train.py", ["--b"], {}),
        ("torchrun --nproc_per_node=8 -m pkg.train --b", "pkg.train", ["--b"], {}),
        ("accelerate launch --config_file c.yaml train.py --b", "train.py", ["--b"], {}),
        ("deepspeed --num_gpus 2 train.py --b", "train.py", ["--b"], {}),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "train.py", [], {}),
        ("srun --export=ALL,A=1 python train.py", "train.py", [], {"A": "1"}),
        ("export B=1\nsrun --export=NONE python train.py", "train.py", [], {}),
        ("docker run -e A=1 --gpus all image python train.py", "train.py", [], {"A": "1"}),
        ("export B=1\ndocker run -e A=1 image python train.py", "train.py", [], {"A": "1"}),
        ("bash -c 'export A=1; python train.py'", "train.py", [], {"A": "1"}),
        ("nohup nice python train.py > log 2>&1 &", "train.py", [], {}),
        ("CMD='python train.py --b'\n$CMD --c", "train.py", ["--b", "--c"], {}),
        ("export A=1  # a comment\npython train.py # --b", "train.py", [], {"A": "1"}),
        ("python \\\n  train.py \\\n  --b", "train.py", ["--b"], {}),
        ("export PYTHONHASHSEED=0\npython -E train.py", "train.py", [], {}),
        ("cat <<EOF\npython no.py\nEOF\npython train.py", "train.py", [], {}),
        ("horovodrun -np 2 --fusion-threshold-mb 0 python train.py", "train.py", [], {"HOROVOD_FUSION_THRESHOLD": "0"}),
        ("horovodrun --autotune -np 2 python train.py", "train.py", [], {"HOROVOD_AUTOTUNE": "1"}),
        ("horovodrun --fusion-threshold-mb=$1 python train.py", "train.py", [], {"HOROVOD_FUSION_THRESHOLD": None}),
        ("A=1 env -i B=2 python train.py", "train.py", [], {"B": "2"}),
        ("python $DISTRIBUTED train.py --b", "train.py", ["--b"], {}),
        ("setenv A 1\npython train.py", "train.py", [], {"A": "1"}),
    ],
)
def test_starts(text: str, script: str, arguments: list[str], variables: dict[str, str | None]) -> None:
    first = run(text)[0]
    assert first.script == script
    assert [one.text for one in first.arguments] == arguments
    assert environment(first) == variables


@pytest.mark.parametrize(
    "text", ["", "python", "python -c 'x'", "echo python a.py 'x", "grep python a.py", "pip install x.py", "python -"]
)
def test_nothing_is_started(text: str) -> None:
    assert [one.script for one in run(text) if one.script != "train.py"] == []


def test_places_are_those_of_the_assignment_and_of_the_command() -> None:
    (start,) = run("#!/bin/bash\n\n  export A=1 B=22\n  python train.py\n")
    one = start.environment["B"].location
    assert (one.line, one.column, one.end_line, one.end_column) == (3, 14, 3, 18)
    assert (start.location.line, start.location.column) == (4, 3)


def test_a_sourced_file_sets_variables_at_its_own_lines() -> None:
    files = {"env.sh": "# mine\nexport A=1\n"}
    (start,) = run("source env.sh\npython train.py", lambda name: (name, files[name]) if name in files else None)
    assert (start.environment["A"].location.path, start.environment["A"].location.line) == ("env.sh", 2)


def test_scripts_that_source_each_other_end() -> None:
    text = "source me.sh\npython train.py\n"
    assert len(run(text, lambda name: (name, text))) == 6


_PIECES = st.sampled_from(
    [
        "if",
        "then",
        "else",
        "fi",
        "case",
        "esac",
        "in",
        "for",
        "do",
        "done",
        "{",
        "}",
        "(",
        ")",
        ";",
        ";;",
        "\n",
        "&&",
        "||",
    ]
    + [
        "|",
        "&",
        "<<E",
        "E",
        "'",
        '"',
        "`",
        "$(",
        "${A:-b}",
        "${",
        "$A",
        "\\",
        "#",
        "export A=1",
        "A=1",
        "function",
        "f()",
    ]
    + ["python", "train.py", "bash -c", "-m", "env", "[[", "]]", ">", "<(", "$'", " "]
)


@example("python \\")
@example("python ''")
@example("torchrun -m ''")
@given(st.lists(_PIECES, max_size=40).map(" ".join) | st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    lines = text.count("\n") + 1
    for start in run(text):
        assert 1 <= start.location.line <= lines
        assert start.script


@pytest.mark.parametrize("text", ["launch.py ", "python launch.py ", "torchrun ", "-m launch ", "bash -c "])
def test_launchers_of_launchers_end(text: str) -> None:
    assert len(run("python launch.py " + text * 5_000 + "train.py")) < 9


def test_time_does_not_grow_with_the_square() -> None:
    for text in (
        "$(" * 10_000,
        "${" * 10_000,
        "(" * 10_000,
        "if " * 10_000,
        "a=" * 10_000,
        '"$(' * 10_000,
        "<<E " * 10_000,
    ):
        run(text)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('A=(--x 1\n  # note\n  --y "2 3"\n)\npython train.py ${A[@]}', ["--x", "1", "--y", "2 3"]),
        ('A=(--x)\nA+=("--y=$B")\npython train.py "${A[@]}" --z', ["--x", "--y=$B", "--z"]),
        ("B=3\nA=(--x $B)\nB=4\npython train.py ${A[*]}", ["--x", "3"]),
        ("A=(--x)\nif [ $1 ]; then A=(--y); fi\npython train.py ${A[@]}", ["${A[@]}"]),
        ("A=(python train.py --x)\n${A[@]} --y", ["--x", "--y"]),
        ("python train.py ${A[@]} ${A[0]}", ["${A[@]}", "${A[0]}"]),
    ],
)
def test_arrays(text: str, arguments: list[str]) -> None:
    (start,) = starts(text, Lines("run.sh", text))
    assert [one.text for one in start.arguments] == arguments
