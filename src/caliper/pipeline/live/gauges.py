"""Scores as telemetry: every model's latest run and its rolling windows, kept up as verdicts come.

Windows span the runs of a model. After the aggregator started anew they fill again from the
verdicts that come. Nothing here is part of a report.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from caliper.core.errors import CaliperError
from caliper.core.messages import EventKind, Verdicts
from caliper.core.question import Item
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.pipeline.ledger.ledger import OutcomeChange
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.scores import ScoreCells, counted, scores_of
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.live.windows import Place, RollingWindow, SampleScore
from caliper.ports.clock import Clock
from caliper.ports.telemetry import (
    ModelForgotten,
    QuestionsCounted,
    RecordsApplied,
    RunStarted,
    ScoresComputed,
    ScoreTable,
    Telemetry,
    VerdictsEntered,
    VerdictShown,
    Window,
)

_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Scope:
    """The `models` that are watched at most, the scored verdicts of the window `last`, and the
    least seconds between two looks.
    """

    models: int = 50
    last: int = 500
    pace: float = 2.0


@dataclass(slots=True)
class _Model:
    """A model: its latest run, which started at `started`, its windows, and which scores have
    `changed` since they were shown. `run` is None once it is held no longer, and was shown.
    """

    run: RunLedger | None
    spec: RunSpec
    started: int
    changed: set[tuple[str, Window]]
    windows: dict[tuple[str, Window], RollingWindow] = field(default_factory=dict)
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    held: bool = True

    @classmethod
    def of(cls, run: RunLedger, started: int) -> _Model:
        """A model of which nothing but its latest run is known."""
        names = [part.name for part in run.spec.benchmarks] if run.ledger.known else ()
        return cls(run, run.spec, started, {(name, Window.RUN) for name in names})

    @property
    def behind(self) -> bool:
        """Whether the scores of its run have changed."""
        return any(window is Window.RUN for _, window in self.changed)


class _Sample(NamedTuple):
    """A sample of a run whose outcomes changed at these places of the log."""

    run: RunLedger
    benchmark: str
    sample: str
    places: Collection[Place]
    judged: SampleScore


class Gauges:
    """Tells `telemetry` the scores of models. What happens between two looks waits.

    `warn` hears what went wrong: nothing of it may end the aggregator.
    """

    def __init__(
        self,
        live: LiveTallies,
        telemetry: Telemetry,
        clock: Clock,
        warn: Callable[[str], None],
        scope: Scope | None = None,
    ) -> None:
        self._live, self._telemetry, self._clock, self._warn = live, telemetry, clock, warn
        self._scope = scope or Scope()
        self._cells = ScoreCells()
        self._models: dict[str, _Model] = {}
        self._judged: list[_Sample] = []
        self._newest = 0
        live.watcher = self

    def hold(self, run: RunLedger) -> None:
        """A run that was known before: it may be the latest of its model."""
        self._watch(run, run.events.get(EventKind.PLAN, 0))

    def entered(
        self, run: RunLedger, message: Verdicts, timestamp: int, changes: Sequence[OutcomeChange]
    ) -> bool:
        """A message changed these outcomes. Returns whether its run is of a watched model."""
        self._newest = max(self._newest, timestamp)
        self._watch(run, run.events.get(EventKind.PLAN, timestamp))
        name, model = message.benchmark, self._models.get(_name(run))
        if not changes or model is None or name not in (part.name for part in run.spec.benchmarks):
            return False
        scored, unscored = counted(change.now for change in changes)
        self._telemetry.record(VerdictsEntered(_name(run), name, scored, unscored))
        if model.run is run:
            model.changed.add((name, Window.RUN))
        return True

    def judged(
        self, run: RunLedger, item: Item, places: Collection[Place], now: tuple[Tally, int]
    ) -> None:
        """The item's sample changed at these places: at the next look it enters the windows, at
        the last of them.
        """
        if _name(run) not in self._models:
            return
        tally, scored = now
        settings = run.spec.benchmark(item.benchmark).settings
        judged = SampleScore(max(places), scored, self._cells.of(item.benchmark, tally, settings))
        self._judged.append(_Sample(run, item.benchmark, item.sample, places, judged))

    def _take_in(self, judged: Collection[_Sample]) -> None:
        for one in judged:
            model = self._models.get(_name(one.run))
            if model is None:
                continue
            model.settings[one.benchmark] = one.run.spec.benchmark(one.benchmark).settings
            for kind in (Window.LAST, Window.HOUR):
                window = self._window(model, one.benchmark, kind)
                window.put((one.run.run, one.sample), one.judged)
                model.changed.add((one.benchmark, kind))

    def _window(self, model: _Model, name: str, kind: Window) -> RollingWindow:
        if (name, kind) not in model.windows:
            last = kind is Window.LAST
            model.windows[name, kind] = (
                RollingWindow(scored=self._scope.last) if last else RollingWindow(age=_HOUR_MS)
            )
        return model.windows[name, kind]

    def forget(self, run: str) -> None:
        """A run that is no longer held: its last scores stay, once they are shown."""
        for model in self._models.values():
            if model.run is not None and model.run.run == run:
                model.held = False
                model.run = model.run if model.behind else None

    def _watch(self, run: RunLedger, started: int) -> None:
        name = _name(run)
        model = self._models.get(name)
        if model is not None and model.run is run:
            model.started = max(model.started, started)
            return
        again = model is not None and model.spec.run_id == run.run
        if model is not None and model.started >= started and not again:
            return
        if model is None and len(self._models) >= self._scope.models:
            oldest = min(self._models, key=lambda one: self._models[one].started)
            if self._models[oldest].started >= started:
                return
            del self._models[oldest]
            self._telemetry.record(ModelForgotten(oldest))
        found = _Model.of(run, started)
        if model is not None:
            found.windows, found.settings = model.windows, model.settings
            for part in () if again else model.spec.benchmarks:
                self._telemetry.record(ScoresComputed(name, part.name, Window.RUN, {}))
        self._models[name] = found
        self._telemetry.record(RunStarted(name, started / 1000))

    async def run(self) -> None:
        """Look again and again, one every `pace` seconds, for half of the time at most."""
        pause = self._scope.pace
        while True:
            await self._clock.sleep(pause)
            begun = self._clock.monotonic()
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - telemetry must not end what it watches
                self._warn(f"scores could not be shown: {type(error).__name__}: {error}")
            spent = self._clock.monotonic() - begun
            pause = max(self._scope.pace - spent, spent)

    async def look(self) -> None:
        """Bring all scores up to what was entered."""
        busy = self._live.waiting()
        for run in busy:
            # What cannot be read is told where the run is shown.
            with suppress(CaliperError):
                await self._live.catch_up(run)
        judged, self._judged = self._judged, []
        self._take_in(judged)
        if self._newest:
            self._telemetry.record(RecordsApplied(self._newest / 1000))
        await self._show_all()
        shown = self._now()
        for timestamp, _, _ in (place for one in judged for place in one.places):
            self._telemetry.record(VerdictShown(max(0, shown - timestamp) / 1000))
        self._live.rest({run.run for run in busy})

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1000)

    async def _show_all(self) -> None:
        now = self._now()
        for name, model in list(self._models.items()):
            model.changed |= {place for place, window in model.windows.items() if window.trim(now)}
            changed, model.changed = model.changed, set()
            try:
                await self._show(name, model, changed)
            except Exception as error:
                model.changed |= changed
                if not isinstance(error, CaliperError):
                    raise
                self._warn(f"scores are behind: {error}")
            run = model.run
            if run is not None and not model.held and not model.behind:
                model.run = None
                self._live.drop(run)

    async def _show(self, name: str, model: _Model, changed: set[tuple[str, Window]]) -> None:
        if not changed:
            return
        run = model.run
        async with self._totals(run, changed) as totals:
            for benchmark in sorted({benchmark for benchmark, _ in changed}):
                await self._show_windows(name, model, benchmark, totals, changed)
        if run is not None and self._models.get(name) is model:
            for planned in run.summary.benchmarks:
                scored, reasons = run.ledger.count(planned.first, planned.questions)
                counts = {"scored": scored, "unscored": sum(reasons.values())}
                counts["planned"] = planned.questions
                self._telemetry.record(QuestionsCounted(name, planned.name, counts))

    @asynccontextmanager
    async def _totals(
        self, run: RunLedger | None, changed: Collection[tuple[str, Window]]
    ) -> AsyncIterator[Mapping[str, Tally]]:
        """The sums of a run, none where they have not changed."""
        if run is None or all(window is not Window.RUN for _, window in changed):
            yield {}
            return
        # One at a time: the sums of a large run take room.
        turn = nullcontext() if self._live.follows(run) else self._live.turn
        async with turn, self._live.sums(run) as totals:
            yield totals

    async def _show_windows(
        self,
        name: str,
        model: _Model,
        benchmark: str,
        totals: Mapping[str, Tally],
        changed: Collection[tuple[str, Window]],
    ) -> None:
        shown: list[tuple[Tally, ScoreTable]] = []
        for kind in (kind for kind in Window if (benchmark, kind) in changed):
            whole = kind is Window.RUN
            tally = totals.get(benchmark) if whole else model.windows[benchmark, kind].tally
            if tally is None:
                continue
            settings = (
                model.spec.benchmark(benchmark).settings if whole else model.settings[benchmark]
            )
            # A run that is not an hour old is all that there was within the hour.
            scores = next(
                (found for held, found in shown if self._cells.alike(benchmark, held, tally)), None
            )
            if scores is None:
                # In a thread: intervals of a large run take a while, and records are waiting.
                scores = await asyncio.to_thread(scores_of, benchmark, tally, settings)
            shown.append((tally, scores))
            if self._models.get(name) is model:
                self._telemetry.record(ScoresComputed(name, benchmark, kind, scores))


def _name(run: RunLedger) -> str:
    return run.spec.name or "unnamed"
