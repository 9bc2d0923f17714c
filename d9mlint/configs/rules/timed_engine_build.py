"""timed-engine-build: ``trtexec`` builds an engine without a file for its timings.

Source: NVIDIA/TensorRT samples/common/sampleOptions.cpp (trtexec --help: --timingCacheFile, --loadEngine).
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.rules._drafts import command_finding, has_option, is_known
from d9mlint.configs.told import Start
from d9mlint.model import Finding, Rule, Target

_MODELS = ("--onnx", "--uff", "--deploy", "--model")
_REMEDY = (
    "build once with `--saveEngine=model.plan` and load that, or keep the timings: `--timingCacheFile=timing.cache`"
)


def check_start(start: Start, rule: Rule, target: Target) -> Iterator[Finding]:
    """At each build."""
    builds = start.program and start.script == "trtexec" and has_option(start, *_MODELS) and is_known(start)
    if builds and not has_option(start, "--timingCacheFile", "--loadEngine"):
        yield command_finding(rule, start, _REMEDY, name="trtexec")
