"""Watchers that others build on: one that does nothing, one that counts."""

from __future__ import annotations

from abc import ABC, abstractmethod

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary
from caliper.ports.watcher import Lacking


class SilentWatcher:
    """A ports.watcher.Watcher that ignores everything; subclasses override methods."""

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None:
        """Do nothing."""

    def on_warning(self, text: str) -> None:
        """Do nothing."""

    def on_resume(self, benchmark: str, known: int) -> None:
        """Do nothing."""

    def on_caption(self, benchmark: str, sample: str) -> None:
        """Do nothing."""

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Do nothing."""


class ProgressCounter(SilentWatcher, ABC):
    """Counts progress per stage; subclasses show it in `begin` and `advance`."""

    def __init__(self, *, captioning: bool) -> None:
        self._captioning = captioning

    @abstractmethod
    def begin(self, stage: str, total: int) -> None: ...

    @abstractmethod
    def advance(self, stage: str, count: int) -> None: ...

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None:  # noqa: ARG002 - the port's
        for planned in summary.benchmarks:
            if self._captioning:
                self.begin(f"{planned.name} captions", planned.samples)
            self.begin(planned.name, planned.questions)

    def on_resume(self, name: str, known: int) -> None:
        self.advance(name, known)

    def on_caption(self, benchmark: str, sample: str) -> None:  # noqa: ARG002 - the port's
        self.advance(f"{benchmark} captions", 1)

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        self.advance(job.benchmark, len(verdicts.verdicts))
