"""What services stand on, from settings: Kafka and MinIO, or the memory and a directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.errors import InvalidInput
from caliper.deferred import deferred
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.store.runs import RunBook
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import Consumer, JobStream, LogReader
from caliper.ports.telemetry import SILENT, GroupJoined, Telemetry
from caliper.serving.addresses import Address
from caliper.serving.metrics import process_telemetry
from caliper.wiring.clock import SystemClock
from caliper.wiring.service_settings import KafkaSettings, StoreSettings, StreamSettings
from caliper.wiring.settings import variable

if TYPE_CHECKING:
    from caliper.adapters.stores import minio
    from caliper.adapters.streams import kafka, kafka_log
    from caliper.adapters.streams import kafka_access as brokers
else:
    brokers = deferred("caliper.adapters.streams.kafka_access")
    minio = deferred("caliper.adapters.stores.minio")
    kafka = deferred("caliper.adapters.streams.kafka")
    kafka_log = deferred("caliper.adapters.streams.kafka_log")


@dataclass(frozen=True, slots=True)
class Ground:
    """What services stand on. `logs` reads the topics of `stream` as logs; `close` is called
    when the services have left it.
    """

    store: ObjectStore
    stream: JobStream
    logs: LogReader
    codec: Codec
    clock: Clock
    close: tuple[Callable[[], Awaitable[None]], ...] = ()
    telemetry: Telemetry = SILENT

    def consumer(self, topic: str, stage: Telemetry) -> Callable[[], Consumer]:
        """What makes a member of the one group of a topic, for that stage."""

        def make() -> Consumer:
            member = self.stream.consumer(topic, topic)
            stage.record(GroupJoined(topic, member))
            return member

        return make

    @property
    def runs(self) -> RunBook:
        """The runs in the store, with a memory of its own."""
        return RunBook(self.store, self.clock)


def open_store(settings: StoreSettings) -> ObjectStore:
    """The store of the settings. Raises InvalidInput naming the variable that is missing."""
    if not settings.store:
        field = variable(type(settings), "store")
        raise InvalidInput("a directory or an S3 endpoint", file="environment", field=field)
    if not settings.store.startswith(("http://", "https://")):
        return DirectoryStore(Path(settings.store))
    with store_named(settings, variable(type(settings), "store")):
        return minio.MinioStore(store_access(settings))


@contextmanager
def store_named(settings: StoreSettings, url: str) -> Iterator[None]:
    """Have errors about the store's URL or bucket name what gave them: `url`, or the variable."""
    fields = {"url": url, "bucket": variable(type(settings), "store_bucket")}
    try:
        yield
    except InvalidInput as error:
        if error.field not in fields:
            raise
        raise InvalidInput(error.message, field=fields[error.field]) from error


def store_access(settings: StoreSettings) -> minio.StoreAccess:
    """How the S3 endpoint of the settings is reached. Raises InvalidInput naming the variable
    that is missing or wrong.
    """
    if settings.store_ca is not None and settings.store.startswith("http://"):
        field = variable(type(settings), "store_ca")
        message = f"of no use for {settings.store}, which is not encrypted"
        raise InvalidInput(message, file="environment", field=field)

    return minio.StoreAccess(
        settings.store,
        settings.store_bucket,
        _secret(settings, "store_access_key"),
        _secret(settings, "store_secret_key"),
        ca=settings.store_ca,
    )


def _secret(settings: StoreSettings, name: str) -> str:
    secret: SecretStr | None = getattr(settings, name)
    if secret is None:
        field = variable(type(settings), name)
        raise InvalidInput("needed for an S3 endpoint", file="environment", field=field)
    return secret.get_secret_value()


def memory_ground(store: ObjectStore) -> Ground:
    """For all services in one process."""
    stream = MemoryStream(logs=(VERDICTS, RUNS))
    return Ground(
        store, stream, stream, IdentityCodec(), SystemClock(), telemetry=process_telemetry()
    )


def kafka_access(
    servers: str, settings: KafkaSettings, field: str, session: float = 15.0
) -> brokers.KafkaAccess:
    """How the brokers at `servers`, which `field` names, are reached.

    Raises InvalidInput for what is no list of host:port, and for settings of Kafka that do not
    go together or name a file that cannot be used.
    """
    addresses = [Address.parse(server, field) for server in servers.split(",")]
    return brokers.KafkaAccess(servers, settings.security(addresses), session=session)


def kafka_ground(store: ObjectStore, access: brokers.KafkaAccess) -> Ground:
    """For services that find each other over a Kafka cluster."""
    stream = kafka.KafkaStream(access)
    return Ground(
        store,
        stream,
        kafka_log.KafkaLog(access),
        ProtobufCodec(),
        SystemClock(),
        close=(stream.close,),
        telemetry=process_telemetry(),
    )


def ground_of(stream: StreamSettings, store: StoreSettings) -> Ground:
    """What a service in a process of its own stands on. Raises InvalidInput naming the
    variable that is missing or wrong.
    """
    field = variable(type(stream), "kafka")
    if not stream.kafka:
        raise InvalidInput("bootstrap servers, host:port", file="environment", field=field)
    access = kafka_access(stream.kafka, stream, field, stream.kafka_session)
    return kafka_ground(open_store(store), access)
