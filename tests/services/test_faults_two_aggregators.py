"""Two aggregators in mid-run, one of which is stopped, killed or paused: the report is the same.

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

# Requests until a run is in its middle, and until an aggregator that joined there has read some.
MIDDLE, LATER = 12, 30


async def holders(there: Installation) -> int:
    """How many aggregators have held the lease so far."""
    return int((await read_json(there.store, KEY) or {}).get("number", 0))


async def taken_over(there: Installation, before: int) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        while await holders(there) == before:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("fate", ["stopped", "killed", "paused"])
async def test_two_aggregators_end_a_run_as_one_does(there: Installation, fate: str) -> None:
    config = example(f"two-aggregators-{fate}")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await there.another("aggregator", "second")
    first, before = there.services["aggregator"], await holders(there)
    assert before
    if fate == "stopped":
        await there.asked("judge", LATER)
        await there.stop("second")
    elif fate == "killed":
        await there.kill("aggregator")
        await taken_over(there, before)
        await there.again("aggregator")
    else:
        os.kill(first.pid, signal.SIGSTOP)
        try:
            await taken_over(there, before)
        finally:
            os.kill(first.pid, signal.SIGCONT)
    ended = await there.over(run)
    # Whoever starts next resumes from the last snapshot, and finds the same end.
    for name in ("aggregator", "second"):
        await there.kill(name)
    await there.again("aggregator")
    await there.over(await there.begin(example("next")))
    assert (await there.over(run)).state is ended.state
    await there.same_as_alone(run, config)
