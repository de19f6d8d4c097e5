"""Services in their own processes on a real Kafka and MinIO, and the resources of each."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.access import access_to
from tests.servers.components import KAFKA, MINIO
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.remote.stages import RemoteStages
from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.wiring.grounds import Ground, kafka_ground

ROOT = Path(__file__).resolve().parents[2]
BUCKET = "bench"
_ROLES = {"judge": "judge", "qa_reader": "reader"}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of a process and its children so far, and its peak memory in MiB."""

    cpu: float
    memory: float

    @classmethod
    def of(cls, pid: int) -> Usage:
        """The usage of a process, from /proc."""
        folder = Path(f"/proc/{pid}")
        # Skip the name, which may contain anything and ends at the last bracket.
        fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
        status = (folder / "status").read_text("utf-8").partition("VmHWM:")[2]
        return cls(sum(map(int, fields[11:15])) / _TICKS, int(status.split()[0]) / 1024)


@dataclass(frozen=True, slots=True)
class Servers:
    """A broker and an object store, with their processes if they were started here."""

    kafka: KafkaAccess
    minio: str
    processes: Mapping[str, ServerProcess] = field(default_factory=dict)

    @property
    def access(self) -> StoreAccess:
        return access_to(self.minio, BUCKET)


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """The servers that the environment names, or new ones. Raises fetch.Missing."""
    with ExitStack() as stack:
        addresses, processes = {}, {}
        for component in (KAFKA, MINIO):
            addresses[component.name] = component.given or ""
            if not component.given:
                (folder / component.name).mkdir(parents=True)
                process, address = component.start(folder / component.name)
                stack.callback(process.stop)
                processes[component.name], addresses[component.name] = process, address
        yield Servers(KafkaAccess(addresses[KAFKA.name]), addresses[MINIO.name], processes)


@dataclass
class Installation:
    """Gateway, aggregator and stages on one broker and one bucket; `ground` is the bench's own
    connection to both.
    """

    servers: Servers
    folder: Path
    ground: Ground
    gateway: RemoteGateway
    stages: RemoteStages
    processes: dict[str, ServerProcess]

    def usage(self) -> dict[str, Usage]:
        """The usage of each service so far."""
        return {name: Usage.of(process.pid) for name, process in self.processes.items()}

    def servers_cpu(self) -> float:
        """CPU seconds of broker and store so far; 0 for those that were not started here."""
        return sum(Usage.of(process.pid).cpu for process in self.servers.processes.values())

    async def another(self, kind: str, number: int, model: str, in_flight: int) -> None:
        """Start another process of a stage."""
        name, settings = f"{kind}-{number}", _stage_settings(model, in_flight)
        process = _service(name, self.servers, self.folder, free_ports(1)[0], settings)
        await asyncio.to_thread(process.start)
        self.processes[name] = process


def _stage_settings(model: str, in_flight: int) -> dict[str, str]:
    # Without anchors, only the calls of runs are measured.
    return {"MODEL": model, "IN_FLIGHT": str(in_flight), "ANCHORS": "false"}


@asynccontextmanager
async def installation(
    on_servers: Servers, folder: Path, models: Mapping[str, str], in_flight: int
) -> AsyncIterator[Installation]:
    """Start the services, one process each; `models` is the MODEL setting of each stage."""
    await asyncio.to_thread(apply_topics, on_servers.kafka)
    await asyncio.to_thread(apply_storage, on_servers.access)
    kinds = ("aggregator", *models, "gateway")
    ports = dict(zip(kinds, free_ports(len(kinds)), strict=True))
    addresses = {kind: f"127.0.0.1:{port}" for kind, port in ports.items()}
    processes: dict[str, ServerProcess] = {}
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_stop, processes)
        for kind, port in ports.items():
            settings = _stage_settings(models[kind], in_flight) if kind in models else {}
            if kind == "gateway":
                settings = {name.upper(): addresses[name] for name in kinds if name != "gateway"}
            processes[kind] = _service(kind, on_servers, folder, port, settings)
            await asyncio.to_thread(processes[kind].start)
        store = MinioStore(on_servers.access)
        stack.push_async_callback(store.close)
        ground = kafka_ground(store, on_servers.kafka)
        for close in ground.close:
            stack.push_async_callback(close)
        gateway = await stack.enter_async_context(RemoteGateway(Target(addresses["gateway"])))
        stages = RemoteStages({_ROLES[kind]: Target(addresses[kind]) for kind in models})
        stack.push_async_callback(stages.close)
        yield Installation(on_servers, folder, ground, gateway, stages, processes)


async def _stop(processes: Mapping[str, ServerProcess]) -> None:
    await asyncio.gather(*(asyncio.to_thread(one.stop) for one in processes.values()))


def _service(
    name: str, on_servers: Servers, folder: Path, port: int, settings: Mapping[str, str]
) -> ServerProcess:
    kind = name.partition("-")[0]
    command = ["bench.services.stage", kind] if kind in _ROLES else [f"services.{kind}"]
    access = on_servers.access
    values = {
        "LISTEN": f"127.0.0.1:{port}",
        "KAFKA": on_servers.kafka.servers,
        "KAFKA_PREFIX": on_servers.kafka.prefix,
        "STORE": access.url,
        "STORE_BUCKET": access.bucket,
        "STORE_ACCESS_KEY": access.access_key,
        "STORE_SECRET_KEY": access.secret_key,
        **settings,
    }
    environment = {f"CALIPER_{kind.upper()}_{field}": value for field, value in values.items()}
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return ServerProcess(
        name,
        [sys.executable, "-m", *command],
        folder / f"{name}.log",
        lambda: answers(port),
        environment | {"PYTHONPATH": path},
    )
