"""Runs through Kafka and MinIO, every service a process of its own, beside plain aiohttp."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bench.services.arrivals import Added, arrivals, paced, rate
from bench.services.installation import Installation
from bench.services.model import Peer, peer
from bench.services.requests import Kind, Size, ask_for, body_of_job, plan_jobs
from caliper.core.run import RunState
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.planning.resolution import EvaluationRequest


@dataclass(frozen=True, slots=True)
class Run:
    """Verdicts a second while the model was asked; seconds from being asked for to the report;
    CPU milliseconds of a verdict by service, of the whole run, and of Kafka and MinIO together.
    """

    rate: float
    seconds: float
    cpu: Mapping[str, float]
    servers: float

    @property
    def services(self) -> float:
        """CPU milliseconds of a verdict, of all services together."""
        return sum(self.cpu.values())


async def run(
    there: Installation, kind: Kind, asked: EvaluationRequest, samples: int, delay: float
) -> Run:
    """Have a run done, from its start to its report. Raises RuntimeError when it is not whole."""
    offsets = await there.ground.logs.ends(VERDICTS)
    before, servers, begun = there.usage(), there.servers_cpu(), time.perf_counter()
    begun_run, _ = await there.gateway.start(asked)
    name = begun_run.spec.run_id
    arriving = asyncio.create_task(arrivals(there.ground, name, samples, offsets))
    # Until it is over: the report belongs to a run's CPU.
    *_, ended = [found async for found in there.gateway.watch(name, 1.0)]
    if ended.state is not RunState.COMPLETE:
        raise RuntimeError(f"the run ended {ended.state}: {ended.error}")
    seconds = time.perf_counter() - begun
    after, seen, verdicts = there.usage(), await arriving, samples * kind.verdicts
    cpu = {name: 1000 * (after[name].cpu - before[name].cpu) / verdicts for name in after}
    of_servers = 1000 * (there.servers_cpu() - servers) / verdicts
    return Run(rate(seen, delay) * kind.verdicts, seconds, cpu, of_servers)


async def beside(
    there: Installation, url: str, kind: Kind, size: Size, number: int
) -> tuple[Run, tuple[Peer, Peer]]:
    """A run and, just before and after it, the peer with as many calls. Runs that differ in
    `number` ask the same anew.
    """
    folder = there.folder / f"run-{number}"
    asked = await ask_for(there.ground.store, kind, folder, size.jobs, number)
    jobs = await plan_jobs(there.ground, there.stages, asked)
    body = body_of_job(there.ground, jobs[0])
    calls = size.jobs * kind.verdicts
    before = await peer(url, body, size.in_flight, calls)
    found = await run(there, kind, asked, size.jobs, size.delay)
    return found, (before, await peer(url, body, size.in_flight, calls))


async def added(there: Installation, url: str, kind: Kind, size: Size, number: int) -> Added:
    """The latency that is added at a steady pace."""
    folder = there.folder / f"paced-{number}"
    asked = await ask_for(there.ground.store, kind, folder, size.paced, number)
    jobs = await plan_jobs(there.ground, there.stages, asked)
    return await paced(there.ground, url, kind, size, jobs)
