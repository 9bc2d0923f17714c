"""Settings in config files and launchers get the value that the remedy names; comments, quotes and layout stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.fix import edited
from d9mlint.fix.beside import keys
from d9mlint.fix.beside.settings import edits
from d9mlint.model import Location

Run = Callable[..., Any]
REMEDY = "set `seed: 42`, `A=0` or `B=:4096:8`"


def cured(line: str, remedy: str = REMEDY) -> str | None:
    """The line after the cure at ``«``, in a file with a line before and one behind it."""
    start = line.index("«")
    source = f"\ufeff# größe\r\n{line.replace('«', '')}\r\nlast".encode()
    found = edits(remedy, Location("run.sh", 2, start + 1, 2, start + 2), source)
    done = edited(source, found) if found else None
    return None if done is None else done.decode("utf-8-sig").split("\r\n")[1]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("«seed: null", "seed: 42"),
        ("  «seed:   -1   # why", "  seed:   42   # why"),
        ("«seed:", "seed: 42"),
        ("«seed: ", "seed: 42"),
        ("«seed: # none", None),
        ("«seed: a b", None),
        ("«seed: a#b", None),
        ("«seed: 'no'", "seed: '42'"),
        ("{«seed: null, lr: 1}", "{seed: 42, lr: 1}"),
        ('{«"seed": null}', '{"seed": 42}'),
        ('«"seed" : false,', '"seed" : 42,'),
        ("«seed: &anchor null", None),
        ("«seed: ${now:}", None),
        ("«seed: [1]", None),
        ("«seeds: 1", None),
        ("export «A=1", "export A=0"),
        ("«A=1 python train.py", "A=0 python train.py"),
        ("«A='1'; B=2", "A='0'; B=2"),
        ('«A="1" \\', 'A="0" \\'),
        ("«A=$HOME", None),
        ('«A="$X"', None),
        ("«A=1$X", None),
        ("«A=$(date)", None),
        ("«A=", "A=0"),
        ("«A= python train.py", None),
        ('- «"A="', '- "A=0"'),
        ("«A=(1 2)", None),
        ("«A", None),
        ("ENV «A 1", "ENV A 0"),
        ('- «"A=1"', '- "A=0"'),
        ("- «A=1", "- A=0"),
        ("mpirun -x «B=x -x A=1", "mpirun -x B=:4096:8 -x A=1"),
        ("«other=1", None),
        ("«", None),
    ],
)
def test_one_word_is_replaced(line: str, wanted: str | None) -> None:
    assert cured(line) == wanted


def test_a_remedy_without_name_and_value_changes_nothing() -> None:
    assert cured("«A=1", "leave `A` away, or set it to `0`") is None
    assert edits(REMEDY, Location("run.sh", 9, 1, 9, 2), b"A=1\n") == []


TRAIN = "import horovod.torch as hvd\n\nhvd.init()\n"


def test_launchers_and_images(d9mlint: Run) -> None:
    Path("train.py").write_text(TRAIN)
    files = {
        "run.sh": "#!/bin/sh\nHOROVOD_AUTOTUNE=1 python train.py  # fast\n",
        "Dockerfile": 'FROM x\nENV HOROVOD_AUTOTUNE=1\nENV PYTHONHASHSEED "random"\nCMD ["python", "train.py"]\n',
        "compose.yaml": "services:\n  a:\n    image: x\n    environment:\n    - PYTHONHASHSEED=random # why\n    command: python train.py\n",
    }  # fmt: skip
    for name, text in files.items():
        Path(name).write_text(text)
    Path("run.sh").chmod(0o755)
    ran = d9mlint(".", "--fix")
    assert ran.err == "fixed 2 findings, 2 more with --unsafe-fixes\n"
    assert Path("run.sh").read_text() == files["run.sh"]
    assert Path("compose.yaml").read_text() == files["compose.yaml"].replace("random", "0")
    assert d9mlint(".", "--fix", "--unsafe-fixes").err == "fixed 2 findings\n"
    assert Path("run.sh").read_text() == files["run.sh"].replace("AUTOTUNE=1", "AUTOTUNE=0")
    assert Path("run.sh").stat().st_mode & 0o777 == 0o755
    assert Path("Dockerfile").read_text() == files["Dockerfile"].replace("=1", "=0").replace("random", "0")
    again = d9mlint(".", "--fix", "--unsafe-fixes")
    assert (again.code, again.err) == (0, "fixed 0 findings\n")


LIGHTNING = (
    "# a run\nseed_everything: {}  # why\r\ntrainer:\n  max_epochs: 3\n  deterministic: true\nmodel:\n  class_path: m.Net\n"
    "data:\n  class_path: d.Data\n"
)


@pytest.mark.parametrize("value", ["false", "true"])
def test_a_seed_in_a_config_file(d9mlint: Run, value: str) -> None:
    Path("config.yaml").write_bytes(LIGHTNING.format(value).encode())
    ran = d9mlint("config.yaml", "--fix", "--target", "lightning==2.1.4")
    assert (ran.code, ran.err) == (0, "fixed 1 finding\n"), ran.out
    assert Path("config.yaml").read_bytes() == LIGHTNING.format(42).encode()


GARDEN = (
    '{"runtime": {"distribution_strategy": "mirrored", "enable_xla": true},\n "task": {"train_data": {"input_path": "x", '
    '"deterministic": false}},\n "trainer": {"train_steps": 3}}'
)


def test_settings_that_cost_time_are_asked_for(d9mlint: Run) -> None:
    Path("config.json").write_text(GARDEN)
    words = ("config.json", "--target", "tensorflow==2.4.1")
    assert d9mlint(*words, "--fix").err == "fixed 0 findings, 2 more with --unsafe-fixes\n"
    ran = d9mlint(*words, "--diff", "--unsafe-fixes")
    assert ran.err == "would fix 2 findings\n"
    assert "\\ No newline at end of file\n" not in ran.out.partition("@@")[0]
    assert d9mlint(*words, "--fix", "--unsafe-fixes").err == "fixed 2 findings\n"
    wanted = GARDEN.replace('"enable_xla": true', '"enable_xla": false').replace('ic": false', 'ic": true')
    assert Path("config.json").read_text() == wanted


def test_what_a_remedy_does_not_name_is_left_with_the_reason(d9mlint: Run) -> None:
    Path("config.yaml").write_text(LIGHTNING.format("!!bool false"))
    before = Path("config.yaml").read_bytes()
    assert d9mlint("config.yaml", "--fix").err == (
        "fixed 0 findings\n  not fixed: config.yaml:2 config-unseeded: it is written in a way that is not known\n"
    )
    assert Path("config.yaml").read_bytes() == before


def test_a_seed_of_detectron_is_written_as_it_has_it(d9mlint: Run) -> None:
    text = "MODEL: {META_ARCHITECTURE: x}\nSOLVER: {BASE_LR: 1}\nDATASETS: {TRAIN: [a]}\nSEED: -1  # drawn\n"
    Path("config.yaml").write_text(text)
    assert d9mlint("config.yaml", "--fix").err == "fixed 1 finding\n"
    assert Path("config.yaml").read_text() == text.replace("-1", "42")


def test_a_seed_that_is_filled_in_by_a_run_becomes_a_number(d9mlint: Run) -> None:
    text = 'defaults:\n  - model: a\ntrainer: {lr: 1, data_seed: "${now:%s}"}  # x\nseed:   ${now:%s}\n'
    Path("config.yaml").write_text(text)
    assert d9mlint("config.yaml", "--fix").err == "fixed 2 findings\n"
    assert Path("config.yaml").read_text() == text.replace('"${now:%s}"', "1").replace("${now:%s}", "1")


ARGUMENTS = "output_dir: out\nnum_train_epochs: 3  # few\nlearning_rate: 0.1\n"
WANTED = "full_determinism: true\n"
TRAINER = '"max_epochs": 5, "gradient_clip_val": 1.0, "val_check_interval": 0.5'


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.yaml", f"# x\n{ARGUMENTS}seed: 42  # why\n\ntext: |\n  a\n",
         f"# x\n{ARGUMENTS}seed: 42  # why\n{WANTED}\ntext: |\n  a\n"),
        ("a.yaml", f"{ARGUMENTS}seed: 42", f"{ARGUMENTS}seed: 42\n{WANTED[:-1]}"),
        ("a.yaml", f"{ARGUMENTS}seed: 42\nfull_determinism: false  # slow\n",
         f"{ARGUMENTS}seed: 42\nfull_determinism: true  # slow\n"),
        ("a.yaml", f"{ARGUMENTS}full_determinism:\nseed: 42\n", f"{ARGUMENTS}{WANTED}seed: 42\n"),
        ("a.yaml", "{output_dir: a, num_train_epochs: 3, learning_rate: 1, seed: 4}\n",
         "{output_dir: a, num_train_epochs: 3, learning_rate: 1, seed: 4, full_determinism: true}\n"),
        ("a.json", '{\r\n\t"output_dir": "a",\r\n\t"num_train_epochs": 3,\r\n\t"learning_rate": 1,\r\n\t"seed": 4\r\n}',
         '{\r\n\t"output_dir": "a",\r\n\t"num_train_epochs": 3,\r\n\t"learning_rate": 1,\r\n\t"seed": 4,\r\n\t"full_determinism": true\r\n}'),
        ("a.json", f'{{"seed": 3, "trainer": {{{TRAINER}}}}}', f'{{"seed": 3, "trainer": {{{TRAINER}, "deterministic": true}}}}'),
        ("a.yaml", "seed_everything: 4\ntrainer:\n  logger: [a]\n  max_epochs: 3 # x\n  callbacks:\n  - a\nmodel:\n  class_path: m.Net\n",
         "seed_everything: 4\ntrainer:\n  logger: [a]\n  max_epochs: 3 # x\n  deterministic: true\n  callbacks:\n  - a\nmodel:\n  class_path: m.Net\n"),
    ],
)  # fmt: skip
def test_a_key_that_is_missing_is_added(d9mlint: Run, name: str, text: str, wanted: str) -> None:
    Path(name).write_bytes(text.encode())
    assert d9mlint(name, "--fix").err == "fixed 0 findings, 1 more with --unsafe-fixes\n"
    assert d9mlint(name, "--fix", "--unsafe-fixes").err == "fixed 1 finding\n"
    assert Path(name).read_bytes().decode() == wanted


@given(
    st.recursive(
        st.sampled_from(["1", "a b", "true", "null", "3.5", "-1"]),
        lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abcdef"), inner, max_size=3)),
        max_leaves=8,
    ),
    st.sampled_from([None, 1, 4]), st.booleans(), st.sampled_from(["x.y: 1", "z: true", "a.z: 2", "a: 3", "b.c: 1"]),
)  # fmt: skip
def test_an_added_key_is_there_and_all_else_stays(value: Any, indent: int | None, flow: bool, told: str) -> None:
    given = {"seed": 1, "rest": value}
    given |= value if isinstance(value, dict) else {}
    for name in ("a.yaml", "a.json"):
        if name == "a.json":
            text = json.dumps(given, indent=indent)
        else:
            text = yaml.safe_dump(given, default_flow_style=flow, indent=indent or 2, sort_keys=False)
        line = next(n for n, one in enumerate(text.split("\n"), 1) if "seed" in one)
        column = text.split("\n")[line - 1].index('"seed"' if name == "a.json" else "seed") + 1
        found = keys.edits({"seed": told}, Location(name, line, column, line, column + 4), text.encode())
        path, _, wanted = told.partition(": ")
        if not found:  # it would have to go into what is no map
            assert path.split(".")[0] in given
            continue
        done: Any = yaml.safe_load(edited(text.encode(), found) or b"")
        first, _, second = path.partition(".")
        new = {second: json.loads(wanted)} if second else json.loads(wanted)
        assert (done[first][second] if second else done[first]) == (new[second] if second else new)
        before = yaml.safe_load(text)
        if first in before:
            assert {**done, first: None} == {**before, first: None}
        else:
            assert {**before, first: new} == done


def test_a_config_that_could_not_be_read_any_more_is_left_alone(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = LIGHTNING.format("false").encode()
    Path("config.yaml").write_bytes(data)
    monkeypatch.setattr("d9mlint.fix.beside.settings._told", lambda remedy: {"seed_everything": "{"})
    ran = d9mlint("config.yaml", "--fix", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"] == [{"path": "config.yaml", "reason": "not fixed: its fixes would break it"}]
    assert Path("config.yaml").read_bytes() == data


FUSED = """import horovod.torch as hvd
import torch

torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
hvd.init()
net = torch.nn.Linear(4, 1).cuda()
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
step = hvd.DistributedOptimizer(torch.optim.Adam(net.parameters()))
net(torch.load("x.pt").cuda()).sum().backward()
step.step()
"""
SET = "HOROVOD_FUSION_THRESHOLD=0"


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("run.sh", "if true; then\n  horovodrun -np 4 python train.py  # all\nfi\n",
         f"if true; then\n  export {SET}\n  horovodrun -np 4 python train.py  # all\nfi\n"),
        ("run.sh", "cd . && srun \\\n  python train.py\n", f"cd . && {SET} srun \\\n  python train.py\n"),
        ("job.slurm", "#!/bin/sh\r\n#SBATCH -N 2\r\nsrun python train.py", f"#!/bin/sh\r\n#SBATCH -N 2\r\nexport {SET}\r\nsrun python train.py"),
        ("run.sh", "mpirun -np 4 -x PATH python train.py\n", f"mpirun -x {SET} -np 4 -x PATH python train.py\n"),
        ("run.sh", "docker run --gpus all image python train.py\n", f"docker run -e {SET} --gpus all image python train.py\n"),
        ("run.sh", "sudo python train.py\n", None),
        ("Dockerfile", 'FROM x\nCMD ["horovodrun", "-np", "4", \\\n  "python", "train.py"]\n',
         f'FROM x\nENV {SET}\nCMD ["horovodrun", "-np", "4", \\\n  "python", "train.py"]\n'),
        ("Makefile", "train:\n\t@horovodrun -np 4 python train.py\n", f"train:\n\t@{SET} horovodrun -np 4 python train.py\n"),
        (".github/workflows/t.yml", "jobs:\n  a:\n    steps:\n    - run: |\n        ls\n        python train.py\n",
         f"jobs:\n  a:\n    steps:\n    - run: |\n        ls\n        {SET} python train.py\n"),
        ("compose.yaml", "services:\n  a:\n    image: x  # why\n    command: horovodrun python train.py\n",
         'services:\n  a:\n    image: x  # why\n    environment:\n      HOROVOD_FUSION_THRESHOLD: "0"\n    command: horovodrun python train.py\n'),
        ("compose.yaml", "services:\n  a:\n    environment:\n    # these\n    - A=1\n    command: [python, train.py]\n",
         f"services:\n  a:\n    environment:\n    # these\n    - {SET}\n    - A=1\n    command: [python, train.py]\n"),
        ("compose.yaml", "services:\n  a:\n    environment:\n      A: 1\n    command: [python, train.py]\n",
         'services:\n  a:\n    environment:\n      HOROVOD_FUSION_THRESHOLD: "0"\n      A: 1\n    command: [python, train.py]\n'),
        ("compose.yaml", "services:\n  a: {image: x, command: [python, train.py]}\n", None),
    ],
)  # fmt: skip
def test_variables_of_horovod_go_where_it_is_started(d9mlint: Run, name: str, text: str, wanted: str | None) -> None:
    Path("train.py").write_text(FUSED)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
    words = (".", "--device", "gpu")
    assert "horovod-fusion" in d9mlint(*words).out
    d9mlint(*words, "--fix", "--unsafe-fixes")
    assert Path(name).read_bytes() == (wanted or text).encode()
    assert (Path("train.py").read_text() == FUSED) is (wanted is not None)
    assert "horovod-fusion" not in d9mlint(*words).out


def test_what_several_files_start_sets_them_itself(d9mlint: Run) -> None:
    Path("train.py").write_text(FUSED)
    for name in ("a.sh", "b.sh"):
        Path(name).write_text("horovodrun -np 4 python train.py\n")
    d9mlint(".", "--device", "gpu", "--fix", "--unsafe-fixes")
    assert 'os.environ["HOROVOD_FUSION_THRESHOLD"] = "0"\n' in Path("train.py").read_text()
    assert Path("a.sh").read_text() == "horovodrun -np 4 python train.py\n"
