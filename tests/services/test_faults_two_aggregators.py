"""Two aggregators in mid-run, one of which is killed or paused: the report is the same.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
import os
import signal

import pytest
from tests.fakes.separate import ENDS_WITHIN, Installation
from tests.fakes.small_runs import example

from caliper.pipeline.aggregation.lease import KEY
from caliper.pipeline.store.runs import read_json

# Requests until a run is in its middle.
MIDDLE = 12


async def holders(there: Installation) -> int:
    """How many aggregators have held the lease so far."""
    return int((await read_json(there.store, KEY) or {}).get("number", 0))


async def taken_over(there: Installation, before: int) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        while await holders(there) == before:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("fate", ["beside", "killed", "paused"])
async def test_two_aggregators_end_a_run_as_one_does(there: Installation, fate: str) -> None:
    config = example(f"two-aggregators-{fate}")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await there.another("aggregator", "second")
    first, before = there.services["aggregator"], await holders(there)
    assert before
    if fate == "killed":
        await there.kill("aggregator")
        await taken_over(there, before)
        await there.again("aggregator")
    elif fate == "paused":
        os.kill(first.pid, signal.SIGSTOP)
        try:
            await taken_over(there, before)
        finally:
            os.kill(first.pid, signal.SIGCONT)
    await there.same_as_alone(run, config)
    ended = await there.over(run)
    # Whoever starts next finds the same end.
    for name in ("aggregator", "second"):
        await there.stop(name)
    await there.again("aggregator")
    assert (await there.over(run)).state is ended.state
    await there.same_as_alone(run, config)
