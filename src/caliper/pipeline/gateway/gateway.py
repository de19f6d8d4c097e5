"""The gateway's use cases: evaluations are started, looked at, ended and read.

What lasts is in the store:

    runs/<id>/spec.json  runs/<id>/started.json  runs/<id>/cancelled.json  client-keys/<sha256>.json
    run-index/<milliseconds until the year 9999>-<id>.json   so that listing gives the newest first
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from caliper.core.envelopes import Message
from caliper.core.errors import AlreadyExists, InvalidInput, StoreUnavailable
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob, RunCancelled, event_key
from caliper.core.run import OVER, RunSpec, RunState
from caliper.pipeline.gateway.score_relay import relayed
from caliper.pipeline.planning.publisher import PLAN_JOBS, RUNS
from caliper.pipeline.planning.resolution import EvaluationRequest, resolve
from caliper.pipeline.store.run_record import Evaluation, read_record
from caliper.pipeline.store.runs import (
    CANCELLED,
    SPEC,
    RunBook,
    forget_refusal,
    note_start,
    read_json,
    run_store,
    write_json,
)
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.stages import ScoreBoard, Scores, StageDirectory
from caliper.ports.storage import ObjectStore, Supplies
from caliper.ports.stream import JobStream

_PAGE, _LARGEST_PAGE = 50, 500
_LAST = datetime(9999, 1, 1, tzinfo=UTC)
_INDEX = "run-index/"


@dataclass(frozen=True, slots=True)
class Page:
    """Evaluations, the newest first, and the token of the next page, empty on the last."""

    evaluations: tuple[Evaluation, ...]
    next: str


@dataclass(frozen=True, slots=True)
class Outside:
    """What the gateway turns to."""

    store: ObjectStore
    stream: JobStream
    codec: Codec
    clock: Clock
    supplies: Supplies
    stages: StageDirectory
    scores: ScoreBoard


class Gateway:
    """Evaluations of one installation."""

    def __init__(self, outside: Outside, runs: RunBook) -> None:
        self._outside, self._runs = outside, runs
        self._starting = asyncio.Lock()

    async def start(self, asked: EvaluationRequest) -> tuple[Evaluation, bool]:
        """Begin what is asked for, or take it up again; and whether this call began it.

        Raises what `resolve` raises, AlreadyExists for a client key that stands for another
        spec, StreamUnavailable.
        """
        store = self._outside.store
        spec = await resolve(asked, self._outside.supplies, self._outside.stages)
        before = spec.by_origin
        if before != spec and await store.get(f"runs/{before.run_id}/{SPEC}") is not None:
            spec = before
        kept = run_store(store, spec.run_id)
        async with self._starting:
            await self._take_key(asked.client_key, spec.run_id)
            created = await store.get(f"runs/{spec.run_id}/{SPEC}") is None
            if created:
                await kept.put(SPEC, canonical_json(spec.to_json()))
            state = (await read_record(kept, spec)).status().state
            again = state is not RunState.COMPLETE
            if again:
                # Before its plan-job is sent, so that the planner answers this start.
                await note_start(kept, asked.caps, self._outside.clock.now())
            started = await self._index(kept, spec)
            if again:
                await self._forget_end(kept)
                await self._send(PLAN_JOBS, f"{spec.run_id}/plan", PlanJob(spec.run_id))
        if state is RunState.COMPLETE:
            return await self.get(spec.run_id), created
        return Evaluation(spec, RunState.PLANNING, started), created

    async def get(self, run: str) -> Evaluation:
        """Where a run stands, with figures. Raises NotFound, BackendError, StoreUnavailable."""
        spec = await self._runs.spec(run)
        return await self._evaluation(spec, await self._outside.scores.scores(run))

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Evaluation, None]:
        """The run now, and whenever it has changed, at most every `interval` seconds; the last
        one is over. What the aggregator tells is relayed; while it or the store is away, there
        is no news. Raises what `get` raises before the first.
        """
        spec = await self._runs.spec(run)
        scores, clock = self._outside.scores, self._outside.clock
        told = await scores.scores(run)
        last = await self._evaluation(spec, told)
        yield last
        async with relayed(scores, clock, run, interval, told) as relay:
            while last.state not in OVER:
                await clock.sleep(interval)
                try:
                    found = await self._evaluation(spec, relay.latest)
                except StoreUnavailable:
                    continue
                if found != last:
                    last = found
                    yield last

    async def _evaluation(self, spec: RunSpec, told: Scores | None = None) -> Evaluation:
        record = await read_record(run_store(self._outside.store, spec.run_id), spec)
        return record.evaluation(told)

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page:
        """A page of runs, without figures. `name` keeps those of one checkpoint.

        Raises InvalidInput for a token that is none and for runs that cannot be read,
        StoreUnavailable.
        """
        if token and not token.startswith(_INDEX):
            raise InvalidInput("not a valid page token", field="page_token")
        wanted = min(size or _PAGE, _LARGEST_PAGE)
        found: list[Evaluation] = []
        last = ""
        async for key in self._outside.store.list(_INDEX):
            if key <= token:
                continue
            if len(found) == wanted:
                return Page(tuple(found), last)
            run = key.rpartition("-")[2].removesuffix(".json")
            spec = await self._runs.spec(run)
            if name in ("", spec.name):
                found.append(await self._evaluation(spec))
            last = key
        return Page(tuple(found), "")

    async def cancel(self, run: str) -> Evaluation:
        """End a run before its end; it is given without figures, for it may be ended while the
        aggregator is away. Raises NotFound, InvalidInput for a run that cannot be read,
        StoreUnavailable, StreamUnavailable.
        """
        found = await self._evaluation(await self._runs.spec(run))
        if found.state in OVER:
            return found
        async with self._starting:
            await write_json(run_store(self._outside.store, run), CANCELLED, cancelled=True)
            event = RunCancelled(run)
            await self._send(RUNS, event_key(event), event)
        return replace(found, state=RunState.CANCELLING)

    async def _take_key(self, key: str, run: str) -> None:
        if not key:
            return
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        place = f"client-keys/{name}.json"
        taken = await read_json(self._outside.store, place)
        if taken is not None and taken["run"] != run:
            raise AlreadyExists(f"the client key stands for run {taken['run']}")
        if taken is None:
            await write_json(self._outside.store, place, run=run)

    async def _index(self, kept: ObjectStore, spec: RunSpec) -> datetime:
        """Note in the index when the run was first started, and return it."""
        started = (await read_record(kept, spec)).evaluation().started
        left = round((_LAST - started).total_seconds() * 1000)
        await write_json(self._outside.store, f"{_INDEX}{left:015}-{spec.run_id}.json")
        return started

    async def _forget_end(self, kept: ObjectStore) -> None:
        """What ended the run before no longer holds."""
        await write_json(kept, CANCELLED, cancelled=False)
        await forget_refusal(kept)

    async def _send(self, topic: str, key: str, message: PlanJob | RunCancelled) -> None:
        data = self._outside.codec.write(message)
        await self._outside.stream.publish(Message(topic, key, data))
