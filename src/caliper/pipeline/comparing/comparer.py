"""Runs of an installation, compared from what the store keeps of them."""

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
from caliper.pipeline.comparing.worker_loop import RelayedStore, aside
from caliper.pipeline.ledger.run_ledger import StoredRun
from caliper.pipeline.reports.report_files import captions_of_run
from caliper.pipeline.store.runs import RunBook
from caliper.ports.storage import ObjectStore

PICTURES_A_FLIP = 2
Pictures = dict[tuple[str, str], bytes]
"""JPEG by benchmark and path of the media."""

PicturesOf = Callable[[RunSpec], Callable[[str, str], bytes | None]]
"""What shows the media of a run, asked from a thread: a benchmark and a path give a JPEG."""


class Comparer:
    """Compares runs of a store, one comparison at a time, beside the event loop that it was made
    in. What is over the memory of one comparison waits.
    """

    def __init__(self, store: ObjectStore, runs: RunBook, pictures: PicturesOf) -> None:
        self._store, self._runs, self._pictures = store, runs, pictures
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="comparing")

    async def compare(
        self, runs: Sequence[str], wished: ComparisonRequest, *, pictures: bool = False
    ) -> tuple[Comparison, Pictures]:
        """The first run, the others against it, and pictures of the listed flips.

        Raises NotFound for an unknown run, and what `comparing.compare_runs` raises.
        """
        if len(runs) > MOST_CANDIDATES + 1:
            raise InvalidInput(f"{MOST_CANDIDATES} candidates at most", field="runs")
        specs = [await self._runs.spec(run) for run in runs]
        refuse(specs, wished)
        store = RelayedStore(self._store)
        captions = partial(captions_of_run, store)
        shown = [self._pictures(spec) for spec in specs] if pictures else []

        async def work() -> tuple[Comparison, Pictures]:
            found = await compare_runs([StoredRun(spec, store, captions) for spec in specs], wished)
            seen: Pictures = {}
            for candidate, picture in zip(found.candidates, shown[1:], strict=False):
                for flip in candidate.flips.listed:
                    await _look(flip.after.benchmark, flip.after.media, picture, seen)
            return found, seen

        return await aside(work, self._executor)

    async def close(self) -> None:
        """Let the thread go. What it is doing was cancelled with its caller."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def _look(
    benchmark: str,
    media: Sequence[str],
    picture: Callable[[str, str], bytes | None],
    seen: Pictures,
) -> None:
    for path in media[:PICTURES_A_FLIP]:
        if (benchmark, path) not in seen:
            # In a thread once more, for it waits for the loop that the store belongs to.
            found = await asyncio.to_thread(picture, benchmark, path)
            if found is not None:
                seen[benchmark, path] = found
