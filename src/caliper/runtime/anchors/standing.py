"""Anchors in a service: judged beside the jobs of the runs that it meets, and told as a gauge."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable

from caliper.benchmarks.registry import benchmark
from caliper.core.run import RunSpec
from caliper.pipeline.examine import Models
from caliper.ports.telemetry import ScoreTelemetry
from caliper.runtime.anchors.judging import judge_anchors

_LOG = logging.getLogger(__name__)
_REMEMBERED = 1000
"""Runs and benchmarks that have had their sitting: one that was forgotten has another."""
_WAITING = 100


class StandingAnchors:
    """Judges the anchors once for each benchmark of each run that this process meets.

    `models_of` gives those of a run's seed. Nothing of a run waits for it or depends on it.
    """

    def __init__(self, models_of: Callable[[int], Models], telemetry: ScoreTelemetry) -> None:
        self._models_of, self._telemetry = models_of, telemetry
        self._met: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._waiting: asyncio.Queue[tuple[RunSpec, str]] = asyncio.Queue(_WAITING)

    def meet(self, spec: RunSpec, name: str) -> None:
        """A job of a run is here: its anchors are judged, but once; not if too many wait."""
        key = spec.run_id, name
        if key in self._met or self._waiting.full():
            return
        self._met[key] = None
        if len(self._met) > _REMEMBERED:
            self._met.popitem(last=False)
        self._waiting.put_nowait((spec, name))

    async def run(self) -> None:
        """Judge for as long as the service lives, one sitting after the other."""
        while True:
            spec, name = await self._waiting.get()
            models = self._models_of(spec.seed)
            try:
                sitting = await judge_anchors(spec, models, name)
            except Exception as error:  # noqa: BLE001 - telemetry ends no service
                # The jobs of the run meet the same, and tell whom it concerns.
                _LOG.warning("anchors of %s beside run %s: %s", name, spec.run_id, error)
                continue
            told = f"{sitting.agreed} of {sitting.scored} anchors judged as known"
            _LOG.info("%s beside run %s: %s by %s", name, spec.run_id, told, sitting.judge)
            # A few verdicts beside an endpoint in trouble would look like a judge that changed.
            if sitting.agreement is not None and 2 * sitting.scored >= len(sitting.verdicts):
                judge = models.answerers[f"{name}/{benchmark(name).role}"].identity.name
                self._telemetry.anchored(judge, name, sitting.agreement)
