"""When verdicts can be read: of a backlog, and of jobs that come at a steady pace."""

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
class Added:
    """Seconds beyond those of the model: of jobs at a steady pace, from being published to the
    verdict being readable, and of calls of plain aiohttp at the same pace.
    """

    ours: Sequence[float]
    peer: Sequence[float]


async def arrivals(
    ground: Ground, run: str, jobs: int, offsets: Mapping[int, int]
) -> dict[str, float]:
    """When the verdicts of each of so many jobs of a run could be read, by their key; read from
    those offsets on.

    Raises RuntimeError when the first of them was not scored.
    """
    seen: dict[str, float] = {}
    async with aclosing(ground.logs.read(VERDICTS, offsets)) as records:  # type: ignore[type-var]
        async for record in records:
            key = record.message.key
            if not key.startswith(f"{run}/") or key in seen:
                continue
            if not seen and not _scored(ground, record.message):
                raise RuntimeError(f"a job was not scored: {record.message.value!r:.200}")
            seen[key] = time.perf_counter()
            if len(seen) == jobs:
                break
    return seen


def _scored(ground: Ground, message: Message) -> bool:
    verdicts = ground.codec.read_verdicts(message.value).verdicts
    return all(isinstance(verdict.outcome, Scored) for verdict in verdicts)


def rate(seen: Mapping[str, float], delay: float) -> float:
    """Jobs a second, from when the model was first asked, `delay` before its first verdict, to
    the last verdict: as the peer counts too.
    """
    return len(seen) / (max(seen.values()) - min(seen.values()) + delay)


async def paced(ground: Ground, url: str, kind: Kind, size: Size, jobs: Sequence[Message]) -> Added:
    """Publish jobs at the pace of a size, and then have plain aiohttp make calls at it."""
    ours = await _beyond(ground, jobs, size.pace / kind.verdicts, size.delay)
    body, calls = body_of_job(ground, jobs[0]), size.paced * kind.verdicts
    return Added(ours, await paced_peer(url, body, size.pace, calls, size.delay))


async def _beyond(
    ground: Ground, jobs: Sequence[Message], pace: float, delay: float
) -> list[float]:
    run = jobs[0].key.partition("/")[0]
    offsets = await ground.logs.ends(VERDICTS)
    arriving = asyncio.create_task(arrivals(ground, run, len(jobs), offsets))
    begun, published, sending = time.perf_counter(), {}, []
    for number, job in enumerate(jobs):
        await asyncio.sleep(max(0.0, begun + number / pace - time.perf_counter()))
        published[job.key] = time.perf_counter()
        sending.append(asyncio.create_task(ground.stream.publish(job)))
    await asyncio.gather(*sending)
    seen = await arriving
    return [seen[key] - moment - delay for key, moment in published.items()]
