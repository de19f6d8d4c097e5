"""Services in separate processes with one broker and one store, for tests of failures."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.fakes import store_users
from tests.fakes.chat_server import ChatServer
from tests.fakes.checkout_forks import CheckoutServer
from tests.fakes.installation import over
from tests.fakes.process_forks import ForkedServer
from tests.fakes.readiness import Readiness
from tests.fakes.releases import code
from tests.fakes.small_runs import rows_of
from tests.fakes.sources import ROOT
from tests.fakes.undisturbed_runs import Undisturbed, undisturbed
from tests.servers.access import access_to
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.core.dead_letters import Letter
from caliper.core.run import RunState
from caliper.local.config import RunConfig
from caliper.local.submission import send
from caliper.pipeline.gateway.dead_letters import LetterFilter, find_letters
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.storage import ObjectStore

EXAMINING = ("judge", "qa_reader")
STAGES = (*EXAMINING, "captioner")
SERVICES = (*STAGES, "aggregator", "gateway")
IN_FLIGHT = 4
# A reader job holds all questions about one caption: in the examples, at most this many.
_LONGEST = 7
# A stage holds a few more jobs than calls: those being read, saved and published.
JOBS = IN_FLIGHT + IN_FLIGHT // 2
# A job of the judge is one request, but for four in the examples, which make five more together.
_MORE = 5
# Unreadable replies of `opinions`: each is requested once more in the same job.
_UNREADABLE = {"judge": 2, "qa_reader": 3}
# Requests of in-flight jobs at a stage, which may have to be repeated.
AGAIN = {
    "judge": JOBS + _MORE + _UNREADABLE["judge"],
    "captioner": JOBS,
    "qa_reader": JOBS * _LONGEST + _UNREADABLE["qa_reader"],
}
# Generous, in seconds: a run that never ends fails its test instead of blocking all others.
ENDS_WITHIN = 180.0


class Calls(NamedTuple):
    """The number of calls to the model of a stage, and the number needed."""

    asked: int
    needed: int


@dataclass(frozen=True)
class Ground:
    """The base of the services: a broker, and a MinIO bucket or, without MinIO, a directory."""

    kafka: KafkaAccess
    minio: str
    bucket: str
    folder: Path
    # Modules that start a service, by service name, if not its own module.
    modules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Whether judge and reader check anchors; off if a test counts the requests of runs.
    anchors: bool = False
    # The checkout whose services these are.
    tree: Path = ROOT

    def environment(self, kind: str, port: int, **settings: str) -> dict[str, str]:
        chosen = {
            "listen": f"127.0.0.1:{port}",
            "grace": "20",
            "check_every": "1",
            "kafka": self.kafka.servers,
            "kafka_prefix": self.kafka.prefix,
            "kafka_session": "2",
            **self._where_things_are(kind),
            **({"anchors": str(self.anchors)} if kind in EXAMINING else {}),
            **settings,
        }
        prefix = f"caliper_{kind}_".upper()
        return {prefix + key.upper(): value for key, value in chosen.items()} | code(self.tree)

    def _where_things_are(self, kind: str) -> dict[str, str]:
        if not self.minio:
            return {"store": str(self.folder / "store")}
        parts, user = urlsplit(self.minio), store_users.USERS[kind.replace("_", "-")]
        return {
            "store": f"{parts.scheme}://{parts.hostname}:{parts.port}",
            "store_bucket": self.bucket,
            "store_access_key": user.access_key,
            "store_secret_key": user.secret_key,
        }

    @asynccontextmanager
    async def store(self) -> AsyncIterator[ObjectStore]:
        if not self.minio:
            yield DirectoryStore(self.folder / "store")
            return
        await asyncio.to_thread(store_users.apply, self.minio, self.bucket)
        store = MinioStore(access_to(self.minio, self.bucket))
        yield store
        await store.close()

    def service(self, kind: str, port: int, name: str, **settings: str) -> ServerProcess:
        """A service that is not started yet."""
        module = f"services.{kind}"
        log, environment = self.folder / f"{name}.log", self.environment(kind, port, **settings)
        if name in self.modules:
            started = [sys.executable, "-m", *self.modules[name]]
            return ServerProcess(name, started, log, lambda: answers(port), environment)
        parts = (name, [module], log, lambda: answers(port), environment)
        # Another release cannot use the process that has imported this one.
        return ForkedServer(*parts) if self.tree == ROOT else CheckoutServer(*parts, tree=self.tree)


def grounded(kafka: KafkaAccess, minio: str, folder: Path) -> Ground:
    """Set up a ground with topics and a bucket of its own."""
    apply_topics(kafka, partitions=4)
    return Ground(kafka, minio, f"caliper-{uuid.uuid4().hex[:8]}", folder)


@dataclass
class Installation:
    ground: Ground
    chats: Mapping[str, ChatServer]
    gateway: RemoteGateway
    store: ObjectStore
    services: dict[str, ServerProcess] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    async def begin(self, config: RunConfig) -> str:
        return (await send(config, self.gateway)).spec.run_id

    async def asked(self, kind: str, count: int) -> None:
        """Wait until the model of a stage was called this often."""
        async with asyncio.timeout(ENDS_WITHIN):
            await self.chats[kind].until_received(count)

    async def stop(self, kind: str) -> None:
        """Send SIGTERM; the service must shut down cleanly."""
        self.services[kind].terminate()
        await self.ended(kind)

    async def ended(self, kind: str) -> None:
        code = await asyncio.to_thread(self.services[kind].ended)
        assert code == 0, self.services[kind].log.read_text("utf-8", "replace")[-2000:]

    async def kill(self, kind: str) -> None:
        await asyncio.to_thread(self.services[kind].kill)

    async def again(self, kind: str) -> None:
        await asyncio.to_thread(self.services[kind].start)

    async def another(self, kind: str, name: str, **settings: str) -> None:
        (self.ports[name],) = free_ports(1)
        chosen = dict(settings)
        if kind in STAGES:
            model = {"model": f"tgi:{self.chats[kind].url}", "in_flight": str(IN_FLIGHT)}
            chosen = model | settings
        self.services[name] = self.ground.service(kind, self.ports[name], name, **chosen)
        await self.again(name)

    @asynccontextmanager
    async def readiness(self, names: Iterable[str]) -> AsyncIterator[dict[str, Readiness]]:
        """Watch the readiness of services from when they are: told is only what comes after."""
        async with AsyncExitStack() as stack:
            services = {
                name: await stack.enter_async_context(Readiness(self.ports[name])) for name in names
            }
            async with asyncio.timeout(ENDS_WITHIN):
                for each in services.values():
                    await each.until(True)
            for each in services.values():
                del each.told[:-1]
            yield services

    async def over(self, run: str) -> Evaluation:
        """Wait until the run is over, and return it. Raises TimeoutError if that takes too long."""
        async with asyncio.timeout(ENDS_WITHIN):
            return await over(self.gateway, run)

    async def letters(self, run: str) -> list[Letter]:
        log = KafkaLog(self.ground.kafka)
        return [kept.letter for kept in await find_letters(log, LetterFilter(run=run))]

    async def same_as_alone(
        self, run: str, config: RunConfig, letters: Sequence[Letter] = ()
    ) -> dict[str, Calls]:
        """Check a finished run: its report and every verdict equal those of the standalone run, to
        the last byte, and it has no dead letters except those that the test can explain.

        Returns the calls of every stage's model.
        """
        ended = await self.over(run)
        assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
        # Everything else is the whole run, as in the report.
        coverage = {part.name: part.coverage for part in ended.benchmarks}
        assert coverage.keys() == config.benchmarks.keys()
        for counts in coverage.values():
            assert counts.scored + sum(counts.unscored.values()) == counts.planned
        expected, calls = await self.alone(config)
        rows = partial(rows_of, self.gateway, run)

        async def same() -> bool:
            return await self.report(run) == expected.report and await rows() == expected.rows

        # A run that was already over is repaired eventually, its report first; no event says when.
        async with asyncio.timeout(ENDS_WITHIN):
            while letters and not await same():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert await self.report(run) == expected.report
        # Sums would hide two swapped verdicts.
        assert await rows() == expected.rows
        assert await self.letters(run) == list(letters)
        return calls

    async def report(self, run: str) -> bytes:
        return await self.gateway.report(run, partial=True)

    async def alone(self, config: RunConfig) -> tuple[Undisturbed, dict[str, Calls]]:
        """The same run in one process, and the calls of both runs."""
        asked = {kind: len(chat.requests) for kind, chat in self.chats.items()}
        expected = await undisturbed(config, self.chats)
        return expected, {kind: Calls(asked[kind], expected.needed[kind]) for kind in asked}


@asynccontextmanager
async def installation(
    ground: Ground, chats: Mapping[str, ChatServer], **settings: str
) -> AsyncIterator[Installation]:
    """Start all services; `settings` are those of the stages."""
    ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    places = {kind: f"127.0.0.1:{port}" for kind, port in ports.items() if kind != "gateway"}
    async with AsyncExitStack() as stack:
        for chat in chats.values():
            await stack.enter_async_context(chat)
        store = await stack.enter_async_context(ground.store())
        services: dict[str, ServerProcess] = {}
        stack.push_async_callback(_stop, services)
        for kind in SERVICES:
            chosen = dict(places) if kind == "gateway" else {}
            if kind in STAGES:
                model = {"model": f"tgi:{chats[kind].url}", "in_flight": str(IN_FLIGHT)}
                chosen = model | settings
            services[kind] = ground.service(kind, ports[kind], kind, **chosen)
        await asyncio.gather(*(asyncio.to_thread(one.start) for one in services.values()))
        target = Target(f"127.0.0.1:{ports['gateway']}")
        gateway = await stack.enter_async_context(RemoteGateway(target))
        yield Installation(ground, chats, gateway, store, services, ports)
        for name, service in services.items():
            # What its user may not do, it would try again for ever.
            assert "AccessDenied" not in service.log.read_text("utf-8", "replace"), name


async def _stop(services: Mapping[str, ServerProcess]) -> None:
    await asyncio.gather(*(asyncio.to_thread(one.stop) for one in services.values()))
