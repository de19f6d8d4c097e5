"""Anchors in a service: judged beside the jobs of the runs that it meets, and kept with them."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from caliper.analysis.drift import Sitting
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import JobFate, handling
from caliper.core.run import RunSpec
from caliper.pipeline.examine import Models
from caliper.pipeline.judge_check import keep_sitting
from caliper.pipeline.runs import run_store
from caliper.ports.codec import CaptionJob, ExamineJob
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import AnchorsJudged, Telemetry
from caliper.runtime.anchors.judging import judge_anchors

_LOG = logging.getLogger(__name__)
_REMEMBERED = 1000
"""Runs and benchmarks that have had their sitting: one that was forgotten has another."""
_Key = tuple[str, str]


class _Begun(NamedTuple):
    """A sitting, and until when it is waited for in the time of the event loop, in seconds."""

    sitting: asyncio.Task[None]
    until: float


class StandingAnchors:
    """Judges the anchors once for each benchmark of each run that this process meets, and keeps
    the sitting with the run. `scores` is told the agreement, if there is anybody to tell.

    `models_of` gives those of a run's seed. No outcome depends on it. But verdicts are published
    only after the sitting beside them, so that every report that rests on them has its check. Of
    an endpoint that hangs it is waited for no longer than `patience` seconds after it began.
    """

    def __init__(
        self,
        models_of: Callable[[int], Models],
        store: ObjectStore,
        telemetry: Telemetry,
        patience: float,
    ) -> None:
        self._models_of, self._store, self._telemetry = models_of, store, telemetry
        self._patience = patience
        self._begun: OrderedDict[_Key, _Begun] = OrderedDict()

    def meet(self, spec: RunSpec, name: str) -> None:
        """A job of a run is here: its anchors are judged beside it, but once."""
        key = spec.run_id, name
        if key in self._begun:
            return
        sitting = asyncio.create_task(self._sit(spec, name))
        until = asyncio.get_running_loop().time() + self._patience
        self._begun[key] = _Begun(sitting, until)
        sitting.add_done_callback(partial(self._ended, key))
        if len(self._begun) > _REMEMBERED and next(iter(self._begun.values())).sitting.done():
            self._begun.popitem(last=False)

    async def judged(self, job: ExamineJob | CaptionJob) -> None:
        """Wait for the sitting beside a job, if it has one. Raises StoreUnavailable or StoreFull
        for one that could not be kept: the next job that is met begins another.
        """
        begun = self._begun.get((job.run, job.benchmark))
        if begun is not None:
            left = max(0.0, begun.until - asyncio.get_running_loop().time())
            ended, _ = await asyncio.wait([begun.sitting], timeout=left)
            for sitting in ended:
                sitting.result()

    async def close(self) -> None:
        """Break off the sittings that have not ended."""
        sittings = [begun.sitting for begun in self._begun.values()]
        for sitting in sittings:
            sitting.cancel()
        await asyncio.gather(*sittings, return_exceptions=True)

    def _ended(self, key: _Key, sitting: asyncio.Task[None]) -> None:
        if sitting.cancelled() or sitting.exception() is not None:
            self._begun.pop(key, None)

    async def _sit(self, spec: RunSpec, name: str) -> None:
        models = self._models_of(spec.sampling_seed)
        try:
            sitting = await judge_anchors(spec, models, name)
            await keep_sitting(run_store(self._store, spec.run_id), name, sitting)
        except Exception as error:
            if handling(error).fate is JobFate.PAUSE:
                raise
            # The jobs of the run meet the same, and tell whom it concerns.
            _LOG.warning("anchors of %s beside run %s: %s", name, spec.run_id, error)
            return
        told = f"{sitting.agreed} of {sitting.scored} anchors judged as known"
        _LOG.info("%s beside run %s: %s by %s", name, spec.run_id, told, sitting.judge)
        self._tell(models.answerers[f"{name}/{benchmark(name).role}"].identity.name, name, sitting)

    def _tell(self, judge: str, name: str, sitting: Sitting) -> None:
        if sitting.agreement is None:
            return
        # A few verdicts beside an endpoint in trouble would look like a judge that changed.
        if 2 * sitting.scored >= len(sitting.verdicts):
            self._telemetry.record(AnchorsJudged(judge, name, sitting.agreement))
