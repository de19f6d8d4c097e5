"""Buckets with captions, in memory."""

import hashlib
from pathlib import Path

from caliper.core.checkpoints import CheckpointRevision


class MemoryBucket:
    """local.bucket_captions.CheckpointBucket."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.error: Exception | None = None
        self.written: list[str] = []

    async def version(self, key: str) -> str | None:
        data = self.objects.get(key)
        return None if data is None else hashlib.md5(data, usedforsecurity=False).hexdigest()

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        del max_bytes
        return self.objects.get(key)

    async def keys(self, prefix: str) -> list[str]:
        if self.error is not None:
            raise self.error
        return sorted(key for key in self.objects if key.startswith(prefix))

    async def put(self, key: str, data: bytes) -> None:
        self.written.append(key)
        self.objects[key] = data

    async def delete(self, key: str) -> None:
        self.objects.pop(key, None)

    async def close(self) -> None:
        pass

    def deliver(self, step: int, captions: Path) -> CheckpointRevision:
        """The checkpoint of a step, with all files below a folder."""
        for file in captions.rglob("*.json*"):
            self.objects[f"step-{step}/{file.relative_to(captions)}"] = file.read_bytes()
        source = f"s3://models/step-{step}"
        return CheckpointRevision(source, f"rev{step}", f"step-{step}", step)
