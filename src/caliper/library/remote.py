"""Runs of an installation, for the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import BackendTimeout, BackendUnavailable, InvalidInput, NotReady
from caliper.core.run import REPORTED_STATES
from caliper.library.progress import StatusLine, note
from caliper.library.run import Run
from caliper.local.config import RunConfig
from caliper.local.exports import export_installed, read_installed
from caliper.local.installation import open_gateway
from caliper.local.submission import send
from caliper.pipeline.store.run_record import Evaluation

_INTERVAL = 1.0


async def evaluate(
    server: str, config: RunConfig, functions: Mapping[str, object], *, progress: bool
) -> Run:
    """Push data and captions to the installation whose gateway is at `server`, start the run, and
    wait for its end.

    Raises what `send` and `RemoteGateway.watch` raise, InvalidInput for functions, and NotReady
    for a run that failed or was cancelled there.
    """
    if functions:
        raise InvalidInput(
            "an installation cannot call a function of this process: name a model of its own"
        )
    async with open_gateway(server) as gateway:
        notes: list[str] = []
        started = await send(config, gateway, note=notes.append)
        for text in notes if progress else ():
            note(text)
        run = started.spec.run_id
        ended = started
        try:
            with StatusLine() if progress else nullcontext() as line:
                async for ended in gateway.watch(run, _INTERVAL):
                    if line is not None:
                        line.update(partial(_line, ended))
        except (BackendUnavailable, BackendTimeout) as error:
            raise BackendUnavailable(f"{error}; run {run} continues there") from error
        if ended.state not in REPORTED_STATES:
            raise NotReady(f"run {run} is {ended.state}: {ended.error or 'it has no report'}")
        await export_installed(server, run, config.export, note)
        return await _report(server, gateway, run)


async def load(server: str, run: str) -> Run:
    """A run by its id. Raises what `RemoteGateway.report` raises."""
    async with open_gateway(server) as gateway:
        return await _report(server, gateway, run)


async def _report(server: str, gateway: RemoteGateway, run: str) -> Run:
    text = (await gateway.report(run, partial=True)).decode()
    return Run(run, text, None, partial(read_installed, server, run), server)


def _line(evaluation: Evaluation) -> str:
    """How far a run is, on one line."""
    parts = (
        f"{part.title} {part.coverage.known:,} of {part.coverage.planned:,}"
        for part in evaluation.benchmarks
    )
    return "; ".join((f"{evaluation.spec.run_id} {evaluation.state}", *parts))
