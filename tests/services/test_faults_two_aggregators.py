"""Two aggregators in mid-run, one of which is stopped, killed or paused: the report is the same.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
import os
import signal
from itertools import count

import pytest
from tests.fakes.separate import ENDS_WITHIN, Installation
from tests.fakes.small_runs import example

from caliper.pipeline.aggregation.slots import slot_of
from caliper.pipeline.store.runs import read_json

# Requests until a run is in its middle, and until an aggregator that joined there has read some.
MIDDLE, LATER = 12, 30


async def holder(there: Installation, model: str) -> str:
    """Which aggregator holds the lease of a model's slot."""
    lease = await read_json(there.store, f"aggregator/slot-{slot_of(model)}/lease.json")
    return str((lease or {}).get("holder", ""))


async def taken_over(there: Installation, model: str, before: str) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        while await holder(there, model) in ("", before):  # noqa: ASYNC110 - the store
            await asyncio.sleep(0.2)


# The second takes over the slots 1 and 3 when it comes, the others when the first is gone.
@pytest.mark.parametrize(("fate", "slot"), [("stopped", 1), ("killed", 0), ("paused", 3)])
async def test_two_aggregators_end_a_run_as_one_does(
    there: Installation, fate: str, slot: int
) -> None:
    model = next(name for name in map("model {}".format, count()) if slot_of(name) == slot)
    config = example(name=model)
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    first, before = there.services["aggregator"], await holder(there, model)
    assert before
    await there.another("aggregator", "second")
    if slot % 2:
        await taken_over(there, model, before)
    if fate == "stopped":
        await there.asked("judge", LATER)
        await there.stop("second")
    elif fate == "killed":
        await there.kill("aggregator")
        await taken_over(there, model, "" if slot % 2 else before)
        await there.again("aggregator")
    else:
        os.kill(first.pid, signal.SIGSTOP)
        try:
            await taken_over(there, model, "" if slot % 2 else before)
        finally:
            os.kill(first.pid, signal.SIGCONT)
    ended = await there.over(run)
    # Whoever starts next resumes from the last snapshot, and finds the same end.
    for name in ("aggregator", "second"):
        await there.kill(name)
    await there.again("aggregator")
    await there.over(await there.begin(example(name="next")))
    assert (await there.over(run)).state is ended.state
    await there.same_as_alone(run, config)
