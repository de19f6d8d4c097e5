"""Measures when verdicts become readable: of a backlog, and of jobs at a steady pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from bench.services.model import paced_peer
from bench.services.requests import Kind, Size, body_of_job
from caliper.core.envelopes import Message
from caliper.core.outcome import Scored
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.wiring.grounds import Ground


@dataclass(frozen=True, slots=True)
class AddedLatency:
    """Latency beyond the model's delay, in seconds: of jobs at a steady pace, from publishing to
    the readable verdict, and of plain aiohttp's calls at the same pace.
    """

    ours: Sequence[float]
    peer: Sequence[float]


async def arrivals(
    ground: Ground, run: str, jobs: int, offsets: Mapping[int, int]
) -> dict[str, float]:
    """The times at which the verdicts of `jobs` jobs of a run became readable, by key, reading from
    `offsets` on.

    Raises RuntimeError if the first job was not scored.
    """
    times: dict[str, float] = {}
    async with aclosing(ground.logs.read(VERDICTS, offsets)) as records:
        async for record in records:
            key = record.message.key
            if not key.startswith(f"{run}/") or key in times:
                continue
            if not times and not _scored(ground, record.message):
                raise RuntimeError(f"a job was not scored: {record.message.value!r:.200}")
            times[key] = time.perf_counter()
            if len(times) == jobs:
                break
    return times


def _scored(ground: Ground, message: Message) -> bool:
    verdicts = ground.codec.read_verdicts(message.value).verdicts
    return all(isinstance(verdict.outcome, Scored) for verdict in verdicts)


def rate(times: Mapping[str, float], delay: float) -> float:
    """Jobs per second from the first call of the model, `delay` before its first verdict, to the
    last verdict, like the peer's rate.
    """
    return len(times) / (max(times.values()) - min(times.values()) + delay)


async def paced(
    ground: Ground, url: str, kind: Kind, size: Size, jobs: Sequence[Message]
) -> AddedLatency:
    """Publish jobs at the pace of `size`, then make calls with plain aiohttp at the same pace."""
    ours = await _added_latency(ground, jobs, size.pace / kind.verdicts, size.delay)
    body, calls = body_of_job(ground, jobs[0]), size.paced * kind.verdicts
    return AddedLatency(ours, await paced_peer(url, body, size.pace, calls, size.delay))


async def _added_latency(
    ground: Ground, jobs: Sequence[Message], pace: float, delay: float
) -> list[float]:
    run = jobs[0].key.partition("/")[0]
    offsets = await ground.logs.ends(VERDICTS)
    arrival_task = asyncio.create_task(arrivals(ground, run, len(jobs), offsets))
    start, publish_times, publish_tasks = time.perf_counter(), {}, []
    for number, job in enumerate(jobs):
        await asyncio.sleep(max(0.0, start + number / pace - time.perf_counter()))
        publish_times[job.key] = time.perf_counter()
        publish_tasks.append(asyncio.create_task(ground.stream.publish(job)))
    await asyncio.gather(*publish_tasks)
    times = await arrival_task
    return [times[key] - moment - delay for key, moment in publish_times.items()]
