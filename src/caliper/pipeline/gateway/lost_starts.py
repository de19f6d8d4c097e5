"""Starts of which the plan-job, the jobs or a mark in the store was lost, so that nobody works."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cachetools import LRUCache

from caliper.core.envelopes import Message
from caliper.core.errors import CaliperError
from caliper.core.messages import PlanJob
from caliper.core.report import Coverage
from caliper.core.run import FINAL_STATES, RunState
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

_LOG = logging.getLogger(__name__)
_PACE = 60.0
_STILL, _AGAIN = 600.0, 86_400.0
"""Seconds without an outcome after which a running run is planned again, and then once more."""
_WATCHED = 4096


class LostStarts:
    """Finds lost starts, each time among the newest runs and on one more page of older ones, and
    publishes their plan-jobs.

    A start is stored before its plan-job is published. A run that waits for its plan while the
    topic holds no plan-job would wait forever. So would a running run whose jobs were dropped for
    a cancellation or an end that the store has lost since.
    """

    def __init__(self, gateway: Gateway, stream: JobStream, codec: Codec, clock: Clock) -> None:
        self._gateway, self._stream, self._codec, self._clock = gateway, stream, codec, clock
        self._token = ""
        self._seen: LRUCache[str, tuple[tuple[Coverage, ...], float]] = LRUCache(_WATCHED)

    async def run(self) -> None:
        """Look every minute, skipping while store, stream or aggregator are down."""
        while True:
            await self._clock.sleep(_PACE)
            try:
                await self.resume()
            except CaliperError as error:
                _LOG.info("lost starts not checked: %s", error)

    async def resume(self) -> list[str]:
        """Publish the plan-jobs of lost starts, and return their runs. Planning a run again that
        was planned meanwhile changes nothing.

        Raises StoreUnavailable, StreamUnavailable, or what `Gateway.get` raises.
        """
        newest = await self._gateway.list()
        evaluations = newest.evaluations
        if token := self._token or newest.next:
            older = await self._gateway.list(token=token)
            evaluations, self._token = evaluations + older.evaluations, older.next
        going = [each.spec.run_id for each in evaluations if each.state not in FINAL_STATES]
        current = [await self._gateway.get(run) for run in going]
        lost = self._standing(current)
        waiting = [each.spec.run_id for each in current if each.state is RunState.PLANNING]
        if waiting and not (await self._stream.backlog(PLAN_JOBS, PLAN_JOBS)).waiting:
            lost += [run for run in waiting if await self._is_planning(run)]
        for run in lost:
            with log_subject(run):
                _LOG.warning("run %s stands still: sending its plan-job again", run)
            data = self._codec.write(PlanJob(run))
            await self._stream.publish(Message(PLAN_JOBS, f"{run}/plan", data))
        return lost

    def _standing(self, evaluations: Sequence[Evaluation]) -> list[str]:
        """Running runs that had no outcome for long."""
        now, standing = self._clock.monotonic(), list[str]()
        for each in evaluations:
            run = each.spec.run_id
            figures = tuple(part.coverage for part in each.benchmarks)
            known, since = self._seen.get(run, (None, now))
            if each.state is not RunState.RUNNING:
                self._seen.pop(run, None)
            elif figures != known:
                self._seen[run] = figures, now
            elif now - since >= _STILL:
                standing.append(run)
                self._seen[run] = figures, now + _AGAIN - _STILL
        return standing

    async def _is_planning(self, run: str) -> bool:
        return (await self._gateway.get(run)).state is RunState.PLANNING
