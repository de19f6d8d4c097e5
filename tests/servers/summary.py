"""What a test session used of the real servers, and what it left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from tests.servers import containers, kustomize
from tests.servers.components import COMPONENTS

NEEDS = "needs"
"""The property of a test's report that names a component."""
RELEASES = "releases"
"""The property that names releases whose services ran beside each other."""


def told(ran: Sequence[pytest.TestReport], skipped: Sequence[pytest.TestReport]) -> Iterator[str]:
    """One line a component: used by how many tests, or left out of how many and why; and one
    line a reason for which other tests were left out.
    """
    for name, label in _labels().items():
        asking = [report for report in ran if _needs(report, name)]
        used = {report.nodeid for report in asking if report.when == "call"}
        failed = {report.nodeid for report in asking if report.when == "setup" and report.failed}
        absent = [report for report in skipped if _needs(report, name)]
        if used:
            yield f"{label}: used by {_tests(len(used))}"
        if failed:
            yield f"{label}: {_tests(len(failed))} FAILED for want of it, or before they began"
        for reason, count in _by_reason(absent).items():
            yield f"{label}: left out of {_tests(count)}: {reason}"
        if not (used or failed or absent):
            yield f"{label}: not needed by these tests"
    for releases in sorted({str(each) for report in ran for each in _values(report, RELEASES)}):
        yield f"rolling upgrade: {releases}"
    others = [report for report in skipped if all(name != NEEDS for name, _ in _noted(report))]
    for reason, count in _by_reason(others).items():
        yield f"left out: {_tests(count)}: {reason}"


def _labels() -> dict[str, str]:
    """What is told of each component, by its name."""
    servers = {component.name: component.label for component in COMPONENTS}
    return servers | {name: name for name in (containers.NAME, "Chromium", kustomize.NAME)}


def _by_reason(skipped: Sequence[pytest.TestReport]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for report in skipped:
        # A skip carries where it was decided, and why.
        place = report.longrepr
        why = place[2] if isinstance(place, tuple) else str(place)
        found[why.removeprefix("Skipped: ").partition("\n")[0]] += 1
    return dict(sorted(found.items()))


def _needs(report: pytest.TestReport, component: str) -> bool:
    return component in _values(report, NEEDS)


def _values(report: pytest.TestReport, wanted: str) -> list[object]:
    return [value for name, value in _noted(report) if name == wanted]


def _noted(report: pytest.TestReport) -> list[tuple[str, object]]:
    # What could not be collected needs nothing.
    return [(name, value) for name, value in getattr(report, "user_properties", ())]


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
