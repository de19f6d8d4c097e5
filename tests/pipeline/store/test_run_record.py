from datetime import UTC, datetime
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.core.errors import NotFound
from caliper.core.run import RunState
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.run_record import RunRecord, read_record
from caliper.pipeline.store.runs import CANCELLED, END, STARTED, refuse, run_store, write_json
from caliper.ports.stages import Scores

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def record(starts: int = 1, end: dict[str, Any] | None = None, **changes: Any) -> RunRecord:
    given = {"planned": True, "started": NOW, "starts": starts, "end": end or {}}
    return RunRecord(runs.spec(), **given | changes)


def ended(state: str, start: int = 1) -> dict[str, Any]:
    return {"state": state, "start": start, "error": "why" if state == "failed" else ""}


def told(state: str, start: int = 1) -> Scores:
    return Scores(RunState(state), (), "", start)


@pytest.mark.parametrize(
    ("found", "scores", "state"),
    [
        # What is stored alone.
        (record(planned=False), None, "planning"),
        (record(planned=False, cancelled=True), None, "cancelled"),
        (record(), None, "running"),
        (record(cancelled=True), None, "cancelling"),
        (record(end=ended("complete")), None, "complete"),
        (record(2, ended("complete")), None, "running"),
        (record(2, ended("decided")), None, "decided"),
        (record(end=ended("cancelled"), cancelled=True), None, "cancelled"),
        (record(2, ended("finished")), None, "running"),
        (record(1, ended("finished", 0)), None, "finished"),
        (record(2, ended("failed"), refused="no rows"), None, "failed"),
        # What the aggregator told of this start, and of the one before it.
        (record(), told("running"), "running"),
        (record(cancelled=True), told("running"), "cancelling"),
        (record(cancelled=True), told("complete"), "complete"),
        (record(2), told("cancelling"), "planning"),
        (record(2, ended("finished")), told("finished"), "planning"),
        (record(2, ended("finished")), told("running", 2), "running"),
        (record(2, ended("finished")), told("running"), "planning"),
        (record(2, ended("finished"), cancelled=True), told("finished"), "cancelled"),
        (record(refused="no rows"), told("running"), "failed"),
    ],
)
def test_one_rule_says_where_a_run_stands(
    found: RunRecord, scores: Scores | None, state: str
) -> None:
    assert found.status(scores).state == state
    assert found.evaluation(scores).state == state


def test_a_failed_run_says_why() -> None:
    assert record(end=ended("failed")).status().error == "why"
    assert record(end=ended("failed"), refused="no rows").status().error == "no rows"


async def test_the_record_is_what_the_store_holds() -> None:
    spec, store = runs.spec(), MemoryStore()
    kept = run_store(store, spec.run_id)
    empty = await read_record(kept, spec)
    assert empty == RunRecord(spec)
    with pytest.raises(NotFound, match="start it again"):
        empty.evaluation()
    await kept.put(SUMMARY, b"{}")
    await write_json(kept, STARTED, started=NOW.isoformat(), starts=3)
    await write_json(kept, CANCELLED, cancelled=True)
    await write_json(kept, END, state="finished")
    await refuse(kept, "no rows")
    assert await read_record(kept, spec) == RunRecord(
        spec,
        planned=True,
        started=NOW,
        starts=3,
        refused="no rows",
        cancelled=True,
        end={"schema": 1, "state": "finished"},
    )
