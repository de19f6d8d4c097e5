"""Runs the model steps of a build on an installation, through its gateway."""

from __future__ import annotations

import asyncio

from caliper.adapters.files import write_atomically
from caliper.building.asking.planning import NAME
from caliper.cli.options import OutputOptions
from caliper.cli.remote import watch_run
from caliper.core.errors import BackendUnavailable
from caliper.core.run import REPORTED_STATES
from caliper.local.building.model_steps import StepRun
from caliper.local.config import RunConfig
from caliper.local.installation import open_gateway
from caliper.local.submission import send


async def run_there(config: RunConfig, server: str, output: OutputOptions) -> StepRun:
    """Send a step, wait for its end, and fetch its verdicts.

    Raises what `send` and `RemoteGateway.watch` raise, and BackendUnavailable if the run failed
    there, or was cancelled.
    """
    folder = config.out
    assert folder is not None  # noqa: S101 - every step has a folder
    sent = config.model_copy(update={"anchors": None, "store": None})
    async with open_gateway(server) as gateway:
        started = await send(sent, gateway)
        run = started.spec.run_id
        ended = await watch_run(gateway, run, output)
        if ended.state not in REPORTED_STATES:
            raise BackendUnavailable(f"run {run} is {ended.state}: {ended.error or 'no error'}")
        verdicts = await gateway.report(run, "verdicts.parquet", partial=True)
    path = await asyncio.to_thread(write_atomically, folder / "verdicts.parquet", verdicts)
    return StepRun(path, started.spec.benchmark(NAME).models["media"].label)
