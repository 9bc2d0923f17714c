"""Edits: what is applied, what is left alone, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.fix import CannotWrite, apply, edited, overlaps, unified, write
from d9mlint.model import Edit, Finding, Fix, Location


def edit(line: int, column: int, end: int, text: str, path: str = "a.py") -> Edit:
    return Edit(Location(path, line, column, line, end), text)


def finding(*edits: Edit, safe: bool = True) -> Finding:
    place = edits[0].location
    return Finding("r", "D9M999", "h", "algo", "error", "high", "m", place, fixes=(Fix("f", edits, safe),))


def test_safe_fixes_are_applied_and_counted() -> None:
    done = apply([finding(edit(1, 2, 2, "()")), finding(edit(2, 1, 2, "c"), safe=False)], {"a.py": b"f\nb\n"})
    assert done.sources == {"a.py": b"f()\nb\n"}
    assert len(done.fixed) == 1
    assert done.refused == ()


def test_of_overlapping_fixes_the_first_wins() -> None:
    first, second = finding(edit(1, 1, 4, "x")), finding(edit(1, 3, 6, "y"))
    for order in ([first, second], [second, first]):
        done = apply(order, {"a.py": b"abcdef\n"})
        assert done.sources == {"a.py": b"xdef\n"}
        assert done.fixed == (first,)


def test_a_fix_is_applied_with_all_its_edits_or_not_at_all() -> None:
    wide = finding(edit(1, 1, 2, "x"), edit(1, 3, 4, "y", "b.py"))
    sources = {"a.py": b"a\n", "b.py": b"abc\n"}
    assert apply([wide], sources).sources == {"a.py": b"x\n", "b.py": b"aby\n"}
    assert apply([wide], {"a.py": b"a\n"}).sources == {}
    both = [finding(edit(1, 1, 2, "z")), wide]
    assert apply(both, sources).sources == {"a.py": b"x\n", "b.py": b"aby\n"} or len(apply(both, sources).fixed) == 1


def test_equal_edits_of_two_findings_cure_both() -> None:
    done = apply([finding(edit(1, 2, 2, "()"))] * 2, {"a.py": b"f\n"})
    assert (done.sources, len(done.fixed)) == ({"a.py": b"f()\n"}, 2)


def test_a_file_that_would_not_parse_is_left_and_named() -> None:
    wide = finding(edit(1, 1, 2, "x"), edit(1, 1, 2, "(", "b.py"))
    other = finding(edit(1, 1, 2, "y", "c.py"))
    done = apply([wide, other], {"a.py": b"a\n", "b.py": b"b\n", "c.py": b"c\n"})
    assert done.sources == {"c.py": b"y\n"}
    assert done.refused == (("b.py", "its fixes would break it"),)
    assert done.fixed == (other,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\n", b"x\r\ny\r\nb\r\n"),
        (b"\xef\xbb\xbfa\nb", b"\xef\xbb\xbfx\ny\nb"),
        (b"a", b"x\ny"),
        (b"a\rb\r", b"x\ry\rb\r"),
    ],
)
def test_line_ends_and_byte_order_mark_stay(before: bytes, after: bytes) -> None:
    assert edited(before, [edit(1, 1, 2, "x\ny")]) == after


def test_encoding_stays() -> None:
    data = "# coding: latin-1\nname = 'größe'\n".encode("latin-1")
    assert edited(data, [edit(2, 9, 14, "maß")]) == "# coding: latin-1\nname = 'maß'\n".encode("latin-1")
    assert edited(data, [edit(2, 9, 14, "雑")]) is None
    assert edited(b"# coding: klingon\n", [edit(1, 1, 1, "x")]) is None


@pytest.mark.parametrize("wrong", [edit(3, 1, 1, "x"), edit(1, 9, 9, "x"), edit(1, 3, 2, "x"), edit(1, 0, 1, "x")])
def test_ranges_outside_of_the_text_are_refused(wrong: Edit) -> None:
    assert edited(b"ab\n", [wrong]) is None


WORDS = st.lists(st.sampled_from(["a", "bc", "xyz"]), min_size=1, max_size=6)
LINES = st.lists(WORDS, min_size=1, max_size=5)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, list[Finding]]:
    """A text of names, some of which are replaced, and what must come out."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    before, after, findings = [], [], []
    for number, words in enumerate(draw(LINES), 1):
        old, new, column = [], [], 1
        for word in words:
            swap = draw(st.booleans())
            if swap:
                findings.append(finding(edit(number, column, column + len(word), word.upper() * 2)))
            old.append(word)
            new.append(word.upper() * 2 if swap else word)
            column += len(word) + 1
        before.append("+".join(old))
        after.append("+".join(new))
    return newline.join(before), newline.join(after), draw(st.permutations(findings))


@given(changes())
def test_disjoint_edits_give_exactly_the_text_meant(change: tuple[str, str, list[Finding]]) -> None:
    before, after, findings = change
    sources = {"a.py": before.encode()}
    done = apply(findings, sources)
    assert {**sources, **done.sources} == {"a.py": after.encode()}
    assert len(done.fixed) == len(findings)
    assert apply([], done.sources).sources == {}


EDITS = st.builds(
    lambda a, b, text: finding(edit(1, min(a, b), max(a, b), text)),
    st.integers(1, 12), st.integers(1, 12), st.sampled_from(["", "x", "(", "1 + ", "\n"]),
)  # fmt: skip


@given(st.lists(EDITS, max_size=6))
def test_any_edits_leave_a_text_that_parses_whatever_their_order(findings: list[Finding]) -> None:
    sources = {"a.py": b"a = bb + c\n"}
    done = apply(findings, sources)
    for data in done.sources.values():
        compile(data, "a.py", "exec")
    assert apply(findings[::-1], sources).sources == done.sources
    places = [x.location for f in done.fixed for x in f.fixes[0].edits]
    kept = list(dict.fromkeys(places))
    assert not any(overlaps(a, b) for i, a in enumerate(kept) for b in kept[:i])


def test_diff_has_no_times_and_shows_missing_newlines() -> None:
    text = unified({"b.py": b"x\n", "a.py": b"one\x0c\ntwo"}, {"b.py": b"y\n", "a.py": b"one\x0c\n2"})
    assert text == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n one\x0c\n-two\n\\ No newline at end of file\n"
        "+2\n\\ No newline at end of file\n--- b.py\n+++ b.py\n@@ -1 +1 @@\n-x\n+y\n"
    )


def test_write_keeps_mode_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "a.py", tmp_path / "l.py"
    file.write_text("a")
    file.chmod(0o640)
    link.symlink_to("a.py")
    write(link, b"b", [tmp_path])
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b", 0o640)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.py", "l.py"]


def test_write_does_not_leave_the_tree(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.py").write_text("a")
    (tmp_path / "in/l.py").symlink_to("../out.py")
    with pytest.raises(CannotWrite, match="out of the tree"):
        write(tmp_path / "in/l.py", b"b", [tmp_path / "in"])
    assert (tmp_path / "out.py").read_text() == "a"
    with pytest.raises(CannotWrite, match="read-only|cannot be written"):
        write(tmp_path / "in/gone.py", b"b", [tmp_path])
