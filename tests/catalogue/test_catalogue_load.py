"""Loading: the whole catalogue, the compiled copy in the cache, examples on demand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from d9mlint.catalogue import load, load_from, read_examples
from d9mlint.model import Argument, CatalogueError, Effect, Invocation, Op, OpStatus, Remedy

RULE = """\
id: D9M101
severity: warning
confidence: high
hazard: unseeded-rng
noise: algo
applies: {framework: torch, versions: ">=1.9", device: gpu}
summary: NumPy draws without a seed
why: |
  NumPy starts from entropy.
remedy:
  - {versions: ">=2.0", text: New way.}
  - {text: Old way.}
match:
  call: [numpy.random.rand, numpy.random.randn]
  when: {seed@0: absent, rate: {gt: 0.5}, mode: {not: [null, absent]}, name: {contains: x}, flag: [true, 1]}
  unless: {program: [seeds.numpy], inside: tf.function}
message: "`{call}` draws without a seed"
verify: {probe: rng}
sources: [https://numpy.org]
examples:
  # a comment
  - bad: |
      import numpy as np
      np.random.rand()  # <-
    good: |
      x = 1
    fixed: |
      y = 2
    target: [torch==1.13, numpy]
    device: cpu
    args: [--seed, 1]

# another one
  - missed:
      pkg/__init__.py: ""
      train.py: |
        x = 1  # <-
  - false-alarm: |
      z = 3
    target: torch==2.0
    args: []
"""
EFFECTS = """\
package: numpy
aliases: {np2: numpy}
effects:
  - {call: numpy.random.seed, seeds: numpy, argument: [0, seed]}
  - call: [numpy.random.rand, numpy.random.randn.*]
    draws: [numpy, other]
    own_seed: [null, seed]
    when: {size: present}
    invokes: [{argument: [0, fn], context: thread}, {argument: [null, g]}]
    order: listing
    orders_data: true
    trains: true
    device_op: true
    versions: ">=1.17"
    framework: python
    creates: numpy-generator
    switches: op-determinism
    returns: numpy.random.Generator
    origin: entropy
"""
OPS = """\
framework: tensorflow
ops:
  - op: tf.image.crop_and_resize
    calls: tensorflow.image.crop_and_resize
    direction: backward
    devices: [gpu]
    when: {method: {not: nearest}}
    common: true
    why: Float atomics.
    status:
      - {versions: "<2.13", default: varies, deterministic_mode: raises, remedy: Use another op.}
      - {versions: ">=2.13", default: varies, deterministic_mode: same}
    sources: [somewhere]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "rules"
    for inner, text in {
        "hazards.yaml": "# words\nunseeded-rng: no seed at all\n",
        "seeds/unseeded-numpy.yaml": RULE,
        "effects/numpy.yaml": EFFECTS,
        "ops/tensorflow.yaml": OPS,
    }.items():
        (root / inner).parent.mkdir(parents=True, exist_ok=True)
        (root / inner).write_text(text)
    return root


def test_everything_arrives(folder: Path) -> None:
    catalogue = load_from(folder)
    rule = catalogue.rules["unseeded-numpy"]
    assert (rule.family, rule.id, rule.why, rule.device) == ("seeds", "D9M101", "NumPy starts from entropy.", "gpu")
    assert rule.remedies == (Remedy("New way.", ">=2.0"), Remedy("Old way."))
    assert rule.match == {
        "call": ["numpy.random.rand", "numpy.random.randn"],
        "when": {
            "seed@0": "absent",
            "rate": {"gt": 0.5},
            "mode": {"not": [None, "absent"]},
            "name": {"contains": "x"},
            "flag": [True, 1],
        },
        "unless": {"program": ["seeds.numpy"], "inside": "tf.function"},
    }
    assert catalogue.effects == (
        Effect(("numpy.random.seed",), "numpy", seeds=("numpy",), seed_argument=Argument(0, "seed")),
        Effect(
            ("numpy.random.rand", "numpy.random.randn.*"),
            "python",
            ">=1.17",
            draws=("numpy", "other"),
            own_seed=Argument(None, "seed"),
            when={"size": "present"},
            creates="numpy-generator",
            switches="op-determinism",
            returns="numpy.random.Generator",
            invokes=(Invocation(Argument(0, "fn"), "thread"), Invocation(Argument(None, "g"))),
            origin="entropy",
            order="listing",
            orders_data=True,
            trains=True,
            device_op=True,
        ),
    )
    assert catalogue.ops == (
        Op(
            "tf.image.crop_and_resize",
            ("tensorflow.image.crop_and_resize",),
            "backward",
            ("gpu",),
            {"method": {"not": "nearest"}},
            True,
            (OpStatus("<2.13", "varies", "raises", "Use another op."), OpStatus(">=2.13", "varies", "same")),
            ("somewhere",),
            "Float atomics.",
        ),
    )
    assert catalogue.aliases == {"np2": "numpy"}
    assert catalogue.hazards == {"unseeded-rng": "no seed at all"}


def test_examples(folder: Path) -> None:
    bad, fixed, good, missed, alarm = read_examples(load_from(folder).rules["unseeded-numpy"])
    assert [e.kind for e in (bad, fixed, good, missed, alarm)] == ["bad", "fixed", "good", "missed", "false-alarm"]
    assert bad.files == {"train.py": "import numpy as np\nnp.random.rand()  # <-\n"}
    assert {(e.target, e.device, e.args) for e in (bad, fixed, good)} == {
        (("torch==1.13", "numpy"), "cpu", ("--seed", "1"))
    }
    lines = RULE.splitlines()
    for example in (bad, fixed, good, missed, alarm):
        assert f"{example.kind}:" in lines[example.line - 1]
    assert missed.files == {"pkg/__init__.py": "", "train.py": "x = 1  # <-\n"}
    assert (missed.target, missed.device, missed.args) == ((), "gpu", None)
    assert (alarm.target, alarm.args) == (("torch==2.0",), ())


def test_extra_op_files(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OPS.replace("tf.image.crop_and_resize", "own.op", 1))
    catalogue = load_from(folder, [own])
    assert [op.name for op in catalogue.ops] == ["tf.image.crop_and_resize", "own.op"]
    assert catalogue.digest != load_from(folder).digest
    with pytest.raises(CatalogueError, match=r"nowhere\.yaml: catalogue file not found"):
        load_from(folder, [tmp_path / "nowhere.yaml"])
    with pytest.raises(CatalogueError, match=r"seeds: catalogue file cannot be read: Is a directory"):
        load_from(folder, [folder / "seeds"])


def test_op_files_come_on_top_of_the_rules_that_are_compiled(folder: Path, tmp_path: Path) -> None:
    own, cache = tmp_path / "own.yaml", tmp_path / "cache"
    own.write_text(OPS.replace("tf.image.crop_and_resize", "own.op", 1))
    assert load_from(folder, [own], cache=cache) == load_from(folder, [own], full=True)
    built_in = load_from(folder)
    (kept,) = cache.glob(f"catalogue-{built_in.digest}.json")
    kept.write_text(kept.read_text().replace("unseeded-numpy", "out-of-the-cache"))
    assert set(load_from(folder, [own], cache=cache).rules) == set(built_in.rules)  # (as a whole from the cache)
    own.write_text(OPS.replace("tf.image.crop_and_resize", "another.op", 1))
    edited = load_from(folder, [own], cache=cache)
    assert list(edited.rules) == ["out-of-the-cache"]
    assert [op.name for op in edited.ops] == ["tf.image.crop_and_resize", "another.op"]
    own.write_text("framework: torch\nops: 1\n")
    with pytest.raises(CatalogueError, match=r"own\.yaml:2: "):
        load_from(folder, [own], cache=cache)


def test_rules_beside_op_catalogues_and_empty_catalogue(folder: Path) -> None:
    (folder / "ops" / "some-op.yaml").write_text(RULE.replace("D9M101", "D9M102"))
    assert list(load_from(folder).rules) == ["some-op", "unseeded-numpy"]
    for path in folder.glob("*/*.yaml"):
        path.unlink()
    assert load_from(folder).rules == {}
    (folder / "hazards.yaml").unlink()
    with pytest.raises(CatalogueError, match=r"hazards\.yaml: catalogue file not found"):
        load_from(folder)
    with pytest.raises(CatalogueError, match="the folder of rules does not exist"):
        load_from(folder / "none")


def test_linting_does_not_read_examples(folder: Path) -> None:
    path = folder / "seeds" / "unseeded-numpy.yaml"
    path.write_text(RULE + "  - nonsense: [\n")
    rule = load_from(folder).rules["unseeded-numpy"]
    with pytest.raises(CatalogueError, match="not valid YAML"):
        read_examples(rule)
    with pytest.raises(CatalogueError, match="not valid YAML"):
        load_from(folder, full=True)


def test_cache_gives_the_same(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "deep"
    cold = load_from(folder, cache=cache)
    (file,) = cache.iterdir()
    assert file.name == f"catalogue-{cold.digest}.json"
    assert str(tmp_path) not in file.read_text()
    assert load_from(folder, cache=cache) == cold == load_from(folder)
    assert load_from(folder, cache=cache).rules["unseeded-numpy"].path == cold.rules["unseeded-numpy"].path


def test_cache_is_read(folder: Path, tmp_path: Path) -> None:
    load_from(folder, cache=tmp_path / "c")
    (file,) = (tmp_path / "c").iterdir()
    file.write_text(file.read_text().replace("Float atomics.", "From the cache."))
    assert load_from(folder, cache=tmp_path / "c").ops[0].why == "From the cache."
    assert load_from(folder, cache=tmp_path / "c", full=True).ops[0].why == "Float atomics."


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", "{}", '{"digest": 1}', "cut", "odd", "[" * 100_000])
def test_damaged_cache_is_rebuilt(folder: Path, tmp_path: Path, damage: str) -> None:
    cold = load_from(folder, cache=tmp_path / "c")
    (file,) = (tmp_path / "c").iterdir()
    whole = file.read_text()
    data = json.loads(whole)
    data["effects"][0]["unknown"] = 1
    file.write_text({"cut": whole[: len(whole) // 2], "odd": json.dumps(data)}.get(damage, damage))
    assert load_from(folder, cache=tmp_path / "c") == cold
    assert file.read_text() == whole


def test_cache_follows_the_files(folder: Path, tmp_path: Path) -> None:
    first = load_from(folder, cache=tmp_path / "c")
    (folder / "seeds" / "unseeded-numpy.yaml").write_text(RULE.replace("NumPy draws", "Draws"))
    second = load_from(folder, cache=tmp_path / "c")
    assert first.digest != second.digest
    assert second.rules["unseeded-numpy"].summary == "Draws without a seed"
    (tmp_path / "modules" / "seeds").mkdir(parents=True)
    (tmp_path / "modules" / "seeds" / "stray.py").touch()
    with pytest.raises(CatalogueError, match="stray"):
        load_from(folder, modules=tmp_path / "modules", cache=tmp_path / "c")


def test_broken_catalogue_is_never_cached(folder: Path, tmp_path: Path) -> None:
    (folder / "seeds" / "unseeded-numpy.yaml").write_text(RULE.replace("algo", "algos"))
    for _ in range(2):
        with pytest.raises(CatalogueError, match="noise"):
            load_from(folder, cache=tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_unwritable_cache_is_fine(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert load_from(folder, cache=tmp_path / "file" / "c") == load_from(folder)
    (tmp_path / "locked").mkdir(mode=0o500)
    assert load_from(folder, cache=tmp_path / "locked") == load_from(folder)


def test_old_compiled_catalogues_go(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    cache.mkdir()
    for number in range(20):
        old = cache / f"catalogue-{number}.json"
        old.touch()
        os.utime(old, (time.time() - 1000 + number,) * 2)
    digest = load_from(folder, cache=cache).digest
    kept = {path.name for path in cache.iterdir()}
    assert len(kept) == 8
    assert {f"catalogue-{digest}.json", "catalogue-19.json"} <= kept


def test_warm_start_does_not_import_yaml(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom d9mlint.catalogue import load_from\n"
        f"c = load_from(Path({str(folder)!r}), cache=Path({str(tmp_path / 'c')!r}))\n"
        "sys.stdout.write(f'{len(c.rules)} {\"yaml\" in sys.modules}')"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert outputs == ["1 True", "1 False"]


def test_shipped_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    catalogue = load(full=True)
    assert load() == catalogue
    assert (tmp_path / "d9mlint" / f"catalogue-{catalogue.digest}.json").is_file()
    assert "unseeded-rng" in catalogue.hazards
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert load() == catalogue
    assert (tmp_path / "home" / ".cache" / "d9mlint").is_dir()
    assert load(cache=False) == catalogue
