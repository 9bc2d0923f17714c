"""The README and the documentation say what is true: what they show is executed (UPDATE_GOLDEN=1 rewrites it)."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import documents
import pytest
from conftest import ROOT, Ran

README = ROOT / "README.md"
Run = Callable[..., Ran]
SHOWING = [path for path in documents.DOCUMENTS if next(documents.steps(path.read_text("utf-8")), None)]
RUNNING = [path for path in SHOWING if "<!-- runs:" in path.read_text("utf-8")]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SHOWING, ids=name)
def test_what_a_page_shows_is_so(d9mlint: Run, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new = documents.execute(text, d9mlint)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(new, encoding="utf-8")
        return
    assert text == new, "UPDATE_GOLDEN=1 pytest tests/test_documents.py rewrites what commands print"


@pytest.mark.slow
@pytest.mark.parametrize("path", RUNNING, ids=name)
def test_programs_of_a_page_run_as_it_says(d9mlint: Run, path: Path) -> None:
    python = os.environ.get("D9MLINT_TORCH_PYTHON")
    if not python:
        pytest.skip("D9MLINT_TORCH_PYTHON names no interpreter with torch")

    def twice(words: list[str]) -> list[str]:
        runs = []
        for seed in ("1", "2"):  # of strings' hashes, which each process draws anew
            env = {**os.environ, "PYTHONHASHSEED": seed}
            done = subprocess.run([python, *words], env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            runs.append(done.stdout)
        return runs

    documents.execute(path.read_text(encoding="utf-8"), d9mlint, twice)


def test_a_wrong_page_is_noticed(d9mlint: Run) -> None:
    page = "<!-- file: train.py -->\n```python\nimport random\nprint(random.random())\n```\n"
    told = page + "<!-- finds: `d9mlint train.py` -> {} -->\n"
    assert documents.execute(told.format("unseeded-python"), d9mlint) == told.format("unseeded-python")
    with pytest.raises(AssertionError):
        documents.execute(told.format("nothing"), d9mlint)
    shown = page + "<!-- prints: `d9mlint train.py --format concise` -> 1 -->\n```text\nold\n```\n"
    assert "train.py:2:7: warning unseeded-python" in documents.execute(shown, d9mlint)


# --- commands --------------------------------------------------------------------------------------------------------

_SHELL = re.compile(r"```(?:sh|console)\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"(?:^|^\$ |&& |\| )(?:\S*/)?(d9mlint(?: .*?)?)(?:\s+#.*| (?:&&|\||>).*)?$", re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """Each ``d9mlint ...`` of a page, with the page."""
    found = []
    for path in documents.DOCUMENTS:
        for block in _SHELL.findall(path.read_text(encoding="utf-8")):
            found += [(name(path), command) for command in _COMMAND.findall(block)]
    return found


@pytest.mark.parametrize(("page", "command"), sorted(set(commands())))
def test_commands_have_the_options_that_pages_give_them(page: str, command: str) -> None:
    from d9mlint.cli.main import cli

    words = shlex.split(command)[1:]
    group: click.Command = cli
    context = cli.make_context("d9mlint", [])
    while isinstance(group, click.Group) and words and words[0] not in ("-h", "--help", "--version"):
        found = group.get_command(context, words[0])
        group, words = (found, words[1:]) if found is not None else (group.get_command(context, "check"), words)
        assert group is not None
    with context:
        group.make_context(page, words) if not isinstance(group, click.Group) else None


def test_commands_are_found() -> None:
    assert len(commands()) > 60


# --- README ----------------------------------------------------------------------------------------------------------


def test_the_readme_fits_in_one_sitting() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


def test_the_readme_sets_up_what_is_tested() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    assert '.venv/bin/d9mlint examples/train.py --target "tensorflow==2.9.1"\n' in text
    assert '-e ".[dev]" && .venv/bin/pytest\n' in text
    assert 'd9mlint" examples/train.py --target "tensorflow==2.9.1"' in script


def test_the_picture_shows_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import picture

    assert picture.PICTURE.relative_to(ROOT).as_posix() in README.read_text(encoding="utf-8")
    drawn = picture.shown(picture.PICTURE.read_text(encoding="utf-8"))
    assert drawn == "".join(picture.report().split()), "`python docs/picture.py` draws it anew"


# --- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["select", "per-file-ignores", "min-confidence"])
def test_every_configuration_key_is_described(key: str) -> None:
    from d9mlint.config import _READERS

    assert key in _READERS
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    assert [name for name in _READERS if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize(("page", "schema"), [("json", "check"), ("json-kernels", "kernels")])
def test_every_key_of_a_json_report_is_described(page: str, schema: str) -> None:
    keys = json.loads((ROOT / "tests" / f"{schema}.schema.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    parts = [keys["$defs"][part] for part in ("finding", "site", "op", "call") if part in keys["$defs"]]
    wanted = {*keys["properties"], *(key for part in parts for key in part["properties"])}
    assert sorted(key for key in wanted if f"`{key}`" not in text) == []


def test_pages_name_rules_and_ops_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from d9mlint.app.documentation import wrong_names

    monkeypatch.chdir(ROOT)
    assert list(wrong_names([Path("README.md"), Path("CHANGELOG.md"), Path("docs")])) == []


def test_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.slow
def test_the_documentation_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "rules" / "unseeded-numpy" / "index.html").is_file()
