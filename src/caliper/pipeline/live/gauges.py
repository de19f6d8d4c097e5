"""Scores as telemetry: each model's latest run and rolling windows, updated as verdicts arrive.

Windows span all runs of a model. They are not persisted: after a restart of the aggregator they
refill from the verdicts that arrive. Nothing here is part of a report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from caliper.core.errors import CaliperError
from caliper.core.messages import EventKind, Verdicts
from caliper.core.question import Item
from caliper.core.tally import Tally
from caliper.pipeline.ledger.ledger import OutcomeChange
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.model_gauges import ModelGauges, ModelKey, SampleChange
from caliper.pipeline.live.scores import ScoreCells, count_outcomes, question_counts, scores_of
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.live.windows import Place, RollingWindow, SampleScore
from caliper.ports import telemetry as events
from caliper.ports.clock import Clock
from caliper.ports.telemetry import ScoreTable, Telemetry, Window

_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Scope:
    """Limits of the telemetry: at most `models` models are watched, the window `last` holds that
    many scored verdicts, and scores are refreshed at most every `pace` seconds.
    """

    models: int = 50
    last: int = 500
    pace: float = 2.0
    has: Callable[[str], bool] = lambda _: True


class Gauges:
    """Records the scores of models as telemetry. Changes are batched until the next `look`.

    Errors go to `warn`: a failure in telemetry must not stop the aggregator.
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
        self._models: dict[ModelKey, ModelGauges] = {}
        self._changed_samples: list[SampleChange] = []
        live.watcher = self

    def on_plan(self, run: RunLedger) -> None:
        """Watch a run if it is the latest of its model."""
        self._watch(run, run.events.get(EventKind.PLAN, 0))

    def on_changes(
        self, run: RunLedger, message: Verdicts, timestamp: int, changes: Sequence[OutcomeChange]
    ) -> bool:
        """A message changed these outcomes. Returns whether the run's model is watched."""
        self._watch(run, run.events.get(EventKind.PLAN, timestamp))
        key = ModelKey.of(run)
        name, model = message.benchmark, self._models.get(key)
        if not changes or model is None or name not in (part.name for part in run.spec.benchmarks):
            return False
        scored, unscored = count_outcomes(change.now for change in changes)
        self._telemetry.record(events.VerdictsEntered(key.model, name, scored, unscored, key.team))
        if model.run is run:
            model.changed.add((name, Window.RUN))
        return True

    def on_sample(
        self, run: RunLedger, item: Item, places: Collection[Place], now: tuple[Tally, int]
    ) -> None:
        """The item's sample changed at these places. At the next look it enters the windows at
        the last of them.
        """
        if ModelKey.of(run) not in self._models:
            return
        tally, scored = now
        settings = run.spec.benchmark(item.benchmark).settings
        cells = self._cells.select(item.benchmark, tally, settings)
        score = SampleScore(max(places), scored, cells)
        self._changed_samples.append(SampleChange(run, item.benchmark, item.sample, places, score))

    def _update_windows(self, samples: Collection[SampleChange]) -> None:
        for sample in samples:
            if (model := self._models.get(ModelKey.of(sample.run))) is None:
                continue
            model.averages[sample.benchmark] = self._live.averages(sample.run.spec)
            for kind in (Window.LAST, Window.HOUR):
                window = self._window(model, sample.benchmark, kind)
                window.put((sample.run.run, sample.sample), sample.judged)
                model.changed.add((sample.benchmark, kind))

    def _window(self, model: ModelGauges, name: str, kind: Window) -> RollingWindow:
        if (name, kind) not in model.windows:
            last = kind is Window.LAST
            model.windows[name, kind] = (
                RollingWindow(min_scored=self._scope.last) if last else RollingWindow(age=_HOUR_MS)
            )
        return model.windows[name, kind]

    def on_removal(self, run: str) -> None:
        """A run was dropped. It stays here until its last scores are recorded."""
        for key, model in self._models.items():
            if model.run is not None and model.run.run == run:
                model.in_memory = False
                self._count_questions(key, model)
                model.run = model.run if model.behind else None

    def _watch(self, run: RunLedger, started: int) -> None:
        key = ModelKey.of(run)
        if (model := self._models.get(key)) is not None and model.run is run:
            model.started = max(model.started, started)
            return
        same_run = model is not None and model.spec.run_id == run.run
        if model is not None and model.started >= started and not same_run:
            return
        if model is None and len(self._models) >= self._scope.models:
            oldest = min(self._models, key=lambda each: self._models[each].started)
            if self._models[oldest].started >= started:
                return
            self._forget(oldest)
        latest = ModelGauges.of(run, started)
        if model is not None:
            latest.windows, latest.averages = model.windows, model.averages
            model.in_memory = False
            self._count_questions(key, model)
            for part in () if same_run else model.spec.benchmarks:
                empty = events.ScoresComputed(key.model, part.name, Window.RUN, {}, key.team)
                self._telemetry.record(empty)
        self._models[key] = latest
        self._telemetry.record(events.RunStarted(key.model, started / 1000, key.team))
        self._count_questions(key, latest)

    async def run(self) -> None:
        """Call `look` every `pace` seconds, forever, spending at most half of the time on it."""
        pause = self._scope.pace
        while True:
            await self._clock.sleep(pause)
            started = self._clock.monotonic()
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - telemetry must not end what it watches
                self._warn(f"scores could not be shown: {type(error).__name__}: {error}")
            spent = self._clock.monotonic() - started
            pause = max(self._scope.pace - spent, spent)

    async def look(self) -> None:
        """Bring all scores up to date with the verdicts entered so far."""
        busy = self._live.queued_runs()
        for run in busy:
            # The error is reported when the run's scores are recorded.
            with suppress(CaliperError):
                await self._live.catch_up(run)
        samples, self._changed_samples = self._changed_samples, []
        self._update_windows(samples)
        await self._record_all()
        for timestamp, _, _ in (place for sample in samples for place in sample.places):
            self._telemetry.record(events.VerdictVisible(max(0, self._now() - timestamp) / 1000))
        self._live.free_idle({run.run for run in busy})

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1000)

    def _forget(self, key: ModelKey) -> None:
        del self._models[key]
        self._telemetry.record(events.ModelForgotten(*key))

    async def _record_all(self) -> None:
        for key, model in list(self._models.items()):
            if not self._scope.has(model.spec.name):
                self._forget(key)
                continue
            model.changed |= {
                place for place, window in model.windows.items() if window.trim(self._now())
            }
            changed, model.changed = model.changed, set()
            try:
                await self._record_model(key, model, changed)
            except Exception as error:
                model.changed |= changed
                if not isinstance(error, CaliperError):
                    raise
                self._warn(f"scores are behind: {error}")
            run = model.run
            if run is not None and not model.in_memory and not model.behind:
                model.run = None
                self._live.drop(run)

    async def _record_model(
        self, key: ModelKey, model: ModelGauges, changed: set[tuple[str, Window]]
    ) -> None:
        if not changed:
            return
        run = model.run
        totals: Mapping[str, Tally] = {}
        async with AsyncExitStack() as stack:
            if run is not None and any(window is Window.RUN for _, window in changed):
                if not self._live.is_live(run):
                    # One run at a time: the tallies of a large run take memory.
                    await stack.enter_async_context(self._live.turn)
                totals = await stack.enter_async_context(self._live.sums(run))
            for benchmark in sorted({benchmark for benchmark, _ in changed}):
                await self._record_benchmark(key, model, benchmark, totals, changed)
        if self._models.get(key) is model:
            self._count_questions(key, model)

    def _count_questions(self, key: ModelKey, model: ModelGauges) -> None:
        for benchmark, counts in question_counts(model.run, in_memory=model.in_memory):
            self._telemetry.record(events.QuestionsCounted(key.model, benchmark, counts, key.team))

    async def _record_benchmark(
        self,
        key: ModelKey,
        model: ModelGauges,
        benchmark: str,
        totals: Mapping[str, Tally],
        changed: Collection[tuple[str, Window]],
    ) -> None:
        computed: list[tuple[Tally, ScoreTable]] = []
        for kind in (kind for kind in Window if (benchmark, kind) in changed):
            of_run = kind is Window.RUN
            tally = totals.get(benchmark) if of_run else model.windows[benchmark, kind].tally
            if tally is None:
                continue
            averages = self._live.averages(model.spec) if of_run else model.averages[benchmark]
            # For a run younger than an hour, the run and the hour have the same scores.
            same = (
                scores
                for other, scores in computed
                if self._cells.has_same_scores(benchmark, other, tally)
            )
            scores = next(same, None)
            if scores is None:
                # In a thread: the intervals of a large run would block the event loop.
                scores = await asyncio.to_thread(scores_of, benchmark, tally, averages)
            computed.append((tally, scores))
            if self._models.get(key) is model:
                event = events.ScoresComputed(key.model, benchmark, kind, scores, key.team)
                self._telemetry.record(event)
