"""Counts captions and verdicts that reuse replies of earlier runs.

A job counts once, however often it is delivered:

    runs/<id>/reused/<captions or verdicts>/<job><part>/<count>   (marks: empty objects)

Where questions are drawn block by block, every block has a job of the same name: its part is the
first index that it asks, in hexadecimal digits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from caliper.core.keys import digest
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.outcome import Reason
from caliper.core.report import Report, Reuse
from caliper.core.run import RunSpec
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ObjectStore

CAPTIONS, VERDICTS = "captions", "verdicts"
_PREFIX = "reused/"
_DIGITS = 32


async def note_reuse(
    store: ObjectStore, job: CaptionJob | ExamineJob, kind: str, count: int
) -> None:
    """Record how many of a job's captions or verdicts reuse replies.

    `store` is the store of the replies. Raises StoreUnavailable or StoreFull.
    """
    if count:
        name = job_name(job) + (_part(job) if kind == VERDICTS else "")
        await store.put(f"runs/{job.run}/{_PREFIX}{kind}/{name}/{count}", b"")


def job_name(job: CaptionJob | ExamineJob) -> str:
    """The name of a job, which runs with the same samples share."""
    return digest([job.benchmark, job.sample, job.items[0].source])[:_DIGITS]


def _part(job: CaptionJob | ExamineJob) -> str:
    questions = [each for item in job.items for each in item.positions()]
    indices = [index for index, each, _ in questions if each.unscored is not Reason.NOT_DRAWN]
    return "" if len(indices) == len(questions) else f"{min(indices, default=0):x}"


async def reused_jobs(run: ObjectStore) -> set[str]:
    """The names of the jobs of a run whose verdicts reuse replies. Raises StoreUnavailable."""
    return {key.split("/")[2][:_DIGITS] async for key in run.list(f"{_PREFIX}{VERDICTS}/")}


async def with_reuse(report: Report, spec: RunSpec, captions: Captions, run: ObjectStore) -> Report:
    """Add reuse statistics to a report. `run` is the run's own part of the store.

    Raises StoreUnavailable.
    """
    by_job: Counter[tuple[str, str]] = Counter()
    async for key in run.list(_PREFIX):
        _, kind, job, count = key.split("/")
        # An interrupted delivery may have counted fewer than the next one.
        by_job[kind, job] = max(by_job[kind, job], int(count))
    reused: Counter[str] = Counter()
    for (kind, _), number in by_job.items():
        reused[kind] += number
    captioned = (part.name for part in spec.benchmarks if part.captions is None)
    reuse = Reuse(
        captions=reused[CAPTIONS],
        of_captions=sum(len(captions.get(name, ())) for name in captioned),
        verdicts=reused[VERDICTS],
        of_verdicts=sum(part.coverage.known - part.coverage.undrawn for part in report.benchmarks),
    )
    return replace(report, reuse=reuse if by_job else None)
