"""Ports to those who watch a run."""

from __future__ import annotations

from typing import Protocol

from caliper.core.run import PlanSummary
from caliper.ports.codec import ExamineJob, Verdicts


class Watcher(Protocol):
    """Told what happens, as it happens. Must be quick and must not raise."""

    def planned(self, summary: PlanSummary) -> None: ...

    def captioned(self, benchmark: str, sample: str) -> None: ...

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None: ...

    def retried(self, job: ExamineJob, error: BaseException) -> None: ...
