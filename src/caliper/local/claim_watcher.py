"""Notes the progress of a run in the claim of its checkpoint."""

from __future__ import annotations

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary
from caliper.pipeline.suites.claims import EntryClaim
from caliper.ports.watcher import Lacking, Watcher


class ClaimWatcher:
    """ports.watcher.Watcher that passes events on to another one."""

    def __init__(self, watcher: Watcher, claim: EntryClaim) -> None:
        self._watcher, self._claim = watcher, claim
        self._done = self._whole = self._captions = self._samples = 0

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None:
        """Note the total number of questions."""
        self._whole = summary.questions
        self._samples = sum(part.samples for part in summary.benchmarks)
        self._note(0)
        self._watcher.on_plan(summary, lacking)

    def on_warning(self, text: str) -> None:
        """Pass it on."""
        self._watcher.on_warning(text)

    def on_resume(self, benchmark: str, known: int) -> None:
        """Note outcomes from earlier."""
        self._note(known)
        self._watcher.on_resume(benchmark, known)

    def on_caption(self, benchmark: str, sample: str) -> None:
        """Note a caption, as long as no question has an outcome."""
        self._captions += 1
        if not self._done:
            self._claim.note_progress(self._captions, self._samples, "captioning")
        self._watcher.on_caption(benchmark, sample)

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Note new outcomes."""
        self._note(len(verdicts.verdicts))
        self._watcher.on_verdicts(job, verdicts)

    def _note(self, more: int) -> None:
        self._done += more
        self._claim.note_progress(min(self._done, self._whole), self._whole)
