"""A watcher for runs that nobody watches."""

from __future__ import annotations

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary


class SilentWatcher:
    """ports.telemetry.Watcher that lets everything pass."""

    def planned(self, summary: PlanSummary) -> None:
        """Nothing to tell."""

    def warned(self, text: str) -> None:
        """Nothing to tell."""

    def resumed(self, benchmark: str, known: int) -> None:
        """Nothing to tell."""

    def captioned(self, benchmark: str, sample: str) -> None:
        """Nothing to tell."""

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Nothing to tell."""
