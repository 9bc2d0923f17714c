"""Real frameworks on the CPU: ops that do vary, ops that do not, and what deterministic mode does."""

from __future__ import annotations

import os

import pytest
from support import interpreter

from d9mlint.catalogue.schema.cases import read_cases
from d9mlint.model import Evidence
from d9mlint.verify.judge import judged
from d9mlint.verify.process import SCRIPT, Child
from d9mlint.verify.run import Machine, Settings, observe, plain

pytestmark = pytest.mark.slow

TENSORFLOW = {
    "tf.image.crop_and_resize / to the image / backward / eager / float32": ("confirmed", "det-mode-fixes"),
    "tf.Variable.scatter_add / forward / eager / float32": ("confirmed", "det-mode-fixes"),
    "tf.math.bincount / with weights / forward / eager / float32": ("det-mode-leaks", "det-mode-leaks"),
    "tf.nn.conv2d / backward / function / float32": ("untested-needs-device", "not-reproduced"),
    "tf.math.segment_sum / forward / eager / float32": ("untested-needs-device", "not-reproduced"),
    "cuDNN convolution autotuning / both / eager / float32": ("untested-needs-device", "not-run"),
}
TORCH = {
    "torch.Tensor.index_put_ with accumulate=True / forward / eager / float32": ("confirmed", "det-mode-fixes"),
    "indexing a tensor with a tensor / backward / eager / float32": ("confirmed", "det-mode-fixes"),
    "torch.Tensor.put_ with accumulate=False / forward / eager / float32": ("det-mode-raises", "det-mode-raises"),
    "torch.nn.functional.max_unpool2d / forward / eager / float32": ("det-mode-raises", "det-mode-raises"),
    "torch.matmul / both / eager / float32": ("untested-needs-device", "not-reproduced"),
    "torch.nn.functional.conv2d / backward / eager / float32": ("untested-needs-device", "not-reproduced"),
    "torch.empty / forward / eager / float32": ("reads-uninitialised", "det-mode-fixes"),
    "torch.nn.functional.dropout / forward / eager / float32": ("rng-unseeded", "not-reproduced"),
}

COMPILED = {"torch.Tensor.index_add_ / forward / compiled / float32": ("confirmed", "det-mode-fixes")}
JAX = {
    "jax scatter-add / forward / jit / float32": ("untested-needs-device", "not-run"),
    "jax.lax.dot / high / both / eager / float32": ("untested-needs-device", "not-run"),
    "jax.random.normal / forward / jit / float32": ("not-reproduced", "not-run"),
}
NUMBA = {
    "numba.prange with += on an element / forward / jit / float32": ("confirmed", "not-run"),
    "numba.cuda.atomic.add / forward / jit / float32": ("untested-needs-device", "not-run"),
}
INTERPRETERS = {
    "tensorflow": "D9MLINT_TF_PYTHON", "torch": "D9MLINT_TORCH_PYTHON", "jax": "D9MLINT_JAX_PYTHON",
    "numba": "D9MLINT_NUMBA_PYTHON",
}  # fmt: skip


def evidence(framework: str, python: str, keys: set[str], **more: object) -> dict[str, Evidence]:
    cases = [case for one in read_cases() for case in one.cases if case.framework == framework and case.key in keys]
    assert {case.key for case in cases} == keys
    with Machine(framework, Settings((python, str(SCRIPT)), "cpu", runs=40, timeout=200, **more)) as machine:
        return {seen.case.key: judged(seen) for seen in observe(cases, machine)}


@pytest.mark.parametrize(
    ("framework", "wanted"),
    [("tensorflow", TENSORFLOW), ("torch", TORCH), ("torch", COMPILED), ("jax", JAX), ("numba", NUMBA)],
    ids=["tensorflow", "torch", "torch.compile", "jax", "numba"],
)
def test_verdicts(framework: str, wanted: dict[str, tuple[str, str]]) -> None:
    found = evidence(framework, interpreter(framework, INTERPRETERS[framework]), set(wanted))
    assert {key: (one.verdict, one.deterministic_mode) for key, one in found.items()} == wanted
    for one in found.values():
        racing = any(tally.bound is not None for tally in one.tallies)
        assert (one.bound is not None) == (one.distinct == 1 and racing)
        if one.verdict == "confirmed":
            assert one.max_ulp
            assert one.max_relative
            many = next(tally for tally in one.tallies if tally.threads == 16)
            assert many.differing > many.runs / 2
            assert next(tally for tally in one.tallies if tally.threads == 1).differing == 0
            assert (one.overhead is None) == (one.deterministic_mode == "not-run")


@pytest.mark.parametrize(("framework", "wanted"), [("tensorflow", TENSORFLOW), ("torch", TORCH)])
def test_verdicts_are_the_same_by_the_hash_of_the_device(framework: str, wanted: dict[str, tuple[str, str]]) -> None:
    python = interpreter(framework, INTERPRETERS[framework])
    found = evidence(framework, python, set(wanted), hash="device")
    assert {key: (one.verdict, one.deterministic_mode) for key, one in found.items()} == wanted


@pytest.mark.parametrize("framework", INTERPRETERS)
def test_every_case_can_be_executed(framework: str) -> None:
    """Adding an op is its entry and its case: this is what tests the case."""
    command = (interpreter(framework, INTERPRETERS[framework]), str(SCRIPT))
    start = {"do": "start", "framework": framework, "threads": 1, "mode": "default", "device": "cpu"}
    failed = {}
    with Child(command, {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}, 2**33) as child:
        assert "versions" in child.ask(start, 180)
        for case in (case for one in read_cases() for case in one.cases):
            if case.framework == framework and "cpu" in case.devices and case.execution != "compiled":
                answer = child.ask({"do": "observe", "case": plain(case, "cpu"), "runs": 2, "seconds": 0.1}, 120)
                if "raised" in answer or not answer["elements"] or answer["nan"] > answer["elements"] / 2:
                    failed[case.key] = answer
    assert not failed
