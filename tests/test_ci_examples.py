"""The GitHub action and the examples for other services: linted, and their scripts executed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from conftest import ROOT

BIN = Path(sys.executable).parent
ACTION = ROOT / "action.yml"
EXAMPLES = ROOT / "examples" / "ci"
JENKINS = (EXAMPLES / "Jenkinsfile").read_text(encoding="utf-8")
KINDS = {
    ACTION: "vendor.github-actions",
    EXAMPLES / "github.yml": "vendor.github-workflows",
    EXAMPLES / "gitlab.yml": "vendor.gitlab-ci",
}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BAD = "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"


def steps() -> dict[str, dict[str, Any]]:
    """The steps of the action that are scripts, by name."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"] if "run" in step}


def gitlab() -> str:
    job = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text(encoding="utf-8"))["d9mlint"]
    return "\n".join(job["script"])


def jenkins() -> str:
    return textwrap.dedent(JENKINS.split("sh '''")[1].split("'''")[0])


# --- linted -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*KINDS, *WORKFLOWS], ids=lambda path: path.name)
def test_it_fits_the_schema_of_its_service(path: Path) -> None:
    schema = KINDS.get(path, "vendor.github-workflows")
    command = [str(BIN / "check-jsonschema"), "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_of_a_pull_request_is_put_into_a_script() -> None:
    files = [str(path) for path in (ACTION, EXAMPLES / "github.yml", *WORKFLOWS)]
    command = [str(BIN / "zizmor"), "--offline", "--no-config", "--format", "json", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [one for one in json.loads(done.stdout) if not one["ignored"]]
    # Tags of actions, not hashes: these are for readers, who pin what they have looked at.
    assert {one["ident"] for one in found} == {"unpinned-uses"}


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="no actionlint here; the workflow has it")
def test_workflows_pass_actionlint() -> None:
    files = [str(path) for path in (EXAMPLES / "github.yml", *WORKFLOWS)]
    done = subprocess.run(["actionlint", "-no-color", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_image_file_passes_hadolint() -> None:
    command = [str(BIN / "hadolint"), str(ROOT / "docs" / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_supported_python_is_tested() -> None:
    """Those that the package says it runs on, in the workflow and in the script that compares reports."""
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["python"]["strategy"]["matrix"]["python"] == named
    assert f"for version in {' '.join(named)}; do" in (ROOT / ".ci" / "interpreters").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", [*(step["run"] for step in steps().values()), jenkins()])
def test_scripts_pass_shellcheck(script: str) -> None:
    shell = "sh" if script == jenkins() else "bash"
    command = [str(BIN / "shellcheck"), f"--shell={shell}", "--severity=warning", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_jenkinsfile_is_groovy() -> None:
    import tree_sitter
    import tree_sitter_groovy

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_groovy.language()))
    assert not parser.parse(JENKINS.encode()).root_node.has_error
    assert parser.parse(JENKINS.replace("stages {", "stages {{").encode()).root_node.has_error


def test_options_and_inputs_exist() -> None:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    workflow = yaml.safe_load((EXAMPLES / "github.yml").read_text(encoding="utf-8"))
    used = [step["with"] for job in workflow["jobs"].values() for step in job["steps"] if "d9mlint/" in step["uses"]]
    assert len(used) == 2
    assert all(set(given) <= set(action["inputs"]) for given in used)


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml", "Jenkinsfile"])
def test_the_page_shows_the_files(name: str) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert f"\n{(EXAMPLES / name).read_text(encoding='utf-8')}```\n" in page, f"copy examples/ci/{name} into docs/ci.md"


def test_the_page_names_the_inputs_with_their_defaults() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    inputs = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.+?) \|$", page, re.MULTILINE))
    assert rows.keys() == inputs.keys()
    assert {name: one["default"] for name, one in inputs.items() if one["default"]} == {
        name: default.strip("`") for name, default in rows.items() if default.startswith("`")
    }


# --- executed ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A repository of two programs with a finding each, of which one has changed since the first commit."""
    folder = tmp_path / "user"
    folder.mkdir()
    for name in ("one.py", "two.py"):
        (folder / name).write_text(BAD)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "two.py").write_text(BAD + "# more\n")
    git(folder, "commit", "-q", "-a", "-m", "second")
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def shell(script: str, folder: Path, program: str = "bash", **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a script as runners do: it ends at the first command that fails."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}
    options = ["-e", "-o", "pipefail"] if program == "bash" else ["-e"]
    command = [program, *options, "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def action(folder: Path, report: str, **more: str) -> subprocess.CompletedProcess[str]:
    given = {"PATHS": ".", "ARGS": "", "SINCE": "", "REPORT": report, "PYTHON": sys.executable, **more}
    temporary = folder.parent
    return shell(
        steps()["Check"]["run"], folder, GITHUB_OUTPUT=str(temporary / "output"), RUNNER_TEMP=str(temporary), **given
    )  # fmt: skip


@pytest.mark.slow
def test_the_action_annotates(user: Path) -> None:
    assert set(steps()["Check"]["env"]) == {"PATHS", "ARGS", "SINCE", "REPORT", "PYTHON", "XDG_CACHE_HOME"}
    done = action(user, "annotations", SINCE="HEAD^1")
    assert done.returncode == 1, done.stderr
    assert "::warning file=two.py,line=4" in done.stdout
    assert "one.py" not in done.stdout
    assert "1 of 2 entries reaches a changed file" in done.stderr
    done = action(user, "annotations", ARGS="--fail-on\nerror --target  numpy==1.26", PATHS="one.py two.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("::warning") == 2


@pytest.mark.slow
def test_the_action_writes_sarif_also_where_there_are_findings(user: Path) -> None:
    done = action(user, "sarif")
    assert done.returncode == 1, done.stderr
    name, _, path = (user.parent / "output").read_text().strip().partition("=")
    assert name == "sarif"
    assert len(json.loads(Path(path).read_text())["runs"][0]["results"]) == 2


@pytest.mark.slow
def test_the_action_tells_what_is_wrong(user: Path) -> None:
    done = action(user, "pictures")
    assert (done.returncode, "none of annotations, sarif, none" in done.stdout) == (2, True)
    done = action(user, "sarif", SINCE="gone")
    assert (done.returncode, "there is no revision 'gone'" in done.stderr) == (2, True)
    assert not (user.parent / "output").exists()


@pytest.mark.slow
def test_the_gitlab_job_writes_a_report_about_a_merge_request(user: Path) -> None:
    done = shell(gitlab(), user, D9MLINT_PATHS=".", D9MLINT_ARGS="", CI_MERGE_REQUEST_DIFF_BASE_SHA="HEAD^1")
    assert done.returncode == 1, done.stderr
    assert [one["location"]["path"] for one in json.loads((user / "d9mlint.json").read_text())] == ["two.py"]
    done = shell(gitlab(), user, D9MLINT_PATHS="one.py two.py", D9MLINT_ARGS="--fail-on error")
    assert done.returncode == 0, done.stderr
    assert len(json.loads((user / "d9mlint.json").read_text())) == 2


@pytest.mark.slow
def test_the_jenkins_stage_leaves_findings_to_the_report(user: Path) -> None:
    (user / ".d9mlint").symlink_to(BIN.parent)
    git(user, "branch", "base", "HEAD^1")
    git(user, "remote", "add", "origin", str(user))
    done = shell(jenkins(), user, "sh", CHANGE_TARGET="base")
    assert done.returncode == 0, done.stderr
    cases = ElementTree.parse(user / "d9mlint.xml").findall(".//testcase")
    assert [case.get("classname") for case in cases] == ["two.py"]
    (user / "two.py").write_text(BAD + "def broken(:\n")
    assert shell(jenkins(), user, "sh").returncode == 1
