"""The gateway's use cases: start, get, watch, list and cancel evaluations.

Persistent state is in the store:

    runs/<id>/spec.json  runs/<id>/judging.json  runs/<id>/started.json  runs/<id>/cancelled.json
    runs/<id>/owners.json
    client-keys/<sha256>.json  client-keys/<sha256>-<team>.json
    run-index/<milliseconds until the year 9999>-<id>.json   so that keys list the newest run first
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from caliper.core.envelopes import Message
from caliper.core.errors import (
    AlreadyExists,
    DataLoss,
    InvalidInput,
    NotFound,
    StoreUnavailable,
)
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob
from caliper.core.outcome import RETRYABLE
from caliper.core.owners import DEFAULT_TEAM
from caliper.core.run import FINAL_STATES, WHOLE_STATES, RunSpec, RunState
from caliper.core.terms import Terms
from caliper.core.transitions import Cause, state_after
from caliper.pipeline.gateway.relays import Relays
from caliper.pipeline.gateway.requests import by_digest, owners_of_suite
from caliper.pipeline.gateway.stop_criteria import check_baseline, check_criterion
from caliper.pipeline.ledger.stop_criterion import write_criterion
from caliper.pipeline.ledger.verdict_log import check_segments
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.planning.resolution import EvaluationRequest, resolve
from caliper.pipeline.store.dataset_pushes import with_media
from caliper.pipeline.store.owners import Ownership, run_owners
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.run_record import Evaluation, read_record
from caliper.pipeline.store.runs import (
    CANCELLED,
    END,
    SPEC,
    find_starts,
    forget_refusal,
    note_cancel,
    note_start,
    read_replaceable,
    read_spec,
    replace_unreadable,
    run_store,
    write_json,
)
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.stages import ScoreBoard, Scores, StageDirectory
from caliper.ports.storage import ObjectStore, Supplies
from caliper.ports.stream import JobStream

_LOG = logging.getLogger(__name__)
_PAGE, _LARGEST_PAGE = 50, 500
_LAST = datetime(9999, 1, 1, tzinfo=UTC)
_INDEX = "run-index/"


@dataclass(frozen=True, slots=True)
class Page:
    """Evaluations, newest first, and the token of the next page; empty on the last."""

    evaluations: tuple[Evaluation, ...]
    next: str


@dataclass(eq=False)
class Gateway:
    """Starts, reads and cancels the evaluations of an installation, those that the caller may see.
    A run that is started again by another caller belongs to both.
    """

    store: ObjectStore
    stream: JobStream
    codec: Codec
    clock: Clock
    supplies: Supplies
    stages: StageDirectory
    scores: ScoreBoard
    runs: RunBook
    ownership: Ownership = field(default_factory=Ownership)
    quotas: TeamQuotas | None = None

    def __post_init__(self) -> None:
        self._starting = asyncio.Lock()
        self._relays = Relays(self.scores, self.clock)

    async def start(self, request: EvaluationRequest) -> tuple[Evaluation, bool]:
        """Start the requested run, or resume it. Returns it, and whether this call created it.

        Raises what `resolve`, `check_baseline` and `TeamQuotas.admit_run` raise, AlreadyExists for
        a client key used with another spec, StreamUnavailable.
        """
        store = self.store
        if request.judging is not None:
            check_criterion(request, request.judging)
        owners = await owners_of_suite(store, request.suite, self.ownership)
        with self.ownership.acting_for(owners):
            request = await by_digest(store, request, self.ownership)
            spec = await resolve(request, self.supplies, self.stages)
            spec = await with_media(spec, store, self.ownership)
            if request.judging is not None:
                await check_baseline(request.judging, spec, store, self.ownership)
                # Before the spec, which has its digest.
                await write_criterion(run_store(store, spec.run_id), request.judging)
            return await self.begin(spec, request.terms, request.client_key)

    async def begin(
        self, spec: RunSpec, terms: Terms, client_key: str = ""
    ) -> tuple[Evaluation, bool]:
        """Start a resolved run, or resume it. Returns and raises as `start`, without `resolve`.

        It is started even if the caller leaves meanwhile: what is half written would undo a later
        cancellation.
        """
        return await asyncio.shield(self._begin(spec, terms, client_key))

    async def _begin(self, spec: RunSpec, terms: Terms, client_key: str) -> tuple[Evaluation, bool]:
        store = self.store
        own_store = run_store(store, spec.run_id)
        complete = await self._complete(own_store, spec)
        async with self._starting:
            await self._claim_key(client_key, spec.run_id)
            if complete is None and self.quotas is not None:
                quota = await self.quotas.admit_run(spec.run_id)
                terms = replace(terms, quota=quota)
            # Before the spec, so that the run never belongs to everybody meanwhile.
            content = f"runs/{spec.run_id}/{SPEC}"
            await self.ownership.claim(store, run_owners(spec.run_id), content)
            stored, text = await own_store.get(SPEC), canonical_json(spec.to_json())
            created = stored is None
            if stored != text:
                await own_store.put(SPEC, text)
            if complete is None:
                # Before the plan job is sent, so that the planner answers this start.
                first = None if created else await self._lost_start(own_store, spec.run_id)
                now = self.clock.now()
                started = await note_start(own_store, terms, now, first)
            else:
                started = complete.started
            left = round((_LAST - started).total_seconds() * 1000)
            await write_json(store, f"{_INDEX}{left:015}-{spec.run_id}.json")
            if complete is None:
                # The end of an earlier start.
                await write_json(own_store, CANCELLED, cancelled=False)
                await forget_refusal(own_store)
                await replace_unreadable(own_store, END)
        if complete is None:
            # Whoever cancels a run does not wait for a broker that hangs.
            data = self.codec.write(PlanJob(spec.run_id))
            await self.stream.publish(Message(PLAN_JOBS, f"{spec.run_id}/plan", data))
        return complete or Evaluation(spec, RunState.PLANNING, started), created

    async def get(self, run: str) -> Evaluation:
        """The state of a run, with figures. Raises NotFound, BackendError, StoreUnavailable."""
        spec = await self.runs.spec(run)
        return await self._evaluation(spec, await self.scores.scores(run))

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Evaluation, None]:
        """Yield the run now and after changes, at most every `interval` seconds, until it is over.

        Updates of the aggregator are relayed; while it or the store is down, there are none.
        Raises what `get` raises before the first.
        """
        spec = await self.runs.spec(run)
        clock, current = self.clock, await self.scores.scores(run)
        last = await self._evaluation(spec, current)
        yield last
        async with self._relays.follow(run, interval, current) as relay:
            while last.state not in FINAL_STATES:
                await clock.sleep(interval)
                try:
                    evaluation = await self._evaluation(spec, relay.latest)
                except StoreUnavailable:
                    continue
                if evaluation != last:
                    last = evaluation
                    yield last

    async def _evaluation(self, spec: RunSpec, scores: Scores | None = None) -> Evaluation:
        record = await read_record(run_store(self.store, spec.run_id), spec)
        return record.evaluation(scores)

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page:
        """A page of runs, without figures. `name` selects the runs of one checkpoint; the page may
        then be short, since so many runs are read for it as the largest page has.

        Runs that cannot be read are left out. Raises InvalidInput for an invalid token,
        StoreUnavailable.
        """
        if token and not token.startswith(_INDEX):
            raise InvalidInput("not a valid page token", field="page_token")
        limit = min(size or _PAGE, _LARGEST_PAGE)
        evaluations: list[Evaluation] = []
        last, read = "", 0
        async for key in self.store.list(_INDEX):
            if key <= token:
                continue
            if len(evaluations) == limit or read == _LARGEST_PAGE:
                return Page(tuple(evaluations), last)
            run = key.rpartition("-")[2].removesuffix(".json")
            last, read = key, read + 1
            if not await self.ownership.permits_run(self.store, run):
                # A token names no run that the caller may not see.
                last = f"{key.removesuffix(run + '.json')}{run[:4]}~"
                continue
            try:
                spec = await self.runs.spec(run)
                if name in ("", spec.name):
                    evaluations.append(await self._evaluation(spec))
            except (InvalidInput, NotFound) as error:
                _LOG.warning("run %s is not listed: %s", run, error)
        return Page(tuple(evaluations), "")

    async def cancel(self, run: str) -> Evaluation:
        """Cancel a run and return it, without figures.

        This needs only the store: workers and the aggregator find the cancellation there. Raises
        NotFound, DataLoss for a run whose spec cannot be read, StoreUnavailable.
        """
        evaluation = await self._evaluation(await self.runs.spec(run))
        state = state_after(evaluation.state, Cause.CANCELLATION)
        if state is evaluation.state:
            return evaluation
        async with self._starting:
            await note_cancel(run_store(self.store, run))
        return replace(evaluation, state=state)

    async def _claim_key(self, key: str, run: str) -> None:
        if not key:
            return
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        team = self.ownership.team
        path = f"client-keys/{name}{'' if team == DEFAULT_TEAM else f'-{team}'}.json"
        claim = await read_replaceable(self.store, path)
        if claim and claim["run"] != run:
            known = await self.ownership.permits_run(self.store, claim["run"])
            other = f"run {claim['run']}" if known else "another run"
            raise AlreadyExists(f"the client key is already used by {other}")
        if not claim:
            await write_json(self.store, path, run=run)

    async def _complete(self, own_store: ObjectStore, spec: RunSpec) -> Evaluation | None:
        """The run if it is complete, none of its verdicts is lost, and no question is worth asking
        again.
        """
        if (await read_record(own_store, spec)).status().state not in WHOLE_STATES:
            return None
        try:
            # Not by `get`: the caller may not own the run yet.
            stored = await read_spec(self.store, spec.run_id)
            if stored is None:
                return None
            scores = await self.scores.scores(spec.run_id)
            evaluation = await self._evaluation(stored, scores)
            # The aggregator may hold what the store has lost since.
            await check_segments(own_store)
        except (DataLoss, NotFound):
            return None
        reasons = {reason for part in evaluation.benchmarks for reason in part.coverage.unscored}
        retries = evaluation.state is RunState.COMPLETE and not RETRYABLE.isdisjoint(reasons)
        return None if retries or evaluation.state is RunState.FAILED else evaluation

    async def _lost_start(self, own_store: ObjectStore, run: str) -> datetime | None:
        """When the run was first started, by the index, if its own record of that is lost."""
        if await find_starts(own_store) is None:
            async for key in self.store.list(_INDEX):
                if key.endswith(f"-{run}.json"):
                    return _LAST - timedelta(milliseconds=int(key.removeprefix(_INDEX)[:15]))
        return None
