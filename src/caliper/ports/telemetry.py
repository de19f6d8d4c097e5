"""Ports to those who watch a run."""

from __future__ import annotations

from typing import Protocol

from caliper.core.run import PlanSummary
from caliper.ports.codec import ExamineJob, Verdicts


class Watcher(Protocol):
    """Told what happens, as it happens. Must be quick and must not raise."""

    def planned(self, summary: PlanSummary) -> None:
        """The plan stands."""
        ...

    def warned(self, text: str) -> None:
        """Something about the inputs that people should know."""
        ...

    def resumed(self, benchmark: str, known: int) -> None:
        """So many outcomes are known from an earlier process."""
        ...

    def captioned(self, benchmark: str, sample: str) -> None:
        """A model wrote a caption."""
        ...

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """The verdicts of a job are out."""
        ...
