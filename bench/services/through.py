"""Measures runs through Kafka and MinIO, with one process per service, against plain aiohttp."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bench.services.arrivals import AddedLatency, arrivals, paced, rate
from bench.services.installation import Installation
from bench.services.model import Peer, peer
from bench.services.requests import Kind, Size, ask_for, body_of_job, plan_jobs
from caliper.core.run import RunState
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.planning.resolution import EvaluationRequest


@dataclass(frozen=True, slots=True)
class Run:
    """Verdicts per second while the model was called; seconds from the request to the report; CPU
    milliseconds per verdict over the whole run, by service, and of Kafka and MinIO together.
    """

    rate: float
    seconds: float
    cpu: Mapping[str, float]
    servers: float

    @property
    def services(self) -> float:
        """CPU milliseconds per verdict of all services together."""
        return sum(self.cpu.values())


async def run(
    system: Installation, kind: Kind, request: EvaluationRequest, samples: int, delay: float
) -> Run:
    """Do a run, from its start to its report. Raises RuntimeError if it is not complete."""
    offsets = await system.ground.logs.ends(VERDICTS)
    before, servers, start = system.usage(), system.servers_cpu(), time.perf_counter()
    evaluation, _ = await system.gateway.start(request)
    name = evaluation.spec.run_id
    arrival_task = asyncio.create_task(arrivals(system.ground, name, samples, offsets))
    # Wait for the end: the CPU of a run includes its report.
    *_, ended = [change async for change in system.gateway.watch(name, 1.0)]
    if ended.state is not RunState.COMPLETE:
        raise RuntimeError(f"the run ended {ended.state}: {ended.error}")
    seconds = time.perf_counter() - start
    after, times, verdicts = system.usage(), await arrival_task, samples * kind.verdicts
    cpu = {name: 1000 * (after[name].cpu - before[name].cpu) / verdicts for name in after}
    servers_cpu = 1000 * (system.servers_cpu() - servers) / verdicts
    return Run(rate(times, delay) * kind.verdicts, seconds, cpu, servers_cpu)


async def beside(
    system: Installation, url: str, kind: Kind, size: Size, number: int
) -> tuple[Run, tuple[Peer, Peer]]:
    """Do a run and, just before and after it, as many calls of the peer. Runs with different
    `number` do not share replies.
    """
    folder = system.folder / f"run-{number}"
    request = await ask_for(system.ground.store, kind, folder, size.jobs, number)
    jobs = await plan_jobs(system.ground, system.stages, request)
    body = body_of_job(system.ground, jobs[0])
    calls = size.jobs * kind.verdicts
    before = await peer(url, body, size.in_flight, calls)
    result = await run(system, kind, request, size.jobs, size.delay)
    return result, (before, await peer(url, body, size.in_flight, calls))


async def added(
    system: Installation, url: str, kind: Kind, size: Size, number: int
) -> AddedLatency:
    """Measure the added latency at a steady pace."""
    folder = system.folder / f"paced-{number}"
    request = await ask_for(system.ground.store, kind, folder, size.paced, number)
    jobs = await plan_jobs(system.ground, system.stages, request)
    return await paced(system.ground, url, kind, size, jobs)
