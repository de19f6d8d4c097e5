"""JUnit XML, which CI systems show: suites of cases that passed, failed, erred or were skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class JunitCase:
    """A case. `kind` and `message` say why it did not pass, `output` is shown beside it."""

    name: str
    status: Literal["passed", "failure", "error", "skipped"] = "passed"
    kind: str = ""
    message: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class JunitSuite:
    """Cases of one subject."""

    name: str
    cases: tuple[JunitCase, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_text(suites: Iterable[JunitSuite]) -> str:
    """The suites as XML. The text depends only on them."""
    root = Element("testsuites")
    for suite in suites:
        _add(root, suite)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _add(root: Element, suite: JunitSuite) -> None:
    statuses = [case.status for case in suite.cases]
    counts = {f"{name}s": str(statuses.count(name)) for name in ("failure", "error")}
    counts |= {"skipped": str(statuses.count("skipped")), "tests": str(len(statuses))}
    parent = SubElement(root, "testsuite", {"name": _plain(suite.name), **counts})
    if suite.properties:
        properties = SubElement(parent, "properties")
        for name, value in suite.properties.items():
            SubElement(properties, "property", {"name": _plain(name), "value": _plain(value)})
    for case in suite.cases:
        names = {"name": _plain(case.name), "classname": _plain(suite.name), "time": "0"}
        element = SubElement(parent, "testcase", names)
        if case.status != "passed":
            about = {"message": _plain(case.message)}
            if case.status != "skipped":
                about["type"] = case.kind
            SubElement(element, case.status, about)
        if case.output:
            SubElement(element, "system-out").text = _plain(case.output)


def _plain(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
