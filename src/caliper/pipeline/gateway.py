"""The gateway's use cases: evaluations are started, looked at, ended and read.

What lasts is in the store:

    runs/<id>/spec.json  runs/<id>/started.json  runs/<id>/cancelled.json  client-keys/<sha256>.json
    run-index/<milliseconds until the year 9999>-<id>.json   so that listing gives the newest first
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

from caliper.core.errors import AlreadyExists, NotFound
from caliper.core.keys import canonical_json
from caliper.core.report import BenchmarkReport
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.narrowed import Narrowed
from caliper.pipeline.planner import REFUSED
from caliper.pipeline.publish import PLAN_JOBS, RUNS
from caliper.pipeline.resolve import Asked, resolve
from caliper.pipeline.runs import CANCELLED, SPEC, RunBook, read_json, run_store, write_json
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec, PlanJob, RunCancelled, event_key
from caliper.ports.stages import ScoreBoard, StageDirectory
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import JobStream, Message

OVER = frozenset({RunState.CANCELLED, RunState.FINISHED, RunState.COMPLETE, RunState.FAILED})
_PAGE, _LARGEST_PAGE = 50, 500
_LAST = datetime(9999, 1, 1, tzinfo=UTC)
_STARTED, _END, _INDEX = "started.json", "end.json", "run-index/"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run as callers see it; `benchmarks` are its figures so far."""

    spec: RunSpec
    state: RunState
    started: datetime
    benchmarks: tuple[BenchmarkReport, ...] = ()
    error: str = ""


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
    stages: StageDirectory
    scores: ScoreBoard


class Gateway:
    """Evaluations of one installation."""

    def __init__(self, outside: Outside, runs: RunBook) -> None:
        self._outside, self._runs = outside, runs
        self._starting = asyncio.Lock()

    async def start(self, asked: Asked) -> tuple[Evaluation, bool]:
        """Begin what is asked for, or take it up again; and whether this call began it.

        Raises what `resolve` raises, AlreadyExists for a client key that stands for another
        spec, StreamUnavailable.
        """
        store = self._outside.store
        spec = await resolve(asked, store, self._outside.stages)
        kept = run_store(store, spec.run_id)
        async with self._starting:
            await self._take_key(asked.client_key, spec.run_id)
            created = await store.get(f"runs/{spec.run_id}/{SPEC}") is None
            if created:
                await kept.put(SPEC, canonical_json(spec.to_json()))
            started = await self._note_start(kept, spec)
            state, _ = await self._state(kept)
            if state is not RunState.COMPLETE:
                await write_json(kept, CANCELLED, cancelled=False)
                await self._send(PLAN_JOBS, f"{spec.run_id}/plan", PlanJob(spec.run_id))
        if state is RunState.COMPLETE:
            return await self.get(spec.run_id), created
        return Evaluation(spec, RunState.PLANNING, started), created

    async def get(self, run: str) -> Evaluation:
        """Where a run stands, with figures. Raises NotFound, BackendError, StoreUnavailable."""
        spec = await self._runs.spec(run)
        kept = run_store(self._outside.store, run)
        started = await self._started(kept)
        refused = await read_json(kept, REFUSED)
        if refused is not None:
            return Evaluation(spec, RunState.FAILED, started, error=refused["error"])
        scores = await self._outside.scores.scores(run)
        if scores is None:
            return Evaluation(spec, RunState.PLANNING, started)
        cancelled = await self._runs.cancelled(run, anew=True)
        state = _state(scores.state, cancelled=cancelled)
        return Evaluation(spec, state, started, scores.benchmarks, scores.error)

    async def watch(self, run: str, interval: float) -> AsyncIterator[Evaluation]:
        """The run now, and whenever it has changed, at most every `interval` seconds; the last
        one is over. Raises what `get` raises.
        """
        last = None
        while True:
            found = await self.get(run)
            if found != last:
                yield found
            if found.state in OVER:
                return
            last = found
            await self._outside.clock.sleep(interval)

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page:
        """A page of runs, without figures. `name` keeps those of one checkpoint.

        Raises InvalidInput for runs that cannot be read, StoreUnavailable.
        """
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
                kept = run_store(self._outside.store, run)
                state, error = await self._state(kept)
                found.append(Evaluation(spec, state, await self._started(kept), error=error))
            last = key
        return Page(tuple(found), "")

    async def cancel(self, run: str) -> Evaluation:
        """End a run before its end. Raises NotFound, StoreUnavailable, StreamUnavailable."""
        found = await self.get(run)
        if found.state in OVER:
            return found
        async with self._starting:
            await write_json(run_store(self._outside.store, run), CANCELLED, cancelled=True)
            event = RunCancelled(run)
            await self._send(RUNS, event_key(event), event)
        return Evaluation(
            found.spec, RunState.CANCELLING, found.started, found.benchmarks, found.error
        )

    async def _state(self, kept: Narrowed) -> tuple[RunState, str]:
        """Where a run stands by what is stored, and why it failed if it did."""
        refused = await read_json(kept, REFUSED)
        if refused is not None:
            return RunState.FAILED, str(refused["error"])
        end = await read_json(kept, _END)
        if end is not None and end["state"] is not None:
            return RunState(end["state"]), str(end.get("error", ""))
        planned = await kept.get("plan/summary.json") is not None
        return RunState.RUNNING if planned else RunState.PLANNING, ""

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

    async def _note_start(self, kept: Narrowed, spec: RunSpec) -> datetime:
        """When the run was first started; noted in the index too, unless it is."""
        if await kept.get(_STARTED) is None:
            now = self._outside.clock.now()
            await write_json(kept, _STARTED, started=now.isoformat(timespec="milliseconds"))
        started = await self._started(kept)
        left = round((_LAST - started).total_seconds() * 1000)
        await write_json(self._outside.store, f"{_INDEX}{left:015}-{spec.run_id}.json")
        return started

    async def _started(self, kept: Narrowed) -> datetime:
        written = await read_json(kept, _STARTED)
        if written is None:
            raise NotFound("the run was not started to its end; start it again")
        return datetime.fromisoformat(written["started"])

    async def _send(self, topic: str, key: str, message: PlanJob | RunCancelled) -> None:
        data = self._outside.codec.write(message)
        await self._outside.stream.publish(Message(topic, key, data))


def _state(told: RunState, *, cancelled: bool) -> RunState:
    """Where a run stands, by the aggregator and by whether it is to be cancelled now."""
    if not cancelled:
        # Taken up again, and the aggregator has not heard of it yet.
        early = told in (RunState.CANCELLED, RunState.CANCELLING)
        return RunState.RUNNING if early else told
    if told is RunState.PLANNING:
        # What has no plan yet gets none: nothing is in flight.
        return RunState.CANCELLED
    return told if told in OVER else RunState.CANCELLING
