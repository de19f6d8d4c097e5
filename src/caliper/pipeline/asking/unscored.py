"""Verdicts of questions that nobody answered."""

from __future__ import annotations

from collections.abc import Iterable

from caliper.core.errors import handling
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Evidence, Reason, Unscored, Verdict
from caliper.core.question import Failure, Item


def give_up(job: ExamineJob, error: BaseException) -> Verdicts:
    """Unscored for every question of a job that is not tried again."""
    reason = handling(error).reason or Reason.INTERNAL
    return unscored(job, Failure(reason, f"{type(error).__name__}: {error}"))


def unscored(job: ExamineJob, why: Failure) -> Verdicts:
    """Unscored for every question of a job."""
    return Verdicts(job.run, job.benchmark, job.sample, left_unscored(job.items, why))


def left_unscored(items: Iterable[Item], why: Failure) -> tuple[Verdict, ...]:
    """Unscored for every question; what can never be asked keeps a reason of its own."""
    evidence = Evidence(explanation=why.detail[:2000])
    return tuple(
        Verdict(index, Unscored(question.unscored), Evidence(explanation=question.note))
        if question.unscored
        else Verdict(index, Unscored(why.reason), evidence)
        for item in items
        for index, question, _ in item.positions()
    )
