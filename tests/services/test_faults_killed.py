"""Services that are killed in mid-run: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import pytest
from tests.fakes.separate import AGAIN, SERVICES, STAGES, Installation
from tests.fakes.small_runs import example

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
        # Only what was in flight there; a gateway may have been planning, and publishes again.
        again = AGAIN[stage] if kind in (stage, "gateway") else 0
        assert calls.needed <= calls.asked <= calls.needed + again
