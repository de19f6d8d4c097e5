"""Suites and checkpoints of this folder or of an installation, for commands and training loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING

from caliper.core.checkpoints import CheckpointEntry
from caliper.lazy import lazy_module
from caliper.local.coroutine_runner import run_blocking
from caliper.local.sources import NamedSource
from caliper.local.suite_runs import suite_store
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.adapters.remote import suites
    from caliper.wiring import client_settings, settings
else:
    suites = lazy_module("caliper.adapters.remote.suites")
    client_settings = lazy_module("caliper.wiring.client_settings")
    settings = lazy_module("caliper.wiring.settings")


@asynccontextmanager
async def administration(
    server: str | None = None,
) -> AsyncIterator[Administration | suites.RemoteSuites]:
    """The suites of an installation, through its gateway, or of this folder.

    Raises what `read_settings` and `ClientSettings.gateway` raise.
    """
    if server is None:
        yield Administration(SuiteRegistry(suite_store(), SystemClock()))
        return
    client = settings.read_settings(client_settings.ClientSettings)
    async with suites.RemoteSuites(client.gateway(server)) as remote:
        yield remote


async def register(
    delivery: NamedSource, names: Sequence[str] = (), server: str | None = None
) -> list[CheckpointEntry]:
    """The entry of a checkpoint in each suite that takes it. Raises what `NamedSource.read` and
    `Administration.register` raise.
    """
    async with administration(server) as book:
        made = await book.register(await asyncio.to_thread(delivery.read), names)
    return [entry for entry, _ in made]


def register_checkpoint(
    source: str | PathLike[str],
    *,
    server: str | None = None,
    revision: str = "",
    step: int | None = None,
    tags: Sequence[str] = (),
    suites: Sequence[str] = (),
) -> list[CheckpointEntry]:
    """Register a checkpoint, and return its entry in each suite. A known one gets its existing
    entries.

    `source` is a path, or a URI with a `revision`. `server` is the gateway of an installation
    (host:port, or https://host:port), None for this folder's registry, `runs/.suites`. `step` is
    the training step, by default the one that the suite reads from the name. Without `suites`,
    all that are not retired take it. Blocks, and may be called while an event loop runs. Raises
    CaliperError.
    """
    delivery = NamedSource(fspath(source), revision, step=step, tags=tuple(tags))
    return run_blocking(register(delivery, suites, server))
