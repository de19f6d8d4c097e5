"""Captions and verdicts that rest on replies of earlier runs, counted once however often a job
is delivered.

    runs/<id>/reused/<captions or verdicts>/<job>/<how many>   (empty objects)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from caliper.core.keys import digest
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.report import Report, Reuse
from caliper.core.run import RunSpec
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ObjectStore

CAPTIONS, VERDICTS = "captions", "verdicts"
_PREFIX = "reused/"


async def note_reuse(
    store: ObjectStore, job: CaptionJob | ExamineJob, kind: str, count: int
) -> None:
    """Keep that so many of a job's captions or verdicts reuse replies. `store` is that of the
    replies. Raises StoreUnavailable or StoreFull.
    """
    if count:
        name = digest([job.benchmark, job.sample, job.items[0].source])[:32]
        await store.put(f"runs/{job.run}/{_PREFIX}{kind}/{name}/{count}", b"")


async def with_reuse(found: Report, spec: RunSpec, captions: Captions, run: ObjectStore) -> Report:
    """The report with what it tells of reuse. `run` is the run's own part of the store.

    Raises StoreUnavailable.
    """
    most: Counter[tuple[str, str]] = Counter()
    async for key in run.list(_PREFIX):
        _, kind, job, count = key.split("/")
        # A job that was broken off may have got less far than its next delivery.
        most[kind, job] = max(most[kind, job], int(count))
    reused: Counter[str] = Counter()
    for (kind, _), number in most.items():
        reused[kind] += number
    written = (part.name for part in spec.benchmarks if part.captions is None)
    reuse = Reuse(
        captions=reused[CAPTIONS],
        of_captions=sum(len(captions.get(name, ())) for name in written),
        verdicts=reused[VERDICTS],
        of_verdicts=sum(part.coverage.known for part in found.benchmarks),
    )
    return replace(found, reuse=reuse if most else None)
