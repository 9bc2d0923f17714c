"""Scores d9mlint on the programs of ``tests/projects``: what must be found, and what must not be reported.

Run as a script for the tables; ``--write-missed`` records in ``projects/reports/missed.yaml`` which reports are missed,
alarmed falsely or not checked at present, and keeps the reasons written by hand. ``test_projects.py`` holds d9mlint to it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from d9mlint.app import Options, check
from d9mlint.catalogue import load as load_catalogue
from d9mlint.model import UsageError
from d9mlint.report import render

HERE = Path(__file__).parent / "projects"
REPORTS = HERE / "reports"
MISSED = REPORTS / "missed.yaml"
SECTIONS = ("missed", "false-alarms", "unchecked")
GENERATED = "at present: "
"""How a reason begins that nobody has written by hand."""

Place = tuple[str, int, int]
"""A file, a line, and the cell of a notebook that the line is counted in; 0: the line is that of the file."""


@dataclass(frozen=True)
class Score:
    """One program: the expected findings that were missed, and findings of a clean one that are warnings or worse."""

    name: str
    kind: str
    framework: str
    """What the program is about: the first name in its requirements."""
    hazards: tuple[str, ...]
    """Those of the expected findings."""
    missed: tuple[str, ...]
    missed_hazards: tuple[str, ...]
    alarms: tuple[str, ...]
    extra: tuple[str, ...]
    unchecked: tuple[str, ...]
    """Why d9mlint did not check the program, or a file of it."""


def _read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def load(folder: Path) -> dict[str, Any]:
    """``expect.yaml`` of a program."""
    loaded: dict[str, Any] = _read(folder / "expect.yaml")
    return loaded


def folders() -> list[Path]:
    """The programs written from the facts, in order of name."""
    return sorted(p.parent for p in HERE.glob("*/expect.yaml"))


def report_folders() -> list[Path]:
    """The programs written from bug reports, each with its cured twin."""
    return sorted(p.parent for p in REPORTS.glob("*/*/expect.yaml"))


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def lint(folder: Path, expect: dict[str, Any]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The findings that a user would see who runs d9mlint in the folder, and what was not checked.

    All in this process: a process for each of hundreds of programs would take most of the time to start.
    """
    options = Options(
        paths=(Path(expect["entry"]),),
        target=tuple(expect.get("target", ())),
        device=expect.get("device"),
        argv=tuple(expect["args"]) if "args" in expect else None,
        jobs=1,
    )
    with _inside(folder):
        try:
            shown = json.loads(render(check(options).report, "json"))
        except UsageError as error:
            return [], (str(error),)
    return shown["findings"], tuple(f"{one['path']}: {one['reason']}" for one in shown["unchecked"])


def marked(folder: Path, file: str, marker: str) -> list[Place]:
    """Where the line stands that ends in ``# <- MARKER``; for a notebook also the line in its cell."""
    text = (folder / file).read_text(encoding="utf-8")
    # In a notebook the line is a JSON string, perhaps with an escaped newline and a comma after it.
    end = re.compile(rf'# <- {marker}(?:(?:\\n)?",?)?\s*$')
    lines = [number for number, line in enumerate(text.splitlines(), 1) if end.search(line)]
    if len(lines) != 1:
        raise AssertionError(f"{folder}/{file}: {len(lines)} lines are marked {marker}")
    found = [(file, lines[0], 0)]
    if file.endswith(".ipynb"):
        for cell, content in enumerate(json.loads(text)["cells"], 1):
            found += [(file, n, cell) for n, line in enumerate(content["source"], 1) if end.search(line.rstrip("\n"))]
    return found


def places(folder: Path, wanted: dict[str, Any]) -> list[Place]:
    """Where a finding may stand: at ``line``, or at any of the markers; a marker in another file is ``FILE:MARKER``."""
    if "line" in wanted:
        return [(wanted["file"], wanted["line"], 0)]
    found: list[Place] = []
    for marker in wanted["marker"] if isinstance(wanted["marker"], list) else [wanted["marker"]]:
        file, _, name = marker.rpartition(":")
        found += marked(folder, file or wanted["file"], name)
    return found


def told(finding: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """The places of a finding, each with its hazard: its own, and those of findings of the same cause."""
    rules = load_catalogue().rules
    yield (finding["path"], finding["line"], finding.get("cell") or 0), finding["hazard"]
    for place in finding["related"]:
        if "rule" in place:
            yield (place["path"], place["line"], place.get("cell") or 0), rules[place["rule"]].hazard


def _framework(folder: Path) -> str:
    requirements = folder / "requirements.txt"
    words = re.findall(r"^[\w-]+", requirements.read_text(encoding="utf-8")) if requirements.exists() else []
    return words[0] if words else "python"


def score(folder: Path) -> Score:
    """Lints one program and compares."""
    expect = load(folder)
    findings, unchecked = lint(folder, expect)
    left = list(findings)
    wanted_findings = expect.get("findings", [])
    missed: list[tuple[str, str]] = []
    for wanted in wanted_findings:
        spots = places(folder, wanted)
        hazards = {wanted["hazard"], *wanted.get("accept", [])}
        hits = [f for f in findings if any(place in spots and hazard in hazards for place, hazard in told(f))]
        if hits:
            left = [f for f in left if f not in hits]
        else:
            missed.append((f"{spots[0][0]}:{spots[0][1]} {wanted['hazard']}", wanted["hazard"]))
    loud = tuple(f"{f['path']}:{f['line']} {f['rule']} {f['message']}" for f in left if f["severity"] != "info")
    clean = expect["kind"] == "clean"
    return Score(
        name=str(folder.relative_to(HERE).as_posix()),
        kind=expect["kind"],
        framework=_framework(folder),
        hazards=tuple(w["hazard"] for w in wanted_findings),
        missed=tuple(text for text, _ in missed),
        missed_hazards=tuple(hazard for _, hazard in missed),
        alarms=loud if clean else (),
        extra=() if clean else loud,
        unchecked=unchecked,
    )


def slug(name: str) -> str:
    """The report that a program belongs to: ``reports/SLUG/cured`` -> ``SLUG``."""
    return name.split("/")[1]


def load_missed() -> dict[str, dict[str, str]]:
    """Which reports are known to be missed, alarmed falsely or not checked: section -> slug -> why."""
    loaded = (_read(MISSED) if MISSED.exists() else None) or {}
    return {section: loaded.get(section) or {} for section in SECTIONS}


def known(scores: Sequence[Score], before: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """What ``missed.yaml`` has to say after these scores; reasons written by hand in ``before`` stay."""
    now: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for one in scores:
        if one.kind == "defect" and one.missed:
            now["missed"][slug(one.name)] = "; ".join((*one.missed, *one.unchecked))
        if one.kind == "clean" and one.alarms:
            now["false-alarms"][slug(one.name)] = "; ".join(one.alarms)
        if one.kind == "clean" and one.unchecked:
            now["unchecked"][slug(one.name)] = "; ".join(one.unchecked)
    for section, entries in now.items():
        for name, why in entries.items():
            old = before[section].get(name, GENERATED)
            entries[name] = GENERATED + why if old.startswith(GENERATED) else old
    return now


def write_missed(scores: Sequence[Score]) -> None:
    """Writes ``missed.yaml`` anew."""
    head = (
        "# What d9mlint does not yet do right on the reports: slug -> why. Each entry is a test that fails the day it no\n"
        "# longer holds. Written by `python -m tests.projects_score --write-missed`, which keeps reasons that do not begin\n"
        f"# with {GENERATED.strip()!r}.\n"
    )
    body = yaml.safe_dump(known(scores, load_missed()), sort_keys=False, allow_unicode=True, width=118)
    MISSED.write_text(head + body, encoding="utf-8")


def _table(title: str, wanted: Counter[str], missed: Counter[str]) -> None:
    print(f"\n{title:28} found  wanted")
    for name in sorted(wanted):
        print(f"{name:28} {wanted[name] - missed[name]:5} {wanted[name]:7}")


def show(title: str, scores: Sequence[Score]) -> None:
    """Prints what was missed and alarmed, then the figures."""
    for one in scores:
        for text in one.missed:
            print(f"MISSED {one.name}: {text}")
        for text in one.alarms:
            print(f"ALARM  {one.name}: {text}")
        for text in one.extra:
            print(f"extra  {one.name}: {text}")
        for text in one.unchecked:
            print(f"UNCHECKED {one.name}: {text}")
    defects = [s for s in scores if s.kind == "defect"]
    clean = [s for s in scores if s.kind == "clean"]
    hazards = Counter(h for s in defects for h in s.hazards)
    missed = Counter(h for s in defects for h in s.missed_hazards)
    _table("hazard", hazards, missed)
    _table(
        "framework",
        Counter(s.framework for s in defects for _ in s.hazards),
        Counter(s.framework for s in defects for _ in s.missed),
    )
    print(f"\n{title}: found {hazards.total() - missed.total()} of {hazards.total()} expected findings, ", end="")
    print(f"all of them in {sum(not s.missed for s in defects)} of {len(defects)} defect programs")
    print(f"{title}: silent on {sum(not s.alarms and not s.unchecked for s in clean)} of {len(clean)} clean programs")
    print(
        f"{title}: {sum(bool(s.alarms) for s in clean)} with alarms, {sum(bool(s.unchecked) for s in clean)} unchecked"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=("facts", "reports"), help="one of the two corpora")
    parser.add_argument("--write-missed", action="store_true", help="write projects/reports/missed.yaml anew")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # not the user's
        if args.only != "reports":
            show("facts", [score(folder) for folder in folders()])
        if args.only != "facts":
            reports = [score(folder) for folder in report_folders()]
            show("reports", reports)
            if args.write_missed:
                write_missed(reports)


if __name__ == "__main__":
    main()
