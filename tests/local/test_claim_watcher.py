"""What a claim notes of a run."""

from unittest.mock import Mock

from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlannedBenchmark, PlanSummary
from caliper.local.claim_watcher import ClaimWatcher
from caliper.local.watchers import SilentWatcher


def test_captions_are_noted_until_there_are_verdicts() -> None:
    claim, job = Mock(), ExamineJob("run", "captionqa", "a", None, ())
    watcher = ClaimWatcher(SilentWatcher(), claim)
    watcher.on_plan(PlanSummary("run", 1, (PlannedBenchmark("captionqa", 0, 9, 3, 2),)), Mock())
    watcher.on_caption("captionqa", "a")
    watcher.on_verdicts(job, Verdicts("run", "captionqa", "a", (Mock(), Mock())))
    watcher.on_caption("captionqa", "b")
    noted = [call.args for call in claim.note_progress.call_args_list]
    assert noted == [(0, 9), (1, 2, "captioning"), (2, 9)]
