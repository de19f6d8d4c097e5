"""docs/faults.md: every fault has a test, and every test of a fault is on the page."""

import re

from tests.fakes.sources import ROOT

from caliper.core.transitions import TRANSITIONS

SERVICES = ROOT / "tests" / "services"


def test_the_page_names_the_tests_that_there_are() -> None:
    page = (ROOT / "docs" / "faults.md").read_text("utf-8")
    named = re.findall(r"`(test_faults_\w+\.py)::(test_\w+)`", page)
    there = [
        (path.name, name)
        for path in SERVICES.glob("test_faults_*.py")
        for name in re.findall(r"^async def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert sorted(named) == sorted(there)


def test_the_page_has_the_table_of_transitions() -> None:
    page = (ROOT / "docs" / "faults.md").read_text("utf-8").split("## States of a run")[1]
    rows = [
        f"| {each.before.replace(' ', ', ')} | {each.after} | {each.cause} | {each.owner} |"
        for each in TRANSITIONS
    ]
    assert [row for row in page.splitlines() if row.startswith("| ")][1 : len(rows) + 1] == rows
