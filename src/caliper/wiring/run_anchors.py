"""Judges anchors alongside each run, from its first job on, and stores the results with it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from functools import partial
from typing import NamedTuple

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import JobFate, error_policy
from caliper.core.messages import ExamineJob
from caliper.core.run import RunSpec
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.reports.judge_check import save_judgement, should_check
from caliper.pipeline.store.runs import read_starts, run_store
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import AnchorsJudged, Telemetry
from caliper.wiring.anchors import REPLAY, judge_anchors

_LOG = logging.getLogger(__name__)
_REMEMBERED = 1000
"""The number of judgements to remember, one per run and benchmark; a forgotten one is repeated."""
_Key = tuple[str, str]


class _PendingJudgement(NamedTuple):
    """A judgement, and the deadline for waiting on it, in seconds of the event loop's clock."""

    judgement: asyncio.Task[bool]
    until: float


class RunAnchors:
    """Judges the anchors once per benchmark and run that this process works on, and stores the
    judgement with the run. The agreement goes to `telemetry`. For `choice` see `should_check`.

    No outcome depends on the anchors. But verdicts are published only after the judgement, so that
    every report based on them includes the judge check. If an endpoint hangs, publishing waits at
    most `patience` seconds from the start of the judgement.
    """

    def __init__(
        self,
        store: ObjectStore,
        telemetry: Telemetry,
        patience: float,
        *,
        choice: bool | None = None,
    ) -> None:
        self._store, self._telemetry = store, telemetry
        self._patience, self._choice = patience, choice
        self._judgements: OrderedDict[_Key, _PendingJudgement] = OrderedDict()

    def start_judgement(self, spec: RunSpec, name: str, models: Models) -> None:
        """Start judging the anchors with the `models` of a job, unless the run has a judgement.

        Recordings contain no replies to the anchors, so runs with recorded replies have none.
        """
        key = spec.run_id, name
        recorded = _answerer(name, models).identity.kind == REPLAY
        if recorded or self._choice is False or key in self._judgements:
            return
        with log_subject(spec.run_id):
            judgement = asyncio.create_task(self._sit(spec, name, models))
        until = asyncio.get_running_loop().time() + self._patience
        self._judgements[key] = _PendingJudgement(judgement, until)
        judgement.add_done_callback(partial(self._forget_failed, key))
        if (
            len(self._judgements) > _REMEMBERED
            and next(iter(self._judgements.values())).judgement.done()
        ):
            self._judgements.popitem(last=False)

    async def wait_for_judgement(self, job: ExamineJob) -> None:
        """Wait for the judgement of a job's run, if it has one.

        Raises StoreUnavailable or StoreFull if the judgement could not be stored: the next job of
        the run then starts another.
        """
        pending = self._judgements.get((job.run, job.benchmark))
        if pending is None:
            return
        if not pending.judgement.done():
            remaining = max(0.0, pending.until - asyncio.get_running_loop().time())
            await asyncio.wait([pending.judgement], timeout=remaining)
        if pending.judgement.done():
            pending.judgement.result()

    async def close(self) -> None:
        """Cancel the judgements in progress."""
        judgements = [pending.judgement for pending in self._judgements.values()]
        for judgement in judgements:
            judgement.cancel()
        await asyncio.gather(*judgements, return_exceptions=True)

    def _forget_failed(self, key: _Key, judgement: asyncio.Task[bool]) -> None:
        if judgement.cancelled() or judgement.exception() is not None or not judgement.result():
            self._judgements.pop(key, None)

    async def _sit(self, spec: RunSpec, name: str, models: Models) -> bool:
        """Judge the anchors; false if this start of the run excludes them."""
        run = run_store(self._store, spec.run_id)
        try:
            starts = await read_starts(run)
            if not should_check(starts.terms, choice=self._choice):
                return False
            judgement = await judge_anchors(spec, models, name)
            await save_judgement(run, name, judgement)
        except Exception as error:
            if error_policy(error).fate is JobFate.PAUSE:
                raise
            # The jobs of the run get the same error and report it.
            _LOG.warning("anchors of %s for run %s: %s", name, spec.run_id, error)
            return True
        agreement = (
            f"{judgement.correct_count} of {judgement.scored_count} known answers judged correctly"
        )
        _LOG.info("%s for run %s: %s by %s", name, spec.run_id, agreement, judgement.judge)
        # Few verdicts (from an endpoint in trouble) would look like a change of the judge.
        enough = 2 * judgement.scored_count >= len(judgement.verdicts)
        if judgement.agreement is not None and enough:
            judge = _answerer(name, models).identity.name
            self._telemetry.record(AnchorsJudged(judge, name, judgement.agreement))
        return True


def _answerer(name: str, models: Models) -> Answerer:
    return models.answerers[f"{name}/{benchmark(name).role}"]
