"""Measures one judge on the memory stream in this process, compared to plain aiohttp."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from bench.services.arrivals import AddedLatency, arrivals, paced, rate
from bench.services.model import Peer, peer
from bench.services.requests import Kind, Size, ask_for, body_of_job, plan_jobs
from bench.services.stage import SETTINGS, stage
from caliper.adapters.stores.directory import DirectoryStore
from caliper.pipeline.planning.resolution import LocalStages
from caliper.ports.stages import StageDescription
from caliper.wiring.grounds import memory_ground


@dataclass(frozen=True, slots=True)
class JudgeRates:
    """Verdicts per second, CPU milliseconds per verdict, the added latency, and plain aiohttp's
    figures from just before and after.
    """

    rate: float
    cpu: float
    added: AddedLatency
    peers: tuple[Peer, Peer]


async def one_judge(url: str, folder: Path, kind: Kind, size: Size) -> JudgeRates:
    """Measure one judge with the stub at `url`."""
    settings = SETTINGS[kind.role](model=f"bench:{url}", in_flight=size.in_flight)
    ground = memory_ground(DirectoryStore(folder / "store")).with_reply_keys(settings.reply_keys())
    parts, answering = stage(kind.role, settings, ground)
    stages = LocalStages({kind.role: StageDescription(answering.identities, answering.pack.digest)})
    backlog = await plan_jobs(
        ground, stages, await ask_for(ground.store, kind, folder / "backlog", size.jobs)
    )
    request = await ask_for(ground.store, kind, folder / "paced", size.paced, 1)
    later = await plan_jobs(ground, stages, request)
    body = body_of_job(ground, backlog[0])
    calls = size.jobs * kind.verdicts
    before = await peer(url, body, size.in_flight, calls)
    # Start the worker first: the stream is bounded, and publishing would block.
    work_task = asyncio.create_task(parts.workers[0].run())
    run = backlog[0].key.partition("/")[0]
    arrival_task = asyncio.create_task(arrivals(ground, run, len(backlog), {}))
    cpu = time.process_time()
    for job in backlog:
        await ground.stream.publish(job)
    times = await arrival_task
    cpu = 1000 * (time.process_time() - cpu) / calls
    added_latency = await paced(ground, url, kind, size, later)
    parts.workers[0].stop()
    await work_task
    for close in parts.close:
        await close()
    after = await peer(url, body, size.in_flight, calls)
    return JudgeRates(rate(times, size.delay) * kind.verdicts, cpu, added_latency, (before, after))
