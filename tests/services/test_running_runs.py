import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.fakes.call_meter import Meter
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import PATIENCE, AheadClock
from tests.fakes.command import Command
from tests.fakes.installation import installation, listening, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.benchmarks.registry import benchmark
from caliper.cli.exits import Exit
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.report import BenchmarkReport, VerdictRow
from caliper.core.run import RunState
from caliper.local.config import read_config
from caliper.local.submission import send
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.run_record import Evaluation
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

FIRST_CALLS, SECOND_CALLS = 20, 15
FIRST, SECOND = 16, 28
"""The questions that so many calls decide: some take two, and the last job is not over."""


@dataclass
class Running:
    """A run whose judge has answered so many calls, one at a time."""

    gateway: RemoteGateway
    begun: Evaluation
    meter: Meter
    clock: AheadClock

    @property
    def run(self) -> str:
        return self.begun.spec.run_id

    async def known(self, least: int) -> Evaluation:
        """Where the run stands once so many questions have an outcome."""
        async for found in self.gateway.watch(self.run, 0.05):
            if sum(_known(part) for part in found.benchmarks) >= least:
                return found
        raise AssertionError("the run ended before")

    async def kept(self, least: int) -> list[VerdictRow]:
        """All verdicts, once so many can be listed."""
        async with asyncio.timeout(PATIENCE):
            while True:
                # Snapshots are taken by the clock, and nobody tells of them.
                self.clock.ahead += 30
                rows, token = await self.gateway.verdicts(self.run, VerdictQuery(size=1000))
                assert token == ""
                if len(rows) >= least:
                    return rows
                await asyncio.sleep(0.05)


def _known(part: BenchmarkReport) -> int:
    return part.coverage.scored + sum(part.coverage.unscored.values())


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Running]:
    clock, meter = AheadClock(), Meter(FIRST_CALLS)
    store = DirectoryStore(folder / "store")
    ground = replace(memory_ground(store), clock=clock)
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks["capability"]
    changes = {"benchmarks": {"capability": part}, "coverage_floor": 0.1}
    config = config.model_copy(update=changes)
    async with ChatServer(otherwise=meter) as chat:
        judging = JudgeSettings(model=f"tgi:{chat.url}", in_flight=1, anchors=False)
        async with installation(ground, judging) as gateway:
            found = Running(gateway, await send(config, gateway), meter, clock)
            yield found
            meter.allow()
            await over(gateway, found.run)


async def pages(gateway: RemoteGateway, run: str, wanted: VerdictQuery) -> list[VerdictRow]:
    rows, token = await gateway.verdicts(run, wanted)
    while token:
        assert len(rows) > 0
        page, token = await gateway.verdicts(run, replace(wanted, token=token))
        rows += page
    return rows


@pytest.fixture
async def going(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as found:
        await found.known(FIRST)
        yield found


async def test_verdicts_of_a_running_run_are_filtered(going: Running) -> None:
    gateway, run = going.gateway, going.run
    rows = await going.kept(FIRST)
    assert (await gateway.get(run)).state is RunState.RUNNING
    assert [row.index for row in rows] == sorted(row.index for row in rows)
    assert {row.reply for row in rows if row.reply} == {"1"}
    dimension = rows[-1].dimension
    assert {row.dimension for row in rows} > {dimension}
    found = await pages(gateway, run, VerdictQuery(dimension=dimension, size=2))
    assert found == [row for row in rows if row.dimension == dimension]
    assert {row.outcome for row in rows} <= set(benchmark("capability").labels)
    for outcome in {row.outcome for row in rows}:
        found = await pages(gateway, run, VerdictQuery("capability", outcome=outcome, size=3))
        assert found == [row for row in rows if row.outcome == outcome]
    with pytest.raises(InvalidInput, match=r"outcome: unknown outcome 'right'; known: correct, "):
        await gateway.verdicts(run, VerdictQuery(outcome="right"))
    # A word of another benchmark.
    with pytest.raises(InvalidInput, match="unknown outcome 'cannot answer'"):
        await gateway.verdicts(run, VerdictQuery("capability", outcome="cannot answer"))


async def test_pages_stay_where_they_were_while_the_run_goes_on(going: Running) -> None:
    before = await going.kept(FIRST)
    first, token = await going.gateway.verdicts(going.run, VerdictQuery(size=7))
    assert first == before[:7]
    going.meter.allow(SECOND_CALLS)
    await going.known(SECOND)
    after = await going.kept(SECOND)
    rest = await pages(going.gateway, going.run, VerdictQuery(size=7, token=token))
    assert rest == [row for row in after if row.index > first[-1].index]
    assert len(rest) > len(before) - 7
    going.meter.allow()
    await over(going.gateway, going.run)
    ended = await pages(going.gateway, going.run, VerdictQuery(size=50, token=token))
    # At once: who waited for the end finds all of it.
    whole = await pages(going.gateway, going.run, VerdictQuery(size=1000))
    assert len(whole) > len(after)
    assert ended == [row for row in whole if row.index > first[-1].index]


async def test_a_partial_report_tells_how_far_it_goes(going: Running) -> None:
    rows = await going.kept(FIRST)
    with pytest.raises(NotReady, match="partial"):
        await going.gateway.report(going.run)
    report = json.loads(await going.gateway.report(going.run, partial=True))
    assert (report["state"], report["partial"]) == ("running", True)
    coverage = report["benchmarks"]["capability"]["coverage"]
    assert coverage["scored"] == sum(row.score is not None for row in rows)
    page = await going.gateway.report(going.run, "report.html", partial=True)
    assert b"Partial" in page or b"partial" in page
    going.meter.allow()
    ended = await over(going.gateway, going.run)
    assert ended.state is RunState.COMPLETE
    # At once: who waited for the end finds it.
    report = json.loads(await going.gateway.report(going.run))
    assert (report["state"], report["partial"]) == ("complete", False)


async def test_whoever_loses_the_gateway_is_told_how_to_go_on(tmp_path: Path) -> None:
    ground = memory_ground(DirectoryStore(tmp_path / "store"))
    caliper = Command(tmp_path)
    async with ChatServer(otherwise=Meter(FIRST_CALLS)) as chat:
        judging = JudgeSettings(model=f"tgi:{chat.url}", in_flight=4, anchors=False)
        parts = await all_services(ground, judging, QaReaderSettings(), None)
        async with listening(parts) as address:
            config = EXAMPLES / "careful.yaml"
            watching = caliper.start("evaluate", "--config", config, "--server", address)
            assert watching.stdout is not None
            first = await asyncio.to_thread(watching.stdout.readline)
        _, err = await asyncio.to_thread(watching.communicate)
    assert watching.returncode == Exit.SURROUNDINGS
    said = f"Run {first.split()[0]} continues there; rerun the same command to watch it."
    assert said in err
