"""Captions in buckets, whose keys are anybody's."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.caption_buckets import MemoryBucket

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput
from caliper.local.bucket_captions import BucketCaptions

CHECKPOINT = CheckpointRevision("s3://models/step-1", "rev1", "step-1", 1)


@pytest.mark.parametrize(
    "names",
    [
        ["step-1/{outside}/evil.json"],
        ["step-1/../evil.json"],
        [f"step-1/{'x' * 300}.json"],
        ["step-1/a.jsonl", "step-1/a.jsonl/b.json"],
    ],
    ids=["absolute", "above", "long", "both"],
)
async def test_a_key_that_is_no_file_is_refused(tmp_path: Path, names: list[str]) -> None:
    bucket, outside = MemoryBucket(), tmp_path / "outside"
    for name in names:
        bucket.objects[name.format(outside=outside)] = b"{}"
    with pytest.raises(InvalidInput, match="file"):
        async with BucketCaptions(lambda _: bucket).fetched(CHECKPOINT):
            pass
    assert not outside.exists()


@pytest.mark.parametrize(
    "key",
    ["runs/0123456789abcdef/captions/captionqa", "/supplied/a.json", "./datasets", "a/../runs", ""],
)
async def test_what_an_installation_keeps_is_no_source(key: str) -> None:
    bucket = MemoryBucket()
    bucket.objects["runs/0123456789abcdef/captions/captionqa/a.json"] = b"{}"
    captions, own = BucketCaptions(lambda _: bucket, "caliper"), f"s3://caliper/{key}"
    with pytest.raises(InvalidInput, match="keeps its own objects there"):
        async with captions.fetched(replace(CHECKPOINT, source=own)):
            pass
    async with captions.fetched(replace(CHECKPOINT, source="s3://caliper/captions/step-1")):
        pass
