from dataclasses import replace
from datetime import UTC, datetime

from tests.fakes import runs
from tests.fakes.reports import capability

from caliper.cli.remote import run_line
from caliper.core.run import RunState
from caliper.pipeline.store.run_record import Evaluation


def test_a_watched_headline_says_which_tasks_it_lacks() -> None:
    started = datetime(2026, 11, 23, tzinfo=UTC)
    part = capability()
    found = Evaluation(runs.spec(), RunState.RUNNING, started, (part,))
    assert "lacks" not in run_line(found)
    lacking = replace(part, lacking=("OCR", "event"))
    assert run_line(replace(found, benchmarks=(lacking,))).endswith("; lacks OCR, Event)")
