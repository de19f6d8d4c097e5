"""A run's record in the store, apart from plan and verdicts, and the state that follows from it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from caliper.core.errors import DataLoss, NotFound
from caliper.core.report import BenchmarkReport, Reuse
from caliper.core.run import FINAL_STATES, RunSpec, RunState
from caliper.core.transitions import Cause, state_after
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import (
    CANCELLED,
    END,
    REFUSED,
    STARTED,
    Starts,
    cancels,
    is_earlier,
    read_json,
    read_starts,
)
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore

_EPOCH = datetime.fromtimestamp(0, UTC)
"""Stands for the time of the first start where its record cannot be read."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run as callers see it. `benchmarks` holds its scores so far; `ended` and `reuse` are set
    once the run is over, if known.
    """

    spec: RunSpec
    state: RunState
    started: datetime
    benchmarks: tuple[BenchmarkReport, ...] = ()
    error: str = ""
    ended: datetime | None = None
    reuse: Reuse | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the store records about a run.

    `started` is the time of the first start; None if an earlier release stored the run in a
    directory. `starts` is the number of starts. `refused` says why the run cannot be planned, or
    which of its objects cannot be read. `end` is the content of end.json.
    """

    spec: RunSpec
    planned: bool = False
    started: datetime | None = None
    starts: int = 0
    refused: str = ""
    cancelled: bool = False
    end: Mapping[str, Any] = field(default_factory=dict)

    def status(self, live: Scores | None = None) -> Scores:
        """The state of the run, by the aggregator's `live` scores if given.

        Without them the state follows from the store alone, and there are no scores.
        """
        if self.refused:
            return Scores(state_after(RunState.PLANNING, Cause.REFUSAL), (), self.refused)
        scores = live or self._end
        if scores is None or self._is_outdated(scores):
            is_planned = live is None and self.planned
            state = state_after(RunState.PLANNING, Cause.PLAN) if is_planned else RunState.PLANNING
            scores = Scores(state, ())
        if not self.cancelled:
            return scores
        return replace(scores, state=state_after(scores.state, Cause.CANCELLATION))

    def _is_outdated(self, scores: Scores) -> bool:
        """Whether these are the scores of an earlier start, which the last one leads on from."""
        earlier = is_earlier(scores.start, self.starts)
        return earlier and state_after(scores.state, Cause.START) is RunState.PLANNING

    @property
    def _end(self) -> Scores | None:
        if self.end.get("state") is None:
            return None
        state, error = RunState(self.end["state"]), str(self.end.get("error", ""))
        return Scores(state, (), error, int(self.end.get("start", 0)))

    def evaluation(self, live: Scores | None = None) -> Evaluation:
        """The run as callers see it, by its `status`.

        A run that lost the record of its starts has failed. Raises NotFound if its start was
        interrupted before it was recorded.
        """
        if self.started is None and (self.planned or self.end):
            lost = str(DataLoss.missing(STARTED))
            return replace(self, started=_EPOCH, refused=lost).evaluation()
        if self.started is None:
            raise NotFound("the start of this run was interrupted; start it again")
        status, ended, reuse = self.status(live), None, None
        if status.state in FINAL_STATES and self.end.get("state") == status.state:
            ended, reuse = self.end.get("ended_at"), self.end.get("reuse")
        return Evaluation(
            self.spec,
            status.state,
            self.started,
            status.benchmarks,
            status.error,
            datetime.fromisoformat(ended) if ended else None,
            Reuse(**reuse) if reuse else None,
        )


async def read_record(run: ObjectStore, spec: RunSpec) -> RunRecord:
    """Read the record of a run. `run` is the run's own part of the store.

    An object that cannot be read fails the run, until it is started again. Raises NewerSchema,
    StoreUnavailable.
    """
    losses: list[DataLoss] = []

    async def read(key: str) -> Mapping[str, Any]:
        try:
            return await read_json(run, key) or {}
        except DataLoss as error:
            losses.append(error)
            return {}

    refusal, cancellation, end, summary = await asyncio.gather(
        read(REFUSED), read(CANCELLED), read(END), run.get(SUMMARY)
    )
    # Read last: a start is counted before it clears how the run ended before.
    try:
        starts = await read_starts(run)
    except DataLoss as error:
        losses.append(error)
        starts = Starts(first=_EPOCH)
    return RunRecord(
        spec,
        planned=summary is not None,
        started=starts.first,
        starts=starts.number,
        refused=str(losses[0]) if losses else str(refusal.get("error", "")),
        cancelled=cancels(cancellation, starts.number),
        end=end,
    )
