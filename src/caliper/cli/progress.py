"""Shows the progress of a run: on a terminal as one bar per stage, with rate, remaining time and
running scores; elsewhere as a line every 30 seconds.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from caliper.adapters.phrases import label, lacks
from caliper.benchmarks.registry import benchmark
from caliper.cli.console import ERR
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import UNDRAWN, Outcome, Unscored
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.local.watchers import ProgressCounter
from caliper.ports.clock import Clock
from caliper.ports.watcher import Lacking, Watcher

_REFRESH = 1.0
"""The minimum interval between updates of a running score, in seconds."""
LOG_SECONDS = 30.0
"""The interval between two lines without a terminal, in seconds."""


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class _RunningScore:
    """The running score of one benchmark over the verdicts so far."""

    def __init__(self, name: str, settings: dict[str, str]) -> None:
        self._name, self._benchmark = name, benchmark(name)
        self._settings = settings
        self._tally = Tally()
        self._figure = ""
        self.lacking: Lacking = lambda *_: ()
        self._next_update = 0.0
        self.unscored = 0

    def add(self, job: ExamineJob, verdicts: Verdicts) -> None:
        outcomes = {
            verdict.index: verdict.outcome
            for verdict in verdicts.verdicts
            if verdict.outcome != UNDRAWN
        }
        self.unscored += sum(isinstance(outcome, Unscored) for outcome in outcomes.values())
        members = ((item, _outcomes_of(item, outcomes)) for item in job.items)
        self._tally.absorb(self._benchmark.reduce(members, self._settings))

    @property
    def summary(self) -> str:
        """The headline figure with what it lacks, updated at most every `_REFRESH` seconds, and the
        unscored count.
        """
        now = time.monotonic()
        if now >= self._next_update:
            self._next_update = now + _REFRESH
            layout = self._benchmark.report(self._tally, self._settings)
            sums = {cell: self._tally.total(cell) for cell in self._tally}
            for figure in layout.figures:
                if figure.path == layout.headline:
                    value = figure.statistic({cell: sums.get(cell, {}) for cell in figure.cells})
                    name = label(layout, figure.path)
                    absent = lacks(self.lacking(self._name, figure.path, self._tally))
                    absent = f" ({absent})" if absent else ""
                    self._figure = "" if value is None else f"{name} {value:.1f}{absent}"
        lost = f" · {self.unscored} unscored" if self.unscored else ""
        return f"{self._figure}{lost}"


def _outcomes_of(item: Item, outcomes: dict[int, Outcome]) -> dict[tuple[int, int], Outcome]:
    return {
        (question.ordinal, repeat): outcomes[index]
        for index, question, repeat in item.positions()
        if index in outcomes
    }


class ProgressLog(WarningWatcher, ProgressCounter):
    """Writes a line to standard error every 30 seconds, for runs without a terminal."""

    def __init__(self, clock: Clock, *, captioning: bool) -> None:
        super().__init__(captioning=captioning)
        self._clock = clock
        self._totals: dict[str, int] = {}
        self._done: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._task = asyncio.create_task(self._log())
        return self

    def __exit__(self, *_: object) -> None:
        self._task.cancel()

    def begin(self, stage: str, total: int) -> None:
        self._totals[stage] = total

    def advance(self, stage: str, count: int) -> None:
        self._done[stage] += count

    async def _log(self) -> None:
        while True:
            before = self._done.copy()
            await self._clock.sleep(LOG_SECONDS)
            stages = (self._line(stage, before[stage]) for stage in self._totals)
            line = f"{self._clock.now():%H:%M:%S} UTC  {'; '.join(stages)}"
            ERR.print(line, soft_wrap=True, highlight=False)

    def _line(self, stage: str, before: int) -> str:
        done, total = self._done[stage], self._totals[stage]
        share = done / total if total else 1.0
        rate = (done - before) / LOG_SECONDS
        remaining = f", {(total - done) / rate / 60:,.0f} min left" if rate and done < total else ""
        return f"{stage} {done:,} of {total:,} ({share:.0%}), {rate:,.1f}/s{remaining}"


class ProgressWatcher(WarningWatcher, ProgressCounter):
    """Shows progress bars on standard error."""

    def __init__(self, spec: RunSpec, *, captioning: bool) -> None:
        super().__init__(captioning=captioning)
        self._running = {
            part.name: _RunningScore(part.name, dict(part.settings)) for part in spec.benchmarks
        }
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[summary]}"),
            console=ERR,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None:
        for running in self._running.values():
            running.lacking = lacking
        super().on_plan(summary, lacking)

    def begin(self, stage: str, total: int) -> None:
        self._bars[stage] = self._progress.add_task(stage, total=total, summary="")

    def advance(self, stage: str, count: int) -> None:
        self._progress.advance(self._bars[stage], count)

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        running = self._running[job.benchmark]
        running.add(job, verdicts)
        self._progress.update(self._bars[job.benchmark], summary=running.summary)
        super().on_verdicts(job, verdicts)


def run_watcher(
    spec: RunSpec, clock: Clock, *, quiet: bool, captioning: bool
) -> AbstractContextManager[Watcher]:
    """The watcher that shows a run on this standard error. With `captioning`, a model writes its
    captions.
    """
    if quiet:
        return nullcontext(WarningWatcher())
    if not sys.stderr.isatty():
        return ProgressLog(clock, captioning=captioning)
    return ProgressWatcher(spec, captioning=captioning)
