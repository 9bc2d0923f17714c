"""What is kept of launchers: found again while they and what they source are as they were, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9mlint.configs import files
from d9mlint.configs.told import Launchers, Told


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def told(texts: dict[str, str], path: str = "run.sh") -> Told:
    return Launchers(lambda name: texts[name].encode() if name in texts else None, cache=True)(path)


TEXTS = {"run.sh": "source env.sh\npython train.py", "env.sh": "export TF_X=1", "Dockerfile": "FROM a\nENV B=1"}


def test_what_is_as_it_was_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [told(TEXTS, path) for path in ("run.sh", "Dockerfile")]
    monkeypatch.setattr(files, "told", lambda *_: pytest.fail("read again"))
    assert [told(TEXTS, path) for path in ("run.sh", "Dockerfile")] == first
    assert first[0].starts[0].environment["TF_X"].value == "1"
    assert first[1].image[0].name == "B"


@pytest.mark.parametrize(("changed", "value"), [("export TF_X=2", "2"), ("", None)])
def test_a_changed_file_that_is_sourced_counts(changed: str, value: str | None) -> None:
    told(TEXTS)
    variable = told({**TEXTS, "env.sh": changed}).starts[0].environment.get("TF_X")
    assert (variable.value if variable else None) == value


def test_a_file_that_was_not_there_counts_when_it_comes() -> None:
    without = {name: text for name, text in TEXTS.items() if name != "env.sh"}
    assert not told(without).starts[0].environment
    assert told(TEXTS).starts[0].environment["TF_X"].value == "1"


def test_what_is_kept_of_one_path_is_not_told_of_another() -> None:
    told(TEXTS)
    assert told({"b/run.sh": TEXTS["run.sh"]}, "b/run.sh").starts[0].location.path == "b/run.sh"
