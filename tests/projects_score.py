"""Scores d9mlint on the programs of ``tests/projects``: what must be found, and what must not be reported.

Run as a script for the table; ``test_projects.py`` holds it to the figures reached.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent / "projects"


@dataclass(frozen=True)
class Score:
    """One program: its expected findings that were missed, and findings of a clean one that are warnings or worse."""

    name: str
    kind: str
    expected: int
    missed: tuple[str, ...]
    alarms: tuple[str, ...]
    extra: tuple[str, ...]


def load(folder: Path) -> dict[str, Any]:
    """``expect.yaml`` of a program."""
    loaded: dict[str, Any] = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))
    return loaded


def lint(folder: Path, expect: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that a user would see."""
    command = [sys.executable, "-m", "d9mlint", "check", "--format", "json", "--no-cache", expect["entry"]]
    for requirement in expect.get("target", []):
        command += ["--target", requirement]
    if "device" in expect:
        command += ["--device", expect["device"]]
    if "args" in expect:
        command += ["--", *expect["args"]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{folder.name}: exit {done.returncode}: {done.stderr}{done.stdout}")
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


def marker_line(folder: Path, file: str, marker: str) -> int:
    """The line that ends in ``# <- MARKER``."""
    for number, line in enumerate((folder / file).read_text(encoding="utf-8").splitlines(), 1):
        if re.search(rf"# <- {marker}\s*$", line):
            return number
    raise AssertionError(f"{folder.name}/{file}: no marker {marker}")


def score(folder: Path) -> Score:
    """Lints one program and compares."""
    expect = load(folder)
    findings = lint(folder, expect)
    left = list(findings)
    missed: list[str] = []
    for wanted in expect.get("findings", []):
        line = marker_line(folder, wanted["file"], wanted["marker"])
        hazards = {wanted["hazard"], *wanted.get("accept", [])}
        hits = [f for f in findings if f["path"] == wanted["file"] and f["line"] == line and f["hazard"] in hazards]
        if hits:
            left = [f for f in left if f not in hits]
        else:
            missed.append(f"{wanted['file']}:{line} {wanted['hazard']}")
    loud = tuple(f"{f['path']}:{f['line']} {f['rule']} {f['message']}" for f in left if f["severity"] != "info")
    alarms, extra = (loud, ()) if expect["kind"] == "clean" else ((), loud)
    return Score(folder.name, expect["kind"], len(expect.get("findings", [])), tuple(missed), alarms, extra)


def all_scores() -> list[Score]:
    """Every program, in order of name."""
    folders = sorted(p.parent for p in HERE.glob("*/expect.yaml"))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(score, folders))


if __name__ == "__main__":
    scores = all_scores()
    for one in scores:
        for text in one.missed:
            print(f"MISSED {one.name}: {text}")
        for text in one.alarms:
            print(f"ALARM  {one.name}: {text}")
        for text in one.extra:
            print(f"extra  {one.name}: {text}")
    defects = [s for s in scores if s.kind == "defect"]
    clean = [s for s in scores if s.kind == "clean"]
    wanted = sum(s.expected for s in defects)
    found = wanted - sum(len(s.missed) for s in defects)
    print(f"found {found} of {wanted} expected findings in {len(defects)} defect programs")
    print(f"silent on {sum(not s.alarms for s in clean)} of {len(clean)} clean programs")
