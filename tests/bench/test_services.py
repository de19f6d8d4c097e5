"""The benches of the services still measure: a handful of jobs each, and no figure is judged."""

import asyncio
from pathlib import Path

import pytest
from bench.services import judges, rates, sizes
from bench.services.installation import Servers, installation
from bench.services.memory import one_judge
from bench.services.model import stub
from bench.services.requests import CAPABILITY, CAPTIONQA, Kind, Size
from bench.services.through import added, beside
from bench.soak import soak

from caliper.adapters.streams.kafka_access import KafkaAccess

SIZE = Size(in_flight=4, jobs=12, paced=4, delay=0.01)
ENDS_WITHIN = 120.0


@pytest.mark.parametrize("kind", [CAPABILITY, CAPTIONQA])
async def test_one_judge_on_the_memory_stream(tmp_path: Path, kind: Kind) -> None:
    with stub(kind.text, SIZE.delay) as url:
        async with asyncio.timeout(ENDS_WITHIN):
            found = await one_judge(url, tmp_path, kind, SIZE)
    assert found.rate > 0
    assert len(found.added.ours) == SIZE.paced
    assert min(peer.rate for peer in found.peers) > 0
    rates.memory_table(kind, SIZE, [found])


async def test_through_kafka_and_minio(kafka: KafkaAccess, minio: str, tmp_path: Path) -> None:
    there = Servers(kafka, minio)
    with stub(CAPTIONQA.text, SIZE.delay) as url:
        models = {CAPTIONQA.service: f"bench:{url}"}
        async with (
            asyncio.timeout(ENDS_WITHIN),
            installation(there, tmp_path, models, SIZE.in_flight) as started,
        ):
            run, peers = await beside(started, url, CAPTIONQA, SIZE, 0)
            late = await added(started, url, CAPTIONQA, SIZE, 1)
            memory = {name: usage.memory for name, usage in started.usage().items()}
    assert run.rate > 0
    assert set(run.cpu) == {"aggregator", "qa_reader", "gateway"} == set(memory)
    assert min(run.cpu.values()) >= 0
    assert min(memory.values()) > 1
    assert len(late.ours) == SIZE.paced == len(late.peer) / CAPTIONQA.verdicts
    rates.through_table(CAPTIONQA, SIZE, [(run, peers, late)])


async def test_more_judges(kafka: KafkaAccess, minio: str, tmp_path: Path) -> None:
    with stub(CAPABILITY.text, SIZE.delay) as url:
        async with asyncio.timeout(ENDS_WITHIN):
            found = await judges.measure(Servers(kafka, minio), tmp_path, url, (1, 2), SIZE)
    assert [one.judges for one in found] == [1, 2]
    assert "judge-2" in found[1].run.cpu
    judges.table(found, SIZE)


async def test_sizes(kafka: KafkaAccess, minio: str, tmp_path: Path) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        found = await sizes.measure(Servers(kafka, minio), tmp_path, 6, 0)
    assert set(found.memory) == {"aggregator", "judge", "gateway"}
    assert min(found.memory.values()) > 1
    sizes.table([found, found])


async def test_a_soak(kafka: KafkaAccess, minio: str, tmp_path: Path) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        (found,) = await soak(Servers(kafka, minio), tmp_path, minutes=0.001)
    assert found.runs == 1
    assert set(found.memory) == set(found.files)
    assert min(found.memory.values()) > 1
    assert min(found.files.values()) > 1
    assert min(found.objects, found.messages) > 1
