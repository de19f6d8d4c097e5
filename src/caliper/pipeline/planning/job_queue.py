"""The queue of a start: its jobs as messages in the store, in the order of publication.

runs/<id>/queue/<start>/<number>.gz    a line of JSON about each job, then all their values
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence

from caliper.core.envelopes import Message, bytes_of
from caliper.core.errors import DataLoss
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA, refuse_newer
from caliper.pipeline.planning.publisher import JobMessage
from caliper.pipeline.store.decompression import gunzip
from caliper.ports.storage import ObjectStore

MOST_JOBS = 200
_MOST_BYTES = 512 * 1024


async def write_queue(store: ObjectStore, start: int, jobs: AsyncIterator[JobMessage]) -> int:
    """Write the jobs of a start to its run's own part of the store, and return the number of
    shards, at least one. Raises StoreUnavailable or StoreFull.
    """
    number, size, shard = 0, 0, list[JobMessage]()
    async for job in jobs:
        if len(shard) == MOST_JOBS or size > _MOST_BYTES:
            await _write(store, start, number, shard)
            number, size, shard = number + 1, 0, []
        shard.append(job)
        size += len(bytes_of(job.message))
    await _write(store, start, number, shard)
    return number + 1


async def _write(store: ObjectStore, start: int, number: int, jobs: Sequence[JobMessage]) -> None:
    await store.put(_key(start, number), await asyncio.to_thread(_encode, jobs))


async def read_queue(store: ObjectStore, start: int, number: int) -> list[JobMessage]:
    """The jobs of one shard. Raises NewerSchema, DataLoss when it is missing or broken,
    StoreUnavailable.
    """
    key = _key(start, number)
    data = await store.get(key)
    if data is None:
        raise DataLoss.missing(key)
    try:
        return await asyncio.to_thread(_decode, data, key)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise DataLoss(f"broken shard of jobs: {error!r}", file=key) from error


def _encode(jobs: Sequence[JobMessage]) -> bytes:
    values = [bytes_of(job.message) for job in jobs]
    described = [
        {
            "topic": job.message.topic,
            "key": job.message.key,
            "indices": [[each.start, each.stop] for each in job.indices],
            "stages": job.stages,
            "size": len(value),
        }
        for job, value in zip(jobs, values, strict=True)
    ]
    header = canonical_json({"schema": SCHEMA, "jobs": described})
    return gzip.compress(b"\n".join((header, b"".join(values))), compresslevel=3, mtime=0)


def _decode(data: bytes, key: str) -> list[JobMessage]:
    line, _, values = gunzip(data).partition(b"\n")
    header = json.loads(line)
    refuse_newer(header["schema"], key)
    jobs, start = [], 0
    for job in header["jobs"]:
        value = values[start : start + job["size"]]
        start += job["size"]
        indices = tuple(range(first, stop) for first, stop in job["indices"])
        message = Message(job["topic"], job["key"], value)
        jobs.append(JobMessage(message, indices, tuple(job["stages"])))
    return jobs


def _key(start: int, number: int) -> str:
    return f"queue/{start:010}/{number:06}.gz"
