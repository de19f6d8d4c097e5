"""A watcher that does nothing."""

from __future__ import annotations

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary


class SilentWatcher:
    """A ports.telemetry.Watcher that ignores everything; subclasses override what they show."""

    def planned(self, summary: PlanSummary) -> None:
        """Do nothing."""

    def warned(self, text: str) -> None:
        """Do nothing."""

    def resumed(self, benchmark: str, known: int) -> None:
        """Do nothing."""

    def captioned(self, benchmark: str, sample: str) -> None:
        """Do nothing."""

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Do nothing."""
