"""Unscored verdicts for questions that got no answer."""

from __future__ import annotations

from collections.abc import Iterable

from caliper.core.errors import error_policy
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Evidence, Reason, Unscored, Verdict
from caliper.core.question import Failure, Item


def failure_verdicts(job: ExamineJob, error: BaseException) -> Verdicts:
    """Unscored verdicts for every question of a job that failed with `error` for good."""
    reason = error_policy(error).reason or Reason.INTERNAL
    return unscored_job(job, Failure(reason, f"{type(error).__name__}: {error}"))


def unscored_job(job: ExamineJob, reason: Failure) -> Verdicts:
    """Unscored verdicts for every question of a job."""
    return Verdicts(job.run, job.benchmark, job.sample, unscored_items(job.items, reason))


def unscored_items(items: Iterable[Item], reason: Failure) -> tuple[Verdict, ...]:
    """Unscored verdicts for every question; those that can never be asked keep their own reason."""
    evidence = Evidence(explanation=reason.detail[:2000])
    return tuple(
        Verdict(index, Unscored(question.unscored), Evidence(explanation=question.note))
        if question.unscored
        else Verdict(index, Unscored(reason.reason), evidence)
        for item in items
        for index, question, _ in item.positions()
    )
