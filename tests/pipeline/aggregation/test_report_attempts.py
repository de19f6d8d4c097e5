"""Reports that end their process: what the store counts, and what becomes of the run."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.checkpoint_server import Killed
from tests.fakes.evaluations import House, event_of, scored, set_up
from tests.fakes.runs import Planned

from caliper.adapters.exports.json import JsonExport
from caliper.core.errors import StoreFull
from caliper.core.messages import EventKind
from caliper.core.report import Report, VerdictRow
from caliper.pipeline.reports.report_attempts import ATTEMPTS


@dataclass
class Fatal(JsonExport):
    """Ends the process at each of the first `deaths` attempts, or fails there with `error`."""

    house: House
    deaths: int
    error: Exception | None = None
    pictures: list[bool] = field(default_factory=list)

    def sinks(self, pictures: bool, *_: object) -> Sequence[JsonExport]:
        self.pictures.append(pictures)
        return [self]

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        if len(self.pictures) > self.deaths:
            return super().write(report, verdicts, directory)
        if self.error is not None:
            raise self.error
        self.house.store.full = True
        raise Killed


async def lives(house: House, run: Planned, count: int) -> None:
    """So many processes, each of which reads the log and writes what is due until it dies."""
    for _ in range(count):
        house.store.full = False
        aggregator = await house.aggregator()
        await aggregator.apply(scored(run))
        await aggregator.conclude()


async def dying(house: House, run: Planned, count: int) -> None:
    for _ in range(count):
        with pytest.raises(Killed):
            await lives(house, run, 1)


async def fatal(deaths: int, error: Exception | None = None) -> tuple[House, Planned, Fatal]:
    house, run, _ = await set_up()
    sink = Fatal(house, deaths, error)
    house.sinks, house.plain = partial(sink.sinks, True), partial(sink.sinks, False)
    return house, run, sink


async def test_the_second_attempt_has_no_pictures() -> None:
    house, run, sink = await fatal(deaths=1)
    await dying(house, run, 1)
    await lives(house, run, 1)
    assert sink.pictures == [True, False]
    assert [event.state for event in house.announced] == ["complete"]
    assert house.file(run) is not None


async def test_after_two_attempts_the_run_fails_with_the_reason() -> None:
    house, run, sink = await fatal(deaths=2)
    await dying(house, run, 2)
    await lives(house, run, 3)
    assert sink.pictures == [True, False]
    (end,) = house.announced
    assert end.state == "failed"
    assert "died while writing the report, and again without pictures" in end.error
    # Started again, it has all attempts again.
    aggregator = await house.aggregator()
    await aggregator.apply([*house.ends(), event_of(run, EventKind.PLAN, 9, start=2)])
    await aggregator.conclude()
    assert sink.pictures == [True, False, True]
    assert [event.state for event in house.announced] == ["failed", "complete"]


@pytest.mark.parametrize("error", [StoreFull("no space left"), RuntimeError("a defect")])
async def test_an_error_is_no_attempt(error: Exception) -> None:
    house, run, sink = await fatal(deaths=4, error=error)
    for _ in range(4):
        with pytest.raises(type(error)):
            await lives(house, run, 1)
    await lives(house, run, 1)
    assert sink.pictures == [True] * 5
    assert [event.state for event in house.announced] == ["complete"]


async def test_a_process_that_could_not_take_its_attempt_back_still_knows_of_it() -> None:
    house, run, sink = await fatal(deaths=4)
    aggregator = await house.aggregator()
    await aggregator.apply(scored(run))
    for _ in range(4):
        with pytest.raises(Killed):
            await aggregator.conclude()
        stored = json.loads(house.store.objects[f"runs/{run.spec.run_id}/{ATTEMPTS}"])
        assert stored["attempts"] == 1
        house.store.full = False
    await aggregator.conclude()
    assert sink.pictures == [True] * 5
    assert [event.state for event in house.announced] == ["complete"]


async def test_a_count_that_cannot_be_read_is_none() -> None:
    house, run, sink = await fatal(deaths=0)
    house.store.objects[f"runs/{run.spec.run_id}/{ATTEMPTS}"] = b"{"
    await lives(house, run, 1)
    assert sink.pictures == [True]
