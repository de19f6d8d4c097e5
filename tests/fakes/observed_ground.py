"""Two checkpoints evaluated by real services, with a real Prometheus that scrapes them."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from aiohttp import web
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, end
from tests.fakes.opinions import opinionated
from tests.fakes.separate import SERVICES, Ground, Installation, installation
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import RUN, deliver, suite
from tests.servers import metrics_server
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.streams.kafka import KafkaStream
from caliper.core.envelopes import Message
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JUDGE_JOBS, QA_JOBS

CHECKPOINTS = {"step-1000": "careless", "step-2000": "careful"}
OLDEST, NEWEST = CHECKPOINTS
MODELS = {"judge": "fake/judge-8b", "qa_reader": "fake/reader-72b", "captioner": "fake/step-2000"}


@dataclass(frozen=True)
class ObservedGround(Ground):
    """Services that each expose metrics on a port of their own, and a loop over a suite."""

    anchors: bool = True
    page: int = field(default_factory=lambda: free_ports(1)[0])
    suites: int = field(default_factory=lambda: free_ports(1)[0])
    metrics: Mapping[str, int] = field(
        default_factory=lambda: dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    )

    def environment(self, kind: str, port: int, **settings: str) -> dict[str, str]:
        addresses = {"metrics_address": f"127.0.0.1:{self.metrics[kind]}"}
        if kind == "gateway":
            addresses["page_address"] = f"127.0.0.1:{self.page}"
        return super().environment(kind, port, **addresses, **settings)


@asynccontextmanager
async def observed(
    ground: ObservedGround, prometheus: ServerProcess, delay: float
) -> AsyncIterator[Installation]:
    """An installation that Prometheus scrapes, with its store and models. The models answer after
    `delay` seconds.
    """
    chats = {
        kind: ChatServer(delay=delay, models=(name,), otherwise=opinionated)
        for kind, name in MODELS.items()
    }
    addresses = [f"127.0.0.1:{port}" for port in (*ground.metrics.values(), ground.suites)]
    addresses.append(f"{ground.minio.rpartition('@')[2]}/minio/v2/metrics/cluster")
    async with installation(ground, chats) as started:
        addresses += [chat.url.removeprefix("http://") for chat in chats.values()]
        metrics_server.scrape(prometheus.log.parent, addresses, namespace="caliper")
        yield started


@contextmanager
def suite_loop(ground: ObservedGround) -> Iterator[None]:
    """A loop over a suite, with a checkpoint to evaluate."""
    folder = ground.folder / "suites"
    folder.mkdir()
    suite(folder)
    deliver(folder, 100, "careful")
    address = f"127.0.0.1:{ground.suites}"
    process = Command(folder).start(*RUN[:-1], "--metrics", address)
    try:
        yield
    finally:
        end(process, signal.SIGTERM)


def checkpoint(name: str) -> RunConfig:
    """The run of a checkpoint. The newest one writes its captions for CaptionQA itself."""
    config = read_config(EXAMPLES / f"{CHECKPOINTS[name]}.yaml")
    parts = dict(config.benchmarks)
    if name == NEWEST:
        captioning = {"captions": None, "captioner": MODELS["captioner"]}
        parts["captionqa"] = parts["captionqa"].model_copy(update=captioning)
    return config.model_copy(update={"name": name, "benchmarks": parts})


@contextmanager
def stalled(chat: ChatServer) -> Iterator[None]:
    """Let the model answer only afterwards."""
    over = asyncio.Event()

    async def late(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        await over.wait()
        return await opinionated(server, request, body)

    chat.from_now_on(late)
    try:
        yield
    finally:
        over.set()


async def foul(there: Installation) -> None:
    """Put an unreadable message on every topic of jobs."""
    stream = KafkaStream(there.ground.kafka)
    for topic in (CAPTION_JOBS, JUDGE_JOBS, QA_JOBS):
        await stream.publish(Message(topic, f"foul-{uuid.uuid4().hex}", b"\xff\xff"))
    await stream.close()


async def refused(there: Installation) -> None:
    """Begin more uploads at the gateway than one caller may."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{there.ports['gateway']}") as channel:
        upload = channel.stream_unary("/caliper.api.evaluate.v1.EvaluateService/UploadCaptions")
        calls = [asyncio.ensure_future(upload().code()) for _ in range(3)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert {call.result() for call in done} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        for call in calls:
            call.cancel()


async def evaluated(there: Installation, run: str) -> None:
    ended = await there.over(run)
    assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
