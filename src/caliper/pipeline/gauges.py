"""Scores as telemetry: every model's latest run and its rolling windows, kept up as verdicts come.

A report is reduced over a whole plan. Here only the samples are reduced that something was heard
about, and what they added before is withdrawn: sums are exact, so what is left is what a
reduction over everything would give. Nothing here is part of a report.

Windows span the runs of a model. After the aggregator started anew they fill again from the
verdicts that come; the whole run is taken from its ledger. So it is where an outcome changes of a
run that had ended: its sums are let go, since its report needs the room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from caliper.core.envelopes import Record
from caliper.core.errors import CaliperError
from caliper.core.messages import EventKind, Verdicts
from caliper.core.tally import Tally
from caliper.pipeline.live_scores import Before, Reduction, by_sample, counted, scores_of
from caliper.pipeline.plan_lookup import PlanLookup
from caliper.pipeline.tracked import TrackedRun
from caliper.pipeline.watched import Heard, Known, Watched
from caliper.pipeline.windows import Judged, RollingWindow
from caliper.ports.clock import Clock
from caliper.ports.telemetry import Scored, ScoreTelemetry, Window

_HOUR_MS = 3_600_000
MOST_HEARD = 10_000
"""Samples that may wait for a look. With more, runs are counted anew from their ledgers."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The `models` that are watched at most, the scored verdicts of the window `last`, and the
    least seconds between two looks.
    """

    models: int = 50
    last: int = 500
    pace: float = 2.0


class Gauges:
    """Tells `telemetry` the scores of models. What it is told between two looks waits.

    `warn` hears what went wrong: nothing of it may end the aggregator.
    """

    def __init__(
        self,
        telemetry: ScoreTelemetry,
        clock: Clock,
        warn: Callable[[str], None],
        scope: Scope | None = None,
    ) -> None:
        self._telemetry, self._clock, self._warn = telemetry, clock, warn
        self._scope = scope or Scope()
        self._lookup, self._reduction = PlanLookup(), Reduction()
        self._models: dict[str, Watched] = {}
        self._heard: dict[tuple[str, str, str], Heard] = {}
        self._newest = 0

    def hold(self, run: TrackedRun) -> None:
        """A run that was known before: it may be the latest of its model."""
        self._watch(run, run.events.get(EventKind.PLAN, 0))

    def before(self, run: TrackedRun, message: Verdicts, record: Record) -> Before:
        """To be asked right before a message is entered, for `entered`."""
        size = run.summary.questions
        self._newest = max(self._newest, record.timestamp)
        self._watch(run, run.events.get(EventKind.PLAN, record.timestamp))
        indices = (verdict.index for verdict in message.verdicts)
        return {index: run.ledger.outcome(index) for index in indices if 0 <= index < size}

    def entered(self, run: TrackedRun, message: Verdicts, record: Record, before: Before) -> None:
        """A message was entered into the ledger of its run."""
        now = {index: run.ledger.outcome(index) for index in before}
        changed = {index: was for index, was in before.items() if now[index] != was}
        name = message.benchmark
        if not changed or name not in (part.name for part in run.spec.benchmarks):
            return
        model = _model(run)
        if model not in self._models:
            return
        scored, unscored = counted(now[index] for index in changed)
        self._telemetry.entered(model, name, scored, unscored)
        place = (record.timestamp, record.partition, record.offset)
        key = (run.run, name, message.sample)
        if len(self._heard) >= MOST_HEARD:
            # It is catching up: the ledger knows all of it.
            self._doubt({run for run, _, _ in self._heard})
        heard = self._heard.setdefault(key, Heard(run, place, min(changed)))
        heard.place = max(heard.place, place)
        heard.timestamps.append(record.timestamp)
        for index, was in changed.items():
            heard.before.setdefault(index, was)

    def forget(self, run: str) -> None:
        """A run that is no longer held: its last scores stay, what they were made of goes."""
        self._lookup.forget(run)
        for watched in self._models.values():
            if watched.run is not None and watched.run.run == run:
                watched.forget()

    def snapshot_kept(self) -> None:
        """The aggregator kept a snapshot."""
        self._telemetry.kept(self._clock.now().timestamp())

    def _watch(self, run: TrackedRun, started: int) -> None:
        model = _model(run)
        watched = self._models.get(model)
        if watched is not None and watched.run is run:
            watched.started = max(watched.started, started)
            return
        again = watched is not None and watched.spec.run_id == run.run
        if watched is not None and watched.started >= started and not again:
            return
        if watched is None and len(self._models) >= self._scope.models:
            oldest = min(self._models, key=lambda name: self._models[name].started)
            if self._models[oldest].started >= started:
                return
            del self._models[oldest]
            self._telemetry.forgotten(oldest)
        found = Watched.of(run, started)
        if watched is not None:
            found.windows, found.settings = watched.windows, watched.settings
            for part in () if again else watched.spec.benchmarks:
                self._telemetry.scored(model, part.name, Window.RUN, {})
        self._models[model] = found
        self._telemetry.started(model, started / 1000)

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
                self._doubt({watched.spec.run_id for watched in self._models.values()})
            spent = self._clock.monotonic() - begun
            pause = max(self._scope.pace - spent, spent)

    async def look(self) -> None:
        """Bring all scores up to what was heard."""
        for model, watched in list(self._models.items()):
            if watched.run is not None and watched.known is Known.BEHIND:
                await self._patiently(watched, self._recount(watched, watched.run))
                # One after the other: the sums of large runs take room.
                await self._show(model, watched)
                self._rest((watched,), ())
        heard, self._heard = self._heard, {}
        if not heard:
            # A report may be in the making, which needs the room.
            self._lookup.rest()
        for key in sorted(heard, key=lambda key: (key[0], heard[key].index)):
            concerned = self._models.get(_model(heard[key].run))
            if concerned is not None:
                await asyncio.sleep(0)
                await self._patiently(concerned, self._take_in(concerned, key, heard[key]))
        if self._newest:
            self._telemetry.applied(self._newest / 1000)
        await self._show_all()
        shown = self._now()
        for one in heard.values():
            for timestamp in one.timestamps:
                self._telemetry.fresh(max(0, shown - timestamp) / 1000)
        self._rest(self._models.values(), heard)

    def _rest(self, shown: Collection[Watched], heard: Collection[tuple[str, str, str]]) -> None:
        """These are shown, with what was heard."""
        busy = {run for run, _, _ in (*heard, *self._heard)}
        for watched in shown:
            if watched.spec.run_id not in busy:
                watched.rest()

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1000)

    async def _patiently(self, watched: Watched, step: Awaitable[None]) -> None:
        """Do a step; where plan or store cannot be read, count the run anew at the next look."""
        try:
            await step
        except CaliperError as error:
            self._warn(f"scores are behind: {error}")
            watched.doubt()

    def _doubt(self, lost: Collection[str]) -> None:
        """Drop what waits, and count the runs anew of which something was lost."""
        self._heard.clear()
        for watched in self._models.values():
            if watched.spec.run_id in lost:
                watched.doubt()

    async def _recount(self, watched: Watched, run: TrackedRun) -> None:
        """Take the tallies from the ledger. What is heard meanwhile is in them once its shard
        was read, and then counts no second time.
        """
        tallies, doubts = {part.name: Tally() for part in run.spec.benchmarks}, watched.doubts
        async for items in run.plan():
            for (name, sample), members in by_sample(items).items():
                tally, _ = self._reduction.reduced(run, name, members, {})
                tallies[name].absorb(tally)
                later = self._heard.get((run.run, name, sample))
                if later is not None:
                    later.before.clear()
                # A large run takes its time, and records are waiting.
                await asyncio.sleep(0)
        watched.counted(tallies, doubts)

    async def _take_in(self, watched: Watched, key: tuple[str, str, str], heard: Heard) -> None:
        run_name, name, sample = key
        run = heard.run
        samples = await self._lookup.samples(run, heard.index)
        items = samples.get((name, sample))
        if items is None:
            return
        later = self._heard.get(key)
        before = {**(later.before if later else {}), **heard.before}
        if later is not None:
            # It is counted now, with what it told.
            later.before.clear()
        tally, scored = self._reduction.reduced(run, name, items, {})
        if watched.run is run and before:
            was, _ = self._reduction.reduced(run, name, items, before)
            watched.exchange(name, was, tally)
        watched.settings[name] = run.spec.benchmark(name).settings
        judged = Judged(heard.place, scored, tally)
        for kind in (Window.LAST, Window.HOUR):
            self._window(watched, name, kind).put((run_name, sample), judged)
            watched.changed.add((name, kind))

    def _window(self, watched: Watched, name: str, kind: Window) -> RollingWindow:
        if (name, kind) not in watched.windows:
            last = kind is Window.LAST
            watched.windows[name, kind] = (
                RollingWindow(scored=self._scope.last) if last else RollingWindow(age=_HOUR_MS)
            )
        return watched.windows[name, kind]

    async def _show_all(self) -> None:
        now = self._now()
        for model, watched in list(self._models.items()):
            watched.changed |= {
                place for place, window in watched.windows.items() if window.trim(now)
            }
            await self._show(model, watched)

    async def _show(self, model: str, watched: Watched) -> None:
        changed, watched.changed = watched.changed, set()
        shown: list[tuple[str, Tally, Scored]] = []
        for name, kind in sorted(changed):
            tally, settings = watched.figures(name, kind)
            if tally is None:
                continue
            # A run that is not an hour old is all that there was within the hour.
            scores = next((told for of, held, told in shown if of == name and held == tally), None)
            if scores is None:
                # In a thread: intervals of a large run take a while, and records are waiting.
                scores = await asyncio.to_thread(scores_of, name, tally, settings)
            shown.append((name, tally, scores))
            if self._models.get(model) is watched:
                self._telemetry.scored(model, name, kind, scores)
        run = watched.run
        if changed and run is not None and self._models.get(model) is watched:
            for planned in run.summary.benchmarks:
                scored, reasons = run.ledger.count(planned.first, planned.questions)
                told = {
                    "planned": planned.questions,
                    "scored": scored,
                    "unscored": sum(reasons.values()),
                }
                self._telemetry.progressed(model, planned.name, told)


def _model(run: TrackedRun) -> str:
    return run.spec.name or "unnamed"
