"""Config files are judged where they are surely what they seem, and only there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from d9mlint.configs.judging import config

CLARA = {"epochs": 2, "train": {"model": {"name": "UNet"}, "pre_transforms": [], "optimizer": {"name": "Adam"}}}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("config_train.json", json.dumps(CLARA), "NVIDIA Clara"),
        ("config_train.json", '{"epochs": 2, "train": {"pre_transforms": []}}', ""),
        ("a.yaml", "seed_everything: 1\ntrainer: {max_epochs: 3}", "Lightning CLI"),
        ("a.yaml", "trainer: {max_epochs: 3}\nmodel: resnet", ""),
        ("a.yaml", "trainer: {_target_: lightning.Trainer, max_epochs: 3}\nseed_everything: 1", ""),
        ("a.yaml", "task: {train_data: {seed: 1}}\ntrainer: {train_steps: 3}", "TF Model Garden"),
        ("a.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: NO", "Accelerate"),
        ("a.json", '{"output_dir": "x", "num_train_epochs": 1, "learning_rate": 1}', "Transformers"),
        ("a.json", '{"num_train_epochs": 1, "model": 2}', ""),
        ("a.yaml", "defaults: [model]\ntrainer: {a: 1}", "Hydra"),
        ("ds.json", '{"train_batch_size": 8, "steps_per_print": 10, "seed": 1}', "DeepSpeed"),
        ("a.yaml", "defaults: &d {run: 1}\ntrainer: {a: 1}", ""),
        ("a.json", '{"initialize": ["$x.set_determinism(1)"], "net": {"_target_": "UNet"}}', "MONAI bundle"),
        ("a.yaml", "trainer: 3", ""),
        ("a.yaml", "- trainer: 3", ""),
    ],
)
def test_kinds(name: str, text: str, kind: str) -> None:
    found = config(name, text.encode())
    assert (found.kind if found is not None else "") == kind


def test_findings_stand_at_the_key(d9mlint) -> None:  # type: ignore[no-untyped-def]
    text = json.dumps({**CLARA, "determinism": {"random_seed": -1}, "cudnn_benchmark": True}, indent=2)
    Path("config_train.json").write_text(text)
    ran = d9mlint(".", "--format", "json")
    lines = text.split("\n")
    assert ran.code == 1
    found = {f["rule"]: lines[f["line"] - 1][f["column"] - 1 : f["end_column"] - 1] for f in ran.json["findings"]}
    assert found == {"clara-determinism-value": "-1", "config-conflict": '"cudnn_benchmark"'}
    assert d9mlint("config_train.json", "--ignore", "configs").code == 0


def test_comments_in_yaml_count(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("c.yaml").write_text(
        "seed_everything: false  # d9m: ignore[config-unseeded] a demo\ntrainer: {max_epochs: 1}\n"
    )
    report = d9mlint(".", "--format", "json").json
    assert (report["findings"], report["suppressed"]) == ([], 1)


@pytest.mark.parametrize("given", [["--config", "exp/a.yaml"], ["--config=exp/a.yaml"]])
def test_configs_that_a_program_is_started_with_are_judged(d9mlint, given: list[str]) -> None:  # type: ignore[no-untyped-def]
    Path("exp").mkdir()
    Path("exp/a.yaml").write_text("seed_everything: false\ntrainer: {max_epochs: 1}\n")
    Path("train.py").write_text("print(1)\n")
    assert d9mlint("train.py").code == 0
    ran = d9mlint("train.py", "--format", "json", "--", *given, "--missing=exp/b.yaml")
    assert [(f["rule"], f["path"]) for f in ran.json["findings"]] == [("config-unseeded", "exp/a.yaml")]


@pytest.mark.parametrize("text", [b"hydra: [", b"hydra: " + b"[" * 5000, b"hydra: x\n" * 80_000])
def test_what_cannot_be_read_is_told_where_it_was_named(d9mlint, text: bytes) -> None:  # type: ignore[no-untyped-def]
    Path("c.yaml").write_bytes(text)
    Path("train.py").write_text("print(1)\n")
    assert d9mlint(".").code == 0
    ran = d9mlint("c.yaml")
    assert ran.code in (2, 3)
    assert "c.yaml" in ran.out + ran.err


def test_a_file_of_no_known_kind_is_nothing_to_check(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("c.yaml").write_text("a: 1\n")
    for path in ("c.yaml", "."):
        ran = d9mlint(path)
        assert (ran.code, "nothing to check" in ran.err) == (2, True)


_HYDRA = """\
import hydra
import torch


@hydra.main(version_base=None, {where})
def main(cfg):
    if cfg.seed is not None:
        torch.manual_seed(cfg.seed)
    print(torch.nn.Linear(4, 4).weight.sum())


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ('config_path="../conf", config_name="train"', "conf/train.yaml"),
        ('config_path="conf", config_name="train.yaml"', "src/conf/train.yaml"),
        ('config_path="conf/train.yaml"', "src/conf/train.yaml"),
    ],
)
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("seed: null\nepochs: 4\n", "seed"),
        ("model:\n  width: 4\ntrain:\n  seed:\n", "train.seed"),
        ("seed: 3\nsplit:\n  seed: null\n", ""),
        ("epochs: 4\n", ""),
    ],
)
def test_the_config_that_hydra_composes_for_a_program(  # type: ignore[no-untyped-def]
    d9mlint, where: str, path: str, text: str, key: str
) -> None:
    for name, content in {"src/train.py": _HYDRA.format(where=where), path: text, "conf/other.yaml": text}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    ran = d9mlint(".", "--select", "config-unseeded", "--format", "json")
    told = [(f["path"], f["severity"], f["message"]) for f in ran.json["findings"]]
    assert told == ([(path, "warning", f"`{key}: null` leaves the generators unseeded")] if key else [])
