"""Anchors: captions with a known verdict, from the `anchors.yaml` of each benchmark."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from caliper.adapters.packs.questions import plan_question, questions_of
from caliper.analysis.drift import AnchorJudgement, AnchorVerdict
from caliper.benchmarks.base import Settings
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.keys import digest
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item
from caliper.core.run import RunSpec
from caliper.pipeline.asking.examiner import Examiner, Models

_FILE = "anchors.yaml"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A caption and the one question about it that counts: the last question of `item`.

    `expected` is the label of the correct verdict.
    """

    name: str
    caption: str
    item: Item
    expected: str

    def label(self, outcome: Outcome) -> str | None:
        """The label of a verdict; None if the outcome has no score."""
        if not isinstance(outcome, Scored):
            return None
        own = benchmark(self.item.benchmark)
        return (own.anchor_label or own.label)(self.item.questions[-1], outcome)


def anchors_of(name: str, settings: Settings) -> tuple[Anchor, ...]:
    """The anchors of a benchmark, planned under its settings; empty if it has none."""
    return tuple(
        Anchor(
            f"{question['id']}/{expected}",
            caption,
            plan_question(name, question, settings).item,
            expected,
        )
        for question in questions_of(name, _FILE)
        for expected, caption in question["captions"].items()
    )


def digest_of(name: str) -> str:
    """The digest of a benchmark's anchor texts: 16 hexadecimal digits."""
    return digest(list(questions_of(name, _FILE)))[:16]


REPLAY = "replay"
"""Recordings contain no replies to the anchors."""


async def judge_anchors(spec: RunSpec, models: Models, name: str) -> AnchorJudgement:
    """Judge all anchors of a benchmark once, with the judge or reader of a run.

    An anchor gets no verdict if the model fails. Raises ModelChanged.
    """
    # No store: the judge is always asked, whatever it replied before, and stores no reply that a
    # salt would have to distinguish from those of other runs.
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
    return AnchorJudgement(answerer.identity.label, digest_of(name), verdicts)


async def _judge(anchor: Anchor, run: str, examiner: Examiner) -> AnchorVerdict:
    caption = Caption(anchor.item.sample, anchor.caption)
    job = ExamineJob(run, anchor.item.benchmark, anchor.item.sample, caption, (anchor.item,))
    # The verdicts carry any failure; the telemetry is not needed here.
    verdicts, _ = await examiner.conclude(job)
    return AnchorVerdict(anchor.expected, anchor.label(verdicts.verdicts[-1].outcome))
