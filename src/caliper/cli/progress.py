"""Progress on the terminal: a line a stage with rate, time left and running scores."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.markup import escape
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

from caliper.benchmarks.registry import benchmark
from caliper.cli.console import ERR
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Outcome, Unscored
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.standalone.watching import SilentWatcher

_REFRESH = 1.0
"""Seconds between two computations of a running score."""


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class _Running:
    """The running score of one benchmark over what has been examined so far."""

    def __init__(self, name: str, settings: dict[str, str]) -> None:
        self._benchmark = benchmark(name)
        self._settings = settings
        self._tally = Tally()
        self._told = ""
        self._next = 0.0
        self.unscored = 0

    def add(self, job: ExamineJob, verdicts: Verdicts) -> None:
        outcomes = {verdict.index: verdict.outcome for verdict in verdicts.verdicts}
        self.unscored += sum(isinstance(outcome, Unscored) for outcome in outcomes.values())
        members = ((item, _of_item(item, outcomes)) for item in job.items)
        self._tally.absorb(self._benchmark.reduce(members, self._settings))

    @property
    def told(self) -> str:
        """The headline figure, computed anew at most once in a while."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _REFRESH
            layout = self._benchmark.report(self._tally, self._settings)
            sums = {cell: self._tally.total(cell) for cell in self._tally}
            for figure in layout.figures:
                if figure.path == layout.headline:
                    value = figure.statistic({cell: sums.get(cell, {}) for cell in figure.cells})
                    name = " ".join(figure.path)
                    self._told = "" if value is None else f"{name} {value:.1f}"
        lost = f" · {self.unscored} unscored" if self.unscored else ""
        return f"{self._told}{lost}"


def _of_item(item: Item, outcomes: dict[int, Outcome]) -> dict[tuple[int, int], Outcome]:
    return {
        (question.ordinal, repeat): outcomes[index]
        for index, question, repeat in item.positions()
        if index in outcomes
    }


class WarningWatcher(SilentWatcher):
    """ports.telemetry.Watcher for those who want no progress: only warnings are told."""

    def warned(self, text: str) -> None:
        ERR.print(f"[yellow]Warning:[/yellow] {escape(text)}", soft_wrap=True)


class ProgressWatcher(WarningWatcher):
    """The same with rich progress bars on standard error."""

    def __init__(self, spec: RunSpec, *, captioning: bool) -> None:
        self._spec = spec
        self._captioning = captioning
        self._running = {
            part.name: _Running(part.name, dict(part.settings)) for part in spec.benchmarks
        }
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[told]}"),
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

    def planned(self, summary: PlanSummary) -> None:
        for planned in summary.benchmarks:
            if self._captioning:
                self._bar(f"{planned.name} captions", planned.samples)
            self._bar(planned.name, planned.questions)

    def _bar(self, name: str, total: int) -> None:
        self._bars[name] = self._progress.add_task(name, total=total, told="")

    def resumed(self, name: str, known: int) -> None:
        self._progress.update(self._bars[name], completed=known)

    def captioned(self, benchmark: str, sample: str) -> None:  # noqa: ARG002 - the port's
        self._progress.advance(self._bars[f"{benchmark} captions"])

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        running = self._running[job.benchmark]
        running.add(job, verdicts)
        bar = self._bars[job.benchmark]
        self._progress.update(bar, advance=len(verdicts.verdicts), told=running.told)
