"""The planner: handles plan-jobs by writing the plan of a run to the store and publishing its jobs.

A later start, or a plan-job redelivered to another process, finds the plan and publishes all jobs
again. Doing known work again is cheap, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from cachetools import LRUCache

from caliper.benchmarks.registry import benchmark
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput
from caliper.core.messages import PlanJob, PlanMade, event_key
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.planning.publication_order import read_shuffled
from caliper.pipeline.planning.publisher import RUNS, Publisher, jobs
from caliper.pipeline.store.disk_spill import temporary_files
from caliper.pipeline.store.plan import Captions, PlanReader, plan, read_plan
from caliper.pipeline.store.runs import (
    SPEC,
    STARTED,
    RunBook,
    forget_refusal,
    is_cancelled,
    last_start,
    refuse,
    run_store,
)
from caliper.pipeline.store.store_supplies import without_folder
from caliper.ports.codec import Codec
from caliper.ports.storage import ObjectStore, Supplies
from caliper.ports.stream import JobStream

_ANSWERED_RUNS = 1024


@dataclass(frozen=True, slots=True)
class Resumption:
    """What is known of a run that is resumed: its ledger, and the captions written for it.

    Jobs for which the ledger lacks nothing are not published.
    """

    ledger: Ledger | None = None
    captions: Captions = field(default_factory=dict)


async def _nothing_known(_: str, __: int | None) -> Resumption:
    """The default for processes without ledgers: all jobs are published, which is harmless."""
    return Resumption()


class Planner:
    """Plans stored runs over their supplies.

    `resume` is called for every planned run, with the index at which a cap on calls cuts its plan
    (None for no cap), and returns what is known of the run. `published` is the number of jobs that
    were published for the last plan-job.
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
        # By run: the version of started.json with the start whose jobs are published.
        self._answered: LRUCache[str, str | None] = LRUCache(_ANSWERED_RUNS)

    async def plan(self, job: PlanJob) -> int | InvalidInput:
        """Plan the run, publish its jobs and return how many; none of a cancelled run, or of a
        start that another plan-job answers.

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
        if await is_cancelled(store):
            return 0
        with temporary_files():
            async with self._supplies.sources(spec) as sources:
                summary = await plan(spec, sources, store)
        await forget_refusal(store)
        # Read after planning: the jobs then answer every start until now.
        version = await store.version(STARTED)
        start, terms = await last_start(store)
        # Earlier releases did not count their starts.
        if start and self._answered.get(job.run) == version:
            return 0
        with self._answering(job.run, version):
            shards, end = partial(read_plan, store, summary), None
            if terms.calls is not None:
                end = await affordable_end(spec, shards, terms.calls)
            resumption = await self._resume(job.run, end)
            event = PlanMade(job.run, summary.questions, start, end)
            await self._stream.publish(Message(RUNS, event_key(event), self._codec.write(event)))
            if await is_cancelled(store):
                return 0
            captions = dict(resumption.captions)
            for name, source in sources.items():
                if source.captions is not None:
                    captions[name] = source.captions
            publisher = Publisher(
                spec.run_id, self._stream, self._codec, captions, terms.token_cap(start)
            )
            checkpoint = {part.name: part.checkpoint_sources for part in spec.benchmarks}
            shuffled = partial(read_shuffled, store, summary, spec.seed)
            return await publisher.publish(shuffled, checkpoint, resumption.ledger, end)

    @contextmanager
    def _answering(self, run: str, version: str | None) -> Iterator[None]:
        """Publish the jobs of a start inside. If that breaks off, they are published again."""
        self._answered[run] = version
        try:
            yield
        except BaseException:
            self._answered.pop(run, None)
            raise

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
    return needs_answers * sum(item.size for item in items) + needs_caption


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
