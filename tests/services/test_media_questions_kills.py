"""Questions from the media, and a captioner killed in mid-run, on real Kafka and MinIO."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from tests.fakes.chat_server import ChatServer
from tests.fakes.multimodal_checkpoint import seeing
from tests.fakes.separate import IN_FLIGHT, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.pipeline.reports.verdict_query import VerdictQuery

KILL_AT = 12


@pytest_asyncio.fixture
async def there(kafka: KafkaAccess, minio: str, tmp_path: Path) -> AsyncIterator[Installation]:
    await asyncio.to_thread(apply_topics, kafka, partitions=4)
    ground = Ground(kafka, minio, f"caliper-{uuid.uuid4().hex[:8]}", tmp_path)
    chats = {kind: ChatServer(otherwise=seeing if kind == "captioner" else None) for kind in STAGES}
    # Slow enough to be killed before its work is done.
    chats["captioner"].delay = 0.05
    async with installed(ground, chats) as found:
        yield found


async def test_a_killed_captioner_is_asked_again_for_nothing_it_answered(
    there: Installation,
) -> None:
    config = example()
    part = config.benchmarks["captionqa"].model_copy(update={"qa": True})
    config = config.model_copy(update={"benchmarks": {"captionqa": part}})
    run = await there.begin(config)
    await there.asked("captioner", KILL_AT)
    await asyncio.to_thread(there.services["captioner"].kill)
    await there.again("captioner")
    asked = await there.same_as_alone(run, config)
    rows, _ = await there.gateway.verdicts(run, VerdictQuery(size=1000))
    jobs = Counter(row.sample for row in rows if row.item.startswith("qa/"))
    assert jobs.total() > KILL_AT
    # What a job was answered is kept when it ends: a kill costs those that were in flight.
    done, needed = asked["captioner"]
    assert needed <= done <= needed + IN_FLIGHT * max(jobs.values())
