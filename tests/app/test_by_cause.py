"""Findings of one cause are one finding, and nothing that was found is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from d9mlint.app.causes import by_cause
from d9mlint.model import OWN_GRAPH, RESET_GRAPH, SEVERITIES, AnyPlace, Finding, Location, Related
from d9mlint.python.judging.merging import combine


def found(
    line: int, cause: str = "", *, rule: str = "unseeded-numpy", path: str = "train.py", severity: str = "warning",
    when: tuple[str, ...] = (), entries: tuple[str, ...] = ("train.py",), remedy: str = "",
) -> Finding:  # fmt: skip
    return Finding(
        rule, "D9M102", "unseeded-rng", "algo", severity, "high", f"{rule} {line}", Location(path, line, 1, line, 5),
        remedy=remedy, when=when, entries=entries, fingerprint=f"{line:04}", cause=cause,
    )  # fmt: skip


def of_programs(line: int, cause: str, needs: Mapping[str, tuple[str, ...]], **words: Any) -> Finding:
    """A finding of several programs, each under its conditions."""
    (one,) = combine([found(line, cause, when=when, entries=(entry,), **words) for entry, when in needs.items()])
    return one


def test_what_one_seed_cures_is_one_finding_with_all_places() -> None:
    (one,) = by_cause([
        found(9, "unseeded/numpy", remedy="`np.random.seed(1)`"),
        found(3, "unseeded/torch", rule="unseeded-torch", remedy="`torch.manual_seed(1)`"),
        found(5, "unseeded/torch", rule="unseeded-shuffle", remedy="`torch.manual_seed(1)` before, or a generator",
              when=("--train is given",)),
    ])  # fmt: skip
    assert (one.rule, one.location.line, one.cause) == ("unseeded-torch", 3, "unseeded-0003")
    assert one.remedy == "call `torch.manual_seed(1)` and `np.random.seed(1)` at the start, before anything is drawn"
    assert [(r.location.line, r.rule, r.note) for r in one.related] == [
        (9, "unseeded-numpy", "unseeded-numpy 9"),
        (5, "unseeded-shuffle", "unseeded-shuffle 5 (when --train is given)"),
    ]


def test_what_cures_one_draw_is_not_told_where_others_are_left() -> None:
    remedy = "call `torch.manual_seed(1)` before, or pass a generator: `DataLoader(..., generator=made)`"
    order = found(3, "unseeded/torch", rule="unseeded-shuffle", remedy=remedy)
    weights = found(9, "unseeded/torch", rule="unseeded-torch", remedy="call `torch.manual_seed(1)` at the start")
    (one,) = by_cause([order, weights])
    assert one.remedy == "call `torch.manual_seed(1)` at the start, before anything is drawn"
    assert by_cause([order])[0].remedy == remedy
    assert by_cause([order, found(5, "unseeded/torch", rule="unseeded-shuffle", remedy=remedy)])[0].remedy == remedy


def test_the_gravest_leads_then_the_one_of_most_programs() -> None:
    both = ("a.py", "b.py")
    (one,) = by_cause([
        found(1, "determinism-switch", severity="info", entries=both),
        found(2, "determinism-switch", entries=("a.py",)),
        found(3, "determinism-switch", entries=both),
    ])  # fmt: skip
    assert (one.location.line, one.severity, one.entries) == (3, "warning", both)


def test_of_places_in_as_many_programs_the_one_that_surely_runs_in_a_script_leads() -> None:
    both = ("a.py", "b.py")
    places = [
        found(1, "unseeded/torch", path="lib.py", entries=both, when=("`labels` is given",)),
        of_programs(2, "unseeded/torch", {"a.py": ("--fast is given",), "b.py": ()}, path="lib.py"),
        found(3, "unseeded/torch", path="b.py", entries=("b.py",), when=("--noise is given",)),
    ]
    (one,) = by_cause(places)
    assert (one.location.line, [place.location.line for place in one.related]) == (2, [3, 1])
    plain = [found(line, "unseeded/torch", path=path, entries=both) for line, path in ((1, "lib.py"), (2, "b.py"))]
    assert by_cause(plain)[0].location.path == "b.py"


def test_no_example_leads_where_another_program_has_it_too() -> None:
    shared = [found(9, "determinism-switch", path="lib.py", entries=("examples/a.ipynb", "train.py"), severity="info")]
    places = [
        found(1, "determinism-switch", path="examples/a.ipynb", entries=("examples/a.ipynb",)),
        found(2, "determinism-switch", path="train.py", entries=("train.py",), when=("--gpu is given",)),
    ]
    assert by_cause([*places, *shared])[0].location.path == "train.py"
    (alone,) = by_cause([places[0], shared[0]._replace(entries=("examples/a.ipynb",))])
    assert alone.location.path == "examples/a.ipynb"


def test_of_halves_of_a_place_that_of_a_script_is_told_which_nobody_asks_for() -> None:
    def late(entry: str, draw: str, *when: str) -> Finding:
        related = (Related(Location(draw, 7, 1, 7, 5), "draws before it"),)
        seed = found(1, "late/torch", path="lib.py", entries=(entry,), when=when)
        return seed._replace(message=f"{draw} before", related=related)

    of_some = [late(f"{name}.py", "lib/sparse.py", "`bool` is true") for name in "de"]
    (one,) = by_cause([*of_some, *(late(f"{name}.py", f"{name}.py") for name in "abc")])
    assert (one.message, [place.location.path for place in one.related]) == (
        "a.py before", ["a.py", "b.py", "c.py", "lib/sparse.py"],
    )  # fmt: skip


def test_programs_that_share_no_place_have_causes_of_their_own() -> None:
    findings = [found(1, "unseeded", entries=("a.py",)), found(2, "unseeded", entries=("b.py",))]
    assert len(by_cause(findings)) == 2
    shared = found(3, "unseeded", entries=("a.py", "b.py"))
    assert len(by_cause([*findings, shared])) == 1


def test_a_notebook_and_its_script_are_one_program() -> None:
    pair = [found(1, "unseeded", path=path, entries=(path,)) for path in ("lesson/a.py", "lesson/a.ipynb")]
    (one,) = by_cause(pair)
    assert (one.entries, len(one.related)) == (("lesson/a.ipynb", "lesson/a.py"), 1)


def test_copies_of_a_program_are_one_program() -> None:
    code = {
        "a/train.py": "import random\n\nrandom.random()\n",
        "b/train.py": "# A copy.\nimport random\nrandom.random()\n",
    }
    seeds = [found(1, "unseeded", path=path, entries=(path,)) for path in code]
    order = [found(line, rule="set-order", path=path, entries=(path,)) for path in code for line in (2, 3)]
    same = [one._replace(message="the order of a set") for one in order]
    told = by_cause([*seeds, *same], code)
    assert [(one.rule, one.location.line, one.entries) for one in told] == [
        ("unseeded-numpy", 1, tuple(code)), ("set-order", 2, tuple(code)), ("set-order", 3, tuple(code)),
    ]  # fmt: skip
    assert len(by_cause([*seeds, *same], {**code, "b/train.py": "print()"})) == 6
    assert len(by_cause([found(1, "unseeded", path=path, entries=(path,)) for path in ("a/x.py", "b/x.py")])) == 2


def test_a_remedy_names_the_seeds_that_are_missing() -> None:
    told = "`random.seed(1)`, `np.random.seed(1)` and `torch.manual_seed(1)`"
    (one,) = by_cause([found(1, "unseeded/numpy", remedy=f"seed all three: {told}")])
    assert one.remedy == "call `np.random.seed(1)` at the start, before anything is drawn"
    (one,) = by_cause([found(1, "unseeded/numpy", remedy="call `np.random.seed(1)`, or pass a generator")])
    assert one.remedy == "call `np.random.seed(1)`, or pass a generator"
    pair = [
        found(1, "unseeded/torch", remedy="`torch.manual_seed(1)`, or `DataLoader(..., generator=seeded)`"),
        found(2, "unseeded/python", rule="unseeded-python", remedy="call `random.seed(1)`"),
    ]
    lead = "call `torch.manual_seed(1)` and `random.seed(1)` at the start, before anything is drawn"
    (one,) = by_cause(pair)  # (the first of what the first finding tells to do is in the lead)
    assert one.remedy == lead
    more = "call `torch.manual_seed(1)`, or another seed; and pass `DataLoader(..., worker_init_fn=seeds)`"
    (one,) = by_cause([pair[0]._replace(remedy=more), pair[1]])
    assert one.remedy.split("\n\n") == [lead, more]
    flag = found(1, "unseeded", rule="seed-flag-unused", remedy="pass it on: `torch.manual_seed(args.seed)`")
    order = pair[0]._replace(location=Location("train.py", 3, 1, 3, 5))
    (one,) = by_cause([order, flag])  # (the flag gives the seed that is missing)
    assert (one.rule, one.remedy) == (flag.rule, flag.remedy)
    (one,) = by_cause([order, pair[1], flag])
    both = "call `random.seed(1)` and `torch.manual_seed(1)` at the start, before anything is drawn"
    assert one.remedy.split("\n\n") == [both, flag.remedy]
    graph = "`tf.set_random_seed(1)` (and `np.random.seed(1)`)"
    (one,) = by_cause([found(1, "unseeded/tensorflow", remedy=graph)])
    assert one.remedy == "call `tf.set_random_seed(1)` at the start, before anything is drawn in the graph"


def test_a_remedy_names_the_seed_of_each_generator_also_where_another_remedy_begins_alike() -> None:
    three = "seed all three: `random.seed(1)`, `np.random.seed(1)`, `torch.manual_seed(1)`"
    (one,) = by_cause([
        found(1, "unseeded/python", rule="unseeded-python", remedy="call `random.seed(1)` before the first draw"),
        found(2, "unseeded/torch", rule="unseeded-shuffle", remedy="call `torch.manual_seed(1)` before"),
        found(3, "unseeded/numpy", rule="partial-seed", remedy=three),
    ])  # fmt: skip
    for seed in ("`random.seed(1)`", "`np.random.seed(1)`", "`torch.manual_seed(1)`"):
        assert seed in one.remedy


def test_without_a_cause_of_its_own_the_place_and_the_rule_are_the_cause() -> None:
    twice = [found(1), found(1)._replace(message="another draw")]
    assert len(by_cause(twice)) == 1
    assert len(by_cause([found(1), found(2)])) == 2
    assert len(by_cause([found(1), found(1, rule="set-order")])) == 2


names = st.lists(st.sampled_from(["a.py", "b.py", "c.py"]), unique=True).map(lambda chosen: tuple(sorted(chosen)))
findings = st.lists(
    st.builds(
        found, st.integers(1, 6), st.sampled_from(["", "unseeded/numpy", "unseeded/torch", "determinism-switch"]),
        rule=st.sampled_from(["unseeded-numpy", "unseeded-torch"]), path=st.sampled_from(["a.py", "lib.py"]),
        severity=st.sampled_from(["info", "warning", "error"]), entries=names,
    ),
    max_size=12, unique_by=lambda one: (one.location, one.rule),
)  # fmt: skip


def worst(some: list[Finding]) -> int:
    return max((SEVERITIES.index(one.severity) for one in some), default=-1)


@given(findings)
def test_nothing_is_lost(given_: list[Finding]) -> None:
    told = by_cause(given_)
    places = {one.location for one in told} | {place.location for one in told for place in one.related}
    assert places == {one.location for one in given_}
    assert {e for one in told for e in one.entries} == {e for one in given_ for e in one.entries}
    assert worst(told) == worst(given_)
    assert by_cause(given_[::-1]) == told


@given(findings)
def test_the_places_of_related_findings_stay(given_: list[Finding]) -> None:
    noted = [one._replace(related=(Related(Location("x.py", 99, 1, 99, 2), "here"),)) for one in given_]
    assert all(any(place.location.path == "x.py" for place in one.related) for one in by_cause(noted))


def test_a_place_told_in_other_words_keeps_its_conditions_for_its_program() -> None:
    (one,) = by_cause([
        found(1, "checkpoint", when=("--evolve is not given",), entries=("train.py",)),
        found(1, "checkpoint", when=("--evolve is not given", "--resume is true"), entries=("search.py",))
        ._replace(message="nor of the schedule"),
    ])  # fmt: skip
    assert one.message == "unseeded-numpy 1"
    assert one.when == ("--evolve is not given", "if `search.py` is started, --resume is true")


def test_conditions_of_programs_are_put_together_again_for_each() -> None:
    split = {"a.py": ("--split is given",), "b.py": ("--all is given",)}
    others = {"a.py": ("--split is not given",), "c.py": ("--deep is given",), "d.py": ("--deep is given",)}
    (one,) = by_cause([
        found(1, "unseeded/numpy", when=(), entries=("e.py",)),
        of_programs(1, "unseeded/numpy", split)._replace(message="in other words"),
        of_programs(1, "unseeded/numpy", others)._replace(message="in others"),
    ])  # fmt: skip
    assert one.when == (
        "if `c.py` or `d.py` is started, --deep is given",
        "if `b.py` is started, --all is given",
    )


def test_a_condition_that_holds_by_default_is_none_of_a_cause_where_another_place_is_without_it() -> None:
    pretrained, evaluate = ("--pretrained is not given",), ("--evaluate is not given",)
    both = [found(1, "unseeded/torch", when=pretrained), found(2, "unseeded/torch", when=evaluate)]
    (one,) = by_cause(both)
    assert one.when == ("--evaluate is not given or --pretrained is not given",)
    (one,) = by_cause([*both, found(3, "unseeded/torch", when=())])
    assert (one.location.line, one.when) == (3, ())
    (one,) = by_cause(both[:1])
    assert one.when == pretrained
    flags = [found(line, "unseeded/torch", when=(f"--flag-{line} is given",)) for line in (4, 5)]
    (one,) = by_cause([*both[:1], *flags])
    assert one.when == pretrained


def test_generators_that_draw_under_different_conditions_have_each_its_own() -> None:
    torch, numpy = "PyTorch's global generator", "NumPy's global generator"
    flags = ("--fold is 1", "--seed is 0 (the default)")
    places = [found(1, "unseeded/torch", when=flags), found(2, "unseeded/numpy", when=("--alpha > 0", "--fold is 1"))]
    (one,) = by_cause(places)
    assert one.when == ("--fold is 1", f"for {torch}, --seed is 0 (the default)", f"for {numpy}, --alpha > 0")
    assert by_cause([places[0], found(3, "unseeded/torch", when=("--fold is 1",)), places[1]])[0].when == (
        "--fold is 1",
    )
    more = found(2, "unseeded/numpy", when=(*flags, "--alpha > 0"))
    assert by_cause([places[0], more])[0].when == flags  # as the first says, and more
    others = found(2, "unseeded/numpy", when=("--alpha > 0",), entries=("train.py", "b.py"))
    assert not any(words.startswith("for ") for words in by_cause([places[0], others])[0].when)


def test_a_place_says_what_holds_of_it_in_most_programs() -> None:
    several = [
        found(1, entries=("tests.py",))._replace(message="opens `test.txt`"),
        found(1, entries=("train.py", "search.py"), when=("--resume is given",))._replace(message="opens a file"),
    ]
    (one,) = by_cause(several)
    assert (one.message, one.entries) == ("opens a file", ("search.py", "tests.py", "train.py"))
    (one,) = by_cause([several[0], several[1]._replace(entries=("train.py",))])
    assert one.message == "opens `test.txt`"


def test_a_cause_is_there_under_the_conditions_of_any_of_its_places() -> None:
    flags = [
        ("--model is a", "--gpu is given"),
        ("--model is b", "--gpu is given"),
        ("--gpu is given", "--noisy is given"),
    ]
    places = [found(line, "unseeded/numpy", when=when) for line, when in enumerate(flags, 1)]
    (one,) = by_cause(places[:2])
    assert one.when == ("--gpu is given", "--model is a or b")
    (one,) = by_cause(places)
    assert one.when == ("--gpu is given", "--model is a or b or --noisy is given")
    assert [place.note for place in one.related] == [
        "unseeded-numpy 2 (when --model is b)",
        "unseeded-numpy 3 (when --noisy is given)",
    ]
    (one,) = by_cause([*places, found(4, "unseeded/numpy", when=("--gpu is given",))])
    assert (one.location.line, one.when) == (4, ("--gpu is given",))


def test_the_conditions_of_the_place_that_is_told_come_first() -> None:
    flags = [("--shuffle is given",), ("--augment is given", "--dataset is a"), ("--augment is given", "--noise is b")]
    places = [found(line, "unseeded/numpy", when=when) for line, when in enumerate(flags, 1)]
    (one,) = by_cause(places)
    assert one.location.line == 1
    assert one.when[0].startswith("--shuffle is given or --augment is given and ")
    many = [
        *places,
        *(found(9 + n, "unseeded/numpy", when=(f"--an-option-{n} is given", "--z is c")) for n in range(9)),
    ]
    (one,) = by_cause(many)
    assert one.when[0].startswith("--shuffle is given or ") and one.when[0].endswith(" more")
    default = found(1, "unseeded/numpy", when=("--kind is z (the default)",))
    (one,) = by_cause([default, found(2, "unseeded/numpy", when=("--kind is a",))])
    assert one.when == ("--kind is a or z (the default)",)


def test_the_place_that_most_programs_reach_leads_even_where_some_of_them_ask_for_it() -> None:
    some: Mapping[str, tuple[str, ...]] = {"a.py": ("--train is given",), "b.py": (), "c.py": ()}
    (one,) = by_cause([
        found(1, "unseeded/python", when=(), entries=("c.py",)), of_programs(2, "unseeded/tensorflow", some),
    ])  # fmt: skip
    assert one.location.line == 2


def test_a_place_that_all_have_to_ask_for_does_not_lead() -> None:
    (one,) = by_cause([
        found(1, "unseeded/python", when=(), entries=("c.py",)),
        found(2, "unseeded/tensorflow", when=("--train is given",), entries=("a.py", "b.py", "c.py")),
    ])  # fmt: skip
    assert one.location.line == 1


def test_the_place_that_needs_the_fewest_flags_leads() -> None:
    many, few = ("--arch is vit", "--spawn is given"), ("--spawn is given",)
    (one,) = by_cause([
        found(1, "seed/torch", path="lib.py", entries=("a.py", "b.py"), when=many),
        found(2, "seed/torch", path="a.py", entries=("a.py",), when=few),
    ])  # fmt: skip
    assert one.location.path == "a.py"


def test_a_place_that_is_there_by_default_leads_after_one_that_always_is() -> None:
    def led(words: str) -> str:
        shared = found(1, "seed/torch", path="lib.py", entries=("a.py", "b.py"), when=(words,))
        (one,) = by_cause([shared, found(2, "seed/torch", path="a.py", entries=("a.py",))])
        return one.location.path

    assert led("--layers is on (the default)") == "a.py"
    assert led("--seed is not given (the default)") == "lib.py"  # (it says nothing of the place)


def test_the_conditions_of_all_places_of_a_program_together_are_told_where_they_are_shorter() -> None:
    whole = AnyPlace((), 2)
    places = [
        found(1, "unseeded/torch", when=("--fast is given",))._replace(any_place=whole),
        found(2, "unseeded/torch", when=("--fast is not given",))._replace(any_place=whole),
    ]
    (one,) = by_cause(places)
    assert one.when == ()
    assert by_cause(places[:1])[0].when == ("--fast is given",)  # (the other was suppressed)


def test_each_graph_of_each_program_is_named_where_its_seed_goes() -> None:
    def made(*programs: str) -> Finding:
        graphs = [Related(Location(one, 7, 1, 7, 9), OWN_GRAPH) for one in programs]
        return found(
            3, "unseeded/tensorflow", path="net.py", entries=programs, remedy="call `tf.set_random_seed(1)` first"
        )._replace(related=tuple(graphs))

    (one,) = by_cause([made("a.py")])
    where = "TensorFlow's seed is one of the graph: set it first in"
    assert one.remedy == f"call `tf.set_random_seed(1)` first; {where} the block of `as_default()` (a.py:7)"
    (three,) = by_cause([made("a.py", "b.py", "c.py")])
    assert three.remedy.endswith(f"{where} each block of `as_default()` (a.py:7, b.py:7 and c.py:7)")
    numpy = found(9, "unseeded/numpy", entries=("a.py", "b.py"), remedy="call `np.random.seed(1)` first")
    (both,) = by_cause([made("a.py", "b.py"), numpy])
    assert both.remedy == (
        "call `tf.set_random_seed(1)` first in each block of `as_default()` (a.py:7 and b.py:7), as elsewhere it seeds "
        "another graph, and `np.random.seed(1)` at the start of each program"
    )
    reset = made("a.py")._replace(related=(Related(Location("net.py", 2, 1, 2, 9), RESET_GRAPH),))
    assert by_cause([reset])[0].remedy.endswith("set it after `tf.reset_default_graph()` (line 2)")
    (many,) = by_cause([made("a.py", "b.py", "c.py", "d.py", "e.py")])
    assert many.remedy.endswith("(a.py:7, b.py:7, c.py:7 and 2 more)")


def test_a_draw_that_decides_little_leads_after_all_others() -> None:
    name = found(1, "unseeded/python", path="lib.py", entries=("a.py", "b.py"))._replace(slight=True)
    weights = found(2, "unseeded/torch", path="net.py", entries=("a.py",), when=("--train is given",))
    (one,) = by_cause([name, weights])
    assert (one.location.path, one.entries) == ("net.py", ("a.py", "b.py"))
    assert one.when == ("--train is given",)  # (in b.py hardly anything hangs on it)
    graver = name._replace(severity="error")
    assert by_cause([graver, weights])[0].location.path == "lib.py"


def test_a_place_that_most_programs_have_anyhow_leads_though_one_has_it_by_default() -> None:
    needs: Mapping[str, tuple[str, ...]] = {"a.py": (), "b.py": (), "c.py": ("--deep is not given",)}
    relu = dict.fromkeys(needs, ("--kind is relu",))
    places = [
        of_programs(1, "unseeded/torch", relu, path="lib.py"),
        of_programs(2, "unseeded/torch", needs, path="lib.py"),
        found(3, "unseeded/torch", path="c.py", entries=("c.py",)),
    ]
    (one,) = by_cause(places)
    assert (one.location.line, one.when) == (2, ())


def test_a_program_has_a_cause_under_the_conditions_of_any_place_there_also_of_one_that_does_not_lead() -> None:
    (one,) = by_cause([
        of_programs(1, "unseeded/numpy", {"a.py": ("--augment is given",), "b.py": (), "c.py": ("--augment is given",)}),
        found(2, "unseeded/torch", entries=("a.py",), when=()),
        found(3, "unseeded/torch", entries=("c.py",), when=("--noise is given",)),
    ])  # fmt: skip
    assert one.when == ("if `c.py` is started, --augment is given or --noise is given",)


def test_ways_to_a_cause_that_differ_in_one_test_are_one() -> None:
    def when(*ways: tuple[str, ...]) -> tuple[str, ...]:
        (one,) = by_cause([found(line, "unseeded/numpy", when=way) for line, way in enumerate(ways, 1)])
        return one.when

    assert when(("--a is given", "--b is given"), ("--a is given", "--b is not given")) == ("--a is given",)
    assert when(("`c` is false (the default)",), ("`c` is true",)) == ()
    assert when(("--a is given",), ("--a is given", "--b is given"), ("--c is 1",)) == ("--a is given or --c is 1",)
    assert when(("--a is x or y (the default)",), ("--a is x",)) == ("--a is x or y (the default)",)
    default = (f"--{'a' * 70} is on (the default)",)
    assert when(default, (f"--{'b' * 70} is on (the default)",)) == default
    long = [(f"--{letter * 70} is given", f"--{letter * 60} is given") for letter in "abc"]
    assert "" not in when(*long)


def test_the_programs_that_come_to_the_leading_place_are_named_first() -> None:
    some = [found(1, "unseeded/numpy", path="lib.py", entries=(entry,)) for entry in ("c.py", "d.py", "e.py")]
    (shared,) = combine(some, {"lib.py": ["a.py", "c.py", "d.py", "e.py"]})
    (one,) = by_cause([shared, found(2, "unseeded/torch", path="lib.py", entries=("a.py", "e.py"))])
    assert (one.location.line, one.when) == (1, ("one of `c.py`, `d.py` and 2 more is started",))


def test_a_call_that_another_remedy_calls_useless_is_told() -> None:
    space = "call `env.action_space.seed(1)`; `env.reset(seed=1)` does not do it"
    parts = (
        found(1, "own-env/own-actions", remedy=space),
        found(2, "own-env/own-env", remedy="call `env.reset(seed=1)`"),
    )
    (one,) = by_cause(parts)
    assert one.remedy == f"{space}\n\ncall `env.reset(seed=1)`"


def test_a_cause_that_is_a_place_is_one_whatever_program_comes_there() -> None:
    seeded = [found(line, "clock-seeds.py:3:1", entries=(name,)) for line, name in ((4, "a.py"), (5, "b.py"))]
    (one,) = by_cause(seeded)
    assert one.entries == ("a.py", "b.py")
    assert len(by_cause([found(line, "unseeded", entries=(name,)) for line, name in ((4, "a.py"), (5, "b.py"))])) == 2


def test_each_program_of_a_cause_has_its_own_line_and_conditions() -> None:
    at = {line: Location("lib.py", line, 1, line, 5) for line in (3, 9)}
    calls = {entry: Location(entry, 7, 1, 7, 5) for entry in ("a.py", "b.py")}
    library = [
        found(3, "unseeded/torch", path="lib.py", entries=("a.py",))._replace(reached=calls["a.py"]),
        found(3, "unseeded/torch", path="lib.py", entries=("b.py",), when=("--x is given",))._replace(
            reached=calls["b.py"]
        ),
    ]
    numpy = found(9, "unseeded/numpy", path="lib.py", entries=("a.py",))._replace(reached=calls["a.py"])
    (one,) = by_cause(combine([*library, numpy]))
    assert one.apart and one.location == at[3]
    told = [(program.entry, program.when, program.reached, program.concerns) for program in one.programs]
    assert told == [
        ("a.py", (), calls["a.py"], ("numpy", "torch")),
        ("b.py", ("--x is given",), calls["b.py"], ("torch",)),
    ]
    own = found(20, "unseeded/torch", path="b.py", entries=("b.py",))._replace(reached=Location("b.py", 20, 1, 20, 5))
    (one,) = by_cause(combine([*library, own]))
    assert [program.reached.line for program in one.programs if program.reached] == [
        7,
        20,
    ]  # (what b.py has without --x)
    (op,) = by_cause(combine([place._replace(cause="op-tf.gather") for place in library]))
    assert not op.apart  # cured where it stands
    only_holds = found(3, "unseeded/torch", path="lib.py", entries=("c.py",))._replace(uncalled=True, confidence="low")
    (one,) = by_cause([*combine(library), only_holds])
    assert [program.entry for program in one.programs] == ["a.py", "b.py"]
    assert one.entries == ("a.py", "b.py", "c.py")


def test_what_a_remedy_goes_on_with_in_some_programs_is_told_of_these() -> None:
    switch = "call `torch.use_deterministic_algorithms(True)` near the start"
    raises = f"{switch}; `pad` then raises: pad with zeros"
    (one,) = by_cause([
        found(1, "determinism-switch", entries=("a.py", "b.py", "c.py", "d.py"), path="lib.py", remedy=switch),
        *(found(9, "determinism-switch", entries=(name,), path=name, remedy=raises) for name in ("b.py", "c.py", "d.py")),
        found(9, "determinism-switch", entries=("a.py",), path="a.py", remedy=switch),
    ])  # fmt: skip
    assert one.remedy == f"{switch}; in `b.py`, `c.py` and 1 more `pad` then raises: pad with zeros"
    (alone,) = by_cause([found(9, "determinism-switch", remedy=raises), found(3, "determinism-switch", remedy=raises)])
    assert alone.remedy == raises
