"""A bucket of a real MinIO that announces its changes in a topic of a real Kafka."""

import asyncio
import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from minio import Minio, S3Error
from minio.notificationconfig import NotificationConfig, QueueConfig
from tests.servers import object_server
from tests.servers.access import access_to

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.pipeline.suites.notifications import MARKER

TOPIC = "checkpoints"
_KNOWN_WITHIN = 300.0
_EVENTS = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]


@dataclass
class AnnouncingBucket:
    """A bucket of a MinIO that announces its changes in a topic."""

    access: StoreAccess
    client: Minio
    kafka: KafkaAccess
    announced: int = 0

    def put(self, key: str, text: str) -> None:
        data = text.encode()
        self.client.put_object(self.access.bucket, key, io.BytesIO(data), len(data))
        self.announced += 1

    def remove(self, key: str) -> None:
        self.client.remove_object(self.access.bucket, key)
        self.announced += 1

    def wait(self) -> None:
        """Until all that changed is in the topic."""

        async def read() -> None:
            found = 0
            async for record in KafkaLog(self.kafka).read(TOPIC, {}):
                # Markers beside what is evaluated are announced as well.
                found += MARKER not in str(record.message.value)
                if found == self.announced:
                    return

        if self.announced:
            asyncio.run(read())

    def etag(self, key: str) -> str | None:
        return self.client.stat_object(self.access.bucket, key).etag

    @property
    def environment(self) -> dict[str, str]:
        """What `caliper suite run --bucket` needs to know."""
        return {
            "CALIPER_STORE": self.access.url,
            "CALIPER_STORE_ACCESS_KEY": self.access.access_key,
            "CALIPER_STORE_SECRET_KEY": self.access.secret_key,
            "CALIPER_KAFKA_PREFIX": self.kafka.prefix,
        }


@contextmanager
def announcing_bucket(kafka: KafkaAccess, folder: Path) -> Iterator[AnnouncingBucket]:
    """A bucket of a MinIO of its own, which has its data in `folder`."""
    apply_topics(kafka, (Topic(TOPIC, 1, {}),))
    folder.mkdir()
    settings = {
        "MINIO_NOTIFY_KAFKA_ENABLE_TESTS": "on",
        "MINIO_NOTIFY_KAFKA_BROKERS_TESTS": kafka.servers,
        "MINIO_NOTIFY_KAFKA_TOPIC_TESTS": kafka.full_name(TOPIC),
    }
    server, url = object_server.start(folder, settings=settings)
    access = access_to(url, f"models-{uuid4().hex[:8]}")
    try:
        with access.connections() as pool:
            client = access.client(pool)
            client.make_bucket(access.bucket)
            queue = QueueConfig(_EVENTS, queue="arn:minio:sqs::TESTS:kafka")
            config = NotificationConfig(queue_config_list=[queue])
            _announce(client, access.bucket, config)
            yield AnnouncingBucket(access, client, kafka)
    finally:
        server.stop()


def _announce(client: Minio, bucket: str, config: NotificationConfig) -> None:
    deadline = time.monotonic() + _KNOWN_WITHIN
    while True:
        try:
            client.set_bucket_notification(bucket, config)
        except S3Error as error:
            # MinIO is ready before it has reached the broker.
            if error.code != "InvalidArgument" or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
