"""`caliper suite run --bucket`: what a real MinIO announces on a real Kafka."""

import asyncio
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from minio import Minio
from minio.notificationconfig import NotificationConfig, QueueConfig
from minio.versioningconfig import ENABLED, VersioningConfig
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES
from tests.servers import object_server
from tests.servers.access import access_to

from caliper.adapters.stores.minio import StoreAccess
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics

pytestmark = pytest.mark.components("MinIO")
TOPIC = "checkpoints"
EVENTS = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]


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
            async for _ in KafkaLog(self.kafka).read(TOPIC, {}):
                found += 1
                if found == self.announced:
                    return

        if self.announced:
            asyncio.run(read())

    def etag(self, key: str) -> str | None:
        return self.client.stat_object(self.access.bucket, key).etag


@pytest.fixture
def bucket(kafka: KafkaAccess, tmp_path: Path) -> Iterator[AnnouncingBucket]:
    apply_topics(kafka, (Topic(TOPIC, 1, {}),))
    folder = tmp_path / "minio"
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
            queue = QueueConfig(EVENTS, queue="arn:minio:sqs::TESTS:kafka")
            config = NotificationConfig(queue_config_list=[queue])
            client.set_bucket_notification(access.bucket, config)
            yield AnnouncingBucket(access, client, kafka)
    finally:
        server.stop()


@pytest.fixture
def caliper(bucket: AnnouncingBucket, tmp_path: Path) -> Command:
    access = bucket.access
    environment = {
        "CALIPER_STORE": access.url,
        "CALIPER_STORE_ACCESS_KEY": access.access_key,
        "CALIPER_STORE_SECRET_KEY": access.secret_key,
        "CALIPER_KAFKA_PREFIX": bucket.kafka.prefix,
    }
    command = Command(tmp_path, environment)
    data = {"data": str(EXAMPLES / "capability"), "media": str(EXAMPLES / "media")}
    values = {"name": "nightly", "benchmarks": {"capability": data}, "step": "step={step}"}
    tiny.text(tmp_path / "suite.yaml", yaml.safe_dump(values))
    command("suite", "apply", "suite.yaml", code=0)
    # It registers, and evaluates nothing.
    command("suite", "pause", "nightly", code=0)
    return command


def run(caliper: Command, bucket: AnnouncingBucket, *more: str) -> list[list[str]]:
    """What a loop tells, once it has read all that was announced."""
    bucket.wait()
    place = f"{bucket.access.bucket}/run-7/"
    source = ("--bucket", place, "--kafka", bucket.kafka.servers, *more)
    lines = caliper("suite", "run", "nightly", "--once", *source).out.splitlines()
    return [line.split("  ")[2:4] for line in lines]


def listed(caliper: Command) -> list[Any]:
    return [
        (each["checkpoint"]["step"], each["checkpoint"]["revision"], each["state"])
        for each in caliper("checkpoint", "list", "--json", code=0).told
    ]


def test_what_minio_announces_is_registered_once(
    caliper: Command, bucket: AnnouncingBucket
) -> None:
    second, first = "run-7/epoch=1 step=20.ckpt", "run-7/epoch=0 step=10.ckpt"
    bucket.put(second, "second")
    bucket.put(first, "first")
    bucket.put(first, "first")
    bucket.put("elsewhere/step=1.ckpt", "other")
    told = run(caliper, bucket)
    assert sorted(told) == [["step 10", "registered"], ["step 20", "registered"]]
    revisions = [(10, bucket.etag(first)), (20, bucket.etag(second))]
    assert listed(caliper) == [(*each, "registered") for each in revisions]
    assert run(caliper, bucket) == []
    # Removed: no retry for ever. Made again: registered again.
    bucket.remove(second)
    assert run(caliper, bucket) == [["step 20", "source-gone"]]
    assert [state for _, _, state in listed(caliper)] == ["registered", "source-gone"]
    bucket.put(second, "second")
    run(caliper, bucket)
    assert listed(caliper) == [(*each, "registered") for each in revisions]
    # Other bytes under the key are another checkpoint, and the earlier one is gone.
    bucket.put(first, "another")
    told = run(caliper, bucket)
    assert told == [["step 10", "registered"], ["step 10", "source-gone"]]


def test_a_manifest_names_what_is_complete(caliper: Command, bucket: AnnouncingBucket) -> None:
    bucket.client.set_bucket_versioning(bucket.access.bucket, VersioningConfig(ENABLED))
    bucket.put("run-7/step=30/weights-1.bin", "1")
    bucket.put("run-7/step=30/weights-2.bin", "2")
    assert run(caliper, bucket, "--objects", "manifest.json") == []
    manifest = {"revision": "sha256-0123", "tags": ["release"]}
    bucket.put("run-7/step=30/manifest.json", json.dumps(manifest))
    told = run(caliper, bucket, "--objects", "manifest.json")
    assert told == [["step 30", "registered"]]
    (entry,) = caliper("checkpoint", "show", "step=30", "--json", code=0).told
    checkpoint = entry["checkpoint"]
    assert checkpoint["source"] == f"s3://{bucket.access.bucket}/run-7/step=30/"
    assert (checkpoint["revision"], checkpoint["tags"]) == ("sha256-0123", ["release"])
    # With a delete marker, too.
    bucket.remove("run-7/step=30/manifest.json")
    told = run(caliper, bucket, "--objects", "manifest.json")
    assert told == [["step 30", "source-gone"]]


def test_bad_settings_are_named(caliper: Command, bucket: AnnouncingBucket) -> None:
    loop = ("suite", "run", "nightly", "--once", "--bucket", "models/run-7/")
    assert "--kafka: needed with --bucket" in caliper(*loop, code=2).err
    kafka = ("--kafka", bucket.kafka.servers)
    without = replace(caliper, environment={})
    assert "CALIPER_STORE: an S3 endpoint" in without(*loop, *kafka, code=2).err
