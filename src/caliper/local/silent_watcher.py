"""A watcher that does nothing."""

from __future__ import annotations

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary


class SilentWatcher:
    """A ports.watcher.Watcher that ignores everything; subclasses override methods."""

    def on_plan(self, summary: PlanSummary) -> None:
        """Do nothing."""

    def on_warning(self, text: str) -> None:
        """Do nothing."""

    def on_resume(self, benchmark: str, known: int) -> None:
        """Do nothing."""

    def on_caption(self, benchmark: str, sample: str) -> None:
        """Do nothing."""

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Do nothing."""
