"""The infrastructure of services, from settings: Kafka and MinIO, or memory and a directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.work.authentic_stream import AuthenticStream
from caliper.pipeline.work.log_subject import subject_ids
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.storage import DeletableStore, ObjectStore
from caliper.ports.stream import JobStream, LogReader
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.addresses import Address
from caliper.wiring.clock import SystemClock
from caliper.wiring.key_settings import ReplySettings, SenderSettings, VerifierSettings
from caliper.wiring.settings import variable
from caliper.wiring.store_access import name_store_errors, store_access

if TYPE_CHECKING:
    from caliper.adapters.stores import minio
    from caliper.adapters.streams import kafka, kafka_log
    from caliper.adapters.streams import kafka_access as brokers
    from caliper.adapters.wire import protobuf_codec
    from caliper.serving import metrics
    from caliper.wiring.kafka_settings import KafkaSettings, StreamSettings
    from caliper.wiring.service_settings import StoreSettings
else:
    brokers = lazy_module("caliper.adapters.streams.kafka_access")
    minio = lazy_module("caliper.adapters.stores.minio")
    kafka = lazy_module("caliper.adapters.streams.kafka")
    kafka_log = lazy_module("caliper.adapters.streams.kafka_log")
    protobuf_codec = lazy_module("caliper.adapters.wire.protobuf_codec")
    metrics = lazy_module("caliper.serving.metrics")


@dataclass(frozen=True, slots=True)
class Ground:
    """The infrastructure of services. `logs` reads the topics of `stream` as logs; `close` is
    called after the services have stopped. `whole` is the same as `store` in an installation, where
    objects may be deleted.
    """

    store: ObjectStore
    stream: JobStream
    logs: LogReader
    codec: Codec
    clock: Clock
    close: tuple[Callable[[], Awaitable[None]], ...] = ()
    telemetry: Telemetry = SILENT
    whole: PackStore | None = None

    @property
    def runs(self) -> RunBook:
        """The runs in the store, with a cache of their own."""
        return RunBook(self.store, self.clock)

    def with_reply_keys(self, keys: Sequence[bytes]) -> Ground:
        """The same infrastructure, whose `store` signs and verifies replies if there are keys."""
        if not keys:
            return self
        return replace(self, store=AuthenticStore(self.store, keys, self.telemetry, _run_of_task))

    def with_sender(self, sender: str, key: bytes | None) -> Ground:
        """The same infrastructure, whose `stream` signs verdicts and events if there is a key."""
        return (
            self if key is None else replace(self, stream=AuthenticStream(self.stream, sender, key))
        )


def _run_of_task() -> str:
    return subject_ids().get("run", "")


def open_store(settings: StoreSettings) -> DeletableStore:
    """The store named by the settings. Raises InvalidInput naming the missing variable."""
    if not settings.store:
        field = variable(type(settings), "store")
        message = "not set; give a directory or an S3 endpoint"
        raise InvalidInput(message, file="environment", field=field)
    if not settings.store.startswith(("http://", "https://")):
        return DirectoryStore(Path(settings.store))
    with name_store_errors(settings, variable(type(settings), "store")):
        return minio.MinioStore(store_access(settings))


def memory_ground(store: DeletableStore) -> Ground:
    """The ground of services that share one process."""
    stream = MemoryStream(logs=(VERDICTS, RUNS))
    # The queues of jobs hold encoded messages.
    codec = protobuf_codec.ProtobufCodec()
    clock, telemetry = SystemClock(), metrics.process_telemetry()
    packed = PackStore(store, clock)
    return Ground(packed, stream, stream, codec, clock, telemetry=telemetry, whole=packed)


def kafka_access(
    servers: str, settings: KafkaSettings, field: str, session: float = 15.0
) -> brokers.KafkaAccess:
    """How to reach the brokers at `servers`; `field` is their source.

    Raises InvalidInput if `servers` is not a list of host:port, and for Kafka settings that
    contradict each other or name an unusable file.
    """
    addresses = [Address.parse(server, field) for server in servers.split(",")]
    security = settings.security(addresses)
    return brokers.KafkaAccess(servers, security, session=session, prefix=settings.kafka_prefix)


def kafka_ground(store: DeletableStore, access: brokers.KafkaAccess) -> Ground:
    """The ground of services that communicate through a Kafka cluster."""
    stream, clock = kafka.KafkaStream(access), SystemClock()
    packed = PackStore(store, clock)
    return Ground(
        packed,
        stream,
        kafka_log.KafkaLog(access),
        protobuf_codec.ProtobufCodec(),
        clock,
        close=(stream.close,),
        telemetry=metrics.process_telemetry(),
        whole=packed,
    )


def ground_of(stream: StreamSettings, store: StoreSettings) -> Ground:
    """The ground of a service in its own process.

    Raises InvalidInput naming the missing or wrong variable.
    """
    field = variable(type(stream), "kafka")
    if not stream.kafka:
        message = "not set; give bootstrap servers, HOST:PORT,..."
        raise InvalidInput(message, file="environment", field=field)
    access = kafka_access(stream.kafka, stream, field, stream.kafka_session)
    keys = store.reply_keys() if isinstance(store, ReplySettings) else ()
    ground = kafka_ground(open_store(store), access).with_reply_keys(keys)
    if isinstance(stream, SenderSettings | VerifierSettings):
        return ground.with_sender(stream.SENDER, stream.signing_key())
    return ground
