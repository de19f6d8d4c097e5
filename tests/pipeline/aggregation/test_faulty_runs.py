"""A run whose own code fails: it fails alone."""

import errno
from typing import Any

import pytest
from tests.fakes.evaluations import House, event_of, scored, stored_run
from tests.fakes.runs import Planned

from caliper.adapters.exports.json import JsonExport
from caliper.core.errors import StoreUnavailable
from caliper.core.messages import EventKind
from caliper.core.run import RunState
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.tallies import LiveTallies

ODD = "odd"


async def board_of(house: House) -> tuple[Aggregator, dict[str, Planned]]:
    """An aggregator with all records of an odd run and another one."""
    runs = {name: await stored_run(house.store, name) for name in (ODD, "other")}
    board = await house.aggregator()
    for run in runs.values():
        await board.apply([event_of(run, EventKind.PLAN, 0), *scored(run)])
    return board, runs


async def ends_of(house: House) -> dict[str, tuple[RunState, str]]:
    """How the two end."""
    board, runs = await board_of(house)
    await board.conclude()
    ends = {event.run: (event.state, event.error) for event in house.announced}
    return {name: ends[run.spec.run_id] for name, run in runs.items()}


def fail_odd(patch: pytest.MonkeyPatch, owner: type, method: str) -> None:
    """Have a method fail for the odd run."""
    done = getattr(owner, method)

    async def faulty(*arguments: Any) -> Any:
        if any(isinstance(each, RunLedger) and each.spec.name == ODD for each in arguments):
            raise KeyError("colour")
        return await done(*arguments)

    patch.setattr(owner, method, faulty)


def sinks_that_raise(error: BaseException) -> Any:
    def sinks(spec: Any, _: Any) -> Any:
        if spec.name == ODD:
            raise error
        return [JsonExport()]

    return sinks


@pytest.mark.parametrize("kind", [ZeroDivisionError, AssertionError, KeyError])
async def test_a_report_that_cannot_be_computed_fails_its_run(kind: type[Exception]) -> None:
    error = kind("odd")
    ends = await ends_of(House(sinks=sinks_that_raise(error)))
    assert ends == {
        ODD: (RunState.FAILED, f"{type(error).__name__}: {error}"),
        "other": (RunState.COMPLETE, ""),
    }


async def test_scores_that_cannot_be_computed_fail_their_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_odd(monkeypatch, LiveTallies, "figures")
    house = House()
    board, runs = await board_of(house)
    ident = runs[ODD].spec.run_id
    # While it goes on, and after its end.
    for state in (RunState.RUNNING, RunState.FAILED):
        found = await board.scores(ident)
        assert found is not None
        assert (found.state, found.error) == (state, "KeyError: 'colour'")
        await board.conclude()
    assert await board.scores(runs["other"].spec.run_id) is not None


async def test_a_verdict_that_cannot_be_entered_fails_its_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fail_odd(monkeypatch, RunLedger, "merge")
    ends = await ends_of(House())
    assert ends[ODD] == (RunState.FAILED, "KeyError: 'colour'")
    assert ends["other"] == (RunState.COMPLETE, "")
    # Not once for each record.
    assert caplog.text.count("Traceback") == 1


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
