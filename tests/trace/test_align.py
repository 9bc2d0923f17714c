"""Where two recordings part, from events written by hand: what is matched with what, and what is called the cause."""

from __future__ import annotations

from typing import Any

from d9mlint.model import Culprit
from d9mlint.trace.explain import culprits
from d9mlint.trace.recording import Event, Recording


def recording(*lines: tuple[Any, ...], worker: tuple[tuple[Any, ...], ...] = ()) -> Recording:
    """Of events as (kind, line, fields ...), numbered from 1; a line is of the main thread unless it is a pair."""
    return Recording(started=True, end="exit", events=(("main", _events(lines)), ("worker-1", _events(worker))))


def _events(lines: tuple[tuple[Any, ...], ...]) -> tuple[Event, ...]:
    found = []
    for number, (kind, line, *fields) in enumerate(lines, 1):
        thread, at = line if isinstance(line, tuple) else ("main", line)
        found.append(Event(number, kind, thread, ("/p/train.py", at, "main"), tuple(fields)))
    return tuple(found)


def op(
    line: Any, name: str, ins: list[tuple[str, int]], outs: list[str], kind: str = "op", **more: Any
) -> tuple[Any, ...]:
    """``ins``: digests, each with the number of the event that wrote it."""
    described = [[text, "float32", [2], writer] for text, writer in ins]
    scalars, generator = more.get("scalars", ""), more.get("generator", [])
    return (
        "op",
        line,
        kind,
        name,
        more.get("direction", "forward"),
        scalars,
        described,
        outs,
        generator,
        more.get("bag", ""),
    )


def only(one: Recording, other: Recording) -> Culprit:
    (found,) = culprits(one, other)
    assert culprits(one, one) == ()
    return found


def test_equal_recordings_have_no_culprit() -> None:
    one = recording(op(1, "a", [], ["x"]), op(2, "b", [("x", 1)], ["y"]))
    assert culprits(one, one) == ()


def test_the_first_op_with_equal_inputs_and_different_outputs() -> None:
    one = recording(op(1, "a", [], ["x"]), op(2, "b", [("x", 1)], ["y"]), op(3, "c", [("y", 2)], ["z"]))
    other = recording(op(1, "a", [], ["x"]), op(2, "b", [("x", 1)], ["Y"]), op(3, "c", [("Y", 2)], ["Z"]))
    found = only(one, other)
    assert (found.line, found.op, found.kind, found.inputs) == (2, "b", "op", "float32 [2] equal")


def test_two_ops_that_differ_by_themselves_are_both_told() -> None:
    one = recording(op(1, "a", [], ["x"]), op(2, "b", [], ["y"]))
    other = recording(op(1, "a", [], ["X"]), op(2, "b", [], ["Y"]))
    assert [found.line for found in culprits(one, other)] == [1, 2]


def test_ops_are_matched_by_line_and_count_not_by_position() -> None:
    one = recording(op(1, "a", [], ["x"]), op(5, "b", [("x", 1)], ["y"]))
    other = recording(op(9, "log", [], ["1"]), op(1, "a", [], ["x"]), op(5, "b", [("x", 2)], ["Y"]))
    assert only(one, other).line == 5


def test_what_nobody_reads_of_a_result_does_not_count() -> None:
    """A workspace, half of which is never filled: the op that takes it gives the same."""
    one = recording(op(1, "lstm", [], ["out", "w"]), op(2, "backward", [("w", 1)], ["g"]))
    other = recording(op(1, "lstm", [], ["out", "W"]), op(2, "backward", [("W", 1)], ["g"]))
    assert culprits(one, other) == ()


def test_what_has_no_digest_is_taken_to_be_equal() -> None:
    one = recording(op(1, "sparse", [("?", 0)], ["?"]))
    assert culprits(one, recording(op(1, "sparse", [("x", 0)], ["y"]))) == ()


def test_memory_that_nothing_has_written() -> None:
    one = recording(op(1, "aten.empty", [], [], "empty"), op(4, "add", [("x", -1)], ["y"]))
    other = recording(op(1, "aten.empty", [], [], "empty"), op(4, "add", [("X", -1)], ["Y"]))
    found = only(one, other)
    assert (found.line, found.kind) == (1, "memory")
    assert "`add` on line 4 reads memory that nothing has written" in found.note


def test_a_draw_that_nothing_seeds() -> None:
    one = recording(
        op(3, "randn", [], ["x"], generator=["torch", "s", "1"]), ("seed", 8, "torch", "torch.manual_seed", "d", "0")
    )
    other = recording(
        op(3, "randn", [], ["X"], generator=["torch", "S", "2"]), ("seed", 8, "torch", "torch.manual_seed", "d", "0")
    )
    found = only(one, other)
    assert (found.line, found.kind) == (3, "draw")
    assert found.note.endswith("which is not seeded: it is seeded later, on line 8")


def test_a_seed_from_the_clock_is_named_where_the_clock_is_read() -> None:
    def run(number: str) -> Recording:
        return recording(
            ("source", 2, "time", "time.time", number, "", number), ("seed", 5, "torch", "torch.manual_seed", number, number),
            op(7, "randn", [], [number], generator=["torch", number, number]),
        )  # fmt: skip

    found = only(run("1"), run("2"))
    assert (found.line, found.kind, found.op) == (2, "time", "time.time")
    assert "`torch.manual_seed` on line 5 takes it for a seed" in found.note


def test_a_seed_without_an_explanation_is_external() -> None:
    def run(number: str) -> Recording:
        return recording(
            ("seed", 5, "torch", "torch.manual_seed", number, number),
            op(7, "randn", [], [number], generator=["torch", number, number]),
        )

    assert (only(run("1"), run("2")).line, only(run("1"), run("2")).kind) == (5, "external")


def test_a_tensor_made_of_a_draw_of_numpy() -> None:
    def run(number: str) -> Recording:
        return recording(
            ("source", 1, "time", "time.time", number, "", number),
            ("draw", 4, "numpy", "numpy.random.rand", number),
            op(6, "torch.from_numpy", [(number, 0)], [number], "entry", bag=number),
        )

    found = only(run("1"), run("2"))
    assert (found.line, found.kind) == (4, "draw")
    assert "NumPy's global generator, which is not seeded" in found.note


def test_a_clock_that_is_read_for_a_log_is_not_the_cause() -> None:
    def run(number: str) -> Recording:
        return recording(
            ("source", 1, "time", "time.time", number, "", number),
            op(6, "aten.lift_fresh", [(number, 0)], [number], "entry", bag="same"),
        )

    found = only(run("1"), run("2"))
    assert (found.line, found.kind) == (6, "order")


def test_a_listing_in_another_order_counts_and_other_names_do_not() -> None:
    def run(number: str, bag: str) -> Recording:
        return recording(
            ("source", 3, "listing", "os.listdir", number, bag, ""),
            op(6, "aten.lift_fresh", [(number, 0)], [number], "entry", bag=number),
        )

    assert only(run("1", "same"), run("2", "same")).line == 3
    assert only(run("1", "1"), run("2", "2")).line == 6


def test_a_worker_that_draws() -> None:
    def run(number: str) -> Recording:
        batch = op(9, "a batch of the loader's workers", [(number, 0)], [number], "entry", bag=number)
        return recording(batch, worker=(("draw", 4, "numpy", "numpy.random.rand", number),))

    found = only(run("1"), run("2"))
    assert (found.line, found.kind) == (4, "draw")
    assert "reaches the program in a batch of the loader's workers" in found.note


def test_threads_that_come_in_another_order() -> None:
    one = recording(
        op(("t1", 5), "add_", [("0", 0), ("a", 0)], ["a"]), op(("t2", 5), "add_", [("a", 1), ("b", 0)], ["ab"]),
        op(8, "mean", [("ab", 2)], ["m"]),
    )  # fmt: skip
    other = recording(
        op(("t2", 5), "add_", [("0", 0), ("b", 0)], ["b"]), op(("t1", 5), "add_", [("b", 1), ("a", 0)], ["ba"]),
        op(8, "mean", [("ba", 2)], ["M"]),
    )  # fmt: skip
    found = only(one, other)
    assert (found.line, found.kind) == (5, "order")


def test_threads_that_do_the_same_in_another_order_are_equal() -> None:
    first, second = op(("t1", 5), "f", [("a", 0)], ["x"]), op(("t2", 5), "f", [("b", 0)], ["y"])
    assert culprits(recording(first, second), recording(second, first)) == ()


def test_another_way_through_the_program() -> None:
    found = only(recording(op(1, "a", [], ["x"]), op(2, "b", [], ["y"])), recording(op(1, "a", [], ["x"])))
    assert (found.line, found.kind) == (2, "external")
    assert "only one of the runs comes here" in found.note
