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
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import CANCELLED, END, REFUSED, STARTED, read_json
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore

# A new start resumes a run in any of these states; it leaves a complete run untouched.
_RESTARTABLE = frozenset({RunState.CANCELLING, *FINAL_STATES} - {RunState.COMPLETE})
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
            return Scores(RunState.FAILED, (), self.refused)
        if live is not None:
            scores = Scores(RunState.PLANNING, ()) if self._is_before_last_start(live) else live
        elif self._end is not None and not self._is_before_last_start(self._end):
            return self._end
        else:
            scores = Scores(RunState.RUNNING if self.planned else RunState.PLANNING, ())
        return replace(scores, state=_state(scores.state, cancelled=self.cancelled))

    def _is_before_last_start(self, scores: Scores) -> bool:
        """Whether these scores end an earlier start: the aggregator did not know of the last."""
        # An aggregator that was down when the first plan was announced reports start 0.
        return scores.state in _RESTARTABLE and max(scores.start, 1) < self.starts

    @property
    def _end(self) -> Scores | None:
        if self.end.get("state") is None:
            return None
        state, error = RunState(self.end["state"]), str(self.end.get("error", ""))
        return Scores(state, (), error, int(self.end.get("start", 0)))

    def evaluation(self, live: Scores | None = None) -> Evaluation:
        """The run as callers see it, by its `status`.

        Raises NotFound if its start was interrupted before it was recorded.
        """
        if self.started is None:
            raise NotFound("the run was not started to its end; start it again")
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


def _state(state: RunState, *, cancelled: bool) -> RunState:
    """The state of a run, corrected by whether the store marks it as cancelled."""
    if not cancelled:
        # The run was started again, and the aggregator has not heard of it yet.
        outdated = state in (RunState.CANCELLED, RunState.CANCELLING)
        return RunState.RUNNING if outdated else state
    if state is RunState.PLANNING:
        # Without a plan nothing is in flight, and a cancelled run is not planned.
        return RunState.CANCELLED
    return state if state in FINAL_STATES else RunState.CANCELLING


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
            return {"started": _EPOCH.isoformat()} if key == STARTED else {}

    refusal, cancellation, end, summary = await asyncio.gather(
        read(REFUSED), read(CANCELLED), read(END), run.get(SUMMARY)
    )
    # Read last: a start is counted before it clears how the run ended before.
    starts = await read(STARTED)
    when = starts.get("started")
    return RunRecord(
        spec,
        planned=summary is not None,
        started=datetime.fromisoformat(when) if when else None,
        starts=int(starts.get("starts", 0)),
        refused=str(losses[0]) if losses else str(refusal.get("error", "")),
        cancelled=bool(cancellation.get("cancelled")),
        end=end,
    )
