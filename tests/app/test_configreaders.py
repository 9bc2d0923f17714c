"""Settings in config files are told where a program loads them as they are written."""

from __future__ import annotations

from pathlib import Path

CONFIG = """\
model: {{target: nets.Net, params: {{{params}}}}}
lightning:
  trainer:
    benchmark: True
    max_epochs: 3
"""
PROGRAM = """\
import argparse
from omegaconf import OmegaConf
from pytorch_lightning import Trainer

args = argparse.ArgumentParser()
args.add_argument("--base")
args = args.parse_args()
config = OmegaConf.load(args.base)
config.model.params.head.name = "plain"
{use}
"""
USE = "Trainer(**config.lightning.trainer)"


def findings(d9mlint, use: str = USE, **params: str) -> list[tuple[str, str, str]]:  # type: ignore[no-untyped-def]
    for name, text in params.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(CONFIG.format(params=text))
    Path("train.py").write_text(PROGRAM.format(use=use))
    report = d9mlint(".", "--select", "config-benchmark", "--format", "json").json
    return [(f["path"], f["severity"], f["message"]) for f in report["findings"]]


def test_a_file_that_lacks_a_key_the_program_cannot_do_without_is_not_told(d9mlint) -> None:  # type: ignore[no-untyped-def]
    found = findings(d9mlint, a="head: {name: x}", b="depth: 3")
    assert [(path, severity) for path, severity, _ in found] == [("a.yaml", "warning")]


def test_a_file_of_some_settings_is_merged_with_others(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("more.yaml").write_text("lightning: {trainer: {benchmark: True, max_epochs: 2}}\n")
    assert [path for path, _, _ in findings(d9mlint)] == ["more.yaml"]


def test_what_no_program_is_seen_to_read_is_an_info(d9mlint) -> None:  # type: ignore[no-untyped-def]
    ((_, severity, message),) = findings(d9mlint, use="print(config.model)", a="depth: 3")
    assert (severity, message.partition("; ")[2]) == ("info", "no program here was seen to read it")


def test_a_program_that_hands_its_configuration_on_may_read_it_elsewhere(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("fitting.py").write_text("def fit(config):\n    print(config['lightning']['trainer'])\n")
    use = "from fitting import fit\nfit(config)"
    assert [severity for _, severity, _ in findings(d9mlint, use=use, a="head: {name: x}")] == ["warning"]


def test_without_a_program_all_is_told(d9mlint) -> None:  # type: ignore[no-untyped-def]
    findings(d9mlint, a="depth: 3")
    assert "config-benchmark" in d9mlint("a.yaml").out


def test_files_with_the_same_setting_are_one_finding(d9mlint) -> None:  # type: ignore[no-untyped-def]
    head = "head: {name: x}"
    found = findings(d9mlint, x__a=head, x__b=head, tests__a=head, y__a=head)
    assert [(path, message.partition(" (and ")[2]) for path, _, message in found] == [("x/a.yaml", "in 3 more files)")]
    report = d9mlint(".", "--select", "config-benchmark", "--format", "json").json
    assert [place["path"] for place in report["findings"][0]["related"]] == ["x/b.yaml", "y/a.yaml", "tests/a.yaml"]
