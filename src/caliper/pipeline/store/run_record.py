"""A run's record in the store, apart from plan and verdicts, and the state that follows from it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from caliper.core.errors import NotFound
from caliper.core.report import BenchmarkReport, Reuse
from caliper.core.run import FINAL_STATES, RunSpec, RunState
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import END, STARTED, is_cancelled, read_json, refusal_of
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore


@dataclass(frozen=True, slots=True)
class Transition:
    """What takes a run from any state of `before` to one of `after`, and who brings it about."""

    before: tuple[RunState, ...]
    after: tuple[RunState, ...]
    cause: str
    owner: str

    @classmethod
    def of(cls, before: str, after: str, cause: str, owner: str) -> Transition:
        """The transition between states that are separated by spaces."""
        states = (tuple(map(RunState, names.split())) for names in (before, after))
        return cls(*states, cause, owner)


TRANSITIONS = (
    Transition.of(
        "running cancelling cancelled finished failed",
        "planning",
        "started again",
        "gateway; an error tells the caller to start the run again",
    ),
    Transition.of(
        "planning",
        "running",
        "the plan is complete",
        "planner, which gets the plan-job until it is done",
    ),
    Transition.of(
        "planning",
        "failed",
        "the data cannot be planned",
        "planner, or the worker that gives the plan-job up",
    ),
    Transition.of("planning", "cancelled", "cancelled", "gateway, as nothing is in flight"),
    Transition.of("running", "cancelling", "cancelled", "gateway, which stores it"),
    Transition.of(
        "cancelling",
        "cancelled",
        "no outcome for 5 s",
        "aggregator, which reads cancellations every 2 s",
    ),
    Transition.of(
        "cancelled",
        "cancelling",
        "the plan of the cancelled start was on its way",
        "planner; the aggregator then cancels it",
    ),
    Transition.of(
        "running cancelling",
        "finished complete",
        "every question has an outcome",
        "workers, which get each job until it is done; aggregator",
    ),
    Transition.of(
        "running cancelling",
        "failed",
        "a model changed, or an object is lost",
        "the worker that meets it, or the aggregator",
    ),
    Transition.of(
        "planning cancelled finished failed",
        "finished complete",
        "outcomes that were in flight arrived",
        "aggregator",
    ),
)
"""All transitions between the states that `RunRecord.status` returns."""


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
    directory. `starts` is the number of starts. `refused` says why the run cannot be planned.
    `end` is the content of end.json.
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
        scores, end = live, self._end
        over = live is not None and live.state in FINAL_STATES
        if end is not None and not over and not self._is_before_last_start(end):
            # An aggregator that was restarted may not have heard of the end again.
            scores = replace(end, benchmarks=live.benchmarks if live else ())
        if scores is None:
            scores = Scores(RunState.RUNNING if self.planned else RunState.PLANNING, ())
        elif self._is_before_last_start(scores):
            scores = Scores(RunState.PLANNING, ())
        return replace(scores, state=_state(scores.state, cancelled=self.cancelled))

    def _is_before_last_start(self, scores: Scores) -> bool:
        """Whether these are the scores of an earlier start: the last has no plan yet."""
        # An aggregator that was down when the first plan was announced reports start 0.
        return scores.state is not RunState.COMPLETE and max(scores.start, 1) < self.starts

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

    Raises InvalidInput for unreadable objects, StoreUnavailable.
    """
    refused, cancelled, end, summary = await asyncio.gather(
        refusal_of(run), is_cancelled(run), read_json(run, END), run.get(SUMMARY)
    )
    # Read last: a start is counted before it clears how the run ended before.
    starts = await read_json(run, STARTED) or {}
    when = starts.get("started")
    return RunRecord(
        spec,
        planned=summary is not None,
        started=datetime.fromisoformat(when) if when else None,
        starts=int(starts.get("starts", 0)),
        refused=refused,
        cancelled=cancelled,
        end=end or {},
    )
