"""A manifest of Kubernetes beside a program is one of its launchers."""

from __future__ import annotations

from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: train
    env:
    - name: PYTHONHASHSEED
      value: random
    command: [python, train.py]
    args: ["--seed", "1"]
"""


def test_findings_point_into_the_manifest_and_arguments_can_be_taken_from_it(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("k8s").mkdir()
    Path("k8s/pod.yaml").write_text(POD)
    Path("train.py").write_text(
        "import argparse, random\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int)\n"
        "args = parser.parse_args()\nif args.seed is not None:\n    random.seed(args.seed)\nprint(random.random())\n"
    )
    report = d9mlint(".", "--format", "json").json
    found = [(f["rule"], f["path"], f["line"]) for f in report["findings"]]
    assert found == [("hash-seed-value", "k8s/pod.yaml", 7), ("unseeded-python", "train.py", 8)]
    given = d9mlint(".", "--launcher", "k8s/pod.yaml", "--format", "json").json
    assert [f["rule"] for f in given["findings"]] == ["hash-seed-value"]
