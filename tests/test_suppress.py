"""Suppression comments and the baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from d9mlint.model import ConfigError, Finding, Location, Rule, UsageError, fingerprint
from d9mlint.suppress import (
    RULES,
    Baseline,
    Suppression,
    apply,
    form,
    load_baseline,
    scan,
    split,
    write_baseline,
)

PATH = "train.py"


def rule(name: str, rule_id: str) -> Rule:
    return Rule(name, rule_id, "seeds", "warning", "high", "unseeded-rng", "algo", "", "", "")


KNOWN = (rule("unseeded-numpy", "D9M101"), rule("unseeded-shuffle", "D9M102"), rule("thread-order", "D9M103"))


def finding(line: int, end_line: int | None = None, name: str = "unseeded-numpy", path: str = PATH) -> Finding:
    rule_id = {one.name: one.id for one in KNOWN}[name]
    location = Location(path, line, 1, end_line or line, 9)
    return Finding(
        name, rule_id, "h", "algo", "warning", "high", "m", location, fingerprint=fingerprint(name, path, str(line), 0)
    )


def run(text: str, *findings: Finding, active: tuple[str, ...] | None = None) -> tuple[list[int], int, list[str]]:
    """Lines of the findings kept, the number suppressed, and ``line: message`` about the comments."""
    kept, count, extra = apply(findings, {PATH: scan(text)}, KNOWN, active)
    return [one.location.line for one in kept], count, [f"{one.location.line}: {one.message}" for one in extra]


# --- scan ------------------------------------------------------------------------------------------------------------


def test_text_without_a_mark_has_none() -> None:
    assert scan("x = 1  # noqa\n" * 3) == ()


def test_everything_about_one_comment() -> None:
    (one,) = scan("x = 1\n    \ny = rand()  # noqa: E501 # d9m: ignore[unseeded-numpy, D9M102] - a demo\n")
    assert one == Suppression(
        line=3,
        column=26,
        end_column=72,
        first=3,
        last=3,
        names=("unseeded-numpy", "D9M102"),
        reason="a demo",
        line_text="y = rand()  # noqa: E501 # d9m: ignore[unseeded-numpy, D9M102] - a demo",
    )


def test_only_real_comments() -> None:
    text = 'x = "# d9m: ignore[a] b"\ny = """\n# d9m: ignore[a] b\n"""\n# write `# d9m: ignore[a] b` to suppress\n'
    assert scan(text) == ()


def test_two_in_one_comment() -> None:
    one, two = scan("f()  # d9m: ignore[a] this is fine  # d9m: ignore[b] that too\n")
    assert (one.names, one.reason, two.names, two.reason) == (("a",), "this is fine", ("b",), "that too")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(newline: str) -> None:
    text = "\ufeff# d9m: ignore-file[a] r\n\x0c\nx = '\u2028'\nf()  # d9m: ignore[b] r\n".replace("\n", newline)
    one, two = scan(text)
    assert (one.whole_file, one.problem, one.line, two.line) == (True, "", 1, 4)


def test_text_that_is_not_python_is_read_by_line_ends() -> None:
    text = "def f(:\n  x = (\n# d9m: ignore[a] above\n\n# more\n  rand()  # d9m: ignore[b] beside\n '''\n"
    one, two = scan(text)
    assert (one.first, one.last, one.names) == (6, 6, ("a",))
    assert (two.first, two.last, two.line, two.column) == (6, 6, 6, 11)


FRAGMENTS = st.sampled_from(
    [
        *("# d9m: ignore[a] r", "# d9m: ignore-file[a]", "d9m:", "#", "[", "]", "(", ")", '"""', "'", "x", "def f():"),
        *("\n", "\r", "\x0c", "\\", "  ", "\0", "\ud800", "\u2028", ","),
    ]
)


@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=30).map("".join)))
@example("\0# d9m: ignore[a] r")
@example("# d9m: ignore[a] r\n\\")
def test_scan_never_raises(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for one in scan(text + "\n# d9m: ignore[a] r"):
        assert 1 <= one.line <= len(lines) + 1
        assert one.first <= one.last
        assert one.column < one.end_column
        assert bool(one.problem) or one.names


# --- apply -----------------------------------------------------------------------------------------------------------


def test_name_and_id() -> None:
    for name in ("unseeded-numpy", "D9M101"):
        assert run(f"f()  # d9m: ignore[{name}] demo\ng()\n", finding(1), finding(2)) == ([2], 1, [])


def test_other_rules_and_other_files_stay() -> None:
    text = "f()  # d9m: ignore[unseeded-numpy] demo\n"
    other = finding(1, path="other.py")
    assert run(text, finding(1), finding(1, name="thread-order"), other) == ([1, 1], 1, [])


def test_comment_above_with_blanks_and_others_between() -> None:
    text = (
        "# d9m: ignore[unseeded-numpy] one\n# d9m: ignore[unseeded-shuffle] two\n\n# about f\nf()\nf()\n"
        "if x:\n    f()\n    # d9m: ignore[thread-order] last in a block\ng()\n"
    )
    reported = (finding(5), finding(5, name="unseeded-shuffle"), finding(6), finding(10, name="thread-order"))
    assert run(text, *reported) == ([6], 3, [])


MULTILINE = "x = [\n    f(\n        1,{inner}\n    ),\n    g(),\n]{last}\n"


def test_any_line_of_the_finding_counts() -> None:
    text = MULTILINE.format(inner="  # d9m: ignore[unseeded-numpy] demo", last="")
    assert run(text, finding(2, 4), finding(1, 6), finding(5)) == ([5], 2, [])


def test_last_line_counts_for_the_whole_statement() -> None:
    text = MULTILINE.format(inner="", last="  # d9m: ignore[unseeded-numpy] demo")
    assert run(text + "f()\n", finding(2), finding(5), finding(7)) == ([7], 2, [])


def test_backslashes_and_strings() -> None:
    text = 'f(1) + \\\n  g(2)  # d9m: ignore[unseeded-numpy] demo\nh("""\n\n""")  # d9m: ignore[unseeded-numpy] demo\n'
    assert run(text, finding(1), finding(2), finding(3)) == ([], 3, [])


def test_comment_above_covers_the_statement_but_not_the_block() -> None:
    text = "# d9m: ignore[unseeded-numpy] demo\nfor x in f(\n    1,\n    g(),\n):\n    h()\n"
    assert run(text, finding(4), finding(6)) == ([6], 1, [])


def test_comment_above_within_brackets_covers_one_line() -> None:
    text = "x = [\n    # d9m: ignore[unseeded-numpy] demo\n    f(),\n    g(),\n]\n"
    assert run(text, finding(3), finding(4)) == ([4], 1, [])


def test_whole_file() -> None:
    text = "f()\n# d9m: ignore-file[unseeded-numpy] generated\ng()\n"
    assert run(text, finding(1), finding(3), finding(3, name="thread-order")) == ([3], 2, [])


# --- what is wrong with comments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["", "   ", " --", "  # noqa", " # type: ignore", ":"])
def test_without_reason_has_no_effect(tail: str) -> None:
    message = "1: suppression of `unseeded-numpy` gives no reason and so has no effect"
    assert run(f"f()  # d9m: ignore[unseeded-numpy]{tail}\n", finding(1)) == ([1], 0, [message])


@pytest.mark.parametrize("tail", ["see #123", "\u7406\u7531", ": #1 in the list", "ok  # noqa"])
def test_reasons(tail: str) -> None:
    assert run(f"f()  # d9m: ignore[unseeded-numpy] {tail}\n", finding(1)) == ([], 1, [])


FORM = "the form is `# d9m: ignore[name] reason`"


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# d9m: ignore[] reason", f"`d9m:` comment: names no rule; {FORM}"),
        ("# d9m: ignore[ , ] reason", f"`d9m:` comment: names no rule; {FORM}"),
        ("# d9m: ignore", f"`d9m:` comment: names no rule; {FORM}"),
        ("# d9m: ignore unseeded-numpy", f"`d9m:` comment: not understood; {FORM}"),
        ("# d9m: disable[unseeded-numpy] reason", f"`d9m:` comment: not understood; {FORM}"),
        ("# d9m: ignore[unseeded-numpy reason", f"`d9m:` comment: not understood; {FORM}"),
        (
            "# d9m: ignore[unseeded-nunpy] r",
            "unknown rule `unseeded-nunpy` in a suppression; did you mean `unseeded-numpy`?",
        ),
        ("# d9m: ignore[E501] r", "unknown rule `E501` in a suppression"),
        (
            "# d9m: ignore-file[unseeded-numpy] r",
            "`d9m:` comment: `ignore-file` must stand alone on a line, unindented",
        ),
        (
            "# d9m: ignore[unused-suppression] r",
            "`unused-suppression` cannot be suppressed by a comment, only by the configuration",
        ),
    ],
)
def test_unknown(comment: str, message: str) -> None:
    kept, count, extra = apply([finding(1)], {PATH: scan(f"f()  {comment}\n")}, KNOWN)
    assert (len(kept), count) == (1, 0)
    assert [(one.rule, one.id, one.message) for one in extra] == [("unknown-suppression", "D9M903", message)]


def test_known_names_beside_an_unknown_one_work() -> None:
    kept, count, extra = run("f()  # d9m: ignore[nonsense, unseeded-numpy] r\n", finding(1))
    assert (kept, count, extra) == ([], 1, ["1: unknown rule `nonsense` in a suppression"])


def test_unused() -> None:
    text = "f()  # d9m: ignore[unseeded-numpy, D9M102] r\n# d9m: ignore-file[thread-order] r\n"
    assert run(text, finding(1)) == (
        [],
        1,
        [
            "1: suppression of `D9M102` is unused: nothing to suppress here",
            "2: suppression of `thread-order` is unused: nothing to suppress in this file",
        ],
    )
    # rules that were not run cannot tell
    assert run(text, finding(1), active=("unseeded-numpy", "thread-order"))[2] == [
        "2: suppression of `thread-order` is unused: nothing to suppress in this file"
    ]


def test_comment_at_the_end_is_unused() -> None:
    assert run("f()\n# d9m: ignore[unseeded-numpy] r\n", finding(1))[:2] == ([1], 0)


def test_findings_about_comments_are_complete() -> None:
    text = "# d9m: ignore[unseeded-numpy]\nf()\n# d9m: ignore[unseeded-numpy]\ng()\n"
    _, _, extra = apply([], {"b.py": scan(text), "a.py": scan(text)}, KNOWN)
    assert [one.location for one in extra] == [
        Location(path, line, 1, line, 30) for path in ("a.py", "b.py") for line in (1, 3)
    ]
    assert {(one.hazard, one.noise, one.severity, one.confidence) for one in extra} == {
        ("suppression", "impl", "warning", "high")
    }
    assert len({one.fingerprint for one in extra}) == 4
    assert "say why" in extra[0].remedy
    moved = apply([], {"b.py": scan("\n\n" + text)}, KNOWN)[2]
    assert {one.fingerprint for one in moved} < {one.fingerprint for one in extra}


def test_rules_about_suppressions() -> None:
    assert [(one.name, one.id) for one in RULES] == [
        ("suppression-without-reason", "D9M901"),
        ("unused-suppression", "D9M902"),
        ("unknown-suppression", "D9M903"),
    ]
    assert all(one.summary and one.why and one.remedies for one in RULES)


COMMENTS = st.lists(
    st.sampled_from(
        [
            *("f()", "f(\n  1)", "\n", "(", "  # d9m: ignore[unseeded-numpy] r", "# d9m: ignore[D9M102]"),
            *("# d9m: ignore-file[D9M103] r", "# d9m: ignore[x, thread-order] r"),
        ]
    ),
    max_size=20,
).map("".join)
FINDINGS = st.lists(
    st.builds(
        lambda line, more, name, path: finding(line, line + more, name, path),
        st.integers(1, 20),
        st.integers(0, 3),
        st.sampled_from([one.name for one in KNOWN]),
        st.sampled_from([PATH, "other.py"]),
    ),
    max_size=20,
)


@given(COMMENTS, FINDINGS)
def test_no_finding_is_lost_uncounted(text: str, findings: list[Finding]) -> None:
    kept, count, extra = apply(findings, {PATH: scan(text)}, KNOWN)
    assert len(kept) + count == len(findings)
    left = list(findings)
    for one in kept:
        left.remove(one)  # in the given order, nothing invented
    assert [one for one in findings if one in kept] == list(kept)
    assert all(one.location.path == PATH for one in left)
    assert {one.rule for one in extra} <= {one.name for one in RULES}


# --- baseline --------------------------------------------------------------------------------------------------------


def test_baseline_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    old = [finding(3), finding(1, name="thread-order"), finding(2)._replace(message="a\u00fc\ud800")]
    write_baseline(old, file)
    data = file.read_bytes()
    write_baseline(reversed(old), file)
    assert file.read_bytes() == data
    assert data.endswith(b"}\n")
    entries = json.loads(data)
    assert entries["version"] == 1
    assert list(entries["fingerprints"]) == sorted(one.fingerprint for one in old)
    assert entries["fingerprints"][old[0].fingerprint] == {"rule": "unseeded-numpy", "path": PATH, "message": "m"}
    new = finding(9)
    assert split([old[0], new, old[1]], load_baseline(file)) == ((new,), 2)


def test_finding_without_fingerprint_is_always_new(tmp_path: Path) -> None:
    bare = finding(1)._replace(fingerprint="")
    write_baseline([bare], tmp_path / "b.json")
    assert split([bare], load_baseline(tmp_path / "b.json")) == ((bare,), 0)
    assert split([finding(1)], Baseline()) == ((finding(1),), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline: not valid JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[]", "not a baseline: expected an object with `version` and `fingerprints`"),
        ("{}", "not a baseline: expected an object with `version` and `fingerprints`"),
        ('{"version": 2}', "baseline version 2 is unknown, expected 1; write it anew"),
        ('{"version": true}', "baseline version True is unknown, expected 1; write it anew"),
        *(
            (text, "not a baseline: `fingerprints` must map each fingerprint to `rule`, `path` and `message`")
            for text in ('{"version": 1}', '{"version": 1, "fingerprints": {"a": {"rule": "x", "path": "y"}}}')
        ),
    ],
)
def test_broken_baseline(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_baseline(file)
    assert str(caught.value) == f"{file}: {message}"


def test_baseline_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone.json: baseline not found$"):
        load_baseline(tmp_path / "gone.json")
    with pytest.raises(ConfigError, match=r": cannot be read: Is a directory$"):
        load_baseline(tmp_path)
    with pytest.raises(UsageError, match=r"b.json: cannot be written: No such file or directory$"):
        write_baseline([], tmp_path / "no" / "b.json")
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(ConfigError, match=r"deep.json: not a baseline: not valid JSON"):
        load_baseline(tmp_path / "deep.json")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("train.py", "# d9m: ignore[name] reason"),
        ("a/n.ipynb", "# d9m: ignore[name] reason"),
        ("run.sh", "# d9m: ignore[name] reason"),
        ("config.yaml", "# d9m: ignore[name] reason"),
        ("op.cu", "// d9m: ignore[name] reason"),
        ("config.json", ""),
    ],
)
def test_how_a_file_says_it(path: str, expected: str) -> None:
    assert form(path) == expected
