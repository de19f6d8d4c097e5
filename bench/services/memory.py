"""One judge on the memory stream, in this process, beside plain aiohttp."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from bench.services.arrivals import Added, arrivals, paced, rate
from bench.services.model import Peer, peer
from bench.services.requests import Kind, Size, ask_for, body_of_job, plan_jobs
from bench.services.stage import SETTINGS, stage
from caliper.adapters.stores.directory import DirectoryStore
from caliper.pipeline.planning.resolution import LocalStages
from caliper.ports.stages import StageDescription
from caliper.wiring.grounds import memory_ground


@dataclass(frozen=True, slots=True)
class Found:
    """Verdicts a second, CPU milliseconds of a verdict, the latency that was added, and plain
    aiohttp just before and after.
    """

    rate: float
    cpu: float
    added: Added
    peers: tuple[Peer, Peer]


async def one_judge(url: str, folder: Path, kind: Kind, size: Size) -> Found:
    """Measure with the stub at `url`."""
    ground = memory_ground(DirectoryStore(folder / "store"))
    settings = SETTINGS[kind.role](model=f"bench:{url}", in_flight=size.in_flight)
    parts, answering = stage(kind.role, settings, ground)
    stages = LocalStages({kind.role: StageDescription(answering.identities, answering.pack.digest)})
    backlog = await plan_jobs(
        ground, stages, await ask_for(ground.store, kind, folder / "backlog", size.jobs)
    )
    asked = await ask_for(ground.store, kind, folder / "paced", size.paced, 1)
    later = await plan_jobs(ground, stages, asked)
    body = body_of_job(ground, backlog[0])
    calls = size.jobs * kind.verdicts
    before = await peer(url, body, size.in_flight, calls)
    # The stream holds only so many jobs that nobody has taken: the worker comes first.
    working = asyncio.create_task(parts.working[0].run())
    run = backlog[0].key.partition("/")[0]
    arriving = asyncio.create_task(arrivals(ground, run, len(backlog), {}))
    cpu = time.process_time()
    for job in backlog:
        await ground.stream.publish(job)
    seen = await arriving
    cpu = 1000 * (time.process_time() - cpu) / calls
    late = await paced(ground, url, kind, size, later)
    parts.working[0].stop()
    await working
    for close in parts.close:
        await close()
    after = await peer(url, body, size.in_flight, calls)
    return Found(rate(seen, size.delay) * kind.verdicts, cpu, late, (before, after))
