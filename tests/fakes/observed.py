"""Two checkpoints evaluated by real services that a real Prometheus scrapes.

`PYTHONPATH=tools python -m tests.fakes.observed` starts all of it, and draws
docs/images/dashboard-*.svg from what Prometheus then answers. It takes some minutes, most of
them for models that are slow.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from querying import Prometheus
from tests.fakes.chat_server import ChatServer
from tests.fakes.opinions import opinionated
from tests.fakes.separate import EXAMPLES, ROOT, SERVICES, Ground, Installation, installation
from tests.servers import broker, metrics_server, object_server
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.core.run import RunState
from caliper.pipeline.publish import CAPTION_JOBS, JUDGE_JOBS, QA_JOBS
from caliper.ports.stream import Message
from caliper.standalone.config import RunConfig, read_config

CHECKPOINTS = {"step-1000": "careless", "step-2000": "careful"}
OLDEST, NEWEST = CHECKPOINTS
MOST = f"""
sum(caliper_questions{{model="{NEWEST}", state=~"scored|unscored"}})
> 0.7 * sum(caliper_questions{{model="{NEWEST}", state="planned"}})
"""
MODELS = {"judge": "fake/judge-8b", "qa_reader": "fake/reader-72b", "captioner": "fake/step-2000"}


@dataclass(frozen=True)
class ObservedGround(Ground):
    """Services of which each shows its metrics on a port of its own."""

    anchors: bool = True
    metrics: Mapping[str, int] = field(
        default_factory=lambda: dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    )

    def environment(self, kind: str, port: int, **settings: str) -> dict[str, str]:
        address = f"127.0.0.1:{self.metrics[kind]}"
        return super().environment(kind, port, metrics_address=address, **settings)


@asynccontextmanager
async def observed(
    ground: ObservedGround, prometheus: ServerProcess, delay: float
) -> AsyncIterator[Installation]:
    """An installation that Prometheus scrapes; its models answer after `delay` seconds."""
    chats = {
        kind: ChatServer(delay=delay, models=(name,), otherwise=opinionated)
        for kind, name in MODELS.items()
    }
    addresses = [f"127.0.0.1:{port}" for port in ground.metrics.values()]
    async with installation(ground, chats) as found:
        metrics_server.scrape(prometheus.log.parent, addresses)
        yield found


def checkpoint(name: str) -> RunConfig:
    """The run of a checkpoint. The newest writes its captions for CaptionQA itself."""
    config = read_config(EXAMPLES / f"{CHECKPOINTS[name]}.yaml")
    parts = dict(config.benchmarks)
    if name == NEWEST:
        seen = {"captions": None, "captioner": MODELS["captioner"]}
        parts["captionqa"] = parts["captionqa"].model_copy(update=seen)
    return config.model_copy(update={"name": name, "benchmarks": parts})


async def foul(there: Installation) -> None:
    """Put a message that nobody can read on every topic of jobs."""
    stream = KafkaStream(KafkaAccess(there.ground.kafka))
    for topic in (CAPTION_JOBS, JUDGE_JOBS, QA_JOBS):
        await stream.publish(Message(topic, f"foul-{uuid.uuid4().hex}", b"\xff\xff"))
    await stream.close()


async def evaluated(there: Installation, name: str) -> None:
    """A checkpoint, evaluated to the end."""
    ended = await there.over(await there.begin(checkpoint(name)))
    assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error


async def draw() -> None:
    """Draw the pictures of the documentation, while the second run goes on."""
    begun = time.time()
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, name) for name in ("kafka", "minio", "prometheus", "services")]
        for folder in folders:
            folder.mkdir()
        kafka, kafka_at = broker.start(folders[0])
        minio, minio_at = object_server.start(folders[1])
        prometheus, url = metrics_server.start(folders[2])
        try:
            apply_topics(KafkaAccess(kafka_at), partitions=4)
            ground = ObservedGround(kafka_at, minio_at, "caliper", folders[3])
            async with observed(ground, prometheus, 0.4) as there:
                await foul(there)
                await evaluated(there, OLDEST)
                newest = asyncio.create_task(evaluated(there, NEWEST))
                while not await asyncio.to_thread(Prometheus(url).instant, MOST):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
                minutes = (time.time() - begun) / 60
                script = [sys.executable, str(ROOT / "tools" / "pictures.py")]
                asked = [*script, "--prometheus", url, "--minutes", str(minutes)]
                await asyncio.to_thread(subprocess.run, asked, check=True)
                await newest
        finally:
            for server in (prometheus, minio, kafka):
                server.stop()


if __name__ == "__main__":
    asyncio.run(draw())
