"""Coroutines: which functions wait for something, and which calls of them are over at once."""

from __future__ import annotations

import libcst as cst
import pytest

from d9mlint.python.source import facts as f
from d9mlint.python.source.lowering import lower


def first(text: str) -> f.Stmt:
    return lower(cst.parse_module(text))[0]


@pytest.mark.parametrize(
    ("text", "coroutine"),
    [
        ("async def work():\n    await wait()\n", True),
        ("async def work():\n    async with lock:\n        pass\n", True),
        ("async def work():\n    async for x in xs:\n        pass\n", True),
        ("async def work():\n    return 1\n", False),  # it runs to its end at once
        ("def work():\n    with lock:\n        pass\n", False),
        ("async def work():\n    async def inner():\n        await wait()\n    return inner\n", False),
    ],
)
def test_a_function_lets_others_go_on_where_it_waits(text: str, coroutine: bool) -> None:
    made = first(text)
    assert isinstance(made, f.Def)
    assert made.coroutine is coroutine


@pytest.mark.parametrize(
    ("text", "awaited"),
    [
        ("work()\n", False),
        ("asyncio.run(work())\n", True),
        ("loop.run_until_complete(work())\n", True),
        ("asyncio.create_task(work())\n", False),
    ],
)
def test_a_call_is_over_where_it_is_run_to_its_end(text: str, awaited: bool) -> None:
    statement = first(text)
    assert isinstance(statement, f.Evaluate)
    call = statement.value
    assert isinstance(call, f.Call)
    inner = call.args[0].value if call.args else call
    assert isinstance(inner, f.Call)
    assert inner.awaited is awaited


def test_a_call_is_over_where_it_is_waited_for() -> None:
    made = first("async def main():\n    await work()\n    work()\n")
    assert isinstance(made, f.Def)
    calls = [one.value for one in made.body if isinstance(one, f.Evaluate)]
    assert [call.awaited for call in calls if isinstance(call, f.Call)] == [True, False]
