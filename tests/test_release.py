"""What a release is made of: one version, a changelog, manual pages, builds that are the same whoever makes them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from conftest import ROOT

from d9mlint import __version__

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_has_a_section_for_the_version_and_one_for_what_comes() -> None:
    sections = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", sections[1])


def test_the_version_stands_in_one_place() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert __version__ not in pyproject
    assert 'dynamic = ["version"]' in pyproject


def test_the_extension_has_the_version_of_the_server_that_it_starts() -> None:
    folder = ROOT / "editors" / "vscode"
    package, lock = (json.loads((folder / name).read_text("utf-8")) for name in ("package.json", "package-lock.json"))
    assert {package["version"], lock["version"], lock["packages"][""]["version"]} == {__version__}


@pytest.fixture
def manual(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import manual

    return manual


def test_manual_pages_describe_the_options_of_each_command(manual: object) -> None:
    from d9mlint.cli.main import cli

    wanted: dict[Path, set[str]] = {}
    for context in manual.groups(click.Context(cli, info_name="d9mlint")):  # type: ignore[attr-defined]
        given = (one for one in context.command.params if isinstance(one, click.Option) and not one.hidden)
        wanted[manual.page(context)] = {one.opts[0] for one in given}  # type: ignore[attr-defined]
    told = {path: manual.options(path.read_text("utf-8")) for path in manual.PAGES.glob("*.1")}  # type: ignore[attr-defined]
    assert told == wanted, "`python docs/manual.py` writes them anew"
    for path in told:
        assert f'"{__version__}"' in path.read_text("utf-8").splitlines()[0], "`python docs/manual.py` writes them anew"


def test_the_workflow_publishes_what_was_built_twice_and_keeps_no_token() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert any(step.get("run") == "python docs/reproducible.py dist" for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


@pytest.mark.slow
def test_two_builds_are_the_same(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "docs" / "reproducible.py"), str(tmp_path / "dist")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.suffix for path in (tmp_path / "dist").iterdir()) == [".gz", ".whl"]
