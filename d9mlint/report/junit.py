"""JUnit XML, as Jenkins and others read it: a failed test for each finding, an error for what could not be checked.

https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from d9mlint.model import Finding, Report, Unchecked
from d9mlint.report.lines import place
from d9mlint.report.words import conditions, one_line, printable


def render(report: Report) -> str:
    """One suite; a program without findings is a test that passed."""
    told = {entry for found in report.findings for entry in (*found.entries, found.location.path)}
    clean = set(report.entries).difference(told, (one.path for one in report.unchecked))
    suite = Element("testsuite", name="d9mlint")
    suite.set("tests", str(len(report.findings) + len(report.unchecked) + len(clean)))
    suite.set("failures", str(len(report.findings)))
    suite.set("errors", str(len(report.unchecked)))
    for finding in report.findings:
        _finding(suite, finding)
    for unchecked in report.unchecked:
        _unchecked(suite, unchecked)
    for entry in sorted(clean):
        SubElement(suite, "testcase", classname=printable(entry), name="no findings")
    suites = Element("testsuites")
    suites.append(suite)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _finding(suite: Element, finding: Finding) -> None:
    where = f"{place(finding.location)}:{finding.location.column}"
    case = SubElement(suite, "testcase", classname=printable(finding.location.path), name=f"{finding.rule} at {where}")
    failure = SubElement(case, "failure", type=finding.severity, message=one_line(finding.message))
    parts = (("", where), ("when: ", conditions(finding)), ("fix: ", one_line(finding.remedy)))
    failure.text = "\n".join(label + part for label, part in parts if part)


def _unchecked(suite: Element, unchecked: Unchecked) -> None:
    case = SubElement(suite, "testcase", classname=printable(unchecked.path), name="not checked")
    SubElement(case, "error", type="not-checked", message=one_line(unchecked.reason))
