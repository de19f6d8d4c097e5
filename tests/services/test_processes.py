"""Services as processes of their own, on real Kafka and MinIO, with one killed in mid-run."""

import asyncio
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.installation import alone, over
from tests.fakes.separate import AGAIN, IN_FLIGHT
from tests.fakes.sources import EXAMPLES, python_path
from tests.servers.access import access_to
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import send

KILL_AT = 40


@dataclass
class Processes:
    """Services on one broker and one bucket; `port` of each by name."""

    environment: Mapping[str, str]
    folder: Path
    stack: ExitStack
    ports: dict[str, int] = field(default_factory=dict)

    def start(self, kind: str, name: str = "", **settings: object) -> ServerProcess:
        (port,) = free_ports(1)
        self.ports[name or kind] = port
        chosen = {**self.environment, "LISTEN": f"127.0.0.1:{port}", "GRACE": "5"}
        chosen |= {key.upper(): str(value) for key, value in settings.items()}
        prefix = f"CALIPER_{kind.upper()}_"
        server = ServerProcess(
            name or kind,
            [sys.executable, "-m", f"services.{kind}"],
            self.folder / f"{name or kind}.log",
            lambda: answers(port),
            {prefix + key: value for key, value in chosen.items()} | {"PYTHONPATH": python_path()},
        )
        server.start()
        self.stack.callback(server.stop)
        return server


@pytest.fixture
def bucket() -> str:
    return f"caliper-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def processes(kafka: KafkaAccess, minio: str, bucket: str, tmp_path: Path) -> Iterator[Processes]:
    apply_topics(kafka, partitions=4)
    apply_storage(access_to(minio, bucket))
    parts = urlsplit(minio)
    environment = {
        "KAFKA": kafka.servers,
        "KAFKA_PREFIX": kafka.prefix,
        "STORE": f"{parts.scheme}://{parts.hostname}:{parts.port}",
        "STORE_BUCKET": bucket,
        "STORE_ACCESS_KEY": parts.username or "",
        "STORE_SECRET_KEY": parts.password or "",
    }
    with ExitStack() as stack:
        yield Processes(environment, tmp_path, stack)


@pytest.fixture
def capability() -> RunConfig:
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks["capability"]
    return config.model_copy(update={"benchmarks": {"capability": part}})


async def test_the_report_survives_a_judge_that_is_killed(
    processes: Processes, minio: str, bucket: str, capability: RunConfig, tmp_path: Path
) -> None:
    reached, plain = asyncio.Event(), answer("1")

    async def counting(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        if len(server.requests) >= KILL_AT:
            reached.set()
        return await plain(server, request, body)

    async with ChatServer(delay=0.1, otherwise=counting) as chat:
        model = f"tgi:{chat.url}"
        # Its calls are counted: those of the run alone.
        judging = {"model": model, "in_flight": IN_FLIGHT, "anchors": "false"}
        doomed = await asyncio.to_thread(processes.start, "judge", "judge-1", **judging)
        for kind in ("aggregator", "qa_reader"):
            await asyncio.to_thread(processes.start, kind)
        places = {kind: f"127.0.0.1:{port}" for kind, port in processes.ports.items()}
        await asyncio.to_thread(
            processes.start,
            "gateway",
            aggregator=places["aggregator"],
            judge=places["judge-1"],
            qa_reader=places["qa_reader"],
        )
        target = Target(f"127.0.0.1:{processes.ports['gateway']}")
        store = MinioStore(access_to(minio, bucket))
        async with RemoteGateway(target) as gateway:
            begun = await send(capability, gateway)
            await reached.wait()
            await asyncio.to_thread(doomed.kill)
            await asyncio.to_thread(processes.start, "judge", "judge-2", **judging)
            ended = await over(gateway, begun.spec.run_id)
            report = await gateway.report(begun.spec.run_id, partial=True)
        await store.close()
        asked = len(chat.requests)
        judged = capability.benchmarks["capability"].model_copy(update={"judge": model})
        alike = {"benchmarks": {"capability": judged}, "anchors": False}
        config = capability.model_copy(update=alike)
        expected = await alone(config, WarningWatcher(), tmp_path)
        needed = len(chat.requests) - asked
    assert ended.state in (RunState.COMPLETE, RunState.FINISHED)
    assert report == expected
    assert needed <= asked <= needed + AGAIN["judge"]


async def test_a_run_begins_while_the_judge_is_asleep(
    processes: Processes, minio: str, bucket: str, capability: RunConfig, tmp_path: Path
) -> None:
    judge = await asyncio.to_thread(processes.start, "judge")
    for kind in ("aggregator", "qa_reader"):
        await asyncio.to_thread(processes.start, kind)
    peers = {kind: f"127.0.0.1:{port}" for kind, port in processes.ports.items()}
    await asyncio.to_thread(processes.start, "gateway", stages_sleep=True, **peers)
    store = MinioStore(access_to(minio, bucket))
    async with RemoteGateway(Target(f"127.0.0.1:{processes.ports['gateway']}")) as gateway:
        first = await send(capability, gateway)
        await over(gateway, first.spec.run_id)
        await asyncio.to_thread(judge.stop)
        later = capability.model_copy(update={"name": "later"})
        begun = await send(later, gateway)
        # As where it is scaled: its jobs are what wakes it.
        await asyncio.to_thread(processes.start, "judge", "judge-2")
        ended = await over(gateway, begun.spec.run_id)
        report, page = [
            await gateway.report(begun.spec.run_id, file) for file in ("report.json", "report.md")
        ]
    await store.close()
    assert ended.state is RunState.COMPLETE
    assert report == await alone(later, WarningWatcher(), tmp_path)
    assert b"known answers judged correctly" in page
    assert page == (tmp_path / "alone" / "report.md").read_bytes()
