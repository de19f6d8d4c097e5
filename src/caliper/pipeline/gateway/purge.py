"""Removes old runs from a store.

A run is deleted in steps, so that an interrupted purge leaves it either whole or missing from all
lists, and the next purge completes the deletion:

1. its entries in `run-index/` and `client-keys/`,
2. the replies that no other run uses: its plan, which leads to them, is still there,
3. `spec.json`, then the marks that a start writes, then the rest of `runs/<id>/`, and last
   `cancelled.json`, which every run has.

A run may be started again at any time: before each step it is read again, and left as it is if it
was.

Datasets, media, uploaded captions and captioners' replies stay: other runs may use them.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.messages import ExamineJob
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.asking.replies import ReplyBook, key_of_job, object_key
from caliper.pipeline.asking.reuse import job_name, reused_jobs
from caliper.pipeline.ledger.stop_criterion import CRITERION, StopCriterion
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.reports.report_files import TextsOf, stored_texts
from caliper.pipeline.store.owners import run_owners
from caliper.pipeline.store.plan import read_plan, read_summary
from caliper.pipeline.store.run_record import read_record
from caliper.pipeline.store.runs import (
    CANCELLED,
    END,
    REFUSED,
    SPEC,
    STARTED,
    find_as,
    is_run_id,
    read_replaceable,
    read_spec,
    refusal_of,
    run_store,
)
from caliper.ports.storage import DeletableStore, ObjectStore

_GRACE = timedelta(hours=1)
"""Runs that ended within this time stay: the aggregator may still write about them."""
_CONCURRENCY = 32
_SPEC_STEP = 2
_MARKS = (STARTED, CRITERION, REFUSED, END)
_INDEX, _CLIENT_KEYS = "run-index/", "client-keys/"
_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Retention:
    """The runs to keep: the `newest` by their end, those that ended within `age`, and `kept`.

    None disables a criterion.
    """

    newest: int | None = None
    age: timedelta | None = None
    kept: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run to delete. `spec`, `state` and `ended` are None for the rest of an interrupted purge.

    `steps` holds the keys of each step, and `size` their bytes.
    """

    run: str
    spec: RunSpec | None = None
    state: RunState | None = None
    ended: datetime | None = None
    steps: tuple[tuple[str, ...], ...] = ()
    size: int = 0

    @property
    def objects(self) -> int:
        """The number of objects to delete."""
        return sum(map(len, self.steps))


@dataclass(frozen=True, slots=True)
class RetainedRuns:
    """The runs that stay, and the names of their jobs that reuse replies; and those that go."""

    runs: set[str]
    reused_jobs: set[str]
    removed: Collection[str] = ()


async def old_runs(
    store: DeletableStore, retention: Retention, now: datetime
) -> AsyncIterator[OldRun]:
    """The runs to delete, oldest first, with their objects, which are read when a run's turn comes.

    A run that is not over, whose record is unreadable, or that one which is not old is judged
    against, stays. Raises NewerSchema, StoreUnavailable.
    """
    entries = await _entries(store)
    stored = await _stored_runs(store)
    ended: list[tuple[datetime, OldRun]] = []
    old: list[OldRun] = []
    for run, names in stored.items():
        if SPEC not in names and CANCELLED in names and run not in entries:
            old.append(OldRun(run))
        elif (each := await _ended_run(store, run)) is not None and each.ended is not None:
            ended.append((each.ended, each))
    ended.sort(key=lambda pair: pair[0])
    candidates = ended[: max(0, len(ended) - (retention.newest or 0))]
    latest = now - max(retention.age or _GRACE, _GRACE)
    old += [each for when, each in candidates if when <= latest and each.run not in retention.kept]
    compared = await _compared(store, stored.keys() - {each.run for each in old})
    old = [each for each in old if each.run not in compared]
    removed = {each.run for each in old}
    others = RetainedRuns(stored.keys() - removed, set(), removed)
    for run in others.runs:
        others.reused_jobs.update(await reused_jobs(run_store(store, run)))
    for each in old:
        yield await _with_objects(store, each, entries.get(each.run, ()), others)


async def _compared(store: DeletableStore, runs: Iterable[str]) -> set[str]:
    """The runs that these are judged against."""
    found = set[str]()
    for run in runs:
        criterion = await find_as(run_store(store, run), CRITERION, StopCriterion.from_json)
        if criterion is not None:
            found |= {criterion.base, criterion.repeats}
    return found


async def delete_run(store: DeletableStore, old: OldRun) -> bool:
    """Delete a run unless it was started again meanwhile; return whether. Raises
    StoreUnavailable.
    """
    for number, step in enumerate(old.steps):
        # It may be started at any time, also once its spec is gone.
        if not await _is_unchanged(store, old, number):
            return False
        await store.delete(*step)
    return True


async def _is_unchanged(store: DeletableStore, old: OldRun, number: int) -> bool:
    """Whether, before this step, a run is over as before, or without a spec once that is gone."""
    if old.spec is None or number > _SPEC_STEP:
        return await store.version(f"runs/{old.run}/{SPEC}") is None
    # A start of a complete run changes nothing but that it is listed again.
    for key in old.steps[0] if number else ():
        if await store.version(key) is not None:
            return False
    current = await _ended_run(store, old.run)
    return current is not None and current.ended == old.ended


async def _concurrently(
    call: Callable[[_Argument], Awaitable[_Result]], arguments: Iterable[_Argument]
) -> AsyncIterator[_Result]:
    """The results of calls, a bounded number of which run at a time."""
    rest = iter(arguments)
    while some := list(islice(rest, _CONCURRENCY)):
        for result in await asyncio.gather(*map(call, some)):
            yield result


async def _entries(store: DeletableStore) -> dict[str, list[str]]:
    """The objects that lead to runs, by run."""
    entries: dict[str, list[str]] = {}
    async for key in store.list(_INDEX):
        entries.setdefault(key.rpartition("-")[2].removesuffix(".json"), []).append(key)
    async for key in store.list(_CLIENT_KEYS):
        run = (await read_replaceable(store, key)).get("run")
        entries.setdefault(str(run), []).append(key)
    return entries


async def _stored_runs(store: DeletableStore) -> dict[str, set[str]]:
    """The runs in the store, each with those of the two marks that it has."""
    stored: dict[str, set[str]] = {}
    async for key in store.list("runs/"):
        run, _, name = key.removeprefix("runs/").partition("/")
        if is_run_id(run):
            stored.setdefault(run, set()).update({name} & {SPEC, CANCELLED})
    return stored


async def _ended_run(store: DeletableStore, run: str) -> OldRun | None:
    """A run that is over; None if it is not, or its record is unreadable."""
    own = run_store(store, run)
    try:
        spec = await read_spec(store, run)
        if spec is None:
            return None
        record = await read_record(own, spec)
        evaluation, refusal = record.evaluation(), await refusal_of(own)
    except (InvalidInput, NotFound):
        return None
    ended = evaluation.ended
    if refusal and evaluation.state is RunState.FAILED:
        # It was never planned, and has no other end.
        ended = evaluation.started
    return None if ended is None else OldRun(run, spec, evaluation.state, ended)


async def _with_objects(
    store: DeletableStore, old: OldRun, entries: Sequence[str], others: RetainedRuns
) -> OldRun:
    first, last = f"runs/{old.run}/{SPEC}", f"runs/{old.run}/{CANCELLED}"
    rest = [key async for key in store.list(f"runs/{old.run}/") if key not in (first, last)]
    # In a step of their own, soon after the spec: a start writes them anew.
    candidates = (run_owners(old.run), *(f"runs/{old.run}/{name}" for name in _MARKS))
    marks = tuple(key for key in candidates if key in rest)
    rest = [key for key in rest if key not in marks]
    texts_of = partial(stored_texts, store)
    replies = await own_replies(store, texts_of, old.spec, others) if old.spec else ()
    lead = tuple(entries)
    # Backwards: an interrupted step leaves the first of the numbered objects.
    # The spec has the place `_SPEC_STEP`.
    spec = (first,) if old.spec else ()
    steps = (lead, tuple(replies), spec, marks, tuple(reversed(rest)), (last,))
    size = 0
    for step in steps:
        async for length in _concurrently(store.size, step):
            size += length or 0
    return replace(old, steps=steps, size=size)


async def own_replies(
    store: ObjectStore, texts_of: TextsOf, spec: RunSpec, others: RetainedRuns
) -> Sequence[str]:
    """The objects with replies for a run that no retained run asked for or uses, nor one that
    began since the retained ones were listed asked for.

    Empty if plan or captions are unreadable. Raises StoreUnavailable.
    """
    own, keys = run_store(store, spec.run_id), list[str]()

    async def askers(job: ExamineJob) -> tuple[str, Collection[str]]:
        key, salt = key_of_job(spec, job)
        return key, (await ReplyBook.open(store, key, salt, spec.run_id)).askers

    try:
        summary = await read_summary(own)
        if summary is None:
            return ()
        texts = {part.name: await texts_of(spec.run_id, part) for part in spec.benchmarks}
        async for items in read_plan(own, summary):
            planned = (_job(spec.run_id, texts, job) for job in jobs(items))
            unused = (job for job in planned if job_name(job) not in others.reused_jobs)
            async for key, runs in _concurrently(askers, unused):
                # Earlier commits did not record who asked.
                if not runs or "" in runs or not others.runs.isdisjoint(runs):
                    continue
                if not await _have_begun(store, {*runs} - {spec.run_id, *others.removed}):
                    keys.append(object_key(key))
    except InvalidInput:
        return ()
    return tuple(dict.fromkeys(keys))


async def _have_begun(store: ObjectStore, runs: Iterable[str]) -> bool:
    """Whether one of these runs has a spec."""
    for run in runs:
        if await store.version(f"runs/{run}/{SPEC}") is not None:
            return True
    return False


def _job(run: str, texts: Mapping[str, Mapping[str, str]], items: tuple[Item, ...]) -> ExamineJob:
    """The job that examined these items, with the fields on which its key depends."""
    first = items[0]
    text = texts[first.benchmark].get(first.sample) if first.source is Source.CAPTION else None
    caption = None if text is None else Caption(first.sample, text)
    return ExamineJob(run, first.benchmark, first.sample, caption, items)
