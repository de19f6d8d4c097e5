"""Looking at a run that is going on, with services as processes on real Kafka and MinIO."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest_asyncio
from tests.fakes.call_meter import Meter
from tests.fakes.chat_server import ChatServer
from tests.fakes.separate import ENDS_WITHIN, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example

from caliper.core.report import VerdictRow
from caliper.core.run import RunState
from caliper.local.config import RunConfig
from caliper.pipeline.reports.verdict_query import VerdictQuery

FIRST = 24
# A reply that is not understood is asked for once more, so that fewer verdicts are out.
KNOWN = 16


@pytest_asyncio.fixture
async def meter() -> Meter:
    return Meter(FIRST)


@pytest_asyncio.fixture
async def there(ground: Ground, meter: Meter) -> AsyncIterator[Installation]:
    chats = {kind: ChatServer(otherwise=meter if kind == "judge" else None) for kind in STAGES}
    async with installed(ground, chats) as found:
        yield found


def judged(name: str) -> RunConfig:
    config = example(name=name)
    part = {"capability": config.benchmarks["capability"]}
    return config.model_copy(update={"benchmarks": part})


async def kept(there: Installation, run: str, least: int) -> list[VerdictRow]:
    """All verdicts, once so many can be listed: the aggregator keeps them every 15 seconds."""
    async with asyncio.timeout(ENDS_WITHIN):
        while True:
            rows, _ = await there.gateway.verdicts(run, VerdictQuery(size=1000))
            if len(rows) >= least:
                return rows
            await asyncio.sleep(0.5)


async def test_a_watcher_sees_it_to_its_end_whatever_befalls_the_aggregator(
    there: Installation, meter: Meter
) -> None:
    config = judged("looking-in")
    run = await there.begin(config)
    seen: list[tuple[RunState, int]] = []
    middle = asyncio.Event()

    async def watch() -> None:
        async for found in there.gateway.watch(run, 0.1):
            known = [
                part.coverage.scored + sum(part.coverage.unscored.values())
                for part in found.benchmarks
            ]
            seen.append((found.state, sum(known)))
            if sum(known) >= KNOWN:
                middle.set()

    async with asyncio.timeout(ENDS_WITHIN), asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        await middle.wait()
        rows = await kept(there, run, KNOWN)
        report = json.loads(await there.gateway.report(run, partial=True))
        first, token = await there.gateway.verdicts(run, VerdictQuery("capability", size=10))
        await asyncio.to_thread(there.services["aggregator"].kill)
        await there.again("aggregator")
        meter.allow()
        await watching
    assert (report["state"], report["partial"]) == ("running", True)
    assert report["benchmarks"]["capability"]["coverage"]["scored"] > 0
    assert first == rows[:10]
    assert seen[-1][0] in (RunState.COMPLETE, RunState.FINISHED)
    assert [
        state for state, _ in seen[:-1] if state not in (RunState.PLANNING, RunState.RUNNING)
    ] == []
    rest, _ = await there.gateway.verdicts(run, VerdictQuery("capability", size=1000, token=token))
    assert {row.index for row in rest} >= {row.index for row in rows[10:]}
    assert len(rest) > len(rows) - 10
    await there.same_as_alone(run, config)
