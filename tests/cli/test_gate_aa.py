"""`caliper gate --aa`: a run and its replicate."""

import pytest
import yaml
from tests.fakes.command import Command, with_runs

CHECKS = [
    {"benchmark": "capability", "figure": "tasks.OCR.f1", "max_drop": 5.0},
    {"benchmark": "captionqa", "figure": "overall.score", "max_relative_drop": 0.05},
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with the run monday, its replicate friday, and another run."""
    caliper = with_runs(
        tmp_path_factory.mktemp("aa"),
        monday=["careful"],
        friday=["careful", "--replicate", "1"],
        other=["careless", "--replicate", "1"],
    )
    (caliper.folder / "policy.yaml").write_text(yaml.safe_dump({"checks": CHECKS}))
    return caliper


def test_a_judge_of_rules_raises_no_alarm(ran: Command) -> None:
    flags = ("gate", "--aa", "--policy", "policy.yaml", "monday", "friday")
    told = ran(*flags, "--json", code=0).told
    assert told["redraws"] == 10_000
    assert [check["figure"] for check in told["checks"]] == ["tasks.OCR.f1", "overall.score"]
    for check in told["checks"]:
        assert check["redraws"]["questions"] > 10
        assert check["redraws"]["changed"] == check["redraws"]["alarms"] == 0
        assert check["redraws"]["drift"] == 1.0


def test_only_a_run_and_its_replicate_are_tried(ran: Command) -> None:
    flags = ("gate", "--aa", "--policy", "policy.yaml")
    assert "not a run and its replicate" in ran(*flags, "monday", "other", code=2).err
    assert "not a run and its replicate" in ran(*flags, "monday", "monday", code=2).err
    told = ran(*flags, "monday", "friday", "--markdown", "told.md", code=2).err
    assert "but not --server, --markdown or --junit" in told


def test_checks_that_cannot_be_tried_leave_it_open(ran: Command) -> None:
    checks = [CHECKS[0] | {"max_drop": 0}, CHECKS[0] | {"figure": "average.hit_rate"}]
    (ran.folder / "none.yaml").write_text(yaml.safe_dump({"checks": checks}))
    told = ran("gate", "--aa", "--policy", "none.yaml", "monday", "friday", code=3).out
    assert "no margin to try" in " ".join(told.split())
    assert "no such mean" in " ".join(told.split())
