"""``rules new``: a file with a free id, that the loader accepts once it is filled in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from d9mlint.catalogue import load, load_from, template
from d9mlint.model import UsageError


def test_a_new_rule_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "hazards.yaml").write_text("unseeded-rng: no seed at all\nnondet-op: an op varies\n")
    monkeypatch.setattr(template, "rules_folder", lambda: folder)
    first = template.new_rule(load_from(folder), "seeds/one-more")
    assert first == (folder / "seeds" / "one-more.yaml",)
    assert load_from(folder, full=True).rules["one-more"].id == "D9M101"
    template.new_rule(load_from(folder), "seeds/another")
    template.new_rule(load_from(folder), "host/third")
    assert {r.name: r.id for r in load_from(folder).rules.values()} == {
        "one-more": "D9M101", "another": "D9M102", "third": "D9M201",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("place", "text"), [("BAD", "family/name"), ("seeds/unseeded-numpy", "already"), ("a/b/c", "family/name")]
)
def test_bad_places(place: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        template.new_rule(load(), place)


def test_bad_places_tell_the_families() -> None:
    with pytest.raises(UsageError, match=r"families: compilers, configs, data, .*switches\)"):
        template.new_rule(load(), "BAD")


@pytest.mark.slow
@pytest.mark.parametrize("family", ["seeds", "kernels", "configs"])
def test_a_new_rule_passes_its_examples(tmp_path: Path, family: str) -> None:
    for name in ("d9mlint", "rules"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for words in (["new", f"{family}/brand-new"], ["test", "brand-new"]):
        run = [sys.executable, "-m", "d9mlint", "rules", *words]
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "2 passed, 0 failed\n"
    assert (tmp_path / "rules" / family / "brand-new.yaml").is_file()
