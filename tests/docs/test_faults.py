"""docs/faults.md: every fault has a test, and every test of a fault is on the page."""

import re

from tests.fakes.sources import ROOT

from caliper.core.run import FINAL_STATES, RunState
from caliper.pipeline.store.run_record import TRANSITIONS

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
    page = (ROOT / "docs" / "faults.md").read_text("utf-8")
    for each in TRANSITIONS:
        states = f"| {', '.join(each.before)} | {', '.join(each.after)} |"
        assert f"{states} {each.cause} | {each.owner} |" in page
    assert page.split("## States of a run")[1].count("\n| ") == len(TRANSITIONS) + 1


def test_every_state_that_is_not_final_leads_to_one_that_is() -> None:
    for state in RunState:
        ways = {after for each in TRANSITIONS if state in each.before for after in each.after}
        assert state in FINAL_STATES or ways & FINAL_STATES
