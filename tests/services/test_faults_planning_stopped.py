"""Services that are told to stop in mid-planning: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import pytest
from tests.fakes.frozen import planning
from tests.fakes.separate import AGAIN, SERVICES, Installation
from tests.fakes.small_runs import example


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_is_told_to_stop_in_mid_planning(
    there: Installation, kind: str
) -> None:
    async with planning(there, example(f"{kind}-planning-stopped")) as (run, config):
        # The gateway, which stands still, hears of it when it goes on.
        there.services[kind].terminate()
    await there.ended(kind)
    await there.again(kind)
    for stage, calls in (await there.same_as_alone(run, config)).items():
        assert calls.needed <= calls.asked <= calls.needed + AGAIN[stage]
