"""`caliper suite run --bucket`: what a real MinIO announces on a real Kafka."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from minio.versioningconfig import ENABLED, VersioningConfig
from tests.fakes import tiny
from tests.fakes.announcing_bucket import AnnouncingBucket, announcing_bucket
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES

from caliper.adapters.streams.kafka_access import KafkaAccess

pytestmark = pytest.mark.components("MinIO")


@pytest.fixture
def bucket(kafka: KafkaAccess, tmp_path: Path) -> Iterator[AnnouncingBucket]:
    with announcing_bucket(kafka, tmp_path / "minio") as found:
        yield found


@pytest.fixture
def caliper(bucket: AnnouncingBucket, tmp_path: Path) -> Command:
    command = Command(tmp_path, bucket.environment)
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


def test_what_is_gone_before_its_removal_is_announced_does_not_fail(
    caliper: Command, bucket: AnnouncingBucket
) -> None:
    source = f"s3://{bucket.access.bucket}/run-7/step=40.ckpt"
    caliper("checkpoint", "add", source, "--revision", "0123", code=0)
    caliper("suite", "resume", "nightly", code=0)
    told = run(caliper, bucket)
    assert told == [["step 40", "started"], ["step 40", "source-gone"]]


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
    assert "CALIPER_STORE: must be an S3 endpoint" in without(*loop, *kafka, code=2).err
