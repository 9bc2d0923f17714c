"""Remedies for engines of TensorRT that are built by timing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_BUILD = """
import tensorrt as trt

def build(logger):
    builder = trt.Builder(logger)
    {setting}
    config = builder.create_builder_config()
    return builder.build_engine(builder.create_network(0), config)

engine = build(trt.Logger())
{after}
"""
_SAVED = 'with open("model.plan", "wb") as file:\n    file.write(engine.serialize())'


@pytest.mark.parametrize(
    ("setting", "after", "load", "cache"),
    [
        ("pass", "engine.create_execution_context()", False, True),
        ("pass", _SAVED, True, True),
        ("builder.fp16_mode = True", "engine.create_execution_context()", False, False),
        ("builder.fp16_mode = True", _SAVED, True, False),
    ],
)
def test_the_remedy_fits_the_release_and_what_is_saved(
    d9mlint: Callable[..., Any], setting: str, after: str, load: bool, cache: bool
) -> None:
    Path("build.py").write_text(_BUILD.format(setting=setting, after=after))
    (finding,) = d9mlint("build.py", "--format", "json", "--select", "timed-engine-build").json["findings"]
    remedy = finding["remedy"]
    assert (remedy.startswith("load the engine that is saved here"), "timing_cache" in remedy) == (load, cache)
    assert ("save the serialized engine" in remedy) is not load
