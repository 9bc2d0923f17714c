"""Versions that a README names: where no file that a tool reads states any, they tell what the authors ran."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import Version

from d9mlint.model import Limit
from d9mlint.target.known import KNOWN, package_name

README = re.compile(r"readme(?:\.(?:md|rst|txt|markdown))?", re.IGNORECASE)
_PACKAGES = r"tensorflow(?:[-_ ](?:gpu|cpu))?|pytorch[-_ ]lightning|pytorch|torch|keras|jax|horovod|transformers|python"
_STATED = re.compile(
    rf"(?<![\w./-])(?P<name>{_PACKAGES})[*_`'\])]*"
    r"(?P<between>(?:[\s:|=(\[*_`'~<>≥≤-]|,(?=\s*v(?:er\.|ersion\b|\d))|recommended|version|ver\.|"
    r"(?:currently )?tested (?:with|on|under)|v(?=\d))*)"
    r"(?P<version>\d+\.(?:\d+(?:\.\d+)?|x))(?![\w.]*\d)(?=(?P<after>.{0,40}))",
    re.IGNORECASE,
)
"""``torch, version 1.0.1``, ``tensorflow-gpu==1.12.0``, ``Python (3.6)``, ``**Keras**: 2.2.4``, ``TensorFlow 1.x``."""
_NEXT = re.compile(
    r"(?:\s*(?:,|/|&)|(?=\s*(?:and|or)\b))\s*(?:(?:and|or)\s+)?v?(?P<version>\d+\.\d+(?:\.\d+)?)(?![\w.]*\d|\s*\+)"
)
"""What follows a version in a list of those that were tried: ``1.8.1, 1.9 and 2.0``."""
_BOUND = re.compile(r"[<>≥≤~]")
_AT_LEAST = re.compile(r"\W*(\+(?![a-z])|(or|and) (later|above|higher|newer|greater|up))|.*\d\s*\+")
"""What follows a version that is the lowest one; of several, the last may be (``2.7 and 3.4+``)."""
_ABOUT = re.compile(
    r"requir|depend|prerequi|environment|install|set-?up|test|develop|\brun|version|pip|conda|\bus(e|es|ed|ing)\b|built|"
    r"implemented|written|need|works? with|compatib",
    re.IGNORECASE,
)
"""Words of a line, or of the heading above it, that speak of what a program runs on."""
_ITEM = re.compile(r"\s*(?:[-*+|]|\d+[.)])\s|\s*[\w.-]+\s+v?\d[\w.+-]*\s*$")
"""An item of a list, or a row of nothing but a name and a version (``torch              0.4.1``)."""
_ELSEWHERE = re.compile(
    r"branch|\bport(ed|s)?\b|\bfork|upgrad|migrat|instead|another|convert|\bother\b|official|\bsee\b|deprecat|"
    r"not support|no longer|checkout|news|20[12]\d",
    re.IGNORECASE,
)
"""Words of a line that speak of another program, or of what was or will be."""
_PART = r"(?:[^.;,()]|\.(?=\d)){0,60}"
_NEGATED = (
    rf"(?:(?:\b(?:not|never|cannot)|n[’']t)\b(?!\s+(?:only|just)\b){_PART}?\b(?:support|work|compatib|run|test|us(?:e|ing)\b)|"
    r"\b(?:unsupported|incompatible|fails?|breaks?)\b)"
)
_DENIED = re.compile(rf"{_NEGATED}{_PART}$", re.IGNORECASE)
_REFUSED = re.compile(rf"{_PART}?{_NEGATED}", re.IGNORECASE)
"""What stands before or after a version on which a program does not run, in the same part of a sentence."""
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
"""``[PyTorch](https://pytorch.org)``."""
_HEADING = re.compile(r"#+\s+(.*)|\*\*(.+)\*\*\s*$")


def named(text: str, label: str) -> Iterator[Limit]:
    """What a README says of each package: the newest release of those that it names for what the program runs on.

    A lower bound (``PyTorch >= 0.4``, "1.0 or later") says nothing of the release that is installed today.
    """
    found: dict[str, tuple[tuple[int, ...], Limit]] = {}
    for number, written, heading in _lines(text):
        line = _LINK.sub(r"\1", written)
        listed = _ITEM.match(line) is not None and _ABOUT.search(heading)
        if not (listed or _ABOUT.search(line)) or _ELSEWHERE.search(line):
            continue
        for match in _STATED.finditer(line):
            if _BOUND.search(match["between"]) or _AT_LEAST.match(match["after"]):
                continue
            if _DENIED.search(line, 0, match.start()) or _REFUSED.match(match["after"]):
                continue
            package = package_name(re.sub(r"[ _]", "-", match["name"].lower()))
            if package not in KNOWN:
                continue
            release = _newest(package, match, line)
            if package == "python":  # whose patches are not told apart
                release = ".".join(release.split(".")[:2])
            rank = tuple(map(int, release.split(".")))
            if package not in found or found[package][0] < rank:
                first = Version(KNOWN[package][0])
                older = rank < first.release[: len(rank)]  # than all that are known: the first of these is nearest
                wanted = f"=={first}" if older else f"=={release}.*"
                found[package] = rank, Limit(package, wanted, f"{label}:{number}")
    for package in sorted(found):
        yield found[package][1]


def _newest(package: str, match: re.Match[str], line: str) -> str:
    """The version that a line states, the newest where it lists several."""
    release, end = match["version"].lower().removesuffix(".x"), match.end("version")
    while (other := _NEXT.match(line, end)) is not None:
        if Version(release) < Version(other["version"]) <= Version(KNOWN[package][-1]):
            release = other["version"]
        end = other.end("version")
    return release


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines that name a package, with their number and the heading above, or the item that they are parts of."""
    heading = ""
    items: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        title = _HEADING.match(line)
        if title is not None:
            heading = title[1] or title[2]
        depth = len(line) - len(line.lstrip())
        if line.strip():
            items = [item for item in items if item[0] < depth]
        if len(line) <= _LONGEST and _NAME.search(line):
            yield number, line, " ".join((heading, *(item for _, item in items)))
        if _ITEM.match(line):
            items.append((depth, line[:_LONGEST]))


_LONGEST = 2000
_NAME = re.compile(_PACKAGES, re.IGNORECASE)
