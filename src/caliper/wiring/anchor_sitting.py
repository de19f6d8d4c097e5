"""Judging the anchors as a run's own questions are judged, but never from the cache."""

from __future__ import annotations

import asyncio

from caliper.analysis.drift import AnchorVerdict, Sitting
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.messages import ExamineJob
from caliper.core.run import RunSpec
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.wiring.anchors import Anchor, anchors_of, digest_of

REPLAY = "replay"
"""Recorded replies hold none to the anchors."""


async def judge_anchors(spec: RunSpec, models: Models, name: str) -> Sitting:
    """One sitting over a benchmark's anchors, with the judge or reader of a run.

    Failures of a model leave an anchor without a verdict. Raises ModelChanged.
    """
    # No store: whatever was replied before, the judge is asked now, and nothing is kept that a
    # salt would have to tell from the replies of other runs.
    examiner = Examiner(spec, models, store=None)
    anchors = anchors_of(name, spec.benchmark(name).settings)
    # All are waited for, so that no call is left behind when one fails.
    ended = await asyncio.gather(
        *(_judge(anchor, spec.run_id, examiner) for anchor in anchors), return_exceptions=True
    )
    verdicts = {}
    for anchor, judged in zip(anchors, ended, strict=True):
        if isinstance(judged, BaseException):
            raise judged
        verdicts[anchor.name] = judged
    answerer = models.answerers[f"{name}/{benchmark(name).role}"]
    return Sitting(answerer.identity.label, digest_of(name), verdicts)


async def _judge(anchor: Anchor, run: str, examiner: Examiner) -> AnchorVerdict:
    caption = Caption(anchor.item.sample, anchor.caption)
    job = ExamineJob(run, anchor.item.benchmark, anchor.item.sample, caption, (anchor.item,))
    # What went wrong stands in the verdicts; a run is not held up for its telemetry.
    found, _ = await examiner.conclude(job)
    return AnchorVerdict(anchor.expected, anchor.given(found.verdicts[-1].outcome))
