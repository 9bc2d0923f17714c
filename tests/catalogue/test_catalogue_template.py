"""``rules new``: a file with a free id, that the loader accepts once it is filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9mlint.catalogue import load, load_from, template
from d9mlint.model import UsageError


def test_a_new_rule_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "hazards.yaml").write_text("unseeded-rng: no seed at all\nnondet-op: an op varies\n")
    monkeypatch.setattr(template, "rules_folder", lambda: folder)
    first = template.new_rule(load_from(folder), "seeds/one-more")
    assert first == folder / "seeds" / "one-more.yaml"
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


def test_a_rule_about_kernels_starts_without_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    monkeypatch.setattr(template, "rules_folder", lambda: folder)
    text = template.new_rule(load(cache=False), "kernels/my-atomic").read_text(encoding="utf-8")
    assert "match:" not in text
    assert "d9mlint/kernels/rules/my_atomic.py" in text
    assert text.startswith("id: D9M706\n")
