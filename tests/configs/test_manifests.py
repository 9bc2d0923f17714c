"""Kubernetes manifests: which script a container starts, with which environment and arguments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.configs.test_launchers import started, told

JOB = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: common}
data:
  NCCL_ALGO: Ring
  TF_A: "0"
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Master:
      template:
        spec:
          containers:
            - name: pytorch
              image: x
              workingDir: /workspace/src
              envFrom:
                - configMapRef: {name: common}
                - secretRef: {name: hidden}
              env:
                - name: TF_A
                  value: "1"
                - {name: SEED, value: "3"}
                - {name: TF_B, valueFrom: {secretKeyRef: {name: a, key: b}}}
                - {name: TF_C, value: "$(SEED)0"}
              command: [python, train.py]
              args: ["--seed", "$(SEED)", "--b=$(TF_B)", "$(date)", "$$(SEED)"]
"""


def test_a_job_with_a_template() -> None:
    (start,) = started("k8s/job.yaml", JOB)
    script, environment, arguments = told(start)
    assert script == "train.py"
    assert environment == {"NCCL_ALGO": "Ring", "TF_A": "1", "SEED": "3", "TF_B": None, "TF_C": "30"}
    assert arguments == ["--seed", "3", "--b=$(TF_B)", "$(date)", "$(SEED)"]
    assert [argument.known for argument in start.arguments] == [True, True, False, True, True]
    assert start.folder == "workspace/src"
    assert (start.location.line, start.environment["TF_A"].location.line) == (28, 23)


def pod(container: str) -> str:
    return f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {{name: a, {container}}}\n"


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ('command: [bash, -c, "export A=1; python train.py --x"]', ("train.py", {"A": "1"}, ["--x"])),
        ('command: [bash, -c], args: ["python train.py"]', ("train.py", {}, [])),
        ("args: [torchrun, --nproc_per_node=2, train.py, --x]", ("train.py", {}, ["--x"])),
        ("args: [train.py]", ("train.py", {}, [])),
        ("args: [--python, 3]", None),
        ("command: python train.py", None),  # no list: Kubernetes refuses it
        ("image: python.py", None),
    ],
)
def test_commands(container: str, found: tuple[str, dict[str, str], list[str]] | None) -> None:
    assert [told(start) for start in started("pod.yml", pod(container))] == ([found] if found else [])


@pytest.mark.parametrize(
    "text",
    [
        "containers: [{command: [python, train.py]}]",  # no object of Kubernetes
        "apiVersion: v1\nkind: Pod\ncontainers: {{ .Values.python }}",
        "apiVersion: v1\nkind: Pod\ncontainers: &a [*a]\npython: 3",
        "apiVersion: v1\nkind: Pod\ncontainers: [3, null, {env: [3, {name: 4}], command: [[python]]}]",
    ],
)
def test_what_is_no_pod_starts_nothing(text: str) -> None:
    assert started("pod.yml", text) == []


@given(st.text(alphabet="ab:-{}[]&*\n python", max_size=80))
def test_any_text_is_read(text: str) -> None:
    started("pod.yml", f"apiVersion: v1\nkind: Pod\ncontainers: {text}\n- python: a.py\n")
