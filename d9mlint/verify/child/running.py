"""Runs a case again and again, and times it."""

from __future__ import annotations

import hashlib
import json
import linecache
import math
import time
import zlib
from typing import TYPE_CHECKING, Any

from . import making, places
from .comparing import distance, oddities, size
from .frameworks.base import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from .frameworks.base import Json, Output

FEWEST = 5
"""Runs that are made even if the time for a case is over."""
COMPARED = 8
"""Distinct results that are compared with the first, number by number."""
KEPT = 2**26
"""Bytes of results that are kept to be compared; the first is kept however large it is."""
BLOCKS = 30
"""Into which the time of a visit is cut: the shorter they are, the likelier one is left alone by the machine."""
WARM = 3
"""Runs before the clock starts: caches, autotuning, the GPU's clock rate."""


def prepared(framework: Any, case: Json) -> tuple[Callable[[], list[Any]], str]:
    """The case, ready to be called, and a hash of what its inputs are made from; the last one is kept."""
    asked = json.dumps(case, sort_keys=True)
    if framework.last is None or framework.last[0] != asked:
        framework.last = None  # its memory goes before the next one takes some
        framework.last = (asked, *_prepared(framework, case))
    return framework.last[1:]  # type: ignore[no-any-return]


def _prepared(framework: Any, case: Json) -> tuple[Callable[[], list[Any]], str]:
    scope: Json
    inputs: Json
    framework.begin(case)
    framework.reset(SEED)
    if case.get("file"):
        inputs, scope = making.made(framework, case)
        function = framework.function({**case, **_compiled(case)}, inputs, scope)
        return function, framework.mark(framework.parts(list(inputs.values())))
    inputs, state = {}, hashlib.blake2b(digest_size=8)
    for given in case["inputs"]:
        spec = {**given, "dtype": given["dtype"] or case["dtype"]}
        inputs[spec["name"]] = framework.tensor(spec, SEED ^ zlib.crc32((case["op"] + spec["name"]).encode()))
        state.update(json.dumps(spec, sort_keys=True).encode())
    scope = framework.names_for(compile(case["run"], "<run>", "eval"))
    if case.get("define"):
        exec(_source(case["define"]), scope)
    for name, text in case["make"].items():
        made = compile(text, "<" + name + ">", "eval")
        scope[name] = eval(made, {**scope, **inputs, **framework.names_for(made)})
    return framework.function({**case, **_compiled(case)}, inputs, scope), state.hexdigest()


def _compiled(case: Json) -> Json:
    """The expressions of a case as code."""
    targets = [compile(text, "<gradient>", "eval") for text in case["gradient"]]
    return {"code": compile(case["run"], "<run>", "eval"), "targets": targets}


def _source(text: str) -> Any:
    """Code whose text `inspect` finds: Triton compiles kernels from their text."""
    name = "<case " + hashlib.blake2b(text.encode(), digest_size=8).hexdigest() + ">"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def observed(framework: Any, case: Json, runs: int, seconds: float) -> Json:
    """Runs a case again and again, the generators reset before each run, and says how the results differ."""
    call, inputs = prepared(framework, case)
    end = math.inf
    numbers: list[int] = []
    seen: dict[str, int] = {}
    kept: list[list[Output]] = []
    room = KEPT
    for number in range(runs):
        framework.reset(SEED)
        result = call()
        end = end if number else time.monotonic() + seconds  # the first run may have compiled something
        mark = framework.mark(result)
        if mark not in seen:
            seen[mark] = len(seen)
            if len(kept) <= COMPARED and room > 0:
                kept.append([framework.output(one) for one in result])
                room -= sum(len(data) for _, data in kept[-1])
        numbers.append(seen[mark])
        if number + 1 >= FEWEST and time.monotonic() > end:
            break
    free = {framework.mark(call()) for _ in range(FEWEST)} if len(seen) == 1 else set()
    return {
        "results": numbers, "digests": list(seen), "unseeded": len(free), "inputs": inputs,
        "elements": sum(size(one) for one in kept[0]), **oddities(kept[0]), **distance(kept),
    }  # fmt: skip


def timed(framework: Any, case: Json, seconds: float) -> Json:
    """The time of a run: the shortest mean of several blocks, as many as fit into ``seconds``."""
    fresh = framework.last is None or framework.last[0] != json.dumps(case, sort_keys=True)
    call, _ = prepared(framework, case)
    places.scattered()
    framework.elapsed(call, WARM if fresh else 1)  # others have run meanwhile: caches are theirs, threads asleep
    end = time.monotonic() + seconds
    single = framework.elapsed(call, 1)
    count = max(1, min(200, int(seconds / BLOCKS / max(single, 1e-6))))
    found = [single] if count == 1 else [framework.elapsed(call, count) / count]
    while len(found) < BLOCKS and time.monotonic() < end:
        found.append(framework.elapsed(call, count) / count)
    return {"seconds": min(found)}
