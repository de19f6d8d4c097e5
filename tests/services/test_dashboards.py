"""Every query of every dashboard finds something in a real run: five services on Kafka and MinIO
that evaluate two checkpoints and a loop over a suite, scraped by a real Prometheus.
"""

import asyncio
import math
import time
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from tests.deploy.dashboards import DashboardQuery, queries, variables
from tests.deploy.prometheus import Prometheus, substituted
from tests.fakes.observed_ground import (
    CHECKPOINTS,
    ObservedGround,
    checkpoint,
    evaluated,
    foul,
    observed,
    refused,
    stalled,
    suite_loop,
)
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics

Server = tuple[ServerProcess, str]

ALL = dict.fromkeys(("team", "model", "benchmark", "dimension", "endpoint"), ".*") | {
    "namespace": "caliper"
}
FIRES = 'ALERTS{alertname="CaliperDeadLetters", alertstate="firing"}'
WAITS = 60.0


async def test_every_query_finds_something(
    kafka: KafkaAccess, minio: str, own_prometheus: Server, tmp_path: Path
) -> None:
    bucket = f"caliper-{uuid.uuid4().hex[:8]}"
    apply_topics(kafka, partitions=4)
    ground = ObservedGround(kafka, minio, bucket, tmp_path)
    prometheus = Prometheus(own_prometheus[1])
    began = time.time()
    async with observed(ground, own_prometheus[0], delay=0.02) as there, AsyncExitStack() as stack:
        stack.enter_context(suite_loop(ground))
        await foul(there)
        await refused(there)
        # Without tokens nobody is of a team.
        asked = [*queries(), *(each for each in variables() if "$team" not in each.place)]
        asked.append(DashboardQuery("the alert on dead letters", FIRES, over_time=False))
        # The backlog is measured every 15 s: a run may begin and end in between.
        waiting = [each for each in asked if each.place.startswith("health: Oldest job")]
        assert waiting
        with stalled(there.chats["judge"]):
            runs = [await there.begin(checkpoint(name)) for name in CHECKPOINTS]
            await shown(prometheus, waiting, began)
        for run in runs:
            await evaluated(there, run)
        await shown(prometheus, asked, began)


async def shown(prometheus: Prometheus, asked: Sequence[DashboardQuery], began: float) -> None:
    """Wait until every query has found something since `began`."""
    deadline = time.monotonic() + WAITS
    while missing := [each.place for each in asked if not await data(prometheus, each, began)]:
        assert time.monotonic() < deadline, missing
        await asyncio.sleep(1)


async def data(prometheus: Prometheus, asked: DashboardQuery, began: float) -> bool:
    """Whether a query finds numbers since `began`, or a variable values."""
    expr = substituted(asked.expr, ALL)
    if expr.startswith("label_values("):
        return bool(await asyncio.to_thread(prometheus.values, expr))
    now = time.time()
    found = await (
        asyncio.to_thread(prometheus.over, expr, began, now, 1)
        if asked.over_time
        else asyncio.to_thread(prometheus.instant, expr)
    )
    return any(math.isfinite(value) for series in found for _, value in series.points)
