"""Services that are killed or told to stop in mid-run: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio

import pytest
from tests.fakes.separate import AGAIN, ENDS_WITHIN, SERVICES, STAGES, Installation, example

# Requests until a run is in its middle. The reader begins once there are captions.
MIDDLE = 12


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_is_killed_and_comes_back(there: Installation, kind: str) -> None:
    config = example(f"{kind}-killed")
    run = await there.begin(config)
    await there.asked(kind if kind in STAGES else "judge", MIDDLE)
    await there.kill(kind)
    await there.again(kind)
    for stage, calls in (await there.same_as_alone(run, config)).items():
        assert calls.needed <= calls.asked <= calls.needed + AGAIN[stage]


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_is_told_to_stop_and_comes_back(
    there: Installation, kind: str
) -> None:
    config = example(f"{kind}-stopped")
    run = await there.begin(config)
    await there.asked(kind if kind in STAGES else "judge", MIDDLE)
    await there.stop(kind)
    await there.again(kind)
    for calls in (await there.same_as_alone(run, config)).values():
        # Drained: nothing that was in flight is asked once more.
        assert calls.asked == calls.needed


@pytest.mark.parametrize("end", [Installation.kill, Installation.stop], ids=["kill", "stop"])
async def test_a_gateway_that_goes_in_mid_planning(there: Installation, end: object) -> None:
    config = example("planning")
    run = await there.begin(config)
    # In another process: nothing here can be awaited.
    async with asyncio.timeout(ENDS_WITHIN):
        while not [key async for key in there.store.list(f"runs/{run}/plan/")]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await end(there, "gateway")
    await there.again("gateway")
    for stage, calls in (await there.same_as_alone(run, config)).items():
        assert calls.needed <= calls.asked <= calls.needed + AGAIN[stage]
