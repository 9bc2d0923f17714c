"""Every output format from one report; the expected texts are in ``tests/golden`` (UPDATE_GOLDEN=1 rewrites them)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from d9mlint.model import (
    Edit,
    Finding,
    Fix,
    InProgram,
    Location,
    Package,
    Related,
    Remedy,
    Report,
    Rule,
    Target,
    Unchecked,
    UsageError,
)
from d9mlint.report import FORMATS, html, render, sarif
from d9mlint.report.words import first_sentence, share, whole_parts

GOLDEN = Path(__file__).parent.parent / "golden"
NAMES = {
    "text": "report.txt", "concise": "report.concise", "json": "report.json", "sarif": "report.sarif",
    "github": "report.github", "gitlab": "report.gitlab.json", "junit": "report.junit.xml", "html": "report.html",
}  # fmt: skip
ANSI = re.compile(r"\x1b\[[0-9;]*m")

TRAIN = """import numpy as np

def main():
\tnoise = np.random.randn(8)  # größe 雑音
\tweights = np.random.randn(
\t\t8,
\t)
"""

UNSEEDED = Rule(
    name="unseeded-numpy",
    id="D9M101",
    family="seeds",
    severity="error",
    confidence="high",
    hazard="unseeded-rng",
    noise="algo",
    summary="NumPy's global generator is used before it is seeded",
    why="NumPy seeds its global generator from the operating system, e.g. from /dev/urandom, at the first use. So\n"
    "every run draws other numbers.\n\nA second paragraph.\n",
    message="`{call}` draws from an unseeded generator",
    remedies=(Remedy("Call `np.random.seed(SEED)` first."),),
    sources=("https://numpy.org/doc/stable/reference/random/legacy.html",),
)
OPS = Rule(
    name="nondeterministic-op",
    id="D9M301",
    family="ops",
    severity="warning",
    confidence="medium",
    hazard="float-atomics",
    noise="impl",
    summary="An op whose GPU kernel adds floats in no fixed order",
    why="Float addition is not associative; atomicAdd adds in the order in which threads arrive.",
    message="the gradient of `{op}` varies",
    framework="tensorflow",
    remedies=(
        Remedy("Call `tf.config.experimental.enable_op_determinism()`.", ">=2.8"),
        Remedy("Install framework-determinism.", "<2.8"),
    ),
)
TARGET = Target(
    {"keras": Package("2.4.0", "with tensorflow 2.4.1"), "tensorflow": Package("2.4.1", "requirements.txt:14")}
)


def unseeded(location: Location, **more: Any) -> Finding:
    return Finding(
        rule="unseeded-numpy",
        id="D9M101",
        hazard="unseeded-rng",
        noise="algo",
        severity="error",
        confidence="high",
        message="`np.random.randn` draws from NumPy's global generator, which no call has seeded",
        location=location,
        remedy="Call `np.random.seed(SEED)` before the first draw, at the top of the entry script, so that each and "
        "every draw of the program comes after it:\n\n    np.random.seed(1)\n    tf.random.set_seed(1)\n",
        **more,
    )


def sample() -> Report:
    path = "src/größe/train, 100%.py"
    first = unseeded(
        Location(path, 4, 10, 4, 28),
        when=("`--seed` is not given", "`--noise` is given"),
        related=(Related(Location("src/util.py", 3, 1, 3, 9), "seeds only Python's generator"),),
        fixes=(Fix("Seed NumPy", (Edit(Location(path, 2, 1, 2, 1), "np.random.seed(1)\n"),)),),
        fingerprint="0123456789abcdef",
        entries=(path,),
    )
    second = unseeded(Location(path, 5, 12, 7, 3), fingerprint="1123456789abcdef", entries=(path,))
    third = Finding(
        rule="nondeterministic-op",
        id="D9M301",
        hazard="float-atomics",
        noise="impl",
        severity="warning",
        confidence="medium",
        message="the gradient of `tf.gather` varies from run to run",
        location=Location("src/gone.py", 7, 3, 7, 20),
        remedy="Install framework-determinism.",
        fixes=(Fix("Use another op", (Edit(Location("src/gone.py", 7, 3, 7, 12), "tf.take"),), safe=False),),
        fingerprint="2123456789abcdef",
    )
    unknown = third._replace(rule="internal-error", id="D9M001", severity="info", remedy="", fixes=(), fingerprint="f")
    return Report(
        findings=(first, second, third, unknown),
        targets={path: TARGET, "src/gone.py": TARGET},
        entries=(path,),
        files=4,
        suppressed=1,
        hidden=2,
        unchecked=(Unchecked("src/broken.py", "syntax error at 3:1:\n expected ':'"),),
        rules={"unseeded-numpy": UNSEEDED, "nondeterministic-op": OPS},
        sources={path: TRAIN},
    )


@pytest.mark.parametrize("name", FORMATS)
def test_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "__version__", "0.0.0")
    monkeypatch.setattr(html, "__version__", "0.0.0")
    found = render(sample(), name).encode()
    golden = GOLDEN / NAMES[name]
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(found)
    assert found.decode() == golden.read_bytes().decode()


def test_colour_adds_only_escape_sequences() -> None:
    coloured = render(sample(), "text", color=True)
    assert "\x1b[1;31merror" in coloured
    assert ANSI.sub("", coloured) == render(sample(), "text")


@pytest.mark.parametrize("name", FORMATS)
def test_order_of_mappings_does_not_show(name: str) -> None:
    report = sample()
    turned = report._replace(
        targets={
            path: target._replace(packages=back(target.packages)) for path, target in back(report.targets).items()
        },
        rules=back(report.rules),
    )
    assert turned == report
    assert render(turned, name) == render(report, name)


def back(mapping: Any) -> dict[str, Any]:
    return dict(reversed(list(mapping.items())))


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_text_is_harmless(name: str) -> None:
    finding = unseeded(Location("bad\udc80\x1b[2J\u202e.py", 1, 1, 1, 3))
    text = render(
        Report((finding,), {finding.location.path: TARGET}, sources={finding.location.path: "x\udc80\x1b[31m\u202e"}),
        name,
    )
    assert text.encode().endswith(b"\n")
    if name in ("text", "concise", "junit", "html"):
        assert not re.search("[\x1b\u202e]", text)
    if name == "junit":
        ElementTree.fromstring(text.encode())
    if name in ("json", "sarif", "gitlab"):
        json.loads(text)


def test_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="choose one of text, concise, json, sarif, github, gitlab, junit, html"):
        render(sample(), "xml")


def test_nothing_found() -> None:
    report = Report((), {"a.py": Target()}, entries=("a.py",), files=1)
    assert render(report, "text").startswith("No findings. 1 program in 1 file\n  target:     device gpu (default)\n")
    assert render(report, "github") == ""
    assert json.loads(render(report, "json"))["findings"] == []
    assert json.loads(render(report, "sarif"))["runs"][0]["results"] == []
    assert render(report, "concise") == ""
    assert json.loads(render(report, "gitlab")) == []
    suite = ElementTree.fromstring(render(report, "junit").encode())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")
    assert suite[0].attrib == {"classname": "a.py", "name": "no findings"}


def test_what_was_not_checked_is_never_clean() -> None:
    report = Report((), {}, unchecked=(Unchecked("a.py", "syntax error"),))
    text = render(report, "text")
    assert "No findings." not in text
    assert "  not checked:\n    a.py: syntax error\n" in text
    assert render(report, "github") == "::error file=a.py,title=not checked::not checked: syntax error\n"
    assert json.loads(render(report, "sarif"))["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert render(report, "concise") == "a.py:1:1: error not-checked syntax error\n"
    assert json.loads(render(report, "gitlab"))[0]["description"] == "not checked: syntax error"
    suite = ElementTree.fromstring(render(report, "junit").encode())[0]
    assert (suite.get("errors"), suite[0][0].get("message")) == ("1", "syntax error")


def test_a_finding_takes_at_most_seven_lines() -> None:
    places = tuple(Related(Location(f"models/m{n}.py", n, 1, n, 9), "draws from it, " * 12) for n in range(1, 9))
    conditions = tuple(f"--option-{n} is given" for n in range(9))
    long = unseeded(Location("train.py", 1, 1, 1, 9))._replace(
        related=places, when=conditions, remedy="Do this and that. " * 4 + "\n\n" + "Then these other things, " * 20
    )
    text = render(Report((long,), {}, sources={"train.py": TRAIN}), "text")
    lines = text.partition("\n\n")[0].splitlines()
    assert len(lines) == 7
    assert max(map(len, lines[1:])) <= 100
    assert lines[3].endswith(", and 3 more conditions (--verbose)")
    assert lines[-1].endswith("; and 7 more places (--verbose)")
    whole = render(Report((long,), {}, sources={"train.py": TRAIN}), "text", verbose=True)
    assert all(f"models/m{n}.py:{n}:" in whole for n in range(1, 9))
    assert "--option-8 is given" in whole


def test_programs_that_are_cured_for_themselves_take_a_line_each() -> None:
    def program(number: int, *when: str) -> InProgram:
        entry = f"run_{number}.py"
        return InProgram(entry, ("--train is given", *when), None, Location(entry, number, 1, number, 9), ("numpy",))

    programs = (program(1), program(2, "--fast is given"), *map(program, range(3, 9)))
    found = unseeded(Location("lib.py", 1, 1, 1, 9))._replace(
        programs=programs, apart=True, entries=tuple(one.entry for one in programs),
        when=("--train is given", "if `run_2.py` is started, --fast is given", "one of `run_1.py` and 7 more is started"),
        related=(Related(Location("run_1.py", 1, 1, 1, 9), "draws"), Related(Location("lib.py", 5, 1, 5, 9), "draws")),
    )  # fmt: skip
    text = render(Report((found,), {}), "text")
    assert "  when: --train is given\n" in text
    assert "  in:   run_1.py:1\n        run_2.py:2, when --fast is given\n        run_3.py:3\n" in text
    assert "        run_5.py:5\n        3 more programs (--verbose)\n  see:  line 5: draws\n" in text
    assert "        run_8.py:8\n" in render(Report((found,), {}), "text", verbose=True)
    there = found._replace(apart=False, programs=(program(1), program(3)), when=("--train is given",))
    assert "  in:" not in render(Report((there,), {}), "text")  # cured at once, and all alike
    others = there._replace(
        apart=True, programs=(programs[0], programs[2]._replace(concerns=("python",), reached=None))
    )
    assert "  in:   run_1.py:1 (NumPy)\n        run_3.py (Python)\n" in render(Report((others,), {}), "text")
    (told,) = json.loads(render(Report((others,), {}), "json"))["findings"]
    assert told["programs"][1] == {"entry": "run_3.py", "when": ["--train is given"]}
    assert told["programs"][0]["line"] == 1


def test_places_are_told_with_what_they_have_to_do_with_it() -> None:
    here = Location("n.ipynb", 2, 1, 2, 9, cell=3)
    places = (
        Related(Location("n.ipynb", 4, 1, 4, 9, cell=5), "made here"),
        Related(Location("other.py", 1, 1, 1, 9), "begins here"),
        Related(Location("n.ipynb", 9, 1, 9, 9, cell=3), "draws numbers from a generator " * 9),
        Related(Location("n.ipynb", 9, 1, 9, 9, cell=7), "seen last"),
    )
    remedy = "save `a()` with it and load it again; set `b()` " + "before all that happens after it was loaded " * 9
    found = unseeded(here)._replace(related=places, remedy=remedy)
    text = render(Report((found,), {}, sources={"n.ipynb:cell 3": "x\nrandom()\n"}), "text")
    assert "  fix:  save `a()` with it and load it again; more with --verbose\n" in text
    assert "  see:  cell 5, line 4: made here\n  see:  other.py:1: begins here\n" in text
    assert "  see:  line 9: draws numbers from a generator" in text
    assert text.partition("see:  line 9")[2].splitlines()[0].endswith("...; and 1 more place (--verbose)")


_LONG = (f"{'examples/' * 12}train.py", f"{'examples/' * 12}evaluate_it.py")


def test_the_conditions_of_each_program_are_told() -> None:
    programs = "one of `demo.py`, `scannet/scannet_detection_dataset.py` and 1 more is started"
    some = "if `sunrgbd/sunrgbd_data.py` is started, --gen_v1_data is given or --gen_v2_data is given"
    found = unseeded(Location("n.py", 2, 1, 2, 9))._replace(when=(some, programs))
    text = render(Report((found,), {}), "text")
    assert f"  when: {programs}, and" in text
    assert some in " ".join(text.split())


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("if `{0}` or `{1}` is started, --a is given", "if one of 2 programs is started, --a is given (--verbose)"),
        (
            "--a or --b is given unless one of `{0}`, `{1}` and 3 more is started",
            "--a or --b is given unless one of 5 programs is started (--verbose)",
        ),
        ("one of `{0}`, `{1}` and 3 more is started", "one of 5 programs is started (--verbose)"),
    ],
)
def test_conditions_of_some_programs_are_not_cut_in_their_names(condition: str, told: str) -> None:
    short = tuple(name.replace("examples/", "") for name in _LONG)
    found = unseeded(Location("n.py", 2, 1, 2, 9))._replace(when=(condition.format(*short),))
    assert condition.format(*short) in " ".join(render(Report((found,), {}), "text").split())
    names = _LONG
    found = unseeded(Location("n.py", 2, 1, 2, 9))._replace(when=(condition.format(*names),))
    assert f"  when: {told}\n" in render(Report((found,), {}), "text")
    more = found._replace(when=(*found.when, "--train is given"))
    text = " ".join(render(Report((more,), {}), "text").split())
    assert told.partition(" (--")[0] in text
    assert "--train is given" in text


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (
            (f"--data is {'x' * 60}, {'y' * 80} or z (the default)", "--seed is not given", "--test is not given"),
            "--seed is not given and --test is not given, and 1 more condition (--verbose)",
        ),
        (
            (
                f"if `a.py` is started, --load is true (the default) and --mode is {'x' * 40}",
                f"if `b.py` is started, `config.mode` is '{'y' * 99}'",
            ),
            f"if `a.py` is started, --load is true (the default) and --mode is {'x' * 40}, and 1 more condition (--verbose)",
        ),
        ((f"--decoder is rnn or --prior is {'x' * 60}, {'y' * 80}", "--encoder is cnn"), "--encoder is cnn, and 1 more condition (--verbose)"),
        ((f"--{'a' * 80} is given", f"a program imports `{'x' * 60}.py` (none that was found does)"), f"a program imports `{'x' * 60}.py` (none that was found does), and 1 more condition (--verbose)"),
        ((f"--data is {'x' * 30}, {'y' * 20} or z",), f"--data is {'x' * 30}, {'y' * 20} or z"),
        ((f"--data is {'x' * 60}, {'y' * 40} or {'z' * 99}",), f"--data is {'x' * 60}, {'y' * 40} or another value (--verbose)"),
    ],
)  # fmt: skip
def test_what_is_so_by_default_is_told_last(conditions: tuple[str, ...], told: str) -> None:
    found = unseeded(Location("n.py", 2, 1, 2, 9))._replace(when=conditions)
    text = " ".join(render(Report((found,), {}), "text").split())
    assert f" when: {told} " in f"{text} "


def test_what_a_remedy_makes_raise_is_told_once() -> None:
    remedy = f"call `a()` {'near the start ' * 5}; `c` then raises: replace it by {'another one or ' * 9}`d`"
    found = unseeded(Location("n.py", 2, 1, 2, 9))._replace(remedy=remedy, when=("--a is given",))
    text = render(Report((found,), {}), "text", width=90)
    assert text.count("then raises") == 1


def test_a_remedy_takes_the_lines_that_nothing_else_needs() -> None:
    def told(*when: str) -> str:
        here = Location("n.py", 2, 1, 2, 9)
        remedy = f"call `a()` {'near the start ' * 8}and then `b()`; `c` then raises {'in each step ' * 3}: replace it"
        places = (Related(Location("other.py", 1, 1, 1, 9), "begins here"),)
        found = unseeded(here)._replace(related=places, remedy=remedy, when=when)
        return render(Report((found,), {}, sources={"n.py": "x\nrandom()\n"}), "text").partition("\n\n")[0]

    assert "replace it\n  see:" in told()
    assert "and then `b()`; `c` then raises (--verbose)\n  see:" in told("--train is given")
    assert len(told().splitlines()) == len(told("--train is given").splitlines()) == 6


def test_the_target_that_is_told_names_versions() -> None:
    bare = Target({}, device="gpu")
    report = Report((), {"a.py": bare, "b.py": bare, "c.py": TARGET}, entries=("a.py", "b.py", "c.py"))
    told = render(report, "text").partition("target:")[2]
    assert told.split()[0] == "tensorflow"
    assert "1 more target (--verbose)" in told


def test_totals_without_programs_count_no_files() -> None:
    assert render(Report((unseeded(Location("a.yaml", 1, 1, 1, 9)),), {}), "text").endswith("\n1 finding: 1 error\n")


def test_the_headline_says_which_programs_seed_nothing() -> None:
    def headline(*when: str) -> str:
        found = unseeded(Location("train.py", 1, 1, 1, 9))._replace(
            cause="unseeded-0123", concerns=("python",), when=when, entries=("train.py",)
        )
        return render(Report((found,), {}), "text", verbose=True).split("\n\n")[-1].splitlines()[0]

    assert headline() == "1 finding: 1 error; the default run of `train.py` is not seeded"
    assert headline("--seed is not given") == "1 finding: 1 error; the default run of `train.py` is not seeded"
    each = ("for Python's `random`, --seed is not given", "for NumPy's global generator, --alpha > 0")
    assert headline(*each) == "1 finding: 1 error; the default run of `train.py` is not seeded"
    assert headline(each[1]) == "1 finding: 1 error"
    assert headline("--augment is given") == "1 finding: 1 error"


def test_text_lines_fit() -> None:
    long = sample()
    assert max(map(len, render(long, "text", width=60).splitlines()[1:3])) <= 60
    prose = [line for line in render(long, "text").splitlines() if line.startswith("    ")]
    assert prose
    assert max(map(len, prose)) <= 100


def test_entries_with_different_targets_are_grouped() -> None:
    old = Target({"tensorflow": Package("1.15.0", "Dockerfile:1")}, device="cpu")
    targets = {"a.py": TARGET, "b.py": old, "c.py": old}
    report = Report((), targets, entries=("a.py", "b.py", "c.py"))
    assert (
        "  targets:\n"
        "    tensorflow 1.15.0 (Dockerfile:1), device cpu: b.py, c.py\n"
        "    tensorflow 2.4.1 (requirements.txt:14), keras 2.4.0 (with tensorflow 2.4.1), device gpu\n"
        "      (default): a.py\n"
    ) in render(report, "text", verbose=True)
    first = "tensorflow 1.15.0 (Dockerfile:1), device cpu; 1 more target (--verbose)"
    assert render(report, "text") == f"No findings. 3 programs in 0 files\n  target:     {first}\n"
    target = json.loads(render(report, "json"))["target"]
    assert target["device"] == "cpu"
    assert list(target["by_entry"]) == ["a.py", "b.py", "c.py"]
    assert target["by_entry"]["a.py"]["packages"]["tensorflow"]["version"] == "2.4.1"


def test_long_lists_are_counted() -> None:
    names = [f"e{number}.py" for number in range(8)]
    targets = {name: Target({"tensorflow": Package(f"2.{number}.0", "")}) for number, name in enumerate(names)}
    text = render(Report((), targets, entries=tuple(names)), "text", verbose=True)
    assert "  entries:    e0.py, e1.py, e2.py, e3.py, e4.py, ... and 3 more\n" in text
    assert "    tensorflow 2.4.0, device gpu (default): e4.py\n    ... and 3 more\n" in text


def test_json_has_the_contract_keys() -> None:
    data = json.loads(render(sample(), "json"))
    assert {"schema", "target", "findings", "suppressed", "unchecked"} <= set(data)
    assert data["schema"] == 1
    assert list(data["findings"][0]) == [
        *("rule", "id", "hazard", "message", "path", "line", "column", "end_line", "end_column"),
        *("severity", "confidence", "noise", "when", "remedy", "related", "fixes", "fingerprint", "cause", "entries"),
    ]
    assert list(data["findings"][0]["related"][0]) == ["path", "line", "column", "note"]
    edit = data["findings"][0]["fixes"][0]["edits"][0]
    assert list(edit) == ["path", "line", "column", "end_line", "end_column", "text"]


def test_sarif_refers_to_its_rules_and_stays_relative() -> None:
    run = json.loads(render(sample(), "sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uriBaseId"] in run["originalUriBaseIds"]
        assert not place["uri"].startswith("/")
    assert "uri" not in run["originalUriBaseIds"]["%SRCROOT%"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (
        "src/gr%C3%B6%C3%9Fe/train%2C%20100%25.py"
    )


def test_sarif_fits_the_schema() -> None:
    """Only where SARIF_SCHEMA names a copy of the official schema: no package on PyPI ships one."""
    schema = os.environ.get("SARIF_SCHEMA")
    if not schema:
        pytest.skip("SARIF_SCHEMA is not set")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(render(sample(), "sarif")), json.loads(Path(schema).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("Since TF 2.4 it varies, e.g. Here. Next.", "Since TF 2.4 it varies, e.g. Here."),
        ("`a.b` is set. `c` is not.", "`a.b` is set."),
        ("No stop\nat all\n\nOther.", "No stop at all"),
        ("", ""),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_rich_is_imported_for_colour_only() -> None:
    code = (
        "import sys; from d9mlint.model import Report; from d9mlint.report import FORMATS, render\n"
        "for name in FORMATS: render(Report((), {}), name)\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich']\n"
        "render(Report((), {}), 'text', color=True)\n"
        "assert 'rich.style' in sys.modules and 'rich.console' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("folder", ["", "a/folder/with/a/name/that/takes/quite/some/room/" * 2])
@pytest.mark.parametrize("remedy", ["do it", "call `f(1)`, which makes it repeatable; " * 6, "do " * 99])
@pytest.mark.parametrize("when", [(), ("--seed is not given",), tuple(f"`--flag{n}` is given" for n in range(9))])
def test_seven_lines_are_enough_whatever_is_long(folder: str, remedy: str, when: tuple[str, ...]) -> None:
    related = tuple(
        Related(Location(f"{folder}{n}.py", n, 1, n, 9), f"draws, which nothing seeds {n}") for n in range(1, 9)
    )
    found = unseeded(Location("train.py", 1, 1, 1, 9))._replace(remedy=remedy, when=when, related=related)
    told = render(Report((found,), {}, sources={"train.py": "x = np.random.rand()\n"}), "text").split("\n\n")[0]
    assert len(told.split("\n")) <= 6 + (len(when) > 1)
    assert "place" in told


def test_what_does_not_fit_ends_where_a_part_of_the_sentence_ends() -> None:
    assert whole_parts("call `f(1)` before it, which seeds all; or pass a seed", 26) == "call `f(1)` before it"
    assert whole_parts("seed A, B and C (all three of them) before it", 22) == "seed A, B and C"
    assert whole_parts("a `code; with (parts)` that is long", 20) == ""
    assert whole_parts("short", 20) == "short"
    one = unseeded(Location("train.py", 1, 1, 1, 9))
    many = f"one of {', '.join(f'`folder/with/a/long/name/{n}.py`' for n in range(6))} and 1 more is started"
    text = render(Report((one._replace(when=(many,)),), {}), "text")
    assert "  when: one of `folder/with/a/long/name/0.py` and 6 more is started (--verbose)\n" in text
    either = " or ".join(
        f"`FLAGS.data == '{one} with a long name'` is true" for one in ("one", "another", "third", "last")
    )
    text = render(Report((one._replace(when=(either,)),), {}), "text")
    assert "'one with a long name'` is true, or another condition holds (--verbose)" in " ".join(text.split())


@pytest.mark.parametrize(
    ("rate", "shown"), [(0.1391, "13.9%"), (0.001, "0.1%"), (0.00029953, "0.03%"), (1.4e-6, "0.0001%"), (0.0, "0%")]
)
def test_small_rates_are_not_none(rate: float, shown: str) -> None:
    assert share(rate) == shown
