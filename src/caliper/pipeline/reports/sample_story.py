"""The story of one sample of a run: its stored plan, caption, replies and verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption, CutShort
from caliper.core.errors import InvalidInput
from caliper.core.messages import EventKind, ExamineJob
from caliper.core.question import Item, Source
from caliper.core.report import VerdictRow
from caliper.core.run import Identity, RunSpec, RunState
from caliper.pipeline.asking.replies import ReplyBook, key_of_job
from caliper.pipeline.ledger.report import verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.run_record import read_record
from caliper.pipeline.store.runs import is_earlier, run_store
from caliper.ports.storage import ObjectStore

_MOST_NEAR = 5


@dataclass(frozen=True, slots=True)
class JobStory:
    """All questions of one benchmark about one sample, from its caption or from its media.

    `captioner` is None if the caption was supplied, `answerer` if the questions need no model.
    `replies` counts the stored replies by the run that requested them: a question asked twice has
    two. `planned` counts (question, repeat) pairs; those without a verdict have no row in `rows`.
    """

    benchmark: str
    source: Source
    caption: Caption | None
    captioner: Identity | None
    answerer: Identity | None
    replies: Mapping[str, int]
    first: int
    planned: int
    rows: tuple[VerdictRow, ...]


@dataclass(frozen=True, slots=True)
class SampleStory:
    """One sample of a run. `started` is when the run was first started, `planned` when its last
    start was; these, `ended` and `state` are None if the store lacks them.
    """

    spec: RunSpec
    sample: str
    started: datetime | None
    planned: datetime | None
    ended: datetime | None
    state: RunState | None
    jobs: tuple[JobStory, ...]


async def sample_story(stored: StoredRun, sample: str) -> SampleStory:
    """The story of a sample, from the stored run.

    Raises InvalidInput naming similar samples if the plan does not have it, what `StoredRun.open`
    raises, and StoreUnavailable.
    """
    run = await stored.open()
    items = await _items_of(run, sample)
    record = await read_record(run_store(stored.store, run.run), run.spec)
    captions = await stored.captions(run)
    ended = record.end.get("ended_at")
    is_settled = record.end or record.cancelled or record.refused
    return SampleStory(
        run.spec,
        sample,
        record.started,
        _time_of_plan(run, record.starts),
        datetime.fromisoformat(ended) if ended else None,
        record.status().state if is_settled else None,
        tuple([await _job_story(run, stored.store, job, captions) for job in jobs(items)]),
    )


def _time_of_plan(run: RunLedger, last_start: int) -> datetime | None:
    """When the last start was planned: the end of a run has the times of its events."""
    planned = run.events.get(EventKind.PLAN)
    if planned is None or is_earlier(run.start, last_start):
        return None
    return datetime.fromtimestamp(planned / 1000, UTC)


async def _items_of(run: RunLedger, sample: str) -> list[Item]:
    matches: list[Item] = []
    others: dict[str, None] = {}
    async for shard in run.plan():
        matches += [item for item in shard if item.sample == sample]
        if not matches:
            others.update((item.sample, None) for item in shard)
    if matches:
        return matches
    near = get_close_matches(sample, others, _MOST_NEAR, cutoff=0.5) or list(others)[:_MOST_NEAR]
    message = f"no sample {sample!r} in run {run.run}; there are {', '.join(map(repr, near))}"
    raise InvalidInput(f"{message} and others" if len(others) > len(near) else message)


async def _job_story(
    run: RunLedger, store: ObjectStore, items: tuple[Item, ...], captions: Captions
) -> JobStory:
    first = items[0]
    name, from_media = first.benchmark, first.source is Source.MEDIA
    part = run.spec.benchmark(name)
    text = None if from_media else captions.get(name, {}).get(first.sample)
    caption = None if text is None else Caption(first.sample, str(text), isinstance(text, CutShort))
    job = ExamineJob(run.run, name, first.sample, caption, items)
    book = await ReplyBook.open(store, *key_of_job(run.spec, job), run.run)

    async def plan() -> AsyncIterator[list[Item]]:
        yield list(items)

    pages = verdict_rows(run.spec, plan, run.ledger)
    return JobStory(
        name,
        first.source,
        caption,
        part.models.get("captioner") if part.captions is None else None,
        part.models.get("media" if from_media else benchmark(name).role),
        book.askers,
        first.first,
        sum(item.size for item in items),
        tuple([row async for page in pages for row in page]),
    )
