"""A run whose own code fails: it fails alone."""

import errno
from typing import Any

import pytest
from tests.fakes.evaluations import House, event_of, scored, stored_run

from caliper.adapters.exports.json import JsonExport
from caliper.core.errors import StoreUnavailable
from caliper.core.messages import EventKind
from caliper.core.run import RunState
from caliper.pipeline.ledger.run_ledger import RunLedger

ODD = "odd"


async def ends_of(house: House) -> dict[str, tuple[RunState, str]]:
    """How an odd run and another one end, whose records come after each other."""
    runs = {name: await stored_run(house.store, name) for name in (ODD, "other")}
    board = await house.aggregator()
    for run in runs.values():
        await board.apply([event_of(run, EventKind.PLAN, 0), *scored(run)])
    await board.conclude()
    ends = {event.run: (event.state, event.error) for event in house.announced}
    return {name: ends[run.spec.run_id] for name, run in runs.items()}


def sinks_that_raise(error: BaseException) -> Any:
    def sinks(spec: Any, _: Any) -> Any:
        if spec.name == ODD:
            raise error
        return [JsonExport()]

    return sinks


async def test_a_report_that_cannot_be_computed_fails_its_run() -> None:
    ends = await ends_of(House(sinks=sinks_that_raise(ZeroDivisionError("by zero"))))
    assert ends == {
        ODD: (RunState.FAILED, "ZeroDivisionError: by zero"),
        "other": (RunState.COMPLETE, ""),
    }


async def test_a_verdict_that_cannot_be_entered_fails_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merge = RunLedger.merge

    async def faulty(run: RunLedger, verdicts: Any) -> Any:
        if run.spec.name == ODD:
            raise KeyError("colour")
        return await merge(run, verdicts)

    monkeypatch.setattr(RunLedger, "merge", faulty)
    ends = await ends_of(House())
    assert ends[ODD] == (RunState.FAILED, "KeyError: 'colour'")
    assert ends["other"] == (RunState.COMPLETE, "")


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("away"),
        OSError(errno.EMFILE, "too many open files"),
        MemoryError(),
        RuntimeError("the event loop is closed"),
        ExceptionGroup("several", [StoreUnavailable("away")]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_surrounds_a_run_is_not_its_fault(error: Exception) -> None:
    with pytest.raises(type(error)):
        await ends_of(House(sinks=sinks_that_raise(error)))
