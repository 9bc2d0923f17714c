"""GitHub workflow commands: one annotation a finding.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from d9mlint.model import Finding, Report, Unchecked
from d9mlint.report.words import conditions, encodable, seen

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    """A command a line; empty where there is nothing to say."""
    commands = [*map(_finding, report.findings), *map(_unchecked, report.unchecked)]
    return "".join(encodable(command) + "\n" for command in commands)


def _finding(finding: Finding) -> str:
    place = finding.location
    properties = {"file": place.path}
    if not place.in_cell:  # lines of a cell are none of the file
        properties |= {"line": str(place.line), "endLine": str(place.end_line)}
    if (
        place.line == place.end_line and not place.in_cell
    ):  # the runner drops columns of ranges over several lines, with a complaint
        properties["col"] = str(place.column)
    properties["title"] = f"{finding.rule} [{finding.id}]" + (" confirmed" if finding.confirmed else "")
    parts = (
        ("", f"cell {place.cell}, line {place.line}" if place.cell else ""), ("", finding.message),
        ("when: ", conditions(finding)), ("seen: ", seen(finding)), ("fix: ", finding.remedy.strip()),
    )  # fmt: skip
    text = "\n".join(label + part for label, part in parts if part)
    return _command(_COMMANDS.get(finding.severity, "notice"), properties, text)


def _unchecked(unchecked: Unchecked) -> str:
    return _command("error", {"file": unchecked.path, "title": "not checked"}, f"not checked: {unchecked.reason}")


def _command(name: str, properties: dict[str, str], text: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
