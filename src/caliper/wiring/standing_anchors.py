"""Anchors beside runs: judged once the first job of a run is met, and kept with the run."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from functools import partial
from typing import NamedTuple

from caliper.analysis.drift import Sitting
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import JobFate, handling
from caliper.core.messages import ExamineJob
from caliper.core.run import RunSpec
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.reports.judge_check import check_wanted, keep_sitting
from caliper.pipeline.store.runs import last_start, run_store
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import AnchorsJudged, Telemetry
from caliper.wiring.anchor_sitting import REPLAY, judge_anchors

_LOG = logging.getLogger(__name__)
_REMEMBERED = 1000
"""Runs and benchmarks that have had their sitting: one that was forgotten has another."""
_Key = tuple[str, str]


class _Begun(NamedTuple):
    """A sitting, and until when it is waited for in the time of the event loop, in seconds."""

    sitting: asyncio.Task[bool]
    until: float


class StandingAnchors:
    """Judges the anchors once for each benchmark of each run that this process meets, and keeps
    the sitting with the run. `scores` is told the agreement, if there is anybody to tell. `asked`
    says whether somebody asked for anchors: see `check_wanted`.

    No outcome depends on it. But verdicts are published only after the sitting beside them, so that
    every report that rests on them has its check. Of an endpoint that hangs it is waited for no
    longer than `patience` seconds after it began.
    """

    def __init__(
        self,
        store: ObjectStore,
        telemetry: Telemetry,
        patience: float,
        *,
        asked: bool | None = None,
    ) -> None:
        self._store, self._telemetry = store, telemetry
        self._patience, self._asked = patience, asked
        self._begun: OrderedDict[_Key, _Begun] = OrderedDict()

    def meet(self, spec: RunSpec, name: str, models: Models) -> None:
        """A job of a run is here: its anchors are judged beside it by its `models`, but once.
        Recorded replies hold none to them.
        """
        key = spec.run_id, name
        recorded = _answerer(name, models).identity.kind == REPLAY
        if recorded or self._asked is False or key in self._begun:
            return
        sitting = asyncio.create_task(self._sit(spec, name, models))
        until = asyncio.get_running_loop().time() + self._patience
        self._begun[key] = _Begun(sitting, until)
        sitting.add_done_callback(partial(self._ended, key))
        if len(self._begun) > _REMEMBERED and next(iter(self._begun.values())).sitting.done():
            self._begun.popitem(last=False)

    async def judged(self, job: ExamineJob) -> None:
        """Wait for the sitting beside a job, if it has one. Raises StoreUnavailable or StoreFull
        for one that could not be kept: the next job that is met begins another.
        """
        begun = self._begun.get((job.run, job.benchmark))
        if begun is None:
            return
        if not begun.sitting.done():
            left = max(0.0, begun.until - asyncio.get_running_loop().time())
            await asyncio.wait([begun.sitting], timeout=left)
        if begun.sitting.done():
            begun.sitting.result()

    async def close(self) -> None:
        """Break off the sittings that have not ended."""
        sittings = [begun.sitting for begun in self._begun.values()]
        for sitting in sittings:
            sitting.cancel()
        await asyncio.gather(*sittings, return_exceptions=True)

    def _ended(self, key: _Key, sitting: asyncio.Task[bool]) -> None:
        if sitting.cancelled() or sitting.exception() is not None or not sitting.result():
            self._begun.pop(key, None)

    async def _sit(self, spec: RunSpec, name: str, models: Models) -> bool:
        """Whether this start of the run has had all the sitting that it gets."""
        run = run_store(self._store, spec.run_id)
        try:
            _, caps = await last_start(run)
            if not check_wanted(caps, asked=self._asked):
                return False
            sitting = await judge_anchors(spec, models, name)
            await keep_sitting(run, name, sitting)
        except Exception as error:
            if handling(error).fate is JobFate.PAUSE:
                raise
            # The jobs of the run meet the same, and tell whom it concerns.
            _LOG.warning("anchors of %s beside run %s: %s", name, spec.run_id, error)
            return True
        told = f"{sitting.agreed} of {sitting.scored} anchors judged as known"
        _LOG.info("%s beside run %s: %s by %s", name, spec.run_id, told, sitting.judge)
        self._tell(_answerer(name, models).identity.name, name, sitting)
        return True

    def _tell(self, judge: str, name: str, sitting: Sitting) -> None:
        if sitting.agreement is None:
            return
        # A few verdicts beside an endpoint in trouble would look like a judge that changed.
        if 2 * sitting.scored >= len(sitting.verdicts):
            self._telemetry.record(AnchorsJudged(judge, name, sitting.agreement))


def _answerer(name: str, models: Models) -> Answerer:
    return models.answerers[f"{name}/{benchmark(name).role}"]
