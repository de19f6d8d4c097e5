"""Port to progress displays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary
from caliper.core.report import Path
from caliper.core.tally import Tally

Lacking = Callable[[str, Path, Tally], Sequence[str]]
"""The planned dimensions that an average of a benchmark lacks in a tally."""


class Watcher(Protocol):
    """Observes a run's progress. Must be quick and must not raise."""

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None:
        """The plan is complete."""
        ...

    def on_warning(self, text: str) -> None:
        """Show a warning about the inputs."""
        ...

    def on_resume(self, benchmark: str, known: int) -> None:
        """`known` outcomes exist from an earlier process."""
        ...

    def on_caption(self, benchmark: str, sample: str) -> None:
        """A model wrote a caption."""
        ...

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """The verdicts of a job are known."""
        ...
