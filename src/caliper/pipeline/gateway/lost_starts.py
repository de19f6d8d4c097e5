"""Starts whose plan-job was lost: its publication failed, or the topic is gone."""

from __future__ import annotations

import logging

from caliper.core.envelopes import Message
from caliper.core.errors import CaliperError
from caliper.core.messages import PlanJob
from caliper.core.run import FINAL_STATES, RunState
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

_LOG = logging.getLogger(__name__)
_PACE = 60.0


class LostStarts:
    """Finds lost starts, each time among the newest runs and on one more page of older ones, and
    publishes their plan-jobs.

    A start is stored before its plan-job is published. A run that waits for its plan while the
    topic holds no plan-job would wait forever.
    """

    def __init__(self, gateway: Gateway, stream: JobStream, codec: Codec, clock: Clock) -> None:
        self._gateway, self._stream, self._codec, self._clock = gateway, stream, codec, clock
        self._token = ""

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
        going = [each for each in evaluations if each.state not in FINAL_STATES]
        waiting = [each.spec.run_id for each in going if await self._is_planning(each.spec.run_id)]
        if not waiting or (await self._stream.backlog(PLAN_JOBS, PLAN_JOBS)).waiting:
            return []
        lost = [run for run in waiting if await self._is_planning(run)]
        for run in lost:
            with log_subject(run):
                _LOG.warning(
                    "run %s waits for its plan, but the plan-job is lost: sending another", run
                )
            data = self._codec.write(PlanJob(run))
            await self._stream.publish(Message(PLAN_JOBS, f"{run}/plan", data))
        return lost

    async def _is_planning(self, run: str) -> bool:
        return (await self._gateway.get(run)).state is RunState.PLANNING
