"""Judges the anchors like the questions of a run, but never from the cache."""

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
"""Recordings contain no replies to the anchors."""


async def judge_anchors(spec: RunSpec, models: Models, name: str) -> Sitting:
    """Judge all anchors of a benchmark once, with the judge or reader of a run.

    An anchor gets no verdict if the model fails. Raises ModelChanged.
    """
    # No store: the judge is always asked now, whatever it replied before, and no reply is stored
    # that a salt would have to distinguish from the replies of other runs.
    examiner = Examiner(spec, models, store=None)
    anchors = anchors_of(name, spec.benchmark(name).settings)
    # Wait for all, so that no call is left running when one fails.
    results = await asyncio.gather(
        *(_judge(anchor, spec.run_id, examiner) for anchor in anchors), return_exceptions=True
    )
    verdicts = {}
    for anchor, result in zip(anchors, results, strict=True):
        if isinstance(result, BaseException):
            raise result
        verdicts[anchor.name] = result
    answerer = models.answerers[f"{name}/{benchmark(name).role}"]
    return Sitting(answerer.identity.label, digest_of(name), verdicts)


async def _judge(anchor: Anchor, run: str, examiner: Examiner) -> AnchorVerdict:
    caption = Caption(anchor.item.sample, anchor.caption)
    job = ExamineJob(run, anchor.item.benchmark, anchor.item.sample, caption, (anchor.item,))
    # The verdicts carry any failure; the telemetry is not needed here.
    verdicts, _ = await examiner.conclude(job)
    return AnchorVerdict(anchor.expected, anchor.label(verdicts.verdicts[-1].outcome))
