"""Small helpers that turn other people's text into text that is safe and short enough to show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from d9mlint.model import GENERATORS, Finding, Record
from d9mlint.report.columns import display_width, wrapped

# Control characters move the cursor, bidirectional ones reorder what is read (CVE-2021-42574), line separators break
# lines, lone surrogates (undecodable file names) cannot be written out.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_OF_GENERATORS = tuple(f"for {name}, " for name in GENERATORS.values())
"""How the conditions begin under which one of several generators is drawn from."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile("`[^`]*`")
_PART = re.compile(
    r"[;:.!?]\s|\s\(|\s(?=while\b|from run to run\b|near the start\b)"
    r"|,\s(?=(?:which|or|so|as|best|until|while|where|whatever|whose|unless|but|that|although|because)\b)"
)
"""Where a part of a sentence ends: what stands before can be understood by itself. Commas of lists are none."""
_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!cf)(?<!vs)[.!?][)\"'`]?(?=\s+[^a-z\s]|$)")


def printable(text: str) -> str:
    """``text`` with everything escaped that would not show as itself in one line."""
    return _UNSAFE.sub(_escape, text)


def encodable(text: str) -> str:
    """``text`` with lone surrogates escaped, so that it can be written as UTF-8 (valid inside JSON strings too)."""
    return _SURROGATE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str) -> str:
    """``text`` on one line, printable."""
    return printable(" ".join(text.split()))


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = one_line(re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0])
    end = _SENTENCE.search(paragraph)
    return paragraph[: end.end()] if end else paragraph


def conditions(finding: Finding) -> str:
    """The conditions under which a finding holds as one phrase; empty where it always holds."""
    return joined(one_line(condition) for condition in finding.when)


def joined(conditions: Iterable[str]) -> str:
    """Conditions that all are needed as one phrase; commas keep the alternatives of one of them together."""
    told = list(conditions)
    if any(map(is_of_generator, told)):
        return "; ".join(told)
    return (", and " if any(" or " in one for one in told) else " and ").join(told)


def is_of_generator(condition: str) -> bool:
    """Whether a condition is that under which one of several generators is drawn from."""
    return condition.startswith(_OF_GENERATORS)


def seen(finding: Finding) -> str:
    """What bears most on the finding of all that executing its ops has shown; empty where nothing is known."""
    if not finding.evidence:
        return ""
    first, rest = finding.evidence[0], len(finding.evidence) - 1
    op = f"`{one_line(first.record.op)}`: " if len(finding.ops) > 1 and isinstance(first.record, Record) else ""
    return op + one_line(first.told) + (f"; {count(rest, 'more observation')}" if rest else "")


def shell_word(name: str) -> str:
    """A file name as it is typed in a shell."""
    return shlex.quote(printable(name))


def share(rate: float) -> str:
    """A rate in per cent, with one decimal; of a small one its first digit."""
    return f"{rate:.1%}" if rate >= 0.001 else f"{100 * rate:.1g}%"


def count(number: int, noun: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listing(names: Sequence[str], most: int) -> str:
    """At most ``most`` names, then how many more there are."""
    shown = ", ".join(printable(name) for name in names[:most])
    return f"{shown}, ... and {len(names) - most} more" if len(names) > most else shown


def shortened(text: str, room: int, lines: int = 1) -> str:
    """What of ``text`` fits into so many lines of ``room`` columns; dots stand for the rest."""
    return " ".join(wrapped(one_line(text), room, lines))


def whole_parts(text: str, room: int, lines: int = 1, more: str = "") -> str:
    """As much of ``text`` as fits into so many lines and ends where a part of the sentence ends; empty where none does.

    No part ends in code or in parentheses; ``more`` follows what is not the whole.
    """
    text = one_line(text)
    if fits(text, room, lines):
        return text
    ends = [match.start() for match in _PART.finditer(text) if _is_outside(text[: match.start()])]
    fitting = (text[:end] for end in reversed(ends) if fits(text[:end] + more, room, lines))
    return next((part + more for part in fitting if len(part) >= room // 3), "")


def fits(text: str, room: int, lines: int) -> bool:
    """Whether ``text`` takes so many lines of ``room`` columns at most."""
    return len(wrapped(text, room)) <= lines and all(display_width(line) <= room for line in wrapped(text, room))


def _is_outside(before: str) -> bool:
    """Whether what follows is neither in code nor in parentheses."""
    prose = _CODE.sub("", before)
    return "`" not in prose and prose.count("(") <= prose.count(")")


def machine(environment: Mapping[str, object]) -> str:
    """The machine on which a program was run, and the versions, on one line."""
    parts = [f"{environment.get('cpu', '')}, {environment.get('cores', '?')} cores, {environment.get('system', '')}"]
    versions = environment.get("versions")
    if isinstance(versions, dict):
        parts += [f"{name} {version}" for name, version in versions.items()]
    return ", ".join(one_line(part) for part in parts if part)


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """The non-empty items, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(item for item in items if item))
