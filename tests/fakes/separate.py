"""Services as processes of their own on one broker and one bucket, which faults befall."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.installation import alone, over
from tests.servers.access import access_to
from tests.servers.process import ServerProcess, answers, free_ports

import caliper
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.minio import MinioStore, apply_storage
from caliper.cli.progress import WarningWatcher
from caliper.core.run import RunState
from caliper.pipeline.gateway import Evaluation
from caliper.standalone.config import RunConfig, read_config
from caliper.standalone.remote import send

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
STAGES = ("judge", "qa_reader", "captioner")
SERVICES = (*STAGES, "aggregator", "gateway")
IN_FLIGHT = 4
# Seconds, generous: a run that never ends fails its test instead of holding everything up.
ENDS_WITHIN = 120.0


@dataclass(frozen=True)
class Ground:
    """The servers below the services, and the bucket of this installation."""

    kafka: str
    minio: str
    bucket: str
    folder: Path

    def environment(self, kind: str, port: int, **settings: str) -> dict[str, str]:
        """Settings of a service."""
        parts = urlsplit(self.minio)
        chosen = {
            "listen": f"127.0.0.1:{port}",
            "grace": "5",
            "kafka": self.kafka,
            "kafka_session": "2",
            "store": f"{parts.scheme}://{parts.hostname}:{parts.port}",
            "store_bucket": self.bucket,
            "store_access_key": parts.username or "",
            "store_secret_key": parts.password or "",
            **settings,
        }
        path = os.pathsep.join((str(Path(caliper.__file__).parents[1]), str(ROOT)))
        prefix = f"caliper_{kind}_".upper()
        return {prefix + key.upper(): value for key, value in chosen.items()} | {"PYTHONPATH": path}

    def service(self, kind: str, port: int, name: str = "", **settings: str) -> ServerProcess:
        """A service, not started yet."""
        return ServerProcess(
            name or kind,
            [sys.executable, "-m", f"services.{kind}"],
            self.folder / f"{name or kind}.log",
            lambda: answers(port),
            self.environment(kind, port, **settings),
        )


@dataclass
class Installation:
    """All five services, the endpoints of their models, and their gateway."""

    ground: Ground
    chats: Mapping[str, ChatServer]
    gateway: RemoteGateway
    store: MinioStore
    services: dict[str, ServerProcess] = field(default_factory=dict)

    async def begin(self, config: RunConfig) -> str:
        """Start a run; gives its id."""
        return (await send(config, self.gateway, self.store)).spec.run_id

    async def asked(self, kind: str, count: int) -> None:
        """Wait until the model of a stage was asked so often."""
        async with asyncio.timeout(ENDS_WITHIN):
            await self.chats[kind].until_received(count)

    async def again(self, kind: str) -> None:
        """Start a service that ended."""
        await asyncio.to_thread(self.services[kind].start)

    async def another(self, kind: str, name: str) -> ServerProcess:
        """A second service of a kind."""
        (port,) = free_ports(1)
        settings = {"model": f"tgi:{self.chats[kind].url}", "in_flight": str(IN_FLIGHT)}
        service = self.ground.service(kind, port, name, **settings)
        self.services[name] = service
        await asyncio.to_thread(service.start)
        return service

    async def over(self, run: str) -> Evaluation:
        """The run once it is over. Raises TimeoutError when that takes too long."""
        async with asyncio.timeout(ENDS_WITHIN):
            return await over(self.gateway, run)

    async def same_as_alone(self, run: str, config: RunConfig) -> dict[str, tuple[int, int]]:
        """Check a run that is over: its report is that of the standalone run, to the last byte.

        Gives how often the model of each stage was asked, and how often it had to be.
        """
        ended = await self.over(run)
        assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
        report = await self.gateway.report(run, partial=True)
        before = {kind: len(chat.requests) for kind, chat in self.chats.items()}
        for chat in self.chats.values():
            chat.delay = 0
        expected = await alone(
            local(config, self.chats), WarningWatcher(), self.ground.folder / "standalone"
        )
        assert report == expected
        return {
            kind: (before[kind], len(chat.requests) - before[kind])
            for kind, chat in self.chats.items()
        }


@asynccontextmanager
async def installation(
    ground: Ground, chats: Mapping[str, ChatServer], **settings: str
) -> AsyncIterator[Installation]:
    """All services, started; `settings` are those of the stages."""
    ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    places = {kind: f"127.0.0.1:{port}" for kind, port in ports.items() if kind != "gateway"}
    access = access_to(ground.minio, ground.bucket)
    await asyncio.to_thread(apply_storage, access)
    async with AsyncExitStack() as stack:
        for chat in chats.values():
            await stack.enter_async_context(chat)
        store = MinioStore(access)
        stack.push_async_callback(store.close)
        services: dict[str, ServerProcess] = {}
        stack.push_async_callback(_stop, services)
        for kind in SERVICES:
            chosen = dict(places) if kind == "gateway" else {}
            if kind in STAGES:
                model = {"model": f"tgi:{chats[kind].url}", "in_flight": str(IN_FLIGHT)}
                chosen = model | settings
            services[kind] = ground.service(kind, ports[kind], **chosen)
        await asyncio.gather(*(asyncio.to_thread(one.start) for one in services.values()))
        target = Target(f"127.0.0.1:{ports['gateway']}")
        gateway = await stack.enter_async_context(RemoteGateway(target))
        yield Installation(ground, chats, gateway, store, services)


async def _stop(services: Mapping[str, ServerProcess]) -> None:
    await asyncio.gather(*(asyncio.to_thread(one.stop) for one in services.values()))


def example(name: str) -> RunConfig:
    """A run for a captioner, a judge and a reader: small, and each has enough to do."""
    config = read_config(EXAMPLES / "careful.yaml")
    seen = {"captions": None, "captioner": MODEL}
    parts = {
        "capability": config.benchmarks["capability"],
        "captionqa": config.benchmarks["captionqa"].model_copy(update=seen),
    }
    return config.model_copy(update={"name": name, "benchmarks": parts})


def local(config: RunConfig, chats: Mapping[str, ChatServer]) -> RunConfig:
    """The same run for one process, which reaches the same models itself."""
    specs = {kind: f"tgi:{chat.url}" for kind, chat in chats.items()}
    own = {
        "capability": {"judge": specs["judge"]},
        "captionqa": {"reader": specs["qa_reader"], "captioner": specs["captioner"]},
    }
    parts = {name: part.model_copy(update=own[name]) for name, part in config.benchmarks.items()}
    return config.model_copy(update={"benchmarks": parts})
