"""Replaces the names of datasets in a configuration by local copies, and finds the data in them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.local.coroutine_runner import in_daemon_thread, run_blocking
from caliper.wiring.data_sources import DataName, data_name, open_source

if TYPE_CHECKING:
    from caliper.local import data_layouts
else:
    data_layouts = lazy_module("caliper.local.data_layouts")

_NAMED = ("data", "media", "qa")
_THREAD = "caliper-fetch"
_GRACE = 2.0
"""Seconds that a cancelled transfer is waited for."""


class FetchWatcher(Protocol):
    """Observes transfers, from any thread."""

    def on_pinned(self, name: str) -> None:
        """A name without a fixed revision was resolved to this one."""
        ...

    def on_transfer(self, name: str, done: int, total: int) -> None:
        """`done` of `total` bytes were transferred."""
        ...


class SilentFetch:
    """A FetchWatcher that shows nothing."""

    def on_pinned(self, name: str) -> None:
        pass

    def on_transfer(self, name: str, done: int, total: int) -> None:
        pass


UNWATCHED: FetchWatcher = SilentFetch()


class _TransferCancelledError(Exception):
    """Ends the thread of a transfer that nobody is waiting for."""


async def fetch_data(
    config: RunConfig, watcher: FetchWatcher = UNWATCHED, *, media: bool = True
) -> RunConfig:
    """The configuration with local paths for all data. Media are fetched only if they are named,
    or, with `media`, if a captioner needs them.

    Raises InvalidInput saying what is wrong with a name, and what to do, StoreUnavailable if a
    source does not answer, StoreFull.
    """
    parts = {
        name: await _located(name, part, watcher, captioned=media and part.captioner is not None)
        for name, part in config.benchmarks.items()
    }
    if all(part is config.benchmarks[name] for name, part in parts.items()):
        return config
    return config.model_copy(update={"benchmarks": parts})


def fetch_now(config: RunConfig) -> RunConfig:
    """Like `fetch_data`, for callers that cannot await it."""
    return run_blocking(fetch_data(config))


def named_values(config: RunConfig) -> dict[str, Any]:
    """The values of a configuration, with the names and revisions of data that were fetched."""
    values = config.model_dump(mode="json", exclude_defaults=True)
    for name, part in config.benchmarks.items():
        values["benchmarks"][name] |= part.origins
    return values


async def fetch_path(
    path: Path, watcher: FetchWatcher = UNWATCHED, *, media: bool = False
) -> tuple[Path, str]:
    """The local copy of named data, and the pinned name; a real path is returned with an empty
    name. Raises like `fetch_data`.
    """
    name = data_name(path)
    if name is None:
        return path, ""
    return await _fetched(name, watcher, media=media)


async def _located(
    name: str, part: BenchmarkConfig, watcher: FetchWatcher, *, captioned: bool
) -> BenchmarkConfig:
    """The benchmark with local paths, for media too if a captioner needs them (`captioned`)."""
    if part.origins:
        return part
    origins: dict[str, str | None] = {}
    places: dict[str, Path] = {}
    for field in _NAMED:
        value = getattr(part, field)
        if isinstance(value, Path) and (named := data_name(value)):
            media = field == "media" or (captioned and part.media is None)
            places[field], origins[field] = await _fetched(named, watcher, media=media)
    if "qa" in places:
        places["qa"] = data_layouts.questions_place(name, places["qa"])
    folder = places.get("data", part.data)
    copied = "data" in places
    data = await asyncio.to_thread(data_layouts.data_place, name, folder, copied=copied)
    if data is None:
        if copied:
            message = f"no {name} data in a known layout (docs/data.md) in {folder}"
            raise InvalidInput(message, file=origins["data"] or "")
        # The reader will say what is wrong with the path.
        return part
    if data != part.data:
        places["data"] = data
    if "media" in places or (captioned and part.media is None):
        root = places.get("media", folder if folder.is_dir() else folder.parent)
        find = data_layouts.media_place if places else data_layouts.unpacked_pictures
        if media_root := await asyncio.to_thread(find, name, data, root):
            places["media"] = media_root
            # Searched for again wherever the data are.
            origins.setdefault("media", None)
    return part.located(places, origins) if places else part


async def _fetched(name: DataName, watcher: FetchWatcher, *, media: bool) -> tuple[Path, str]:
    """Fetch in a thread, which ends with this coroutine if the source answers."""
    cancelled = threading.Event()

    def transferred(done: int, total: int) -> None:
        if cancelled.is_set():
            raise _TransferCancelledError
        watcher.on_transfer(str(pinned), done, total)

    source = open_source(name.scheme)
    resolve = partial(source.pinned, name.name)
    pinned = name.with_name(await in_daemon_thread(_THREAD, resolve))
    if pinned != name:
        watcher.on_pinned(str(pinned))
    fetch = partial(source.fetch, pinned.name, transferred, media=media)
    fetching = asyncio.ensure_future(in_daemon_thread(_THREAD, fetch))
    try:
        path = await asyncio.shield(fetching)
    except asyncio.CancelledError:
        cancelled.set()
        # As a rule it ends with the next bytes, and removes the part of a file that it has.
        with suppress(Exception):
            await asyncio.wait_for(fetching, _GRACE)
        raise
    return path, str(pinned)
