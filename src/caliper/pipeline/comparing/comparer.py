"""Compares runs of an installation from the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.pipeline.comparing.comparison import (
    MOST_CANDIDATES,
    Comparison,
    ComparisonRequest,
    compare_runs,
    refuse,
)
from caliper.pipeline.comparing.worker_loop import RelayedStore, run_in_thread
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.reports.report_files import captions_of_run, stored_texts
from caliper.pipeline.store.run_book import RunBook
from caliper.ports.storage import ObjectStore

PICTURES_A_FLIP = 2
Pictures = dict[tuple[str, str], bytes]
"""JPEG by benchmark and path of the media."""

PicturesOf = Callable[[RunSpec], Callable[[str, str], bytes | None]]
"""Returns a function, called in a thread, from benchmark and media path to a JPEG."""


class Comparer:
    """Compares runs of a store in a worker thread, one comparison at a time to bound memory.

    Create it in the event loop that the store belongs to.
    """

    def __init__(self, store: ObjectStore, runs: RunBook, pictures: PicturesOf) -> None:
        self._store, self._runs, self._pictures = store, runs, pictures
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="comparing")

    async def compare(
        self, runs: Sequence[str], request: ComparisonRequest, *, pictures: bool = False
    ) -> tuple[Comparison, Pictures]:
        """Compare the first run with the others, with pictures of the listed flips.

        Raises NotFound for an unknown run, and what `comparison.compare_runs` raises.
        """
        if len(runs) > MOST_CANDIDATES + 1:
            raise InvalidInput(f"{MOST_CANDIDATES} candidates at most", field="runs")
        specs = [await self._runs.spec(run) for run in runs]
        refuse(specs, request)
        store = RelayedStore(self._store)
        captions = partial(captions_of_run, partial(stored_texts, store))
        picture_sources = [self._pictures(spec) for spec in specs] if pictures else []

        async def work() -> tuple[Comparison, Pictures]:
            comparison = await compare_runs(
                [StoredRun(spec, store, captions) for spec in specs], request
            )
            jpegs: Pictures = {}
            for candidate, picture in zip(comparison.candidates, picture_sources[1:], strict=False):
                for flip in candidate.flips.listed:
                    await _add_pictures(flip.after.benchmark, flip.after.media, picture, jpegs)
            return comparison, jpegs

        return await run_in_thread(work, self._executor)

    async def close(self) -> None:
        """Release the thread. Its work was cancelled with the caller."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def _add_pictures(
    benchmark: str,
    media: Sequence[str],
    picture: Callable[[str, str], bytes | None],
    pictures: Pictures,
) -> None:
    for path in media[:PICTURES_A_FLIP]:
        if (benchmark, path) not in pictures:
            # In another thread, because it blocks on the event loop of the store.
            jpeg = await asyncio.to_thread(picture, benchmark, path)
            if jpeg is not None:
                pictures[benchmark, path] = jpeg
