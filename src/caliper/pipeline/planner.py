"""The planner: a plan-job becomes the plan of its run in the store, and its jobs.

A job that comes again finds the plan, and publishes all jobs again: what is known already is
cheap to find out once more, and changes nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.pipeline.budget import affordable
from caliper.pipeline.plan import Captions, Sources, plan, read_plan
from caliper.pipeline.publish import RUNS, Publisher
from caliper.pipeline.runs import SPEC, RunBook, forget_refusal, last_start, refuse, run_store
from caliper.pipeline.supplies import fetch_dataset, read_captions
from caliper.ports.codec import Codec, PlanJob, PlanMade, RunCancelled, RunEvent, event_key
from caliper.ports.storage import Dataset, ObjectStore
from caliper.ports.stream import JobStream, Message

_FOLDER = "caliper-plan-"
_ON_DISK = re.compile(rf"[^\s'\"]*{_FOLDER}[^/]*/")
"""Where the files of a plan lie on this machine: nothing that callers know, or should."""


class Planner:
    """Plans runs of the store. `open_dataset` reads what lies in a file or folder."""

    def __init__(
        self,
        store: ObjectStore,
        stream: JobStream,
        codec: Codec,
        runs: RunBook,
        open_dataset: Callable[[Path], Dataset],
    ) -> None:
        self._store, self._stream, self._codec = store, stream, codec
        self._runs = runs
        self._open = open_dataset

    async def plan(self, job: PlanJob) -> None:
        """Plan the run and publish its jobs. Rows that cannot be planned refuse the run.

        Raises NotFound for a run that is not stored, StoreUnavailable, StreamUnavailable.
        """
        spec = await self._runs.spec(job.run)
        if await self._runs.cancelled(job.run, anew=True):
            return
        kept = run_store(self._store, job.run)
        # Read first: what is planned from here on answers this start, and those before it.
        start, caps = await last_start(kept)
        try:
            captions = await self._captions(spec)
            async with self._sources(spec, captions) as sources:
                summary = await plan(spec, sources, kept)
        except InvalidInput as error:
            await refuse(kept, _told(str(error)))
            return
        await forget_refusal(kept)
        shards, end = partial(read_plan, kept, summary), None
        if caps.calls is not None:
            end = await affordable(spec, shards, caps.calls)
        await self._tell(PlanMade(job.run, summary.questions, start, end))
        if await self._runs.cancelled(job.run, anew=True):
            # Said again, for being planned after it takes a run up anew.
            await self._tell(RunCancelled(job.run))
            return
        publisher = Publisher(
            spec.run_id, self._stream, self._codec, captions, caps.token_cap(start)
        )
        asked = {part.name: part.asked_of_checkpoint for part in spec.benchmarks}
        await publisher.publish(shards, asked, end=end)

    async def give_up(self, job: PlanJob, error: BaseException) -> None:
        """Fail a run whose plan-job is not tried again, until it is started anew or the job put
        back. Raises NotFound for what is no run id, StoreUnavailable.
        """
        kept = run_store(self._store, job.run)
        if await kept.get(SPEC) is not None:
            await refuse(kept, _told(f"{type(error).__name__}: {error}"))

    async def _tell(self, event: RunEvent) -> None:
        await self._stream.publish(Message(RUNS, event_key(event), self._codec.write(event)))

    async def _captions(self, spec: RunSpec) -> dict[str, Mapping[str, str]]:
        return {
            part.name: await read_captions(self._store, part.captions)
            for part in spec.benchmarks
            if part.captions is not None
        }

    @asynccontextmanager
    async def _sources(
        self, spec: RunSpec, captions: Captions
    ) -> AsyncIterator[dict[str, Sources]]:
        """The rows of every benchmark, on this machine's disk for as long as they are read."""
        with TemporaryDirectory(prefix=_FOLDER) as folder:
            sources = {}
            for part in spec.benchmarks:
                data = await self._dataset(part.data, Path(folder, part.name))
                qa_data = None
                if part.qa_data is not None:
                    qa_data = await self._dataset(part.qa_data, Path(folder, f"{part.name}-qa"))
                sources[part.name] = Sources(data, captions.get(part.name), qa_data)
            yield sources

    async def _dataset(self, name: str, place: Path) -> Dataset:
        await asyncio.to_thread(place.mkdir)
        return self._open(await fetch_dataset(self._store, name, place))


def _told(text: str) -> str:
    """What went wrong, with files as they are called in their dataset."""
    return _ON_DISK.sub("", text)
