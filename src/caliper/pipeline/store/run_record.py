"""What the store holds of a run beside its plan and verdicts, and where the run stands by that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from caliper.core.errors import NotFound
from caliper.core.report import BenchmarkReport, Reuse
from caliper.core.run import OVER, RunSpec, RunState
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import END, STARTED, is_cancelled, read_json, refusal_of
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore

# A start does not touch a complete run; all others go on.
_STARTED_AGAIN = frozenset({RunState.CANCELLING, *OVER} - {RunState.COMPLETE})


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run as callers see it; `benchmarks` are its figures so far. A run that is over has `ended`
    and `reuse` where they are known.
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
    """`started` is the time of the first start, None where a release before kept the run in a
    directory, and `starts` the number of starts. `refused` says why the run cannot be planned, and
    `end` is what end.json holds.
    """

    spec: RunSpec
    planned: bool = False
    started: datetime | None = None
    starts: int = 0
    refused: str = ""
    cancelled: bool = False
    end: Mapping[str, Any] = field(default_factory=dict)

    def status(self, told: Scores | None = None) -> Scores:
        """Where the run stands: by what the aggregator `told`, and where nobody asked it, by what
        is stored alone, without figures.
        """
        if self.refused:
            return Scores(RunState.FAILED, (), self.refused)
        if told is not None:
            found = Scores(RunState.PLANNING, ()) if self._is_before_last_start(told) else told
        elif self._end is not None and not self._is_before_last_start(self._end):
            return self._end
        else:
            found = Scores(RunState.RUNNING if self.planned else RunState.PLANNING, ())
        return replace(found, state=_state(found.state, cancelled=self.cancelled))

    def _is_before_last_start(self, found: Scores) -> bool:
        """Whether that was the end of an earlier start: the aggregator did not know of this one."""
        # An aggregator that was away when the first plan was announced knows of start 0.
        return found.state in _STARTED_AGAIN and max(found.start, 1) < self.starts

    @property
    def _end(self) -> Scores | None:
        if self.end.get("state") is None:
            return None
        state, error = RunState(self.end["state"]), str(self.end.get("error", ""))
        return Scores(state, (), error, int(self.end.get("start", 0)))

    def evaluation(self, told: Scores | None = None) -> Evaluation:
        """The run as callers see it, by its `status`. Raises NotFound where its start was cut off
        before it was noted.
        """
        if self.started is None:
            raise NotFound("the run was not started to its end; start it again")
        status, ended, reuse = self.status(told), None, None
        if status.state in OVER and self.end.get("state") == status.state:
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


def _state(found: RunState, *, cancelled: bool) -> RunState:
    """Where a run stands that is to be cancelled now, or is not."""
    if not cancelled:
        # Started again, and the aggregator has not heard of it yet.
        early = found in (RunState.CANCELLED, RunState.CANCELLING)
        return RunState.RUNNING if early else found
    if found is RunState.PLANNING:
        # Without a plan nothing is in flight, and a cancelled run is not planned.
        return RunState.CANCELLED
    return found if found in OVER else RunState.CANCELLING


async def read_record(run: ObjectStore, spec: RunSpec) -> RunRecord:
    """The record of the run with that spec; `run` is its own part of the store.

    Raises InvalidInput for what cannot be read, StoreUnavailable.
    """
    refused, cancelled, end, summary = await asyncio.gather(
        refusal_of(run), is_cancelled(run), read_json(run, END), run.get(SUMMARY)
    )
    # Last: a start is counted before it clears what ended the run before.
    started = await read_json(run, STARTED) or {}
    when = started.get("started")
    return RunRecord(
        spec,
        planned=summary is not None,
        started=datetime.fromisoformat(when) if when else None,
        starts=int(started.get("starts", 0)),
        refused=refused,
        cancelled=cancelled,
        end=end or {},
    )
