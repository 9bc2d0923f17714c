"""Writes the project's evidence about this machine: one file under rules/evidence/, made by `d9mlint verify` itself.

    python benchmarks/evidence.py --python TF_ENV/bin/python --python TORCH_ENV/bin/python [--note TEXT]
    python benchmarks/evidence.py --join RECORD.json RECORD.json [...] [--note TEXT]

Executes every case of the catalogue for each framework that one of the interpreters has (the first that has it), on the
GPU where there is one, else on the CPU. The file is named after the device, says CPU or GPU, the machine, the driver,
all versions and the date, and holds no path of the machine. `d9mlint rules docs` then puts it into the README. With
``--join`` nothing is executed: what `d9mlint verify --record` wrote in parts, on a machine that is there for minutes
only, becomes that one file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from d9mlint.app.verify.ops import Verifying, verify  # noqa: E402
from d9mlint.app.verify.plan import VerifyOptions, planned  # noqa: E402
from d9mlint.cli.verify import FRAMEWORKS  # noqa: E402
from d9mlint.model import Case, Evidence, EvidenceReport  # noqa: E402
from d9mlint.model.evidence import OUTCOMES  # noqa: E402
from d9mlint.report.evidence.record import record  # noqa: E402
from d9mlint.report.json_ import Json, dump  # noqa: E402

_PATH = re.compile(r"(?<![\w:/])/(?:[\w.+-]+/)+(?=[\w.+-])")
_CASE = ("op", "case", "direction", "execution", "dtype")
"""What tells the cases of a framework apart in a report."""
_DRIVER = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]


def found_frameworks(interpreters: Sequence[str]) -> dict[str, str]:
    """The interpreter for each framework that one of them has; nothing is imported."""
    found: dict[str, str] = {}
    for interpreter in interpreters:
        code = f"import importlib.util as u; print(*(n for n in {FRAMEWORKS!r} if u.find_spec(n)))"
        done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=True)
        for name in done.stdout.split():
            found.setdefault(name, interpreter)
    return found


class _Lines:
    """Says which case is under way."""

    def begin(self, case: Case) -> None:
        print(f"  {case.key}", file=sys.stderr, flush=True)

    def end(self) -> None:
        pass


def executed(framework: str, interpreter: str, device: str, runs: int) -> EvidenceReport:
    """All cases of one framework; what cannot be executed is told in the report."""
    asked = VerifyOptions(all=True, framework=framework, device=device, runs=runs, python=interpreter)
    plan = planned(asked)
    state = verify(Verifying(plan), asked, _Lines())
    report = state.report()
    if report.unfinished:
        sys.exit(f"stopped: {report.stopped}")
    return report


def merged(reports: Sequence[EvidenceReport]) -> EvidenceReport:
    """One report about the machine, gravest first, without paths."""
    evidence = sorted((one for r in reports for one in r.evidence), key=lambda one: one.gravity)
    environment = {key: value for report in reports for key, value in report.environment.items()}
    unexecuted = tuple(one for report in reports for one in report.unexecuted)
    return EvidenceReport(tuple(map(_without_paths, evidence)), environment, unexecuted)


def _without_paths(one: Evidence) -> Evidence:
    """Messages of frameworks name their files: the last part is enough."""
    return one._replace(note=_PATH.sub("", one.note), raised=_PATH.sub("", one.raised))


def with_driver(report: EvidenceReport) -> EvidenceReport:
    """With the version of the GPU driver, where the frameworks did not tell it."""
    environment = dict(report.environment)
    for name, facts in environment.items():
        if isinstance(facts, dict) and facts.get("gpus") and "driver" not in facts["versions"]:
            done = subprocess.run(_DRIVER, capture_output=True, text=True, check=True)
            driver = done.stdout.split()[0]
            environment[name] = {**facts, "versions": {**facts["versions"], "driver": driver}}
    return report._replace(environment=environment)


def joined(parts: Sequence[Json], note: str) -> Json:
    """Recorded reports about one machine as one; of a case that several have, the first counts.

    Cases that none has come to are told as not executed.
    """
    machines = {f"{part['environment']['cpu']}, {part['environment']['cores']} cores" for part in parts}
    if len(machines) != 1:
        sys.exit(f"records of one machine are wanted, found: {'; '.join(sorted(machines))}")
    seen: dict[str, Json] = {}
    left: dict[str, Json] = {}
    for part in parts:
        for one in filter(itemgetter("device"), part["evidence"]):
            texts = {key: _PATH.sub("", one[key]) for key in ("note", "raised")}
            seen.setdefault(" / ".join(one[key] for key in _CASE if one[key]), {**one, **texts})
        left.update((one["op"], one) for one in (*part["unexecuted"], *part["unfinished"]))
    evidence = sorted(seen.values(), key=lambda one: (OUTCOMES.index(one["verdict"]), -one["differing"] / one["runs"]))
    environment = {key: facts for part in parts for key, facts in part["environment"].items()}
    whole = {"partial": False, "stopped": None, "unfinished": [], **({"note": note} if note else {})}
    unexecuted = [left[name] for name in sorted(left.keys() - seen.keys())]
    return {**parts[0], "environment": environment, "evidence": evidence, "unexecuted": unexecuted, **whole}


def file_name(report: EvidenceReport) -> str:
    """``cpu-intel-xeon-processor-2-cores.json``, ``gpu-nvidia-h200.json``."""
    return named({one.device for one in report.evidence if one.device}, report.environment)


def named(seen: Collection[str], environment: Mapping[str, Any]) -> str:
    """The name of the file about what was seen on a kind of device."""
    devices = sorted(seen)
    if len(devices) != 1:
        sys.exit(f"evidence of one kind of device is wanted, found: {', '.join(devices) or 'none'}")
    gpus = [gpu for facts in environment.values() if isinstance(facts, dict) for gpu in facts["gpus"]]
    machine = gpus[0] if devices == ["gpu"] else f"{environment['cpu']} {environment['cores']} cores"
    words = re.findall(r"[a-z0-9.]+", re.sub(r"\((?:r|tm)\)", "", machine.lower()))
    return "-".join([*devices, *words]) + ".json"


def main() -> None:
    """Executes everything and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter with frameworks (default: this)")
    parser.add_argument("--framework", action="append", default=[], choices=FRAMEWORKS, help="only these")
    parser.add_argument("--device", choices=("auto", "gpu", "cpu"), default="auto")
    parser.add_argument("--runs", type=int, default=50, help="runs of a case in each process")
    parser.add_argument("--note", default="", help="what else should be known of the machine at that time")
    parser.add_argument("--folder", type=Path, default=ROOT / "rules" / "evidence")
    parser.add_argument("--join", nargs="+", type=Path, help="records to put together instead")
    asked = parser.parse_args()
    if asked.join:
        whole = joined([json.loads(one.read_text(encoding="utf-8")) for one in asked.join], asked.note)
        path = asked.folder / named({one["device"] for one in whole["evidence"]}, whole["environment"])
        path.write_text(dump(whole), encoding="utf-8")
        print(f"wrote {path.name}: {len(whole['evidence'])} verdicts")
        return
    frameworks = found_frameworks(asked.python or [sys.executable])
    chosen = [name for name in FRAMEWORKS if name in frameworks and (not asked.framework or name in asked.framework)]
    if not chosen:
        sys.exit("no framework found: name interpreters that have some with --python")
    reports = [executed(name, frameworks[name], asked.device, asked.runs) for name in chosen]
    report = with_driver(merged(reports))
    path = asked.folder / file_name(report)
    path.write_text(record(report, note=asked.note), encoding="utf-8")
    print(f"wrote {path.name}: {len(report.evidence)} verdicts of {', '.join(chosen)}")


if __name__ == "__main__":
    main()
