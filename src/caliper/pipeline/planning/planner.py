"""The planner: a plan-job becomes the plan of its run in the store, and its jobs.

A job that comes again finds the plan, and publishes all jobs again: what is known already is
cheap to find out once more, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput
from caliper.core.messages import PlanJob, PlanMade, RunCancelled, RunEvent, event_key
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.planning.call_budget import affordable
from caliper.pipeline.planning.publisher import RUNS, Publisher
from caliper.pipeline.store.plan import Captions, plan, read_plan
from caliper.pipeline.store.runs import SPEC, RunBook, forget_refusal, last_start, refuse, run_store
from caliper.pipeline.store.store_supplies import without_folder
from caliper.ports.codec import Codec
from caliper.ports.storage import ObjectStore, Supplies
from caliper.ports.stream import JobStream


@dataclass(frozen=True, slots=True)
class Resumption:
    """What is known of a planned run: jobs of which `ledger` lacks nothing are not published, and
    `captions` were written for it.
    """

    ledger: Ledger | None = None
    captions: Captions = field(default_factory=dict)


async def _nothing_known(_: str, __: int | None) -> Resumption:
    """For processes that hold no ledgers: all jobs are published, which changes nothing."""
    return Resumption()


class Planner:
    """Plans runs of the store over what its supplies hold. `resume` is asked about every run that
    is planned, and told the index from which on a cap on calls leaves it out.
    """

    def __init__(
        self,
        store: ObjectStore,
        stream: JobStream,
        codec: Codec,
        runs: RunBook,
        supplies: Supplies,
        resume: Callable[[str, int | None], Awaitable[Resumption]] = _nothing_known,
    ) -> None:
        self._store, self._stream, self._codec = store, stream, codec
        self._runs, self._supplies, self._resume = runs, supplies, resume

    async def plan(self, job: PlanJob) -> InvalidInput | None:
        """Plan the run and publish its jobs. Rows that cannot be planned refuse the run: gives why.

        Raises NotFound for a run that is not stored, StoreUnavailable, StreamUnavailable.
        """
        spec = await self._runs.spec(job.run)
        if await self._runs.cancelled(job.run, anew=True):
            return None
        kept = run_store(self._store, job.run)
        # Read first: what is planned from here on answers this start, and those before it.
        start, caps = await last_start(kept)
        try:
            async with self._supplies.sources(spec) as sources:
                summary = await plan(spec, sources, kept)
        except InvalidInput as error:
            await refuse(kept, without_folder(str(error)))
            return error
        await forget_refusal(kept)
        shards, end = partial(read_plan, kept, summary), None
        if caps.calls is not None:
            end = await affordable(spec, shards, caps.calls)
        known = await self._resume(job.run, end)
        await self._tell(PlanMade(job.run, summary.questions, start, end))
        if await self._runs.cancelled(job.run, anew=True):
            # Said again, for being planned after it takes a run up anew.
            await self._tell(RunCancelled(job.run))
            return None
        captions = dict(known.captions)
        for name, found in sources.items():
            if found.captions is not None:
                captions[name] = found.captions
        publisher = Publisher(
            spec.run_id, self._stream, self._codec, captions, caps.token_cap(start)
        )
        asked = {part.name: part.asked_of_checkpoint for part in spec.benchmarks}
        await publisher.publish(shards, asked, known.ledger, end)
        return None

    async def give_up(self, job: PlanJob, error: BaseException) -> None:
        """Fail a run whose plan-job is not tried again, until it is started anew or the job put
        back. Raises NotFound for what is no run id, StoreUnavailable.
        """
        kept = run_store(self._store, job.run)
        if await kept.get(SPEC) is not None:
            await refuse(kept, without_folder(f"{type(error).__name__}: {error}"))

    async def _tell(self, event: RunEvent) -> None:
        await self._stream.publish(Message(RUNS, event_key(event), self._codec.write(event)))
