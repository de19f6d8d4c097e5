"""Services that are told to stop in mid-run: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import pytest
from tests.fakes.separate import SERVICES, STAGES, Installation
from tests.fakes.small_runs import example

# Requests until a run is in its middle. The reader begins once there are captions.
MIDDLE = 12


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_is_told_to_stop_and_comes_back(
    there: Installation, kind: str
) -> None:
    config = example(f"{kind}-stopped", "comprecap")
    run = await there.begin(config)
    await there.asked(kind if kind in STAGES else "judge", MIDDLE)
    await there.stop(kind)
    await there.again(kind)
    for calls in (await there.same_as_alone(run, config)).values():
        # Drained: nothing that was in flight is asked once more.
        assert calls.asked == calls.needed
