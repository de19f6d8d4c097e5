"""What services stand on, from settings: Kafka and MinIO, or the memory and a directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.errors import InvalidInput
from caliper.pipeline.publish import RUNS, VERDICTS
from caliper.ports.storage import ObjectStore
from caliper.runtime.addresses import Address
from caliper.runtime.clock import SystemClock
from caliper.runtime.metrics import process_telemetry
from caliper.runtime.service_settings import KafkaSettings, StoreSettings, StreamSettings
from caliper.runtime.settings import variable
from caliper.servicers.building import Ground

if TYPE_CHECKING:
    from caliper.adapters.stores.minio import StoreAccess
    from caliper.adapters.streams.kafka_access import KafkaAccess


def open_store(settings: StoreSettings) -> ObjectStore:
    """The store of the settings. Raises InvalidInput naming the variable that is missing."""
    if not settings.store:
        field = variable(type(settings), "store")
        raise InvalidInput("a directory or an S3 endpoint", file="environment", field=field)
    if not settings.store.startswith(("http://", "https://")):
        return DirectoryStore(Path(settings.store))
    # Its client library takes long to import.
    from caliper.adapters.stores.minio import MinioStore  # noqa: PLC0415

    with store_named(settings, variable(type(settings), "store")):
        return MinioStore(store_access(settings))


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


def store_access(settings: StoreSettings) -> StoreAccess:
    """How the S3 endpoint of the settings is reached. Raises InvalidInput naming the variable
    that is missing or wrong.
    """
    from caliper.adapters.stores.minio import StoreAccess  # noqa: PLC0415 - as above

    if settings.store_ca is not None and settings.store.startswith("http://"):
        field = variable(type(settings), "store_ca")
        message = f"of no use for {settings.store}, which is not encrypted"
        raise InvalidInput(message, file="environment", field=field)

    return StoreAccess(
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
) -> KafkaAccess:
    """How the brokers at `servers`, which `field` names, are reached.

    Raises InvalidInput for what is no list of host:port, and for settings of Kafka that do not
    go together or name a file that cannot be used.
    """
    from caliper.adapters.streams.kafka_access import KafkaAccess  # noqa: PLC0415 - as above

    addresses = [Address.parse(server, field) for server in servers.split(",")]
    return KafkaAccess(servers, settings.security(addresses), session=session)


def kafka_ground(store: ObjectStore, access: KafkaAccess) -> Ground:
    """For services that find each other over a Kafka cluster."""
    from caliper.adapters.streams.kafka import KafkaStream  # noqa: PLC0415 - as above
    from caliper.adapters.streams.kafka_log import KafkaLog  # noqa: PLC0415

    stream = KafkaStream(access)
    return Ground(
        store,
        stream,
        KafkaLog(access),
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
