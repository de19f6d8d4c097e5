"""The planner: handles plan-jobs by writing the plan of a run and the queue of its jobs.

A later start, or a plan-job redelivered to another process, finds the plan and writes a queue.
In a process with one run the jobs are published at once instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from caliper.benchmarks.registry import benchmark
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput
from caliper.core.messages import PlanJob, PlanMade, event_key
from caliper.core.outcome import Reason
from caliper.core.plan import PlanSummary
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.planning.job_queue import write_queue
from caliper.pipeline.planning.publication_order import read_shuffled
from caliper.pipeline.planning.publisher import RUNS, RunJobs, jobs, publish_jobs
from caliper.pipeline.store.disk_spill import temporary_files
from caliper.pipeline.store.plan import Captions, PlanReader, plan, read_plan
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import (
    SPEC,
    forget_refusal,
    is_cancelled,
    read_starts,
    refuse,
    run_store,
)
from caliper.pipeline.store.store_supplies import without_folder
from caliper.ports.codec import Codec
from caliper.ports.storage import ObjectStore, Sources, Supplies
from caliper.ports.stream import JobStream

LARGE = 8 << 20
"""Bytes of data beyond which a plan is large. Planning holds several times as much in memory."""
_TURNS = 2
"""Plans at a time, and as many large ones: these wait for each other without holding small ones up,
and without their data, which is fetched again.
"""


@dataclass(frozen=True, slots=True)
class Resumption:
    """What is known of a run that is resumed: its ledger, and the captions written for it.

    Jobs for which the ledger lacks nothing are not published.
    """

    ledger: Ledger | None = None
    captions: Captions = field(default_factory=dict)


class Planner:
    """Plans stored runs over their supplies.

    Jobs wait in the queues of their starts, for the dispatcher. With `resume` they are published
    instead: it is called for every planned run, with the index at which a cap on calls cuts its
    plan (None for no cap), and returns what is known of the run. Of a run that ends once the answer
    is sure there are none: whoever holds the run draws them.
    """

    def __init__(
        self,
        store: ObjectStore,
        stream: JobStream,
        codec: Codec,
        runs: RunBook,
        supplies: Supplies,
        resume: Callable[[str, int | None], Awaitable[Resumption]] | None = None,
    ) -> None:
        self._store, self._stream, self._codec = store, stream, codec
        self._runs, self._supplies, self._resume = runs, supplies, resume
        self._turns, self._large_turns = asyncio.Semaphore(_TURNS), asyncio.Semaphore(_TURNS)

    async def plan(self, job: PlanJob) -> int | InvalidInput:
        """Plan the run, and queue or publish its jobs; none of a cancelled run. Returns how many
        were published.

        Invalid rows and lost objects refuse the run: returns the error.
        Raises NotFound if the run is not stored, StoreUnavailable, StreamUnavailable.
        """
        store = run_store(self._store, job.run)
        try:
            return await self._plan(job, store)
        except InvalidInput as error:
            await refuse(store, without_folder(str(error)))
            return error

    async def _plan(self, job: PlanJob, store: ObjectStore) -> int:
        spec = await self._runs.spec(job.run)
        for turns, most in ((self._turns, LARGE), (self._large_turns, inf)):
            async with turns:
                if await is_cancelled(store):
                    return 0
                planned = await self._write_plan(spec, store, most)
                if planned is not None:
                    return await self._queue_jobs(spec, store, *planned)
        return 0

    async def _write_plan(
        self, spec: RunSpec, store: ObjectStore, most: float
    ) -> tuple[PlanSummary, Mapping[str, Sources]] | None:
        """The plan and its sources; None if these have more than `most` bytes."""
        with temporary_files():
            async with self._supplies.sources(spec) as sources:
                if sum(each.size for each in sources.values()) > most:
                    return None
                summary = await plan(spec, sources, store)
        await forget_refusal(store)
        return summary, sources

    async def _queue_jobs(
        self,
        spec: RunSpec,
        store: ObjectStore,
        summary: PlanSummary,
        sources: Mapping[str, Sources],
    ) -> int:
        # Read after planning: the jobs then answer every start until now.
        starts = await read_starts(store)
        start, terms = starts.number, starts.terms
        shards, end = partial(read_plan, store, summary), None
        if terms.calls is not None:
            end = await affordable_end(spec, shards, terms.calls)
        event = PlanMade(spec.run_id, summary.questions, start, end)
        resumption = await self._resume(spec.run_id, end) if self._resume else Resumption()
        captions = dict(resumption.captions)
        for name, source in sources.items():
            if source.captions is not None:
                captions[name] = source.captions
        lacking = {name: source.lacking for name, source in sources.items()}
        cap = terms.token_cap(start)
        messages = RunJobs(spec.run_id, self._codec, captions, cap, lacking).of(
            partial(read_shuffled, store, summary, spec.seed),
            {part.name: part.checkpoint_sources for part in spec.benchmarks},
            resumption.ledger,
            end,
        )
        if self._resume is None and not spec.judging:
            event = replace(event, shards=await write_queue(store, start, messages))
        if await is_cancelled(store):
            return 0
        await self._stream.publish(Message(RUNS, event_key(event), self._codec.write(event)))
        if self._resume is None or spec.judging:
            return 0
        return await publish_jobs(self._stream, messages)

    async def give_up(self, job: PlanJob, error: BaseException) -> None:
        """Fail a run whose plan-job is not retried, until it is started again or the job requeued.

        Raises NotFound for a malformed run id, StoreUnavailable.
        """
        store = run_store(self._store, job.run)
        if await store.get(SPEC) is not None:
            await refuse(store, without_folder(f"{type(error).__name__}: {error}"))


_KINDS_WITHOUT_CALLS = ("lexical", "replay")


def calls_of(spec: RunSpec, items: tuple[Item, ...]) -> int:
    """The number of calls that a job needs at most, not counting retries: one per question and
    repeat that a chat model is asked, and one per caption to be written.
    """
    part, source = spec.benchmark(items[0].benchmark), items[0].source
    role = benchmark(part.name).role if source is Source.CAPTION else "media"
    needs_answers = part.models[role].kind not in _KINDS_WITHOUT_CALLS
    needs_caption = source is Source.CAPTION and part.captions is None
    return needs_answers * sum(map(_asked, items)) + needs_caption


def _asked(item: Item) -> int:
    undrawn = (each.repeats for each in item.questions if each.unscored is Reason.NOT_DRAWN)
    return item.size - sum(undrawn)


async def affordable_end(spec: RunSpec, plan: PlanReader, calls: int) -> int:
    """The dense index at which to cut the plan, so that the jobs before it need at most `calls`.

    The cut depends on the plan alone. Everything after it becomes Unscored(budget), and the run is
    not complete. A later start of the same spec with a higher cap, or none, continues from there.
    """
    left, end = calls, 0
    async for items in plan():
        for job in jobs(items):
            left -= calls_of(spec, job)
            if left < 0:
                return end
            end = max(item.first + item.size for item in job)
    return end
