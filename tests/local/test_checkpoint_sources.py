"""What looks after checkpoints in folders and buckets while they are evaluated."""

import shutil
from pathlib import Path
from uuid import uuid4

from tests.fakes import tiny
from tests.fakes.caption_buckets import MemoryBucket
from tests.servers.access import access_to

from caliper.adapters.stores.source_bucket import SourceBucket
from caliper.core.checkpoints import CheckpointRevision
from caliper.local.checkpoint_sources import BucketSources, LocalSources
from caliper.local.sources import NamedSource, WatchedFolder
from caliper.pipeline.suites.notifications import BucketPlace


def found(source: str) -> CheckpointRevision:
    return CheckpointRevision(source, "r1", "step-1")


async def test_a_folder_is_looked_at_and_marked_where_nobody_takes_it_for_a_checkpoint(
    tmp_path: Path,
) -> None:
    file = tiny.text(tmp_path / "step-1" / "weights", "a")
    checkpoint, sources = NamedSource(str(file.parent)).read(), LocalSources(lambda _: None)
    before = await sources.signature(checkpoint)
    await sources.mark(checkpoint.source, "nightly", "text")
    marker = tmp_path / ".step-1.nightly.caliper-lease"
    assert marker.read_text() == "text"
    folder = WatchedFolder(tmp_path, print, once=True)
    assert await folder.arrivals() == [checkpoint]
    assert await sources.signature(checkpoint) == before
    for _ in range(2):
        await sources.unmark(checkpoint.source, "nightly")
    assert not marker.exists()
    # Written again, with the same content: the same checkpoint.
    file.unlink()
    tiny.text(file, "a").touch()
    assert await sources.loss(checkpoint) == ""
    tiny.text(file, "another")
    assert await sources.signature(checkpoint) != before
    assert await sources.loss(checkpoint) == f"{file.parent} now holds other files"
    shutil.rmtree(tmp_path)
    assert await sources.loss(checkpoint) == f"{file.parent} no longer exists"
    await sources.mark(checkpoint.source, "nightly", "text")
    assert list(tmp_path.parent.glob(tmp_path.name)) == []


async def test_a_folder_in_a_bucket_is_lost_with_its_last_object() -> None:
    bucket, checkpoint = MemoryBucket(), found("s3://models/step-1")
    sources = BucketSources({"models": bucket}.get)
    await bucket.put("step-1/captions.jsonl", b"1")
    assert await sources.signature(checkpoint)
    await bucket.delete("step-1/captions.jsonl")
    assert await sources.signature(checkpoint) == ""
    assert await sources.loss(checkpoint) == "s3://models/step-1 was removed"
    # In an installation a path is that of another machine.
    assert await sources.signature(found("/checkpoints/step-1")) is None


async def test_an_object_is_looked_at_by_its_etag_or_that_of_its_manifest() -> None:
    bucket = MemoryBucket()
    sources = LocalSources({"models": bucket}.get)
    for source, key in (("s3://models/a/1.bin", "a/1.bin"), ("s3://models/b/", "b/manifest.json")):
        checkpoint = found(source)
        await bucket.put(key, b"1")
        before = await sources.signature(checkpoint)
        await bucket.put(key, b"2")
        assert await sources.signature(checkpoint) != before
        assert await sources.loss(checkpoint) == f"{source} now holds another version"
        await bucket.delete(key)
        assert await sources.loss(checkpoint) == f"{source} was removed"
    for unknown in ("s3://others/a", "hf://a/b", "s3://models"):
        assert await sources.signature(found(unknown)) is None
        await sources.mark(unknown, "nightly", "text")
        await sources.unmark(unknown, "nightly")
    assert bucket.objects == {}


async def test_a_marker_in_a_real_bucket_is_no_checkpoint(minio: str) -> None:
    access = access_to(minio, f"tests-{uuid4().hex[:12]}")
    with access.connections() as pool:
        access.client(pool).make_bucket(access.bucket)
    bucket = SourceBucket(access)
    sources = LocalSources({access.bucket: bucket}.get)
    source = f"s3://{access.bucket}/run/step=1.ckpt"
    assert await sources.signature(found(source)) == ""
    for text in ("first", "second"):
        await sources.mark(source, "nightly", text)
    key = "run/.step=1.ckpt.nightly.caliper-lease"
    assert await bucket.get(key) == b"second"
    assert not BucketPlace(access.bucket, "run/").holds(access.bucket, key)
    for _ in range(2):
        await sources.unmark(source, "nightly")
    assert await bucket.version(key) is None
    await bucket.close()
