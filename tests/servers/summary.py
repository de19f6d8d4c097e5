"""What a test session used of the real servers, and what it left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from tests.servers.choosing import COMPONENTS

NEEDS = "needs"
"""The property of a test's report that names a component."""


def told(ran: Sequence[pytest.TestReport], skipped: Sequence[pytest.TestReport]) -> Iterator[str]:
    """One line a component: used by how many tests, or left out of how many and why; and one
    line a reason for which other tests were left out.
    """
    for component in COMPONENTS:
        name = f"{component.name} {component.version}"
        used = {report.nodeid for report in ran if _needs(report, component.name)}
        absent = [report for report in skipped if _needs(report, component.name)]
        if used:
            yield f"{name}: used by {_tests(len(used))}"
        for reason, count in _by_reason(absent).items():
            yield f"{name}: left out of {_tests(count)}: {reason}"
        if not used and not absent:
            yield f"{name}: not needed by these tests"
    others = [report for report in skipped if all(name != NEEDS for name, _ in _noted(report))]
    for reason, count in _by_reason(others).items():
        yield f"left out: {_tests(count)}: {reason}"


def _by_reason(skipped: Sequence[pytest.TestReport]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for report in skipped:
        # A skip carries where it was decided, and why.
        place = report.longrepr
        why = place[2] if isinstance(place, tuple) else str(place)
        found[why.removeprefix("Skipped: ").partition("\n")[0]] += 1
    return dict(sorted(found.items()))


def _needs(report: pytest.TestReport, component: str) -> bool:
    return (NEEDS, component) in _noted(report)


def _noted(report: pytest.TestReport) -> list[tuple[str, object]]:
    return [(name, value) for name, value in report.user_properties]


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
